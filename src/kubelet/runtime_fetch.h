/* Reads pods from the container runtime. */
#ifndef KUBELET_RUNTIME_FETCH_H
#define KUBELET_RUNTIME_FETCH_H

#include "kubelet/context.h"
#include "kubelet/runtime_pod.h"

/* Labels and annotations by which the kubelet knows its sandboxes and containers again. */
#define LABEL_POD_NAME STR("io.kubernetes.pod.name")
#define LABEL_POD_NAMESPACE STR("io.kubernetes.pod.namespace")
#define LABEL_POD_UID STR("io.kubernetes.pod.uid")
#define LABEL_CONTAINER_NAME STR("io.kubernetes.container.name")
#define ANNOTATION_HASH STR("io.kubernetes.container.hash")
#define ANNOTATION_RESTART_COUNT STR("io.kubernetes.container.restartCount")
#define ANNOTATION_MESSAGE_PATH STR("io.kubernetes.container.terminationMessagePath")
#define ANNOTATION_MESSAGE_POLICY STR("io.kubernetes.container.terminationMessagePolicy")
#define ANNOTATION_GRACE STR("io.kubernetes.pod.terminationGracePeriod")

/* Everything of one pod. Parks. */
MUST_USE struct status *runtime_pod_fetch(struct kubelet *kubelet, struct str uid, struct arena *arena,
                                          struct runtime_pod *ret);

/* One sandbox or container of a listing: enough to see that something changed. */
struct runtime_item {
    struct str id, pod_uid, pod_name, pod_namespace, name; /* name: of a container; empty for a sandbox */
    struct str sandbox_id, image_ref, image;
    enum runtime_state state; /* a sandbox that is ready is running, else exited */
    int64_t created_at;
    int64_t grace_seconds;
};

struct runtime_items {
    struct runtime_item *items;
    size_t len;
};

/* All sandboxes and containers of the node that have a pod's UID. Parks. */
MUST_USE struct status *runtime_list(struct kubelet *kubelet, struct arena *arena, struct runtime_items *ret_sandboxes,
                                     struct runtime_items *ret_containers);

#endif
