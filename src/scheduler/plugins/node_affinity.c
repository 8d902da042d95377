/* NodeAffinity: nodeSelector and required terms must match; preferred terms add their weights. */
#include "scheduler/plugin.h"

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

/* A term without any requirement matches nothing. */
static bool term_matches(const struct core_v1_node_selector_term *term, const struct core_v1_node *node)
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

static const struct core_v1_node_affinity *affinity_of(const struct core_v1_pod *pod)
{
    return pod->spec.affinity != NULL ? pod->spec.affinity->node_affinity : NULL;
}

bool node_affinity_matches(const struct core_v1_pod *pod, const struct core_v1_node *node)
{
    const struct core_v1_node_affinity *affinity = affinity_of(pod);

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
        if (term_matches(term, node)) {
            return true;
        }
    }
    return false;
}

static enum verdict filter(const struct attempt *attempt, const struct node_info *node, struct reasons *ret)
{
    if (node_affinity_matches(attempt->pod->pod, node->node)) {
        return VERDICT_FITS;
    }
    reasons_add(attempt->arena, ret, STR("node(s) didn't match Pod's node affinity/selector"));
    return VERDICT_UNRESOLVABLE;
}

static int64_t score(const struct attempt *attempt, const struct node_info *node)
{
    const struct core_v1_node_affinity *affinity = affinity_of(attempt->pod->pod);
    int64_t sum = 0;

    if (affinity == NULL) {
        return 0;
    }
    LIST_EACH(preferred, &affinity->preferred_during_scheduling_ignored_during_execution)
    {
        if (preferred->weight != 0 && term_matches(&preferred->preference, node->node)) {
            sum += preferred->weight;
        }
    }
    return sum;
}

static void normalize(const struct attempt *attempt, int64_t *scores, size_t count)
{
    scores_normalize(scores, count, false);
}

const struct plugin node_affinity_plugin = {
    .name = "NodeAffinity", .weight = 2, .filter = filter, .score = score, .normalize = normalize};
