#include "base/limits.h"
#include "schema/map_of.h"
#include "schema/protobuf.h"
#include "schema/protobuf_wire.h"
#include "schema/quantity.h"

#include <stdlib.h>
#include <string.h>

struct decoder {
    struct arena *arena;
    size_t budget; /* bytes that may still be allocated: short input may stand for large structs */
    bool unsorted; /* some map has keys out of order, or twice */
};

/* Where in the nesting a message is. */
struct message {
    const struct type *type;
    void *object;
    size_t depth;
};

static struct status *decode_message(struct decoder *d, const struct message *message, struct str bytes);

static struct status *spend(struct decoder *d, size_t size)
{
    if (size > d->budget) {
        return status_new(STATUS_BAD_REQUEST, "proto: the message takes too much memory");
    }
    d->budget -= size;
    return NULL;
}

static struct status *check(enum wire_result result)
{
    return result == WIRE_OK ? NULL : wire_error(result);
}

/* Go's name of the field: that of JSON with a capital, or of the type. */
static struct status *wrong_wire_type(const struct field *field, unsigned wire_type)
{
    struct str name = field->name.n > 0 ? field->name : field->type->name;
    char first = name.p[0] >= 'a' && name.p[0] <= 'z' ? (char)(name.p[0] - 'a' + 'A') : name.p[0];

    return status_new(STATUS_BAD_REQUEST, "proto: wrong wireType = %u for field %c%.*s", wire_type, first,
                      STR_ARG(str_from(name, 1)));
}

static unsigned wire_type_of(const struct field *field)
{
    return field->kind < TYPE_DOUBLE ? WIRE_VARINT : field->kind == TYPE_DOUBLE ? WIRE_FIXED64 : WIRE_BYTES;
}

/* Takes a number off *bytes. */
static struct status *decode_number(const struct field *field, struct str *bytes, void *value)
{
    uint64_t number = 0;

    if (field->kind == TYPE_DOUBLE) {
        if (bytes->n < 8) {
            return wire_error(WIRE_SHORT);
        }
        for (size_t i = 0; i < 8; i++) {
            number |= (uint64_t)(unsigned char)bytes->p[i] << 8 * i;
        }
        *bytes = str_from(*bytes, 8);
        memcpy(value, &number, sizeof(number));
        return NULL;
    }
    TRY(check(wire_take_varint(bytes, &number)));
    switch ((enum type_kind)field->kind) {
    case TYPE_BOOL:
        *(bool *)value = number != 0;
        break;
    case TYPE_INT32:
    case TYPE_UINT32:
        *(uint32_t *)value = (uint32_t)number;
        break;
    default:
        *(uint64_t *)value = number;
    }
    return NULL;
}

/* The messages of scalars.h have fields 1 to 3; the last value of each is kept. */
struct small_message {
    uint64_t numbers[4];
    struct str texts[4];
    struct str_list *strings; /* takes every text in field 1 */
};

static struct status *decode_small(struct decoder *d, struct str bytes, struct small_message *small)
{
    while (bytes.n > 0) {
        uint64_t tag = 0, ignored;
        struct str text;

        TRY(check(wire_take_varint(&bytes, &tag)));
        uint64_t number = tag >> 3;

        if ((tag & 7) == WIRE_VARINT) {
            TRY(check(wire_take_varint(&bytes, number < 4 ? &small->numbers[number] : &ignored)));
        } else if ((tag & 7) == WIRE_BYTES) {
            TRY(check(wire_take_bytes(&bytes, &text)));
            if (number < 4) {
                small->texts[number] = text;
            }
            if (number == 1 && small->strings != NULL) {
                TRY(spend(d, 2 * sizeof(struct str)));
                *LIST_ADD(d->arena, small->strings) = text;
            }
        } else {
            TRY(check(wire_skip(&bytes, tag & 7)));
        }
    }
    return NULL;
}

static struct status *decode_time(struct decoder *d, struct str bytes, bool micro, struct timestamp *ret)
{
    struct small_message small = {0};

    *ret = (struct timestamp){0};
    if (bytes.n == 0) {
        return NULL;
    }
    TRY(decode_small(d, bytes, &small));
    int32_t nanos = micro ? (int32_t)(uint32_t)small.numbers[2] : 0;

    if (nanos < 0 || nanos > 999999999) {
        nanos = 0;
    }
    *ret = (struct timestamp){(int64_t)small.numbers[1], nanos / 1000 * 1000, true};
    return NULL;
}

