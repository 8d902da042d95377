/* StatefulSet -> Pods with names and volumes of their own, made in order, one after the other when it says so. */
#include "controller/controllers.h"

#include "api/apps_v1.h"
#include "base/env.h"
#include "controller/controller_ref.h"
#include "controller/pod_util.h"
#include "controller/revisions.h"
#include "controller/statefulset_pod.h"
#include "schema/copy.h"
#include "schema/map_of.h"
#include "schema/object.h"
#include "schema/selectors.h"

/* One look at one StatefulSet. */
struct pass {
    const struct world *world;
    struct plan *plan;
    const struct apps_v1_stateful_set *set;
    struct revisions revisions; /* `current` is that of the template: the update revision */
    struct str current;         /* the name of the revision that pods are updated from */
    const struct core_v1_pod_template_spec *current_template;
    int32_t first, count; /* ordinals that are wanted */
    const struct core_v1_pod **replicas; /* by ordinal from `first`; NULL: missing */
    struct {
        const struct core_v1_pod **items;
        size_t len;
    } condemned, all;
    struct apps_v1_stateful_set_status status;
};

static bool is_ordered(const struct pass *pass)
{
    return !str_is(pass->set->spec.pod_management_policy, "Parallel");
}

static bool is_terminating(const struct core_v1_pod *pod)
{
    return pod->metadata.deletion_timestamp != NULL;
}

static struct str revision_of(const struct core_v1_pod *pod)
{
    return str_map_get(&pod->metadata.labels, STR(REVISION_HASH_LABEL));
}

static struct str update_revision(const struct pass *pass)
{
    return pass->revisions.current->metadata.name;
}

static bool is_available(struct pass *pass, const struct core_v1_pod *pod)
{
    int64_t wait;
    bool available = !is_terminating(pod) && str_is(pod->status.phase, "Running") &&
                     pod_is_available(pod, pass->set->spec.min_ready_seconds, pass->world->now, &wait);

    if (!available && !is_terminating(pod) && pod_is_ready(pod)) {
        plan_requeue_after(pass->plan, ENV_SECOND);
    }
    return available;
}

static void sort_pods(struct pass *pass, struct object_pointers pods)
{
    pass->replicas = ARENA_ARRAY(pass->plan->arena, const struct core_v1_pod *, (size_t)pass->count);
    for (size_t i = 0; i < pods.len; i++) {
        int32_t ordinal = statefulset_ordinal_of(pass->set, pods.items[i]);

        if (ordinal < 0) {
            continue;
        }
        *LIST_ADD(pass->plan->arena, &pass->all) = pods.items[i];
        if (ordinal >= pass->first && ordinal - pass->first < pass->count) {
            pass->replicas[ordinal - pass->first] = pods.items[i];
        } else {
            *LIST_ADD(pass->plan->arena, &pass->condemned) = pods.items[i];
        }
    }
}

static int32_t partition_of(const struct apps_v1_stateful_set *set)
{
    const struct apps_v1_rolling_update_stateful_set_strategy *rolling = set->spec.update_strategy.rolling_update;

    return rolling != NULL && rolling->partition != NULL ? *rolling->partition : 0;
}

/* A pod below the partition, or that was there before an update on hold, is made of the old template again. */
static bool is_of_old(const struct pass *pass, int32_t ordinal)
{
    if (pass->current_template == NULL || str_eq(pass->current, update_revision(pass))) {
        return false;
    }
    return str_is(pass->set->spec.update_strategy.type, "RollingUpdate")
               ? ordinal < pass->first + partition_of(pass->set) ||
                     (pass->set->spec.update_strategy.rolling_update == NULL &&
                      ordinal < pass->first + pass->set->status.current_replicas)
               : false;
}

/* The events that tell of the action just added. */
static void note(struct pass *pass, const char *verb, const char *done, const char *failed, struct str pod)
{
    struct arena *arena = pass->plan->arena;
    struct str what = arena_printf(arena, "%s Pod %.*s in StatefulSet %.*s", verb, STR_ARG(pod),
                                   STR_ARG(pass->set->metadata.name));

    plan_last(pass->plan)->note = (struct plan_note){
        .kind = &apps_v1_stateful_set_kind,
        .about = pass->set,
        .done_reason = done,
        .done_format = arena_printf(arena, "%.*s successful", STR_ARG(what)).p,
        .failed_reason = failed,
        .failed_format = arena_printf(arena, "%.*s failed error: %%s", STR_ARG(what)).p,
    };
}

