/* LimitRanges, ResourceQuotas, priorities, leases, disruption budgets. */
#include "api/coordination_v1.h"
#include "api/core_v1.h"
#include "api/policy_v1.h"
#include "api/scheduling_v1.h"
#include "api/validation/kinds.h"
#include "api/validation/meta.h"
#include "api/validation/pod.h"
#include "api/validation/workloads.h"
#include "schema/copy.h"
#include "schema/map_of.h"
#include "schema/quantity.h"

enum { USER_PRIORITY_MAX = 1000 * 1000 * 1000 };

static void check_limit_type(struct status *to, const struct path *at, struct str type)
{
    static const char *const types[] = {"Pod", "Container", "PersistentVolumeClaim", NULL};

    if (check_name(to, at, type, name_is_qualified) && str_index(type, '/') == SIZE_MAX && !is_one_of(type, types)) {
        check_invalid_str(to, at, type, "must be a standard limit type or fully qualified");
    }
}

/* Checks the names of one of the maps, and notes them. */
static void check_limit_names(struct status *to, const struct path *at, const struct core_v1_limit_range_item *item,
                              const struct quantity_map *map, struct str_list *keys,
                              struct seen *seen)
{
    bool of_containers = str_is(item->type, "Pod") || str_is(item->type, "Container");

    LIST_EACH(amount, map) {
        if (!seen_before(seen, amount->key)) {
            *LIST_ADD(to->arena, keys) = amount->key;
        }
        if (of_containers) {
            check_container_resource_name(to, KEY(at, amount->key), amount->key);
        } else {
            check_resource_name(to, KEY(at, amount->key), amount->key);
        }
    }
}

static bool exceeds(const struct quantity *a, const struct quantity *b)
{
    return a != NULL && b != NULL && quantity_cmp(*a, *b) > 0;
}

#define CHECK_ORDER_(less, more, field, shown, format)                                                                 \
    if (exceeds((less), (more))) {                                                                                     \
        check_invalid_str(to, KEY(AT(at, field), key), (shown)->text, format, STR_ARG((less)->text),                   \
                          STR_ARG((more)->text));                                                                      \
    }

static void check_limit_amounts(struct status *to, const struct path *at, const struct core_v1_limit_range_item *item,
                                struct str key)
{
    const struct quantity *min = quantity_map_get(&item->min, key), *max = quantity_map_get(&item->max, key);
    const struct quantity *limit = quantity_map_get(&item->default_, key);
    const struct quantity *request = quantity_map_get(&item->default_request, key);
    const struct quantity *ratio = quantity_map_get(&item->max_limit_request_ratio, key);
    const struct path *ratio_at = KEY(AT(at, "maxLimitRequestRatio"), key);

    CHECK_ORDER_(min, max, "min", min, "min value %.*s is greater than max value %.*s")
    CHECK_ORDER_(min, request, "defaultRequest", request, "min value %.*s is greater than default request value %.*s")
    CHECK_ORDER_(request, max, "defaultRequest", request, "default request value %.*s is greater than max value %.*s")
    CHECK_ORDER_(request, limit, "defaultRequest", request,
                 "default request value %.*s is greater than default limit value %.*s")
    CHECK_ORDER_(min, limit, "default", min, "min value %.*s is greater than default value %.*s")
    CHECK_ORDER_(limit, max, "default", max, "default value %.*s is greater than max value %.*s")
    if (ratio != NULL && quantity_cmp(*ratio, (struct quantity){STR("1")}) < 0) {
        check_invalid_str(to, ratio_at, ratio->text, "ratio %.*s is less than 1", STR_ARG(ratio->text));
    }
    if (ratio != NULL && min != NULL && max != NULL && quantity_double(*min) > 0) {
        double most = quantity_double(*max) / quantity_double(*min);

        if (quantity_double(*ratio) > most) {
            check_invalid_str(to, ratio_at, ratio->text, "ratio %.*s is greater than max/min = %f",
                              STR_ARG(ratio->text), most);
        }
    }
    if (!resource_is_overcommitted(key) && limit != NULL && request != NULL && quantity_cmp(*limit, *request) != 0) {
        check_invalid_str(to, KEY(AT(at, "defaultRequest"), key), request->text,
                          "default value %.*s must equal to defaultRequest value %.*s in %.*s", STR_ARG(limit->text),
                          STR_ARG(request->text), STR_ARG(key));
    }
}

