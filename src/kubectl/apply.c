/* kubectl apply: what a file says becomes what is, by a three-way merge with what it said last time. */
#include "kubectl/apply.h"

#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/selection.h"
#include "kubectl/trace.h"
#include "schema/patch.h"

#define LAST_APPLIED STR("kubectl.kubernetes.io/last-applied-configuration")
#define MANAGER "kubectl-client-side-apply"
enum { CONFLICTS_MAX = 5 };

struct apply_options {
    bool server_side, force_conflicts, overwrite, force;
};

struct apply {
    struct kubectl *k;
    const struct apply_options *options;
    struct output output;
};

/* The member, made when it is not there. */
static struct value *object_in(struct arena *arena, struct value *object, struct str key)
{
    struct value *member = value_find(object, key);

    if (!value_is(member, VALUE_OBJECT)) {
        member = value_object(arena);
        value_set(arena, object, key, member);
    }
    return member;
}

/* The object with itself, as text, in its annotations. */
static struct value *with_last_applied(struct kubectl *k, const struct value *object)
{
    struct value *copy = value_copy(k->arena, object);
    struct value *annotations = object_in(k->arena, object_in(k->arena, copy, STR("metadata")), STR("annotations"));

    value_delete(annotations, LAST_APPLIED);
    struct str text = arena_printf(k->arena, "%.*s\n", STR_ARG(value_json(k->arena, copy)));

    value_set(k->arena, annotations, LAST_APPLIED, value_string(k->arena, text));
    return copy;
}

static const struct value *annotation_of(const struct value *object)
{
    return value_find(value_find_path(object, "metadata.annotations"), LAST_APPLIED);
}

static struct status *original_of(struct kubectl *k, const struct selected *selected, const struct value *current,
                                  struct value **ret)
{
    const struct value *text = annotation_of(current);

    *ret = NULL;
    if (text == NULL) {
        report_warning(k, arena_printf(k->arena,
                                       "resource %.*s/%.*s is missing the "
                                       "kubectl.kubernetes.io/last-applied-configuration annotation which is required "
                                       "by kubectl apply. kubectl apply should only be used on resources created "
                                       "declaratively by either kubectl create --save-config or kubectl apply. The "
                                       "missing annotation will be patched automatically.",
                                       STR_ARG(kind_resource(k->arena, selected->kind)), STR_ARG(selected->name)));
        return NULL;
    }
    return value_read_json(k->arena, value_str(text), ret, NULL);
}

static struct status *make_patch(struct kubectl *k, const struct selected *selected, const struct value *modified,
                                 const struct value *current, struct value **ret)
{
    struct value *original;
    struct status *status = original_of(k, selected, current, &original);

    if (status == NULL && selected->kind->type != NULL) {
        status = patch_strategic_three_way(k->arena, selected->kind->type, original, modified, current, ret);
    } else if (status == NULL) {
        *ret = patch_merge_three_way(k->arena, original, modified, current);
    }
    if (status != NULL) {
        status->code = 0;
        return status_while(status, "error when applying patch to \"%.*s\"", STR_ARG(selected->source));
    }
    return NULL;
}

static struct status *create(struct apply *apply, const struct selected *selected, struct value *modified,
                             bool is_first)
{
    struct kubectl *k = apply->k;
    struct value *answer = modified;

    if (k->write.dry_run != DRY_RUN_CLIENT) {
        struct status *status = api_create(k, selected->kind, selected->namespace, modified, MANAGER, &answer);

        if (status != NULL) {
            return selected_error(selected, "creating", status);
        }
        trace_object(k, selected->kind, answer);
    }
    return output_done(k, &apply->output, selected->kind, answer, selected->name, "created", is_first);
}

/* Patches; when someone else changed the object meanwhile, looks again and makes a new patch. */
static struct status *patch(struct apply *apply, const struct selected *selected, const struct value *modified,
                            struct value *current, bool *ret_changed, struct value **ret)
{
    struct kubectl *k = apply->k;
    enum client_patch_type type = selected->kind->type != NULL ? CLIENT_PATCH_STRATEGIC : CLIENT_PATCH_MERGE;

