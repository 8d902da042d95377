#include "sim/checker.h"

#include "api/kinds.h"
#include "api/pod_condition.h"
#include "base/env.h"
#include "base/map.h"
#include "base/mem.h"
#include "schema/timestamp.h"
#include "sim/convergence.h"
#include "sim/ownership.h"
#include "sim/sim.h"
#include "sim/workload.h"

#include <stdlib.h>

#define KNOWN_WITHIN (20 * ENV_SECOND)

/* What is remembered of a Deployment since it last was as asked for. */
struct window {
    int32_t most, least; /* replicas asked for */
    int32_t disturbed;   /* pods that users took away, or that ceased to be ready by themselves */
};

/* The most pods a ReplicaSet wanted since it last had no more than it wanted. */
struct set_window {
    int32_t most;
};

struct checker {
    struct sim *sim;
    struct history *history;
    struct map windows;   /* UID of a Deployment -> struct window */
    struct map set_windows; /* UID of a ReplicaSet -> struct set_window */
    struct map doomed;    /* UIDs of pods that users delete */
    struct arena *kept;   /* of the maps' values */
};

static void changed(void *arg, const struct history_object *old, const struct history_object *new, int64_t revision);

struct checker *checker_new(struct sim *sim, struct history *history)
{
    struct checker *checker = MEM_NEW(struct checker);

    checker->sim = sim;
    checker->history = history;
    checker->kept = arena_new();
    history_on_change(history, changed, checker);
    return checker;
}

void checker_free(struct checker *checker)
{
    map_done(&checker->windows);
    map_done(&checker->set_windows);
    map_done(&checker->doomed);
    arena_free(checker->kept);
    free(checker);
}

void checker_expect_deletion(struct checker *checker, struct str pod_uid)
{
    map_set(&checker->doomed, pod_uid, checker);
}

bool checker_has_converged(struct checker *checker, char *why, size_t why_size)
{
    return convergence_reached(checker->sim, checker->history, why, why_size);
}

/* What holds of every object. */
static void judge_object(struct checker *checker, const struct object *old, const struct object *new)
{
    const struct meta_v1_owner_reference *controller = NULL;

    LIST_EACH(owner, &new->metadata.owner_references)
    {
        if (owner->controller == NULL || !*owner->controller) {
            continue;
        }
        if (controller != NULL) {
            sim_blame(checker->sim, "%.*s is controlled by %.*s and %.*s", STR_ARG(new->metadata.name),
                      STR_ARG(controller->name), STR_ARG(owner->name));
        }
        controller = owner;
    }
    if (old != NULL && !str_eq(old->metadata.uid, new->metadata.uid)) {
        sim_blame(checker->sim, "%.*s became another object without being deleted", STR_ARG(new->metadata.name));
    }
    if (old != NULL && old->metadata.deletion_timestamp != NULL && new->metadata.deletion_timestamp == NULL) {
        sim_blame(checker->sim, "%.*s was being deleted and no longer is", STR_ARG(new->metadata.name));
    }
}

static struct window *window_of(struct checker *checker, const struct apps_v1_deployment *deployment)
{
    struct window *window = map_find(&checker->windows, deployment->metadata.uid);
    int32_t replicas = *deployment->spec.replicas;

    if (window == NULL) {
        window = ARENA_NEW(checker->kept, struct window);
        *window = (struct window){replicas, replicas, 0};
        map_set(&checker->windows, deployment->metadata.uid, window);
    }
    window->most = MAX(window->most, replicas);
    window->least = MIN(window->least, replicas);
    return window;
}

static void judge_most(struct checker *checker, const struct apps_v1_deployment *deployment, const struct window *window,
                       const struct tally *tally)
{
    int32_t surge = tally_bound(deployment, true, window->most);

    if (tally->wanted > window->most + surge) {
        sim_blame(checker->sim, "the ReplicaSets of %.*s want %d pods, of %d and %d more at most",
                  STR_ARG(deployment->metadata.name), tally->wanted, window->most, surge);
    }
}

/* A ready pod was taken away by no user. Resizing takes pods away whether ready or not. */
static void judge_least(struct checker *checker, const struct apps_v1_deployment *deployment,
                        const struct window *window, const struct tally *tally)
{
    if (!str_is(deployment->spec.strategy.type, "RollingUpdate") || window->most != window->least ||
        deployment->metadata.deletion_timestamp != NULL) {
        return;
    }
    int32_t least = window->least - tally_bound(deployment, false, window->least) - window->disturbed;

    if (tally->ready < least) {
        sim_blame(checker->sim, "a rolling update of %.*s left %d ready pods, of %d at least",
                  STR_ARG(deployment->metadata.name), tally->ready, least);
    }
}

/* Looks at a Deployment after a change of its own, of its sets, or of one of its pods. */
static void judge_deployment(struct checker *checker, const struct apps_v1_deployment *deployment, bool took_ready)
{
    struct window *window = window_of(checker, deployment);
    struct tally tally = tally_of(checker->history, deployment);

    judge_most(checker, deployment, window, &tally);
    if (took_ready) {
        judge_least(checker, deployment, window, &tally);
    }
    if (tally_is_as_asked(deployment) && tally.active == *deployment->spec.replicas && tally.ready == tally.active) {
        *window = (struct window){*deployment->spec.replicas, *deployment->spec.replicas, 0};
    }
}