static struct status *decode_content(struct decoder *d, const struct field *field, struct str bytes, void *value,
                                     size_t depth)
{
    struct small_message small = {0};
    struct message inner = {field->type, value, depth + 1};

    switch ((enum type_kind)field->kind) {
    case TYPE_STRING:
    case TYPE_BYTES:
        *(struct str *)value = bytes;
        return NULL;
    case TYPE_QUANTITY:
        TRY(decode_small(d, bytes, &small));
        return quantity_parse(d->arena, small.texts[1], value);
    case TYPE_TIME:
    case TYPE_MICRO_TIME:
        return decode_time(d, bytes, field->kind == TYPE_MICRO_TIME, value);
    case TYPE_DURATION:
        TRY(decode_small(d, bytes, &small));
        *(int64_t *)value = (int64_t)small.numbers[1];
        return NULL;
    case TYPE_INT_OR_STRING:
        TRY(decode_small(d, bytes, &small));
        *(struct int_or_string *)value =
            (struct int_or_string){small.numbers[1] == 1, (int32_t)(uint32_t)small.numbers[2], small.texts[3]};
        return NULL;
    case TYPE_RAW:
        TRY(decode_small(d, bytes, &small));
        ((struct raw_json *)value)->json = small.texts[1];
        return NULL;
    case TYPE_STRINGS:
        small.strings = value;
        return decode_small(d, bytes, &small);
    default:
        return decode_message(d, &inner, bytes);
    }
}

/* Takes a value off *bytes. */
static struct status *decode_value(struct decoder *d, const struct field *field, struct str *bytes, unsigned wire_type,
                                   void *value, size_t depth)
{
    struct str content;

    if (wire_type != wire_type_of(field)) {
        return wrong_wire_type(field, wire_type);
    }
    if (wire_type != WIRE_BYTES) {
        return decode_number(field, bytes, value);
    }
    TRY(check(wire_take_bytes(bytes, &content)));
    return decode_content(d, field, content, value, depth);
}

static struct status *add_item(struct decoder *d, struct any_list *list, size_t size, void **ret)
{
    TRY(spend(d, 2 * size));
    list->items = arena_list_room_(d->arena, list->items, list->len, size);
    *ret = (char *)list->items + size * list->len++;
    return NULL;
}

static struct status *decode_packed(struct decoder *d, const struct field *field, struct str *bytes,
                                    struct any_list *list)
{
    struct str packed;
    void *item;

    TRY(check(wire_take_bytes(bytes, &packed)));
    while (packed.n > 0) {
        TRY(add_item(d, list, field_item_size(field), &item));
        TRY(decode_number(field, &packed, item));
    }
    return NULL;
}

static struct status *decode_entry(struct decoder *d, const struct field *field, struct str *bytes,
                                   struct any_list *map, size_t depth)
{
    size_t size = field_entry_size(field);
    struct str entry;
    void *added;

    TRY(check(wire_take_bytes(bytes, &entry)));
    TRY(add_item(d, map, size, &added));
    struct str *key = added;

    while (entry.n > 0) {
        uint64_t tag = 0;

        TRY(check(wire_take_varint(&entry, &tag)));
        if (tag == (1 << 3 | WIRE_BYTES)) {
            TRY(check(wire_take_bytes(&entry, key)));
        } else if (tag >> 3 == 2) {
            TRY(decode_value(d, field, &entry, tag & 7, key + 1, depth));
        } else {
            TRY(check(wire_skip(&entry, tag & 7)));
        }
    }
    if (map->len > 1 && str_cmp(*(const struct str *)((char *)added - size), *key) >= 0) {
        d->unsorted = true;
    }
    return NULL;
}

/* Another member of a proto3 union takes the place of this one. */
static void clear_others(const struct message *message, const struct field *field)
{
    for (size_t i = 0; i < message->type->field_count; i++) {
        const struct field *other = &message->type->fields[i];

        if (other != field && other->rules != NULL && str_eq(other->rules->one_of, field->rules->one_of)) {
            memset((char *)message->object + other->offset, 0, field_size(other));
        }
    }
}

static struct status *decode_field(struct decoder *d, const struct message *message, const struct field *field,
                                   struct str *bytes, unsigned wire_type)
{
    void *place = (char *)message->object + field->offset, *item = place;

    if ((message->type->flags & TYPE_PROTO3) && field->rules != NULL && field->rules->one_of.n > 0) {
        clear_others(message, field);
    }
    switch ((enum field_shape)field->shape) {
    case SHAPE_PLAIN:
        break;
    case SHAPE_POINTER:
        if (*(void **)place == NULL) {
            TRY(spend(d, field_item_size(field)));
            *(void **)place = arena_alloc(d->arena, field_item_size(field));
        }
        item = *(void **)place;
        break;
    case SHAPE_LIST:
        if (wire_type == WIRE_BYTES && wire_type_of(field) != WIRE_BYTES) {
            return decode_packed(d, field, bytes, place);
        }
        TRY(add_item(d, place, field_item_size(field), &item));
        break;
    case SHAPE_MAP:
        if (wire_type != WIRE_BYTES) {
            return wrong_wire_type(field, wire_type);
        }
        return decode_entry(d, field, bytes, place, message->depth);
    }
    return decode_value(d, field, bytes, wire_type, item, message->depth);
}

