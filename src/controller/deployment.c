/* Deployment -> ReplicaSets: finds or makes the set of the current template, moves replicas from old sets to it, keeps
 * history, revision annotations, status and conditions. */
#include "controller/controllers.h"

#include "api/apps_v1.h"
#include "base/env.h"
#include "base/planted.h"
#include "controller/controller_ref.h"
#include "controller/deployment_history.h"
#include "controller/deployment_rollout.h"
#include "controller/deployment_status.h"
#include "schema/type.h"
#include "schema/copy.h"
#include "schema/map_of.h"
#include "schema/selectors.h"

#include <stdlib.h>

/* One look at one Deployment. Sets are copies made for the pass; `saved` are the cache's. */
struct pass {
    const struct world *world;
    struct plan *plan;
    const struct apps_v1_deployment *deployment;
    struct replica_sets all, old; /* oldest first; `old` without the new one */
    struct apps_v1_replica_set *new_set;
    struct deployment_progress progress;
    struct str revision; /* the Deployment is to have; empty: as it is */
    bool is_over; /* nothing more can be done before what is planned has been */
};

static int by_age(const void *a, const void *b)
{
    const struct apps_v1_replica_set *x = *(struct apps_v1_replica_set *const *)a;
    const struct apps_v1_replica_set *y = *(struct apps_v1_replica_set *const *)b;
    int64_t older = x->metadata.creation_timestamp.seconds, younger = y->metadata.creation_timestamp.seconds;

    if (older != younger) {
        return older < younger ? -1 : 1;
    }
    return str_cmp(x->metadata.name, y->metadata.name);
}

/* The sets this Deployment owns, after adoption and release, oldest first. */
static struct status *claim_sets(struct pass *pass)
{
    struct arena *arena = pass->plan->arena;
    struct label_selector selector;

    TRY(label_selector_of(arena, pass->deployment->spec.selector, &selector));
    struct object_pointers owned = controller_ref_claim(
        pass->plan, &apps_v1_deployment_kind, (const struct object *)pass->deployment, &selector,
        &apps_v1_replica_set_kind,
        world_claimable(pass->world, &apps_v1_replica_set_kind, pass->deployment->metadata.uid,
                        pass->deployment->metadata.namespace));

    pass->all.items = ARENA_ARRAY(arena, struct apps_v1_replica_set *, owned.len);
    for (size_t i = 0; i < owned.len; i++) {
        pass->all.items[i] = schema_copy(arena, &apps_v1_replica_set_type, owned.items[i]);
    }
    pass->all.len = owned.len;
    if (owned.len > 1) {
        qsort(pass->all.items, pass->all.len, sizeof(*pass->all.items), by_age);
    }
    return NULL;
}

/* Splits all into the new set (the oldest whose template is the Deployment's) and the old ones. */
static void sort_sets(struct pass *pass)
{
    pass->old.items = ARENA_ARRAY(pass->plan->arena, struct apps_v1_replica_set *, pass->all.len);
    LIST_EACH(set, &pass->all)
    {
        if (pass->new_set == NULL && deployment_history_same_template(*set, pass->deployment, pass->plan->arena)) {
            pass->new_set = *set;
        } else {
            pass->old.items[pass->old.len++] = *set;
        }
    }
}

static int32_t max_with_surge(const struct apps_v1_deployment *deployment)
{
    return rollout_wanted(deployment) + rollout_bounds_of(deployment).max_surge;
}

/* Changes a set's size, with the event users know. */
static void scale_set(struct pass *pass, struct apps_v1_replica_set *set, int32_t to)
{
    int32_t from = set->spec.replicas ? *set->spec.replicas : 1;
    struct arena *arena = pass->plan->arena;
    bool annotated = deployment_history_annotate_size(arena, &set->metadata, rollout_wanted(pass->deployment),
                                                      max_with_surge(pass->deployment));

    if (from == to && !annotated) {
        return;
    }
    set->spec.replicas = ARENA_NEW(arena, int32_t);
    *set->spec.replicas = to;
    struct plan_action *action = plan_update(pass->plan, &apps_v1_replica_set_kind, set);

    if (from != to) {
        plan_span(pass->plan, action, TRACE_REPLICASET_ENSURED, &apps_v1_deployment_kind, pass->deployment,
                  "replicasets/%.*s/%.*s scaled from %d to %d", STR_ARG(set->metadata.namespace),
                  STR_ARG(set->metadata.name), from, to);
        plan_event(pass->plan, &apps_v1_deployment_kind, pass->deployment, "Normal", "ScalingReplicaSet",
                   "Scaled %s replica set %.*s from %d to %d", to > from ? "up" : "down", STR_ARG(set->metadata.name),
                   from, to);
    }
}

