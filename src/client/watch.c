/* A watch: a response whose body is a sequence of events, JSON values one after another, or protobuf frames. */
#include "base/env.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/task.h"
#include "client/client_internal.h"
#include "client/codec.h"
#include "client/watch_frame.h"
#include "schema/object.h"
#include "schema/type.h"

#include <stdlib.h>
#include <string.h>

enum { READ_BYTES = 16384 };

struct client_watch {
    const struct kind *kind;
    struct http_response *response;
    bool is_protobuf;
    struct buf pending; /* read but not yet a whole frame */
    size_t scanned;     /* of pending, known to hold no frame's end */
};

struct status *client_watch_open(struct client *client, const struct kind *kind, struct str namespace,
                                 const struct client_list_options *options, struct client_watch **ret_watch)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(buf_done) struct buf target = {0};
    struct http_request request = {.method = STR("GET"), .deadline = env_mono() + 60 * ENV_SECOND};
    struct http_response *response;
    struct str accept = codec_accept(kind, client->options.json_only);

    buf_add_str(&target, client_path(arena, kind, namespace, STR(""), STR("")));
    client_add_list_parameters(arena, &target, options);
    bool first = str_index(buf_str(&target), '?') == SIZE_MAX;

    buf_printf(&target, "%cwatch=true&allowWatchBookmarks=true", first ? '?' : '&');
    request.target = buf_str(&target);
    http_header_add(arena, &request.headers, STR("accept"), accept);
    TRY(client_request(client, &request, &response));
    if (response->code != 200) {
        struct status *status = client_error(response);

        http_response_close(response);
        return status;
    }
    struct client_watch *watch = MEM_NEW(struct client_watch);

    watch->kind = kind;
    watch->response = response;
    watch->is_protobuf =
        str_contains(http_header_find(&response->headers, STR("content-type")), STR("protobuf"));
    *ret_watch = watch;
    return NULL;
}

/* The first whole frame of what has been read; false when more is needed. */
static bool frame_take(struct client_watch *watch, struct arena *arena, struct str *ret_frame)
{
    struct str have = buf_str(&watch->pending);
    struct str frame;
    size_t used;

    if (!(watch->is_protobuf ? watch_frame_protobuf(have, &frame, &used)
                             : watch_frame_json(have, watch->scanned, &frame, &used))) {
        watch->scanned = have.n;
        return false;
    }
    *ret_frame = arena_str(arena, frame);
    buf_consume(&watch->pending, used);
    watch->scanned = 0;
    return true;
}

static struct status *frame_read(struct client_watch *watch, int64_t deadline, struct arena *arena,
                                 struct str *ret_frame)
{
    while (!frame_take(watch, arena, ret_frame)) {
        size_t size;

        if (watch->pending.n > LIMIT_GRPC_MESSAGE_BYTES) {
            return status_new(STATUS_SERVICE_UNAVAILABLE, "a watch event is larger than %zu bytes",
                              LIMIT_GRPC_MESSAGE_BYTES);
        }
        TRY(http_response_read(watch->response, buf_reserve(&watch->pending, READ_BYTES), READ_BYTES, deadline, &size));
        if (size == 0) {
            return status_new(STATUS_SERVICE_UNAVAILABLE, "the watch has ended");
        }
        watch->pending.n += size;
    }
    return NULL;
}

struct status *client_watch_next(struct client_watch *watch, int64_t deadline, struct client_event *ret_event)
{
    struct arena *arena = arena_new();
    struct str frame;
    struct status *status = frame_read(watch, deadline, arena, &frame);

    if (status == NULL) {
        status = watch_frame_decode(watch->kind, watch->is_protobuf, frame, arena, ret_event);
    }
    if (status != NULL) {
        arena_free(arena);
        if (status_is(status, STATUS_INTERNAL_ERROR)) {
            status->reason = STATUS_SERVICE_UNAVAILABLE; /* a broken connection: watch again */
        }
        return status;
    }
    ret_event->arena = arena;
    return NULL;
}

void client_watch_close(struct client_watch *watch)
{
    if (watch != NULL) {
        http_response_close(watch->response);
        buf_done(&watch->pending);
        free(watch);
    }
}
