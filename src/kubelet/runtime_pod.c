#include "kubelet/runtime_pod.h"

#include <stdlib.h>

const struct runtime_container *runtime_pod_find(const struct runtime_pod *pod, struct str name)
{
    LIST_EACH (container, &pod->containers) {
        if (str_eq(container->name, name)) {
            return container;
        }
    }
    return NULL;
}

const struct runtime_container *runtime_pod_find_active(const struct runtime_pod *pod, struct str name)
{
    LIST_EACH (container, &pod->containers) {
        if (pod->sandboxes.len > 0 && str_eq(container->name, name) &&
            str_eq(container->sandbox_id, pod->sandboxes.items[0].id)) {
            return container;
        }
    }
    return NULL;
}

const struct runtime_container *runtime_pod_find_id(const struct runtime_pod *pod, struct str id)
{
    LIST_EACH (container, &pod->containers) {
        if (str_eq(container->id, id)) {
            return container;
        }
    }
    return NULL;
}

bool runtime_pod_is_running(const struct runtime_pod *pod)
{
    LIST_EACH (container, &pod->containers) {
        if (container->state == RUNTIME_RUNNING) {
            return true;
        }
    }
    LIST_EACH (sandbox, &pod->sandboxes) {
        if (sandbox->is_ready) {
            return true;
        }
    }
    return false;
}

const char *runtime_state_name(enum runtime_state state)
{
    static const char *const names[] = {"created", "running", "exited", "unknown"};

    return names[state];
}

static int compare_sandboxes(const void *a, const void *b)
{
    const struct runtime_sandbox *left = a, *right = b;

    if (left->created_at != right->created_at) {
        return left->created_at > right->created_at ? -1 : 1;
    }
    return left->attempt == right->attempt ? str_cmp(left->id, right->id) : left->attempt > right->attempt ? -1 : 1;
}

static int compare_containers(const void *a, const void *b)
{
    const struct runtime_container *left = a, *right = b;

    if (left->created_at != right->created_at) {
        return left->created_at > right->created_at ? -1 : 1;
    }
    return left->restart_count == right->restart_count ? str_cmp(left->id, right->id)
           : left->restart_count > right->restart_count ? -1
                                                         : 1;
}

void runtime_pod_sort(struct runtime_pod *pod)
{
    if (pod->sandboxes.len > 1) {
        qsort(pod->sandboxes.items, pod->sandboxes.len, sizeof(*pod->sandboxes.items), compare_sandboxes);
    }
    if (pod->containers.len > 1) {
        qsort(pod->containers.items, pod->containers.len, sizeof(*pod->containers.items), compare_containers);
    }
}
