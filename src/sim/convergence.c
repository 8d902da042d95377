#include "sim/convergence.h"

#include "api/kinds.h"
#include "base/map.h"
#include "sim/endpoints.h"
#include "sim/ownership.h"
#include "sim/sim.h"
#include "sim/witness.h"

#include <stdarg.h>
#include <stdio.h>

struct look {
    const struct sim *sim;
    const struct history *history;
    char *why;
    size_t why_size;
};

static bool says(struct look *look, const char *format, ...) PRINTF_LIKE(2, 3);

static bool says(struct look *look, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(look->why, look->why_size, format, args);
    va_end(args);
    return false;
}

static bool deployment_converged(struct look *look, const struct apps_v1_deployment *deployment)
{
    struct tally tally = tally_of(look->history, deployment);

    if (!tally_is_as_asked(deployment) || tally.ready != *deployment->spec.replicas || tally.active != tally.ready) {
        return says(look, "%.*s: %d wanted, %d there, %d ready; status: %d updated, %d available, generation %lld of %lld",
                    STR_ARG(deployment->metadata.name), *deployment->spec.replicas, tally.active, tally.ready,
                    deployment->status.updated_replicas, deployment->status.available_replicas,
                    (long long)deployment->status.observed_generation, (long long)deployment->metadata.generation);
    }
    return true;
}

/* An owner's kind is as its dependents name it; any version is as good. */
static bool exists(const struct history *history, struct str kind, struct str uid)
{
    size_t at = 0;

    for (const struct history_object *object; (object = history_next(history, &at)) != NULL;) {
        if (str_eq(object->kind->kind, kind) && str_eq(object->object->metadata.uid, uid)) {
            return true;
        }
    }
    return false;
}

static bool object_converged(struct look *look, const struct history_object *object)
{
    const struct meta_v1_object_meta *meta = &object->object->metadata;
    bool is_orphan = meta->owner_references.len > 0;

    if (meta->deletion_timestamp != NULL) {
        return says(look, "%.*s is being deleted and is still there", STR_ARG(object->key));
    }
    LIST_EACH(owner, &meta->owner_references)
    {
        is_orphan = is_orphan && !exists(look->history, owner->kind, owner->uid);
    }
    if (is_orphan) {
        return says(look, "%.*s has lost its owner and is still there", STR_ARG(object->key));
    }
    if (object->kind == &apps_v1_deployment_kind) {
        return deployment_converged(look, (const void *)object->object);
    }
    if (object->kind == &core_v1_service_kind && str_has_prefix(meta->name, STR("app-"))) {
        return endpoints_right(look->history, object->object, look->why, look->why_size);
    }
    return true;
}

static bool pod_runs(struct look *look, const struct core_v1_pod *pod)
{
    const struct node *node = map_find(look->sim->pods_running, pod->metadata.uid);

    if (node == NULL || !str_is(pod->spec.node_name, node->name)) {
        return says(look, "pod %.*s of %.*s runs on %s", STR_ARG(pod->metadata.name), STR_ARG(pod->spec.node_name),
                    node != NULL ? node->name : "no node");
    }
    return true;
}

static bool nodes_converged(struct look *look)
{
    size_t at = 0, pods = 0, running = 0;

    for (const struct history_object *object; (object = history_next(look->history, &at)) != NULL;) {
        if (object->kind == &core_v1_pod_kind && pod_counts((const void *)object->object)) {
            pods++;
            if (!pod_runs(look, (const void *)object->object)) {
                return false;
            }
        }
    }
    for (size_t i = 0; i < look->sim->node_count; i++) {
        running += fake_runtime_running(look->sim->nodes[i].runtime);
    }
    return running == pods || says(look, "%zu sandboxes run for %zu pods", running, pods);
}

bool convergence_reached(const struct sim *sim, const struct history *history, char *why, size_t why_size)
{
    struct look look = {sim, history, why, why_size};
    size_t at = 0;

    if (sim->server == NULL || !history_is_current(history)) {
        return says(&look, "the API server is down");
    }
    for (const struct history_object *object; (object = history_next(history, &at)) != NULL;) {
        if (!object_converged(&look, object)) {
            return false;
        }
    }
    for (size_t i = 0; i < SIM_WITNESSES; i++) {
        if (witness_missing(sim->witnesses[i]) > 0) {
            return says(&look, "a watch has not told of %zu changes", witness_missing(sim->witnesses[i]));
        }
    }
    return nodes_converged(&look);
}
