#include "apiserver/route.h"

#include "net/http.h"

#include <string.h>

/* Segments of a path without the slashes around it; inner empty ones stay. */
struct segments {
    struct str *items;
    size_t len;
};

static struct segments split(struct arena *arena, struct str path)
{
    struct segments segments = {0};

    while (path.n != 0 && path.p[0] == '/') {
        path = str_from(path, 1);
    }
    while (path.n != 0 && path.p[path.n - 1] == '/') {
        path.n--;
    }
    struct str rest = path, item;

    while (path.n != 0 && str_next(&rest, '/', &item)) {
        *LIST_ADD(arena, &segments) = item;
    }
    return segments;
}

static struct str small(struct arena *arena, struct str text)
{
    struct str copy = arena_str(arena, text);

    for (size_t i = 0; i < copy.n; i++) {
        if (copy.p[i] >= 'A' && copy.p[i] <= 'Z') {
            ((char *)copy.p)[i] = (char)(copy.p[i] + 'a' - 'A');
        }
    }
    return copy;
}

static struct str verb_of_method(struct str method)
{
    static const struct {
        const char *method, *verb;
    } verbs[] = {{"POST", "create"}, {"GET", "get"},     {"HEAD", "get"},
                 {"PUT", "update"},  {"PATCH", "patch"}, {"DELETE", "delete"}};

    for (size_t i = 0; i < COUNT_OF(verbs); i++) {
        if (str_is(method, verbs[i].method)) {
            return str_of(verbs[i].verb);
        }
    }
    return (struct str){0};
}

static bool is_namespace_subresource(struct str name)
{
    return str_is(name, "status") || str_is(name, "finalize");
}

/* resource/name/subresource/rest, with the namespace taken off. */
static void route_resource(struct request_info *info, struct segments at)
{
    if (at.len > 0) {
        info->resource = at.items[0];
    }
    if (at.len > 1) {
        info->name = at.items[1];
    }
    bool whole = str_is(info->verb, "proxy"); /* the old /proxy/ prefix takes everything after the name */

    if (at.len > 2 && !whole) {
        info->subresource = at.items[2];
    }
    if (at.len > 3) {
        const char *start = at.items[3].p - 1;

        info->rest = (struct str){start, (size_t)(info->path.p + info->path.n - start)};
    }
}

/* The name that a field selector pins down, which then counts for authorization. */
static struct str selected_name(struct str selector)
{
    struct str rest = selector, term, key, value;

    while (selector.n != 0 && str_next(&rest, ',', &term)) {
        if (str_cut(term, '=', &key, &value) && str_is(str_trim(key), "metadata.name")) {
            return value.n != 0 && value.p[0] == '=' ? str_from(value, 1) : value;
        }
    }
    return (struct str){0};
}

static bool is_true(struct str value)
{
    return !str_is(value, "false") && !str_is(value, "0");
}

static void route_collection(struct arena *arena, struct request_info *info, struct str query)
{
    bool is_get = str_is(info->verb, "get"), is_delete = str_is(info->verb, "delete");
    struct str watch = {0};

    if (!is_get && !is_delete && !str_is(info->verb, "watch")) {
        return;
    }
    if (info->name.n == 0 || str_is(info->verb, "watch")) {
        http_query_find(arena, query, STR("fieldSelector"), &info->field_selector);
        http_query_find(arena, query, STR("labelSelector"), &info->label_selector);
    }
    if (info->name.n != 0) {
        return;
    }
    if (is_get) {
        bool watching = http_query_find(arena, query, STR("watch"), &watch) && is_true(watch);

        info->verb = watching ? STR("watch") : STR("list");
    } else if (is_delete) {
        info->verb = STR("deletecollection");
    }
    info->name = selected_name(info->field_selector);
}

struct status *route_parse(struct arena *arena, struct str method, struct str path, struct str query,
                           struct request_info *ret)
{
    struct request_info info = {.verb = small(arena, method)};

    TRY(http_unescape(arena, path, false, &info.path));
    struct segments at = split(arena, info.path);

    *ret = info;
    if (at.len < 3 || !(str_is(at.items[0], "api") || str_is(at.items[0], "apis"))) {
        return NULL;
    }
    info.prefix = at.items[0];
    at = (struct segments){at.items + 1, at.len - 1};
    if (str_is(info.prefix, "apis")) {
        if (at.len < 3) {
            return NULL;
        }
        info.group = at.items[0];
        at = (struct segments){at.items + 1, at.len - 1};
    }
    info.is_resource = true;
    info.version = at.items[0];
    at = (struct segments){at.items + 1, at.len - 1};
    if (str_is(at.items[0], "watch") || str_is(at.items[0], "proxy")) {
        if (at.len < 2) {
            return status_new(STATUS_BAD_REQUEST, "unable to determine kind and namespace from url, %.*s",
                              STR_ARG(info.path));
        }
        info.verb = at.items[0];
        at = (struct segments){at.items + 1, at.len - 1};
    } else {
        info.verb = verb_of_method(method);
    }
    if (str_is(at.items[0], "namespaces") && at.len > 1) {
        info.namespace = at.items[1];
        if (at.len > 2 && !is_namespace_subresource(at.items[2])) {
            at = (struct segments){at.items + 2, at.len - 2};
        }
    }
    route_resource(&info, at);
    route_collection(arena, &info, query);
    *ret = info;
    return NULL;
}
