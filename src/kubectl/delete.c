/* kubectl delete: asks, and waits until the things are gone. */
#include "base/env.h"
#include "base/task.h"
#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/selection.h"

struct delete_options {
    int64_t grace_period, timeout;
    bool all, force, now, ignore_not_found, wait, interactive;
    struct str cascade, raw;
};

/* What was deleted and is waited for. */
struct gone {
    const struct selected *selected;
    struct str uid;
};

struct gone_list {
    struct gone *items;
    size_t len;
};

static struct status *check(struct kubectl *k, struct delete_options *options)
{
    struct str cascade = options->cascade;

    if (options->now && options->grace_period != -1) {
        return error_local("--now and --grace-period cannot be specified together");
    }
    if (options->now) {
        options->grace_period = 1;
    }
    if (options->force && options->grace_period > 0 && !options->now) {
        return error_local("--force and --grace-period greater than 0 cannot be specified together");
    }
    if (options->force && options->grace_period < 0) {
        options->grace_period = 0;
    }
    if (str_is(cascade, "true") || str_is(cascade, "background")) {
        options->cascade = STR("Background");
    } else if (str_is(cascade, "false") || str_is(cascade, "orphan")) {
        options->cascade = STR("Orphan");
    } else if (str_is(cascade, "foreground")) {
        options->cascade = STR("Foreground");
    } else {
        return error_local("invalid cascade value (%.*s). Must be \"background\", \"foreground\", or \"orphan\"",
                           STR_ARG(cascade));
    }
    if (k->output.format.n > 0 && !str_is(k->output.format, "name")) {
        return error_local("unexpected -o output mode: %.*s. We only support '-o name'", STR_ARG(k->output.format));
    }
    if (options->grace_period == 0 && !options->force) {
        /* The one in the file stays as it is; the least that is asked politely is a second. */
        options->grace_period = 1;
    }
    if (options->force && options->grace_period == 0) {
        report_warning(k, STR("Immediate deletion does not wait for confirmation that the running resource has been "
                              "terminated. The resource may continue to run on the cluster indefinitely."));
    }
    return NULL;
}

static struct value *body_of(struct kubectl *k, const struct delete_options *options)
{
    struct value *body = value_object(k->arena), *all = value_array(k->arena);

    value_set(k->arena, body, STR("kind"), value_string(k->arena, STR("DeleteOptions")));
    value_set(k->arena, body, STR("apiVersion"), value_string(k->arena, STR("v1")));
    value_set(k->arena, body, STR("propagationPolicy"), value_string(k->arena, options->cascade));
    if (options->grace_period >= 0) {
        value_set(k->arena, body, STR("gracePeriodSeconds"), value_int(k->arena, options->grace_period));
    }
    if (k->write.dry_run == DRY_RUN_SERVER) {
        value_add(k->arena, all, value_string(k->arena, STR("All")));
        value_set(k->arena, body, STR("dryRun"), all);
    }
    return body;
}

static void print_deleted(struct kubectl *k, const struct delete_options *options, const struct selected *selected)
{
    struct str label = kind_label(k->arena, selected->kind);

    if (k->output.format.n > 0) {
        fprintf(k->out, "%.*s/%.*s\n", STR_ARG(label), STR_ARG(selected->name));
        return;
    }
    fprintf(k->out, "%.*s \"%.*s\" %s", STR_ARG(label), STR_ARG(selected->name),
            options->force && options->grace_period == 0 ? "force deleted" : "deleted");
    if (selected->namespace.n > 0) {
        fprintf(k->out, " from %.*s namespace", STR_ARG(selected->namespace));
    }
    fprintf(k->out, "%s\n", output_dry_run(k));
    fflush(k->out);
}

static struct status *delete_one(struct kubectl *k, const struct delete_options *options,
                                 const struct selected *selected, struct gone_list *gone)
{
    struct str path = client_path(k->arena, selected->kind, selected->namespace, selected->name, STR(""));
    struct value *answer;
    struct status *status =
        k->write.dry_run == DRY_RUN_CLIENT
            ? api_get(k, path, &answer)
            : api_call(k, &(struct api_request){.method = "DELETE", .path = path, .body = body_of(k, options)}, &answer);

    if (status != NULL) {
        if (options->ignore_not_found && error_is_not_found(status)) {
            status_free(status);
            return NULL;
        }
        return selected_error(selected, "deleting", status);
    }
    print_deleted(k, options, selected);
    /* The answer is the object, or a Status about it. */
    struct str uid = value_str_at(answer, "metadata.uid");

    *LIST_ADD(k->arena, gone) =
        (struct gone){selected, uid.n > 0 ? uid : value_str_at(answer, "details.uid")};
    return NULL;
}

static bool is_gone(struct kubectl *k, const struct gone *gone, struct status **ret_status)
{
    struct value *object;
    struct status *status = api_get(
        k, client_path(k->arena, gone->selected->kind, gone->selected->namespace, gone->selected->name, STR("")), &object);

    if (error_is_not_found(status)) {
        status_free(status);
        return true;
    }
    *ret_status = status;
    return status == NULL && gone->uid.n > 0 && !str_eq(value_str_at(object, "metadata.uid"), gone->uid);
}

