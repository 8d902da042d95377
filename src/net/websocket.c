#include "net/websocket.h"

#include "base/base64.h"
#include "base/env.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/task.h"
#include "net/crypto.h"

#include <stdlib.h>
#include <string.h>

/* RFC 6455, 1.3: what the accepting end mixes with the client's key. */
#define ACCEPT_GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
#define CLOSE_WITHIN ENV_SECOND

enum opcode { CONTINUATION = 0, TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10 };

enum { FIN = 0x80, RESERVED = 0x70, MASKED = 0x80, HEAD_MAX = 14, CONTROL_MAX = 125, KEY_BYTES = 16, PIECE_BYTES = 16384 };

struct websocket {
    struct stream *stream;
    struct http_response *response; /* of a client: its stream is the response's */
    bool is_client;                 /* masks what it sends */
    bool sent_close, is_broken;
    struct str protocol; /* one of the caller's, which are constants */
    struct task_lock writing;
};

struct frame {
    bool fin;
    enum opcode opcode;
    bool is_masked;
    unsigned char mask[4];
    uint64_t length;
};

struct websocket *websocket_over(struct stream *stream, bool is_client)
{
    struct websocket *socket = MEM_NEW(struct websocket);

    socket->stream = stream;
    socket->is_client = is_client;
    task_lock_init(&socket->writing);
    return socket;
}

struct str websocket_protocol(const struct websocket *socket)
{
    return socket->protocol;
}

/* Handshakes */

static struct str accept_of(struct arena *arena, struct str key)
{
    unsigned char digest[SHA1_BYTES];

    crypto_sha1(arena_printf(arena, "%.*s" ACCEPT_GUID, STR_ARG(key)), digest);
    return base64_encode(arena, (struct str){(const char *)digest, sizeof(digest)});
}

bool websocket_is_wanted(const struct http_headers *headers)
{
    return http_header_has_token(headers, STR("connection"), STR("upgrade")) &&
           http_header_has_token(headers, STR("upgrade"), STR("websocket"));
}

/* The first offered protocol that is among ours; the offers may stand in several headers. */
static struct str choose_protocol(const struct http_headers *headers, const char *const *protocols, bool *ret_offered)
{
    *ret_offered = false;
    LIST_EACH(header, headers)
    {
        if (!str_is(header->name, "sec-websocket-protocol")) {
            continue;
        }
        *ret_offered = true;
        for (struct str rest = header->value, item; str_next(&rest, ',', &item);) {
            for (const char *const *ours = protocols; *ours != NULL; ours++) {
                if (str_is(str_trim(item), *ours)) {
                    return str_of(*ours);
                }
            }
        }
    }
    return STR("");
}

struct status *websocket_accept(struct http_exchange *exchange, const char *const *protocols, struct websocket **ret)
{
    struct http_headers headers = {0};
    struct stream *stream;
    struct str key = http_header_find(&exchange->headers, STR("sec-websocket-key")), raw;
    bool offered;
    struct str protocol = choose_protocol(&exchange->headers, protocols, &offered);

    if (!websocket_is_wanted(&exchange->headers) ||
        !str_is(http_header_find(&exchange->headers, STR("sec-websocket-version")), "13")) {
        return status_new(STATUS_BAD_REQUEST, "a WebSocket of version 13 is wanted");
    }
    if (!base64_decode(exchange->arena, key, &raw) || raw.n != KEY_BYTES) {
        return status_new(STATUS_BAD_REQUEST, "the header sec-websocket-key must be 16 bytes in base64");
    }
    if (offered && protocol.n == 0) {
        return status_new(STATUS_BAD_REQUEST, "none of the offered WebSocket protocols is served here");
    }
    http_header_add(exchange->arena, &headers, STR("upgrade"), STR("websocket"));
    http_header_add(exchange->arena, &headers, STR("sec-websocket-accept"), accept_of(exchange->arena, key));
    if (protocol.n > 0) {
        http_header_add(exchange->arena, &headers, STR("sec-websocket-protocol"), protocol);
    }
    TRY(http_upgrade(exchange, &headers, &stream));
    *ret = websocket_over(stream, false);
    (*ret)->protocol = protocol;
    return NULL;
}

static struct status *check_answer(struct http_response *response, struct str key, const char *const *protocols,
                                   struct str *ret_protocol)
{
    struct str accept = http_header_find(&response->headers, STR("sec-websocket-accept"));
    bool has_protocol;

    if (response->upgraded == NULL || !str_eq(accept, accept_of(response->arena, key))) {
        return status_new(STATUS_BAD_REQUEST, "websocket: bad handshake");
    }
    *ret_protocol = choose_protocol(&response->headers, protocols, &has_protocol);
    if (has_protocol != (protocols[0] != NULL) || (has_protocol && ret_protocol->n == 0)) {
        return status_new(STATUS_BAD_REQUEST, "websocket: the server chose no protocol that was offered");
    }
    return NULL;
}

static struct str joined(struct arena *arena, const char *const *protocols)
{
    struct str all = STR("");

