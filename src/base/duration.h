/* Durations as Go writes and reads them. Any thread. */
#ifndef BASE_DURATION_H
#define BASE_DURATION_H

#include "base/arena.h"

/* As Go's Duration.String(): "1h2m3.5s", "1m0s", "1.5s", "0s". */
struct str duration_format(struct arena *arena, int64_t nanoseconds);
/* As Go's time.ParseDuration: "300ms", "1h15m30.5s", "-1m". False when it is not one. */
bool duration_parse(struct str text, int64_t *ret_nanoseconds);

#endif
