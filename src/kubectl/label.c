/* kubectl label and annotate. */
#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/selection.h"
#include "schema/names.h"
#include "schema/patch.h"

struct label_options {
    bool overwrite, all, list, local;
    struct str resource_version;
};

/* What the two commands differ in. */
struct words {
    const char *command, *field, *done, *undone, *not_done, *manager;
};

static const struct words label_words = {"label",    "labels",      "labeled",
                                         "unlabeled", "not labeled", "kubectl-label"};
static const struct words annotate_words = {"annotate",  "annotations",   "annotated",
                                            "annotated", "not annotated", "kubectl-annotate"};

struct change {
    struct str key, value;
    bool removes;
};

struct changes {
    struct change *items;
    size_t len;
};

/* "a=b" and "a-" behind the resources. */
static struct status *parse_changes(struct kubectl *k, const struct words *words, size_t *ret_resources,
                                    struct changes *ret)
{
    const struct flag_strings *args = &k->args.positional;
    size_t i = 0;

    while (i < args->len && str_index(args->items[i], '=') == SIZE_MAX && !str_has_suffix(args->items[i], STR("-"))) {
        i++;
    }
    *ret_resources = i;
    for (; i < args->len; i++) {
        struct change change = {0};

        if (!str_cut(args->items[i], '=', &change.key, &change.value)) {
            change.removes = str_has_suffix(args->items[i], STR("-"));
            change.key = str_sub(args->items[i], 0, args->items[i].n - 1);
        }
        if (change.key.n == 0 || (!change.removes && str_index(args->items[i], '=') == SIZE_MAX)) {
            return error_local("unknown %s spec: %.*s", words->command, STR_ARG(args->items[i]));
        }
        LIST_EACH(other, ret)
        {
            if (str_eq(other->key, change.key) && other->removes != change.removes) {
                return error_local("can not both modify and remove a%s %s in the same command",
                                   words == &annotate_words ? "n" : "", words == &annotate_words ? "annotation" : "label");
            }
        }
        *LIST_ADD(k->arena, ret) = change;
    }
    return NULL;
}

static struct status *check_changes(struct kubectl *k, const struct words *words, const struct changes *changes)
{
    LIST_EACH(change, changes)
    {
        struct name_errors errors = {0};

        if (!name_is_qualified(change->key, &errors)) {
            return error_local("invalid %s key: \"%.*s\": %.*s", words->command, STR_ARG(change->key),
                               STR_ARG(name_errors_join(k->arena, &errors, ";")));
        }
        if (words == &label_words && !change->removes && !name_is_label_value(change->value, &errors)) {
            return error_local("invalid label value: \"%.*s=%.*s\": %.*s", STR_ARG(change->key), STR_ARG(change->value),
                               STR_ARG(name_errors_join(k->arena, &errors, ";")));
        }
    }
    return NULL;
}

/* The merge patch; *ret_done says what it will have done. */
static struct status *make_patch(struct kubectl *k, const struct words *words, const struct label_options *options,
                                 const struct changes *changes, const struct value *object, struct value **ret,
                                 const char **ret_done)
{
    const struct value *now = value_find(value_find(object, STR("metadata")), str_of(words->field));
    struct value *patch = value_object(k->arena), *metadata = value_object(k->arena), *field = value_object(k->arena);

    *ret_done = words->not_done;
    LIST_EACH(change, changes)
    {
        const struct value *old = value_find(now, change->key);

        if (change->removes && old == NULL) {
            fprintf(k->out, "%s \"%.*s\" not found.\n", words == &annotate_words ? "annotation" : "label",
                    STR_ARG(change->key));
        } else if (change->removes) {
            value_set(k->arena, field, change->key, value_null(k->arena));
            *ret_done = *ret_done == words->done ? words->done : words->undone;
        } else if (old == NULL || !str_eq(value_str(old), change->value)) {
            if (old != NULL && !options->overwrite) {
                return error_local("'%.*s' already has a value (%.*s), and --overwrite is false", STR_ARG(change->key),
                                   STR_ARG(value_str(old)));
            }
            value_set(k->arena, field, change->key, value_string(k->arena, change->value));
            *ret_done = words->done;
        }
    }
    value_set(k->arena, metadata, str_of(words->field), field);
    if (options->resource_version.n > 0) {
        value_set(k->arena, metadata, STR("resourceVersion"), value_string(k->arena, options->resource_version));
    }
    value_set(k->arena, patch, STR("metadata"), metadata);
    *ret = patch;
    return NULL;
}

