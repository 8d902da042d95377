/* kubectl wait: until things are as they should be. */
#include "base/env.h"
#include "base/task.h"
#include "kubectl/json_path.h"
#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/selection.h"

struct wait_options {
    struct flag_strings conditions;
    int64_t timeout;
    bool all;
};

enum wait_for { WAIT_CONDITION, WAIT_JSON_PATH, WAIT_DELETE, WAIT_CREATE };

struct wanted {
    enum wait_for what;
    struct str type, status; /* of a condition */
    struct str path, value;  /* of a JSONPath; value.p is NULL when any will do */
};

static struct status *parse_json_path(struct kubectl *k, struct str text, struct wanted *ret)
{
    size_t end = str_index(text, '}');
    struct str path = end == SIZE_MAX ? text : str_sub(text, 0, end + 1), rest = str_from(text, path.n);

    if (end == SIZE_MAX) {
        str_cut(text, '=', &path, &rest);
        rest = path.n < text.n ? str_from(text, path.n) : STR("");
    }
    ret->what = WAIT_JSON_PATH;
    TRY(json_path_relaxed(k->arena, path, &ret->path));
    TRY(json_path_check(k->arena, ret->path));
    if (rest.n > 0 && (rest.p[0] != '=' || rest.n == 1)) {
        return error_local("jsonpath wait value cannot be empty");
    }
    ret->value = rest.n > 1 ? str_from(rest, 1) : (struct str){0};
    if (ret->value.n >= 2 && (ret->value.p[0] == '"' || ret->value.p[0] == '\'') &&
        ret->value.p[ret->value.n - 1] == ret->value.p[0]) {
        ret->value = str_sub(ret->value, 1, ret->value.n - 1);
    }
    return NULL;
}

static struct status *parse_wanted(struct kubectl *k, const struct wait_options *options, struct wanted *ret)
{
    *ret = (struct wanted){0};
    if (options->conditions.len == 0) {
        return error_local("unrecognized condition: []");
    }
    struct str text = options->conditions.items[options->conditions.len - 1];

    if (str_eq_nocase(text, STR("delete"))) {
        ret->what = WAIT_DELETE;
    } else if (str_eq_nocase(text, STR("create"))) {
        ret->what = WAIT_CREATE;
    } else if (str_has_prefix(text, STR("jsonpath="))) {
        return parse_json_path(k, str_from(text, 9), ret);
    } else if (str_has_prefix(text, STR("condition="))) {
        if (!str_cut(str_from(text, 10), '=', &ret->type, &ret->status)) {
            ret->status = STR("true");
        }
    } else {
        return error_local("unrecognized condition: \"%.*s\"", STR_ARG(text));
    }
    return NULL;
}

static bool has_condition(const struct wanted *wanted, const struct value *object)
{
    const struct value *generation = value_find_path(object, "metadata.generation");

    VALUE_EACH_ITEM(condition, value_find_path(object, "status.conditions"))
    {
        const struct value *observed = value_find(*condition, STR("observedGeneration"));

        if (observed == NULL) {
            observed = value_find_path(object, "status.observedGeneration");
        }
        if (str_eq_nocase(value_str_at(*condition, "type"), wanted->type) &&
            str_eq_nocase(value_str_at(*condition, "status"), wanted->status)) {
            return !value_is(observed, VALUE_INT) || !value_is(generation, VALUE_INT) ||
                   observed->integer >= generation->integer;
        }
    }
    return false;
}

static struct status *has_value(struct kubectl *k, const struct wanted *wanted, const struct value *object, bool *ret)
{
    OWNED(buf_done) struct buf text = {0};
    struct json_path_results found;

    TRY(json_path_find(k->arena, wanted->path, object, &found));
    *ret = false;
    if (found.len == 0) {
        return NULL;
    }
    if (found.len > 1) {
        return error_local("given jsonpath expression matches more than one value");
    }
    json_path_text(&text, found.items[0]);
    *ret = wanted->value.p == NULL || str_eq(buf_str(&text), wanted->value);
    return NULL;
}

/* Whether an object that is there is as wanted. */
static struct status *is_met(struct kubectl *k, const struct wanted *wanted, const struct value *object, bool *ret)
{
    *ret = wanted->what == WAIT_CREATE || (wanted->what == WAIT_CONDITION && has_condition(wanted, object));
    return wanted->what == WAIT_JSON_PATH ? has_value(k, wanted, object, ret) : NULL;
}

static struct status *timed_out(const struct selected *selected, const struct wanted *wanted)
{
    return wanted->what == WAIT_CREATE
               ? error_local("timed out waiting for the condition")
               : error_local("timed out waiting for the condition on %.*s/%.*s", STR_ARG(selected->kind->plural),
                             STR_ARG(selected->name));
}

static struct str watch_path(struct kubectl *k, const struct selected *selected, struct str revision)
{
    struct str path = client_path(k->arena, selected->kind, selected->namespace, STR(""), STR(""));

