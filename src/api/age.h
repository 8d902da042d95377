/* Durations and ages as people read them in tables: "5m7s", "3d", "2y10d". Any thread. */
#ifndef API_AGE_H
#define API_AGE_H

#include "base/arena.h"
#include "schema/scalars.h"

/* As in stock's tables: two units at most, fewer the longer it is. More than a second before zero is "<invalid>". */
struct str human_duration(struct arena *arena, int64_t nanos);
/* From then till now; "<unknown>" when it is not set. */
struct str human_age(struct arena *arena, struct timestamp then, struct timestamp now);

#endif
