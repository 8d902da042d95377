#include "schema/value.h"

#include "base/map.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Below this many members a scan beats the index. */
enum { INDEX_FROM = 12 };

static struct value *value_of(struct arena *arena, enum value_type type)
{
    struct value *value = ARENA_NEW(arena, struct value);

    value->type = type;
    return value;
}

struct value *value_null(struct arena *arena)
{
    return value_of(arena, VALUE_NULL);
}

struct value *value_bool(struct arena *arena, bool boolean)
{
    struct value *value = value_of(arena, VALUE_BOOL);

    value->boolean = boolean;
    return value;
}

struct value *value_int(struct arena *arena, int64_t integer)
{
    struct value *value = value_of(arena, VALUE_INT);

    value->integer = integer;
    return value;
}

struct value *value_double(struct arena *arena, double number)
{
    struct value *value = value_of(arena, VALUE_DOUBLE);

    value->number = number;
    return value;
}

struct value *value_string(struct arena *arena, struct str string)
{
    struct value *value = value_of(arena, VALUE_STRING);

    value->string = string;
    return value;
}

struct value *value_array(struct arena *arena)
{
    return value_of(arena, VALUE_ARRAY);
}

struct value *value_object(struct arena *arena)
{
    return value_of(arena, VALUE_OBJECT);
}

bool value_is(const struct value *value, enum value_type type)
{
    return value != NULL && value->type == type;
}

const char *value_type_name(const struct value *value)
{
    static const char *const names[] = {"null", "bool", "number", "number", "string", "array", "object"};

    return value == NULL ? "null" : names[value->type];
}

static uint32_t slot_count(const struct value_object *object)
{
    uint32_t slots = 32;

    while (slots < object->cap * 2) {
        slots *= 2;
    }
    return slots;
}

/* The slot that holds the key, or the free one where it would go. */
static uint32_t slot_of(const struct value_object *object, struct str key)
{
    uint32_t mask = slot_count(object) - 1;

    for (uint32_t at = (uint32_t)map_hash(key) & mask;; at = (at + 1) & mask) {
        uint32_t index = object->slots[at];

        if (index == 0 || (object->members[index - 1].value != NULL && str_eq(object->members[index - 1].key, key))) {
            return at;
        }
    }
}

static struct value_member *member_of(const struct value *value, struct str key)
{
    if (!value_is(value, VALUE_OBJECT)) {
        return NULL;
    }
    const struct value_object *object = &value->object;

    if (object->slots != NULL) {
        uint32_t index = object->slots[slot_of(object, key)];

        return index != 0 ? &object->members[index - 1] : NULL;
    }
    for (uint32_t i = 0; i < object->used; i++) {
        if (object->members[i].value != NULL && str_eq(object->members[i].key, key)) {
            return &object->members[i];
        }
    }
    return NULL;
}

struct value *value_find(const struct value *object, struct str key)
{
    struct value_member *member = member_of(object, key);

    return member != NULL ? member->value : NULL;
}

struct value *value_find_path(const struct value *value, const char *dotted)
{
    struct value *at = (struct value *)(uintptr_t)value;

    for (struct str rest = str_of(dotted), key; str_next(&rest, '.', &key);) {
        at = value_find(at, key);
    }
    return at;
}

struct value *value_item(const struct value *array, size_t i)
{
    return value_is(array, VALUE_ARRAY) && i < array->array.len ? array->array.items[i] : NULL;
}

struct str value_str(const struct value *value)
{
    return value_is(value, VALUE_STRING) ? value->string : (struct str){0};
}

struct str value_str_at(const struct value *value, const char *dotted)
{
    return value_str(value_find_path(value, dotted));
}

size_t value_count(const struct value *value)
{
    return value_is(value, VALUE_ARRAY) ? value->array.len : value_is(value, VALUE_OBJECT) ? value->object.count : 0;
}

struct value_member *value_next_member_(const struct value *value, struct value_member *after)
{
    if (!value_is(value, VALUE_OBJECT)) {
        return NULL;
    }
    const struct value_object *object = &value->object;
    size_t at = after == NULL ? 0 : (size_t)(after - object->members) + 1;

    for (; at < object->used; at++) {
        if (object->members[at].value != NULL) {
            return &object->members[at];
        }
    }
    return NULL;
}

/* Closes the gaps that deleted members left, and fills the index anew when there is one. */
static void close_gaps(struct value_object *object)
{
    uint32_t live = 0;

    for (uint32_t i = 0; i < object->used; i++) {
        if (object->members[i].value != NULL) {
            object->members[live++] = object->members[i];
        }
    }
    object->used = live;
    if (object->slots != NULL) {
        memset(object->slots, 0, slot_count(object) * sizeof(*object->slots));
        for (uint32_t i = 0; i < live; i++) {
            object->slots[slot_of(object, object->members[i].key)] = i + 1;
        }
    }
}

