/* gRPC (unary calls, server streams) over HTTP/2: what CRI, CSI and device plugins speak.
 *
 * Messages are the C structs of proto3 packages (schema/cri_v1.h, ...), methods are their `struct rpc` tables.
 * Errors travel as status: NOT_FOUND is code 5, ALREADY_EXISTS 6, BAD_REQUEST 3, TIMEOUT 4, FORBIDDEN 7, CONFLICT 9,
 * TOO_MANY_REQUESTS 8, METHOD_NOT_ALLOWED 12, INTERNAL_ERROR 13, SERVICE_UNAVAILABLE 14, UNAUTHORIZED 16, CANCELLED 1,
 * UNKNOWN 2; the message is kept as it is. Calls park. Loop thread only. */
#ifndef CRI_GRPC_H
#define CRI_GRPC_H

#include "base/arena.h"
#include "base/status.h"
#include "net/http.h"
#include "schema/type.h"

/* How Go's components print such an error, in events and messages: "rpc error: code = NotFound desc = no such image". */
struct str grpc_error_text(struct arena *arena, const struct status *status);

/* A client of one server, such as "unix:///run/containerd/containerd.sock" or "/run/x.sock"; connects when first used,
 * and again after the connection broke. BAD_REQUEST for an endpoint that is not a unix socket. */
struct grpc_client;
MUST_USE struct status *grpc_client_new(struct str endpoint, struct grpc_client **ret);
void grpc_client_free(struct grpc_client *client);
/* Response and what it points at are in the arena. `deadline` is env_mono() nanoseconds or TASK_FOREVER; it is sent as
 * grpc-timeout too. */
MUST_USE struct status *grpc_call(struct grpc_client *client, struct arena *arena, const struct rpc *rpc,
                                  const void *request, void *response, int64_t deadline);
/* A call whose response is a stream: grpc_stream_next() parks for the next message; *ret_more is false at its end. */
struct grpc_stream;
MUST_USE struct status *grpc_stream_open(struct grpc_client *client, const struct rpc *rpc, const void *request,
                                         struct grpc_stream **ret);
MUST_USE struct status *grpc_stream_next(struct grpc_stream *stream, struct arena *arena, void *response,
                                         bool *ret_more);
void grpc_stream_close(struct grpc_stream *stream);

/* One method a server has. The request is decoded into the arena, the response is zero. Called in a task of its own,
 * cancelled when the client goes away. */
struct grpc_method {
    const struct rpc *rpc;
    struct status *(*handle)(void *arg, struct arena *arena, const void *request, void *response);
    /* Instead, for a streamed response: calls send for each message. */
    struct status *(*stream)(void *arg, struct arena *arena, const void *request,
                             struct status *(*send)(void *sink, const void *response), void *sink);
};
struct grpc_methods {
    const struct grpc_method *items;
    size_t len;
    void *arg;
};
/* An http_handler (net/http.h) whose arg is a struct grpc_methods; unknown methods are UNIMPLEMENTED. */
void grpc_serve(struct http_exchange *exchange, void *methods);

#endif
