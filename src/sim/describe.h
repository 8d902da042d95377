/* An object in a few words, for the log of a simulation. */
#ifndef SIM_DESCRIBE_H
#define SIM_DESCRIBE_H

#include "sim/history.h"

struct str describe(struct arena *arena, const struct history_object *object);

#endif
