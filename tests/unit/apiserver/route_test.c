#include "test.h"

#include "apiserver/route.h"

#include "base/buf.h"

/* prefix|group|version|verb|namespace|resource|subresource|name|rest, or path|verb of what is no resource. */
static struct str describe(struct arena *arena, const char *method, const char *path, const char *query)
{
    struct request_info info;
    struct status *status = route_parse(arena, str_of(method), str_of(path), str_of(query), &info);

    if (status != NULL) {
        struct str text = arena_printf(arena, "error %.*s", STR_ARG(status->message));

        status_free(status);
        return text;
    }
    if (!info.is_resource) {
        return arena_printf(arena, "%.*s|%.*s", STR_ARG(info.path), STR_ARG(info.verb));
    }
    return arena_printf(arena, "%.*s|%.*s|%.*s|%.*s|%.*s|%.*s|%.*s|%.*s|%.*s", STR_ARG(info.prefix),
                        STR_ARG(info.group), STR_ARG(info.version), STR_ARG(info.verb), STR_ARG(info.namespace),
                        STR_ARG(info.resource), STR_ARG(info.subresource), STR_ARG(info.name), STR_ARG(info.rest));
}

TEST("apiserver/route/paths and verbs")
{
    static const struct {
        const char *method, *path, *query, *wanted;
    } rows[] = {
        {"GET", "/api/v1/namespaces", "", "api||v1|list||namespaces|||"},
        {"GET", "/api/v1/namespaces/a", "", "api||v1|get|a|namespaces||a|"},
        {"PUT", "/api/v1/namespaces/a/finalize", "", "api||v1|update|a|namespaces|finalize|a|"},
        {"PUT", "/api/v1/namespaces/a/status", "", "api||v1|update|a|namespaces|status|a|"},
        {"GET", "/api/v1/namespaces/a/pods", "", "api||v1|list|a|pods|||"},
        {"GET", "/api/v1/namespaces//pods", "", "api||v1|list||pods|||"},
        {"GET", "/api/v1/pods", "watch=true", "api||v1|watch||pods|||"},
        {"GET", "/api/v1/pods", "watch=0", "api||v1|list||pods|||"},
        {"GET", "/api/v1/pods", "watch=1&fieldSelector=metadata.name%3Da", "api||v1|watch||pods||a|"},
        {"POST", "/api/v1/namespaces/a/pods/b/binding", "", "api||v1|create|a|pods|binding|b|"},
        {"GET", "/api/v1/namespaces/a/pods/b/proxy/x/y/", "", "api||v1|get|a|pods|proxy|b|/x/y/"},
        {"PATCH", "/apis/apps/v1/namespaces/a/deployments/b/scale", "", "apis|apps|v1|patch|a|deployments|scale|b|"},
        {"DELETE", "/apis/apps/v1/namespaces/a/deployments", "", "apis|apps|v1|deletecollection|a|deployments|||"},
        {"HEAD", "/apis/apps/v1/deployments", "", "apis|apps|v1|list||deployments|||"},
        {"OPTIONS", "/apis/apps/v1/deployments", "", "apis|apps|v1|||deployments|||"},
        {"GET", "/api/v1/watch/namespaces/a/pods/b", "", "api||v1|watch|a|pods||b|"},
        {"GET", "/api/v1/watch", "", "error unable to determine kind and namespace from url, /api/v1/watch"},
        {"GET", "/api/v1/namespaces/a/configmaps/a%2Fb", "", "api||v1|get|a|configmaps|b|a|"},
        {"GET", "/api/v1/namespaces/a/configmaps/a%20b", "", "api||v1|get|a|configmaps||a b|"},
        {"GET", "/api/v1/x%zz", "", "error "},
        {"GET", "/apis/apps/v1", "", "/apis/apps/v1|get"},
        {"GET", "/api/v1", "", "/api/v1|get"},
        {"POST", "/healthz", "", "/healthz|post"},
        {"GET", "//", "", "//|get"},
        {"GET", "", "", "|get"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct str got = describe(arena, rows[i].method, rows[i].path, rows[i].query);

        if (str_is(str_of(rows[i].wanted), "error ")) {
            CHECK(str_has_prefix(got, STR("error ")));
        } else {
            CHECK_STR(got, rows[i].wanted);
        }
    }
}
