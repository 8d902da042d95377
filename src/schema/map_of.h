/* The sorted maps of API objects: labels, annotations, amounts. Any thread. */
#ifndef SCHEMA_MAP_OF_H
#define SCHEMA_MAP_OF_H

#include "base/arena.h"
#include "schema/scalars.h"
#include "schema/selector.h"

/* Index of the key in any map of entries of `entry_size` bytes that begin with the key; `*ret_at` is where it is or
 * would go (NULL: not wanted). */
bool map_of_find(const void *items, size_t len, size_t entry_size, struct str key, size_t *ret_at);

/* The value; empty with p NULL when absent. */
struct str str_map_get(const struct str_map *map, struct str key);
bool str_map_has(const struct str_map *map, struct str key);
/* Sets in place: the items are made anew in the arena when the key is new, so copies of the struct see no change of
 * length. Key and value are borrowed. */
void str_map_set(struct arena *arena, struct str_map *map, struct str key, struct str value);
/* True when it was there; the items are moved in place. */
bool str_map_remove(struct str_map *map, struct str key);
/* New items, borrowed text. */
struct str_map str_map_copy(struct arena *arena, const struct str_map *map);
bool str_map_equal(const struct str_map *a, const struct str_map *b);
/* A selector_lookup over a struct str_map. */
bool str_map_lookup(const void *map, struct str key, struct str *ret);

/* NULL when absent. */
const struct quantity *quantity_map_get(const struct quantity_map *map, struct str key);
void quantity_map_set(struct arena *arena, struct quantity_map *map, struct str key, struct quantity value);

#endif