    for (int tries = 0;; tries++) {
        struct value *difference;

        TRY(make_patch(k, selected, modified, current, &difference));
        *ret_changed = value_count(difference) > 0;
        *ret = current;
        if (!*ret_changed || k->write.dry_run == DRY_RUN_CLIENT) {
            return NULL;
        }
        struct status *status =
            api_patch(k, selected->kind, selected->namespace, selected->name, STR(""), type, difference, MANAGER, ret);

        if (!status_is(status, STATUS_CONFLICT) || tries == CONFLICTS_MAX) {
            return status == NULL ? NULL
                                  : status_while(status, "error when applying patch to \"%.*s\"",
                                                 STR_ARG(selected->source));
        }
        status_free(status);
        TRY(api_get(k, client_path(k->arena, selected->kind, selected->namespace, selected->name, STR("")), &current));
    }
}

static struct status *apply_here(struct apply *apply, const struct selected *selected, bool is_first)
{
    struct kubectl *k = apply->k;
    struct value *modified = with_last_applied(k, selected->object), *current, *result;
    bool changed;
    struct status *status =
        api_get(k, client_path(k->arena, selected->kind, selected->namespace, selected->name, STR("")), &current);

    if (error_is_not_found(status)) {
        status_free(status);
        return create(apply, selected, modified, is_first);
    }
    if (status != NULL) {
        return status_while(status, "error when retrieving current configuration of \"%.*s\"",
                            STR_ARG(selected->source));
    }
    TRY(patch(apply, selected, modified, current, &changed, &result));
    return output_done(k, &apply->output, selected->kind, result, selected->name, changed ? "configured" : "unchanged",
                       is_first);
}

/* The advice that belongs to an apply in conflict with other owners of fields. */
static struct status *explain_conflict(struct status *status)
{
    struct status *told = error_local(
        "%.*s\nPlease review the fields above--they currently have other managers. Here\nare the ways you can resolve "
        "this warning:\n* If you intend to manage all of these fields, please re-run the apply\n  command with the "
        "`--force-conflicts` flag.\n* If you do not intend to manage all of the fields, please edit your\n  manifest to "
        "remove references to the fields that should keep their\n  current managers.\n* You may co-own fields by "
        "updating your manifest to match the existing\n  value; in this case, you'll become the manager if the other "
        "manager(s)\n  stop managing the field (remove it from their configuration).\nSee "
        "https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts",
        STR_ARG(status->message));

    status_free(status);
    return told;
}

static struct status *send_apply(struct kubectl *k, const struct selected *selected, bool force_conflicts,
                                 struct value **ret)
{
    struct str path =
        path_of_write(k, selected->kind, selected->namespace, selected->name, STR(""), "kubectl");

    path = path_with(k, path, "force", force_conflicts ? STR("true") : STR("false"));
    return api_call(k,
                    &(struct api_request){.method = "PATCH",
                                          .path = path,
                                          .content_type = STR("application/apply-patch+yaml"),
                                          .body = selected->object},
                    ret);
}

static struct status *apply_there(struct apply *apply, const struct selected *selected, bool is_first)
{
    struct kubectl *k = apply->k;
    struct value *answer;
    struct status *status = send_apply(k, selected, apply->options->force_conflicts, &answer);

    if (status_is(status, STATUS_CONFLICT)) {
        return explain_conflict(status);
    }
    TRY(status);
    trace_object(k, selected->kind, answer);
    return output_done(k, &apply->output, selected->kind, answer, selected->name, "serverside-applied", is_first);
}

struct status *apply_preview(struct kubectl *k, const struct selected *selected, bool server_side, bool force_conflicts,
                             struct value **ret_live, struct value **ret_merged)
{
    const struct kind *kind = selected->kind;
    struct value *original = NULL, *modified = value_copy(k->arena, selected->object), *patch;
    struct status *status =
        api_get(k, client_path(k->arena, kind, selected->namespace, selected->name, STR("")), ret_live);

