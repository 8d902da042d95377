/* Short hashes for names: spelled without vowels and without what reads like another letter, so that none is a word. */
#ifndef CONTROLLER_NAME_HASH_H
#define CONTROLLER_NAME_HASH_H

#include "base/arena.h"

#include <stdint.h>

/* Of the bytes and, when it is not NULL, the count of names that collided. */
struct str name_hash(struct arena *arena, struct str bytes, const int32_t *collision_count);

#endif
