/* What memory_cri.c and memory_cri_calls.c share. */
#ifndef KUBELET_MEMORY_CRI_PARTS_H
#define KUBELET_MEMORY_CRI_PARTS_H

#include "base/map.h"
#include "base/mem.h"
#include "base/task.h"
#include "kubelet/memory_cri.h"

struct memory_sandbox {
    struct arena *arena;
    struct str id, ip;
    struct cri_v1_pod_sandbox_config *config;
    int64_t created_at;
    bool is_ready;
};

struct memory_one {
    struct arena *arena;
    struct str id, sandbox_id;
    struct cri_v1_container_config *config;
    int32_t state, exit_code;
    int64_t created_at, started_at, finished_at, stop_timeout;
    struct str log_path;
};

struct memory_error {
    const struct rpc *rpc;
    struct status *status; /* NULL: only counted */
    size_t calls;
};

struct memory_cri {
    struct cri cri;
    struct arena *arena;
    VEC(struct memory_sandbox *) sandboxes;
    VEC(struct memory_one *) containers;
    VEC(struct memory_error) errors;
    VEC(struct str) images, known_images; /* present, and to be pulled */
    struct link streams;
    int64_t latency_min, latency_max, stop_delay;
    bool has_events, is_down;
    int32_t exec_code;
    struct str exec_output;
    uint64_t last_id;
};

/* Answers one call; the response is zero. */
struct status *memory_cri_answer(struct memory_cri *memory, const struct rpc *rpc, const void *request,
                                 struct arena *arena, void *response);
/* Tells all streams. */
void memory_cri_tell(struct memory_cri *memory, const struct memory_one *one, int32_t type);
struct memory_sandbox *memory_cri_sandbox(const struct memory_cri *memory, struct str id);
void memory_cri_end(struct memory_cri *memory, struct memory_one *one, int32_t exit_code);

#endif
