/* TaintToleration: taints that the pod does not tolerate keep it away (NoSchedule, NoExecute) or make a node less
 * liked (PreferNoSchedule). */
#include "scheduler/plugin.h"

static bool tolerates(const struct core_v1_toleration *toleration, const struct core_v1_taint *taint)
{
    if ((toleration->effect.n > 0 && !str_eq(toleration->effect, taint->effect)) ||
        (toleration->key.n > 0 && !str_eq(toleration->key, taint->key))) {
        return false;
    }
    if (str_is(toleration->operator, "Exists")) {
        return true;
    }
    int64_t wanted, have;

    if (str_is(toleration->operator, "Lt") || str_is(toleration->operator, "Gt")) {
        if (!str_to_i64(toleration->value, &wanted) || !str_to_i64(taint->value, &have)) {
            return false;
        }
        return str_is(toleration->operator, "Lt") ? have < wanted : have > wanted;
    }
    return (toleration->operator.n == 0 || str_is(toleration->operator, "Equal")) &&
           str_eq(toleration->value, taint->value);
}

bool taint_is_tolerated(const struct core_v1_pod *pod, const struct core_v1_taint *taint)
{
    LIST_EACH(toleration, &pod->spec.tolerations)
    {
        if (tolerates(toleration, taint)) {
            return true;
        }
    }
    return false;
}

static enum verdict filter(const struct attempt *attempt, const struct node_info *node, struct reasons *ret)
{
    LIST_EACH(taint, &node->node->spec.taints)
    {
        bool keeps_away = str_is(taint->effect, "NoSchedule") || str_is(taint->effect, "NoExecute");

        if (keeps_away && !taint_is_tolerated(attempt->pod->pod, taint)) {
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
        untolerated += str_is(taint->effect, "PreferNoSchedule") && !taint_is_tolerated(attempt->pod->pod, taint);
    }
    return untolerated;
}

static void normalize(const struct attempt *attempt, int64_t *scores, size_t count)
{
    scores_normalize(scores, count, true);
}

const struct plugin taint_toleration_plugin = {
    .name = "TaintToleration", .weight = 3, .filter = filter, .score = score, .normalize = normalize};