    path = path_with(k, path, "fieldSelector",
                     arena_printf(k->arena, "metadata.name=%.*s", STR_ARG(selected->name)));
    return path_with(k, path, "resourceVersion", revision);
}

/* Follows one object from a revision on until it is as wanted; the watch may end before, which is NULL and not met. */
static struct status *follow(struct kubectl *k, const struct selected *selected, const struct wanted *wanted,
                             struct str revision, int64_t deadline, bool *ret_met)
{
    struct api_watch *watch;
    struct status *status;

    *ret_met = false;
    TRY(api_watch_open(k, watch_path(k, selected, revision), ACCEPT_JSON, &watch));
    do {
        struct str type;
        struct value *object;

        status = api_watch_next(watch, k->arena, deadline, &type, &object);
        if (status == NULL && str_is(type, "DELETED")) {
            *ret_met = wanted->what == WAIT_DELETE;
            if (!*ret_met && wanted->what != WAIT_CREATE) {
                status = error_local("the server doesn't have %.*s/%.*s any more: it was deleted while it was waited for",
                                     STR_ARG(selected->kind->plural), STR_ARG(selected->name));
            }
        } else if (status == NULL && !str_is(type, "BOOKMARK")) {
            status = is_met(k, wanted, object, ret_met);
        }
    } while (status == NULL && !*ret_met);
    api_watch_close(watch);
    if (status_free_if(&status, STATUS_TIMEOUT)) {
        return timed_out(selected, wanted);
    }
    return status_free_if(&status, STATUS_SERVICE_UNAVAILABLE) ? NULL : status;
}

static struct status *wait_one(struct kubectl *k, const struct selected *selected, const struct wanted *wanted,
                               int64_t deadline)
{
    for (;;) {
        struct value *object;
        bool met = false;
        struct status *status =
            api_get(k, client_path(k->arena, selected->kind, selected->namespace, selected->name, STR("")), &object);
        struct str revision = status == NULL ? value_str_at(object, "metadata.resourceVersion") : STR("");
        bool is_gone = error_is_not_found(status);

        if (is_gone && (wanted->what == WAIT_DELETE || wanted->what == WAIT_CREATE)) {
            status_free(status);
            if (wanted->what == WAIT_DELETE) {
                return NULL;
            }
        } else {
            TRY(status);
            TRY(is_met(k, wanted, object, &met));
        }
        if (!met && env_mono() >= deadline) {
            return timed_out(selected, wanted);
        }
        if (!met) {
            TRY(follow(k, selected, wanted, revision, deadline, &met));
        }
        if (met) {
            fprintf(k->out, "%.*s/%.*s condition met\n", STR_ARG(kind_label(k->arena, selected->kind)),
                    STR_ARG(selected->name));
            fflush(k->out);
            return NULL;
        }
    }
}

static struct status *wait_run(struct kubectl *k, void *arg)
{
    const struct wait_options *options = arg;
    struct selection selection;
    struct wanted wanted;

    TRY(parse_wanted(k, options, &wanted));
    TRY(selection_of(k, k->args.positional.items, k->args.positional.len,
                     &(struct selection_rules){.command = "wait", .needs_names = true, .all = options->all}, &selection));
    TRY(selection_list(k, &selection));
    if (selection.len == 0) {
        return wanted.what == WAIT_DELETE ? NULL : error_local("no matching resources found");
    }
    /* Below zero: a week; zero: only a look. */
    int64_t timeout = options->timeout < 0 ? INT64_C(168) * 3600 * ENV_SECOND : options->timeout;
    int64_t deadline = env_mono() + timeout;

    LIST_EACH(selected, &selection)
    {
        report_error(k, wait_one(k, selected, &wanted, deadline));
    }
    return NULL;
}

static void wait_defaults(struct kubectl *k, void *arg)
{
    (void)k;
    ((struct wait_options *)arg)->timeout = 30 * ENV_SECOND;
}

static const struct flag wait_flags[] = {
    FLAG(ARRAY, struct wait_options, conditions, "for", 0,
         "condition=NAME[=VALUE], jsonpath='{PATH}'[=VALUE], create or delete"),
    FLAG(DURATION, struct wait_options, timeout, "timeout", 0, "how long to wait; 0: only look; negative: a week"),
    FLAG(BOOL, struct wait_options, all, "all", 0, "all resources of the type in the namespace"),
};

const struct command command_wait = {
    .name = "wait",
    .help = "Wait for a specific condition on one or many resources",
    .usage = "([-f FILENAME] | resource.group/resource.name | resource.group [(-l label | --all)]) --for=...",
    .uses = USES_OUTPUT | USES_FILES | USES_SELECTOR,
    .flags = wait_flags,
    .flag_count = COUNT_OF(wait_flags),
    .options_size = sizeof(struct wait_options),
    .defaults = wait_defaults,
    .run = wait_run,
};
