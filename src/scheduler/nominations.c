#include "scheduler/nominations.h"

#include "base/map.h"
#include "base/mem.h"
#include "scheduler/preemption.h"

#include <stdlib.h>
#include <string.h>

struct nomination {
    struct cached *held;
    struct str node_name; /* follows the struct */
    bool is_applied;
};

struct nominations {
    struct map by_uid;
};

struct nominations *nominations_new(void)
{
    return MEM_NEW(struct nominations);
}

void nominations_set(struct nominations *nominations, struct cached *held, struct str node_name)
{
    struct str uid = ((const struct core_v1_pod *)held->object)->metadata.uid;
    struct nomination *nomination = mem_zalloc(sizeof(*nomination) + node_name.n + 1);

    nominations_remove(nominations, uid);
    nomination->held = held;
    nomination->node_name = (struct str){memcpy(nomination + 1, node_name.p, node_name.n), node_name.n};
    map_set(&nominations->by_uid, uid, nomination);
}

void nominations_remove(struct nominations *nominations, struct str uid)
{
    struct nomination *nomination = map_remove(&nominations->by_uid, uid);

    if (nomination != NULL) {
        cached_unref(nomination->held);
        free(nomination);
    }
}

void nominations_apply(struct nominations *nominations, struct snapshot *snapshot, const struct core_v1_pod *pod)
{
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&nominations->by_uid, &at)) != NULL;) {
        struct nomination *nomination = entry->value;
        const struct core_v1_pod *other = nomination->held->object;

        if (!str_eq(other->metadata.uid, pod->metadata.uid) && !snapshot_has_pod(snapshot, other->metadata.uid) &&
            preemption_priority(other) >= preemption_priority(pod)) {
            snapshot_assume(snapshot, cached_ref(nomination->held), nomination->node_name);
            nomination->is_applied = true;
        }
    }
}

void nominations_revert(struct nominations *nominations, struct snapshot *snapshot)
{
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&nominations->by_uid, &at)) != NULL;) {
        struct nomination *nomination = entry->value;

        if (nomination->is_applied) {
            snapshot_remove_pod(snapshot, ((const struct core_v1_pod *)nomination->held->object)->metadata.uid);
            nomination->is_applied = false;
        }
    }
}

void nominations_free(struct nominations *nominations)
{
    size_t at = 0;

    if (nominations == NULL) {
        return;
    }
    for (struct map_entry *entry; (entry = map_next(&nominations->by_uid, &at)) != NULL;) {
        struct nomination *nomination = entry->value;

        cached_unref(nomination->held);
        free(nomination);
    }
    map_done(&nominations->by_uid);
    free(nominations);
}
