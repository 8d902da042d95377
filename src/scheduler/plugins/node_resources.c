/* NodeResourcesFit (with the LeastAllocated strategy) and NodeResourcesBalancedAllocation. */
#include "scheduler/plugin.h"

#include <math.h>

struct fit {
    const struct attempt *attempt;
    struct reasons *reasons;
    enum verdict verdict;
};

static void check(struct fit *fit, struct str name, int64_t request, int64_t allocatable, int64_t requested)
{
    if (request == 0 || request <= allocatable - requested) {
        return;
    }
    reasons_add(fit->attempt->arena, fit->reasons,
                arena_printf(fit->attempt->arena, "Insufficient %.*s", STR_ARG(name)));
    if (request > allocatable) {
        fit->verdict = VERDICT_UNRESOLVABLE; /* too large for the node even when it is empty */
    } else if (fit->verdict == VERDICT_FITS) {
        fit->verdict = VERDICT_UNSCHEDULABLE;
    }
}

static enum verdict fit_filter(const struct attempt *attempt, const struct node_info *node, struct reasons *ret)
{
    const struct resources *request = &attempt->pod->requests;
    struct fit fit = {attempt, ret, VERDICT_FITS};

    if ((int64_t)node->pod_count + 1 > node->allowed_pods) {
        reasons_add(attempt->arena, ret, STR("Too many pods"));
        fit.verdict = VERDICT_UNSCHEDULABLE;
    }
    check(&fit, STR("cpu"), request->milli_cpu, node->allocatable.milli_cpu, node->requested.milli_cpu);
    check(&fit, STR("memory"), request->memory, node->allocatable.memory, node->requested.memory);
    check(&fit, STR("ephemeral-storage"), request->ephemeral_storage, node->allocatable.ephemeral_storage,
          node->requested.ephemeral_storage);
    for (size_t i = 0; i < request->scalar_count; i++) {
        struct str name = request->scalars[i].name;

        check(&fit, name, request->scalars[i].amount, resources_scalar(&node->allocatable, name),
              resources_scalar(&node->requested, name));
    }
    return fit.verdict;
}

/* The share that stays free, 0 to SCORE_MAX. */
static int64_t free_share(int64_t requested, int64_t capacity)
{
    return capacity == 0 || requested > capacity ? 0 : (capacity - requested) * SCORE_MAX / capacity;
}

static int64_t fit_score(const struct attempt *attempt, const struct node_info *node)
{
    int64_t cpu = node->score_milli_cpu + attempt->pod->score_milli_cpu;
    int64_t memory = node->score_memory + attempt->pod->score_memory;
    /* What a node says nothing about does not count. */
    int64_t weights = (node->allocatable.milli_cpu > 0) + (node->allocatable.memory > 0);

    return weights == 0 ? 0
                        : (free_share(cpu, node->allocatable.milli_cpu) +
                           free_share(memory, node->allocatable.memory)) / weights;
}

const struct plugin node_resources_fit_plugin = {
    .name = "NodeResourcesFit", .weight = 1, .filter = fit_filter, .score = fit_score};

static double share(int64_t requested, int64_t capacity)
{
    return capacity == 0 ? 1 : fmin((double)requested / (double)capacity, 1);
}

/* The nearer the shares of CPU and memory are to each other, the better: 1 - standard deviation. */
static int64_t balanced_score(const struct attempt *attempt, const struct node_info *node)
{
    const struct resources *asked = &attempt->pod->requests;

    if (asked->milli_cpu == 0 && asked->memory == 0) {
        return 0; /* changes no node's balance */
    }
    double cpu = share(node->requested.milli_cpu + attempt->pod->requests.milli_cpu, node->allocatable.milli_cpu);
    double memory = share(node->requested.memory + attempt->pod->requests.memory, node->allocatable.memory);

    return (int64_t)((1 - fabs(cpu - memory) / 2) * SCORE_MAX);
}

const struct plugin node_resources_balanced_plugin = {
    .name = "NodeResourcesBalancedAllocation", .weight = 1, .score = balanced_score};