static void create_replica(struct pass *pass, int32_t ordinal)
{
    bool old = is_of_old(pass, ordinal);
    struct core_v1_pod *pod =
        statefulset_pod(pass->plan->arena, pass->set, old ? pass->current_template : &pass->set->spec.template,
                        ordinal, old ? pass->current : update_revision(pass));

    statefulset_plan_claims(pass->world, pass->plan, pass->set, ordinal);
    plan_create(pass->plan, &core_v1_pod_kind, pod);
    note(pass, "create", "SuccessfulCreate", "FailedCreate", pod->metadata.name);
}

static void delete_replica(struct pass *pass, const struct core_v1_pod *pod)
{
    plan_delete(pass->plan, &core_v1_pod_kind, pod);
    note(pass, "delete", "SuccessfulDelete", "FailedDelete", pod->metadata.name);
}

/* True when the set may go on with what comes after these. */
static bool settle_replicas(struct pass *pass)
{
    bool go_on = true;

    for (int32_t i = 0; i < pass->count; i++) {
        const struct core_v1_pod *pod = pass->replicas[i];

        if (pod == NULL) {
            create_replica(pass, pass->first + i);
            go_on = false;
        } else if (pod_is_finished(pod)) {
            if (!is_terminating(pod)) {
                plan_event(pass->plan, &apps_v1_stateful_set_kind, pass->set, "Warning", "RecreatingTerminatedPod",
                           "StatefulSet %.*s/%.*s is recreating terminated Pod %.*s",
                           STR_ARG(pass->set->metadata.namespace), STR_ARG(pass->set->metadata.name),
                           STR_ARG(pod->metadata.name));
                delete_replica(pass, pod);
            }
            go_on = false;
        } else if (!is_ordered(pass)) {
            continue;
        } else if (is_terminating(pod) || !is_available(pass, pod)) {
            go_on = false;
        }
        if (!go_on && is_ordered(pass)) {
            return false;
        }
    }
    return go_on || !is_ordered(pass);
}

static const struct core_v1_pod *last_condemned(const struct pass *pass)
{
    const struct core_v1_pod *last = NULL;

    LIST_EACH(pod, &pass->condemned)
    {
        if (last == NULL || statefulset_ordinal_of(pass->set, *pod) > statefulset_ordinal_of(pass->set, last)) {
            last = *pod;
        }
    }
    return last;
}

/* Those that are not wanted go: in order the last one alone, and the next when it is gone. */
static bool settle_condemned(struct pass *pass)
{
    if (pass->condemned.len == 0) {
        return true;
    }
    if (is_ordered(pass)) {
        const struct core_v1_pod *last = last_condemned(pass);

        if (!is_terminating(last)) {
            delete_replica(pass, last);
        }
        return false;
    }
    LIST_EACH(pod, &pass->condemned)
    {
        if (!is_terminating(*pod)) {
            delete_replica(pass, *pod);
        }
    }
    return true;
}

/* From the last to the partition, one at a time: a pod of the old template goes when those after it are well. */
static void roll(struct pass *pass)
{
    if (str_is(pass->set->spec.update_strategy.type, "OnDelete")) {
        return;
    }
    for (int32_t i = pass->count - 1; i >= 0 && pass->first + i >= pass->first + partition_of(pass->set); i--) {
        const struct core_v1_pod *pod = pass->replicas[i];

        if (pod == NULL) {
            return;
        }
        if (!str_eq(revision_of(pod), update_revision(pass)) && !is_terminating(pod)) {
            delete_replica(pass, pod);
            return;
        }
        if (is_terminating(pod) || !is_available(pass, pod)) {
            return;
        }
    }
}

static void count(struct pass *pass)
{
    struct apps_v1_stateful_set_status *status = &pass->status;

    LIST_EACH(at, &pass->all)
    {
        const struct core_v1_pod *pod = *at;

        status->replicas++;
        status->ready_replicas += str_is(pod->status.phase, "Running") && pod_is_ready(pod);
        status->available_replicas += is_available(pass, pod);
        if (is_terminating(pod)) {
            continue;
        }
        status->current_replicas += str_eq(revision_of(pod), pass->current);
        status->updated_replicas += str_eq(revision_of(pod), update_revision(pass));
    }
}

