/* One pod's worker, as pod_workers.c keeps it and pod_passes.c works on it. For these two only. */
#ifndef KUBELET_POD_WORKER_H
#define KUBELET_POD_WORKER_H

#include "base/map.h"
#include "kubelet/pod_sync.h"
#include "kubelet/pod_workers.h"

enum pod_worker_state {
    WORKER_SYNCING,     /* the pod runs or shall run */
    WORKER_TERMINATING, /* its containers are to be stopped */
    WORKER_TERMINATED,  /* they are; what the pod had is to be removed */
    WORKER_FINISHED,    /* nothing of it is left but, perhaps, dead containers for their logs */
};

struct pod_worker {
    struct kubelet *kubelet;
    struct arena *arena; /* of the strings here */
    struct str uid, name, namespace;
    struct pod_ref *pod; /* as the source had it last; NULL: only the runtime knows it */
    enum pod_worker_state state;
    bool is_admitted;
    bool is_gone;        /* the source has dropped it, or never had it */
    bool is_removed;     /* being deleted, it has lost its containers too */
    bool is_interrupted; /* what is being done for it makes no sense any more */
    bool is_dirty;       /* look again when this pass is over */
    int64_t grace_seconds; /* to stop it within; below 0: the pod's own */
    struct str failed_reason, failed_message;         /* phase Failed with these; empty: not so */
    struct str disruption_reason, disruption_message; /* condition DisruptionTarget; empty: none */
    struct pod_sync_memory memory;
    struct str resize_reason, resize_message, resize_error; /* pod_status.h */
    struct map resized; /* IDs of containers that were given new resources since the last report */
    struct map problems; /* by container: struct pod_worker_problem, on the heap */
    int failures;        /* passes in a row that ended in an error */
    int64_t next_look;   /* env_mono: when to look again without being asked */
    struct task *task;
    struct task_group jobs;
};

struct pod_worker_problem {
    char *reason, *message;
};

/* One pass; parks. On success the worker may be in its next state. */
MUST_USE struct status *pod_pass_sync(struct pod_worker *worker);
MUST_USE struct status *pod_pass_terminating(struct pod_worker *worker);
MUST_USE struct status *pod_pass_terminated(struct pod_worker *worker);

/* It is being deleted, or no source has it any more. */
bool pod_worker_is_deleted(const struct pod_worker *worker);
/* Why a container could not be started; an empty reason: it could. */
void pod_worker_set_problem(struct pod_worker *worker, struct str container, struct str reason, struct str message);

#endif
