/* kubectl set, and its part image: other images for the containers of a workload. */
#include "kubectl/set.h"

#include "kubectl/report.h"
#include "kubectl/request.h"
#include "schema/json.h"
#include "schema/patch.h"

#include <fnmatch.h>

/* "c=nginx:1.2"; "*" stands for every container. */
struct image_change {
    struct str container, image;
    bool was_found;
};

struct image_changes {
    struct image_change *items;
    size_t len;
};

struct value *set_template_spec(struct value *object)
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

/* Gives the containers of a list their images. */
static void set_images(struct kubectl *k, struct value *containers, struct image_changes *changes)
{
    VALUE_EACH_ITEM(container, containers)
    {
        LIST_EACH(change, changes)
        {
            if (str_is(change->container, "*") || str_eq(change->container, value_str_at(*container, "name"))) {
                change->was_found = true;
                value_set(k->arena, *container, STR("image"), value_string(k->arena, change->image));
            }
        }
    }
}

bool set_wants_container(struct kubectl *k, struct str wanted, const struct value *container)
{
    const char *name = arena_cstr(k->arena, value_str_at(container, "name"));

    return wanted.n == 0 || fnmatch(arena_cstr(k->arena, wanted), name, 0) == 0;
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

/* What turns one into the other. */
static struct status *difference(struct kubectl *k, const struct kind *kind, const struct value *before,
                                 const struct value *after, struct value **ret)
{
    if (kind->type == NULL) {
        *ret = patch_merge_three_way(k->arena, before, after, before);
        return NULL;
    }
    struct status *status = patch_strategic_three_way(k->arena, kind->type, before, after, before, ret);

    if (status != NULL) {
        status->code = 0;
    }
    return status;
}

struct status *set_change(struct kubectl *k, const struct set_options *options, const struct output *output,
                          const struct selected *selected, const struct set_way *way, void *arg, bool is_first)
{
    const struct kind *kind = selected->kind;
    struct value *object = selected->object, *patch;

    if (!options->local) {
        TRY(api_get(k, client_path(k->arena, kind, selected->namespace, selected->name, STR("")), &object));
    }
    struct value *before = value_copy(k->arena, object);

    TRY(way->change(k, selected, object, arg));
    if (way->done == NULL) {
        return NULL;
    }
    if (!options->local) {
        TRY(difference(k, kind, before, object, &patch));
        if (value_count(patch) == 0) {
            return NULL; /* nothing differs: stock says nothing */
        }
        if (k->write.dry_run != DRY_RUN_CLIENT) {
            TRY(api_patch(k, kind, selected->namespace, selected->name, STR(""),
                          kind->type != NULL ? CLIENT_PATCH_STRATEGIC : CLIENT_PATCH_MERGE, patch, "kubectl-set", &object));
        }
    } else if (kind->type != NULL) {
        TRY(with_zero_structs(k, kind, &object));
    }
    return output_done(k, output, kind, object, selected->name, way->done, is_first);
}

struct status *set_change_all(struct kubectl *k, const struct set_options *options, size_t resources,
                              const struct set_way *way, void *arg)
{
    struct selection selection;
    struct output output;

    TRY(output_parse(k, false, &output));
    k->is_local = options->local;
    TRY(selection_of(k, k->args.positional.items, resources,
                     &(struct selection_rules){.command = "get", .needs_names = true, .all = options->all}, &selection));
    if (way->check != NULL) {
        TRY(way->check(k, arg));
    }
    TRY(selection_list(k, &selection));
    for (size_t i = 0; i < selection.len; i++) {
        report_error(k, set_change(k, options, &output, &selection.items[i], way, arg, i == 0));
    }
    return NULL;
}

static struct status *change_images(struct kubectl *k, const struct selected *selected, struct value *object, void *arg)
{
    struct image_changes *changes = arg;
    struct value *spec = set_template_spec(object);

    (void)selected;
    set_images(k, value_find(spec, STR("containers")), changes);
    set_images(k, value_find(spec, STR("initContainers")), changes);
    LIST_EACH(change, changes)
    {
        if (!change->was_found) {
            return error_local("unable to find container named \"%.*s\"", STR_ARG(change->container));
        }
    }
    return NULL;
}

static struct status *check_images(struct kubectl *k, void *arg)
{
    (void)k;
    return ((struct image_changes *)arg)->len == 0 ? error_local("at least one image update is required") : NULL;
}

static struct status *image_run(struct kubectl *k, void *arg)
{
    static const struct set_way way = {.change = change_images, .check = check_images, .done = "image updated"};
    struct image_changes changes = {0};
    size_t resources = 0;

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
    return set_change_all(k, arg, resources, &way, &changes);
}

static const struct flag set_flags[] = {SET_FLAGS(struct set_options)};

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

static const struct command *const subcommands[] = {&set_env, &set_image, &set_resources, &set_selector,
                                                   &set_service_account, &set_subject, NULL};

const struct command command_set = {
    .name = "set",
    .help = "Set specific features on objects",
    .about = "Configure application resources.\n\n These commands help you make changes to existing application resources",
    .usage = "SUBCOMMAND",
    .subcommands = subcommands,
};
