#include "kubelet/pod_resize.h"

#include "kubelet/container_config.h"
#include "kubelet/container_kill.h"
#include "kubelet/pod_cgroups.h"
#include "kubelet/pod_status.h"
#include "schema/copy.h"
#include "schema/json.h"
#include "schema/json_lexer.h"
#include "schema/map_of.h"
#include "schema/quantity.h"

static const struct core_v1_container_status *status_of(const struct core_v1_pod_status *status,
                                                        const struct pod_container *container)
{
    return container->kind == PLAN_INIT
               ? container_status_find(status->init_container_statuses.items, status->init_container_statuses.len,
                                       container->spec->name)
               : container_status_find(status->container_statuses.items, status->container_statuses.len,
                                       container->spec->name);
}

static bool amounts_differ(const struct quantity_map *a, const struct quantity_map *b, struct str name)
{
    const struct quantity *x = quantity_map_get(a, name), *y = quantity_map_get(b, name);

    return x == NULL || y == NULL ? x != y : quantity_cmp(*x, *y) != 0;
}

static bool has_changed(const struct core_v1_resource_requirements *have,
                        const struct core_v1_resource_requirements *wanted, struct str name)
{
    return amounts_differ(&have->limits, &wanted->limits, name) ||
           amounts_differ(&have->requests, &wanted->requests, name);
}

static bool restarts_for(const struct core_v1_container *container, struct str name)
{
    LIST_EACH (policy, &container->resize_policy) {
        if (str_eq(policy->resource_name, name)) {
            return str_is(policy->restart_policy, "RestartContainer");
        }
    }
    return false;
}

void pod_resize_find(struct arena *arena, const struct core_v1_pod *pod, const struct runtime_pod *runtime,
                     const struct core_v1_pod_status *status, struct resize_changes *ret)
{
    struct pod_containers all = pod_all_containers(arena, pod);

    *ret = (struct resize_changes){0};
    LIST_EACH (container, &all) {
        const struct runtime_container *running = runtime_pod_find(runtime, container->spec->name);
        const struct core_v1_container_status *known =
            container->kind == PLAN_EPHEMERAL ? NULL : status_of(status, container);

        if (running == NULL || running->state != RUNTIME_RUNNING || known == NULL || known->resources == NULL ||
            !str_has_suffix(known->container_id, running->id)) {
            continue;
        }
        bool cpu = has_changed(known->resources, &container->spec->resources, STR("cpu"));
        bool memory = has_changed(known->resources, &container->spec->resources, STR("memory"));

        if (cpu || memory) {
            *LIST_ADD(arena, ret) = (struct resize_change){
                .spec = container->spec,
                .container = running,
                .kind = container->kind,
                .needs_restart = (cpu && restarts_for(container->spec, STR("cpu"))) ||
                                 (memory && restarts_for(container->spec, STR("memory"))),
            };
        }
    }
}

static int64_t amount_in(const struct quantity_map *map, struct str name)
{
    const struct quantity *amount = quantity_map_get(map, name);

    return amount == NULL ? 0 : str_is(name, "cpu") ? quantity_milli(*amount) : quantity_value(*amount);
}

bool pod_resize_fits(struct arena *arena, const struct pod_admission_facts *facts, struct pod_rejection *ret)
{
    static const char *const names[] = {"memory", "cpu"};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        int64_t requested = pod_request(facts->pod, str_of(names[i]));
        int64_t capacity = amount_in(facts->allocatable, str_of(names[i]));

        if (requested > capacity) {
            *ret = (struct pod_rejection){
                STR("Infeasible"),
                arena_printf(arena, "Node didn't have enough capacity: %s, requested: %lld, capacity: %lld", names[i],
                             (long long)requested, (long long)capacity)};
            return false;
        }
    }
    if (!pod_admission_fits(arena, facts, ret)) {
        ret->reason = STR("Deferred");
        return false;
    }
    return true;
}

/* {"containers":[{"name":"c","resources":{...}}],"generation":2} */
static struct str message_of(struct arena *arena, const struct core_v1_pod *pod, const char *what)
{
    OWNED(buf_done) struct buf out = {0};

    buf_printf(&out, "Pod resize %s: {\"containers\":[", what);
    LIST_EACH (container, &pod->spec.containers) {
        buf_add_str(&out, container == pod->spec.containers.items ? STR("{\"name\":") : STR(",{\"name\":"));
        json_add_string(&out, container->name);
        buf_add_str(&out, STR(",\"resources\":"));
        json_encode(&core_v1_resource_requirements_type, &container->resources, &out);
        buf_add_char(&out, '}');
    }
    buf_printf(&out, "],\"generation\":%lld}", (long long)pod->metadata.generation);
    return arena_str(arena, buf_str(&out));
}

static struct status *restart(struct kubelet *kubelet, const struct core_v1_pod *pod,
                              const struct resize_change *change, struct arena *arena)
{
    struct container_kill kill = {
        .container = change->container,
        .message = arena_printf(arena, "Container %.*s resize requires restart", STR_ARG(change->spec->name)),
        .grace_seconds = pod_grace_seconds(pod),
    };

    return container_kill(kubelet, pod, &kill);
}

static struct status *update(struct kubelet *kubelet, const struct core_v1_pod *pod,
                             const struct resize_change *change, struct arena *arena)
{
    struct container_facts facts = {
        .pod = pod,
        .container = change->spec,
        .kind = change->kind,
        .memory_capacity = kubelet->facts.memory_bytes,
        .cpu_cfs_quota = kubelet->options.cpu_cfs_quota,
        .cpu_cfs_quota_period = kubelet->options.cpu_cfs_quota_period,
    };
    struct cri_v1_update_container_resources_request request = {.container_id = change->container->id,
                                                                .linux_ = container_resources(arena, &facts)};
    struct cri_v1_update_container_resources_response *response;

    return cri_update_container_resources(kubelet->cri, &request, arena, &response);
}

struct status *pod_resize(struct kubelet *kubelet, const struct core_v1_pod *pod,
                          const struct resize_changes *changes, resize_result *result, void *arg)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str started = message_of(arena, pod, "started"), completed = message_of(arena, pod, "completed");

    pod_event(kubelet, pod, "Normal", "ResizeStarted", "%.*s", STR_ARG(started));
    /* The pod's cgroup must be wide enough before its containers grow, and can only shrink after them. */
    status_free(pod_cgroup_update(kubelet, pod));
    LIST_EACH (change, changes) {
        if (change->needs_restart) {
            TRY(restart(kubelet, pod, change, arena));
        } else {
            TRY(update(kubelet, pod, change, arena));
            result(arg, change->container->id);
        }
    }
    TRY(pod_cgroup_update(kubelet, pod));
    pod_event(kubelet, pod, "Normal", "ResizeCompleted", "%.*s", STR_ARG(completed));
    return NULL;
}