    for (const char *const *one = protocols; *one != NULL; one++) {
        all = arena_printf(arena, "%.*s%s%s", STR_ARG(all), all.n > 0 ? ", " : "", *one);
    }
    return all;
}

struct status *websocket_dial(struct http_client *client, const struct http_request *request,
                              const char *const *protocols, struct websocket **ret)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct http_request asking = *request;
    struct http_response *response;
    struct str protocol;
    char raw[KEY_BYTES];

    env_random(raw, sizeof(raw));
    struct str key = base64_encode(arena, (struct str){raw, sizeof(raw)});

    asking.wants_upgrade = true;
    asking.headers = (struct http_headers){0};
    LIST_EACH(header, &request->headers)
    {
        http_header_add(arena, &asking.headers, header->name, header->value);
    }
    http_header_add(arena, &asking.headers, STR("upgrade"), STR("websocket"));
    http_header_add(arena, &asking.headers, STR("sec-websocket-version"), STR("13"));
    http_header_add(arena, &asking.headers, STR("sec-websocket-key"), key);
    if (protocols[0] != NULL) {
        http_header_add(arena, &asking.headers, STR("sec-websocket-protocol"), joined(arena, protocols));
    }
    TRY(http_do(client, &asking, &response));
    struct status *status;

    if (response->code != 101) {
        struct str body = STR("");

        status = http_response_read_all(response, arena, LIMIT_WEBSOCKET_MESSAGE_BYTES, &body);
        status_free(status);
        status = status_new(STATUS_BAD_REQUEST, "websocket: bad handshake (%d %.*s): %.*s", response->code,
                            STR_ARG(http_code_text(response->code)), STR_ARG(str_trim(body)));
        status->code = response->code;
    } else {
        status = check_answer(response, key, protocols, &protocol);
    }
    if (status != NULL) {
        http_response_close(response);
        return status;
    }
    *ret = websocket_over(response->upgraded, true);
    (*ret)->response = response;
    (*ret)->protocol = protocol;
    return NULL;
}

/* Frames */

static void apply_mask(const unsigned char mask[4], char *bytes, size_t size, uint64_t at)
{
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (char)((unsigned char)bytes[i] ^ mask[(at + i) & 3]);
    }
}

static size_t put_head(unsigned char head[HEAD_MAX], enum opcode opcode, uint64_t length, const unsigned char *mask)
{
    size_t size = 2;

    head[0] = (unsigned char)(FIN | opcode);
    if (length < 126) {
        head[1] = (unsigned char)length;
    } else {
        int bytes = length > 0xffff ? 8 : 2;

        head[1] = bytes == 8 ? 127 : 126;
        for (int i = bytes - 1; i >= 0; i--) {
            head[size++] = (unsigned char)(length >> (8 * i));
        }
    }
    if (mask != NULL) {
        head[1] |= MASKED;
        memcpy(head + size, mask, 4);
        size += 4;
    }
    return size;
}

/* A whole frame in one write, so that frames of several tasks do not mix and small ones are one packet. */
static struct status *send_frame(struct websocket *socket, enum opcode opcode, struct str head, struct str body,
                                 int64_t deadline)
{
    OWNED(buf_done) struct buf out = {0};
    unsigned char frame_head[HEAD_MAX], mask[4];

    if (socket->is_client) {
        env_random(mask, sizeof(mask));
    }
    size_t head_size = put_head(frame_head, opcode, (uint64_t)head.n + body.n, socket->is_client ? mask : NULL);

    buf_add(&out, frame_head, head_size);
    buf_add_str(&out, head);
    buf_add_str(&out, body);
    if (socket->is_client) {
        apply_mask(mask, out.p + head_size, out.n - head_size, 0);
    }
    if (!task_lock_acquire(&socket->writing)) {
        return status_new(STATUS_CANCELLED, "writing to a WebSocket");
    }
    struct status *status = socket->is_broken || socket->sent_close
                                ? status_new(STATUS_SERVICE_UNAVAILABLE, "websocket: close sent")
                                : stream_write(socket->stream, out.p, out.n, deadline);

    socket->sent_close |= opcode == CLOSE;
    socket->is_broken |= status != NULL;
    task_lock_release(&socket->writing);
    return status;
}

struct status *websocket_write(struct websocket *socket, enum websocket_kind kind, struct str head, struct str body)
{
    return send_frame(socket, kind == WEBSOCKET_TEXT ? TEXT : BINARY, head, body, TASK_FOREVER);
}

struct status *websocket_ping(struct websocket *socket)
{
    return send_frame(socket, PING, STR(""), STR(""), TASK_FOREVER);
}

static void send_close(struct websocket *socket, enum websocket_close_code code, struct str reason)
{
    char bytes[2] = {(char)((int)code >> 8), (char)((int)code & 0xff)};

    if (!socket->sent_close && !socket->is_broken) {
        status_free(send_frame(socket, CLOSE, (struct str){bytes, 2}, str_sub(reason, 0, CONTROL_MAX - 2),
                               env_mono() + CLOSE_WITHIN));
    }
}

