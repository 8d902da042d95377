/* PodTopologySpread: pods of one selector are spread over the domains of a topology key; DoNotSchedule filters,
 * ScheduleAnyway scores. Pods that name no constraint are liked apart from others of their controller, by host and by
 * zone, as stock's system default has it. */
#include "scheduler/plugin.h"

#include "api/node_affinity.h"
#include "api/tolerations.h"
#include "scheduler/topology.h"
#include "schema/map_of.h"
#include "schema/selectors.h"

#include <math.h>

#define HOSTNAME "kubernetes.io/hostname"
#define ZONE "topology.kubernetes.io/zone"

struct constraint {
    int32_t max_skew, min_domains;
    struct str key;
    struct label_selector selector;
    struct str controller; /* instead of a selector: the UID of the pods' controller */
    bool honor_affinity, honor_taints;
    int64_t least;  /* pods in the domain that has fewest */
    double weight;  /* of a score: rarer domains count for less */
};

struct spread {
    struct constraint *items;
    size_t len;
    struct topology counts;
    bool all_keys; /* nodes without one of the keys do not take part */
};

static struct str controller_of(const struct core_v1_pod *pod)
{
    LIST_EACH(reference, &pod->metadata.owner_references)
    {
        if (reference->controller != NULL && *reference->controller) {
            return reference->uid;
        }
    }
    return (struct str){0};
}

static struct constraint constraint_of(struct arena *arena, const struct core_v1_pod *pod,
                                       const struct core_v1_topology_spread_constraint *from)
{
    struct constraint constraint = {
        .max_skew = from->max_skew,
        .min_domains = from->min_domains ? *from->min_domains : 1,
        .key = from->topology_key,
        .honor_affinity = from->node_affinity_policy == NULL || str_is(*from->node_affinity_policy, "Honor"),
        .honor_taints = from->node_taints_policy != NULL && str_is(*from->node_taints_policy, "Honor"),
    };

    constraint.selector = plugin_selector(arena, from->label_selector);
    LIST_EACH(key, &from->match_label_keys)
    {
        struct str value;

        if (str_map_lookup(&pod->metadata.labels, *key, &value)) {
            status_free(label_selector_add(arena, &constraint.selector, *key, SELECTOR_IN, &value, 1));
        }
    }
    return constraint;
}

static struct spread *spread_of(struct arena *arena, const struct core_v1_pod *pod, const char *when)
{
    struct spread *spread = ARENA_NEW(arena, struct spread);

    LIST_EACH(from, &pod->spec.topology_spread_constraints)
    {
        if (str_is(from->when_unsatisfiable, when)) {
            *LIST_ADD(arena, spread) = constraint_of(arena, pod, from);
        }
    }
    spread->all_keys = true;
    return spread;
}

static bool counts(const struct constraint *constraint, const struct core_v1_pod *pod, const struct core_v1_pod *other)
{
    if (other->metadata.deletion_timestamp != NULL || !str_eq(other->metadata.namespace, pod->metadata.namespace)) {
        return false;
    }
    return constraint->controller.n > 0 ? str_eq(controller_of(other), constraint->controller)
                                        : label_selector_matches_map(&constraint->selector, &other->metadata.labels);
}

static bool tolerates_node(const struct core_v1_pod *pod, const struct core_v1_node *node)
{
    LIST_EACH(taint, &node->spec.taints)
    {
        if (!str_is(taint->effect, "PreferNoSchedule") && !tolerations_of_pod_tolerate(pod, taint)) {
            return false;
        }
    }
    return true;
}

/* The node's pods are among those that this constraint spreads. */
static bool takes_part(const struct constraint *constraint, const struct core_v1_pod *pod,
                       const struct core_v1_node *node)
{
    return (!constraint->honor_affinity || node_affinity_matches(pod, node)) &&
           (!constraint->honor_taints || tolerates_node(pod, node));
}

static bool has_all_keys(const struct spread *spread, const struct core_v1_node *node)
{
    LIST_EACH(constraint, spread)
    {
        if (!str_map_has(&node->metadata.labels, constraint->key)) {
            return false;
        }
    }
    return true;
}

static int64_t count_on(const struct constraint *constraint, const struct core_v1_pod *pod,
                        const struct node_info *node)
{
    int64_t count = 0;

    for (size_t i = 0; i < node->pod_count; i++) {
        count += counts(constraint, pod, node->pods[i]->pod);
    }
    return count;
}

static void count_all(const struct attempt *attempt, struct spread *spread)
{
    const struct core_v1_pod *pod = attempt->pod->pod;

    for (size_t i = 0; i < attempt->nodes.len; i++) {
        const struct node_info *node = attempt->nodes.items[i];

        if (spread->all_keys && !has_all_keys(spread, node->node)) {
            continue;
        }
        LIST_EACH(constraint, spread)
        {
            struct str value;

            if (str_map_lookup(&node->node->metadata.labels, constraint->key, &value) &&
                takes_part(constraint, pod, node->node)) {
                *topology_at(&spread->counts, attempt->arena, constraint->key, value) +=
                    count_on(constraint, pod, node);
            }
        }
    }
}

