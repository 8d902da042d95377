#include "sim/describe.h"

#include "api/kinds.h"
#include "sim/ownership.h"

static struct str describe_pod(struct arena *arena, const struct core_v1_pod *pod)
{
    int32_t restarts = 0;

    LIST_EACH(container, &pod->status.container_statuses)
    {
        restarts += container->restart_count;
    }
    return arena_printf(arena, "%.*s%s%s on %.*s, %d restarts", STR_ARG(pod->status.phase),
                        pod_counts_ready(pod) ? ", ready" : "", pod->metadata.deletion_timestamp != NULL ? ", deleting" : "",
                        STR_ARG(pod->spec.node_name), restarts);
}

static struct str describe_set(struct arena *arena, const struct apps_v1_replica_set *set)
{
    return arena_printf(arena, "%d wanted, %d there, %d ready, generation %lld of %lld%s", *set->spec.replicas,
                        set->status.replicas, set->status.ready_replicas, (long long)set->status.observed_generation,
                        (long long)set->metadata.generation,
                        set->metadata.deletion_timestamp != NULL ? ", deleting" : "");
}

static struct str describe_deployment(struct arena *arena, const struct apps_v1_deployment *deployment)
{
    return arena_printf(arena,
                        "%d wanted, %d there, %d ready, %d new, generation %lld of %lld, %.*s, %d more and %d less, %.*s%s",
                        *deployment->spec.replicas, deployment->status.replicas, deployment->status.ready_replicas,
                        deployment->status.updated_replicas, (long long)deployment->status.observed_generation,
                        (long long)deployment->metadata.generation, STR_ARG(deployment->spec.strategy.type),
                        tally_bound(deployment, true, *deployment->spec.replicas),
                        tally_bound(deployment, false, *deployment->spec.replicas),
                        STR_ARG(deployment->spec.template.spec.containers.items[0].image),
                        deployment->metadata.deletion_timestamp != NULL ? ", deleting" : "");
}

struct str describe(struct arena *arena, const struct history_object *object)
{
    const void *typed = object->object;

    return object->kind == &core_v1_pod_kind              ? describe_pod(arena, typed)
           : object->kind == &apps_v1_replica_set_kind    ? describe_set(arena, typed)
           : object->kind == &apps_v1_deployment_kind     ? describe_deployment(arena, typed)
                                                          : (struct str){0};
}