static void check_limit(struct status *to, const struct path *at, const struct core_v1_limit_range_item *item)
{
    static const char *const message = "may not be specified when `type` is 'Pod'";
    OWNED(seen_done) struct seen seen = {0};
    struct str_list keys = {0};

    check_limit_names(to, AT(at, "max"), item, &item->max, &keys, &seen);
    check_limit_names(to, AT(at, "min"), item, &item->min, &keys, &seen);
    if (str_is(item->type, "Pod")) {
        if (item->default_.len > 0) {
            check_forbidden(to, AT(at, "default"), "%s", message);
        }
        if (item->default_request.len > 0) {
            check_forbidden(to, AT(at, "defaultRequest"), "%s", message);
        }
    } else {
        check_limit_names(to, AT(at, "default"), item, &item->default_, &keys, &seen);
        check_limit_names(to, AT(at, "defaultRequest"), item, &item->default_request, &keys, &seen);
    }
    if (str_is(item->type, "PersistentVolumeClaim") && quantity_map_get(&item->min, STR("storage")) == NULL &&
        quantity_map_get(&item->max, STR("storage")) == NULL) {
        check_required(to, AT(at, "limits"),
                       "either minimum or maximum storage value is required, but neither was provided");
    }
    check_limit_names(to, AT(at, "maxLimitRequestRatio"), item, &item->max_limit_request_ratio, &keys, &seen);
    LIST_EACH(key, &keys) {
        check_limit_amounts(to, at, item, *key);
    }
}

void validate_limit_range(struct status *to, const void *object)
{
    const struct core_v1_limit_range_spec *spec = &((const struct core_v1_limit_range *)object)->spec;
    const struct path *at = AT(AT(NULL, "spec"), "limits");

    OWNED(seen_done) struct seen types = {0};

    LIST_EACH(item, &spec->limits) {
        const struct path *one = ITEM(at, INDEX_OF(item, &spec->limits));

        check_limit_type(to, AT(one, "type"), item->type);
        if (seen_before(&types, item->type)) {
            check_duplicate(to, AT(one, "type"), item->type);
        }
        check_limit(to, one, item);
    }
}

void validate_limit_range_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_limit_range(to, object);
}

static bool is_quota_resource(struct str name)
{
    static const char *const known[] = {"cpu",
                                        "memory",
                                        "ephemeral-storage",
                                        "requests.cpu",
                                        "requests.memory",
                                        "requests.storage",
                                        "requests.ephemeral-storage",
                                        "limits.cpu",
                                        "limits.memory",
                                        "limits.ephemeral-storage",
                                        "pods",
                                        "resourcequotas",
                                        "services",
                                        "replicationcontrollers",
                                        "secrets",
                                        "persistentvolumeclaims",
                                        "configmaps",
                                        "services.nodeports",
                                        "services.loadbalancers",
                                        NULL};

    return is_one_of(name, known) || resource_is_huge_page(name) || str_has_prefix(name, STR("requests.hugepages-"));
}

static bool scope_is_known(struct str scope)
{
    static const char *const scopes[] = {"Terminating",
                                         "NotTerminating",
                                         "BestEffort",
                                         "NotBestEffort",
                                         "PriorityClass",
                                         "CrossNamespacePodAffinity",
                                         "VolumeAttributesClass",
                                         NULL};

    return is_one_of(scope, scopes);
}

