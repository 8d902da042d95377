#include "apiserver/query.h"

#include "apiserver/errors.h"
#include "base/base64.h"
#include "net/http.h"
#include "schema/json_lexer.h"
#include "schema/value.h"

/* Go's strconv.ParseInt, as the error of a query parameter. */
static struct status *parse_int(struct str text, int64_t *ret)
{
    if (str_to_i64(text, ret)) {
        return NULL;
    }
    bool digits = text.n > 18;

    for (size_t i = text.n != 0 && text.p[0] == '-' ? 1 : 0; i < text.n; i++) {
        digits &= text.p[i] >= '0' && text.p[i] <= '9';
    }
    return error_bad_request("strconv.ParseInt: parsing \"%.*s\": %s", STR_ARG(text),
                             digits ? "value out of range" : "invalid syntax");
}

static bool is_true(struct str value)
{
    return !str_is(value, "false") && !str_is(value, "0");
}

bool query_bool(struct arena *arena, struct str query, struct str name)
{
    struct str value;

    return http_query_find(arena, query, name, &value) && is_true(value);
}

static struct status *optional_int(struct arena *arena, struct str query, struct str name, const int64_t **ret)
{
    struct str text;
    int64_t *value;

    if (!http_query_find(arena, query, name, &text)) {
        return NULL;
    }
    value = ARENA_NEW(arena, int64_t);
    TRY(parse_int(text, value));
    *ret = value;
    return NULL;
}

static void optional_bool(struct arena *arena, struct str query, struct str name, const bool **ret)
{
    struct str text;

    if (http_query_find(arena, query, name, &text)) {
        bool *value = ARENA_NEW(arena, bool);

        *value = is_true(text);
        *ret = value;
    }
}

