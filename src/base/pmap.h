/* An ordered map whose snapshots are free: a balanced tree whose nodes are shared between versions and copied on write.
 *
 * Values carry their own key, which must not change while they are in a map, and count their references. A writer that
 * no snapshot looks at changes nodes in place; otherwise a change copies one path, O(log n) small nodes. The counts of
 * nodes are atomic, so a snapshot may be read and released on any thread (when the values' ref and unref allow it);
 * each `struct pmap` itself belongs to one thread at a time. */
#ifndef BASE_PMAP_H
#define BASE_PMAP_H

#include "base/str.h"

struct pmap_node;

struct pmap_type {
    struct str (*key)(const void *value);
    void (*ref)(void *value);
    void (*unref)(void *value);
};

struct pmap {
    const struct pmap_type *type;
    struct pmap_node *root;
};

/* An empty map: struct pmap map = {&type, NULL}; pmap_done() gives all values back and leaves it empty. */
void pmap_done(struct pmap *map);
/* The map as it is now, untouched by later changes; release it by pmap_done(). O(1). */
struct pmap pmap_snapshot(const struct pmap *map);
size_t pmap_count(const struct pmap *map);
/* Borrowed; NULL when absent. */
void *pmap_find(const struct pmap *map, struct str key);
/* Puts a value in place of the one with its key, if any. Takes over the caller's reference. */
void pmap_set(struct pmap *map, void *value);
/* False when there was none. */
bool pmap_remove(struct pmap *map, struct str key);
/* How many keys are smaller. O(log n). */
size_t pmap_rank(const struct pmap *map, struct str key);

/* A walk in the order of keys. Valid while its map is neither changed nor released: walk a snapshot where others may
 * run.
 *   struct pmap_walk walk; pmap_walk(&walk, map, first);
 *   for (void *value; (value = pmap_next(&walk)) != NULL;) */
struct pmap_walk {
    const struct pmap_node *path[64];
    int depth;
};

/* From the first key that is not smaller than `first`. */
void pmap_walk(struct pmap_walk *walk, const struct pmap *map, struct str first);
/* Borrowed; NULL at the end. */
void *pmap_next(struct pmap_walk *walk);

#endif
