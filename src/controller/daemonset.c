/* DaemonSet -> a pod on every node that it is for; updates a few nodes at a time. */
#include "controller/controllers.h"

#include "api/apps_v1.h"
#include "base/env.h"
#include "base/map.h"
#include "controller/controller_ref.h"
#include "controller/daemonset_nodes.h"
#include "controller/pod_template.h"
#include "controller/pod_util.h"
#include "controller/revisions.h"
#include "schema/copy.h"
#include "schema/int_or_string.h"
#include "schema/map_of.h"
#include "schema/object.h"
#include "schema/selectors.h"
#include "schema/timestamp.h"

enum { CREATIONS = 1, DELETIONS }; /* batches */
enum { BURST_PODS = 250 };

struct node_pods {
    const struct core_v1_node *node;
    struct daemonset_verdict verdict;
    struct {
        const struct core_v1_pod **items;
        size_t len;
    } pods;
};

/* One look at one DaemonSet. */
struct pass {
    const struct world *world;
    struct plan *plan;
    const struct apps_v1_daemon_set *set;
    struct str hash; /* of the template's revision */
    struct {
        struct node_pods *items;
        size_t len;
    } nodes;
    struct object_pointers elsewhere; /* pods on or for nodes that are not there */
    size_t created, deleted;
};

static void sort_pods(struct pass *pass, struct object_pointers pods)
{
    struct object_pointers nodes = world_all(pass->world, &core_v1_node_kind);
    struct map by_name = {0};

    pass->nodes.items = ARENA_ARRAY(pass->plan->arena, struct node_pods, nodes.len);
    for (size_t i = 0; i < nodes.len; i++) {
        struct node_pods *entry = &pass->nodes.items[pass->nodes.len++];

        entry->node = nodes.items[i];
        entry->verdict = daemonset_nodes_judge(pass->plan->arena, pass->set, entry->node);
        map_set(&by_name, entry->node->metadata.name, entry);
    }
    for (size_t i = 0; i < pods.len; i++) {
        const struct core_v1_pod *pod = pods.items[i];
        struct node_pods *entry = map_find(&by_name, daemonset_nodes_of_pod(pod));

        if (entry != NULL) {
            *LIST_ADD(pass->plan->arena, &entry->pods) = pod;
        } else {
            *LIST_ADD(pass->plan->arena, &pass->elsewhere) = pod;
        }
    }
    map_done(&by_name);
}

static bool is_available(const struct pass *pass, const struct core_v1_pod *pod)
{
    int64_t wait;
    bool available = pod->metadata.deletion_timestamp == NULL &&
                     pod_is_available(pod, pass->set->spec.min_ready_seconds, pass->world->now, &wait);

    if (!available && pod->metadata.deletion_timestamp == NULL && wait > 0) {
        plan_requeue_after(pass->plan, wait);
    }
    return available;
}

static bool is_current(const struct pass *pass, const struct core_v1_pod *pod)
{
    return str_eq(str_map_get(&pod->metadata.labels, STR(REVISION_HASH_LABEL)), pass->hash);
}

static void delete_pod(struct pass *pass, const struct core_v1_pod *pod)
{
    if (pod->metadata.deletion_timestamp == NULL && pass->deleted < BURST_PODS) {
        pod_template_delete(pass->plan, pod, DELETIONS, &apps_v1_daemon_set_kind, pass->set);
        pass->deleted++;
    }
}

static void create_pod(struct pass *pass, const struct core_v1_node *node)
{
    if (pass->created == BURST_PODS) {
        return;
    }
    struct core_v1_pod *pod = daemonset_nodes_pod(pass->plan->arena, pass->set, node->metadata.name);
    struct str generation =
        str_map_get(&pass->set->metadata.annotations, STR("deprecated.daemonset.template.generation"));

    str_map_set(pass->plan->arena, &pod->metadata.labels, STR(REVISION_HASH_LABEL), pass->hash);
    if (generation.n > 0) {
        str_map_set(pass->plan->arena, &pod->metadata.labels, STR("pod-template-generation"), generation);
    }
    pod_template_create(pass->plan, pod, CREATIONS, &apps_v1_daemon_set_kind, pass->set);
    pass->created++;
}

/* The pod of a node that stays: the oldest. */
static const struct core_v1_pod *oldest(const struct node_pods *entry)
{
    const struct core_v1_pod *found = NULL;

    LIST_EACH(pod, &entry->pods)
    {
        if (!pod_is_finished(*pod) &&
            (found == NULL ||
             timestamp_cmp((*pod)->metadata.creation_timestamp, found->metadata.creation_timestamp) < 0)) {
            found = *pod;
        }
    }
    return found;
}

