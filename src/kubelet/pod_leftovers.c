#include "kubelet/pod_leftovers.h"

#include "kubelet/context.h"
#include "kubelet/pod_cgroups.h"
#include "kubelet/volumes/volumes.h"

static struct status *release(struct kubelet *kubelet, struct str uid)
{
    TRY(volumes_unmount(kubelet, uid));
    return pod_cgroup_remove(kubelet, uid);
}

struct status *pod_leftovers_release(struct host *host, struct str root_dir, struct str cgroup_root)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct kubelet kubelet = {.host = host};
    struct host_names names = {0};
    struct status *first = NULL;

    kubelet.options.root_dir = root_dir;
    kubelet.options.cgroup_root = cgroup_root;
    kubelet.options.cgroups_per_qos = true;
    TRY(host_list(host, arena_printf(arena, "%.*s/pods", STR_ARG(root_dir)).p, arena, &names));
    LIST_EACH (uid, &names) {
        struct status *error = release(&kubelet, *uid);

        if (first == NULL) {
            first = TAKE(error);
        }
        status_free(error);
    }
    return first;
}