static void check_quota_scopes(struct status *to, const struct path *at, const struct core_v1_resource_quota_spec *spec)
{
    const struct str_list *scopes = (const struct str_list *)&spec->scopes;
    struct str text = dump_strings(to->arena, scopes);

    LIST_EACH(scope, scopes) {
        if (!scope_is_known(*scope)) {
            check_invalid_json(to, at, text, "unsupported scope");
        }
    }
    if (has_string(scopes, STR("BestEffort")) && has_string(scopes, STR("NotBestEffort"))) {
        check_invalid_json(to, at, text, "conflicting scopes");
    }
    if (has_string(scopes, STR("Terminating")) && has_string(scopes, STR("NotTerminating"))) {
        check_invalid_json(to, at, text, "conflicting scopes");
    }
}

static void check_scope_selector(struct status *to, const struct path *at,
                                 const struct core_v1_scope_selector *selector)
{
    static const char *const operators[] = {"DoesNotExist", "Exists", "In", "NotIn", NULL};

    LIST_EACH(requirement, &selector->match_expressions) {
        const struct path *one = AT(at, "matchExpressions");
        struct str op = requirement->operator;

        if (!scope_is_known(requirement->scope_name)) {
            check_invalid_str(to, AT(one, "scopeName"), requirement->scope_name, "unsupported scope");
        }
        if (str_is(op, "In") || str_is(op, "NotIn")) {
            if (requirement->values.len == 0) {
                check_required(to, AT(one, "values"),
                               "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector");
            }
        } else if (str_is(op, "Exists") || str_is(op, "DoesNotExist")) {
            if (requirement->values.len != 0) {
                check_invalid_json(to, AT(one, "values"), dump_strings(to->arena, &requirement->values),
                                   "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector");
            }
        } else {
            check_unsupported(to, AT(one, "operator"), op, operators);
        }
    }
}

void validate_resource_quota(struct status *to, const void *object)
{
    const struct core_v1_resource_quota_spec *spec = &((const struct core_v1_resource_quota *)object)->spec;
    const struct path *at = AT(NULL, "spec");

    LIST_EACH(amount, &spec->hard) {
        const struct path *one = KEY(AT(at, "hard"), amount->key);

        check_resource_name(to, one, amount->key);
        if (str_index(amount->key, '/') == SIZE_MAX && !is_quota_resource(amount->key)) {
            check_invalid_str(to, one, amount->key, "must be a standard resource for quota");
        }
        check_resource_amount(to, one, amount->key, amount->value);
    }
    check_quota_scopes(to, AT(at, "scopes"), spec);
    if (spec->scope_selector != NULL) {
        check_scope_selector(to, AT(at, "scopeSelector"), spec->scope_selector);
    }
}

void validate_resource_quota_update(struct status *to, const void *object, const void *old)
{
    const struct core_v1_resource_quota_spec *spec = &((const struct core_v1_resource_quota *)object)->spec;
    const struct core_v1_resource_quota_spec *before = &((const struct core_v1_resource_quota *)old)->spec;
    OWNED(seen_done) struct seen known = {0};
    bool same = spec->scopes.len == before->scopes.len;

    validate_resource_quota(to, object);
    LIST_EACH(scope, (const struct str_list *)&before->scopes) {
        seen_before(&known, *scope);
    }
    LIST_EACH(scope, (const struct str_list *)&spec->scopes) {
        same &= seen_has(&known, *scope);
    }
    if (!same) {
        check_invalid_json(to, AT(AT(NULL, "spec"), "scopes"),
                           dump_strings(to->arena, (const struct str_list *)&spec->scopes), "field is immutable");
    }
}

/* Names of the system's own classes, and what they must be. */
static void check_system_priority(struct status *to, const struct scheduling_v1_priority_class *class)
{
    static const struct {
        const char *name;
        int32_t value;
    } known[] = {{"system-node-critical", 2000001000}, {"system-cluster-critical", 2000000000}};
    const struct path *name = AT(AT(NULL, "metadata"), "name");
    static const char *const format = "priority class names with 'system-' prefix are reserved for system use only. "
                                      "error: ";

    for (size_t i = 0; i < COUNT_OF(known); i++) {
        if (!str_is(class->metadata.name, known[i].name)) {
            continue;
        }
        if (class->value != known[i].value) {
            check_forbidden(to, name, "%svalue of %s PriorityClass must be %d", format, known[i].name, known[i].value);
        } else if (class->global_default) {
            check_forbidden(to, name, "%sglobalDefault of %s PriorityClass must be false", format, known[i].name);
        }
        return;
    }
    check_forbidden(to, name, "%s%.*s is not a known system priority class", format, STR_ARG(class->metadata.name));
}

