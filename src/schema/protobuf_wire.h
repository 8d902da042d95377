/* Protobuf's wire format below the tables. For protobuf*.c only. */
#ifndef SCHEMA_PROTOBUF_WIRE_H
#define SCHEMA_PROTOBUF_WIRE_H

#include "base/status.h"
#include "base/str.h"

#include <stdint.h>

enum wire_type {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2,
    WIRE_GROUP = 3,
    WIRE_GROUP_END = 4,
    WIRE_FIXED32 = 5,
};

enum wire_result { WIRE_OK, WIRE_SHORT, WIRE_OVERFLOW, WIRE_BAD_LENGTH, WIRE_END_GROUP, WIRE_BAD_TYPE };

/* The error of a result that is not WIRE_OK, in gogo's words. */
MUST_USE struct status *wire_error(enum wire_result result);

static inline size_t wire_varint_size(uint64_t value)
{
    return (size_t)(70 - __builtin_clzll(value | 1)) / 7;
}

/* Writes up to 10 bytes; returns how many. */
static inline size_t wire_put_varint(char *p, uint64_t value)
{
    size_t n = 0;

    while (value >= 0x80) {
        p[n++] = (char)(value | 0x80);
        value >>= 7;
    }
    p[n++] = (char)value;
    return n;
}

static inline enum wire_result wire_take_varint(struct str *bytes, uint64_t *ret)
{
    uint64_t value = 0;

    for (size_t i = 0; i < bytes->n; i++) {
        uint64_t byte = (unsigned char)bytes->p[i];

        if (i == 10) {
            return WIRE_OVERFLOW;
        }
        value |= i == 9 ? byte << 63 : (byte & 0x7f) << 7 * i;
        if (byte < 0x80) {
            bytes->p += i + 1;
            bytes->n -= i + 1;
            *ret = value;
            return WIRE_OK;
        }
    }
    return bytes->n >= 10 ? WIRE_OVERFLOW : WIRE_SHORT;
}

enum wire_result wire_take_bytes(struct str *bytes, struct str *ret);
/* Past the value of a field whose tag was taken; groups to their end. */
enum wire_result wire_skip(struct str *bytes, unsigned wire_type);

#endif