static void settle_node(struct pass *pass, const struct node_pods *entry, bool may_surge)
{
    const struct core_v1_pod *keep = oldest(entry);

    if (entry->pods.len == 0) {
        if (entry->verdict.should_run) {
            create_pod(pass, entry->node);
        }
        return;
    }
    LIST_EACH(pod, &entry->pods)
    {
        if (pod_is_finished(*pod) && (*pod)->metadata.deletion_timestamp == NULL) {
            plan_event(pass->plan, &apps_v1_daemon_set_kind, pass->set, "Warning", "FailedDaemonPod",
                       "Found failed daemon pod %.*s/%.*s on node %.*s, will try to kill it",
                       STR_ARG((*pod)->metadata.namespace), STR_ARG((*pod)->metadata.name),
                       STR_ARG(entry->node->metadata.name));
            delete_pod(pass, *pod);
        } else if (!entry->verdict.should_continue || (*pod != keep && !may_surge)) {
            delete_pod(pass, *pod);
        }
    }
}

static int32_t scaled(const struct int_or_string *value, int32_t total, int32_t otherwise)
{
    int32_t result;

    return value != NULL && int_or_string_scaled(value, total, true, &result) ? result : otherwise;
}

static int32_t desired_of(const struct pass *pass)
{
    int32_t desired = 0;

    LIST_EACH(entry, &pass->nodes)
    {
        desired += entry->verdict.should_run;
    }
    return desired;
}

struct bounds {
    int32_t surge, unavailable;
};

static struct bounds bounds_of(const struct pass *pass)
{
    const struct apps_v1_rolling_update_daemon_set *rolling = pass->set->spec.update_strategy.rolling_update;
    int32_t desired = desired_of(pass);
    struct bounds bounds = {.surge = scaled(rolling ? rolling->max_surge : NULL, desired, 0),
                            .unavailable = scaled(rolling ? rolling->max_unavailable : NULL, desired, 1)};

    if (bounds.surge == 0 && bounds.unavailable == 0) {
        bounds.unavailable = 1;
    }
    return bounds;
}

struct node_state {
    const struct core_v1_pod *old, *new; /* not finished; NULL: none */
    bool old_available, new_available;
};

static struct node_state state_of(const struct pass *pass, const struct node_pods *entry)
{
    struct node_state state = {0};

    LIST_EACH(pod, &entry->pods)
    {
        if (pod_is_finished(*pod)) {
            continue;
        }
        if (is_current(pass, *pod)) {
            state.new = *pod;
            state.new_available = is_available(pass, *pod);
        } else {
            state.old = *pod;
            state.old_available = is_available(pass, *pod);
        }
    }
    return state;
}

/* Old pods go while no more than so many nodes are without an available one; those that are of no use go at once. */
static void roll_by_deletion(struct pass *pass, int32_t max_unavailable)
{
    int32_t unavailable = 0;

    LIST_EACH(entry, &pass->nodes)
    {
        struct node_state state = state_of(pass, entry);

        unavailable += entry->verdict.should_run && !state.old_available && !state.new_available;
    }
    LIST_EACH(entry, &pass->nodes)
    {
        struct node_state state = state_of(pass, entry);

        if (!entry->verdict.should_continue || state.old == NULL || state.new != NULL) {
            continue;
        }
        if (!state.old_available) {
            delete_pod(pass, state.old);
        } else if (unavailable < max_unavailable) {
            delete_pod(pass, state.old);
            unavailable++;
        }
    }
}

/* New pods come beside old ones, on so many nodes at a time; an old one goes when its new one is available. */
static void roll_by_surge(struct pass *pass, int32_t max_surge)
{
    int32_t surging = 0;

    LIST_EACH(entry, &pass->nodes)
    {
        struct node_state state = state_of(pass, entry);

        surging += state.old != NULL && state.new != NULL;
    }
    LIST_EACH(entry, &pass->nodes)
    {
        struct node_state state = state_of(pass, entry);

        if (state.old == NULL || !entry->verdict.should_run) {
            continue;
        }
        if (state.new != NULL && state.new_available) {
            delete_pod(pass, state.old);
        } else if (state.new == NULL && (surging < max_surge || !state.old_available)) {
            create_pod(pass, entry->node);
            surging++;
        }
    }
}

static void count(const struct pass *pass, struct apps_v1_daemon_set_status *status)
{
    LIST_EACH(entry, &pass->nodes)
    {
        struct node_state state = state_of(pass, entry);
        const struct core_v1_pod *pod = state.new != NULL ? state.new : state.old;

        if (!entry->verdict.should_run) {
            status->number_misscheduled += entry->pods.len > 0;
            continue;
        }
        status->desired_number_scheduled++;
        if (pod == NULL) {
            continue;
        }
        status->current_number_scheduled++;
        status->number_ready += (state.new != NULL && pod_is_ready(state.new)) ||
                                (state.old != NULL && pod_is_ready(state.old));
        status->number_available += state.new_available || state.old_available;
        status->updated_number_scheduled += state.new != NULL;
    }
    status->number_unavailable = status->desired_number_scheduled - status->number_available;
}