    /* As in what was applied last, whose empty annotations would else count as taken away. */
    (void)object_in(k->arena, object_in(k->arena, modified, STR("metadata")), STR("annotations"));
    k->write.dry_run = DRY_RUN_SERVER;
    if (error_is_not_found(status)) {
        *ret_live = NULL;
        status_free(TAKE(status));
    }
    TRY(status);
    if (server_side) {
        return send_apply(k, selected, force_conflicts, ret_merged);
    }
    if (*ret_live == NULL) {
        return api_create(k, kind, selected->namespace, selected->object, MANAGER, ret_merged);
    }
    if (annotation_of(*ret_live) != NULL) {
        TRY(value_read_json(k->arena, value_str(annotation_of(*ret_live)), &original, NULL));
    }
    if (kind->type == NULL) {
        patch = patch_merge_three_way(k->arena, original, modified, *ret_live);
    } else {
        TRY(patch_strategic_three_way(k->arena, kind->type, original, modified, *ret_live, &patch));
    }
    return api_patch(k, kind, selected->namespace, selected->name, STR(""),
                     kind->type != NULL ? CLIENT_PATCH_STRATEGIC : CLIENT_PATCH_MERGE, patch, MANAGER, ret_merged);
}

static struct status *check(struct kubectl *k, const struct apply_options *options)
{
    if (k->args.positional.len > 0) {
        return error_usage(k, "Unexpected args: [%.*s]", STR_ARG(k->args.positional.items[0]));
    }
    if (k->files.names.len == 0) {
        return error_local("must specify one of -f and -k");
    }
    if (options->server_side && k->write.dry_run == DRY_RUN_CLIENT) {
        return error_local("--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)");
    }
    if (options->force_conflicts && !options->server_side) {
        return error_local("--force-conflicts only works with --server-side");
    }
    return NULL;
}

static struct status *apply_run(struct kubectl *k, void *arg)
{
    struct apply apply = {.k = k, .options = arg};
    struct selection selection;

    TRY(check(k, arg));
    TRY(output_parse(k, false, &apply.output));
    TRY(selection_of_files(k, &selection));
    for (size_t i = 0; i < selection.len; i++) {
        const struct selected *selected = &selection.items[i];
        struct str prefix = value_str_at(selected->object, "metadata.generateName");

        if (selected->name.n == 0 && prefix.n > 0) {
            return error_local("from %.*s: cannot use generate name with apply", STR_ARG(prefix));
        }
        report_error(k, apply.options->server_side ? apply_there(&apply, selected, i == 0)
                                                   : apply_here(&apply, selected, i == 0));
    }
    if (selection.len == 0 && k->errors.len == 0) {
        return error_local("no objects passed to apply");
    }
    return NULL;
}

static const struct flag apply_flags[] = {
    FLAG(BOOL, struct apply_options, server_side, "server-side", 0, "let the server merge, by who owns which field"),
    FLAG(BOOL, struct apply_options, force_conflicts, "force-conflicts", 0, "take fields from their other owners"),
    FLAG_IGNORE_BOOL("overwrite"),
    FLAG_IGNORE_BOOL("openapi-patch"),
    FLAG_IGNORE_BOOL("wait"),
    FLAG_IGNORE("timeout"),
    FLAG_IGNORE("grace-period"),
};

const struct command command_apply = {
    .name = "apply",
    .help = "Apply a configuration to a resource by file name or stdin",
    .usage = "(-f FILENAME | -k DIRECTORY)",
    .uses = USES_OUTPUT | USES_FILES | USES_SELECTOR | USES_WRITE,
    .flags = apply_flags,
    .flag_count = COUNT_OF(apply_flags),
    .options_size = sizeof(struct apply_options),
    .run = apply_run,
};