static void plan_status(struct pass *pass)
{
    struct apps_v1_stateful_set_status *status = &pass->status;

    status->observed_generation = pass->set->metadata.generation;
    status->collision_count = ARENA_NEW(pass->plan->arena, int32_t);
    if (pass->set->status.collision_count != NULL) {
        *status->collision_count = *pass->set->status.collision_count;
    }
    status->conditions.items = pass->set->status.conditions.items;
    status->conditions.len = pass->set->status.conditions.len;
    count(pass);
    status->update_revision = update_revision(pass);
    status->current_revision = pass->current;
    if (!str_is(pass->set->spec.update_strategy.type, "OnDelete") && status->updated_replicas == status->replicas &&
        status->ready_replicas == status->replicas) {
        status->current_revision = status->update_revision; /* the update is complete */
        status->current_replicas = status->updated_replicas;
    }
    if (schema_equal(&apps_v1_stateful_set_status_type, status, &pass->set->status)) {
        return;
    }
    struct apps_v1_stateful_set *changed = ARENA_NEW(pass->plan->arena, struct apps_v1_stateful_set);

    *changed = *pass->set;
    changed->status = *status;
    plan_update_status(pass->plan, &apps_v1_stateful_set_kind, changed);
}

/* The revision that is being updated from: what the status says, or the template's when that is not kept. */
static void find_current(struct pass *pass)
{
    pass->current = update_revision(pass);
    for (size_t i = 0; i < pass->revisions.len; i++) {
        if (str_eq(pass->revisions.items[i]->metadata.name, pass->set->status.current_revision)) {
            pass->current = pass->set->status.current_revision;
            pass->current_template = statefulset_template_of(pass->plan->arena, pass->revisions.items[i]);
        }
    }
}

static struct str_list live_revisions(const struct pass *pass)
{
    struct str_list live = {0};

    *LIST_ADD(pass->plan->arena, &live) = pass->current;
    LIST_EACH(pod, &pass->all)
    {
        *LIST_ADD(pass->plan->arena, &live) = revision_of(*pod);
    }
    return live;
}

static struct status *statefulset_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct apps_v1_stateful_set *set = world_find(world, &apps_v1_stateful_set_kind, key);
    struct label_selector selector;

    if (set == NULL || set->metadata.deletion_timestamp != NULL) {
        return NULL;
    }
    TRY(label_selector_of(plan->arena, set->spec.selector, &selector));
    struct object_pointers pods = controller_ref_claim(
        plan, &apps_v1_stateful_set_kind, (const struct object *)set, &selector, &core_v1_pod_kind,
        world_claimable(world, &core_v1_pod_kind, set->metadata.uid, set->metadata.namespace));
    struct revisions_owner owner = {.kind = &apps_v1_stateful_set_kind,
                                    .object = (const struct object *)set,
                                    .template = &set->spec.template,
                                    .collision_count = set->status.collision_count,
                                    .history_limit = set->spec.revision_history_limit};
    struct pass pass = {.world = world,
                        .plan = plan,
                        .set = set,
                        .revisions = revisions_ensure(world, plan, &owner),
                        .first = set->spec.ordinals != NULL ? set->spec.ordinals->start : 0,
                        .count = set->spec.replicas != NULL ? *set->spec.replicas : 1};

    find_current(&pass);
    sort_pods(&pass, pods);
    if (settle_replicas(&pass) && settle_condemned(&pass)) {
        roll(&pass);
    }
    struct str_list live = live_revisions(&pass);

    revisions_truncate(plan, &pass.revisions, &owner, &live);
    plan_status(&pass);
    return NULL;
}

static void map_pod(const struct world *world, const void *object, struct str_list *ret)
{
    const struct core_v1_pod *pod = object;
    const struct meta_v1_owner_reference *owner = controller_ref_find(&pod->metadata);

    if (owner != NULL) {
        if (str_is(owner->kind, "StatefulSet")) {
            *LIST_ADD(world->arena, ret) = world_key(world->arena, pod->metadata.namespace, owner->name);
        }
        return;
    }
    struct object_pointers sets = world_in_namespace(world, &apps_v1_stateful_set_kind, pod->metadata.namespace);

    for (size_t i = 0; i < sets.len; i++) {
        const struct object *set = sets.items[i];

        *LIST_ADD(world->arena, ret) = world_key(world->arena, pod->metadata.namespace, set->metadata.name);
    }
}

static void map_nothing(const struct world *world, const void *object, struct str_list *ret)
{
}

const struct controller statefulset_controller = {
    .name = "statefulset-controller",
    .account = "statefulset-controller",
    .kind = &apps_v1_stateful_set_kind,
    .watches = {{&core_v1_pod_kind, map_pod},
                {&core_v1_persistent_volume_claim_kind, map_nothing},
                {&apps_v1_controller_revision_kind, NULL}},
    .plan = statefulset_plan,
};