static void list_pairs(struct kubectl *k, const struct words *words, const struct value *object)
{
    const struct value *now = value_find(value_find(object, STR("metadata")), str_of(words->field));
    struct str *keys = value_sorted_keys(k->arena, now);

    for (size_t i = 0; i < value_count(now); i++) {
        fprintf(k->out, "%.*s=%.*s\n", STR_ARG(keys[i]), STR_ARG(value_str(value_find(now, keys[i]))));
    }
}

static struct status *change_one(struct kubectl *k, const struct words *words, const struct label_options *options,
                                 const struct changes *changes, const struct output *output,
                                 const struct selected *selected, bool is_first)
{
    struct value *object = selected->object, *patch = NULL;
    const char *done = NULL;

    if (!options->local) {
        TRY(api_get(k, client_path(k->arena, selected->kind, selected->namespace, selected->name, STR("")), &object));
    }
    TRY(make_patch(k, words, options, changes, object, &patch, &done));
    bool changes_any = done != words->not_done || options->resource_version.n > 0;

    if (options->local || k->write.dry_run == DRY_RUN_CLIENT) {
        object = patch_merge(k->arena, object, patch);
    } else if (changes_any) {
        TRY(api_patch(k, selected->kind, selected->namespace, selected->name, STR(""), CLIENT_PATCH_MERGE, patch,
                      words->manager, &object));
    }
    if (options->list) {
        list_pairs(k, words, object);
        return NULL;
    }
    return output_done(k, output, selected->kind, object, selected->name, done, is_first);
}

static struct status *change_all(struct kubectl *k, const struct words *words, const struct label_options *options)
{
    struct changes changes = {0};
    struct selection selection;
    struct output output;
    size_t resources;

    TRY(output_parse(k, false, &output));
    TRY(parse_changes(k, words, &resources, &changes));
    if (resources == 0 && k->files.names.len == 0) {
        return error_local("one or more resources must be specified as <resource> <name> or <resource>/<name>");
    }
    if (changes.len == 0 && !options->list) {
        return error_local("at least one %s update is required", words == &annotate_words ? "annotation" : "label");
    }
    TRY(check_changes(k, words, &changes));
    k->is_local = options->local;
    TRY(selection_of(k, k->args.positional.items, resources,
                     &(struct selection_rules){.command = words->command, .needs_names = true, .all = options->all},
                     &selection));
    TRY(selection_list(k, &selection));
    for (size_t i = 0; i < selection.len; i++) {
        report_error(k, change_one(k, words, options, &changes, &output, &selection.items[i], i == 0));
    }
    return NULL;
}

static struct status *label_run(struct kubectl *k, void *arg)
{
    return change_all(k, &label_words, arg);
}

static struct status *annotate_run(struct kubectl *k, void *arg)
{
    return change_all(k, &annotate_words, arg);
}

static const struct flag label_flags[] = {
    FLAG(BOOL, struct label_options, overwrite, "overwrite", 0, "change what has another value"),
    FLAG(BOOL, struct label_options, all, "all", 0, "all resources of the type in the namespace"),
    FLAG(BOOL, struct label_options, list, "list", 0, "print what is there"),
    FLAG(BOOL, struct label_options, local, "local", 0, "work on the file alone, without the server"),
    FLAG(STRING, struct label_options, resource_version, "resource-version", 0, "change only this version"),
};

const struct command command_label = {
    .name = "label",
    .help = "Update the labels on a resource",
    .usage = "[--overwrite] (-f FILENAME | TYPE NAME) KEY_1=VAL_1 ... KEY_N=VAL_N",
    .uses = USES_OUTPUT | USES_FILES | USES_SELECTOR | USES_WRITE,
    .flags = label_flags,
    .flag_count = COUNT_OF(label_flags),
    .options_size = sizeof(struct label_options),
    .run = label_run,
};

const struct command command_annotate = {
    .name = "annotate",
    .help = "Update the annotations on a resource",
    .usage = "[--overwrite] (-f FILENAME | TYPE NAME) KEY_1=VAL_1 ... KEY_N=VAL_N",
    .uses = USES_OUTPUT | USES_FILES | USES_SELECTOR | USES_WRITE,
    .flags = label_flags,
    .flag_count = COUNT_OF(label_flags),
    .options_size = sizeof(struct label_options),
    .run = annotate_run,
};
