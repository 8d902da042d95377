/* Deleting a pod, if the disruption budgets that cover it allow that. */
#include "apiserver/subresources/handlers.h"

#include "api/core_v1.h"
#include "api/policy_v1.h"
#include "apiserver/decode.h"
#include "apiserver/errors.h"
#include "apiserver/registry/registry.h"
#include "apiserver/respond.h"
#include "apiserver/server.h"
#include "schema/copy.h"
#include "schema/selectors.h"
#include "schema/timestamp.h"

enum { DISRUPTED_PODS_MAX = 2000 };

static struct str budget_group = STR_INIT("policy");

static bool is_ready(const struct core_v1_pod *pod)
{
    LIST_EACH(condition, &pod->status.conditions) {
        if (str_is(condition->type, "Ready")) {
            return str_is(condition->status, "True");
        }
    }
    return false;
}

/* Pods that take no part in what budgets count. */
static bool is_beyond_budgets(const struct core_v1_pod *pod)
{
    return str_is(pod->status.phase, "Succeeded") || str_is(pod->status.phase, "Failed") ||
           str_is(pod->status.phase, "Pending") || pod->metadata.deletion_timestamp != NULL;
}

/* `why` is what follows the budget's name. */
static struct status *too_many(int retry_seconds, struct str budget, const char *why)
{
    struct status *status =
        status_new(STATUS_TOO_MANY_REQUESTS, "Cannot evict pod as it would violate the pod's disruption budget.");

    status->retry_after_seconds = retry_seconds;
    status_add_cause(status, STR("DisruptionBudget"), (struct str){0}, "The disruption budget %.*s %s", STR_ARG(budget),
                     why);
    return status;
}

/* The one budget that covers the pod; NULL when none does. */
static struct status *find_budget(struct request *request, const struct core_v1_pod *pod, struct str *ret)
{
    OWNED(watch_snapshot_done) struct watch_snapshot snapshot = {0};
    const struct resource *resource = apiserver_resource(request->server, "policy", "v1", "poddisruptionbudgets");
    struct watch_snapshot_walk walk;

    *ret = (struct str){0};
    TRY(watch_cache_snapshot(resource->cache, FRESH_LATEST, 0, &snapshot));
    watch_snapshot_walk(&walk, &snapshot, arena_printf(request->arena, "%.*s/", STR_ARG(pod->metadata.namespace)),
                        (struct str){0});
    for (struct stored *stored; (stored = watch_snapshot_next(&walk)) != NULL;) {
        const void *object;
        struct label_selector selector = {0};

        TRY(stored_object(stored, &object));
        const struct policy_v1_pod_disruption_budget *budget = object;

        TRY(label_selector_of(request->arena, budget->spec.selector, &selector));
        if (!label_selector_matches_map(&selector, &pod->metadata.labels)) {
            continue;
        }
        if (ret->n != 0) {
            return status_new(STATUS_INTERNAL_ERROR,
                              "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
                              "support.");
        }
        *ret = arena_str(request->arena, budget->metadata.name);
    }
    return NULL;
}

struct eviction {
    const struct core_v1_pod *pod;
    bool needs_none; /* the budget has nothing against it, and nothing is to be counted */
};

static bool lets_unready_go(const struct policy_v1_pod_disruption_budget *budget, const struct core_v1_pod *pod)
{
    const struct str *policy = budget->spec.unhealthy_pod_eviction_policy;

    if (is_ready(pod)) {
        return false;
    }
    return (policy != NULL && str_is(*policy, "AlwaysAllow")) ||
           (budget->status.current_healthy >= budget->status.desired_healthy && budget->status.desired_healthy > 0);
}

static void set_condition(struct arena *arena, struct policy_v1_pod_disruption_budget *budget)
{
    struct meta_v1_condition *place = NULL;
    bool allowed = budget->status.disruptions_allowed > 0;
    struct str text = allowed ? STR("True") : STR("False");

    LIST_EACH(condition, &budget->status.conditions) {
        place = str_is(condition->type, "DisruptionAllowed") ? condition : place;
    }
    if (place == NULL) {
        place = LIST_ADD(arena, &budget->status.conditions);
        place->type = STR("DisruptionAllowed");
    }
    if (!str_eq(place->status, text)) {
        place->last_transition_time = timestamp_now();
    }
    place->status = text;
    place->reason = allowed ? STR("SufficientPods") : STR("InsufficientPods");
    place->observed_generation = budget->status.observed_generation;
}

static struct status *make_counted(struct change_op *op, const struct object *current, struct object **ret)
{
    struct arena *arena = op->request->arena;
    struct eviction *eviction = op->arg;
    struct policy_v1_pod_disruption_budget *budget =
        schema_copy(arena, &policy_v1_pod_disruption_budget_type, current);
    struct str name = budget->metadata.name;

