/* A pod as the container runtime has it: its sandboxes and containers, newest first. Plain data in one arena; made by
 * runtime_pod_fetch() from CRI, and by hand in tests. Times are ns since 1970, 0 when unset. */
#ifndef KUBELET_RUNTIME_POD_H
#define KUBELET_RUNTIME_POD_H

#include "base/arena.h"

enum runtime_state { RUNTIME_CREATED, RUNTIME_RUNNING, RUNTIME_EXITED, RUNTIME_UNKNOWN };

struct runtime_container {
    struct str id, name, sandbox_id;
    struct str image, image_ref;
    struct str reason, message; /* the message is the termination message where there is one */
    struct str log_path;
    enum runtime_state state;
    int64_t created_at, started_at, finished_at;
    int32_t exit_code;
    int32_t restart_count;
    uint64_t hash;         /* of the spec it was made from; 0: unknown */
    int64_t grace_seconds; /* terminationGracePeriodSeconds when it was made; -1: unknown */
    bool has_user;
    int64_t uid, gid;
    struct {
        int64_t *items;
        size_t len;
    } groups;
    bool has_resources;
    int64_t cpu_shares, cpu_quota, cpu_period, memory_limit; /* 0: none */
};

struct runtime_sandbox {
    struct str id;
    uint32_t attempt;
    bool is_ready;
    bool is_host_network;
    bool has_network; /* it says something about its network */
    int64_t created_at;
    struct {
        struct str *items;
        size_t len;
    } ips;
};

struct runtime_pod {
    struct str uid, name, namespace;
    struct {
        struct runtime_sandbox *items;
        size_t len;
    } sandboxes;
    struct {
        struct runtime_container *items;
        size_t len;
    } containers;
};

/* The newest container of that name; NULL when there is none. */
const struct runtime_container *runtime_pod_find(const struct runtime_pod *pod, struct str name);
/* The same among those of the newest sandbox. */
const struct runtime_container *runtime_pod_find_active(const struct runtime_pod *pod, struct str name);
const struct runtime_container *runtime_pod_find_id(const struct runtime_pod *pod, struct str id);
/* Any container running, or a sandbox ready. */
bool runtime_pod_is_running(const struct runtime_pod *pod);
const char *runtime_state_name(enum runtime_state state);
/* Puts sandboxes and containers in order, newest first. */
void runtime_pod_sort(struct runtime_pod *pod);

#endif
