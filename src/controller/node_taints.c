#include "controller/node_taints.h"

#include "base/env.h"

/* A condition that has this status puts this taint on its node. */
static const struct rule {
    const char *condition, *status, *taint;
    bool evicts; /* NoExecute beside NoSchedule */
} rules[] = {
    {"Ready", "False", TAINT_NOT_READY, true},
    {"Ready", "Unknown", TAINT_UNREACHABLE, true},
    {"MemoryPressure", "True", "node.kubernetes.io/memory-pressure", false},
    {"DiskPressure", "True", "node.kubernetes.io/disk-pressure", false},
    {"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable", false},
    {"PIDPressure", "True", "node.kubernetes.io/pid-pressure", false},
};

const struct core_v1_node_condition *node_taints_condition(const struct core_v1_node *node, const char *type)
{
    LIST_EACH(condition, &node->status.conditions)
    {
        if (str_is(condition->type, type)) {
            return condition;
        }
    }
    return NULL;
}

static bool holds(const struct rule *rule, const struct core_v1_node *node)
{
    const struct core_v1_node_condition *condition = node_taints_condition(node, rule->condition);

    return condition != NULL && str_is(condition->status, rule->status);
}

/* It is there because of a rule, whether that holds or not. */
static bool is_ruled(const struct core_v1_taint *taint)
{
    bool no_schedule = str_is(taint->effect, "NoSchedule"), no_execute = str_is(taint->effect, "NoExecute");

    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        if (str_is(taint->key, rules[i].taint) && (no_schedule || (rules[i].evicts && no_execute))) {
            return true;
        }
    }
    return str_is(taint->key, TAINT_UNSCHEDULABLE) && no_schedule;
}

/* As it is on the node already, or new. */
static void want(struct arena *arena, struct taints *taints, const struct core_v1_node *node, const char *key,
                 const char *effect, int64_t now)
{
    LIST_EACH(taint, &node->spec.taints)
    {
        if (str_is(taint->key, key) && str_is(taint->effect, effect)) {
            *LIST_ADD(arena, taints) = *taint;
            return;
        }
    }
    struct timestamp *added = ARENA_NEW(arena, struct timestamp);

    *added = (struct timestamp){.seconds = now / ENV_SECOND, .is_set = true};
    *LIST_ADD(arena, taints) =
        (struct core_v1_taint){.key = str_of(key), .effect = str_of(effect), .time_added = added};
}

struct taints node_taints_wanted(struct arena *arena, const struct core_v1_node *node, int64_t now)
{
    struct taints taints = {0};

    LIST_EACH(taint, &node->spec.taints)
    {
        if (!is_ruled(taint)) {
            *LIST_ADD(arena, &taints) = *taint;
        }
    }
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        if (holds(&rules[i], node)) {
            want(arena, &taints, node, rules[i].taint, "NoSchedule", now);
            if (rules[i].evicts) {
                want(arena, &taints, node, rules[i].taint, "NoExecute", now);
            }
        }
    }
    if (node->spec.unschedulable) {
        want(arena, &taints, node, TAINT_UNSCHEDULABLE, "NoSchedule", now);
    }
    return taints;
}

static bool has(const struct core_v1_taint *items, size_t len, const struct core_v1_taint *taint)
{
    for (size_t i = 0; i < len; i++) {
        if (str_eq(items[i].key, taint->key) && str_eq(items[i].effect, taint->effect) &&
            str_eq(items[i].value, taint->value)) {
            return true;
        }
    }
    return false;
}

bool node_taints_equal(const struct core_v1_node *node, const struct taints *taints)
{
    if (node->spec.taints.len != taints->len) {
        return false;
    }
    LIST_EACH(taint, taints)
    {
        if (!has(node->spec.taints.items, node->spec.taints.len, taint)) {
            return false;
        }
    }
    return true;
}
