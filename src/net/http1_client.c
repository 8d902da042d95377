#include "base/env.h"
#include "base/log.h"
#include "net/http1.h"
#include "net/http_call.h"

enum { READ_BYTES = 16 << 10 };

struct h1_response {
    struct http_response base;
    struct stream *stream; /* NULL once handed on */
    struct buf in;         /* read, not used yet */
    struct http1_body body;
    bool keeps_alive;
    struct http1_carrier carrier;
};

static struct h1_response *response_of(struct http_response *base)
{
    return CONTAINER_OF(base, struct h1_response, base);
}

/* Reads what comes next into `in`; *ret_got is 0 at the end. */
static struct status *read_more(struct h1_response *response, int64_t deadline, size_t *ret_got)
{
    char *room = buf_reserve(&response->in, READ_BYTES);

    TRY(stream_read(response->stream, room, READ_BYTES, deadline, ret_got));
    response->in.n += *ret_got;
    return NULL;
}

static struct status *h1_read(struct http_response *base, void *bytes, size_t size, int64_t deadline, size_t *ret_size)
{
    struct h1_response *response = response_of(base);
    size_t used, given = 0, got;

    while (!response->body.is_done && given == 0 && size > 0) {
        TRY(http1_body_take(&response->body, buf_str(&response->in), bytes, size, &used, &given));
        buf_consume(&response->in, used);
        if (given > 0 || response->body.is_done) {
            break;
        }
        buf_done(&response->in); /* all used: a watch holds no buffer while it waits */
        TRY(stream_wait(response->stream, ENV_READABLE, deadline));
        TRY(read_more(response, deadline, &got));
        if (got == 0 && response->body.kind == HTTP1_BODY_UNTIL_END) {
            response->body.is_done = true;
        } else if (got == 0) {
            return status_new(STATUS_SERVICE_UNAVAILABLE, "unexpected EOF");
        }
    }
    *ret_size = given;
    return NULL;
}

static void h1_close(struct http_response *base)
{
    struct h1_response *response = response_of(base);

    stream_close(base->upgraded);
    if (response->stream != NULL && response->keeps_alive && response->body.is_done && response->in.n == 0) {
        response->carrier.done(response->carrier.arg, response->carrier.generation, response->stream);
    } else {
        stream_close(response->stream);
    }
    buf_done(&response->in);
    arena_free(base->arena); /* holds the response itself */
}

static const struct http_response_ops h1_ops = {h1_read, h1_close};

static void add_head(struct buf *out, const struct http_request *request, struct str authority)
{
    bool may_have_body =
        str_is(request->method, "POST") || str_is(request->method, "PUT") || str_is(request->method, "PATCH");

    buf_printf(out, "%.*s %.*s HTTP/1.1\r\n", STR_ARG(request->method), STR_ARG(request->target));
    http1_add_header(out, STR("host"), authority);
    LIST_EACH(header, &request->headers)
    {
        if (!str_eq_nocase(header->name, STR("connection")) && !str_eq_nocase(header->name, STR("host")) &&
            !str_eq_nocase(header->name, STR("content-length")) &&
            !str_eq_nocase(header->name, STR("transfer-encoding"))) {
            http1_add_header(out, header->name, header->value);
        }
    }
    if (request->wants_upgrade) {
        buf_add_str(out, STR("Connection: Upgrade\r\n"));
    }
    if (request->body.n > 0 || may_have_body) {
        buf_printf(out, "Content-Length: %zu\r\n", request->body.n);
    }
    buf_add_str(out, STR("\r\n"));
}

/* Sends the request. A server that answers before it has read all may stop reading: its answer counts then. */
static struct status *send_request(struct h1_response *response, const struct http_request *request, int64_t deadline)
{
    enum { TOGETHER = 16 << 10 }; /* head and small body in one packet */
    OWNED(buf_done) struct buf out = {0};

    add_head(&out, request, response->carrier.authority);
    if (request->body.n <= TOGETHER) {
        buf_add_str(&out, request->body);
        return stream_write(response->stream, out.p, out.n, deadline);
    }
    TRY(stream_write(response->stream, out.p, out.n, deadline));
    return stream_write(response->stream, request->body.p, request->body.n, deadline);
}