static struct status *violation(struct websocket *socket, enum websocket_close_code code, const char *what)
{
    send_close(socket, code, str_of(what));
    return status_new(STATUS_BAD_REQUEST, "websocket: %s", what);
}

static struct status *read_head(struct websocket *socket, struct frame *ret)
{
    unsigned char bytes[8];

    TRY(stream_read_all(socket->stream, bytes, 2, TASK_FOREVER));
    ret->fin = (bytes[0] & FIN) != 0;
    ret->opcode = bytes[0] & 15;
    ret->is_masked = (bytes[1] & MASKED) != 0;
    ret->length = bytes[1] & 127;
    if ((bytes[0] & RESERVED) != 0) {
        return violation(socket, WEBSOCKET_PROTOCOL_ERROR, "reserved bits are set");
    }
    if (ret->is_masked == socket->is_client) {
        return violation(socket, WEBSOCKET_PROTOCOL_ERROR, "incorrect mask flag");
    }
    if (ret->opcode >= CLOSE && (!ret->fin || ret->length > CONTROL_MAX)) {
        return violation(socket, WEBSOCKET_PROTOCOL_ERROR, "a control frame is fragmented or too long");
    }
    if (ret->length >= 126) {
        size_t size = ret->length == 126 ? 2 : 8;

        TRY(stream_read_all(socket->stream, bytes, size, TASK_FOREVER));
        ret->length = 0;
        for (size_t i = 0; i < size; i++) {
            ret->length = ret->length << 8 | bytes[i];
        }
    }
    return ret->is_masked ? stream_read_all(socket->stream, ret->mask, sizeof(ret->mask), TASK_FOREVER) : NULL;
}

static struct status *read_payload(struct websocket *socket, const struct frame *frame, struct buf *out)
{
    for (uint64_t at = 0; at < frame->length;) {
        size_t size = frame->length - at < PIECE_BYTES ? (size_t)(frame->length - at) : PIECE_BYTES;
        char *to = buf_reserve(out, size);

        TRY(stream_read_all(socket->stream, to, size, TASK_FOREVER));
        if (frame->is_masked) {
            apply_mask(frame->mask, to, size, at);
        }
        out->n += size;
        at += size;
    }
    return NULL;
}

/* Ping, pong and close; *ret_closed for the latter. */
static struct status *handle_control(struct websocket *socket, const struct frame *frame, bool *ret_closed)
{
    OWNED(buf_done) struct buf payload = {0};

    TRY(read_payload(socket, frame, &payload));
    switch ((int)frame->opcode) {
    case PING:
        return send_frame(socket, PONG, STR(""), buf_str(&payload), TASK_FOREVER);
    case PONG:
        return NULL;
    case CLOSE:
        *ret_closed = true;
        if (payload.n == 1) {
            return violation(socket, WEBSOCKET_PROTOCOL_ERROR, "bad close frame");
        }
        if (!socket->sent_close) { /* the answer repeats the code */
            status_free(send_frame(socket, CLOSE, STR(""), str_sub(buf_str(&payload), 0, 2), env_mono() + CLOSE_WITHIN));
        }
        return NULL;
    default:
        return violation(socket, WEBSOCKET_PROTOCOL_ERROR, "unknown opcode");
    }
}

static struct status *read_message(struct websocket *socket, struct buf *message, enum websocket_kind *ret_kind,
                                   bool *ret_more)
{
    bool is_inside = false, is_closed = false;

    buf_clear(message);
    for (;;) {
        struct frame frame = {0};

        TRY(read_head(socket, &frame));
        if (frame.opcode >= CLOSE) {
            TRY(handle_control(socket, &frame, &is_closed));
            if (is_closed) {
                *ret_more = false;
                return NULL;
            }
            continue;
        }
        if (frame.opcode > BINARY || (frame.opcode == CONTINUATION) != is_inside) {
            return violation(socket, WEBSOCKET_PROTOCOL_ERROR, "a frame of this kind is out of place");
        }
        if (frame.length > LIMIT_WEBSOCKET_MESSAGE_BYTES || message->n + frame.length > LIMIT_WEBSOCKET_MESSAGE_BYTES) {
            return violation(socket, WEBSOCKET_TOO_BIG, "read limit exceeded");
        }
        if (!is_inside) {
            *ret_kind = frame.opcode == TEXT ? WEBSOCKET_TEXT : WEBSOCKET_BINARY;
        }
        TRY(read_payload(socket, &frame, message));
        if (frame.fin) {
            *ret_more = true;
            return NULL;
        }
        is_inside = true;
    }
}

struct status *websocket_read(struct websocket *socket, struct buf *message, enum websocket_kind *ret_kind,
                              bool *ret_more)
{
    struct status *status = read_message(socket, message, ret_kind, ret_more);

    socket->is_broken |= status != NULL && !status_is(status, STATUS_CANCELLED);
    return status;
}

void websocket_close(struct websocket *socket, enum websocket_close_code code, struct str reason)
{
    if (socket == NULL) {
        return;
    }
    send_close(socket, code, reason);
    if (socket->response != NULL) {
        http_response_close(socket->response);
    } else {
        stream_close(socket->stream);
    }
    free(socket);
}
