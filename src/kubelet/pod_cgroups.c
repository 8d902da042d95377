#include "kubelet/pod_cgroups.h"

#include "base/env.h"
#include "base/trace.h"
#include "kubelet/amounts.h"

static const char *const class_paths[] = {"", "/burstable", "/besteffort"};

static struct str root_of(struct kubelet *kubelet, struct arena *arena)
{
    struct str root = kubelet->options.cgroup_root;

    return root.n <= 1 ? STR("/kubepods") : arena_printf(arena, "%.*s/kubepods", STR_ARG(root));
}

struct str pod_cgroup_name(struct kubelet *kubelet, struct arena *arena, struct str uid, enum qos_class qos)
{
    return arena_printf(arena, "%.*s%s/pod%.*s", STR_ARG(root_of(kubelet, arena)), class_paths[qos], STR_ARG(uid));
}

struct str pod_cgroup_parent(struct kubelet *kubelet, struct arena *arena, const struct core_v1_pod *pod)
{
    return kubelet->options.cgroups_per_qos ? pod_cgroup_name(kubelet, arena, pod->metadata.uid, pod_qos(pod))
                                            : STR("");
}

struct sums {
    int64_t request, limit;
    bool is_limited; /* all have a limit */
};

static void take(struct sums *sums, const struct core_v1_container *container, struct str name, bool is_cpu)
{
    int64_t limit = is_cpu ? amount_milli(&container->resources.limits, name)
                           : amount_value(&container->resources.limits, name);
    int64_t request = is_cpu ? amount_milli(&container->resources.requests, name)
                             : amount_value(&container->resources.requests, name);

    sums->request += amount_has(&container->resources.requests, name) ? request : limit;
    sums->limit += limit;
    sums->is_limited = sums->is_limited && limit > 0;
}

/* What the pod may use at once: its containers and sidecars together, or an init container beside the sidecars before
 * it, whichever is more. */
static struct sums sum_up(const struct core_v1_pod *pod, struct str name, bool is_cpu)
{
    struct sums running = {.is_limited = true}, most = {.is_limited = true};

    LIST_EACH (container, &pod->spec.init_containers) {
        struct sums one = running;

        take(&one, container, name, is_cpu);
        if (container_is_sidecar(container)) {
            running = one;
        }
        most.request = MAX(most.request, one.request);
        most.limit = MAX(most.limit, one.limit);
        most.is_limited = most.is_limited && one.is_limited;
    }
    LIST_EACH (container, &pod->spec.containers) {
        take(&running, container, name, is_cpu);
    }
    most.request = MAX(most.request, running.request);
    most.limit = MAX(most.limit, running.limit);
    most.is_limited = most.is_limited && running.is_limited;
    if (pod->spec.resources != NULL) {
        int64_t limit = is_cpu ? amount_milli(&pod->spec.resources->limits, name)
                               : amount_value(&pod->spec.resources->limits, name);
        int64_t request = is_cpu ? amount_milli(&pod->spec.resources->requests, name)
                                 : amount_value(&pod->spec.resources->requests, name);

        most.limit = limit > 0 ? limit : most.limit;
        most.is_limited = limit > 0 || most.is_limited;
        most.request = request > 0 ? request : most.request;
    }
    int64_t overhead = is_cpu ? amount_milli(&pod->spec.overhead, name) : amount_value(&pod->spec.overhead, name);

    most.request += overhead;
    most.limit += overhead;
    return most;
}

void pod_cgroup_limits(const struct core_v1_pod *pod, const struct kubelet_options *options,
                       struct host_cgroup_limits *ret)
{
    struct sums cpu = sum_up(pod, STR("cpu"), true), memory = sum_up(pod, STR("memory"), false);
    int64_t period = options->cpu_cfs_quota_period / ENV_US;
    enum qos_class qos = pod_qos(pod);

    *ret = (struct host_cgroup_limits){
        .cpu_shares = qos == QOS_BEST_EFFORT ? 2 : qos_cpu_shares(cpu.request),
        .pids = options->pod_pids_limit > 0 ? options->pod_pids_limit : 0,
    };
    if (cpu.is_limited && options->cpu_cfs_quota) {
        ret->cpu_period_us = period;
        ret->cpu_quota_us = qos_cpu_quota(cpu.limit, period);
    }
    if (memory.is_limited) {
        ret->memory_bytes = memory.limit;
    }
}

struct status *node_cgroups_make(struct kubelet *kubelet)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str root = root_of(kubelet, arena);
    struct host_cgroup_limits limits = {
        .cpu_shares = qos_cpu_shares(amount_milli(&kubelet->allocatable, STR("cpu"))),
        .memory_bytes = amount_value(&kubelet->allocatable, STR("memory")),
    };

    if (!kubelet->options.cgroups_per_qos) {
        return NULL;
    }
    TRY(host_cgroup_apply(kubelet->host, arena_cstr(arena, root), &limits));
    limits = (struct host_cgroup_limits){.cpu_shares = 2};
    for (enum qos_class qos = QOS_BURSTABLE; qos <= QOS_BEST_EFFORT; qos++) {
        TRY(host_cgroup_apply(kubelet->host,
                              arena_printf(arena, "%.*s%s", STR_ARG(root), class_paths[qos]).p, &limits));
    }
    return NULL;
}

struct status *pod_cgroup_make(struct kubelet *kubelet, const struct core_v1_pod *pod)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct host_cgroup_limits limits;
    int64_t from = env_wall();

    if (!kubelet->options.cgroups_per_qos) {
        kubelet_trace_pod(pod, TRACE_QOS_CGROUP, TRACE_SKIPPED, from, "--cgroups-per-qos is off");
        return NULL;
    }
    pod_cgroup_limits(pod, &kubelet->options, &limits);
    struct str name = pod_cgroup_parent(kubelet, arena, pod);
    struct status *error = host_cgroup_apply(kubelet->host, name.p, &limits);

    kubelet_trace_pod(pod, TRACE_QOS_CGROUP, error == NULL ? TRACE_OK : TRACE_FAILED, from, "%s: %.*s",
                      qos_class_name(pod_qos(pod)), STR_ARG(error == NULL ? name : error->message));
    if (error != NULL) {
        pod_event(kubelet, pod, "Warning", "FailedCreatePodContainer", "unable to ensure pod container exists: %.*s",
                  STR_ARG(error->message));
    }
    return error;
}

struct status *pod_cgroup_update(struct kubelet *kubelet, const struct core_v1_pod *pod)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct host_cgroup_limits limits;

    if (!kubelet->options.cgroups_per_qos) {
        return NULL;
    }
    pod_cgroup_limits(pod, &kubelet->options, &limits);
    return host_cgroup_apply(kubelet->host, arena_cstr(arena, pod_cgroup_parent(kubelet, arena, pod)), &limits);
}

struct status *pod_cgroup_remove(struct kubelet *kubelet, struct str uid)
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (enum qos_class qos = QOS_GUARANTEED; kubelet->options.cgroups_per_qos && qos <= QOS_BEST_EFFORT; qos++) {
        TRY(host_cgroup_remove(kubelet->host, pod_cgroup_name(kubelet, arena, uid, qos).p));
    }
    return NULL;
}
