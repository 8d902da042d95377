#include "api/node_affinity.h"

#include "schema/map_of.h"

static bool value_in(const struct str_list *values, struct str value)
{
    LIST_EACH(item, values)
    {
        if (str_eq(*item, value)) {
            return true;
        }
    }
    return false;
}

static bool requirement_matches(const struct core_v1_node_selector_requirement *requirement, bool has,
                                struct str value)
{
    const struct str_list values = {requirement->values.items, requirement->values.len};
    int64_t number, bound;

    if (str_is(requirement->operator, "In")) {
        return has && value_in(&values, value);
    }
    if (str_is(requirement->operator, "NotIn")) {
        return !has || !value_in(&values, value);
    }
    if (str_is(requirement->operator, "Exists")) {
        return has;
    }
    if (str_is(requirement->operator, "DoesNotExist")) {
        return !has;
    }
    bool comparable = has && values.len == 1 && str_to_i64(value, &number) && str_to_i64(values.items[0], &bound);

    return comparable && (str_is(requirement->operator, "Gt") ? number > bound : number < bound);
}

bool node_affinity_term_matches(const struct core_v1_node_selector_term *term, const struct core_v1_node *node)
{
    if (term->match_expressions.len == 0 && term->match_fields.len == 0) {
        return false;
    }
    LIST_EACH(requirement, &term->match_expressions)
    {
        struct str value = str_map_get(&node->metadata.labels, requirement->key);

        if (!requirement_matches(requirement, value.p != NULL, value)) {
            return false;
        }
    }
    LIST_EACH(requirement, &term->match_fields)
    {
        if (!str_is(requirement->key, "metadata.name") ||
            !requirement_matches(requirement, true, node->metadata.name)) {
            return false;
        }
    }
    return true;
}

bool node_affinity_matches(const struct core_v1_pod *pod, const struct core_v1_node *node)
{
    const struct core_v1_node_affinity *affinity =
        pod->spec.affinity != NULL ? pod->spec.affinity->node_affinity : NULL;

    LIST_EACH(wanted, &pod->spec.node_selector)
    {
        struct str value = str_map_get(&node->metadata.labels, wanted->key);

        if (value.p == NULL || !str_eq(value, wanted->value)) {
            return false;
        }
    }
    if (affinity == NULL || affinity->required_during_scheduling_ignored_during_execution == NULL) {
        return true;
    }
    LIST_EACH(term, &affinity->required_during_scheduling_ignored_during_execution->node_selector_terms)
    {
        if (node_affinity_term_matches(term, node)) {
            return true;
        }
    }
    return false;
}
