#include "cri/grpc_wire.h"

#include "base/base64.h"
#include "cri/grpc.h"
#include "schema/protobuf.h"

enum { FRAME_HEAD_BYTES = 5 };

static const struct {
    enum status_reason reason;
    enum grpc_code code;
    bool is_read; /* the reason that the code gives */
} codes[] = {
    {STATUS_CANCELLED, GRPC_CANCELLED, true},
    {STATUS_UNKNOWN, GRPC_UNKNOWN, true},
    {STATUS_BAD_REQUEST, GRPC_INVALID_ARGUMENT, true},
    {STATUS_INVALID, GRPC_INVALID_ARGUMENT, false},
    {STATUS_NOT_ACCEPTABLE, GRPC_INVALID_ARGUMENT, false},
    {STATUS_UNSUPPORTED_MEDIA_TYPE, GRPC_INVALID_ARGUMENT, false},
    {STATUS_TIMEOUT, GRPC_DEADLINE_EXCEEDED, true},
    {STATUS_SERVER_TIMEOUT, GRPC_DEADLINE_EXCEEDED, false},
    {STATUS_NOT_FOUND, GRPC_NOT_FOUND, true},
    {STATUS_ALREADY_EXISTS, GRPC_ALREADY_EXISTS, true},
    {STATUS_FORBIDDEN, GRPC_PERMISSION_DENIED, true},
    {STATUS_TOO_MANY_REQUESTS, GRPC_RESOURCE_EXHAUSTED, true},
    {STATUS_REQUEST_ENTITY_TOO_LARGE, GRPC_RESOURCE_EXHAUSTED, false},
    {STATUS_CONFLICT, GRPC_FAILED_PRECONDITION, true},
    {STATUS_GONE, GRPC_FAILED_PRECONDITION, false},
    {STATUS_EXPIRED, GRPC_FAILED_PRECONDITION, false},
    {STATUS_CONFLICT, GRPC_ABORTED, true},
    {STATUS_BAD_REQUEST, GRPC_OUT_OF_RANGE, true},
    {STATUS_METHOD_NOT_ALLOWED, GRPC_UNIMPLEMENTED, true},
    {STATUS_INTERNAL_ERROR, GRPC_INTERNAL, true},
    {STATUS_STORE_READ_ERROR, GRPC_INTERNAL, false},
    {STATUS_SERVICE_UNAVAILABLE, GRPC_UNAVAILABLE, true},
    {STATUS_INTERNAL_ERROR, GRPC_DATA_LOSS, true},
    {STATUS_UNAUTHORIZED, GRPC_UNAUTHENTICATED, true},
};

enum grpc_code grpc_code_of(const struct status *status)
{
    for (size_t i = 0; status != NULL && i < COUNT_OF(codes); i++) {
        if (codes[i].reason == status->reason) {
            return codes[i].code;
        }
    }
    return status == NULL ? GRPC_OK : GRPC_UNKNOWN;
}

enum status_reason grpc_reason_of(int64_t code)
{
    for (size_t i = 0; i < COUNT_OF(codes); i++) {
        if (codes[i].is_read && codes[i].code == code) {
            return codes[i].reason;
        }
    }
    return STATUS_UNKNOWN;
}

enum grpc_code grpc_code_of_http(int code)
{
    switch (code) {
    case 400:
        return GRPC_INTERNAL;
    case 401:
        return GRPC_UNAUTHENTICATED;
    case 403:
        return GRPC_PERMISSION_DENIED;
    case 404:
        return GRPC_UNIMPLEMENTED;
    case 429:
    case 502:
    case 503:
    case 504:
        return GRPC_UNAVAILABLE;
    default:
        return GRPC_UNKNOWN;
    }
}

struct str grpc_error_text(struct arena *arena, const struct status *status)
{
    static const char *const names[] = {
        "OK",           "Canceled",         "Unknown",           "InvalidArgument",    "DeadlineExceeded", "NotFound",
        "AlreadyExists", "PermissionDenied", "ResourceExhausted", "FailedPrecondition", "Aborted",          "OutOfRange",
        "Unimplemented", "Internal",         "Unavailable",       "DataLoss",           "Unauthenticated",
    };

    return arena_printf(arena, "rpc error: code = %s desc = %.*s", names[grpc_code_of(status)],
                        STR_ARG(status->message));
}

