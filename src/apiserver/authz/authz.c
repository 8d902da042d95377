#include "apiserver/authz/authz.h"

#include "base/buf.h"

bool authz_is_read_only(const struct authz_attributes *attributes)
{
    return str_is(attributes->verb, "get") || str_is(attributes->verb, "list") || str_is(attributes->verb, "watch");
}

/* Browsers may show the message: stock keeps markup out of it. */
static struct str sanitize(struct arena *arena, struct str text)
{
    OWNED(buf_done) struct buf out = {0};

    for (size_t i = 0; i < text.n; i++) {
        switch (text.p[i]) {
        case '&':
            buf_add_str(&out, STR("&amp;"));
            break;
        case '<':
            buf_add_str(&out, STR("&lt;"));
            break;
        case '>':
            buf_add_str(&out, STR("&gt;"));
            break;
        default:
            buf_add_char(&out, text.p[i]);
        }
    }
    return arena_str(arena, buf_str(&out));
}

static struct str what_is_asked(const struct authz_attributes *a, struct arena *arena)
{
    const char *slash = a->subresource.n != 0 ? "/" : "";

    if (!a->is_resource) {
        return arena_printf(arena, "User \"%.*s\" cannot %.*s path \"%.*s\"", STR_ARG(a->user->name),
                            STR_ARG(a->verb), STR_ARG(a->path));
    }
    if (a->namespace.n != 0) {
        return arena_printf(arena,
                            "User \"%.*s\" cannot %.*s resource \"%.*s%s%.*s\" in API group \"%.*s\" in the namespace "
                            "\"%.*s\"",
                            STR_ARG(a->user->name), STR_ARG(a->verb), STR_ARG(a->resource), slash,
                            STR_ARG(a->subresource), STR_ARG(a->group), STR_ARG(a->namespace));
    }
    return arena_printf(
        arena, "User \"%.*s\" cannot %.*s resource \"%.*s%s%.*s\" in API group \"%.*s\" at the cluster scope",
        STR_ARG(a->user->name), STR_ARG(a->verb), STR_ARG(a->resource), slash, STR_ARG(a->subresource),
        STR_ARG(a->group));
}

struct status *authz_forbidden(const struct authz_attributes *a, struct str reason, struct arena *arena)
{
    struct str what = sanitize(arena, what_is_asked(a, arena));
    struct str why = reason.n == 0 ? what
                                   : arena_printf(arena, "%.*s: %.*s", STR_ARG(what), STR_ARG(reason));

    if (!a->is_resource || a->resource.n == 0) {
        return status_new(STATUS_FORBIDDEN, "forbidden: %.*s", STR_ARG(why));
    }
    struct str dot = a->group.n != 0 ? STR(".") : (struct str){0};
    struct status *status =
        a->name.n == 0
            ? status_new(STATUS_FORBIDDEN, "%.*s%.*s%.*s is forbidden: %.*s", STR_ARG(a->resource), STR_ARG(dot),
                         STR_ARG(a->group), STR_ARG(why))
            : status_new(STATUS_FORBIDDEN, "%.*s%.*s%.*s \"%.*s\" is forbidden: %.*s", STR_ARG(a->resource),
                         STR_ARG(dot), STR_ARG(a->group), STR_ARG(a->name), STR_ARG(why));

    return status_about(status, a->group, a->resource, a->name);
}