/* The revision annotation and those copied from the Deployment; and the Deployment's own revision. */
static void keep_history(struct pass *pass, int64_t revision)
{
    struct arena *arena = pass->plan->arena;
    struct apps_v1_replica_set *set = pass->new_set;
    bool changed = deployment_history_annotate(arena, &set->metadata, &pass->deployment->metadata, revision, true);

    if (set->spec.min_ready_seconds != pass->deployment->spec.min_ready_seconds) {
        set->spec.min_ready_seconds = pass->deployment->spec.min_ready_seconds;
        changed = true;
    }
    if (changed) {
        plan_update(pass->plan, &apps_v1_replica_set_kind, set);
    }
    pass->revision = deployment_history_revision_of(&set->metadata);
    if (deployment_condition_find(&pass->deployment->status, "Progressing") == NULL) {
        pass->progress.status = "True";
        pass->progress.reason = "FoundNewReplicaSet";
        pass->progress.message = arena_printf(arena, "Found new replica set \"%.*s\"", STR_ARG(set->metadata.name));
    }
}

static void create_new_set(struct pass *pass, int64_t revision)
{
    struct arena *arena = pass->plan->arena;
    struct apps_v1_replica_set *set = deployment_history_new_set(arena, pass->deployment);
    struct replica_sets with_new = {ARENA_ARRAY(arena, struct apps_v1_replica_set *, pass->all.len + 1), 0};

    LIST_EACH(old, &pass->all)
    {
        with_new.items[with_new.len++] = *old;
    }
    with_new.items[with_new.len++] = set;
    pass->new_set = set;
    *set->spec.replicas = 0;
    *set->spec.replicas = rollout_new_replicas(pass->deployment, &with_new, set);
    deployment_history_annotate(arena, &set->metadata, &pass->deployment->metadata, revision, false);
    deployment_history_annotate_size(arena, &set->metadata, rollout_wanted(pass->deployment),
                                     max_with_surge(pass->deployment));
    plan_create(pass->plan, &apps_v1_replica_set_kind, set);
    plan_span(pass->plan, plan_last(pass->plan), TRACE_REPLICASET_ENSURED, &apps_v1_deployment_kind, pass->deployment,
              "replicasets/%.*s/%.*s created for %d pods", STR_ARG(set->metadata.namespace),
              STR_ARG(set->metadata.name), *set->spec.replicas);
    if (*set->spec.replicas > 0) {
        plan_event(pass->plan, &apps_v1_deployment_kind, pass->deployment, "Normal", "ScalingReplicaSet",
                   "Scaled up replica set %.*s from 0 to %d", STR_ARG(set->metadata.name), *set->spec.replicas);
    }
    pass->revision = arena_printf(arena, "%lld", (long long)revision);
    if (pass->world->failure != NULL && pass->world->failed_verb == PLAN_CREATE) {
        pass->progress.status = "False";
        pass->progress.reason = "FailedCreate";
        pass->progress.message = arena_printf(arena, "Failed to create new replica set \"%.*s\": %.*s",
                                              STR_ARG(set->metadata.name), STR_ARG(pass->world->failure->message));
    } else {
        pass->progress.status = "True";
        pass->progress.reason = "NewReplicaSetCreated";
        pass->progress.message = arena_printf(arena, "Created new replica set \"%.*s\"", STR_ARG(set->metadata.name));
    }
    pass->all = with_new;
}

/* A set of that name exists with another template or owner: the hash collided, and counts up for another one. */
static bool name_collides(struct pass *pass)
{
    struct arena *arena = pass->plan->arena;
    struct apps_v1_replica_set *set = deployment_history_new_set(arena, pass->deployment);
    struct str key = arena_printf(arena, "%.*s/%.*s", STR_ARG(set->metadata.namespace), STR_ARG(set->metadata.name));

    if (world_find(pass->world, &apps_v1_replica_set_kind, key) == NULL) {
        return false;
    }
    struct apps_v1_deployment *changed = schema_copy(arena, &apps_v1_deployment_type, pass->deployment);
    int32_t *count = ARENA_NEW(arena, int32_t);

    *count = (changed->status.collision_count ? *changed->status.collision_count : 0) + 1;
    changed->status.collision_count = count;
    plan_update_status(pass->plan, &apps_v1_deployment_kind, changed);
    pass->is_over = true;
    return true;
}

