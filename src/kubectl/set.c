/* kubectl set image: other images for the containers of a workload. */
#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/selection.h"
#include "schema/json.h"

struct set_options {
    bool all, local;
};

/* "c=nginx:1.2"; "*" stands for every container. */
struct image_change {
    struct str container, image;
    bool was_found;
};

struct image_changes {
    struct image_change *items;
    size_t len;
};

static struct value *template_spec(struct value *object)
{
    static const char *const paths[] = {"spec.template.spec", "spec.jobTemplate.spec.template.spec", "spec"};

    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        struct value *spec = value_find_path(object, paths[i]);

        if (value_find(spec, STR("containers")) != NULL) {
            return spec;
        }
    }
    return NULL;
}

/* The elements of a list of containers that get another image, as a strategic merge patch has them. */
static struct value *changed(struct kubectl *k, struct value *containers, struct image_changes *changes)
{
    struct value *list = value_array(k->arena);

    VALUE_EACH_ITEM(container, containers)
    {
        struct str name = value_str_at(*container, "name");

        LIST_EACH(change, changes)
        {
            if (!str_is(change->container, "*") && !str_eq(change->container, name)) {
                continue;
            }
            change->was_found = true;
            if (!str_eq(value_str_at(*container, "image"), change->image)) {
                struct value *element = value_object(k->arena);

                value_set(k->arena, element, STR("name"), value_string(k->arena, name));
                value_set(k->arena, element, STR("image"), value_string(k->arena, change->image));
                value_set(k->arena, *container, STR("image"), value_string(k->arena, change->image));
                value_add(k->arena, list, element);
            }
        }
    }
    return list;
}

static struct value *wrapped(struct kubectl *k, const char *path, struct value *inner)
{
    struct value *root = value_object(k->arena), *at = root;
    struct str rest = str_of(path), key;

    while (str_next(&rest, '.', &key)) {
        struct value *next = rest.p == NULL ? inner : value_object(k->arena);

        value_set(k->arena, at, key, next);
        at = next;
    }
    return root;
}

static const char *spec_path(const struct kind *kind)
{
    return str_is(kind->kind, "CronJob") ? "spec.jobTemplate.spec.template.spec"
           : str_is(kind->kind, "Pod")   ? "spec"
                                         : "spec.template.spec";
}

/* The object as Go's types write it: structs that the file left out are there, empty. */
static struct status *with_zero_structs(struct kubectl *k, const struct kind *kind, struct value **object)
{
    void *typed = arena_alloc(k->arena, kind->type->size);
    struct status *status = json_decode(k->arena, kind->type, value_json(k->arena, *object), typed, NULL);

    if (status != NULL) {
        status->code = 0;
        return status;
    }
    *object = output_value_of(k, kind, typed);
    return NULL;
}

static struct status *set_image_of(struct kubectl *k, const struct set_options *options, const struct output *output,
                                   const struct selected *selected, struct image_changes *changes, bool is_first)
{
    struct value *object = selected->object, *patch = value_object(k->arena);

    if (!options->local) {
        TRY(api_get(k, client_path(k->arena, selected->kind, selected->namespace, selected->name, STR("")), &object));
    }
    struct value *spec = template_spec(object);
    struct value *usual = changed(k, value_find(spec, STR("containers")), changes);
    struct value *init = changed(k, value_find(spec, STR("initContainers")), changes);

    LIST_EACH(change, changes)
    {
        if (!change->was_found) {
            return error_local("unable to find container named \"%.*s\"", STR_ARG(change->container));
        }
    }
    if (value_count(usual) > 0) {
        value_set(k->arena, patch, STR("containers"), usual);
    }
    if (value_count(init) > 0) {
        value_set(k->arena, patch, STR("initContainers"), init);
    }
    if (!options->local && value_count(patch) == 0) {
        return NULL; /* nothing differs: stock says nothing */
    }
    if (!options->local && k->write.dry_run != DRY_RUN_CLIENT) {
        TRY(api_patch(k, selected->kind, selected->namespace, selected->name, STR(""), CLIENT_PATCH_STRATEGIC,
                      wrapped(k, spec_path(selected->kind), patch), "kubectl-set", &object));
    }
    if (options->local && selected->kind->type != NULL) {
        TRY(with_zero_structs(k, selected->kind, &object));
    }
    return output_done(k, output, selected->kind, object, selected->name, "image updated", is_first);
}

static struct status *image_run(struct kubectl *k, void *arg)
{
    const struct set_options *options = arg;
    struct image_changes changes = {0};
    struct selection selection;
    struct output output;
    size_t resources = 0;

    TRY(output_parse(k, false, &output));
    while (resources < k->args.positional.len && str_index(k->args.positional.items[resources], '=') == SIZE_MAX) {
        resources++;
    }
    for (size_t i = resources; i < k->args.positional.len; i++) {
        struct image_change change = {0};

        if (!str_cut(k->args.positional.items[i], '=', &change.container, &change.image) || change.image.n == 0) {
            return error_local("all resources must be specified before image changes: %.*s",
                               STR_ARG(k->args.positional.items[i]));
        }
        *LIST_ADD(k->arena, &changes) = change;
    }
    k->is_local = options->local;
    TRY(selection_of(k, k->args.positional.items, resources,
                     &(struct selection_rules){.command = "get", .needs_names = true, .all = options->all}, &selection));
    if (changes.len == 0) {
        return error_local("at least one image update is required");
    }
    TRY(selection_list(k, &selection));
    for (size_t i = 0; i < selection.len; i++) {
        report_error(k, set_image_of(k, options, &output, &selection.items[i], &changes, i == 0));
    }
    return NULL;
}

static const struct flag set_flags[] = {
    FLAG(BOOL, struct set_options, all, "all", 0, "all resources of the type in the namespace"),
    FLAG(BOOL, struct set_options, local, "local", 0, "work on the file alone, without the server"),
};

static const struct command set_image = {
    .name = "image",
    .help = "Update the image of a pod template",
    .usage = "(-f FILENAME | TYPE NAME) CONTAINER_NAME_1=CONTAINER_IMAGE_1 ... CONTAINER_NAME_N=CONTAINER_IMAGE_N",
    .uses = USES_OUTPUT | USES_FILES | USES_SELECTOR | USES_WRITE,
    .flags = set_flags,
    .flag_count = COUNT_OF(set_flags),
    .options_size = sizeof(struct set_options),
    .run = image_run,
};

static const struct command *const subcommands[] = {&set_image, NULL};

const struct command command_set = {
    .name = "set",
    .help = "Set specific features on objects",
    .usage = "SUBCOMMAND",
    .subcommands = subcommands,
};