static void judge_set(struct checker *checker, const struct apps_v1_replica_set *set)
{
    struct set_window *window = map_find(&checker->set_windows, set->metadata.uid);
    const struct meta_v1_owner_reference *owner = controller_of((const struct object *)set);
    const struct object *deployment =
        owner != NULL ? object_by_uid(checker->history, &apps_v1_deployment_kind, owner->uid) : NULL;
    int32_t wanted = *set->spec.replicas;
    bool is_settled = set->status.observed_generation == set->metadata.generation && set->status.replicas <= wanted;

    if (window == NULL) {
        window = ARENA_NEW(checker->kept, struct set_window);
        map_set(&checker->set_windows, set->metadata.uid, window);
    }
    window->most = is_settled ? wanted : MAX(window->most, wanted);
    if (deployment != NULL) {
        judge_deployment(checker, (const void *)deployment, false);
    }
}

static void judge_new_pod(struct checker *checker, const struct core_v1_pod *pod,
                          const struct apps_v1_deployment *deployment)
{
    struct str set_uid = controller_of((const struct object *)pod)->uid;
    const struct set_window *window = map_find(&checker->set_windows, set_uid);
    int32_t count = pods_of_set(checker->history, set_uid), others;

    if (window != NULL && count > window->most) {
        sim_blame(checker->sim, "pod %.*s is one of %d of its set, which wanted %d at most", STR_ARG(pod->metadata.name),
                  count, window->most);
    }
    if (str_is(deployment->spec.strategy.type, "Recreate") &&
        (others = pods_of_other_sets(checker->history, deployment, set_uid)) > 0) {
        sim_blame(checker->sim, "pod %.*s came while %d old ones were there", STR_ARG(pod->metadata.name), others);
    }
}

/* Decisions go by what was known a while ago: a pod that has just become ready may be taken for one that is not. */
static bool was_ready_for_long(const struct core_v1_pod *pod)
{
    const struct core_v1_pod_condition *ready = pod_condition_find(&pod->status, STR("Ready"));

    return ready != NULL && env_wall() - timestamp_nanos(ready->last_transition_time) > KNOWN_WITHIN;
}

static void judge_placement(struct checker *checker, const struct core_v1_pod *old, const struct core_v1_pod *new)
{
    bool is_bound = new != NULL && new->spec.node_name.n > 0;

    if (old != NULL && new != NULL && old->spec.node_name.n > 0 && !str_eq(old->spec.node_name, new->spec.node_name)) {
        sim_blame(checker->sim, "pod %.*s moved from %.*s to %.*s", STR_ARG(new->metadata.name),
                  STR_ARG(old->spec.node_name), STR_ARG(new->spec.node_name));
    }
    if (is_bound && (old == NULL || old->spec.node_name.n == 0)) {
        int64_t cpu = cpu_on_node(checker->history, new->spec.node_name);

        if (cpu > SIM_NODE_CPUS * 1000) {
            sim_blame(checker->sim, "pod %.*s was put on %.*s, whose pods ask for %lldm of %d CPUs",
                      STR_ARG(new->metadata.name), STR_ARG(new->spec.node_name), (long long)cpu, SIM_NODE_CPUS);
        }
    }
    const struct node *node = new == NULL ? map_find(checker->sim->pods_running, old->metadata.uid) : NULL;

    if (node != NULL) {
        sim_blame(checker->sim, "pod %.*s is gone while it runs on %s", STR_ARG(old->metadata.name), node->name);
    }
}

/* Pods that have finished don't count, those that are being deleted do. */
static void judge_quota(struct checker *checker, const struct core_v1_pod *pod)
{
    const struct history_object *object;
    int count = 0, quotas = 0;

    for (size_t at = 0; (object = history_next(checker->history, &at)) != NULL;) {
        const struct core_v1_pod *other = (const void *)object->object;

        quotas += object->kind == &core_v1_resource_quota_kind;
        count += object->kind == &core_v1_pod_kind && !str_is(other->status.phase, "Failed") &&
                 !str_is(other->status.phase, "Succeeded");
    }
    if (quotas > 0 && count > WORKLOAD_PODS_MAX) {
        sim_blame(checker->sim, "pod %.*s is one of %d, of %d that the quota allows", STR_ARG(pod->metadata.name), count,
                  WORKLOAD_PODS_MAX);
    }
}

static void judge_pod(struct checker *checker, const struct core_v1_pod *old, const struct core_v1_pod *new)
{
    const struct apps_v1_deployment *deployment = deployment_of_pod(checker->history, new != NULL ? new : old);
    bool was_ready = old != NULL && pod_counts(old) && pod_counts_ready(old);
    bool is_ready = new != NULL && pod_counts(new) && pod_counts_ready(new);
    bool is_taken = new == NULL || new->metadata.deletion_timestamp != NULL;

    judge_placement(checker, old, new);
    if (old == NULL) {
        judge_quota(checker, new);
    }
    if (deployment == NULL) {
        return;
    }
    if (old == NULL) {
        judge_new_pod(checker, new, deployment);
    }
    bool was_lost = was_ready && !is_ready && (!is_taken || map_find(&checker->doomed, old->metadata.uid) != NULL);

    if (was_lost) {
        window_of(checker, deployment)->disturbed++;
    }
    judge_deployment(checker, deployment, was_ready && !is_ready && !was_lost && was_ready_for_long(old));
}

static void changed(void *arg, const struct history_object *old, const struct history_object *new, int64_t revision)
{
    struct checker *checker = arg;
    const struct kind *kind = new != NULL ? new->kind : old->kind;
    const void *before = old != NULL ? old->object : NULL, *after = new != NULL ? new->object : NULL;

    (void)revision;
    if (after != NULL) {
        judge_object(checker, before, after);
    }
    if (kind == &core_v1_pod_kind) {
        judge_pod(checker, before, after);
    } else if (kind == &apps_v1_replica_set_kind && after != NULL) {
        judge_set(checker, after);
    } else if (kind == &apps_v1_deployment_kind && after != NULL) {
        judge_deployment(checker, after, false);
    }
}
