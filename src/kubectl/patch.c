/* kubectl patch, replace, cordon, uncordon, cluster-info. */
#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/selection.h"
#include "schema/patch.h"
#include "schema/yaml.h"

#include "base/file.h"

#define PATCH_BYTES_MAX ((size_t)4 << 20)

struct patch_options {
    struct str patch, patch_file, type, subresource, raw;
    bool local, force;
};

static struct status *read_patch(struct kubectl *k, const struct patch_options *options, struct value **ret)
{
    struct str text = options->patch;

    if (options->patch_file.n > 0) {
        struct status *status = file_read(k->arena, arena_cstr(k->arena, options->patch_file), PATCH_BYTES_MAX, &text);

        if (status != NULL) {
            status->code = 0;
            return status_while(status, "unable to read patch file");
        }
    }
    if (text.n == 0) {
        return error_local("must specify --patch or --patch-file containing the contents of the patch");
    }
    struct status *status = yaml_read(k->arena, text, false, ret);

    if (status != NULL && str_has_prefix(str_trim(text), STR("{")) && !options->local) {
        status_free(status); /* the server says what is wrong with it */
        *ret = value_string(k->arena, text);
        return NULL;
    }
    if (status != NULL) {
        struct status *bad = error_local("unable to parse \"%.*s\": %.*s", STR_ARG(text), STR_ARG(status->message));

        status_free(status);
        return bad;
    }
    return NULL;
}

static struct status *patch_type_of(struct str text, enum client_patch_type *ret)
{
    static const struct {
        const char *name;
        enum client_patch_type type;
    } types[] = {{"", CLIENT_PATCH_STRATEGIC},
                 {"strategic", CLIENT_PATCH_STRATEGIC},
                 {"merge", CLIENT_PATCH_MERGE},
                 {"json", CLIENT_PATCH_JSON}};

    for (size_t i = 0; i < COUNT_OF(types); i++) {
        if (str_eq_nocase(text, str_of(types[i].name))) {
            *ret = types[i].type;
            return NULL;
        }
    }
    return error_local("--type must be one of [json merge strategic], not \"%.*s\"", STR_ARG(text));
}

static struct status *patch_here(struct kubectl *k, const struct kind *kind, enum client_patch_type type,
                                 const struct value *patch, const struct value *object, struct value **ret)
{
    struct status *status = NULL;

    if (type == CLIENT_PATCH_JSON) {
        status = patch_json(k->arena, object, patch, ret);
    } else if (type == CLIENT_PATCH_STRATEGIC && kind->type != NULL) {
        status = patch_strategic(k->arena, kind->type, object, patch, ret);
    } else {
        *ret = patch_merge(k->arena, object, patch);
    }
    if (status != NULL) {
        status->code = 0;
    }
    return status;
}

static struct status *patch_one(struct kubectl *k, const struct patch_options *options, const struct output *output,
                                const struct selected *selected, enum client_patch_type type, const struct value *patch,
                                bool is_first)
{
    struct value *before = selected->object, *after;
    struct str path = client_path(k->arena, selected->kind, selected->namespace, selected->name, options->subresource);
    const struct kind *answered = selected->kind;

    if (options->local) {
        TRY(patch_here(k, selected->kind, type, patch, before, &after));
    } else {
        TRY(api_get(k, path, &before));
        if (k->write.dry_run == DRY_RUN_CLIENT) {
            TRY(patch_here(k, selected->kind, type, patch, before, &after));
        } else {
            TRY(api_patch(k, selected->kind, selected->namespace, selected->name, options->subresource, type, patch,
                          "kubectl-patch", &after));
        }
    }
    bool changed = !value_equal(before, after);

    if (str_is(options->subresource, "scale")) {
        struct kind *scale = ARENA_NEW(k->arena, struct kind);

        *scale = (struct kind){.group = STR("autoscaling"), .kind = STR("Scale"), .singular = STR("scale")};
        answered = scale;
    }
    return output_done(k, output, answered, after, selected->name, changed ? "patched" : "patched (no change)", is_first);
}

static struct status *patch_run(struct kubectl *k, void *arg)
{
    const struct patch_options *options = arg;
    enum client_patch_type type = CLIENT_PATCH_STRATEGIC;
    struct selection selection;
    struct output output;
    struct value *patch;