static void plan_status(struct pass *pass)
{
    struct apps_v1_daemon_set_status status = {.observed_generation = pass->set->metadata.generation,
                                               .collision_count = pass->set->status.collision_count};

    status.conditions.items = pass->set->status.conditions.items;
    status.conditions.len = pass->set->status.conditions.len;
    count(pass, &status);
    if (schema_equal(&apps_v1_daemon_set_status_type, &status, &pass->set->status)) {
        return;
    }
    struct apps_v1_daemon_set *changed = ARENA_NEW(pass->plan->arena, struct apps_v1_daemon_set);

    *changed = *pass->set;
    changed->status = status;
    plan_update_status(pass->plan, &apps_v1_daemon_set_kind, changed);
}

static void settle(struct pass *pass)
{
    bool rolls = str_is(pass->set->spec.update_strategy.type, "RollingUpdate");
    struct bounds bounds = bounds_of(pass);

    LIST_EACH(entry, &pass->nodes)
    {
        settle_node(pass, entry, rolls && bounds.surge > 0);
    }
    for (size_t i = 0; i < pass->elsewhere.len; i++) {
        delete_pod(pass, pass->elsewhere.items[i]);
    }
    if (!rolls || pass->created > 0 || pass->deleted > 0) {
        return;
    }
    if (bounds.surge > 0) {
        roll_by_surge(pass, bounds.surge);
    } else {
        roll_by_deletion(pass, bounds.unavailable);
    }
}

static struct str_list live_hashes(struct arena *arena, struct object_pointers pods)
{
    struct str_list live = {0};

    for (size_t i = 0; i < pods.len; i++) {
        const struct object *pod = pods.items[i];

        *LIST_ADD(arena, &live) = str_map_get(&pod->metadata.labels, STR(REVISION_HASH_LABEL));
    }
    return live;
}

static struct status *daemonset_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct apps_v1_daemon_set *set = world_find(world, &apps_v1_daemon_set_kind, key);
    struct label_selector selector;

    if (set == NULL || set->metadata.deletion_timestamp != NULL) {
        return NULL;
    }
    TRY(label_selector_of(plan->arena, set->spec.selector, &selector));
    if (label_selector_is_empty(&selector)) {
        plan_event(plan, &apps_v1_daemon_set_kind, set, "Warning", "SelectingAll",
                   "This daemon set is selecting all pods. A non-empty selector is required.");
        return NULL;
    }
    struct object_pointers pods = controller_ref_claim(
        plan, &apps_v1_daemon_set_kind, (const struct object *)set, &selector, &core_v1_pod_kind,
        world_claimable(world, &core_v1_pod_kind, set->metadata.uid, set->metadata.namespace));
    struct revisions_owner owner = {.kind = &apps_v1_daemon_set_kind,
                                    .object = (const struct object *)set,
                                    .template = &set->spec.template,
                                    .collision_count = set->status.collision_count,
                                    .history_limit = set->spec.revision_history_limit};
    struct revisions revisions = revisions_ensure(world, plan, &owner);
    struct pass pass = {.world = world, .plan = plan, .set = set, .hash = revisions.hash};
    struct str_list live = live_hashes(plan->arena, pods);

    sort_pods(&pass, pods);
    settle(&pass);
    revisions_truncate(plan, &revisions, &owner, &live);
    plan_status(&pass);
    return NULL;
}

static void add_all(const struct world *world, struct object_pointers sets, struct str_list *ret)
{
    for (size_t i = 0; i < sets.len; i++) {
        const struct object *set = sets.items[i];

        *LIST_ADD(world->arena, ret) = world_key(world->arena, set->metadata.namespace, set->metadata.name);
    }
}

static void map_node(const struct world *world, const void *object, struct str_list *ret)
{
    add_all(world, world_all(world, &apps_v1_daemon_set_kind), ret);
}

static void map_pod(const struct world *world, const void *object, struct str_list *ret)
{
    const struct core_v1_pod *pod = object;
    const struct meta_v1_owner_reference *owner = controller_ref_find(&pod->metadata);

    if (owner == NULL) {
        add_all(world, world_in_namespace(world, &apps_v1_daemon_set_kind, pod->metadata.namespace), ret);
    } else if (str_is(owner->kind, "DaemonSet")) {
        *LIST_ADD(world->arena, ret) = world_key(world->arena, pod->metadata.namespace, owner->name);
    }
}

const struct controller daemonset_controller = {
    .name = "daemonset-controller",
    .account = "daemon-set-controller",
    .kind = &apps_v1_daemon_set_kind,
    .watches = {{&core_v1_pod_kind, map_pod},
                {&core_v1_node_kind, map_node},
                {&apps_v1_controller_revision_kind, NULL}},
    .workers = 2,
    .plan = daemonset_plan,
};
