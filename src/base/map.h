/* A hash map from byte strings to pointers: open addressing, seeded hash, insertion order kept for iteration.
 *
 * Keys are copied into the map, values are lent to it. The zero value is empty and ready; map_done() releases
 * the map, not the values. Iteration goes by order of insertion, so that runs are reproducible.
 * One thread at a time. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/str.h"

#include <stdint.h>

struct map_entry {
    struct str key; /* owned by the map */
    void *value;    /* NULL marks a removed entry */
    uint64_t hash;
};

struct map {
    struct map_entry *entries; /* in order of insertion */
    size_t used;               /* entries in use, removed ones too */
    size_t cap;
    uint32_t *slots; /* index into entries plus one; 0 is free */
    size_t slot_count;
    size_t count; /* live entries */
};

void map_done(struct map *map);
/* NULL when absent. */
void *map_find(const struct map *map, struct str key);
/* Sets a value (not NULL) and returns the one it replaced, or NULL. */
void *map_set(struct map *map, struct str key, void *value);
/* Removes and returns the value; NULL when absent. */
void *map_remove(struct map *map, struct str key);
/* The next live entry at or after *position, which moves past it; NULL at the end. Removing the entry just
 * returned is allowed while iterating, adding is not.
 *   size_t at = 0; for (struct map_entry *e; (e = map_next(map, &at)) != NULL;) */
struct map_entry *map_next(const struct map *map, size_t *position);

/* The seeded hash, for tables of one's own; it differs from process to process. */
uint64_t map_hash(struct str key);

#endif
