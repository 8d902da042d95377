/* Looking at a pod's spec: its containers of all kinds, what the planner needs of it, and what its annotations say. */
#ifndef KUBELET_POD_VIEW_H
#define KUBELET_POD_VIEW_H

#include "api/core_v1.h"
#include "kubelet/pod_plan.h"
#include "kubelet/qos_values.h"

struct pod_container {
    enum plan_kind kind;
    size_t index;
    const struct core_v1_container *spec; /* of an ephemeral container: a copy of what it has in common */
};

struct pod_containers {
    struct pod_container *items;
    size_t len;
};

/* Init, regular, ephemeral, in this order. */
struct pod_containers pod_all_containers(struct arena *arena, const struct core_v1_pod *pod);
const struct core_v1_container *pod_container_at(struct arena *arena, const struct core_v1_pod *pod,
                                                 enum plan_kind kind, size_t index);
/* NULL when absent; ephemeral ones too. */
const struct core_v1_container *pod_find_container(struct arena *arena, const struct core_v1_pod *pod,
                                                   struct str name, enum plan_kind *ret_kind);
/* An init container with restartPolicy Always. */
bool container_is_sidecar(const struct core_v1_container *container);
/* What decides whether it is still the same container: name and image. */
uint64_t container_hash(const struct core_v1_container *container);
struct plan_pod plan_pod_of(struct arena *arena, const struct core_v1_pod *pod);

/* "NAME_NAMESPACE(UID)", as in messages. */
struct str pod_format(struct arena *arena, const struct core_v1_pod *pod);
/* "spec.containers{NAME}", for events. */
struct str container_field_path(struct arena *arena, enum plan_kind kind, struct str name);
struct str annotation(const struct core_v1_pod *pod, struct str key);
/* From a manifest on this node rather than from the API. */
bool pod_is_static(const struct core_v1_pod *pod);
/* The API's picture of a static pod. */
bool pod_is_mirror(const struct core_v1_pod *pod);
/* Static, mirror, or of a system priority. */
bool pod_is_critical(const struct core_v1_pod *pod);
bool pod_is_terminal(const struct core_v1_pod_status *status);
enum qos_class pod_qos(const struct core_v1_pod *pod);
/* Seconds from the spec, 30 when unset. */
int64_t pod_grace_seconds(const struct core_v1_pod *pod);

#endif
