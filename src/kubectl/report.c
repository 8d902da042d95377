#include "kubectl/report.h"

#include <stdarg.h>
#include <stdlib.h>

static struct status *local(const char *format, va_list args, struct str more)
{
    OWNED(buf_done) struct buf text = {0};

    buf_vprintf(&text, format, args);
    buf_add_str(&text, more);
    struct status *status = status_new(STATUS_BAD_REQUEST, "%.*s", STR_ARG(buf_str(&text)));

    status->code = 0;
    return status;
}

struct status *error_local(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    struct status *status = local(format, args, STR(""));

    va_end(args);
    return status;
}

struct status *error_usage(const struct kubectl *k, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    struct status *status = local(format, args,
                                  arena_printf(k->arena, "\nSee 'kubectl %.*s -h' for help and examples",
                                               STR_ARG(k->path)));

    va_end(args);
    return status;
}

void report_error(struct kubectl *k, struct status *status)
{
    if (status != NULL) {
        *VEC_ADD(&k->errors) = status;
    }
}

bool error_is_not_found(const struct status *status)
{
    return status != NULL && (status->code & REPORT_FROM_SERVER) != 0 && status_is(status, STATUS_NOT_FOUND);
}

/* "The Pod "p" is invalid: ..." with every cause. */
static void print_invalid(FILE *err, const struct status *status)
{
    if (status->kind.n == 0) {
        fprintf(err, "The request is invalid: %.*s\n", STR_ARG(status->message));
        return;
    }
    fprintf(err, "The %.*s \"%.*s\" is invalid", STR_ARG(status->kind), STR_ARG(status->name));
    for (size_t i = 0; i < status->cause_count; i++) {
        const struct status_cause *cause = &status->causes[i];

        fprintf(err, "%s%.*s: %.*s", status->cause_count > 1 ? (i == 0 ? ": \n* " : "\n* ") : ": ",
                STR_ARG(cause->field), STR_ARG(cause->message));
    }
    fprintf(err, "\n");
}

static void print_from_server(FILE *err, const struct status *status)
{
    struct str reason = status_reason_text(status->reason);

    if (status_is(status, STATUS_INVALID)) {
        print_invalid(err, status);
    } else if (status_is(status, STATUS_UNAUTHORIZED)) {
        fprintf(err, "error: You must be logged in to the server (%.*s)\n", STR_ARG(status->message));
    } else if (reason.n > 0) {
        fprintf(err, "Error from server (%.*s): %.*s\n", STR_ARG(reason), STR_ARG(status->message));
    } else {
        fprintf(err, "Error from server: %.*s\n", STR_ARG(status->message));
    }
}

static struct str host_of(struct str server)
{
    size_t scheme = str_find(server, STR("://"));
    struct str host = scheme == SIZE_MAX ? server : str_from(server, scheme + 3);

    return str_sub(host, 0, MIN(str_index(host, '/'), host.n));
}

static void print_error(const struct kubectl *k, const struct status *status, bool is_alone)
{
    if ((status->code & REPORT_UNREACHABLE) != 0) {
        if (str_contains(status->message, STR("connection refused"))) {
            fprintf(k->err, "The connection to the server %.*s was refused - did you specify the right host or port?\n",
                    STR_ARG(host_of(k->config.server)));
        } else {
            fprintf(k->err, "Unable to connect to the server: %.*s\n", STR_ARG(status->message));
        }
    } else if ((status->code & REPORT_FROM_SERVER) != 0) {
        print_from_server(k->err, status);
    } else {
        bool is_bare = !is_alone || (status->code & REPORT_BARE) != 0 || str_has_prefix(status->message, STR("error: "));

        fprintf(k->err, "%s%.*s\n", is_bare ? "" : "error: ", STR_ARG(status->message));
    }
}

int report_all(struct kubectl *k)
{
    fflush(k->out);
    for (size_t i = 0; i < k->errors.len; i++) {
        print_error(k, k->errors.items[i], k->errors.len == 1);
        status_free(k->errors.items[i]);
    }
    int code = k->errors.len > 0 ? 1 : k->exit_code;

    fflush(k->err);
    free(k->errors.items);
    k->errors.items = NULL;
    k->errors.len = k->errors.cap = 0;
    return code;
}

void report_warning(struct kubectl *k, struct str text)
{
    for (size_t i = 0; i < k->warnings.len; i++) {
        if (str_eq(k->warnings.items[i], text)) {
            return;
        }
    }
    *VEC_ADD(&k->warnings) = arena_str(k->arena, text);
    fprintf(k->err, "Warning: %.*s\n", STR_ARG(text));
}
