/* The values that fields of API objects are made of, beside struct str, bool and numbers.
 *
 * All are plain data; text and items are borrowed from an arena or the decoded input. The zero value is the empty
 * value. In lists and maps `items == NULL` is Go's nil, which JSON may show differently from an empty list. */
#ifndef SCHEMA_SCALARS_H
#define SCHEMA_SCALARS_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An amount such as 100m or 1Gi, as canonical text (schema/quantity.h); empty is zero. */
struct quantity {
    struct str text;
};

/* A moment; metav1.Time has no nanoseconds on the wire, metav1.MicroTime keeps microseconds. */
struct timestamp {
    int64_t seconds; /* since 1970, UTC */
    int32_t nanos;
    bool is_set; /* false: Go's zero time, `null` in JSON */
};

/* A port number or name, a count or percentage. */
struct int_or_string {
    bool is_string;
    int32_t number;
    struct str text;
};

/* JSON kept as it came: RawExtension, FieldsV1, JSON, or any value. Empty: nothing, `null` in JSON. Where protobuf
 * carries an object (RawExtension), it may be in the protobuf envelope instead. */
struct raw_json {
    struct str json;
};

/* Maps are sorted by key, by bytes; each key is there once (schema/map_of.h finds and sets). */
struct str_entry {
    struct str key;
    struct str value;
};
struct str_map {
    struct str_entry *items;
    size_t len;
};

struct quantity_entry {
    struct str key;
    struct quantity value;
};
struct quantity_map {
    struct quantity_entry *items;
    size_t len;
};

struct str_list_entry {
    struct str key;
    struct str_list value;
};
struct str_list_map {
    struct str_list_entry *items;
    size_t len;
};

struct timestamp_entry {
    struct str key;
    struct timestamp value;
};
struct timestamp_map {
    struct timestamp_entry *items;
    size_t len;
};

#endif