static void check_list(struct status *errors, const struct list_options *o)
{
    static const char *const matches[] = {"Exact", "NotOlderThan", ""};
    struct str match = o->resource_version_match, field = STR("resourceVersionMatch");

    if (match.n != 0) {
        if (o->resource_version.n == 0) {
            error_field_forbidden(errors, field, "resourceVersionMatch is forbidden unless resourceVersion is provided");
        }
        if (o->continue_token.n != 0) {
            error_field_forbidden(errors, field, "resourceVersionMatch is forbidden when continue is provided");
        }
        if (!str_is(match, "Exact") && !str_is(match, "NotOlderThan")) {
            error_not_supported(errors, field, match, matches, COUNT_OF(matches));
        }
        if (str_is(match, "Exact") && str_is(o->resource_version, "0")) {
            error_field_forbidden(errors, field,
                                  "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
        }
    }
    if (o->send_initial_events != NULL) {
        error_field_forbidden(errors, STR("sendInitialEvents"), "sendInitialEvents is forbidden for list");
    }
}

static void check_watch(struct status *errors, const struct list_options *o)
{
    static const char *const matches[] = {"NotOlderThan"};
    struct str match = o->resource_version_match, field = STR("resourceVersionMatch");

    if (o->send_initial_events != NULL && !str_is(match, "NotOlderThan")) {
        error_field_forbidden(errors, field, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    }
    if (match.n == 0) {
        return;
    }
    if (o->send_initial_events == NULL) {
        error_field_forbidden(errors, field,
                              "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    }
    if (!str_is(match, "NotOlderThan")) {
        error_not_supported(errors, field, match, matches, COUNT_OF(matches));
    }
    if (o->continue_token.n != 0) {
        error_field_forbidden(errors, field, "resourceVersionMatch is forbidden when continue is provided");
    }
}

struct status *query_list_options(struct arena *arena, struct str query, bool is_watch, struct list_options *ret)
{
    struct list_options o = {.watch = is_watch};
    const int64_t *limit = NULL;

    http_query_find(arena, query, STR("labelSelector"), &o.label_selector);
    http_query_find(arena, query, STR("fieldSelector"), &o.field_selector);
    http_query_find(arena, query, STR("resourceVersion"), &o.resource_version);
    http_query_find(arena, query, STR("resourceVersionMatch"), &o.resource_version_match);
    http_query_find(arena, query, STR("continue"), &o.continue_token);
    o.allow_bookmarks = query_bool(arena, query, STR("allowWatchBookmarks"));
    TRY(optional_int(arena, query, STR("limit"), &limit));
    TRY(optional_int(arena, query, STR("timeoutSeconds"), &o.timeout_seconds));
    optional_bool(arena, query, STR("sendInitialEvents"), &o.send_initial_events);
    o.limit = limit != NULL && *limit > 0 ? *limit : 0;
    struct status *errors = error_invalid_start();

    if (is_watch) {
        check_watch(errors, &o);
    } else {
        check_list(errors, &o);
    }
    TRY(error_invalid_finish(errors, STR("meta.k8s.io"), STR("ListOptions"), (struct str){0}));
    *ret = o;
    return NULL;
}

static void check_dry_run(struct status *errors, const struct str *values, size_t count)
{
    OWNED(buf_done) struct buf list = {0};
    bool good = true;

    for (size_t i = 0; i < count; i++) {
        good &= str_is(values[i], "All");
        buf_printf(&list, "%s\"%.*s\"", i == 0 ? "" : ",", STR_ARG(values[i]));
    }
    for (size_t i = 0; i < count && !good; i++) {
        static const char *const all[] = {"All"};

        if (!str_is(values[i], "All")) {
            /* the whole list is the bad value */
            status_add_cause(errors, STR("FieldValueNotSupported"), STR("dryRun"),
                             "Unsupported value: [%.*s]: supported values: \"%s\"", STR_ARG(buf_str(&list)), all[0]);
            break;
        }
    }
}

struct values {
    struct str *items;
    size_t len;
};

static struct values all_values(struct arena *arena, struct str query, const char *wanted)
{
    struct values values = {0};
    struct str rest = query, name, value;

    while (http_query_next(arena, &rest, &name, &value)) {
        if (str_is(name, wanted)) {
            *LIST_ADD(arena, &values) = value;
        }
    }
    return values;
}

static bool printable(struct str text)
{
    uint32_t rune;

    for (size_t at = 0, n; at < text.n; at += n) {
        n = utf8_decode(text, at, &rune);
        if (n == 0 || rune < 0x20 || (rune >= 0x7f && rune < 0xa0)) {
            return false;
        }
    }
    return true;
}

static void check_manager(struct status *errors, struct str manager, bool required)
{
    if (required && manager.n == 0) {
        error_required(errors, STR("fieldManager"), "is required for apply patch");
    }
    if (manager.n > 128) {
        status_add_cause(errors, STR("FieldValueTooLong"), STR("fieldManager"), "Too long: may not be more than 128 bytes");
    }
    if (!printable(manager)) {
        error_invalid_value(errors, STR("fieldManager"), STR("\"\""), "should only contain printable characters");
    }
}

static void check_field_validation(struct status *errors, struct str text, enum field_validation *ret)
{
    static const char *const known[] = {"", "Ignore", "Strict", "Warn"};

    *ret = str_is(text, "Strict")   ? FIELD_VALIDATION_STRICT
           : str_is(text, "Ignore") ? FIELD_VALIDATION_IGNORE
                                    : FIELD_VALIDATION_WARN;
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        if (str_is(text, known[i])) {
            return;
        }
    }
    error_not_supported(errors, STR("fieldValidation"), text, known, COUNT_OF(known));
}

struct status *query_write_options(struct arena *arena, struct str query, enum write_verb verb,
                                   struct write_options *ret)
{
    static const char *const kinds[] = {"CreateOptions", "UpdateOptions", "PatchOptions", "PatchOptions"};
    struct write_options o = {0};
    struct values dry_run = all_values(arena, query, "dryRun");
    struct str validation = {0};
    const bool *force = NULL;
    struct status *errors = error_invalid_start();

    http_query_find(arena, query, STR("fieldManager"), &o.field_manager);
    http_query_find(arena, query, STR("fieldValidation"), &validation);
    optional_bool(arena, query, STR("force"), &force);
    o.dry_run = dry_run.len != 0;
    o.force = force != NULL && *force;
    check_manager(errors, o.field_manager, verb == WRITE_APPLY);
    if (verb == WRITE_PATCH && force != NULL) {
        error_field_forbidden(errors, STR("force"), "may not be specified for non-apply patch");
    }
    check_dry_run(errors, dry_run.items, dry_run.len);
    check_field_validation(errors, validation, &o.field_validation);
    TRY(error_invalid_finish(errors, STR("meta.k8s.io"), str_of(kinds[verb]), (struct str){0}));
    *ret = o;
    return NULL;
}

struct status *query_delete_options_check(const struct delete_options *options, const struct str *dry_run_values,
                                          size_t dry_run_count)
{
    static const char *const policies[] = {"Foreground", "Background", "Orphan"};
    struct status *errors = error_invalid_start();
    struct str policy = options->propagation_policy;

    if (policy.n != 0 && options->orphan_dependents != NULL) {
        error_invalid_value(errors, STR("propagationPolicy"),
                            arena_printf(errors->arena, "\"%.*s\"", STR_ARG(policy)),
                            "orphanDependents and deletionPropagation cannot be both set");
    }
    if (policy.n != 0 && !str_is(policy, policies[0]) && !str_is(policy, policies[1]) && !str_is(policy, policies[2])) {
        status_add_cause(errors, STR("FieldValueNotSupported"), STR("propagationPolicy"),
                         "Unsupported value: \"%.*s\": supported values: \"Foreground\", \"Background\", \"Orphan\", "
                         "\"nil\"",
                         STR_ARG(policy));
    }
    check_dry_run(errors, dry_run_values, dry_run_count);
    return error_invalid_finish(errors, STR("meta.k8s.io"), STR("DeleteOptions"), (struct str){0});
}

struct status *query_delete_options(struct arena *arena, struct str query, struct delete_options *ret)
{
    struct delete_options o = {0};
    struct values dry_run = all_values(arena, query, "dryRun");

    TRY(optional_int(arena, query, STR("gracePeriodSeconds"), &o.grace_period_seconds));
    optional_bool(arena, query, STR("orphanDependents"), &o.orphan_dependents);
    http_query_find(arena, query, STR("propagationPolicy"), &o.propagation_policy);
    o.dry_run = dry_run.len != 0;
    TRY(query_delete_options_check(&o, dry_run.items, dry_run.len));
    *ret = o;
    return NULL;
}

struct str continue_encode(struct arena *arena, int64_t revision, struct str start)
{
    OWNED(buf_done) struct buf text = {0};

    buf_printf(&text, "{\"v\":\"meta.k8s.io/v1\",\"rv\":%lld,\"start\":", (long long)revision);
    json_add_string(&text, start);
    buf_add_char(&text, '}');
    return base64_url_encode(arena, buf_str(&text));
}

struct status *continue_decode(struct arena *arena, struct str token, int64_t *ret_revision, struct str *ret_start)
{
    struct str text;
    struct value *tree;
    struct status *status;

    if (!base64_url_decode(arena, token, &text)) {
        return error_bad_request("continue key is not valid: illegal base64 data");
    }
    status = value_read_json(arena, text, &tree, NULL);
    if (status != NULL) {
        status_free(status);
        return error_bad_request("continue key is not valid: it holds no JSON");
    }
    struct value *revision = value_find(tree, STR("rv"));

    if (!str_is(value_str_at(tree, "v"), "meta.k8s.io/v1")) {
        return error_bad_request("continue key is not valid: server does not recognize this encoded version");
    }
    if (!value_is(revision, VALUE_INT) || revision->integer == 0) {
        return error_bad_request("continue key is not valid: incorrect encoded start resourceVersion (version "
                                 "meta.k8s.io/v1)");
    }
    *ret_start = value_str_at(tree, "start");
    if (ret_start->n == 0) {
        return error_bad_request("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)");
    }
    /* A key that climbs out of the list's prefix is refused. */
    if (str_contains(*ret_start, STR("..")) || ret_start->p[0] == '/') {
        return error_bad_request("continue key is not valid: %.*s", STR_ARG(*ret_start));
    }
    *ret_revision = revision->integer;
    return NULL;
}

struct status *resource_version_parse(struct str text, int64_t *ret)
{
    uint64_t value;

    if (text.n == 0) {
        *ret = 0;
        return NULL;
    }
    if (!str_to_u64(text, &value) || value > INT64_MAX) {
        return status_new(STATUS_UNKNOWN,
                          "resourceVersion: Invalid value: \"%.*s\": strconv.ParseUint: parsing \"%.*s\": invalid syntax",
                          STR_ARG(text), STR_ARG(text));
    }
    *ret = (int64_t)value;
    return NULL;
}