/* Reads heads until one that is no 1xx but perhaps 101. */
static struct status *read_head(struct h1_response *response, int64_t deadline, struct http1_head *ret)
{
    for (;;) {
        size_t scanned = 0, size, got;

        for (;;) {
            TRY(http1_find_head(buf_str(&response->in), &scanned, &size));
            if (size > 0) {
                break;
            }
            TRY(read_more(response, deadline, &got));
            if (got == 0) {
                return status_new(STATUS_SERVICE_UNAVAILABLE, response->in.n > 0 ? "unexpected EOF" : "EOF");
            }
        }
        TRY(http1_parse_response(response->base.arena, str_sub(buf_str(&response->in), 0, size), ret));
        buf_consume(&response->in, size);
        if (ret->code / 100 != 1 || ret->code == 101) {
            return NULL;
        }
    }
}

static struct status *take_head(struct h1_response *response, const struct http_request *request,
                                const struct http1_head *head)
{
    response->base.code = head->code;
    response->base.headers = head->headers;
    if (head->code == 101) {
        if (!request->wants_upgrade) {
            return status_new(STATUS_SERVICE_UNAVAILABLE, "malformed HTTP response: 101 to no request for an upgrade");
        }
        response->base.upgraded = stream_with_prefix(TAKE(response->stream), buf_str(&response->in));
        response->body = (struct http1_body){.kind = HTTP1_BODY_LENGTH, .is_done = true};
        buf_done(&response->in);
        return NULL;
    }
    response->keeps_alive = http1_keeps_alive(head) && !request->wants_upgrade;
    return http1_response_body(head, request->method, &response->body);
}

/* Whether a connection that waited for work has ended meanwhile, or said what nobody asked for. */
static bool is_stale(struct stream *stream)
{
    char byte;
    size_t got = 0;
    struct status *status = stream_read_now(stream, &byte, 1, &got);
    bool is_stale = status != NULL || got != STREAM_BLOCKED;

    status_free(status);
    return is_stale;
}

static bool is_idempotent(struct str method)
{
    return str_is(method, "GET") || str_is(method, "HEAD") || str_is(method, "OPTIONS");
}

/* *ret_unheard: not a byte of an answer came. */
static struct status *exchange(struct h1_response *response, const struct http_request *request, bool *ret_unheard)
{
    int64_t deadline = request->deadline != 0 ? request->deadline : INT64_MAX;
    struct status *sent = send_request(response, request, deadline);
    struct http1_head head;

    if (sent != NULL && !status_is(sent, STATUS_SERVICE_UNAVAILABLE)) {
        return sent;
    }
    struct status *status = read_head(response, deadline, &head);

    if (status == NULL) {
        status = take_head(response, request, &head);
        response->keeps_alive &= sent == NULL;
    } else {
        *ret_unheard = response->in.n == 0 && status_is(status, STATUS_SERVICE_UNAVAILABLE);
        if (sent != NULL) {
            status_free(status);
            return sent;
        }
    }
    status_free(sent);
    return status;
}

struct http_call_failure http1_call(const struct http1_carrier *carrier, const struct http_request *request,
                                    struct http_response **ret)
{
    struct http_call_failure failure = {0};

    if (carrier->was_idle && is_stale(carrier->stream)) {
        stream_close(carrier->stream);
        return (struct http_call_failure){status_new(STATUS_SERVICE_UNAVAILABLE, "EOF"), true};
    }
    struct arena *arena = arena_new();
    struct h1_response *response = ARENA_NEW(arena, struct h1_response);

    response->base = (struct http_response){.ops = &h1_ops, .arena = arena};
    response->stream = carrier->stream;
    response->carrier = *carrier;
    failure.status = exchange(response, request, &failure.is_untouched);
    /* The end of a connection that waited for work is most likely older than our request, but that is not sure. */
    failure.is_untouched &= carrier->was_idle && is_idempotent(request->method);
    if (failure.status != NULL) {
        response->keeps_alive = false;
        h1_close(&response->base);
    } else {
        *ret = &response->base;
    }
    return failure;
}
