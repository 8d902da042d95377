/* Bugs that are there on purpose, to see that the simulation finds them (src/sim, tests/sim). One at most is awake: none,
 * unless `c8s simulate --plant NAME` wakes it, in a process that is nothing but a simulation. Builds without
 * C8S_PLANTED_BUGS (meson -Dplanted_bugs=false) have none: there planted() is false and costs nothing. */
#ifndef BASE_PLANTED_H
#define BASE_PLANTED_H

#include "base/attr.h"

#include <stdbool.h>
#include <stddef.h>

enum planted_bug {
    PLANTED_NONE,
#define PLANTED_BUG(id, name, what) PLANTED_##id,
#include "base/planted_bugs.def"
#undef PLANTED_BUG
    PLANTED_COUNT
};

#ifdef C8S_PLANTED_BUGS
extern enum planted_bug planted_awake_;
#define planted(bug) (planted_awake_ == PLANTED_##bug)
#else
#define planted(bug) false
#endif

/* Wakes one, or puts all to sleep (PLANTED_NONE); false when this build has none. For src/sim alone. */
bool planted_wake(enum planted_bug bug);
/* "binding-overwrites", and what it does; NULL past the last. */
const char *planted_name(enum planted_bug bug);
const char *planted_what(enum planted_bug bug);

#endif