void grpc_frame_add(struct buf *out, const struct type *type, const void *message)
{
    size_t at = out->n, size;

    buf_add(out, "\0\0\0\0", FRAME_HEAD_BYTES);
    protobuf_encode(type, message, out);
    size = out->n - at - FRAME_HEAD_BYTES;
    for (int i = 0; i < 4; i++) {
        out->p[at + 1 + (size_t)i] = (char)(size >> (24 - 8 * i));
    }
}

struct status *grpc_frame_next(struct grpc_frames *frames, struct str *ret_message, bool *ret_has)
{
    buf_consume(&frames->bytes, frames->taken);
    frames->taken = 0;
    *ret_has = false;
    if (frames->bytes.n < FRAME_HEAD_BYTES) {
        return NULL;
    }
    const unsigned char *head = (const unsigned char *)frames->bytes.p;
    size_t size = (size_t)head[1] << 24 | (size_t)head[2] << 16 | (size_t)head[3] << 8 | head[4];

    if (head[0] > 1) {
        return status_new(STATUS_INTERNAL_ERROR, "grpc: received unexpected payload format %d", head[0]);
    }
    if (head[0] == 1) {
        return status_new(STATUS_METHOD_NOT_ALLOWED, "grpc: Decompressor is not installed for grpc-encoding");
    }
    if (size > LIMIT_GRPC_MESSAGE_BYTES) {
        return status_new(STATUS_TOO_MANY_REQUESTS, "grpc: received message larger than max (%zu vs. %zu)", size,
                          LIMIT_GRPC_MESSAGE_BYTES);
    }
    if (frames->bytes.n - FRAME_HEAD_BYTES < size) {
        return NULL;
    }
    frames->taken = FRAME_HEAD_BYTES + size;
    *ret_message = (struct str){frames->bytes.p + FRAME_HEAD_BYTES, size};
    *ret_has = true;
    return NULL;
}

static const struct {
    char unit;
    int64_t nanoseconds;
} units[] = {{'n', 1},          {'u', 1000},         {'m', 1000000},
             {'S', 1000000000}, {'M', 60000000000},  {'H', 3600000000000}};

bool grpc_timeout_parse(struct str text, int64_t *ret_nanoseconds)
{
    int64_t number;

    if (text.n < 2 || text.n > 9 || text.p[0] == '-' || !str_to_i64(str_sub(text, 0, text.n - 1), &number)) {
        return false;
    }
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (units[i].unit == text.p[text.n - 1]) {
            return !__builtin_mul_overflow(number, units[i].nanoseconds, ret_nanoseconds);
        }
    }
    return false;
}

struct str grpc_timeout_format(struct arena *arena, int64_t nanoseconds)
{
    int64_t number = 0;
    size_t i = 0;

    for (; i < COUNT_OF(units); i++) {
        number = nanoseconds / units[i].nanoseconds + (nanoseconds % units[i].nanoseconds > 0);
        if (number <= 99999999) {
            break;
        }
    }
    return arena_printf(arena, "%lld%c", (long long)MAX(number, 0), units[MIN(i, COUNT_OF(units) - 1)].unit);
}

struct str grpc_message_escape(struct arena *arena, struct str text)
{
    OWNED(buf_done) struct buf out = {0};

    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c < 0x20 || c > 0x7e || c == '%') {
            buf_printf(&out, "%%%02X", c);
        } else {
            buf_add_char(&out, (char)c);
        }
    }
    return arena_str(arena, buf_str(&out));
}

struct str grpc_message_unescape(struct arena *arena, struct str text)
{
    char *out = arena_alloc(arena, text.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '%' && text.n - i > 2 && hex_digit(text.p[i + 1]) >= 0 && hex_digit(text.p[i + 2]) >= 0) {
            out[n++] = (char)(hex_digit(text.p[i + 1]) << 4 | hex_digit(text.p[i + 2]));
            i += 2;
        } else {
            out[n++] = text.p[i];
        }
    }
    return (struct str){out, n};
}

bool grpc_status_read(const struct http_headers *headers, struct status **ret_status)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str text = http_header_find(headers, STR("grpc-status")), message;
    int64_t code;

    if (text.p == NULL) {
        return false;
    }
    if (!str_to_i64(text, &code)) {
        *ret_status = status_new(STATUS_INTERNAL_ERROR, "transport: malformed grpc-status: \"%.*s\"", STR_ARG(text));
        return true;
    }
    message = grpc_message_unescape(arena, http_header_find(headers, STR("grpc-message")));
    *ret_status = code == GRPC_OK ? NULL : status_new(grpc_reason_of(code), "%.*s", STR_ARG(message));
    return true;
}