static void grow(struct arena *arena, struct value_object *object)
{
    uint32_t cap = object->cap == 0 ? 4 : object->cap * 2;
    struct value_member *members = ARENA_ARRAY(arena, struct value_member, cap);

    if (object->used > 0) {
        memcpy(members, object->members, object->used * sizeof(*members));
    }
    object->members = members;
    object->cap = cap;
    object->slots = cap > INDEX_FROM ? ARENA_ARRAY(arena, uint32_t, slot_count(object)) : NULL;
    close_gaps(object);
}

void value_set(struct arena *arena, struct value *value, struct str key, struct value *to)
{
    struct value_member *member = member_of(value, key);
    struct value_object *object = &value->object;

    if (member != NULL) {
        member->value = to;
        return;
    }
    if (object->used == object->cap) {
        grow(arena, object);
    }
    object->members[object->used++] = (struct value_member){key, to};
    object->count++;
    if (object->slots != NULL) {
        object->slots[slot_of(object, key)] = object->used;
    }
}

bool value_delete(struct value *value, struct str key)
{
    struct value_member *member = member_of(value, key);
    struct value_object *object = &value->object;

    if (member == NULL) {
        return false;
    }
    member->value = NULL;
    object->count--;
    if (object->used > 2 * object->count) {
        close_gaps(object); /* often enough to be cheap, seldom enough to be linear in all */
    }
    return true;
}

void value_add(struct arena *arena, struct value *array, struct value *item)
{
    value_insert(arena, array, array->array.len, item);
}

void value_insert(struct arena *arena, struct value *value, size_t i, struct value *item)
{
    struct value_array *array = &value->array;

    if (array->len == array->cap) {
        uint32_t cap = array->cap == 0 ? 4 : array->cap * 2;
        struct value **items = ARENA_ARRAY(arena, struct value *, cap);

        if (array->len > 0) {
            memcpy(items, array->items, array->len * sizeof(*items));
        }
        array->items = items;
        array->cap = cap;
    }
    memmove(&array->items[i + 1], &array->items[i], (array->len - i) * sizeof(*array->items));
    array->items[i] = item;
    array->len++;
}

void value_remove(struct value *value, size_t i)
{
    struct value_array *array = &value->array;

    memmove(&array->items[i], &array->items[i + 1], (array->len - i - 1) * sizeof(*array->items));
    array->len--;
}

static struct str string_copy(struct arena *arena, struct str s, bool whole)
{
    return whole ? arena_str(arena, s) : s;
}

static struct value *copy(struct arena *arena, const struct value *value, bool whole)
{
    if (value == NULL) {
        return NULL;
    }
    struct value *to = ARENA_NEW(arena, struct value);

    if (value->type == VALUE_STRING) {
        to->string = string_copy(arena, value->string, whole);
    } else if (value->type != VALUE_ARRAY && value->type != VALUE_OBJECT) {
        *to = *value;
    }
    to->type = value->type;
    VALUE_EACH_ITEM(item, value)
    {
        value_add(arena, to, copy(arena, *item, whole));
    }
    VALUE_EACH_MEMBER(member, value)
    {
        value_set(arena, to, string_copy(arena, member->key, whole), copy(arena, member->value, whole));
    }
    return to;
}

struct value *value_copy(struct arena *arena, const struct value *value)
{
    return copy(arena, value, false);
}

struct value *value_copy_whole(struct arena *arena, const struct value *value)
{
    return copy(arena, value, true);
}

static bool containers_equal(const struct value *a, const struct value *b)
{
    if (value_count(a) != value_count(b)) {
        return false;
    }
    for (size_t i = 0; a->type == VALUE_ARRAY && i < a->array.len; i++) {
        if (!value_equal(a->array.items[i], b->array.items[i])) {
            return false;
        }
    }
    VALUE_EACH_MEMBER(member, a)
    {
        struct value *other = value_find(b, member->key);

        if (other == NULL || !value_equal(member->value, other)) {
            return false;
        }
    }
    return true;
}

bool value_equal(const struct value *a, const struct value *b)
{
    if (a == NULL || b == NULL || a->type != b->type) {
        return a == b;
    }
    switch (a->type) {
    case VALUE_BOOL:
        return a->boolean == b->boolean;
    case VALUE_INT:
        return a->integer == b->integer;
    case VALUE_DOUBLE:
        return a->number == b->number;
    case VALUE_STRING:
        return str_eq(a->string, b->string);
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        return containers_equal(a, b);
    case VALUE_NULL:
    default:
        return true;
    }
}

static int by_bytes(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

struct str *value_sorted_keys(struct arena *arena, const struct value *object)
{
    struct str *keys = ARENA_ARRAY(arena, struct str, value_count(object));
    size_t count = 0;

    VALUE_EACH_MEMBER(member, object)
    {
        keys[count++] = member->key;
    }
    if (count > 1) {
        qsort(keys, count, sizeof(*keys), by_bytes);
    }
    return keys;
}
