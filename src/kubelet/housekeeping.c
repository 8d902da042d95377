#include "kubelet/housekeeping.h"

#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "kubelet/mirror_pods.h"
#include "kubelet/pod_cgroups.h"
#include "kubelet/pod_source.h"
#include "kubelet/pod_workers.h"
#include "kubelet/runtime_fetch.h"
#include "kubelet/volumes/volumes.h"

#include <stdlib.h>

/* Nothing is left behind while all goes well, so looking seldom is enough; after an error sooner. */
#define PERIOD (300 * ENV_SECOND)
#define RETRY (10 * ENV_SECOND)

struct housekeeping {
    struct kubelet *kubelet;
    struct cond wanted;
    bool is_wanted;
};

struct housekeeping *housekeeping_new(struct kubelet *kubelet)
{
    struct housekeeping *housekeeping = MEM_NEW(struct housekeeping);

    housekeeping->kubelet = kubelet;
    cond_init(&housekeeping->wanted);
    return housekeeping;
}

void housekeeping_free(struct housekeeping *housekeeping)
{
    free(housekeeping);
}

void housekeeping_wake(struct housekeeping *housekeeping)
{
    housekeeping->is_wanted = true;
    cond_broadcast(&housekeeping->wanted);
}

static void adopt(struct kubelet *kubelet, const struct runtime_items *items)
{
    LIST_EACH (item, items) {
        if (!pod_workers_has(kubelet->workers, item->pod_uid)) {
            log_info("pod %.*s/%.*s (%.*s) runs here but is not known any more: stopping it",
                     STR_ARG(item->pod_namespace), STR_ARG(item->pod_name), STR_ARG(item->pod_uid));
            pod_workers_orphan(kubelet->workers, item->pod_uid, item->pod_name, item->pod_namespace);
        }
    }
}

/* The pod's directory is the last that goes, so it tells what else may be left: its cgroup is not looked for, since
 * other kubelets may share the machine. */
static struct status *sweep_directories(struct kubelet *kubelet, struct arena *arena)
{
    struct host_names names = {0};

    TRY(host_list(kubelet->host, arena_printf(arena, "%.*s/pods", STR_ARG(kubelet->options.root_dir)).p, arena,
                  &names));
    LIST_EACH (uid, &names) {
        if (!pod_workers_has(kubelet->workers, *uid)) {
            TRY(pod_cgroup_remove(kubelet, *uid));
            TRY(volumes_tear_down(kubelet, *uid));
        }
    }
    return NULL;
}

static struct status *sweep(struct kubelet *kubelet)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct runtime_items sandboxes, containers;

    TRY(runtime_list(kubelet, arena, &sandboxes, &containers));
    adopt(kubelet, &sandboxes);
    adopt(kubelet, &containers);
    TRY(sweep_directories(kubelet, arena));
    return mirror_pods_sweep(kubelet->mirrors);
}

static void housekeeping_task(void *arg)
{
    struct housekeeping *housekeeping = arg;
    struct kubelet *kubelet = housekeeping->kubelet;

    while (!task_is_cancelled()) {
        int64_t period = PERIOD;

        housekeeping->is_wanted = false;
        if (pod_source_is_synced(kubelet->source)) {
            struct status *error = sweep(kubelet);

            if (error != NULL) {
                log_debug("looking for what pods left behind: %.*s", STR_ARG(error->message));
                period = RETRY;
            }
            status_free(error);
        }
        if (!housekeeping->is_wanted) {
            cond_wait(&housekeeping->wanted, env_mono() + period);
        }
    }
}

void housekeeping_start(struct housekeeping *housekeeping)
{
    task_group_spawn(&housekeeping->kubelet->tasks, "housekeeping", housekeeping_task, housekeeping);
}