void validate_priority_class(struct status *to, const void *object)
{
    static const char *const policies[] = {"PreemptLowerPriority", "Never", NULL};
    const struct scheduling_v1_priority_class *class = object;

    if (str_has_prefix(class->metadata.name, STR("system-"))) {
        check_system_priority(to, class);
    } else if (class->value > USER_PRIORITY_MAX) {
        check_forbidden(to, AT(NULL, "value"), "maximum allowed value of a user defined priority is %d",
                        USER_PRIORITY_MAX);
    }
    if (class->preemption_policy != NULL) {
        check_one_of(to, AT(NULL, "preemptionPolicy"), *class->preemption_policy, policies);
    }
}

void validate_priority_class_update(struct status *to, const void *object, const void *old)
{
    const struct scheduling_v1_priority_class *class = object, *before = old;

    if (class->value != before->value) {
        check_forbidden(to, AT(NULL, "value"), "may not be changed in an update.");
    }
    if (class->preemption_policy != NULL && before->preemption_policy != NULL) {
        check_immutable_str(to, AT(NULL, "preemptionPolicy"), *class->preemption_policy, *before->preemption_policy);
    }
}

void validate_lease(struct status *to, const void *object)
{
    static const char *const strategies[] = {"OldestEmulationVersion", NULL};
    const struct coordination_v1_lease_spec *spec = &((const struct coordination_v1_lease *)object)->spec;
    const struct path *at = AT(NULL, "spec");

    if (spec->lease_duration_seconds != NULL && *spec->lease_duration_seconds <= 0) {
        check_invalid_int(to, AT(at, "leaseDurationSeconds"), *spec->lease_duration_seconds, "must be greater than 0");
    }
    if (spec->lease_transitions != NULL && *spec->lease_transitions < 0) {
        check_invalid_int(to, AT(at, "leaseTransitions"), *spec->lease_transitions,
                          "must be greater than or equal to 0");
    }
    if (spec->strategy != NULL && str_index(*spec->strategy, '/') == SIZE_MAX) {
        check_one_of(to, AT(at, "strategy"), *spec->strategy, strategies);
    }
}

void validate_lease_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_lease(to, object);
}

void validate_disruption_budget(struct status *to, const void *object)
{
    static const char *const policies[] = {"AlwaysAllow", "IfHealthyBudget", NULL};
    const struct policy_v1_pod_disruption_budget_spec *spec =
        &((const struct policy_v1_pod_disruption_budget *)object)->spec;
    const struct path *at = AT(NULL, "spec");

    if (spec->min_available != NULL && spec->max_unavailable != NULL) {
        check_invalid_struct(to, at, &policy_v1_pod_disruption_budget_spec_type, spec,
                             "minAvailable and maxUnavailable cannot be both set");
    }
    if (spec->min_available != NULL) {
        check_int_or_percent(to, AT(at, "minAvailable"), spec->min_available);
        check_at_most_all(to, AT(at, "minAvailable"), spec->min_available);
    }
    if (spec->max_unavailable != NULL) {
        check_int_or_percent(to, AT(at, "maxUnavailable"), spec->max_unavailable);
        check_at_most_all(to, AT(at, "maxUnavailable"), spec->max_unavailable);
    }
    check_label_selector(to, AT(at, "selector"), spec->selector);
    if (spec->unhealthy_pod_eviction_policy != NULL) {
        check_one_of(to, AT(at, "unhealthyPodEvictionPolicy"), *spec->unhealthy_pod_eviction_policy, policies);
    }
}

void validate_disruption_budget_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_disruption_budget(to, object);
}
