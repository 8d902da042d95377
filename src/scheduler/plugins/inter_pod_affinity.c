/* InterPodAffinity: pods that want to be, or must not be, in one topology domain with others. */
#include "scheduler/plugin.h"

#include "scheduler/topology.h"
#include "schema/map_of.h"
#include "schema/selectors.h"

/* What a required affinity of a pod already there adds to the score (stock: hardPodAffinityWeight). */
enum { HARD_WEIGHT = 1 };

struct term {
    struct label_selector selector, namespaces;
    const struct str_list *names; /* of namespaces */
    bool own_namespace;           /* names and selects no namespace: its pod's own */
    struct str owner_namespace;
    struct str key;
    int64_t weight;
};

struct terms {
    struct term *items;
    size_t len;
};

/* Domains that decide for all nodes. */
struct affinity {
    struct terms affine, apart; /* of the incoming pod */
    struct topology existing_apart, affine_counts, apart_counts, scores;
    bool matches_itself;
};

static void add_term(struct arena *arena, struct terms *terms, const struct core_v1_pod *owner,
                     const struct core_v1_pod_affinity_term *from, int64_t weight)
{
    struct term term = {
        .names = &from->namespaces,
        .own_namespace = from->namespaces.len == 0 && from->namespace_selector == NULL,
        .owner_namespace = owner->metadata.namespace,
        .key = from->topology_key,
        .weight = weight,
        .selector = plugin_selector(arena, from->label_selector),
        .namespaces = plugin_selector(arena, from->namespace_selector),
    };

    *LIST_ADD(arena, terms) = term;
}

static struct terms required_affine(struct arena *arena, const struct core_v1_pod *pod)
{
    struct terms terms = {0};

    if (pod->spec.affinity != NULL && pod->spec.affinity->pod_affinity != NULL) {
        LIST_EACH(term, &pod->spec.affinity->pod_affinity->required_during_scheduling_ignored_during_execution)
        {
            add_term(arena, &terms, pod, term, HARD_WEIGHT);
        }
    }
    return terms;
}

static struct terms required_apart(struct arena *arena, const struct core_v1_pod *pod)
{
    struct terms terms = {0};

    if (pod->spec.affinity != NULL && pod->spec.affinity->pod_anti_affinity != NULL) {
        LIST_EACH(term, &pod->spec.affinity->pod_anti_affinity->required_during_scheduling_ignored_during_execution)
        {
            add_term(arena, &terms, pod, term, 0);
        }
    }
    return terms;
}

/* Preferred terms of both sorts; those of anti-affinity weigh less than nothing. */
static struct terms preferred(struct arena *arena, const struct core_v1_pod *pod)
{
    struct terms terms = {0};

    if (pod->spec.affinity != NULL && pod->spec.affinity->pod_affinity != NULL) {
        LIST_EACH(term, &pod->spec.affinity->pod_affinity->preferred_during_scheduling_ignored_during_execution)
        {
            add_term(arena, &terms, pod, &term->pod_affinity_term, term->weight);
        }
    }
    if (pod->spec.affinity != NULL && pod->spec.affinity->pod_anti_affinity != NULL) {
        LIST_EACH(term, &pod->spec.affinity->pod_anti_affinity->preferred_during_scheduling_ignored_during_execution)
        {
            add_term(arena, &terms, pod, &term->pod_affinity_term, -(int64_t)term->weight);
        }
    }
    return terms;
}

static bool namespace_matches(const struct attempt *attempt, const struct term *term, struct str namespace)
{
    if (term->own_namespace) {
        return str_eq(namespace, term->owner_namespace);
    }
    LIST_EACH(name, term->names)
    {
        if (str_eq(*name, namespace)) {
            return true;
        }
    }
    if (label_selector_is_empty(&term->namespaces)) {
        return true;
    }
    const struct str_map *labels = snapshot_namespace_labels(attempt->snapshot, namespace);

    return labels != NULL && label_selector_matches_map(&term->namespaces, labels);
}

static bool term_matches(const struct attempt *attempt, const struct term *term, const struct core_v1_pod *pod)
{
    return namespace_matches(attempt, term, pod->metadata.namespace) &&
           label_selector_matches_map(&term->selector, &pod->metadata.labels);
}

static bool matches_all(const struct attempt *attempt, const struct terms *terms, const struct core_v1_pod *pod)
{
    LIST_EACH(term, terms)
    {
        if (!term_matches(attempt, term, pod)) {
            return false;
        }
    }
    return terms->len > 0;
}

static void add_to(const struct attempt *attempt, struct topology *topology, const struct core_v1_node *node,
                   struct str key, int64_t amount)
{
    struct str value;

    if (str_map_lookup(&node->metadata.labels, key, &value)) {
        *topology_at(topology, attempt->arena, key, value) += amount;
    }
}

/* What a pod that is already on a node means for the incoming one. */
static void count_existing(const struct attempt *attempt, struct affinity *state, const struct core_v1_node *node,
                           const struct core_v1_pod *existing)
{
    const struct core_v1_pod *pod = attempt->pod->pod;
    struct terms theirs = required_apart(attempt->arena, existing);

    LIST_EACH(term, &theirs)
    {
        if (term_matches(attempt, term, pod)) {
            add_to(attempt, &state->existing_apart, node, term->key, 1);
        }
    }
    if (matches_all(attempt, &state->affine, existing)) {
        LIST_EACH(term, &state->affine)
        {
            add_to(attempt, &state->affine_counts, node, term->key, 1);
        }
    }
    LIST_EACH(term, &state->apart)
    {
        if (term_matches(attempt, term, existing)) {
            add_to(attempt, &state->apart_counts, node, term->key, 1);
        }
    }
}