/* Finds or (when `may_create`) makes the new set. False when nothing more can be done in this pass. */
static bool ensure_new_set(struct pass *pass, bool may_create)
{
    int64_t revision = deployment_history_max_revision(&pass->old) + 1;

    if (pass->new_set != NULL) {
        keep_history(pass, revision);
        return true;
    }
    if (!may_create) {
        return true;
    }
    if (name_collides(pass)) {
        return false;
    }
    create_new_set(pass, revision);
    return true;
}

static void write_status(struct pass *pass)
{
    struct arena *arena = pass->plan->arena;
    struct apps_v1_deployment_status status =
        deployment_status(arena, pass->deployment, &pass->all, pass->new_set, &pass->progress);
    int64_t wait = deployment_deadline_in(pass->deployment, &status, pass->world->now);

    if (wait > 0) {
        plan_requeue_after(pass->plan, wait);
    }
    bool has_revision =
        pass->revision.n == 0 || str_eq(deployment_history_revision_of(&pass->deployment->metadata), pass->revision);

    if (has_revision && schema_equal(&apps_v1_deployment_status_type, &status, &pass->deployment->status)) {
        return;
    }
    struct apps_v1_deployment *changed = ARENA_NEW(arena, struct apps_v1_deployment);

    *changed = *pass->deployment;
    changed->status = status;
    if (!has_revision) { /* a write of the status may write annotations too */
        changed->metadata.annotations = str_map_copy(arena, &changed->metadata.annotations);
        str_map_set(arena, &changed->metadata.annotations, STR(DEPLOYMENT_REVISION), pass->revision);
    }
    plan_update_status(pass->plan, &apps_v1_deployment_kind, changed);
    plan_span(pass->plan, plan_last(pass->plan), TRACE_DEPLOYMENT_STATUS, &apps_v1_deployment_kind, pass->deployment,
              "%d of %d available", status.available_replicas, rollout_wanted(pass->deployment));
}

/* Old sets beyond revisionHistoryLimit that have nothing left go, oldest revision first. */
static void clean_up(struct pass *pass)
{
    const int32_t *limit = pass->deployment->spec.revision_history_limit;

    if (limit == NULL || *limit == INT32_MAX) {
        return;
    }
    struct replica_sets dead = deployment_history_by_revision(pass->plan->arena, &pass->old);
    int64_t excess = (int64_t)dead.len - *limit;

    for (size_t i = 0; i < dead.len && excess > 0; i++) {
        const struct apps_v1_replica_set *set = dead.items[i];

        if (set->status.replicas == 0 && set->spec.replicas != NULL && *set->spec.replicas == 0 &&
            set->metadata.generation <= set->status.observed_generation && set->metadata.deletion_timestamp == NULL) {
            plan_delete(pass->plan, &apps_v1_replica_set_kind, set);
            plan_last(pass->plan)->may_fail = true;
            excess--;
        }
    }
}

static struct replica_sets active_of(struct arena *arena, const struct replica_sets *sets)
{
    struct replica_sets active = {ARENA_ARRAY(arena, struct apps_v1_replica_set *, sets->len), 0};

    LIST_EACH(set, sets)
    {
        if ((*set)->spec.replicas == NULL || *(*set)->spec.replicas > 0) {
            active.items[active.len++] = *set;
        }
    }
    return active;
}

/* The Deployment was resized since an active set was last written. */
static bool is_scaling(struct pass *pass)
{
    struct replica_sets active = active_of(pass->plan->arena, &pass->all);

    LIST_EACH(set, &active)
    {
        int32_t desired;

        if (deployment_history_size(&(*set)->metadata, &desired, NULL) && desired != rollout_wanted(pass->deployment)) {
            return true;
        }
    }
    return false;
}

