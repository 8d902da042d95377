#include "controller/deployment_rollout.h"

#include "base/attr.h"
#include "base/mem.h"
#include "base/planted.h"
#include "schema/int_or_string.h"

#include <math.h>
#include <stdlib.h>

static int32_t replicas_of(const struct apps_v1_replica_set *set)
{
    return set->spec.replicas ? *set->spec.replicas : 1;
}

int32_t rollout_wanted(const struct apps_v1_deployment *deployment)
{
    return deployment->spec.replicas ? *deployment->spec.replicas : 1;
}

/* What is absent, or neither number nor share, counts as 0. */
static int32_t scaled(const struct int_or_string *value, int32_t total, bool round_up)
{
    int32_t result;

    return value != NULL && int_or_string_scaled(value, total, round_up, &result) ? result : 0;
}

struct rollout_bounds rollout_bounds_of(const struct apps_v1_deployment *deployment)
{
    const struct apps_v1_rolling_update_deployment *rolling = deployment->spec.strategy.rolling_update;
    struct rollout_bounds bounds = {0, 0};

    if (!str_is(deployment->spec.strategy.type, "RollingUpdate") || rollout_wanted(deployment) == 0) {
        return bounds;
    }
    bounds.max_surge = scaled(rolling ? rolling->max_surge : NULL, rollout_wanted(deployment), true);
    bounds.max_unavailable = scaled(rolling ? rolling->max_unavailable : NULL, rollout_wanted(deployment), false);
    if (bounds.max_surge == 0 && bounds.max_unavailable == 0) {
        bounds.max_unavailable = 1; /* validation forbids it, rounding can still give it */
    }
    bounds.max_unavailable = MIN(bounds.max_unavailable, rollout_wanted(deployment));
    return bounds;
}

int32_t rollout_total(const struct replica_sets *sets)
{
    int32_t total = 0;

    LIST_EACH(set, sets)
    {
        total += replicas_of(*set);
    }
    return total;
}

int32_t rollout_total_actual(const struct replica_sets *sets)
{
    int32_t total = 0;

    LIST_EACH(set, sets)
    {
        total += (*set)->status.replicas;
    }
    return total;
}

int32_t rollout_total_available(const struct replica_sets *sets)
{
    int32_t total = 0;

    LIST_EACH(set, sets)
    {
        total += (*set)->status.available_replicas;
    }
    return total;
}

int32_t rollout_new_replicas(const struct apps_v1_deployment *deployment, const struct replica_sets *all,
                             const struct apps_v1_replica_set *new_set)
{
    int32_t wanted = rollout_wanted(deployment);

    if (!str_is(deployment->spec.strategy.type, "RollingUpdate") || planted(ROLLOUT_IGNORES_SURGE)) {
        return wanted;
    }
    int32_t most = wanted + rollout_bounds_of(deployment).max_surge;
    int32_t total = rollout_total(all);

    if (total >= most) {
        return replicas_of(new_set);
    }
    return replicas_of(new_set) + MIN(most - total, wanted - replicas_of(new_set));
}

/* A set's status may still count pods that it has just taken away, as it wants fewer now: those will not be available. */
static int32_t total_that_stay(const struct replica_sets *sets)
{
    int32_t total = 0;

    LIST_EACH(set, sets)
    {
        total += MIN((*set)->status.available_replicas, replicas_of(*set));
    }
    return total;
}

bool rollout_scale_down_old(const struct apps_v1_deployment *deployment, const struct replica_sets *all,
                            const struct replica_sets *old, const struct apps_v1_replica_set *new_set, int32_t *ret)
{
    int32_t min_available = planted(ROLLOUT_IGNORES_UNAVAILABLE)
                                ? 0
                                : rollout_wanted(deployment) - rollout_bounds_of(deployment).max_unavailable;
    int32_t new_unavailable = replicas_of(new_set) - new_set->status.available_replicas;
    int32_t may_go = rollout_total(all) - min_available - new_unavailable;
    int32_t available = total_that_stay(all);
    bool changed = false;

    for (size_t i = 0; i < old->len; i++) {
        ret[i] = replicas_of(old->items[i]);
    }
    if (may_go <= 0) {
        return false;
    }
    /* Pods that do not serve anyway go first. */
    for (size_t i = 0; i < old->len && may_go > 0; i++) {
        int32_t unhealthy = ret[i] - old->items[i]->status.available_replicas;
        int32_t gone = MIN(may_go, unhealthy);

        if (gone > 0) {
            ret[i] -= gone;
            may_go -= gone;
            changed = true;
        }
    }
    /* Then serving ones, as far as enough stay available. */
    int32_t spare = available - min_available;

    for (size_t i = 0; i < old->len && spare > 0; i++) {
        int32_t gone = MIN(ret[i], spare);

        if (gone > 0) {
            ret[i] -= gone;
            spare -= gone;
            changed = true;
        }
    }
    return changed;
}

/* Orders sets for the hand-out, largest first; of equal size the newest when more are wanted, else the oldest. */
struct share {
    size_t place;
    int32_t size;
    int64_t age; /* smaller is older */
    bool up;
};

static int share_order(const void *a, const void *b)
{
    const struct share *x = a, *y = b;

    if (x->size != y->size) {
        return x->size < y->size ? 1 : -1;
    }
    if (x->age == y->age) {
        return 0;
    }
    return (x->age < y->age) == x->up ? 1 : -1;
}

/* The part of the change that falls to one set, kept within what is left to hand out. */
static int32_t share_of(int32_t size, int32_t max_before, int32_t max_now, int32_t to_add, int32_t added)
{
    if (size == 0 || to_add == 0) {
        return 0;
    }
    int32_t scaled = (int32_t)lround((double)size * max_now / (max_before > 0 ? max_before : max_now));
    int32_t fraction = scaled - size;
    int32_t allowed = to_add - added;

    return to_add > 0 ? MIN(fraction, allowed) : MAX(fraction, allowed);
}

void rollout_scale_proportionally(const struct apps_v1_deployment *deployment, const struct replica_sets *active,
                                  const int32_t *max_replicas, int32_t *ret)
{
    int32_t max_now = rollout_wanted(deployment) > 0
                          ? rollout_wanted(deployment) + rollout_bounds_of(deployment).max_surge
                          : 0;
    int32_t to_add = max_now - rollout_total(active);
    int32_t added = 0;
    struct share *shares = mem_zalloc_array(active->len, sizeof(*shares));

    for (size_t i = 0; i < active->len; i++) {
        const struct apps_v1_replica_set *set = active->items[i];

        shares[i] = (struct share){i, replicas_of(set), set->metadata.creation_timestamp.seconds, to_add > 0};
    }
    qsort(shares, active->len, sizeof(*shares), share_order);
    for (size_t i = 0; i < active->len; i++) {
        int32_t part = share_of(shares[i].size, max_replicas[shares[i].place], max_now, to_add, added);

        ret[shares[i].place] = shares[i].size + part;
        added += part;
    }
    if (active->len > 0) { /* what rounding left over goes to the largest */
        int32_t *largest = &ret[shares[0].place];

        *largest = MAX(*largest + to_add - added, 0);
    }
    free(shares);
}
