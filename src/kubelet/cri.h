/* The container runtime as the kubelet sees it: CRI's calls behind one table.
 *
 * cri_grpc_new() speaks to a runtime's socket; tests and the simulation put their own in its place. All calls park.
 * Responses are in the arena given. Errors are those of cri/grpc.h. */
#ifndef KUBELET_CRI_H
#define KUBELET_CRI_H

#include "base/arena.h"
#include "base/status.h"
#include "schema/cri_v1.h"

#include <stdint.h>

struct cri;
struct cri_stream;

struct cri_ops {
    struct status *(*call)(struct cri *cri, const struct rpc *rpc, const void *request, struct arena *arena,
                           void *response, int64_t deadline);
    struct status *(*open)(struct cri *cri, const struct rpc *rpc, const void *request, struct cri_stream **ret);
    struct status *(*next)(struct cri_stream *stream, struct arena *arena, void *response, bool *ret_more);
    void (*close)(struct cri_stream *stream);
    void (*free)(struct cri *cri);
};

struct cri {
    const struct cri_ops *ops;
};

struct cri_stream {
    const struct cri_ops *ops;
};

/* A runtime on a unix socket, such as "unix:///run/containerd/containerd.sock"; connects when first used, and again
 * when the connection broke. BAD_REQUEST for another kind of endpoint. */
MUST_USE struct status *cri_grpc_new(struct str endpoint, struct cri **ret);
/* NULL is fine. */
void cri_free(struct cri *cri);

/* Any call. `timeout` in ns from now; 0: none. */
MUST_USE struct status *cri_call(struct cri *cri, const struct rpc *rpc, const void *request, struct arena *arena,
                                 void *response, int64_t timeout);

/* The calls by name: cri_NAME(cri, &request, arena, &response), where the response lies in the arena; with the timeout
 * stock gives most of them. */
enum { CRI_TIMEOUT_SECONDS = 120, CRI_SANDBOX_TIMEOUT_SECONDS = 240 };

#define CRI_CALL_(service, name, seconds)                                                                            \
    MUST_USE static inline struct status *cri_##name(struct cri *cri, const struct cri_v1_##name##_request *request, \
                                                     struct arena *arena, struct cri_v1_##name##_response **ret)     \
    {                                                                                                                \
        *ret = ARENA_NEW(arena, struct cri_v1_##name##_response);                                                    \
        return cri_call(cri, &cri_v1_##service##_##name##_rpc, request, arena, *ret,                                 \
                        (int64_t)(seconds) * 1000000000);                                                            \
    }

CRI_CALL_(runtime_service, version, CRI_TIMEOUT_SECONDS)
CRI_CALL_(runtime_service, status, CRI_TIMEOUT_SECONDS)
CRI_CALL_(runtime_service, update_runtime_config, CRI_TIMEOUT_SECONDS)
CRI_CALL_(runtime_service, run_pod_sandbox, CRI_SANDBOX_TIMEOUT_SECONDS)
CRI_CALL_(runtime_service, stop_pod_sandbox, CRI_TIMEOUT_SECONDS)
CRI_CALL_(runtime_service, remove_pod_sandbox, CRI_TIMEOUT_SECONDS)
CRI_CALL_(runtime_service, pod_sandbox_status, CRI_TIMEOUT_SECONDS)
CRI_CALL_(runtime_service, list_pod_sandbox, CRI_TIMEOUT_SECONDS)
CRI_CALL_(runtime_service, create_container, CRI_TIMEOUT_SECONDS)
CRI_CALL_(runtime_service, start_container, CRI_TIMEOUT_SECONDS)
CRI_CALL_(runtime_service, stop_container, request->timeout + CRI_TIMEOUT_SECONDS)
CRI_CALL_(runtime_service, remove_container, CRI_TIMEOUT_SECONDS)
CRI_CALL_(runtime_service, list_containers, CRI_TIMEOUT_SECONDS)
CRI_CALL_(runtime_service, container_status, CRI_TIMEOUT_SECONDS)
CRI_CALL_(runtime_service, update_container_resources, CRI_TIMEOUT_SECONDS)
CRI_CALL_(runtime_service, reopen_container_log, CRI_TIMEOUT_SECONDS)
CRI_CALL_(runtime_service, exec_sync, request->timeout > 0 ? request->timeout + 5 : 0)
CRI_CALL_(runtime_service, exec, CRI_TIMEOUT_SECONDS)
CRI_CALL_(runtime_service, attach, CRI_TIMEOUT_SECONDS)
CRI_CALL_(runtime_service, port_forward, CRI_TIMEOUT_SECONDS)
CRI_CALL_(runtime_service, list_container_stats, CRI_TIMEOUT_SECONDS)
CRI_CALL_(runtime_service, list_pod_sandbox_stats, CRI_TIMEOUT_SECONDS)
CRI_CALL_(image_service, list_images, CRI_TIMEOUT_SECONDS)
CRI_CALL_(image_service, image_status, CRI_TIMEOUT_SECONDS)
CRI_CALL_(image_service, pull_image, 0) /* as long as it takes */
CRI_CALL_(image_service, remove_image, CRI_TIMEOUT_SECONDS)
CRI_CALL_(image_service, image_fs_info, CRI_TIMEOUT_SECONDS)
#undef CRI_CALL_

/* What happens to containers, as it happens; METHOD_NOT_ALLOWED when the runtime does not tell. */
MUST_USE struct status *cri_events_open(struct cri *cri, struct cri_stream **ret);
/* *ret_more is false at the end of the stream. */
MUST_USE struct status *cri_events_next(struct cri_stream *stream, struct arena *arena,
                                        struct cri_v1_container_event_response **ret, bool *ret_more);
void cri_stream_close(struct cri_stream *stream);

#endif
