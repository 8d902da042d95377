/* NodeAffinity: nodeSelector and required terms must match; preferred terms add their weights. */
#include "scheduler/plugin.h"

#include "api/node_affinity.h"

static const struct core_v1_node_affinity *affinity_of(const struct core_v1_pod *pod)
{
    return pod->spec.affinity != NULL ? pod->spec.affinity->node_affinity : NULL;
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
        if (preferred->weight != 0 && node_affinity_term_matches(&preferred->preference, node->node)) {
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