/* *at is where the last field was found: fields come in order most of the time. */
static const struct field *find_field(const struct type *type, uint64_t number, size_t *at)
{
    for (size_t i = 0; i < type->numbered_count; i++) {
        size_t here = *at + i < type->numbered_count ? *at + i : *at + i - type->numbered_count;
        const struct field *field = &type->fields[type->by_number[here]];

        if (field->number == number) {
            *at = here;
            return field;
        }
    }
    return NULL;
}

static struct status *decode_message(struct decoder *d, const struct message *message, struct str bytes)
{
    const struct type *type = message->type;
    size_t at = 0;

    if (message->depth > LIMIT_DECODE_DEPTH) {
        return status_new(STATUS_BAD_REQUEST, "proto: %.*s: exceeded max depth", STR_ARG(type->name));
    }
    while (bytes.n > 0) {
        uint64_t tag = 0;

        TRY(check(wire_take_varint(&bytes, &tag)));
        int32_t number = (int32_t)(uint32_t)(tag >> 3);

        if ((tag & 7) == WIRE_GROUP_END) {
            return status_new(STATUS_BAD_REQUEST, "proto: %.*s: wiretype end group for non-group", STR_ARG(type->name));
        }
        if (number <= 0) {
            return status_new(STATUS_BAD_REQUEST, "proto: %.*s: illegal tag %d (wire type %llu)", STR_ARG(type->name),
                              number, (unsigned long long)tag);
        }
        const struct field *field = find_field(type, (uint64_t)number, &at);

        TRY(field != NULL ? decode_field(d, message, field, &bytes, tag & 7) : check(wire_skip(&bytes, tag & 7)));
    }
    return NULL;
}

/* By key, then as they came. */
static int compare_entries(const void *a, const void *b)
{
    const struct str *x = *(const struct str *const *)a, *y = *(const struct str *const *)b;
    int order = str_cmp(*x, *y);

    return order != 0 ? order : x < y ? -1 : x > y;
}

static void sort_map(struct arena *arena, struct any_list *map, size_t size)
{
    const struct str **entries = ARENA_ARRAY(arena, const struct str *, map->len);
    char *sorted = arena_array(arena, map->len, size);
    size_t len = 0;

    for (size_t i = 0; i < map->len; i++) {
        entries[i] = (const void *)((const char *)map->items + size * i);
    }
    qsort(entries, map->len, sizeof(*entries), compare_entries);
    for (size_t i = 0; i < map->len; i++) {
        if (i + 1 == map->len || !str_eq(*entries[i], *entries[i + 1])) {
            memcpy(sorted + size * len++, entries[i], size);
        }
    }
    map->items = sorted;
    map->len = len;
}

/* Sorts the maps of the object and of those in it. */
static void sort_maps(struct arena *arena, const struct type *type, void *object)
{
    for (size_t i = 0; i < type->numbered_count; i++) {
        const struct field *field = &type->fields[type->by_number[i]];
        void *place = (char *)object + field->offset;
        struct any_list one = {place, 1}, *list = field->shape == SHAPE_PLAIN ? &one : place;
        size_t size = field_item_size(field), skip = 0;

        if (field->shape == SHAPE_POINTER) {
            one.items = *(void **)place;
            one.len = one.items != NULL;
            list = &one;
        } else if (field->shape == SHAPE_MAP) {
            skip = sizeof(struct str);
            size = field_entry_size(field);
            if (list->len > 0) {
                sort_map(arena, list, size);
            }
        }
        for (size_t j = 0; field->kind == TYPE_STRUCT && j < list->len; j++) {
            sort_maps(arena, field->type, (char *)list->items + size * j + skip);
        }
    }
}

struct status *protobuf_decode(struct arena *arena, const struct type *type, struct str bytes, void *object)
{
    struct decoder decoder = {.arena = arena, .budget = LIMIT_DECODE_BASE_BYTES + LIMIT_DECODE_GROWTH * bytes.n};
    struct message message = {type, object, 1};

    TRY(decode_message(&decoder, &message, bytes));
    if (decoder.unsorted) {
        sort_maps(arena, type, object);
    }
    return NULL;
}
