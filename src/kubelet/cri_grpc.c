/* A container runtime behind a socket (cri.h). */
#include "base/mem.h"
#include "cri/grpc.h"
#include "kubelet/cri.h"

#include <stdlib.h>

struct remote {
    struct cri cri;
    struct grpc_client *client;
};

struct remote_stream {
    struct cri_stream stream;
    struct grpc_stream *inner;
};

static struct status *remote_call(struct cri *cri, const struct rpc *rpc, const void *request, struct arena *arena,
                                  void *response, int64_t deadline)
{
    return grpc_call(((struct remote *)cri)->client, arena, rpc, request, response, deadline);
}

static struct status *remote_open(struct cri *cri, const struct rpc *rpc, const void *request,
                                  struct cri_stream **ret)
{
    struct grpc_stream *inner;

    TRY(grpc_stream_open(((struct remote *)cri)->client, rpc, request, &inner));
    struct remote_stream *stream = MEM_NEW(struct remote_stream);

    *stream = (struct remote_stream){.stream.ops = cri->ops, .inner = inner};
    *ret = &stream->stream;
    return NULL;
}

static struct status *remote_next(struct cri_stream *stream, struct arena *arena, void *response, bool *ret_more)
{
    return grpc_stream_next(((struct remote_stream *)stream)->inner, arena, response, ret_more);
}

static void remote_close(struct cri_stream *stream)
{
    grpc_stream_close(((struct remote_stream *)stream)->inner);
    free(stream);
}

static void remote_free(struct cri *cri)
{
    grpc_client_free(((struct remote *)cri)->client);
    free(cri);
}

static const struct cri_ops remote_ops = {
    .call = remote_call,
    .open = remote_open,
    .next = remote_next,
    .close = remote_close,
    .free = remote_free,
};

struct status *cri_grpc_new(struct str endpoint, struct cri **ret)
{
    struct grpc_client *client;

    TRY(grpc_client_new(endpoint, &client));
    struct remote *remote = MEM_NEW(struct remote);

    *remote = (struct remote){.cri.ops = &remote_ops, .client = client};
    *ret = &remote->cri;
    return NULL;
}
