/* Offsets of time zones, from the system's database. */
#ifndef CONTROLLER_TIME_ZONE_H
#define CONTROLLER_TIME_ZONE_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Seconds east of UTC at that moment; empty and "UTC" are 0. False when there is no such zone. */
bool time_zone_offset(struct str zone, int64_t seconds, int32_t *ret);

#endif