    *ret = (struct object *)budget;
    if (budget->status.observed_generation < budget->metadata.generation) {
        return too_many(10, name, "is still being processed by the server.");
    }
    if (lets_unready_go(budget, eviction->pod)) {
        eviction->needs_none = true;
        return NULL;
    }
    if (budget->status.disruptions_allowed < 0) {
        return error_forbidden(budget_group, STR("poddisruptionbudget"), name, "pdb disruptions allowed is negative");
    }
    if (budget->status.disrupted_pods.len > DISRUPTED_PODS_MAX) {
        return error_forbidden(budget_group, STR("poddisruptionbudget"), name,
                               "DisruptedPods map too big - too many evictions not confirmed by PDB controller");
    }
    if (budget->status.disruptions_allowed == 0) {
        const struct policy_v1_pod_disruption_budget_status *now = &budget->status;

        return too_many(0, name,
                        now->current_healthy < now->desired_healthy
                            ? (const char *)arena_printf(arena, "needs %d healthy pods and has %d currently",
                                                         now->desired_healthy, now->current_healthy).p
                            : "does not allow evicting pods currently");
    }
    budget->status.disruptions_allowed--;
    struct timestamp_entry *entry = LIST_ADD(arena, &budget->status.disrupted_pods);

    *entry = (struct timestamp_entry){eviction->pod->metadata.name, timestamp_now()};
    set_condition(arena, budget);
    return NULL;
}

static struct status *ask_budgets(struct request *request, const struct core_v1_pod *pod,
                                  const struct write_options *options)
{
    struct eviction eviction = {.pod = pod};
    struct str budget;

    TRY(find_budget(request, pod, &budget));
    if (budget.n == 0) {
        return NULL;
    }
    struct change_op op = {.request = request,
                           .resource = apiserver_resource(request->server, "policy", "v1", "poddisruptionbudgets"),
                           .subresource = STR("status"),
                           .namespace = pod->metadata.namespace,
                           .name = budget,
                           .options = options,
                           .make = make_counted,
                           .arg = &eviction,
                           .keeps_version = true,
                           .is_internal = true};
    struct status *status = registry_change(&op);

    /* a budget that went away meanwhile holds nothing */
    return status_free_if(&status, STATUS_NOT_FOUND) ? NULL : status;
}

static struct status *read_eviction(struct request *request, struct write_options *options,
                                    struct policy_v1_eviction **ret)
{
    struct str body;
    void *decoded;

    TRY(query_write_options(request->arena, request->exchange->query, WRITE_CREATE, options));
    TRY(decode_read_body(request, &body));
    TRY(decode_object(request, body, &policy_v1_eviction_kind, options->field_validation, &decoded));
    struct policy_v1_eviction *eviction = decoded;

    if (!str_eq(eviction->metadata.name, request->info.name)) {
        return error_bad_request("name in URL does not match name in Eviction object");
    }
    *ret = eviction;
    return NULL;
}

static struct status *check_uid(const struct delete_op *op, const struct object *pod)
{
    if (!op->options.has_uid || str_eq(op->options.uid, pod->metadata.uid)) {
        return NULL;
    }
    return error_conflict((struct str){0}, STR("Pod"), pod->metadata.name,
                          "the UID in the precondition (%.*s) does not match the UID in record (%.*s). The object might "
                          "have been deleted and then recreated",
                          STR_ARG(op->options.uid), STR_ARG(pod->metadata.uid));
}

struct status *eviction_create(struct request *request)
{
    struct write_options options;
    struct policy_v1_eviction *eviction = NULL;
    struct kept kept;

    if (!str_is(request->info.verb, "create")) {
        return error_method_not_allowed();
    }
    TRY(read_eviction(request, &options, &eviction));
    struct delete_op op = {.request = request,
                           .resource = apiserver_resource(request->server, "", "v1", "pods"),
                           .namespace = request->info.namespace,
                           .name = request->info.name};

    if (eviction->delete_options != NULL) {
        TRY(registry_convert_delete_options(eviction->delete_options, &op.options));
    }
    op.options.dry_run = op.options.dry_run || options.dry_run;
    options.dry_run = op.options.dry_run;
    TRY(storage_get(request->server->store, op.resource, request->arena, op.namespace, op.name, &kept));
    TRY(check_uid(&op, kept.object));
    const struct core_v1_pod *pod = (const struct core_v1_pod *)kept.object;

    if (!is_beyond_budgets(pod)) {
        TRY(ask_budgets(request, pod, &options));
    }
    TRY(registry_remove(&op));
    return respond_created(request);
}