static void *prepare_filter(const struct attempt *attempt)
{
    struct spread *spread = spread_of(attempt->arena, attempt->pod->pod, "DoNotSchedule");

    count_all(attempt, spread);
    LIST_EACH(constraint, spread)
    {
        int32_t domains = 0;

        constraint->least = INT64_MAX;
        LIST_EACH(count, &spread->counts)
        {
            if (str_eq(count->key, constraint->key)) {
                domains++;
                constraint->least = MIN(constraint->least, count->count);
            }
        }
        constraint->least = domains < constraint->min_domains || domains == 0 ? 0 : constraint->least;
    }
    return spread;
}

static enum verdict filter(const struct attempt *attempt, const struct node_info *node, struct reasons *ret)
{
    const struct spread *spread = attempt->state;
    const struct core_v1_pod *pod = attempt->pod->pod;

    LIST_EACH(constraint, spread)
    {
        struct str value;

        if (!str_map_lookup(&node->node->metadata.labels, constraint->key, &value)) {
            reasons_add(attempt->arena, ret,
                        STR("node(s) didn't match pod topology spread constraints (missing required label)"));
            return VERDICT_UNRESOLVABLE;
        }
        int64_t skew = topology_get(&spread->counts, constraint->key, value, NULL) + counts(constraint, pod, pod) -
                       constraint->least;

        if (skew > constraint->max_skew) {
            reasons_add(attempt->arena, ret, STR("node(s) didn't match pod topology spread constraints"));
            return VERDICT_UNSCHEDULABLE;
        }
    }
    return VERDICT_FITS;
}

/* How many domains of the key the candidates are in. */
static size_t domains_of(const struct attempt *attempt, const struct spread *spread, struct str key)
{
    struct topology seen = {0};
    size_t nodes = 0;

    for (size_t i = 0; i < attempt->candidates.len; i++) {
        const struct core_v1_node *node = attempt->candidates.items[i]->node;
        struct str value;

        if (spread->all_keys && !has_all_keys(spread, node)) {
            continue;
        }
        nodes++;
        if (str_map_lookup(&node->metadata.labels, key, &value)) {
            topology_at(&seen, attempt->arena, key, value);
        }
    }
    return str_is(key, HOSTNAME) ? nodes : seen.len;
}

static void *prepare_score(const struct attempt *attempt)
{
    const struct core_v1_pod *pod = attempt->pod->pod;
    struct spread *spread = spread_of(attempt->arena, pod, "ScheduleAnyway");
    struct str controller = controller_of(pod);

    if (pod->spec.topology_spread_constraints.len == 0 && controller.n > 0) {
        *LIST_ADD(attempt->arena, spread) = (struct constraint){
            .max_skew = 3, .key = STR(HOSTNAME), .controller = controller, .honor_affinity = true};
        *LIST_ADD(attempt->arena, spread) =
            (struct constraint){.max_skew = 5, .key = STR(ZONE), .controller = controller, .honor_affinity = true};
        spread->all_keys = false;
    }
    count_all(attempt, spread);
    LIST_EACH(constraint, spread)
    {
        constraint->weight = log((double)domains_of(attempt, spread, constraint->key) + 2);
    }
    return spread;
}

/* The lower the better; -1: the node takes no part. */
static int64_t score(const struct attempt *attempt, const struct node_info *node)
{
    const struct spread *spread = attempt->state;
    double sum = 0;

    if (spread->all_keys && !has_all_keys(spread, node->node)) {
        return -1;
    }
    LIST_EACH(constraint, spread)
    {
        struct str value;

        if (str_map_lookup(&node->node->metadata.labels, constraint->key, &value)) {
            sum += (double)topology_get(&spread->counts, constraint->key, value, NULL) * constraint->weight +
                   (double)(constraint->max_skew - 1);
        }
    }
    return (int64_t)round(sum);
}

static void normalize(const struct attempt *attempt, int64_t *scores, size_t count)
{
    const struct spread *spread = attempt->state;
    int64_t least = INT64_MAX, most = 0;

    if (spread->len == 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (scores[i] >= 0) {
            least = MIN(least, scores[i]);
            most = MAX(most, scores[i]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (scores[i] < 0) {
            scores[i] = 0;
        } else {
            scores[i] = most == 0 ? SCORE_MAX : SCORE_MAX * (most + least - scores[i]) / most;
        }
    }
}

const struct plugin pod_topology_spread_plugin = {.name = "PodTopologySpread",
                                                  .weight = 2,
                                                  .prepare_filter = prepare_filter,
                                                  .filter = filter,
                                                  .prepare_score = prepare_score,
                                                  .score = score,
                                                  .normalize = normalize};
