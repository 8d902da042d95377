/* Why an operation failed, in the words of Kubernetes' metav1.Status.
 *
 * A function that can fail returns `struct status *`: NULL means success and costs nothing. A status that is not
 * NULL belongs to whoever receives it: return it further, or end it with status_free(). Output parameters are
 * written on success only. The API server writes it as a Status object, the client reads it back, kubectl shows
 * it: one type from socket to wire. One thread at a time. */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include "base/attr.h"
#include "base/str.h"

#include <stdarg.h>

/*    enumerator                code  reason on the wire */
#define STATUS_REASONS(X)                                             \
    X(UNKNOWN, 500, "")                                               \
    X(UNAUTHORIZED, 401, "Unauthorized")                              \
    X(FORBIDDEN, 403, "Forbidden")                                    \
    X(NOT_FOUND, 404, "NotFound")                                     \
    X(ALREADY_EXISTS, 409, "AlreadyExists")                           \
    X(CONFLICT, 409, "Conflict")                                      \
    X(GONE, 410, "Gone")                                              \
    X(INVALID, 422, "Invalid")                                        \
    X(SERVER_TIMEOUT, 500, "ServerTimeout")                           \
    X(STORE_READ_ERROR, 500, "StorageReadError")                      \
    X(TIMEOUT, 504, "Timeout")                                        \
    X(TOO_MANY_REQUESTS, 429, "TooManyRequests")                      \
    X(BAD_REQUEST, 400, "BadRequest")                                 \
    X(METHOD_NOT_ALLOWED, 405, "MethodNotAllowed")                    \
    X(NOT_ACCEPTABLE, 406, "NotAcceptable")                           \
    X(REQUEST_ENTITY_TOO_LARGE, 413, "RequestEntityTooLarge")         \
    X(UNSUPPORTED_MEDIA_TYPE, 415, "UnsupportedMediaType")            \
    X(INTERNAL_ERROR, 500, "InternalError")                           \
    X(EXPIRED, 410, "Expired")                                        \
    X(SERVICE_UNAVAILABLE, 503, "ServiceUnavailable")                 \
    X(CANCELLED, 499, "ClientClosedRequest") /* the task was cancelled; never sent on the wire */

#define STATUS_ENUMERATOR_(name, code, text) STATUS_##name,
enum status_reason { STATUS_REASONS(STATUS_ENUMERATOR_) STATUS_REASON_COUNT };
#undef STATUS_ENUMERATOR_

/* One cause of a failed validation: the reason is stock's CauseType, such as FieldValueInvalid. */
struct status_cause {
    struct str reason;
    struct str message;
    struct str field;
};

struct status {
    enum status_reason reason;
    int code; /* HTTP; that of the reason unless changed */
    struct str message;
    /* details; empty when unknown */
    struct str name, group, kind, uid;
    struct status_cause *causes;
    size_t cause_count;
    int retry_after_seconds; /* 0: none */
    struct arena *arena;     /* holds everything above */
};

MUST_USE struct status *status_new(enum status_reason reason, const char *format, ...) PRINTF_LIKE(2, 3);
/* For a failed system call: the text of errno follows the message. ENOENT is NOT_FOUND, the rest INTERNAL_ERROR. */
MUST_USE struct status *status_errno(int error, const char *format, ...) PRINTF_LIKE(2, 3);
/* Prefixes what was being done ("pulling image x: "); keeps the rest. Takes `cause`. */
MUST_USE struct status *status_while(struct status *cause, const char *format, ...) PRINTF_LIKE(2, 3);
MUST_USE struct status *status_copy(const struct status *status);
/* Names the object the status is about (copied). Returns `status`. */
struct status *status_about(struct status *status, struct str group, struct str kind, struct str name);
void status_add_cause(struct status *status, struct str reason, struct str field, const char *format, ...)
    PRINTF_LIKE(4, 5);
void status_free(struct status *status);
/* For OWNED(status_freep). */
void status_freep(struct status **status);
/* Frees it and tells whether it had that reason; false for NULL. */
bool status_free_if(struct status **status, enum status_reason reason);

bool status_is(const struct status *status, enum status_reason reason);
struct str status_reason_text(enum status_reason reason);
/* UNKNOWN when no reason has that text. */
enum status_reason status_reason_of(struct str text);

/* The only macro in c8s that returns. */
#define TRY(call)                     \
    do {                              \
        struct status *try_ = (call); \
        if (try_ != NULL) {           \
            return try_;              \
        }                             \
    } while (0)

#endif
