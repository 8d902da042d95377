/* gRPC's bytes: message frames, status codes, timeouts and texts in headers. No I/O here. */
#ifndef CRI_GRPC_WIRE_H
#define CRI_GRPC_WIRE_H

#include "base/buf.h"
#include "base/limits.h"
#include "base/status.h"
#include "net/http.h"
#include "schema/type.h"

enum grpc_code {
    GRPC_OK = 0,
    GRPC_CANCELLED = 1,
    GRPC_UNKNOWN = 2,
    GRPC_INVALID_ARGUMENT = 3,
    GRPC_DEADLINE_EXCEEDED = 4,
    GRPC_NOT_FOUND = 5,
    GRPC_ALREADY_EXISTS = 6,
    GRPC_PERMISSION_DENIED = 7,
    GRPC_RESOURCE_EXHAUSTED = 8,
    GRPC_FAILED_PRECONDITION = 9,
    GRPC_ABORTED = 10,
    GRPC_OUT_OF_RANGE = 11,
    GRPC_UNIMPLEMENTED = 12,
    GRPC_INTERNAL = 13,
    GRPC_UNAVAILABLE = 14,
    GRPC_DATA_LOSS = 15,
    GRPC_UNAUTHENTICATED = 16,
};

/* GRPC_OK for NULL. */
enum grpc_code grpc_code_of(const struct status *status);
enum status_reason grpc_reason_of(int64_t code);
/* By the answer's HTTP code, when it says nothing of gRPC. */
enum grpc_code grpc_code_of_http(int code);

/* Appends the message with its five bytes before it. */
void grpc_frame_add(struct buf *out, const struct type *type, const void *message);

/* Bytes as they come, taken apart into messages. The zero value is ready; buf_done(&frames->bytes) at the end. */
struct grpc_frames {
    struct buf bytes;
    size_t taken; /* of the bytes, by the last grpc_frame_next() */
};
/* The next whole message, borrowed until the next call; *ret_has is false when more bytes are needed first. A message
 * larger than LIMIT_GRPC_MESSAGE_BYTES is TOO_MANY_REQUESTS (RESOURCE_EXHAUSTED), a compressed one METHOD_NOT_ALLOWED
 * (UNIMPLEMENTED): none is asked for. */
MUST_USE struct status *grpc_frame_next(struct grpc_frames *frames, struct str *ret_message, bool *ret_has);

/* "5S": digits, at most 8, and a unit. False when it is not one, or not of this world. */
bool grpc_timeout_parse(struct str text, int64_t *ret_nanoseconds);
struct str grpc_timeout_format(struct arena *arena, int64_t nanoseconds);

/* grpc-message: bytes beyond printable ASCII, and %, are escaped. Decoding leaves broken escapes as they are. */
struct str grpc_message_escape(struct arena *arena, struct str text);
struct str grpc_message_unescape(struct arena *arena, struct str text);

/* NULL when grpc-status is 0; else what it says. False when there is none. */
bool grpc_status_read(const struct http_headers *headers, struct status **ret_status);

#endif
