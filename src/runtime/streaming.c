#include "runtime/streaming.h"

#include "base/env.h"
#include "base/mem.h"
#include "net/http_server.h"

#include <stdlib.h>

#define TOKEN_LIFE (60 * ENV_SECOND)

enum { WAITING_MAX = 1000 };

/* A URL that has not been used yet. */
struct waiting {
    struct link link; /* the oldest first */
    struct arena *arena;
    struct str token;
    struct streaming_request request;
    int64_t expires;
};

struct streaming {
    struct runtime *runtime;
    struct http_server *server;
    struct link waiting;
    size_t waiting_count;
    int port;
};

static void drop(struct streaming *streaming, struct waiting *waiting)
{
    list_remove(&waiting->link);
    streaming->waiting_count--;
    arena_free(waiting->arena);
}

static void drop_expired(struct streaming *streaming)
{
    int64_t now = env_mono();

    LINK_EACH(at, &streaming->waiting) {
        struct waiting *waiting = CONTAINER_OF(at, struct waiting, link);

        if (waiting->expires <= now) {
            drop(streaming, waiting);
        }
    }
}

static struct waiting *find(struct streaming *streaming, struct str token)
{
    LINK_EACH(at, &streaming->waiting) {
        struct waiting *waiting = CONTAINER_OF(at, struct waiting, link);

        if (str_eq(waiting->token, token)) {
            return waiting;
        }
    }
    return NULL;
}

void streaming_refuse(struct http_exchange *exchange, struct status *take_status)
{
    OWNED(status_freep) struct status *status = take_status;

    status_free(http_respond(exchange, status->code, &(struct http_headers){0}, status->message));
}

static void serve(struct http_exchange *exchange, void *arg)
{
    struct streaming *streaming = arg;
    size_t slash = str_last_index(exchange->path, '/');
    struct waiting *waiting;

    drop_expired(streaming);
    waiting = slash == SIZE_MAX ? NULL : find(streaming, str_from(exchange->path, slash + 1));
    if (waiting == NULL) {
        streaming_refuse(exchange, status_new(STATUS_NOT_FOUND, "404 page not found"));
        return;
    }
    list_remove(&waiting->link); /* good once */
    switch (waiting->request.kind) {
    case STREAMING_EXEC:
        streaming_exec(streaming->runtime, &waiting->request, exchange);
        break;
    case STREAMING_ATTACH:
        streaming_attach(streaming->runtime, &waiting->request, exchange);
        break;
    case STREAMING_FORWARD:
        streaming_forward(streaming->runtime, &waiting->request, exchange);
        break;
    }
    drop(streaming, waiting);
}

struct status *streaming_new(struct runtime *runtime, struct streaming **ret)
{
    struct listener *listener;

    TRY(listener_open(STR("127.0.0.1:0"), 0, &listener));
    struct streaming *streaming = MEM_NEW(struct streaming);

    streaming->runtime = runtime;
    streaming->port = listener_port(listener);
    list_init(&streaming->waiting);
    streaming->server = http_server_new(serve, streaming);
    http_server_listen(streaming->server, listener, NULL);
    *ret = streaming;
    return NULL;
}

struct status *streaming_add(struct streaming *streaming, const struct streaming_request *request, struct arena *arena,
                             struct str *ret_url)
{
    static const char *const names[] = {"exec", "attach", "portforward"};

    drop_expired(streaming);
    if (streaming->waiting_count >= WAITING_MAX) {
        return status_new(STATUS_TOO_MANY_REQUESTS, "maximum number of in-flight requests exceeded");
    }
    struct arena *own = arena_new();
    struct waiting *waiting = ARENA_NEW(own, struct waiting);

    waiting->arena = own;
    waiting->token = state_new_id(own);
    waiting->request = *request;
    waiting->request.id = arena_str(own, request->id);
    waiting->request.command = (struct str_list){0};
    LIST_EACH(word, &request->command) {
        *LIST_ADD(own, &waiting->request.command) = arena_str(own, *word);
    }
    waiting->expires = env_mono() + TOKEN_LIFE;
    list_add_tail(&streaming->waiting, &waiting->link);
    streaming->waiting_count++;
    *ret_url = arena_printf(arena, "http://127.0.0.1:%d/%s/%.*s", streaming->port, names[request->kind],
                            STR_ARG(waiting->token));
    return NULL;
}

void streaming_free(struct streaming *streaming)
{
    if (streaming == NULL) {
        return;
    }
    http_server_free(streaming->server);
    LINK_EACH(at, &streaming->waiting) {
        drop(streaming, CONTAINER_OF(at, struct waiting, link));
    }
    free(streaming);
}
