/* Scales of custom resources: their definitions say where the numbers are. */
#include "apiserver/subresources/custom_scale.h"

#include "api/custom_kind.h"
#include "apiserver/errors.h"
#include "schema/object.h"

static const struct apiextensions_v1_custom_resource_subresource_scale *paths_of(const struct kind *kind)
{
    return kind->custom->version->subresources->scale;
}

struct status *custom_scale_read(struct arena *arena, const struct kind *kind, const void *object,
                                 struct autoscaling_v1_scale *scale)
{
    const struct apiextensions_v1_custom_resource_subresource_scale *paths = paths_of(kind);
    struct value *tree = custom_object_tree(arena, kind, object);
    struct value *wanted = custom_path_find(tree, paths->spec_replicas_path);
    struct value *current = custom_path_find(tree, paths->status_replicas_path);

    if (wanted == NULL) {
        return error_internal("the spec replicas field \"%.*s\" does not exist", STR_ARG(paths->spec_replicas_path));
    }
    scale->spec.replicas = value_is(wanted, VALUE_INT) ? (int32_t)wanted->integer : 0;
    scale->status.replicas = value_is(current, VALUE_INT) ? (int32_t)current->integer : 0;
    if (paths->label_selector_path != NULL) {
        scale->status.selector = value_str(custom_path_find(tree, *paths->label_selector_path));
    }
    return NULL;
}

/* Goes down the path, making objects on the way. */
static void set_at(struct arena *arena, struct value *tree, struct str path, struct value *value)
{
    struct str name, rest;

    for (str_cut(path, '.', &name, &rest); rest.n != 0; str_cut(rest, '.', &name, &rest)) {
        struct value *below = value_find(tree, name);

        if (!value_is(below, VALUE_OBJECT)) {
            below = value_object(arena);
            value_set(arena, tree, name, below);
        }
        tree = below;
    }
    value_set(arena, tree, name, value);
}

void custom_scale_write(struct arena *arena, const struct kind *kind, void *object, int32_t replicas)
{
    struct str root, path;

    str_cut(str_from(paths_of(kind)->spec_replicas_path, 1), '.', &root, &path);
    struct value *tree = custom_object_property(arena, kind, object, root);

    if (!value_is(tree, VALUE_OBJECT)) {
        tree = value_object(arena);
    }
    set_at(arena, tree, path, value_int(arena, replicas));
    custom_object_set(arena, kind, object, root, tree);
}
