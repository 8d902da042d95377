/* Messages are written from their end to their start: the length of a nested one is known when its turn comes, and
 * nothing is measured or moved twice. */
#include "schema/protobuf.h"
#include "schema/protobuf_wire.h"

#include <string.h>

/* Room behind what `out` holds, filled from its end. */
struct back {
    struct buf *out;
    size_t room; /* bytes */
    size_t used; /* of those, at the end */
};

static char *room_for(struct back *back, size_t size)
{
    size_t start = back->out->n;

    if (back->room - back->used < size) {
        size_t room = 2 * (back->room + size);

        back->out->n = start + back->room; /* what is there is kept */
        buf_reserve(back->out, room - back->room);
        back->out->n = start;
        char *p = back->out->p + start;

        memmove(p + room - back->used, p + back->room - back->used, back->used);
        back->room = room;
    }
    back->used += size;
    return back->out->p + start + back->room - back->used;
}

static void put_bytes(struct back *back, struct str bytes)
{
    char *p = room_for(back, bytes.n);

    if (bytes.n > 0) {
        memcpy(p, bytes.p, bytes.n);
    }
}

static void put_varint(struct back *back, uint64_t value)
{
    wire_put_varint(room_for(back, wire_varint_size(value)), value);
}

static void put_tag(struct back *back, uint32_t number, unsigned wire_type)
{
    put_varint(back, (uint64_t)number << 3 | wire_type);
}

/* Length and tag of what was written since `used`. */
static void close_bytes(struct back *back, uint32_t number, size_t used)
{
    put_varint(back, back->used - used);
    put_tag(back, number, WIRE_BYTES);
}

static void put_bytes_field(struct back *back, uint32_t number, struct str bytes)
{
    put_bytes(back, bytes);
    put_varint(back, bytes.n);
    put_tag(back, number, WIRE_BYTES);
}

static void put_varint_field(struct back *back, uint32_t number, uint64_t value)
{
    put_varint(back, value);
    put_tag(back, number, WIRE_VARINT);
}

static void put_message(struct back *back, const struct type *type, const void *object);

static void put_time(struct back *back, const struct timestamp *time, int32_t nanos)
{
    if (time->is_set) {
        put_varint_field(back, 2, (uint64_t)nanos);
        put_varint_field(back, 1, (uint64_t)time->seconds);
    }
}

/* The content of a value that is a message or bytes. */
static void put_content(struct back *back, const struct field *field, const void *value)
{
    const struct int_or_string *number = value;
    const struct str_list *strings = value;

    switch ((enum type_kind)field->kind) {
    case TYPE_STRING:
    case TYPE_BYTES:
        put_bytes(back, *(const struct str *)value);
        break;
    case TYPE_QUANTITY:
        put_bytes_field(back, 1, ((const struct quantity *)value)->text.n > 0 ? *(const struct str *)value : STR("0"));
        break;
    case TYPE_TIME:
        put_time(back, value, 0);
        break;
    case TYPE_MICRO_TIME:
        put_time(back, value, ((const struct timestamp *)value)->nanos / 1000 * 1000);
        break;
    case TYPE_DURATION:
        put_varint_field(back, 1, (uint64_t) * (const int64_t *)value);
        break;
    case TYPE_INT_OR_STRING:
        put_bytes_field(back, 3, number->text);
        put_varint_field(back, 2, (uint64_t)(int64_t)number->number);
        put_varint_field(back, 1, number->is_string);
        break;
    case TYPE_RAW:
        if (((const struct raw_json *)value)->json.p != NULL) {
            put_bytes_field(back, 1, ((const struct raw_json *)value)->json);
        }
        break;
    case TYPE_STRINGS:
        for (size_t i = strings->len; i > 0; i--) {
            put_bytes_field(back, 1, strings->items[i - 1]);
        }
        break;
    default:
        put_message(back, field->type, value);
    }
}

static uint64_t number_of(const struct field *field, const void *value)
{
    switch ((enum type_kind)field->kind) {
    case TYPE_BOOL:
        return *(const bool *)value;
    case TYPE_INT32:
        return (uint64_t)(int64_t) * (const int32_t *)value;
    case TYPE_UINT32:
        return *(const uint32_t *)value;
    default:
        return *(const uint64_t *)value;
    }
}

static bool is_number(const struct field *field)
{
    return field->kind <= TYPE_DOUBLE;
}

