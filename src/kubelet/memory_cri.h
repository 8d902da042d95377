/* A container runtime that keeps everything in memory: for the simulation and for tests, which make containers end,
 * calls fail and the runtime stop as they like. Containers run until they are stopped or told to end. On the env's
 * thread. */
#ifndef KUBELET_MEMORY_CRI_H
#define KUBELET_MEMORY_CRI_H

#include "kubelet/cri.h"

/* All that it has is gone with cri_free(). A kubelet that is started again on the same one finds its containers
 * there. */
struct cri *memory_cri_new(void);

/* How long each call takes at least, and at most (drawn at random); 0 at first: calls do not park. */
void memory_cri_set_latency(struct cri *cri, int64_t min, int64_t max);
/* Whether it tells its events; it does at first. */
void memory_cri_set_events(struct cri *cri, bool has_events);
/* Off, every call fails as if nobody served the socket; containers go on. */
void memory_cri_set_serving(struct cri *cri, bool is_serving);
/* From now on each call of that method fails with a copy of the status; NULL ends it. Takes the status. */
void memory_cri_set_error(struct cri *cri, const struct rpc *rpc, struct status *error);
/* An image that can be pulled. Others cannot: NOT_FOUND. */
void memory_cri_add_image(struct cri *cri, struct str reference);
bool memory_cri_has_image(struct cri *cri, struct str reference);
/* What ExecSync answers: by default exit code 0 and no output. */
void memory_cri_set_exec(struct cri *cri, int32_t exit_code, struct str output);

/* One container as it is now. Borrowed until the next call of the runtime. */
struct memory_container {
    struct str id, sandbox_id, pod_uid, name;
    int32_t state, exit_code; /* state: CRI_V1_CONTAINER_STATE_... */
    int64_t stop_timeout;     /* seconds that StopContainer gave; -1: not called */
    const struct cri_v1_container_config *config;
};

/* The newest of that name in the pod; false when there is none. */
bool memory_cri_find(struct cri *cri, struct str pod_uid, struct str name, struct memory_container *ret);
/* Ends a running container by itself. False when it does not run. */
bool memory_cri_exit(struct cri *cri, struct str pod_uid, struct str name, int32_t exit_code);
/* How long a container goes on after it was told to stop, at most its timeout; 0 at first. */
void memory_cri_set_stop_delay(struct cri *cri, int64_t delay);
size_t memory_cri_running(const struct cri *cri);  /* containers */
size_t memory_cri_containers(const struct cri *cri); /* dead ones too */
size_t memory_cri_sandboxes(const struct cri *cri);
/* How often the method was called. */
size_t memory_cri_calls(const struct cri *cri, const struct rpc *rpc);

#endif
