/* A tree of JSON values without a schema: what patches, YAML, JSONPath and custom resources work on.
 *
 * All of a tree lives in one arena, which every call that makes or grows a value is given. Strings and keys are
 * borrowed: they must live as long as the tree (arena_str() keeps a copy). Numbers are int64 when they were written
 * without fraction and exponent and fit, else double, as in Go's unstructured objects. Objects keep their members in
 * order of insertion and find keys by hash when they are large. A value may stand in several places as long as no
 * place is changed; value_copy() takes it apart. Functions that look take NULL for "no such value".
 * One thread at a time; a tree nobody changes may be read from several. */
#ifndef SCHEMA_VALUE_H
#define SCHEMA_VALUE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum value_type { VALUE_NULL, VALUE_BOOL, VALUE_INT, VALUE_DOUBLE, VALUE_STRING, VALUE_ARRAY, VALUE_OBJECT };

struct value_member {
    struct str key;
    struct value *value; /* NULL: the member was deleted */
};

struct value_array {
    struct value **items;
    uint32_t len, cap;
};

struct value_object {
    struct value_member *members; /* in order of insertion */
    uint32_t *slots;              /* index into members plus one; NULL while the object is small */
    uint32_t used, cap;           /* members, deleted ones too */
    uint32_t count;               /* members that are there */
};

struct value {
    enum value_type type;
    union {
        bool boolean;
        int64_t integer;
        double number;
        struct str string;
        struct value_array array;
        struct value_object object;
    };
};

struct value *value_null(struct arena *arena);
struct value *value_bool(struct arena *arena, bool boolean);
struct value *value_int(struct arena *arena, int64_t integer);
struct value *value_double(struct arena *arena, double number);
struct value *value_string(struct arena *arena, struct str string);
struct value *value_array(struct arena *arena);
struct value *value_object(struct arena *arena);

/* False for NULL. */
bool value_is(const struct value *value, enum value_type type);
/* JSON's and Go's word for what it is: "null", "bool", "number", "string", "array", "object". */
const char *value_type_name(const struct value *value);

/* The member, or NULL when there is none or `object` is not an object. */
struct value *value_find(const struct value *object, struct str key);
/* Follows members by name: value_find_path(pod, "metadata.name"). Keys with dots can't be reached so. */
struct value *value_find_path(const struct value *value, const char *dotted);
/* The element, or NULL when there is none or `array` is not an array. */
struct value *value_item(const struct value *array, size_t i);
/* The string; empty when it is not one. */
struct str value_str(const struct value *value);
/* The string member at a path; empty when absent. */
struct str value_str_at(const struct value *value, const char *dotted);
/* Members or elements; 0 for anything else. */
size_t value_count(const struct value *value);

/* Goes through the members that are there, in order. The object must not change meanwhile, except that the current
 * member's value may be replaced in place. */
#define VALUE_EACH_MEMBER(member, of)                                                                            \
    for (struct value_member *member = value_next_member_((of), NULL); member != NULL; \
         member = value_next_member_((of), member))
struct value_member *value_next_member_(const struct value *object, struct value_member *after);

/* Goes through the elements of an array (any other value has none). */
#define VALUE_EACH_ITEM(item, of)                                                                      \
    for (struct value **item = value_is((of), VALUE_ARRAY) ? (of)->array.items : NULL,                 \
                      **item##_end = item != NULL ? item + (of)->array.len : NULL;                     \
         item != item##_end; item++)

/* Sets a member: in its old place when it is there, else at the end. */
void value_set(struct arena *arena, struct value *object, struct str key, struct value *value);
/* True when it was there. */
bool value_delete(struct value *object, struct str key);
void value_add(struct arena *arena, struct value *array, struct value *item);
/* Before element i; i = count appends. */
void value_insert(struct arena *arena, struct value *array, size_t i, struct value *item);
void value_remove(struct value *array, size_t i);

/* A copy that shares nothing that can change; strings are still borrowed. */
struct value *value_copy(struct arena *arena, const struct value *value);
/* The same with strings copied into the arena: it stands alone. */
struct value *value_copy_whole(struct arena *arena, const struct value *value);
/* Deep, whatever the order of members. 1 and 1.0 differ; two NULLs are equal. */
bool value_equal(const struct value *a, const struct value *b);
/* The keys that are there by unsigned bytes; `count` of them, in the arena. */
struct str *value_sorted_keys(struct arena *arena, const struct value *object);

/* Places where a key came again in its object, as stock's strict decoding names them: "spec.ports[0].name".
 * At most VALUE_DUPLICATES_MAX are kept. */
enum { VALUE_DUPLICATES_MAX = 100 };
struct value_duplicates {
    struct str *items;
    size_t len;
};

/* Reads one JSON value. Errors are BAD_REQUEST with Go's text. Keys that come again replace the earlier value; they
 * are added to *duplicates unless that is NULL. Strings borrow from `text` where they can. */
MUST_USE struct status *value_read_json(struct arena *arena, struct str text, struct value **ret,
                                        struct value_duplicates *duplicates);

enum {
    VALUE_JSON_SORTED = 1, /* keys by bytes, as Go's maps are written; else in the order they have */
    VALUE_JSON_PLAIN = 2,  /* <, > and & stay as they are; else as Go's encoder escapes them */
    VALUE_JSON_INDENT = 4, /* four spaces, as kubectl -o json */
};
/* Appends the JSON text, without a newline at the end; NULL is written null. */
void value_write_json(struct buf *out, const struct value *value, unsigned flags);
/* The compact sorted text as a string in the arena: what Go prints for a value in messages. */
struct str value_json(struct arena *arena, const struct value *value);

#endif