static void put_number(struct back *back, const struct field *field, const void *value)
{
    uint64_t number = number_of(field, value);

    if (field->kind != TYPE_DOUBLE) {
        put_varint(back, number);
        return;
    }
    unsigned char *p = (unsigned char *)room_for(back, 8);

    for (size_t i = 0; i < 8; i++) {
        p[i] = (unsigned char)(number >> 8 * i);
    }
}

/* A value under a number of its own. */
static void put_value(struct back *back, const struct field *field, uint32_t number, const void *value)
{
    if (is_number(field)) {
        put_number(back, field, value);
        put_tag(back, number, field->kind == TYPE_DOUBLE ? WIRE_FIXED64 : WIRE_VARINT);
        return;
    }
    size_t used = back->used;

    put_content(back, field, value);
    close_bytes(back, number, used);
}

static void put_list(struct back *back, const struct field *field, const struct any_list *list, bool packed)
{
    size_t size = field_item_size(field), used = back->used;

    for (size_t i = list->len; i > 0; i--) {
        const void *item = (const char *)list->items + size * (i - 1);

        if (packed) {
            put_number(back, field, item);
        } else {
            put_value(back, field, field->number, item);
        }
    }
    if (packed && list->len > 0) {
        close_bytes(back, field->number, used);
    }
}

static void put_map(struct back *back, const struct field *field, const struct any_list *map)
{
    size_t size = field_entry_size(field);

    for (size_t i = map->len; i > 0; i--) {
        const struct str *key = (const void *)((const char *)map->items + size * (i - 1));
        size_t used = back->used;

        if (field->kind != TYPE_BYTES || key[1].p != NULL) {
            put_value(back, field, 2, key + 1);
        }
        put_bytes_field(back, 1, *key);
        close_bytes(back, field->number, used);
    }
}

/* Whether a plain value is left out: nil bytes, and with proto3 zero scalars. */
static bool is_left_out(const struct field *field, const void *value, bool proto3)
{
    if (field->kind == TYPE_BYTES) {
        return proto3 ? ((const struct str *)value)->n == 0 : ((const struct str *)value)->p == NULL;
    }
    if (!proto3) {
        return false;
    }
    return is_number(field) ? number_of(field, value) == 0
                            : field->kind == TYPE_STRING && ((const struct str *)value)->n == 0;
}

static void put_field(struct back *back, const struct field *field, const void *place, bool proto3)
{
    switch ((enum field_shape)field->shape) {
    case SHAPE_PLAIN:
        if (!is_left_out(field, place, proto3)) {
            put_value(back, field, field->number, place);
        }
        break;
    case SHAPE_POINTER:
        if (*(const void *const *)place != NULL) {
            put_value(back, field, field->number, *(const void *const *)place);
        }
        break;
    case SHAPE_LIST:
        put_list(back, field, place, proto3 && is_number(field));
        break;
    case SHAPE_MAP:
        put_map(back, field, place);
        break;
    }
}

static void put_message(struct back *back, const struct type *type, const void *object)
{
    for (size_t i = type->numbered_count; i > 0; i--) {
        const struct field *field = &type->fields[type->by_number[i - 1]];

        put_field(back, field, (const char *)object + field->offset, type->flags & TYPE_PROTO3);
    }
}

static struct back back_start(struct buf *out)
{
    enum { FIRST_ROOM = 1024 };

    buf_reserve(out, FIRST_ROOM);
    return (struct back){out, FIRST_ROOM, 0};
}

/* What was written joins what `out` held. */
static void back_end(struct back *back)
{
    char *p = back->out->p + back->out->n;

    memmove(p, p + back->room - back->used, back->used);
    back->out->n += back->used;
}

void protobuf_encode(const struct type *type, const void *object, struct buf *out)
{
    struct back back = back_start(out);

    put_message(&back, type, object);
    back_end(&back);
}

void protobuf_envelope_write(const struct type *type, const void *object, struct str api_version, struct str kind,
                             struct buf *out)
{
    struct back back = back_start(out);

    put_bytes_field(&back, 4, STR(""));
    put_bytes_field(&back, 3, STR(""));
    size_t used = back.used;

    put_message(&back, type, object);
    close_bytes(&back, 2, used);
    used = back.used;
    put_bytes_field(&back, 2, kind);
    put_bytes_field(&back, 1, api_version);
    close_bytes(&back, 1, used);
    put_bytes(&back, PROTOBUF_MAGIC);
    back_end(&back);
}
