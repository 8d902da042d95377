#include "kubelet/eviction.h"

static const struct {
    const char *name, *resource;
    enum eviction_pressure pressure;
} signals[EVICTION_SIGNAL_COUNT] = {
    [EVICTION_MEMORY_AVAILABLE] = {"memory.available", "memory", EVICTION_MEMORY_PRESSURE},
    [EVICTION_NODEFS_AVAILABLE] = {"nodefs.available", "ephemeral-storage", EVICTION_DISK_PRESSURE},
    [EVICTION_NODEFS_INODES_FREE] = {"nodefs.inodesFree", "inodes", EVICTION_DISK_PRESSURE},
    [EVICTION_IMAGEFS_AVAILABLE] = {"imagefs.available", "ephemeral-storage", EVICTION_DISK_PRESSURE},
    [EVICTION_IMAGEFS_INODES_FREE] = {"imagefs.inodesFree", "inodes", EVICTION_DISK_PRESSURE},
    [EVICTION_PID_AVAILABLE] = {"pid.available", "pids", EVICTION_PID_PRESSURE},
};

bool eviction_signal_parse(struct str text, enum eviction_signal *ret)
{
    for (size_t i = 0; i < EVICTION_SIGNAL_COUNT; i++) {
        if (str_is(text, signals[i].name)) {
            *ret = (enum eviction_signal)i;
            return true;
        }
    }
    return false;
}

const char *eviction_signal_name(enum eviction_signal signal)
{
    return signals[signal].name;
}

const char *eviction_signal_resource(enum eviction_signal signal)
{
    return signals[signal].resource;
}

enum eviction_pressure eviction_signal_pressure(enum eviction_signal signal)
{
    return signals[signal].pressure;
}

void eviction_default_thresholds(struct arena *arena, struct eviction_thresholds *ret)
{
    static const struct eviction_threshold defaults[] = {
        {.signal = EVICTION_MEMORY_AVAILABLE, .value = 100 << 20},
        {.signal = EVICTION_NODEFS_AVAILABLE, .percent = 0.10},
        {.signal = EVICTION_NODEFS_INODES_FREE, .percent = 0.05},
        {.signal = EVICTION_IMAGEFS_AVAILABLE, .percent = 0.15},
        {.signal = EVICTION_IMAGEFS_INODES_FREE, .percent = 0.05},
    };

    *ret = (struct eviction_thresholds){0};
    for (size_t i = 0; i < COUNT_OF(defaults); i++) {
        *LIST_ADD(arena, ret) = defaults[i];
    }
}

static int64_t value_of(const struct eviction_threshold *threshold, int64_t capacity)
{
    return threshold->percent > 0 ? (int64_t)((double)capacity * threshold->percent) : threshold->value;
}

/* Memory before everything, as stock orders them. */
static bool is_worse(const struct eviction_threshold *a, const struct eviction_threshold *b)
{
    return b == NULL || (a->signal == EVICTION_MEMORY_AVAILABLE && b->signal != EVICTION_MEMORY_AVAILABLE);
}

void eviction_decide(const struct eviction_thresholds *thresholds, const struct eviction_observation *observations,
                     struct eviction_state *state, int64_t now, int64_t transition, struct eviction_decision *ret)
{
    struct eviction_decision decision = {0};

    for (size_t i = 0; i < thresholds->len && i < COUNT_OF(state->is_met); i++) {
        const struct eviction_threshold *threshold = &thresholds->items[i];
        const struct eviction_observation *observed = &observations[threshold->signal];
        int64_t value = value_of(threshold, observed->capacity);

        if (observed->capacity == 0) {
            continue;
        }
        /* Once met, it takes the minimum reclaim on top to be resolved. */
        bool is_met = observed->available < value + (state->is_met[i] ? threshold->minimum_reclaim : 0);

        if (is_met && !state->is_met[i]) {
            state->met_since[i] = now;
        }
        state->is_met[i] = is_met;
        if (!is_met) {
            continue;
        }
        state->pressure_seen[signals[threshold->signal].pressure] = now;
        if (now - state->met_since[i] >= threshold->grace_period && is_worse(threshold, decision.threshold)) {
            decision.threshold = threshold;
            decision.threshold_value = value;
            decision.observed = *observed;
        }
    }
    for (size_t i = 0; i < 3; i++) {
        decision.pressure[i] = state->pressure_seen[i] != 0 && now - state->pressure_seen[i] <= transition;
    }
    *ret = decision;
}

static int64_t excess(const struct eviction_pod *pod, enum eviction_signal signal)
{
    switch (signals[signal].pressure) {
    case EVICTION_MEMORY_PRESSURE:
        return pod->memory_usage - pod->memory_request;
    case EVICTION_DISK_PRESSURE:
        return pod->disk_usage - pod->disk_request;
    default:
        return pod->processes;
    }
}

static int compare(const struct eviction_pod *left, const struct eviction_pod *right, enum eviction_signal signal)
{
    int64_t left_excess = excess(left, signal), right_excess = excess(right, signal);
    bool by_request = signals[signal].pressure != EVICTION_PID_PRESSURE;

    if (left->is_critical != right->is_critical) {
        return left->is_critical - right->is_critical;
    }
    if (by_request && (left_excess > 0) != (right_excess > 0)) {
        return (right_excess > 0) - (left_excess > 0);
    }
    if (left->priority != right->priority) {
        return left->priority < right->priority ? -1 : 1;
    }
    return left_excess == right_excess ? 0 : left_excess > right_excess ? -1 : 1;
}

void eviction_rank(struct eviction_pod *pods, size_t count, enum eviction_signal signal)
{
    /* Insertion keeps equal pods in their order. */
    for (size_t i = 1; i < count; i++) {
        struct eviction_pod pod = pods[i];
        size_t at = i;

        for (; at > 0 && compare(&pods[at - 1], &pod, signal) > 0; at--) {
            pods[at] = pods[at - 1];
        }
        pods[at] = pod;
    }
}