static void *prepare_filter(const struct attempt *attempt)
{
    struct affinity *state = ARENA_NEW(attempt->arena, struct affinity);

    state->affine = required_affine(attempt->arena, attempt->pod->pod);
    state->apart = required_apart(attempt->arena, attempt->pod->pod);
    state->matches_itself = matches_all(attempt, &state->affine, attempt->pod->pod);
    for (size_t i = 0; i < attempt->nodes.len; i++) {
        const struct node_info *node = attempt->nodes.items[i];

        for (size_t n = 0; n < node->pod_count; n++) {
            count_existing(attempt, state, node->node, node->pods[n]->pod);
        }
    }
    return state;
}

static bool affinity_holds(const struct affinity *state, const struct core_v1_node *node)
{
    bool all_there = true;

    LIST_EACH(term, &state->affine)
    {
        struct str value;

        if (!str_map_lookup(&node->metadata.labels, term->key, &value)) {
            return false;
        }
        all_there = all_there && topology_get(&state->affine_counts, term->key, value, NULL) > 0;
    }
    /* The first of a group that wants to be together has nobody to be with. */
    return all_there || (state->affine_counts.len == 0 && state->matches_itself);
}

static bool in_any_domain(const struct topology *topology, const struct core_v1_node *node)
{
    LIST_EACH(count, topology)
    {
        struct str value;

        if (count->count > 0 && str_map_lookup(&node->metadata.labels, count->key, &value) &&
            str_eq(value, count->value)) {
            return true;
        }
    }
    return false;
}

static enum verdict filter(const struct attempt *attempt, const struct node_info *node, struct reasons *ret)
{
    const struct affinity *state = attempt->state;

    if (!affinity_holds(state, node->node)) {
        reasons_add(attempt->arena, ret, STR("node(s) didn't match pod affinity rules"));
        return VERDICT_UNRESOLVABLE;
    }
    if (in_any_domain(&state->apart_counts, node->node)) {
        reasons_add(attempt->arena, ret, STR("node(s) didn't match pod anti-affinity rules"));
        return VERDICT_UNSCHEDULABLE;
    }
    if (in_any_domain(&state->existing_apart, node->node)) {
        reasons_add(attempt->arena, ret, STR("node(s) didn't satisfy existing pods anti-affinity rules"));
        return VERDICT_UNSCHEDULABLE;
    }
    return VERDICT_FITS;
}

static void score_terms(const struct attempt *attempt, struct affinity *state, const struct terms *terms,
                        const struct core_v1_pod *matched, const struct core_v1_node *node)
{
    LIST_EACH(term, terms)
    {
        if (term_matches(attempt, term, matched)) {
            add_to(attempt, &state->scores, node, term->key, term->weight);
        }
    }
}

static void *prepare_score(const struct attempt *attempt)
{
    struct affinity *state = ARENA_NEW(attempt->arena, struct affinity);
    const struct core_v1_pod *pod = attempt->pod->pod;
    struct terms wishes = preferred(attempt->arena, pod);

    for (size_t i = 0; i < attempt->nodes.len; i++) {
        const struct node_info *node = attempt->nodes.items[i];

        for (size_t n = 0; n < node->pod_count; n++) {
            const struct core_v1_pod *existing = node->pods[n]->pod;

            score_terms(attempt, state, &wishes, existing, node->node);
            if (existing->spec.affinity != NULL) {
                struct terms hard = required_affine(attempt->arena, existing);
                struct terms soft = preferred(attempt->arena, existing);

                score_terms(attempt, state, &hard, pod, node->node);
                score_terms(attempt, state, &soft, pod, node->node);
            }
        }
    }
    return state;
}

static int64_t score(const struct attempt *attempt, const struct node_info *node)
{
    const struct affinity *state = attempt->state;
    int64_t sum = 0;

    LIST_EACH(count, &state->scores)
    {
        struct str value;

        if (str_map_lookup(&node->node->metadata.labels, count->key, &value) && str_eq(value, count->value)) {
            sum += count->count;
        }
    }
    return sum;
}

static void normalize(const struct attempt *attempt, int64_t *scores, size_t count)
{
    const struct affinity *state = attempt->state;
    int64_t least = INT64_MAX, most = INT64_MIN;

    if (state->scores.len == 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        least = MIN(least, scores[i]);
        most = MAX(most, scores[i]);
    }
    for (size_t i = 0; i < count; i++) {
        scores[i] = most > least ? SCORE_MAX * (scores[i] - least) / (most - least) : 0;
    }
}

const struct plugin inter_pod_affinity_plugin = {.name = "InterPodAffinity",
                                                 .weight = 2,
                                                 .prepare_filter = prepare_filter,
                                                 .filter = filter,
                                                 .prepare_score = prepare_score,
                                                 .score = score,
                                                 .normalize = normalize};
