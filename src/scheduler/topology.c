#include "scheduler/topology.h"

#include "base/map.h"

static uint64_t hash_of(struct str key, struct str value)
{
    return map_hash(value) * 31 + map_hash(key);
}

static uint32_t *slot_of(const struct topology *topology, struct str key, struct str value)
{
    size_t at = (size_t)hash_of(key, value) & (topology->slot_count - 1);

    while (topology->slots[at] != 0) {
        const struct topology_count *item = &topology->items[topology->slots[at] - 1];

        if (str_eq(item->value, value) && str_eq(item->key, key)) {
            break;
        }
        at = (at + 1) & (topology->slot_count - 1);
    }
    return &topology->slots[at];
}

static void grow(struct topology *topology, struct arena *arena)
{
    topology->slot_count = topology->slot_count > 0 ? topology->slot_count * 2 : 16;
    topology->slots = ARENA_ARRAY(arena, uint32_t, topology->slot_count);
    for (size_t i = 0; i < topology->len; i++) {
        *slot_of(topology, topology->items[i].key, topology->items[i].value) = (uint32_t)i + 1;
    }
}

int64_t *topology_at(struct topology *topology, struct arena *arena, struct str key, struct str value)
{
    if (topology->len * 2 >= topology->slot_count) {
        grow(topology, arena);
    }
    uint32_t *slot = slot_of(topology, key, value);

    if (*slot == 0) {
        *LIST_ADD(arena, topology) = (struct topology_count){.key = key, .value = value};
        *slot = (uint32_t)topology->len;
    }
    return &topology->items[*slot - 1].count;
}

int64_t topology_get(const struct topology *topology, struct str key, struct str value, bool *ret_known)
{
    uint32_t slot = topology->slot_count > 0 ? *slot_of(topology, key, value) : 0;

    if (ret_known != NULL) {
        *ret_known = slot != 0;
    }
    return slot != 0 ? topology->items[slot - 1].count : 0;
}
