/* What the scheduler knows of nodes and the pods on them, kept up to date by the informers' changes.
 *
 * A pod counts against a node from the moment the scheduler has assumed it there, before the API server shows the
 * binding. Numbers are milli-CPUs, bytes and counts. On the scheduler's thread; objects are held by reference. */
#ifndef SCHEDULER_SNAPSHOT_H
#define SCHEDULER_SNAPSHOT_H

#include "api/core_v1.h"
#include "base/arena.h"
#include "client/informer.h"

enum { RESOURCES_SCALAR_MAX = 16 };

struct resources {
    int64_t milli_cpu, memory, ephemeral_storage;
    struct {
        struct str name; /* borrowed from the object it was read from */
        int64_t amount;
    } scalars[RESOURCES_SCALAR_MAX];
    size_t scalar_count;
};

/* A pod as the scheduler sees it: its requests summed once. */
struct pod_info {
    struct cached *held; /* keeps `pod` alive; NULL in tests */
    const struct core_v1_pod *pod;
    struct resources requests;         /* max(sum of containers, init containers) + overhead */
    int64_t score_milli_cpu, score_memory; /* the same, with 100m and 200 MiB for containers that ask for nothing */
};

struct node_info {
    struct cached *held;
    const struct core_v1_node *node; /* NULL while only pods are known */
    struct str name; /* the snapshot's own */
    struct resources allocatable, requested;
    int64_t score_milli_cpu, score_memory;
    int64_t allowed_pods;
    struct pod_info **pods;
    size_t pod_count, pod_cap;
};

struct snapshot;

struct snapshot *snapshot_new(void);
void snapshot_free(struct snapshot *snapshot);

/* A node appeared or changed, or is gone. Takes the reference. */
void snapshot_set_node(struct snapshot *snapshot, struct cached *node);
void snapshot_remove_node(struct snapshot *snapshot, struct str name);
/* A pod that has a node and is not finished: put on it, replacing what was known under its UID. Takes the reference. */
void snapshot_set_pod(struct snapshot *snapshot, struct cached *pod);
void snapshot_remove_pod(struct snapshot *snapshot, struct str uid);
/* The pod counts on that node until snapshot_set_pod() or snapshot_remove_pod() says otherwise. Takes the reference. */
void snapshot_assume(struct snapshot *snapshot, struct cached *pod, struct str node_name);

/* It counts on some node. */
bool snapshot_has_pod(const struct snapshot *snapshot, struct str uid);

/* Nodes that exist, in the order they came. Borrowed until the next change. */
struct node_list {
    const struct node_info **items;
    size_t len;
};
struct node_list snapshot_nodes(const struct snapshot *snapshot, struct arena *arena);
const struct node_info *snapshot_find_node(const struct snapshot *snapshot, struct str name);

/* Namespaces, for selectors of them. Takes the reference. */
void snapshot_set_namespace(struct snapshot *snapshot, struct cached *namespace);
void snapshot_remove_namespace(struct snapshot *snapshot, struct str name);
/* NULL when it is not known. */
const struct str_map *snapshot_namespace_labels(const struct snapshot *snapshot, struct str namespace);

/* A node of one's own to try things on, in the arena; pods taken off count no more. */
struct node_info *node_info_copy(struct arena *arena, const struct node_info *node);
void node_info_add(struct node_info *copy, struct pod_info *pod);
void node_info_remove(struct node_info *copy, const struct pod_info *pod);

/* Sums a pod's requests; for tests and for the pod to be scheduled. `held` is not taken. */
void pod_info_of(const struct core_v1_pod *pod, struct pod_info *ret);
void resources_of(const struct quantity_map *map, struct resources *ret);
int64_t resources_scalar(const struct resources *resources, struct str name);

#endif