static struct str watch_path(struct kubectl *k, const struct selected *selected)
{
    struct str list = client_path(k->arena, selected->kind, selected->namespace, STR(""), STR(""));

    return path_with(k, list, "fieldSelector", arena_printf(k->arena, "metadata.name=%.*s", STR_ARG(selected->name)));
}

/* Watches until the object is gone; the state before the watch began is among its first events. */
static struct status *wait_gone(struct kubectl *k, const struct gone *gone, int64_t deadline)
{
    for (;;) {
        struct status *status = NULL;
        struct api_watch *watch;

        if (is_gone(k, gone, &status)) {
            return NULL;
        }
        TRY(status);
        TRY(api_watch_open(k, watch_path(k, gone->selected), ACCEPT_JSON, &watch));
        for (struct str type = STR(""); status == NULL && !str_is(type, "DELETED");) {
            struct value *object;

            status = api_watch_next(watch, k->arena, deadline, &type, &object);
        }
        api_watch_close(watch);
        if (status_free_if(&status, STATUS_TIMEOUT)) {
            return error_local("timed out waiting for the condition on %.*s/%.*s", STR_ARG(gone->selected->kind->plural),
                               STR_ARG(gone->selected->name));
        }
        if (!status_free_if(&status, STATUS_SERVICE_UNAVAILABLE)) {
            TRY(status);
        }
    }
}

static struct status *delete_raw(struct kubectl *k, const struct delete_options *options)
{
    struct value *answer;
    OWNED(buf_done) struct buf text = {0};

    TRY(api_call(k, &(struct api_request){.method = "DELETE", .path = options->raw}, &answer));
    value_write_json(&text, answer, 0);
    output_text(k, buf_str(&text));
    return NULL;
}

static struct status *delete_all(struct kubectl *k, const struct delete_options *options, struct selection *selection)
{
    struct gone_list gone = {0};
    bool was_one = selection->len > 0;

    TRY(selection_list(k, selection));
    LIST_EACH(selected, selection)
    {
        report_error(k, delete_one(k, options, selected, &gone));
    }
    if (selection->len == 0 && was_one && k->errors.len == 0) {
        fprintf(k->out, "No resources found\n");
    }
    if (!options->wait || k->write.dry_run != DRY_RUN_NONE) {
        return NULL;
    }
    /* A week stands for ever, as in stock. */
    int64_t timeout = options->timeout > 0 ? options->timeout : INT64_C(168) * 3600 * ENV_SECOND;

    LIST_EACH(each, &gone)
    {
        TRY(wait_gone(k, each, env_mono() + timeout));
    }
    return NULL;
}

static struct status *delete_run(struct kubectl *k, void *arg)
{
    struct delete_options *options = arg;
    struct selection selection;

    if (options->raw.n > 0) {
        return delete_raw(k, options);
    }
    TRY(check(k, options));
    TRY(selection_of(k, k->args.positional.items, k->args.positional.len,
                     &(struct selection_rules){.command = "delete", .needs_names = true, .all = options->all},
                     &selection));
    return delete_all(k, options, &selection);
}

static void delete_defaults(struct kubectl *k, void *arg)
{
    struct delete_options *options = arg;

    (void)k;
    options->grace_period = -1;
    options->wait = true;
    options->cascade = STR("background");
}

static const struct flag delete_flags[] = {
    FLAG(INT, struct delete_options, grace_period, "grace-period", 0, "seconds to end in; 0 needs --force"),
    FLAG(DURATION, struct delete_options, timeout, "timeout", 0, "how long to wait; 0: as the object's own grace says"),
    FLAG(BOOL, struct delete_options, all, "all", 0, "all resources of the type in the namespace"),
    FLAG(BOOL, struct delete_options, force, "force", 0, "delete at once, without a graceful end"),
    FLAG(BOOL, struct delete_options, now, "now", 0, "end within a second"),
    FLAG(BOOL, struct delete_options, ignore_not_found, "ignore-not-found", 0, "what is not there is no error"),
    FLAG(BOOL, struct delete_options, wait, "wait", 0, "wait until the resources are gone"),
    {"cascade", 0, FLAG_TYPE_STRING, offsetof(struct delete_options, cascade),
     "background, orphan or foreground: what becomes of dependents", "background"},
    FLAG(STRING, struct delete_options, raw, "raw", 0, "a path to DELETE as it is"),
    FLAG_IGNORE_BOOL("interactive"),
};

const struct command command_delete = {
    .name = "delete",
    .help = "Delete resources by file names, stdin, resources and names, or by resources and label selector",
    .usage = "([-f FILENAME] | [-k DIRECTORY] | TYPE [(NAME | -l label | --all)])",
    .uses = USES_OUTPUT | USES_FILES | USES_SELECTOR | USES_WRITE,
    .flags = delete_flags,
    .flag_count = COUNT_OF(delete_flags),
    .options_size = sizeof(struct delete_options),
    .defaults = delete_defaults,
    .run = delete_run,
};
