#include "base/map.h"

#include "base/attr.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* One seed a process, so that outsiders cannot choose colliding keys. Order of iteration does not depend on it. */
static uint64_t seed(void)
{
    static uint64_t value;

    if (__atomic_load_n(&value, __ATOMIC_RELAXED) == 0) {
        uint64_t fresh = 0;

        if (getrandom(&fresh, sizeof(fresh), 0) != sizeof(fresh)) {
            fresh = (uint64_t)(uintptr_t)&value;
        }
        __atomic_store_n(&value, fresh | 1, __ATOMIC_RELAXED);
    }
    return value;
}

/* Multiply-fold over eight-byte words with a secret seed. */
uint64_t map_hash(struct str key)
{
    uint64_t hash = seed() ^ (key.n * 0x9e3779b97f4a7c15U);

    for (size_t i = 0; i < key.n; i += 8) {
        uint64_t word = 0;

        memcpy(&word, key.p + i, MIN(key.n - i, 8U));
        __uint128_t product = (__uint128_t)(hash ^ word) * (seed() | 0x8000000000000001U);

        hash = (uint64_t)product ^ (uint64_t)(product >> 64);
    }
    return hash;
}

void map_done(struct map *map)
{
    for (size_t i = 0; i < map->used; i++) {
        free((char *)(uintptr_t)map->entries[i].key.p);
    }
    free(map->entries);
    free(map->slots);
    *map = (struct map){0};
}

/* The slot that holds the key, or the free one where it would go. */
static size_t slot_of(const struct map *map, struct str key, uint64_t hash)
{
    size_t mask = map->slot_count - 1;

    for (size_t at = hash & mask;; at = (at + 1) & mask) {
        uint32_t index = map->slots[at];

        if (index == 0) {
            return at;
        }
        const struct map_entry *entry = &map->entries[index - 1];

        if (entry->hash == hash && entry->value != NULL && str_eq(entry->key, key)) {
            return at;
        }
    }
}

/* Drops removed entries and sizes the slots for `count` and one more. */
static void rebuild(struct map *map)
{
    size_t live = 0;

    for (size_t i = 0; i < map->used; i++) {
        if (map->entries[i].value != NULL) {
            map->entries[live++] = map->entries[i];
        } else {
            free((char *)(uintptr_t)map->entries[i].key.p);
        }
    }
    map->used = live;
    size_t slots = 8;

    while (slots < (live + 1) * 2) {
        slots *= 2;
    }
    free(map->slots);
    map->slots = mem_zalloc_array(slots, sizeof(*map->slots));
    map->slot_count = slots;
    map->cap = slots / 2 + slots / 4;
    map->entries = mem_resize(map->entries, map->cap, sizeof(*map->entries));
    for (size_t i = 0; i < live; i++) {
        map->slots[slot_of(map, map->entries[i].key, map->entries[i].hash)] = (uint32_t)i + 1;
    }
}

void *map_find(const struct map *map, struct str key)
{
    if (map->count == 0) {
        return NULL;
    }
    uint32_t index = map->slots[slot_of(map, key, map_hash(key))];

    return index ? map->entries[index - 1].value : NULL;
}

void *map_set(struct map *map, struct str key, void *value)
{
    if (value == NULL) {
        mem_die("map_set: NULL value");
    }
    if (map->used == map->cap) {
        rebuild(map);
    }
    uint64_t hash = map_hash(key);
    size_t slot = slot_of(map, key, hash);

    if (map->slots[slot] != 0) {
        struct map_entry *entry = &map->entries[map->slots[slot] - 1];
        void *old = entry->value;

        entry->value = value;
        return old;
    }
    char *copy = mem_zalloc(key.n + 1);

    if (key.n > 0) {
        memcpy(copy, key.p, key.n);
    }
    map->entries[map->used] = (struct map_entry){{copy, key.n}, value, hash};
    map->slots[slot] = (uint32_t)++map->used;
    map->count++;
    return NULL;
}

void *map_remove(struct map *map, struct str key)
{
    if (map->count == 0) {
        return NULL;
    }
    uint32_t index = map->slots[slot_of(map, key, map_hash(key))];

    if (index == 0) {
        return NULL;
    }
    map->count--;
    return TAKE(map->entries[index - 1].value); /* the slot stays taken until the next rebuild */
}

struct map_entry *map_next(const struct map *map, size_t *position)
{
    while (*position < map->used) {
        struct map_entry *entry = &map->entries[(*position)++];

        if (entry->value != NULL) {
            return entry;
        }
    }
    return NULL;
}
