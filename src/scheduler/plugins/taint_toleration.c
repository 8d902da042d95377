/* TaintToleration: taints that the pod does not tolerate keep it away (NoSchedule, NoExecute) or make a node less
 * liked (PreferNoSchedule). */
#include "scheduler/plugin.h"

#include "api/tolerations.h"

static enum verdict filter(const struct attempt *attempt, const struct node_info *node, struct reasons *ret)
{
    LIST_EACH(taint, &node->node->spec.taints)
    {
        bool keeps_away = str_is(taint->effect, "NoSchedule") || str_is(taint->effect, "NoExecute");

        if (keeps_away && !tolerations_of_pod_tolerate(attempt->pod->pod, taint)) {
            reasons_add(attempt->arena, ret, STR("node(s) had untolerated taint(s)"));
            return VERDICT_UNRESOLVABLE;
        }
    }
    return VERDICT_FITS;
}

static int64_t score(const struct attempt *attempt, const struct node_info *node)
{
    int64_t untolerated = 0;

    LIST_EACH(taint, &node->node->spec.taints)
    {
        untolerated +=
            str_is(taint->effect, "PreferNoSchedule") && !tolerations_of_pod_tolerate(attempt->pod->pod, taint);
    }
    return untolerated;
}

static void normalize(const struct attempt *attempt, int64_t *scores, size_t count)
{
    scores_normalize(scores, count, true);
}

const struct plugin taint_toleration_plugin = {
    .name = "TaintToleration", .weight = 3, .filter = filter, .score = score, .normalize = normalize};
