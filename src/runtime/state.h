/* What the runtime knows: its sandboxes and containers, in memory and as one record each on disk.
 *
 *   ROOT/sandboxes/ID/   record, shim.sock, shim.log, hosts, hostname, resolv.conf
 *   ROOT/containers/ID/  record, exit (by the shim, when it has ended), root (what its file system is mounted on)
 *   ROOT/images/         images/image_store.h
 *   NETNS/ID             a pod's network namespace, kept while the pod has its network
 *
 * A record is written when something changes that a runtime that starts anew could not find out, and before what it
 * tells of is done, so whatever is killed when, nothing is left that no record knows. Records are not synced: what they
 * tell of does not outlive the machine's running. Loop thread. */
#ifndef RUNTIME_STATE_H
#define RUNTIME_STATE_H

#include "base/map.h"
#include "base/task.h"
#include "network/cni_invoker.h"
#include "runtime/cgroup.h"
#include "runtime/images/image_store.h"
#include "runtime/shim_client.h"

struct sandbox;
struct container;
struct runtime;

/* Tells whoever wants to know (GetContainerEvents) what has happened to a container, or to a sandbox (container NULL). */
typedef void runtime_event_fn(void *arg, struct sandbox *sandbox, struct container *container, int32_t type);

struct runtime {
    struct arena *arena;
    struct str root, netns_directory;
    struct cni_invoker network;
    struct cgroup_machine machine;
    struct image_store *images;
    struct str hostname;
    struct str oci_runtimes; /* oci_runtimes.h */
    int spawner;        /* spawner.h */
    bool has_apparmor;
    struct map sandboxes, containers; /* by ID */
    struct streaming *streaming;      /* streaming.h */
    struct map filters;               /* seccomp filters made before: struct filter by what they were made of */
    runtime_event_fn *on_event;       /* NULL: nobody wants to know */
    void *on_event_arg;
    struct link subscribers;          /* of GetContainerEvents (service_events.c) */
    /* The kubelet has learned the node's pod CIDR; NULL: the network is configured otherwise. */
    struct status *(*on_pod_cidr)(void *arg, struct str pod_cidr);
    void *on_pod_cidr_arg;
};

struct sandbox {
    struct runtime *runtime;
    unsigned refs;
    struct arena *arena;  /* of the record as it was read or first made */
    struct shim_sandbox_record record;
    struct str directory; /* NUL-terminated */
    struct shim_client *shim; /* NULL: nothing runs */
    uint32_t pause_pid;   /* 0: not running */
    struct task_lock lock; /* one who changes it at a time */
    bool is_removed;
    struct link execs;    /* struct exec_wait */
};

struct container {
    struct runtime *runtime;
    unsigned refs;
    struct sandbox *sandbox; /* counted */
    struct arena *arena;
    struct shim_container_record record;
    struct shim_process process; /* record.process points here once it has been started */
    struct str directory;
    struct task_lock lock; /* one who changes it at a time; taken after the sandbox's */
    struct cond ended;
    bool is_removed;
    int64_t cpu_usage, cpu_usage_at; /* when it was last looked at, for usage_nano_cores */
};

/* Something executed in a container that someone waits for; on the waiter's stack. */
struct exec_wait {
    struct link link;
    struct str exec;
    struct cond *changed;
    bool is_done;
    struct shim_process process; /* texts empty */
};

/* 64 hexadecimal digits. */
struct str state_new_id(struct arena *arena);

/* A new one, in the maps, with one count for the map and one for the caller. The records are the caller's to fill, in the
 * new one's arena. Makes its directory. */
MUST_USE struct status *sandbox_new(struct runtime *runtime, struct str id, struct sandbox **ret);
MUST_USE struct status *container_new(struct runtime *runtime, struct sandbox *sandbox, struct str id,
                                      struct container **ret);
/* By ID or the unique beginning of one, counted; NOT_FOUND in containerd's words. */
MUST_USE struct status *sandbox_get(struct runtime *runtime, struct str id, struct sandbox **ret);
MUST_USE struct status *container_get(struct runtime *runtime, struct str id, struct container **ret);
/* NULL is fine. For OWNED too. */
void sandbox_unref(struct sandbox *sandbox);
void sandbox_unrefp(struct sandbox **sandbox);
void container_unref(struct container *container);
void container_unrefp(struct container **container);

MUST_USE struct status *sandbox_save(const struct sandbox *sandbox);
MUST_USE struct status *container_save(const struct container *container);
/* Takes it out of the map and removes its directory (by a worker: parks). */
void sandbox_forget(struct sandbox *sandbox);
void container_forget(struct container *container);

/* Connects to the sandbox's shim and learns what runs. NOT_FOUND when it has none. Parks. */
MUST_USE struct status *sandbox_connect(struct sandbox *sandbox);
/* Says good-bye to the shim, which goes on. */
void sandbox_disconnect(struct sandbox *sandbox);

/* Tells of an event, if anybody wants to know. container NULL: the sandbox's own. */
void state_tell(struct sandbox *sandbox, struct container *container, int32_t type);

/* Takes note that it does not run any more. */
void sandbox_set_not_ready(struct sandbox *sandbox);
/* Takes note that it has ended so. */
void container_set_ended(struct container *container, const struct shim_process *process);

/* Reads all records and connects to the shims that are left. What can't be read is logged and left alone. Parks. */
MUST_USE struct status *state_recover(struct runtime *runtime);
/* Removes what no record knows: containers and pods that were being made or removed when a runtime died. Parks. */
void state_sweep(struct runtime *runtime);
/* Forgets all in memory; on disk everything stays, and containers go on. */
void state_leave(struct runtime *runtime);

#endif
