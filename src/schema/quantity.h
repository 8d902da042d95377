/* Amounts such as 100m, 1Gi, 1e3 (resource.Quantity): parsing, canonical text, arithmetic.
 *
 * Values are exact decimals of up to LIMIT_QUANTITY_DIGITS digits at a scale no finer than nano, as in Kubernetes; what
 * is finer is rounded up. Any thread. */
#ifndef SCHEMA_QUANTITY_H
#define SCHEMA_QUANTITY_H

#include "base/arena.h"
#include "base/status.h"
#include "schema/scalars.h"

enum quantity_format { QUANTITY_DECIMAL_SI, QUANTITY_BINARY_SI, QUANTITY_DECIMAL_EXPONENT };

/* Reads any spelling and gives the canonical one ("0.5" is "500m", "1024Mi" is "1Gi"), in the arena where it differs.
 * BAD_REQUEST with stock's text. */
MUST_USE struct status *quantity_parse(struct arena *arena, struct str text, struct quantity *ret);
/* Rounded up to whole units, or thousandths; what does not fit is INT64_MAX or INT64_MIN. Text that is no quantity
 * counts as zero. */
int64_t quantity_value(struct quantity quantity);
int64_t quantity_milli(struct quantity quantity);
double quantity_double(struct quantity quantity);
/* The scale 10^-9; false when it does not fit. */
bool quantity_nano(struct quantity quantity, __int128 *ret);
enum quantity_format quantity_format_of(struct quantity quantity);
/* <0, 0, >0 by value. */
int quantity_cmp(struct quantity a, struct quantity b);
bool quantity_is_zero(struct quantity quantity);
/* In the format of a (of b when a is zero). */
struct quantity quantity_add(struct arena *arena, struct quantity a, struct quantity b);
struct quantity quantity_sub(struct arena *arena, struct quantity a, struct quantity b);
struct quantity quantity_of(struct arena *arena, int64_t value, enum quantity_format format);
struct quantity quantity_of_milli(struct arena *arena, int64_t milli, enum quantity_format format);

#endif
