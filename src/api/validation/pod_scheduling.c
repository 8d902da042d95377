#include "api/validation/meta.h"
#include "api/validation/pod.h"

static void check_expression(struct status *to, const struct path *at,
                             const struct core_v1_node_selector_requirement *requirement)
{
    struct str op = requirement->operator;
    size_t count = requirement->values.len;

    if (str_is(op, "In") || str_is(op, "NotIn")) {
        if (count == 0) {
            check_required(to, AT(at, "values"), "must be specified when `operator` is 'In' or 'NotIn'");
        }
    } else if (str_is(op, "Exists") || str_is(op, "DoesNotExist")) {
        if (count > 0) {
            check_forbidden(to, AT(at, "values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
        }
    } else if (str_is(op, "Gt") || str_is(op, "Lt")) {
        if (count != 1) {
            check_required(to, AT(at, "values"), "must be specified single value when `operator` is 'Lt' or 'Gt'");
        }
    } else {
        check_invalid_str(to, AT(at, "operator"), op, "not a valid selector operator");
    }
    check_name(to, AT(at, "key"), requirement->key, name_is_qualified);
    if (str_is(op, "In") || str_is(op, "NotIn")) {
        LIST_EACH(value, &requirement->values) {
            check_name(to, ITEM(AT(at, "values"), INDEX_OF(value, &requirement->values)), *value, name_is_label_value);
        }
    }
}

static void check_field_expression(struct status *to, const struct path *at,
                                   const struct core_v1_node_selector_requirement *requirement)
{
    if (str_is(requirement->operator, "In") || str_is(requirement->operator, "NotIn")) {
        if (requirement->values.len != 1) {
            check_required(to, AT(at, "values"),
                           "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
        }
    } else {
        check_invalid_str(to, AT(at, "operator"), requirement->operator, "not a valid selector operator");
    }
    if (!str_is(requirement->key, "metadata.name")) {
        check_invalid_str(to, AT(at, "key"), requirement->key, "not a valid field selector key");
        return;
    }
    LIST_EACH(value, &requirement->values) {
        check_name(to, ITEM(AT(at, "values"), INDEX_OF(value, &requirement->values)), *value,
                   name_is_dns1123_subdomain);
    }
}

static void check_term(struct status *to, const struct path *at, const struct core_v1_node_selector_term *term)
{
    LIST_EACH(requirement, &term->match_expressions) {
        check_expression(to, ITEM(AT(at, "matchExpressions"), INDEX_OF(requirement, &term->match_expressions)),
                         requirement);
    }
    LIST_EACH(requirement, &term->match_fields) {
        check_field_expression(to, ITEM(AT(at, "matchFields"), INDEX_OF(requirement, &term->match_fields)),
                               requirement);
    }
}

void check_node_selector(struct status *to, const struct path *at, const struct core_v1_node_selector *selector)
{
    const struct path *terms = AT(at, "nodeSelectorTerms");

    if (selector->node_selector_terms.len == 0) {
        check_required(to, terms, "must have at least one node selector term");
    }
    LIST_EACH(term, &selector->node_selector_terms) {
        check_term(to, ITEM(terms, INDEX_OF(term, &selector->node_selector_terms)), term);
    }
}

static void check_weight(struct status *to, const struct path *at, int32_t weight)
{
    if (weight < 1 || weight > 100) {
        check_invalid_int(to, AT(at, "weight"), weight, "must be in the range 1-100");
    }
}

static void check_node_affinity(struct status *to, const struct path *at, const struct core_v1_node_affinity *affinity)
{
    static const char *const required = "requiredDuringSchedulingIgnoredDuringExecution";
    static const char *const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

    if (affinity->required_during_scheduling_ignored_during_execution != NULL) {
        check_node_selector(to, AT(at, required), affinity->required_during_scheduling_ignored_during_execution);
    }
    LIST_EACH(term, &affinity->preferred_during_scheduling_ignored_during_execution) {
        const struct path *one =
            ITEM(AT(at, preferred), INDEX_OF(term, &affinity->preferred_during_scheduling_ignored_during_execution));

        check_weight(to, one, term->weight);
        check_term(to, AT(one, "preference"), &term->preference);
    }
}

static void check_topology_key(struct status *to, const struct path *at, struct str key)
{
    if (key.n == 0) {
        check_required(to, at, "can not be empty");
    } else {
        check_name(to, at, key, name_is_qualified);
    }
}

static void check_pod_term(struct status *to, const struct path *at, const struct core_v1_pod_affinity_term *term)
{
    check_label_selector(to, AT(at, "labelSelector"), term->label_selector);
    check_label_selector(to, AT(at, "namespaceSelector"), term->namespace_selector);
    LIST_EACH(namespace, &term->namespaces) {
        check_name(to, AT(at, "namespace"), *namespace, name_is_dns1123_label);
    }
    check_topology_key(to, AT(at, "topologyKey"), term->topology_key);
}

/* The same of affinity and of anti-affinity. */
static void check_pod_terms(struct status *to, const struct path *at, const struct core_v1_pod_affinity *affinity)
{
    static const char *const required = "requiredDuringSchedulingIgnoredDuringExecution";
    static const char *const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

    LIST_EACH(term, &affinity->required_during_scheduling_ignored_during_execution) {
        check_pod_term(
            to, ITEM(AT(at, required), INDEX_OF(term, &affinity->required_during_scheduling_ignored_during_execution)),
            term);
    }
    LIST_EACH(term, &affinity->preferred_during_scheduling_ignored_during_execution) {
        const struct path *one =
            ITEM(AT(at, preferred), INDEX_OF(term, &affinity->preferred_during_scheduling_ignored_during_execution));

        check_weight(to, one, term->weight);
        check_pod_term(to, AT(one, "podAffinityTerm"), &term->pod_affinity_term);
    }
}

_Static_assert(sizeof(struct core_v1_pod_affinity) == sizeof(struct core_v1_pod_anti_affinity),
               "anti-affinity is checked as affinity");

void check_affinity(struct status *to, const struct path *at, const struct core_v1_affinity *affinity)
{
    if (affinity == NULL) {
        return;
    }
    if (affinity->node_affinity != NULL) {
        check_node_affinity(to, AT(at, "nodeAffinity"), affinity->node_affinity);
    }
    if (affinity->pod_affinity != NULL) {
        check_pod_terms(to, AT(at, "podAffinity"), affinity->pod_affinity);
    }
    if (affinity->pod_anti_affinity != NULL) {
        check_pod_terms(to, AT(at, "podAntiAffinity"), (const void *)affinity->pod_anti_affinity);
    }
}

void check_taint_effect(struct status *to, const struct path *at, struct str effect, bool may_be_empty)
{
    static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", NULL};

    if (effect.n == 0) {
        if (!may_be_empty) {
            check_required(to, at, "%s", "");
        }
        return;
    }
    check_one_of(to, at, effect, effects);
}

static void check_toleration(struct status *to, const struct path *at, const struct core_v1_toleration *toleration)
{
    static const char *const operators[] = {"Equal", "Exists", NULL};
    bool exists = str_is(toleration->operator, "Exists");

    if (toleration->key.n > 0) {
        check_name(to, AT(at, "key"), toleration->key, name_is_qualified);
    } else if (!exists) {
        check_invalid_str(to, AT(at, "operator"), toleration->operator,
                          "operator must be Exists when `key` is empty, which means \"match all values and all keys\"");
    }
    if (toleration->toleration_seconds != NULL && !str_is(toleration->effect, "NoExecute")) {
        check_invalid_str(to, AT(at, "effect"), toleration->effect,
                          "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    if (exists) {
        if (toleration->value.n > 0) {
            check_invalid_struct(to, AT(at, "operator"), &core_v1_toleration_type, toleration,
                                 "value must be empty when `operator` is 'Exists'");
        }
    } else if (toleration->operator.n == 0 || str_is(toleration->operator, "Equal")) {
        struct name_errors errors = {0};

        if (!name_is_label_value(toleration->value, &errors)) {
            check_invalid_str(to, AT(at, "operator"), toleration->value, "%.*s",
                              STR_ARG(name_errors_join(to->arena, &errors, ";")));
        }
    } else {
        check_unsupported(to, AT(at, "operator"), toleration->operator, operators);
    }
    check_taint_effect(to, AT(at, "effect"), toleration->effect, true);
}

void check_tolerations(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec)
{
    LIST_EACH(toleration, &spec->tolerations) {
        check_toleration(to, ITEM(at, INDEX_OF(toleration, &spec->tolerations)), toleration);
    }
}

static void check_min_domains(struct status *to, const struct path *at,
                              const struct core_v1_topology_spread_constraint *constraint)
{
    if (constraint->min_domains == NULL) {
        return;
    }
    if (*constraint->min_domains <= 0) {
        check_invalid_int(to, AT(at, "minDomains"), *constraint->min_domains, "must be greater than 0");
    }
    if (!str_is(constraint->when_unsatisfiable, "DoNotSchedule")) {
        check_invalid_int(to, AT(at, "minDomains"), *constraint->min_domains,
                          "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not %.*s",
                          STR_ARG(constraint->when_unsatisfiable));
    }
}

void check_spread(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec)
{
    static const char *const actions[] = {"DoNotSchedule", "ScheduleAnyway", NULL};
    static const char *const policies[] = {"Honor", "Ignore", NULL};
    OWNED(seen_done) struct seen seen = {0};

    LIST_EACH(constraint, &spec->topology_spread_constraints) {
        const struct path *one = ITEM(at, INDEX_OF(constraint, &spec->topology_spread_constraints));

        if (constraint->max_skew <= 0) {
            check_invalid_int(to, AT(one, "maxSkew"), constraint->max_skew, "must be greater than 0");
        }
        check_topology_key(to, AT(one, "topologyKey"), constraint->topology_key);
        check_one_of(to, AT(one, "whenUnsatisfiable"), constraint->when_unsatisfiable, actions);
        if (seen_pair_before(&seen, constraint->topology_key, constraint->when_unsatisfiable)) {
            check_duplicate(to, AT(one, "{topologyKey, whenUnsatisfiable}"),
                            arena_printf(to->arena, "{%.*s, %.*s}", STR_ARG(constraint->topology_key),
                                         STR_ARG(constraint->when_unsatisfiable)));
        }
        check_min_domains(to, one, constraint);
        if (constraint->node_affinity_policy != NULL) {
            check_one_of(to, AT(one, "nodeAffinityPolicy"), *constraint->node_affinity_policy, policies);
        }
        if (constraint->node_taints_policy != NULL) {
            check_one_of(to, AT(one, "nodeTaintsPolicy"), *constraint->node_taints_policy, policies);
        }
        check_label_selector(to, AT(one, "labelSelector"), constraint->label_selector);
    }
}
