/* What is to be done for a pod now: a function of its spec, what the runtime has, and what its probes say. Pure.
 *
 * The rules are stock's computePodActions: a sandbox that is missing, dead or changed is made anew and everything
 * starts over; init containers run one after the other, sidecars stay up; containers come back by their restart
 * policy, also when a liveness or startup probe failed or their definition changed. Back-off is not decided here but
 * when a container is about to be started (pod_sync.c). */
#ifndef KUBELET_POD_PLAN_H
#define KUBELET_POD_PLAN_H

#include "kubelet/probe_state.h"
#include "kubelet/runtime_pod.h"

enum restart_policy { RESTART_ALWAYS, RESTART_ON_FAILURE, RESTART_NEVER };

/* A container restart rule: restart when the exit code is (or is not) among the values. */
struct plan_rule {
    bool is_not_in;
    const int32_t *values;
    size_t value_count;
};

/* What matters of a container's spec. */
struct plan_container {
    struct str name;
    uint64_t hash;                 /* of what makes it a different container */
    enum restart_policy restart;   /* its own, else the pod's */
    bool has_own_restart;          /* restartPolicy is set on the container */
    bool is_sidecar;               /* an init container with restartPolicy Always */
    bool has_startup_probe, has_liveness_probe;
    struct {
        struct plan_rule *items;
        size_t len;
    } rules;
};

struct plan_containers {
    struct plan_container *items;
    size_t len;
};

struct plan_pod {
    struct plan_containers init, regular, ephemeral;
    enum restart_policy restart;
    bool is_host_network;
    bool is_deleted; /* has a deletionTimestamp */
};

enum plan_kind { PLAN_INIT, PLAN_REGULAR, PLAN_EPHEMERAL };

/* What a probe says about a container; PROBE_UNKNOWN when nothing yet. */
typedef enum probe_result plan_probe(void *arg, struct str container_id, enum probe_kind kind);

enum kill_reason { KILL_OTHER, KILL_STARTUP_PROBE, KILL_LIVENESS_PROBE };

struct plan_start {
    enum plan_kind kind;
    size_t index;
};

struct plan_kill {
    const struct runtime_container *container;
    enum plan_kind kind;
    size_t index;
    struct str message; /* of the event Killing */
    enum kill_reason reason;
};

struct pod_plan {
    bool kill_pod;          /* all containers and the sandbox */
    bool create_sandbox;
    struct str sandbox_id;  /* to start containers in, or the one that is replaced */
    uint32_t attempt;       /* for a new sandbox */
    struct str sandbox_reason; /* why a new one is needed; empty when not */
    struct {
        struct plan_start *items;
        size_t len;
    } starts; /* in order: ephemeral, init, regular */
    struct {
        struct plan_kill *items;
        size_t len;
    } kills; /* before the starts */
};

void pod_plan(struct arena *arena, const struct plan_pod *pod, const struct runtime_pod *runtime, plan_probe *probe,
              void *arg, struct pod_plan *ret);

/* Whether a new sandbox is needed and why (stock's words); attempt and id as in the plan. */
bool pod_plan_needs_sandbox(const struct plan_pod *pod, const struct runtime_pod *runtime, uint32_t *ret_attempt,
                            struct str *ret_id, struct str *ret_reason);
/* Whether it comes back after that exit code, by its rules and policy. */
bool plan_container_restarts(const struct plan_container *container, int32_t exit_code);
/* Whether it is to be started now, were it the only one. */
bool plan_container_should_start(const struct plan_pod *pod, const struct plan_container *container,
                                 const struct runtime_pod *runtime);
/* A regular container has been created in some sandbox, so the init containers are done. */
bool plan_pod_was_initialized(const struct plan_pod *pod, const struct runtime_pod *runtime);
/* A regular container belongs to the newest sandbox. */
bool plan_pod_is_initialized(const struct plan_pod *pod, const struct runtime_pod *runtime);

#endif
