/* Where Exec, Attach and PortForward are served: an HTTP server on loopback whose URLs hold a token that is good once and
 * for a minute, as in stock's runtimes. The kubelet passes its client's connection on to it. Loop thread. */
#ifndef RUNTIME_STREAMING_H
#define RUNTIME_STREAMING_H

#include "cri/remote_command.h"
#include "runtime/state.h"

enum streaming_kind { STREAMING_EXEC, STREAMING_ATTACH, STREAMING_FORWARD };

struct streaming_request {
    enum streaming_kind kind;
    struct str id;           /* of the container; of the sandbox to forward to */
    struct str_list command; /* of exec */
    struct remote_wants wants;
};

struct streaming;

/* Listens on a port of 127.0.0.1 that the kernel picks. */
MUST_USE struct status *streaming_new(struct runtime *runtime, struct streaming **ret);
/* "http://127.0.0.1:41235/exec/TOKEN", in the arena. TOO_MANY_REQUESTS while a thousand wait to be used. */
MUST_USE struct status *streaming_add(struct streaming *streaming, const struct streaming_request *request,
                                      struct arena *arena, struct str *ret_url);
/* Breaks off what goes on. Parks. NULL is fine. */
void streaming_free(struct streaming *streaming);

/* --- The three kinds, each for one accepted connection; they answer the exchange. --- */
void streaming_exec(struct runtime *runtime, const struct streaming_request *request, struct http_exchange *exchange);
void streaming_attach(struct runtime *runtime, const struct streaming_request *request,
                      struct http_exchange *exchange);
void streaming_forward(struct runtime *runtime, const struct streaming_request *request,
                       struct http_exchange *exchange);
/* What could not even begin. */
void streaming_refuse(struct http_exchange *exchange, struct status *take_status);

#endif
