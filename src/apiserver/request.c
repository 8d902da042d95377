#include "apiserver/request.h"

struct str request_header(const struct request *request, const char *name)
{
    return http_header_find(&request->exchange->headers, str_of(name));
}

void request_warn(struct request *request, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    struct str text = arena_vprintf(request->arena, format, args);

    va_end(args);
    if (!str_list_has(&request->warnings, text)) {
        *LIST_ADD(request->arena, &request->warnings) = text;
    }
}

struct str request_field_manager(const struct request *request, struct str asked)
{
    struct str agent, rest;

    if (asked.n != 0) {
        return asked;
    }
    str_cut(request_header(request, "user-agent"), '/', &agent, &rest);
    /* Stock counts characters; a user agent is hardly ever other than ASCII. */
    return str_sub(agent, 0, 128);
}