/* Brings the sets to the Deployment's size without a rollout: paused, or resized in the middle of one. */
static void scale(struct pass *pass)
{
    struct arena *arena = pass->plan->arena;
    struct replica_sets active = active_of(arena, &pass->all);
    struct apps_v1_replica_set *only = active.len == 1 ? active.items[0] : active.len == 0 ? pass->new_set : NULL;

    if (active.len == 0 && only == NULL && pass->all.len > 0) {
        only = pass->all.items[pass->all.len - 1];
    }
    if (only != NULL) {
        scale_set(pass, only, rollout_wanted(pass->deployment));
        return;
    }
    if (pass->new_set != NULL && pass->new_set->status.available_replicas == rollout_wanted(pass->deployment) &&
        *pass->new_set->spec.replicas == rollout_wanted(pass->deployment)) {
        struct replica_sets old = active_of(arena, &pass->old);

        LIST_EACH(set, &old)
        {
            scale_set(pass, *set, 0);
        }
        return;
    }
    if (!str_is(pass->deployment->spec.strategy.type, "RollingUpdate")) {
        return;
    }
    int32_t *max = ARENA_ARRAY(arena, int32_t, active.len), *wanted = ARENA_ARRAY(arena, int32_t, active.len);

    for (size_t i = 0; i < active.len; i++) {
        if (!deployment_history_size(&active.items[i]->metadata, NULL, &max[i])) {
            max[i] = pass->deployment->status.replicas;
        }
    }
    rollout_scale_proportionally(pass->deployment, &active, max, wanted);
    for (size_t i = 0; i < active.len; i++) {
        scale_set(pass, active.items[i], wanted[i]);
    }
}

static void roll(struct pass *pass)
{
    struct replica_sets old = active_of(pass->plan->arena, &pass->old);
    int32_t *wanted = ARENA_ARRAY(pass->plan->arena, int32_t, old.len);
    int32_t now = *pass->new_set->spec.replicas;
    int32_t more = now > rollout_wanted(pass->deployment)
                       ? rollout_wanted(pass->deployment)
                       : rollout_new_replicas(pass->deployment, &pass->all, pass->new_set);

    if (more != now) {
        scale_set(pass, pass->new_set, more);
        return; /* one step a pass: the old ones follow when this is seen */
    }
    if (rollout_scale_down_old(pass->deployment, &pass->all, &old, pass->new_set, wanted)) {
        for (size_t i = 0; i < old.len; i++) {
            if (wanted[i] != *old.items[i]->spec.replicas) {
                scale_set(pass, old.items[i], wanted[i]);
            }
        }
    }
}

/* Pods of old sets that still run. */
static bool old_pods_run(struct pass *pass)
{
    if (planted(RECREATE_DOES_NOT_WAIT)) {
        return false;
    }
    LIST_EACH(set, &pass->old)
    {
        struct object_pointers pods = world_owned(pass->world, &core_v1_pod_kind, (*set)->metadata.uid);

        for (size_t i = 0; i < pods.len; i++) {
            const struct core_v1_pod *pod = pods.items[i];

            if (!str_is(pod->status.phase, "Failed") && !str_is(pod->status.phase, "Succeeded")) {
                return true;
            }
        }
    }
    return false;
}

static void recreate(struct pass *pass)
{
    struct replica_sets old = active_of(pass->plan->arena, &pass->old);

    if (old.len > 0) {
        LIST_EACH(set, &old)
        {
            scale_set(pass, *set, 0);
        }
        return;
    }
    if (old_pods_run(pass)) {
        return;
    }
    if (pass->new_set == NULL) {
        ensure_new_set(pass, true);
    } else if (*pass->new_set->spec.replicas != rollout_wanted(pass->deployment)) {
        scale_set(pass, pass->new_set, rollout_wanted(pass->deployment));
    }
}

/* Pausing and resuming are remembered in the Progressing condition, so that the deadline does not run on. */
static void note_pause(struct pass *pass)
{
    const struct apps_v1_deployment_condition *progressing =
        deployment_condition_find(&pass->deployment->status, "Progressing");
    bool paused_before = progressing != NULL && str_is(progressing->reason, "DeploymentPaused");

    if (pass->deployment->spec.progress_deadline_seconds == NULL ||
        (progressing != NULL && str_is(progressing->reason, "ProgressDeadlineExceeded"))) {
        return;
    }
    if (pass->deployment->spec.paused && !paused_before) {
        pass->progress.status = "Unknown";
        pass->progress.reason = "DeploymentPaused";
        pass->progress.message = STR("Deployment is paused");
    } else if (!pass->deployment->spec.paused && paused_before) {
        pass->progress.status = "Unknown";
        pass->progress.reason = "DeploymentResumed";
        pass->progress.message = STR("Deployment is resumed");
    }
}

