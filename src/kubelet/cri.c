#include "kubelet/cri.h"

#include "base/env.h"
#include "base/task.h"

struct status *cri_call(struct cri *cri, const struct rpc *rpc, const void *request, struct arena *arena,
                        void *response, int64_t timeout)
{
    return cri->ops->call(cri, rpc, request, arena, response, timeout > 0 ? env_mono() + timeout : TASK_FOREVER);
}

struct status *cri_events_open(struct cri *cri, struct cri_stream **ret)
{
    static const struct cri_v1_get_events_request request;

    return cri->ops->open(cri, &cri_v1_runtime_service_get_container_events_rpc, &request, ret);
}

struct status *cri_events_next(struct cri_stream *stream, struct arena *arena,
                               struct cri_v1_container_event_response **ret, bool *ret_more)
{
    *ret = ARENA_NEW(arena, struct cri_v1_container_event_response);
    return stream->ops->next(stream, arena, *ret, ret_more);
}

void cri_stream_close(struct cri_stream *stream)
{
    if (stream != NULL) {
        stream->ops->close(stream);
    }
}

void cri_free(struct cri *cri)
{
    if (cri != NULL) {
        cri->ops->free(cri);
    }
}
