#include "apiserver/errors.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"

#include <stdio.h>

static struct str qualified(struct arena *arena, struct str resource, struct str group)
{
    return group.n == 0 ? resource : arena_printf(arena, "%.*s.%.*s", STR_ARG(resource), STR_ARG(group));
}

/* As Go's %q for what names hold: printable text stays, control characters are escaped. */
static struct str quoted(struct arena *arena, struct str text)
{
    OWNED(buf_done) struct buf out = {0};

    buf_add_char(&out, '"');
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c == '"' || c == '\\') {
            buf_add_char(&out, '\\');
            buf_add_char(&out, (char)c);
        } else if (c == '\n') {
            buf_add_str(&out, STR("\\n"));
        } else if (c == '\t') {
            buf_add_str(&out, STR("\\t"));
        } else if (c == '\r') {
            buf_add_str(&out, STR("\\r"));
        } else if (c < 0x20 || c == 0x7f) {
            buf_printf(&out, "\\x%02x", c);
        } else {
            buf_add_char(&out, (char)c);
        }
    }
    buf_add_char(&out, '"');
    return arena_str(arena, buf_str(&out));
}

/* FORMAT takes the qualified resource and the quoted name. */
static struct status *about(enum status_reason reason, struct str group, struct str resource, struct str name,
                            const char *before, const char *after)
{
    struct status *status = status_new(reason, "%s", "");

    status_about(status, group, resource, name);
    status->message = arena_printf(status->arena, "%s%.*s %.*s%s", before,
                                   STR_ARG(qualified(status->arena, resource, group)),
                                   STR_ARG(quoted(status->arena, name)), after);
    return status;
}

static struct status *with_reason(struct status *status, const char *format, va_list args)
{
    struct str why = arena_vprintf(status->arena, format, args);

    status->message = arena_printf(status->arena, "%.*s%.*s", STR_ARG(status->message), STR_ARG(why));
    return status;
}

struct status *error_not_found(struct str group, struct str resource, struct str name)
{
    return about(STATUS_NOT_FOUND, group, resource, name, "", " not found");
}

struct status *error_already_exists(struct str group, struct str resource, struct str name)
{
    return about(STATUS_ALREADY_EXISTS, group, resource, name, "", " already exists");
}

struct status *error_conflict(struct str group, struct str resource, struct str name, const char *format, ...)
{
    va_list args;
    struct status *status =
        about(STATUS_CONFLICT, group, resource, name, "Operation cannot be fulfilled on ", ": ");

    va_start(args, format);
    status = with_reason(status, format, args);
    va_end(args);
    return status;
}

struct status *error_forbidden(struct str group, struct str resource, struct str name, const char *format, ...)
{
    va_list args;
    struct status *status;

    if (name.n != 0) {
        status = about(STATUS_FORBIDDEN, group, resource, name, "", " is forbidden: ");
    } else {
        status = status_new(STATUS_FORBIDDEN, "%s", "");
        status_about(status, group, resource, name);
        status->message =
            resource.n == 0 ? STR("forbidden: ")
                            : arena_printf(status->arena, "%.*s is forbidden: ",
                                           STR_ARG(qualified(status->arena, resource, group)));
    }
    va_start(args, format);
    status = with_reason(status, format, args);
    va_end(args);
    return status;
}

struct status *error_bad_request(const char *format, ...)
{
    va_list args;
    struct status *status = status_new(STATUS_BAD_REQUEST, "%s", "");

    va_start(args, format);
    status = with_reason(status, format, args);
    va_end(args);
    return status;
}

struct status *error_internal(const char *format, ...)
{
    va_list args;
    struct status *status = status_new(STATUS_INTERNAL_ERROR, "%s", "");

    va_start(args, format);
    struct str why = arena_vprintf(status->arena, format, args);

    va_end(args);
    status->message = arena_printf(status->arena, "Internal error occurred: %.*s", STR_ARG(why));
    status_add_cause(status, (struct str){0}, (struct str){0}, "%.*s", STR_ARG(why));
    return status;
}

struct status *error_no_such_resource(void)
{
    return status_new(STATUS_NOT_FOUND, "the server could not find the requested resource");
}

struct status *error_method_not_allowed(void)
{
    return status_new(STATUS_METHOD_NOT_ALLOWED, "the server does not allow this method on the requested resource");
}

struct status *error_invalid_start(void)
{
    return status_new(STATUS_INVALID, "%s", "");
}

void error_invalid_value(struct status *status, struct str field, struct str value, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    struct str why = arena_vprintf(status->arena, format, args);

    va_end(args);
    status_add_cause(status, STR("FieldValueInvalid"), field, "Invalid value: %.*s%s%.*s", STR_ARG(value),
                     why.n ? ": " : "", STR_ARG(why));
}

void error_required(struct status *status, struct str field, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    struct str why = arena_vprintf(status->arena, format, args);

    va_end(args);
    status_add_cause(status, STR("FieldValueRequired"), field, "Required value%s%.*s", why.n ? ": " : "",
                     STR_ARG(why));
}

void error_field_forbidden(struct status *status, struct str field, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    struct str why = arena_vprintf(status->arena, format, args);

    va_end(args);
    status_add_cause(status, STR("FieldValueForbidden"), field, "Forbidden%s%.*s", why.n ? ": " : "", STR_ARG(why));
}

void error_not_supported(struct status *status, struct str field, struct str value, const char *const *supported,
                         size_t count)
{
    OWNED(buf_done) struct buf list = {0};

    for (size_t i = 0; i < count; i++) {
        buf_printf(&list, "%s\"%s\"", i == 0 ? "" : ", ", supported[i]);
    }
    status_add_cause(status, STR("FieldValueNotSupported"), field, "Unsupported value: \"%.*s\"%s%.*s",
                     STR_ARG(value), count != 0 ? ": supported values: " : "", STR_ARG(buf_str(&list)));
}

/* "field: message", the same text only once, as errors.Aggregate prints them. */
/* The same said twice of a field counts once. */
static void drop_repeated(struct status *status)
{
    OWNED(map_done) struct map seen = {0};
    size_t kept = 0;

    for (size_t i = 0; i < status->cause_count; i++) {
        struct status_cause cause = status->causes[i];
        struct str line = arena_printf(status->arena, "%.*s: %.*s", STR_ARG(cause.field), STR_ARG(cause.message));

        if (map_set(&seen, line, status) == NULL) {
            status->causes[kept++] = cause;
        }
    }
    status->cause_count = kept;
}

static void add_causes(struct buf *out, const struct status *status)
{
    buf_add_str(out, status->cause_count > 1 ? STR("[") : (struct str){0});
    for (size_t i = 0; i < status->cause_count; i++) {
        const struct status_cause *cause = &status->causes[i];

        buf_printf(out, "%s%.*s: %.*s", i == 0 ? "" : ", ", STR_ARG(cause->field), STR_ARG(cause->message));
    }
    buf_add_str(out, status->cause_count > 1 ? STR("]") : (struct str){0});
}

struct status *error_invalid_finish(struct status *status, struct str group, struct str kind, struct str name)
{
    OWNED(buf_done) struct buf text = {0};

    if (status == NULL || status->cause_count == 0) {
        status_free(status);
        return NULL;
    }
    status_about(status, group, kind, name);
    buf_add_str(&text, qualified(status->arena, kind, group));
    buf_add_char(&text, ' ');
    buf_add_str(&text, quoted(status->arena, name));
    buf_add_str(&text, STR(" is invalid: "));
    drop_repeated(status);
    add_causes(&text, status);
    status->message = arena_str(status->arena, buf_str(&text));
    return status;
}