static bool selects_everything(const struct meta_v1_label_selector *selector)
{
    return selector == NULL || (selector->match_labels.len == 0 && selector->match_expressions.len == 0);
}

static void roll_out(struct pass *pass)
{
    bool is_recreate = str_is(pass->deployment->spec.strategy.type, "Recreate");

    if (!ensure_new_set(pass, !is_recreate)) {
        return;
    }
    size_t before = pass->plan->len;

    if (is_recreate) {
        recreate(pass);
    } else if (pass->new_set != NULL && pass->progress.reason == NULL) {
        roll(pass);
    }
    if (pass->plan->len == before && deployment_is_complete(pass->deployment, &pass->deployment->status)) {
        clean_up(pass);
    }
}

static struct status *deployment_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct apps_v1_deployment *deployment = world_find(world, &apps_v1_deployment_kind, key);
    struct pass pass = {.world = world, .plan = plan, .deployment = deployment, .progress.now = world->now};

    if (deployment == NULL) {
        return NULL;
    }
    if (selects_everything(deployment->spec.selector)) {
        plan_event(plan, &apps_v1_deployment_kind, deployment, "Warning", "SelectingAll",
                   "This deployment is selecting all pods. A non-empty selector is required.");
        return NULL;
    }
    TRY(claim_sets(&pass));
    sort_sets(&pass);
    if (deployment->metadata.deletion_timestamp != NULL) {
        write_status(&pass);
        return NULL;
    }
    note_pause(&pass);
    if (deployment->spec.paused) {
        ensure_new_set(&pass, false);
        scale(&pass);
        clean_up(&pass);
    } else if (is_scaling(&pass)) {
        ensure_new_set(&pass, false);
        scale(&pass);
    } else {
        roll_out(&pass);
    }
    if (!pass.is_over) {
        write_status(&pass);
    }
    return NULL;
}

/* A pod concerns the Deployment of its ReplicaSet: Recreate waits for old pods to end. */
static void map_pod(const struct world *world, const void *object, struct str_list *ret)
{
    const struct core_v1_pod *pod = object;
    const struct meta_v1_owner_reference *ref = controller_ref_find(&pod->metadata);

    if (ref == NULL || !str_is(ref->kind, "ReplicaSet")) {
        return;
    }
    struct str key = arena_printf(world->arena, "%.*s/%.*s", STR_ARG(pod->metadata.namespace), STR_ARG(ref->name));
    const struct apps_v1_replica_set *set = world_find(world, &apps_v1_replica_set_kind, key);
    const struct meta_v1_owner_reference *owner = set ? controller_ref_find(&set->metadata) : NULL;

    if (owner != NULL && str_is(owner->kind, "Deployment")) {
        *LIST_ADD(world->arena, ret) =
            arena_printf(world->arena, "%.*s/%.*s", STR_ARG(pod->metadata.namespace), STR_ARG(owner->name));
    }
}

/* A ReplicaSet concerns its Deployment; an orphan concerns all Deployments of its namespace that may adopt it. */
static void map_replica_set(const struct world *world, const void *object, struct str_list *ret)
{
    const struct apps_v1_replica_set *set = object;
    const struct meta_v1_owner_reference *owner = controller_ref_find(&set->metadata);

    if (owner != NULL) {
        if (str_is(owner->kind, "Deployment")) {
            *LIST_ADD(world->arena, ret) =
                arena_printf(world->arena, "%.*s/%.*s", STR_ARG(set->metadata.namespace), STR_ARG(owner->name));
        }
        return;
    }
    struct object_pointers all = world_in_namespace(world, &apps_v1_deployment_kind, set->metadata.namespace);

    for (size_t i = 0; i < all.len; i++) {
        const struct object *deployment = all.items[i];

        *LIST_ADD(world->arena, ret) = arena_printf(world->arena, "%.*s/%.*s", STR_ARG(set->metadata.namespace),
                                                    STR_ARG(deployment->metadata.name));
    }
}

const struct controller deployment_controller = {
    .name = "deployment-controller",
    .account = "deployment-controller",
    .kind = &apps_v1_deployment_kind,
    .watches = {{&apps_v1_replica_set_kind, map_replica_set}, {&core_v1_pod_kind, map_pod}},
    .observed = TRACE_DEPLOYMENT_OBSERVED,
    .plan = deployment_plan,
};
