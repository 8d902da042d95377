/* Moments as API text. Any thread. */
#ifndef SCHEMA_TIMESTAMP_H
#define SCHEMA_TIMESTAMP_H

#include "base/arena.h"
#include "base/duration.h"
#include "schema/scalars.h"

/* RFC 3339 with any offset and fraction; false when it is not. */
bool timestamp_parse(struct str text, struct timestamp *ret);
/* The same with six digits of fraction, no fewer and no more. */
bool timestamp_parse_micro(struct str text, struct timestamp *ret);
/* What Go says about text that one of these refuses; empty when nothing is wrong. */
struct str timestamp_problem(struct arena *arena, struct str text, bool micro);
/* Go's zero time, 0001-01-01T00:00:00Z. */
#define TIMESTAMP_GO_ZERO (-INT64_C(62135596800))
/* "2026-11-30T12:00:00Z", and with six digits of microseconds. */
struct str timestamp_format(struct arena *arena, struct timestamp time);
struct str timestamp_format_micro(struct arena *arena, struct timestamp time);
/* Into a buffer of TIMESTAMP_TEXT bytes; returns the length. `digits` of fraction: 0, 6 or 9. */
enum { TIMESTAMP_TEXT = 48 };
size_t timestamp_write(char *out, struct timestamp time, unsigned digits);
/* Now, by the environment's clock (base/env.h); without nanoseconds, as metav1.Time is kept. */
struct timestamp timestamp_now(void);
struct timestamp timestamp_now_micro(void);
struct timestamp timestamp_of_nanos(int64_t nanos);
int64_t timestamp_nanos(struct timestamp time);
/* Days from 1970-01-01 to a date of the Gregorian calendar. */
int64_t timestamp_days(int64_t year, int month, int day);
/* <0, 0, >0; a time that is not set comes first. */
int timestamp_cmp(struct timestamp a, struct timestamp b);

#endif
