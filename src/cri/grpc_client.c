#include "cri/grpc_client.h"

#include "base/env.h"
#include "base/mem.h"
#include "base/task.h"
#include "cri/grpc_wire.h"
#include "net/http_client.h"
#include "schema/protobuf.h"

#include <stdlib.h>

struct grpc_client {
    struct http_client *http;
};

struct grpc_stream {
    const struct type *type;
    struct http_response *response;
    struct grpc_frames frames;
    struct status *ended; /* what came after the last message, once is_ended */
    bool is_ended;
};

struct grpc_client *grpc_client_over(struct http_client *http)
{
    struct grpc_client *client = MEM_NEW(struct grpc_client);

    client->http = http;
    return client;
}

struct status *grpc_client_new(struct str endpoint, struct grpc_client **ret)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct http_client_options options = {.authority = STR("localhost"), .protocol = HTTP_CLIENT_2};

    if (str_has_prefix(endpoint, STR("/"))) {
        options.address = arena_printf(arena, "unix:%.*s", STR_ARG(endpoint));
    } else if (str_has_prefix(endpoint, STR("unix:"))) {
        options.address = endpoint;
    } else {
        return status_new(STATUS_BAD_REQUEST, "endpoint \"%.*s\" is not a unix socket: want unix:///PATH",
                          STR_ARG(endpoint));
    }
    *ret = grpc_client_over(http_client_new(&options));
    return NULL;
}

void grpc_client_free(struct grpc_client *client)
{
    if (client != NULL) {
        http_client_free(client->http);
        free(client);
    }
}

/* What the answer's head says when no messages follow: NULL when they do. */
static struct status *check_head(const struct http_response *response)
{
    struct str type = http_header_find(&response->headers, STR("content-type"));
    struct str encoding = http_header_find(&response->headers, STR("grpc-encoding"));
    struct status *status;

    if (response->code != 200) {
        return status_new(grpc_reason_of(grpc_code_of_http(response->code)),
                          "unexpected HTTP status code received from server: %d", response->code);
    }
    if (grpc_status_read(&response->headers, &status) && status != NULL) {
        return status;
    }
    if (!str_has_prefix(type, STR("application/grpc"))) {
        return status_new(STATUS_UNKNOWN, "transport: received unexpected content-type \"%.*s\"", STR_ARG(type));
    }
    if (encoding.n > 0 && !str_is(encoding, "identity")) {
        return status_new(STATUS_METHOD_NOT_ALLOWED, "grpc: Decompressor is not installed for grpc-encoding \"%.*s\"",
                          STR_ARG(encoding));
    }
    return NULL;
}

static struct status *open_stream(struct grpc_client *client, const struct rpc *rpc, const void *request,
                                  int64_t deadline, struct grpc_stream **ret)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(buf_done) struct buf body = {0};
    struct http_request call = {.method = STR("POST"), .target = rpc->path, .deadline = deadline};
    struct http_response *response;

    http_header_add(arena, &call.headers, STR("content-type"), STR("application/grpc"));
    http_header_add(arena, &call.headers, STR("te"), STR("trailers"));
    http_header_add(arena, &call.headers, STR("user-agent"), STR("grpc-c-c8s"));
    if (deadline != TASK_FOREVER) {
        http_header_add(arena, &call.headers, STR("grpc-timeout"),
                        grpc_timeout_format(arena, MAX(deadline - env_mono(), 1)));
    }
    grpc_frame_add(&body, rpc->request, request);
    call.body = buf_str(&body);
    TRY(http_do(client->http, &call, &response));
    struct status *bad = check_head(response);

    if (bad != NULL) {
        http_response_close(response);
        return bad;
    }
    struct grpc_stream *stream = MEM_NEW(struct grpc_stream);

    stream->type = rpc->response;
    stream->response = response;
    *ret = stream;
    return NULL;
}

struct status *grpc_stream_open(struct grpc_client *client, const struct rpc *rpc, const void *request,
                                struct grpc_stream **ret)
{
    return open_stream(client, rpc, request, TASK_FOREVER, ret);
}

void grpc_stream_close(struct grpc_stream *stream)
{
    if (stream != NULL) {
        http_response_close(stream->response);
        buf_done(&stream->frames.bytes);
        status_free(stream->ended);
        free(stream);
    }
}

static struct status *end_of(const struct grpc_stream *stream)
{
    struct status *status;

    if (grpc_status_read(&stream->response->trailers, &status) ||
        grpc_status_read(&stream->response->headers, &status)) {
        if (status == NULL && stream->frames.bytes.n > 0) {
            return status_new(STATUS_INTERNAL_ERROR, "unexpected EOF");
        }
        return status;
    }
    return status_new(STATUS_INTERNAL_ERROR, "server closed the stream without sending trailers");
}

/* The next message's bytes, borrowed until the next call; *ret_more is false after the last of a good stream. */
static struct status *next_bytes(struct grpc_stream *stream, int64_t deadline, struct str *ret_message, bool *ret_more)
{
    enum { PIECE = 16384 };
    size_t size;

    while (!stream->is_ended) {
        bool has;

        TRY(grpc_frame_next(&stream->frames, ret_message, &has));
        if (has) {
            *ret_more = true;
            return NULL;
        }
        TRY(http_response_read(stream->response, buf_reserve(&stream->frames.bytes, PIECE), PIECE, deadline, &size));
        stream->frames.bytes.n += size;
        if (size == 0) {
            stream->is_ended = true;
            stream->ended = end_of(stream);
        }
    }
    *ret_more = false;
    return stream->ended != NULL ? status_copy(stream->ended) : NULL;
}

static struct status *decode(struct arena *arena, const struct type *type, struct str bytes, void *response)
{
    struct status *bad = protobuf_decode(arena, type, arena_str(arena, bytes), response);

    if (bad != NULL) {
        bad = status_while(bad, "grpc: failed to unmarshal the received message");
        bad->reason = STATUS_INTERNAL_ERROR;
    }
    return bad;
}

struct status *grpc_stream_next(struct grpc_stream *stream, struct arena *arena, void *response, bool *ret_more)
{
    struct str bytes;
    bool more;

    TRY(next_bytes(stream, TASK_FOREVER, &bytes, &more));
    if (more) {
        TRY(decode(arena, stream->type, bytes, response));
    }
    *ret_more = more;
    return NULL;
}

static struct status *only_message(struct grpc_stream *stream, struct arena *arena, void *response, int64_t deadline)
{
    struct str bytes;
    bool more;

    TRY(next_bytes(stream, deadline, &bytes, &more));
    if (!more) {
        return status_new(STATUS_INTERNAL_ERROR, "cardinality violation: received no response message from a unary call");
    }
    TRY(decode(arena, stream->type, bytes, response));
    TRY(next_bytes(stream, deadline, &bytes, &more));
    if (more) {
        return status_new(STATUS_INTERNAL_ERROR, "cardinality violation: expected <EOF> for a unary call");
    }
    return NULL;
}

struct status *grpc_call(struct grpc_client *client, struct arena *arena, const struct rpc *rpc, const void *request,
                         void *response, int64_t deadline)
{
    struct grpc_stream *stream;

    TRY(open_stream(client, rpc, request, deadline, &stream));
    struct status *bad = only_message(stream, arena, response, deadline);

    grpc_stream_close(stream);
    return bad;
}