    TRY(output_parse(k, false, &output));
    TRY(patch_type_of(options->type, &type));
    TRY(read_patch(k, options, &patch));
    k->is_local = options->local;
    TRY(selection_of(k, k->args.positional.items, k->args.positional.len,
                     &(struct selection_rules){.command = "patch", .needs_names = true}, &selection));
    for (size_t i = 0; i < selection.len; i++) {
        report_error(k, patch_one(k, options, &output, &selection.items[i], type, patch, i == 0));
    }
    if (selection.len == 0 && k->errors.len == 0) {
        return error_local("no objects passed to patch");
    }
    return NULL;
}

static const struct flag patch_flags[] = {
    FLAG(STRING, struct patch_options, patch, "patch", 'p', "the patch, JSON or YAML"),
    FLAG(STRING, struct patch_options, patch_file, "patch-file", 0, "a file with the patch"),
    FLAG(STRING, struct patch_options, type, "type", 0, "json, merge or strategic"),
    FLAG(STRING, struct patch_options, subresource, "subresource", 0, "patch this part of the resource"),
    FLAG(BOOL, struct patch_options, local, "local", 0, "work on the file alone, without the server"),
};

const struct command command_patch = {
    .name = "patch",
    .help = "Update fields of a resource",
    .usage = "(-f FILENAME | TYPE NAME) [-p PATCH|--patch-file FILE]",
    .uses = USES_OUTPUT | USES_FILES | USES_SELECTOR | USES_WRITE,
    .flags = patch_flags,
    .flag_count = COUNT_OF(patch_flags),
    .options_size = sizeof(struct patch_options),
    .run = patch_run,
};

static struct status *replace_one(struct kubectl *k, const struct output *output, const struct selected *selected,
                                  bool force, bool is_first)
{
    struct str path = client_path(k->arena, selected->kind, selected->namespace, selected->name, STR(""));
    struct value *answer = selected->object;
    struct status *status = NULL;

    if (k->write.dry_run == DRY_RUN_CLIENT) {
        return output_done(k, output, selected->kind, answer, selected->name, "replaced", is_first);
    }
    if (force) {
        status = api_call(k, &(struct api_request){.method = "DELETE", .path = path}, NULL);
        if (status == NULL && output->format == OUTPUT_PLAIN) {
            fprintf(k->out, "%.*s \"%.*s\" deleted", STR_ARG(kind_label(k->arena, selected->kind)), STR_ARG(selected->name));
            fprintf(k->out, "%s%.*s%s\n", selected->namespace.n > 0 ? " from " : "", STR_ARG(selected->namespace),
                    selected->namespace.n > 0 ? " namespace" : "");
        }
        if (error_is_not_found(status)) {
            status_free(TAKE(status));
        }
        TRY(status);
        status = api_create(k, selected->kind, selected->namespace, selected->object, "kubectl-replace", &answer);
    } else {
        path = path_of_write(k, selected->kind, selected->namespace, selected->name, STR(""), "kubectl-replace");
        status = api_call(k, &(struct api_request){.method = "PUT", .path = path, .body = selected->object}, &answer);
    }
    if (status != NULL) {
        return selected_error(selected, "replacing", status);
    }
    return output_done(k, output, selected->kind, answer, selected->name, "replaced", is_first);
}

/* One file, as it is, to a path. */
static struct status *replace_raw(struct kubectl *k, struct str path)
{
    struct str text;
    struct value *answer;
    OWNED(buf_done) struct buf out = {0};

    if (k->files.names.len != 1) {
        return error_local("--raw can only use a single local file or stdin");
    }
    struct status *status = file_read(k->arena, arena_cstr(k->arena, k->files.names.items[0]), PATCH_BYTES_MAX, &text);

    if (status != NULL) {
        status->code = 0;
        return status;
    }
    TRY(api_call(k, &(struct api_request){.method = "PUT", .path = path, .raw_body = text}, &answer));
    value_write_json(&out, answer, 0);
    output_text(k, buf_str(&out));
    return NULL;
}

static struct status *replace_run(struct kubectl *k, void *arg)
{
    const struct patch_options *options = arg;
    struct selection selection;
    struct output output;

