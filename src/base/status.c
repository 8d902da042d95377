#include "base/status.h"

#include "base/arena.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
    int code;
    struct str text;
} reasons[] = {
#define ROW(name, code, text) [STATUS_##name] = {code, STR_INIT(text)},
    STATUS_REASONS(ROW)
#undef ROW
};

static struct status *status_with(enum status_reason reason)
{
    struct arena *arena = arena_new();
    struct status *status = ARENA_NEW(arena, struct status);

    status->arena = arena;
    status->reason = reason;
    status->code = reasons[reason].code;
    return status;
}

struct status *status_new(enum status_reason reason, const char *format, ...)
{
    struct status *status = status_with(reason);
    va_list args;

    va_start(args, format);
    status->message = arena_vprintf(status->arena, format, args);
    va_end(args);
    return status;
}

struct status *status_errno(int error, const char *format, ...)
{
    struct status *status = status_with(error == ENOENT ? STATUS_NOT_FOUND : STATUS_INTERNAL_ERROR);
    va_list args;

    va_start(args, format);
    struct str what = arena_vprintf(status->arena, format, args);

    va_end(args);
    status->message = arena_printf(status->arena, "%.*s: %s", STR_ARG(what), strerrordesc_np(error));
    return status;
}

struct status *status_while(struct status *cause, const char *format, ...)
{
    if (cause == NULL) {
        return NULL;
    }
    va_list args;

    va_start(args, format);
    struct str what = arena_vprintf(cause->arena, format, args);

    va_end(args);
    cause->message = arena_printf(cause->arena, "%.*s: %.*s", STR_ARG(what), STR_ARG(cause->message));
    return cause;
}

struct status *status_about(struct status *status, struct str group, struct str kind, struct str name)
{
    status->group = arena_str(status->arena, group);
    status->kind = arena_str(status->arena, kind);
    status->name = arena_str(status->arena, name);
    return status;
}

static void cause_add(struct status *status, struct status_cause cause)
{
    struct {
        struct status_cause *items;
        size_t len;
    } causes = {status->causes, status->cause_count};

    *LIST_ADD(status->arena, &causes) = cause;
    status->causes = causes.items;
    status->cause_count = causes.len;
}

void status_add_cause(struct status *status, struct str reason, struct str field, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    struct str message = arena_vprintf(status->arena, format, args);

    va_end(args);
    cause_add(status, (struct status_cause){arena_str(status->arena, reason), message,
                                            arena_str(status->arena, field)});
}

struct status *status_copy(const struct status *status)
{
    if (status == NULL) {
        return NULL;
    }
    struct status *copy = status_with(status->reason);

    copy->code = status->code;
    copy->retry_after_seconds = status->retry_after_seconds;
    copy->message = arena_str(copy->arena, status->message);
    copy->uid = arena_str(copy->arena, status->uid);
    status_about(copy, status->group, status->kind, status->name);
    for (size_t i = 0; i < status->cause_count; i++) {
        const struct status_cause *cause = &status->causes[i];

        cause_add(copy, (struct status_cause){arena_str(copy->arena, cause->reason),
                                              arena_str(copy->arena, cause->message),
                                              arena_str(copy->arena, cause->field)});
    }
    return copy;
}

void status_free(struct status *status)
{
    if (status != NULL) {
        arena_free(status->arena);
    }
}

void status_freep(struct status **status)
{
    status_free(TAKE(*status));
}

bool status_free_if(struct status **status, enum status_reason reason)
{
    if (!status_is(*status, reason)) {
        return false;
    }
    status_freep(status);
    return true;
}

bool status_is(const struct status *status, enum status_reason reason)
{
    return status != NULL && status->reason == reason;
}

struct str status_reason_text(enum status_reason reason)
{
    return reasons[reason].text;
}

enum status_reason status_reason_of(struct str text)
{
    for (size_t i = 0; i < COUNT_OF(reasons); i++) {
        if (str_eq(reasons[i].text, text)) {
            return (enum status_reason)i;
        }
    }
    return STATUS_UNKNOWN;
}
