#include "controller/daemonset_nodes.h"

#include "api/node_affinity.h"
#include "api/tolerations.h"
#include "controller/pod_template.h"

/* Daemons live with what drives other pods away: they are often what mends it. */
static const struct daemon_toleration {
    const char *key, *effect;
    bool host_network_only;
} daemon_tolerations[] = {
    {"node.kubernetes.io/not-ready", "NoExecute", false},
    {"node.kubernetes.io/unreachable", "NoExecute", false},
    {"node.kubernetes.io/disk-pressure", "NoSchedule", false},
    {"node.kubernetes.io/memory-pressure", "NoSchedule", false},
    {"node.kubernetes.io/pid-pressure", "NoSchedule", false},
    {"node.kubernetes.io/unschedulable", "NoSchedule", false},
    {"node.kubernetes.io/network-unavailable", "NoSchedule", true},
};

static bool has_toleration(const struct core_v1_pod_spec *spec, const struct core_v1_toleration *toleration)
{
    LIST_EACH(have, &spec->tolerations)
    {
        if (str_eq(have->key, toleration->key) && str_eq(have->effect, toleration->effect) &&
            str_eq(have->operator, toleration->operator)) {
            return true;
        }
    }
    return false;
}

static void add_tolerations(struct arena *arena, struct core_v1_pod_spec *spec)
{
    __typeof__(spec->tolerations) all = {0};

    LIST_EACH(have, &spec->tolerations)
    {
        *LIST_ADD(arena, &all) = *have;
    }
    for (size_t i = 0; i < COUNT_OF(daemon_tolerations); i++) {
        struct core_v1_toleration toleration = {.key = str_of(daemon_tolerations[i].key),
                                                .operator = STR("Exists"),
                                                .effect = str_of(daemon_tolerations[i].effect)};

        if ((!daemon_tolerations[i].host_network_only || spec->host_network) && !has_toleration(spec, &toleration)) {
            *LIST_ADD(arena, &all) = toleration;
        }
    }
    spec->tolerations.items = all.items;
    spec->tolerations.len = all.len;
}

/* Required to be on that node, whatever node affinity the template asks for: that has been looked at here. */
static void pin(struct arena *arena, struct core_v1_pod_spec *spec, struct str node_name)
{
    struct core_v1_affinity *affinity = ARENA_NEW(arena, struct core_v1_affinity);
    struct core_v1_node_affinity *node = ARENA_NEW(arena, struct core_v1_node_affinity);
    struct core_v1_node_selector *required = ARENA_NEW(arena, struct core_v1_node_selector);
    struct core_v1_node_selector_term term = {0};
    struct core_v1_node_selector_requirement by_name = {.key = STR("metadata.name"), .operator = STR("In")};

    if (spec->affinity != NULL) {
        *affinity = *spec->affinity;
        if (affinity->node_affinity != NULL) {
            *node = *affinity->node_affinity;
        }
    }
    *LIST_ADD(arena, &by_name.values) = node_name;
    *LIST_ADD(arena, &term.match_fields) = by_name;
    *LIST_ADD(arena, &required->node_selector_terms) = term;
    node->required_during_scheduling_ignored_during_execution = required;
    affinity->node_affinity = node;
    spec->affinity = affinity;
}

struct core_v1_pod *daemonset_nodes_pod(struct arena *arena, const struct apps_v1_daemon_set *set,
                                        struct str node_name)
{
    struct core_v1_pod *pod = pod_template_pod(arena, &set->spec.template, &apps_v1_daemon_set_kind, set);

    pin(arena, &pod->spec, node_name);
    add_tolerations(arena, &pod->spec);
    return pod;
}

struct daemonset_verdict daemonset_nodes_judge(struct arena *arena, const struct apps_v1_daemon_set *set,
                                               const struct core_v1_node *node)
{
    struct core_v1_pod pod = {.spec = set->spec.template.spec};
    struct daemonset_verdict verdict = {.should_run = true, .should_continue = true};

    if ((pod.spec.node_name.n > 0 && !str_eq(pod.spec.node_name, node->metadata.name)) ||
        !node_affinity_matches(&pod, node)) {
        return (struct daemonset_verdict){false, false};
    }
    add_tolerations(arena, &pod.spec);
    LIST_EACH(taint, &node->spec.taints)
    {
        bool evicts = str_is(taint->effect, "NoExecute");

        if ((evicts || str_is(taint->effect, "NoSchedule")) && !tolerations_of_pod_tolerate(&pod, taint)) {
            verdict.should_run = false;
            verdict.should_continue = verdict.should_continue && !evicts;
        }
    }
    return verdict;
}

struct str daemonset_nodes_of_pod(const struct core_v1_pod *pod)
{
    if (pod->spec.node_name.n > 0) {
        return pod->spec.node_name;
    }
    if (pod->spec.affinity == NULL || pod->spec.affinity->node_affinity == NULL ||
        pod->spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution == NULL) {
        return (struct str){0};
    }
    LIST_EACH(term, &pod->spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution
                         ->node_selector_terms)
    {
        LIST_EACH(field, &term->match_fields)
        {
            if (str_is(field->key, "metadata.name") && str_is(field->operator, "In") && field->values.len == 1) {
                return field->values.items[0];
            }
        }
    }
    return (struct str){0};
}