    if (options->raw.n > 0) {
        return replace_raw(k, options->raw);
    }
    TRY(output_parse(k, false, &output));
    if (k->files.names.len == 0) {
        return error_local("must specify one of -f and -k");
    }
    TRY(selection_of_files(k, &selection));
    for (size_t i = 0; i < selection.len; i++) {
        report_error(k, replace_one(k, &output, &selection.items[i], options->force, i == 0));
    }
    if (selection.len == 0 && k->errors.len == 0) {
        return error_local("no objects passed to replace");
    }
    return NULL;
}

static const struct flag replace_flags[] = {
    FLAG(BOOL, struct patch_options, force, "force", 0, "delete the old one first"),
    FLAG(STRING, struct patch_options, raw, "raw", 0, "a path to PUT the file to as it is"),
    FLAG_IGNORE("grace-period"),
    FLAG_IGNORE("timeout"),
    FLAG_IGNORE_BOOL("wait"),
};

const struct command command_replace = {
    .name = "replace",
    .help = "Replace a resource by file name or stdin",
    .usage = "-f FILENAME",
    .uses = USES_OUTPUT | USES_FILES | USES_SELECTOR | USES_WRITE,
    .flags = replace_flags,
    .flag_count = COUNT_OF(replace_flags),
    .options_size = sizeof(struct patch_options),
    .run = replace_run,
};

/* Nodes that take new pods, or none. */
static struct status *mark_nodes(struct kubectl *k, bool unschedulable)
{
    struct value *spec = value_object(k->arena), *patch = value_object(k->arena);
    const char *done = unschedulable ? "cordoned" : "uncordoned";

    value_set(k->arena, spec, STR("unschedulable"),
              unschedulable ? value_bool(k->arena, true) : value_null(k->arena));
    value_set(k->arena, patch, STR("spec"), spec);
    if (k->args.positional.len == 0) {
        return error_usage(k, "USAGE: %.*s NODE [flags]", STR_ARG(k->path));
    }
    LIST_EACH(name, &k->args.positional)
    {
        const struct kind *kind;
        struct value *node = NULL;

        TRY(discovery_find(k, STR("nodes"), &kind));
        struct status *status = api_get(k, client_path(k->arena, kind, STR(""), *name, STR("")), &node);
        const struct value *now = value_find_path(node, "spec.unschedulable");
        bool is_already = status == NULL && (value_is(now, VALUE_BOOL) && now->boolean) == unschedulable;

        if (status == NULL && !is_already && k->write.dry_run != DRY_RUN_CLIENT) {
            status = api_patch(k, kind, STR(""), *name, STR(""), CLIENT_PATCH_STRATEGIC, patch, "kubectl", &node);
        }
        if (status == NULL) {
            fprintf(k->out, "node/%.*s %s%s%s\n", STR_ARG(*name), is_already ? "already " : "", done, output_dry_run(k));
        }
        report_error(k, status);
    }
    return NULL;
}

static struct status *cordon_run(struct kubectl *k, void *arg)
{
    (void)arg;
    return mark_nodes(k, true);
}

static struct status *uncordon_run(struct kubectl *k, void *arg)
{
    (void)arg;
    return mark_nodes(k, false);
}

const struct command command_cordon = {
    .name = "cordon",
    .help = "Mark node as unschedulable",
    .usage = "NODE",
    .uses = USES_WRITE | USES_SELECTOR,
    .run = cordon_run,
};

const struct command command_uncordon = {
    .name = "uncordon",
    .help = "Mark node as schedulable",
    .usage = "NODE",
    .uses = USES_WRITE | USES_SELECTOR,
    .run = uncordon_run,
};

static struct status *cluster_info_run(struct kubectl *k, void *arg)
{
    struct value *version;

    (void)arg;
    TRY(api_get(k, STR("/version"), &version));
    fprintf(k->out,
            "Kubernetes control plane is running at %.*s\n\nTo further debug and diagnose cluster problems, use 'kubectl "
            "cluster-info dump'.\n",
            STR_ARG(k->config.server));
    return NULL;
}

const struct command command_cluster_info = {
    .name = "cluster-info",
    .help = "Display cluster information",
    .run = cluster_info_run,
};
