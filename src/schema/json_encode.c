/* Writing half of json.h. */
#include "schema/json.h"

#include "base/base64.h"
#include "schema/copy.h"
#include "schema/json_lexer.h"
#include "schema/timestamp.h"

#include <string.h>

static void encode_struct(const struct type *type, const void *object, struct buf *out);

static void add_unsigned(struct buf *out, uint64_t value, bool negative)
{
    char digits[24];
    char *at = digits + sizeof(digits);

    do {
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    if (negative) {
        *--at = '-';
    }
    buf_add(out, at, (size_t)(digits + sizeof(digits) - at));
}

static void add_integer(struct buf *out, int64_t value)
{
    add_unsigned(out, value < 0 ? -(uint64_t)value : (uint64_t)value, value < 0);
}

/* Text that came from outside, as Go's encoder passes it on: without white space between tokens and with <, > and &
 * escaped. */
static void add_compact(struct buf *out, struct str json)
{
    static const char hex[] = "0123456789abcdef";
    /* Bytes to look at; the runs between them are copied. */
    static const bool stops[256] = {['"'] = true, ['\\'] = true, [' '] = true, ['\t'] = true, ['\n'] = true,
                                    ['\r'] = true, ['<'] = true, ['>'] = true, ['&'] = true, [0xe2] = true};
    bool in_string = false;
    size_t from = 0; /* of what is still to be copied */

    for (size_t i = 0; i < json.n; i++) {
        char c = json.p[i];

        if (!stops[(unsigned char)c]) {
            continue;
        }
        if (c == '"') {
            in_string = !in_string;
        } else if (c == '\\') {
            i += in_string && i + 1 < json.n ? 1 : 0;
        } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            if (!in_string) {
                buf_add(out, json.p + from, i - from);
                from = i + 1;
            }
        } else if (c == '<' || c == '>' || c == '&') {
            buf_add(out, json.p + from, i - from);
            buf_add_str(out, STR("\\u00"));
            buf_add_char(out, hex[(unsigned char)c >> 4]);
            buf_add_char(out, hex[c & 15]);
            from = i + 1;
        } else if (i + 2 < json.n && (unsigned char)json.p[i + 1] == 0x80 &&
                   ((unsigned char)json.p[i + 2] & 0xfe) == 0xa8) {
            buf_add(out, json.p + from, i - from);
            buf_add_str(out, STR("\\u202"));
            buf_add_char(out, hex[json.p[i + 2] & 15]);
            i += 2;
            from = i + 1;
        }
    }
    buf_add(out, json.p + from, json.n - from);
}

static void add_time(struct buf *out, const struct timestamp *time, unsigned digits)
{
    char text[TIMESTAMP_TEXT];

    if (!time->is_set) {
        buf_add_str(out, STR("null"));
        return;
    }
    buf_add_char(out, '"');
    buf_add(out, text, timestamp_write(text, *time, digits));
    buf_add_char(out, '"');
}

static void add_duration(struct buf *out, int64_t nanos)
{
    struct arena *arena = arena_new();

    json_add_string(out, duration_format(arena, nanos));
    arena_free(arena);
}

static void add_strings(struct buf *out, const struct str_list *list)
{
    if (list->items == NULL) {
        buf_add_str(out, STR("null"));
        return;
    }
    buf_add_char(out, '[');
    for (size_t i = 0; i < list->len; i++) {
        if (i != 0) {
            buf_add_char(out, ',');
        }
        json_add_string(out, list->items[i]);
    }
    buf_add_char(out, ']');
}

static void add_bytes(struct buf *out, struct str bytes)
{
    if (bytes.p == NULL) {
        buf_add_str(out, STR("null"));
        return;
    }
    buf_add_char(out, '"');
    base64_add(out, bytes);
    buf_add_char(out, '"');
}

static void encode_item(const struct field *field, const void *item, struct buf *out)
{
    switch ((enum type_kind)field->kind) {
    case TYPE_BOOL:
        buf_add_str(out, *(const bool *)item ? STR("true") : STR("false"));
        return;
    case TYPE_INT32:
        add_integer(out, *(const int32_t *)item);
        return;
    case TYPE_INT64:
        add_integer(out, *(const int64_t *)item);
        return;
    case TYPE_UINT32:
        add_unsigned(out, *(const uint32_t *)item, false);
        return;
    case TYPE_UINT64:
        add_unsigned(out, *(const uint64_t *)item, false);
        return;
    case TYPE_DOUBLE:
        json_add_double(out, *(const double *)item);
        return;
    case TYPE_STRING:
        json_add_string(out, *(const struct str *)item);
        return;
    case TYPE_BYTES:
        add_bytes(out, *(const struct str *)item);
        return;
    case TYPE_QUANTITY: {
        struct str text = ((const struct quantity *)item)->text;

        json_add_string(out, text.n != 0 ? text : STR("0"));
        return;
    }
    case TYPE_TIME:
        add_time(out, item, 0);
        return;
    case TYPE_MICRO_TIME:
        add_time(out, item, 6);
        return;
    case TYPE_DURATION:
        add_duration(out, *(const int64_t *)item);
        return;
    case TYPE_INT_OR_STRING: {
        const struct int_or_string *value = item;

        if (value->is_string) {
            json_add_string(out, value->text);
        } else {
            add_integer(out, value->number);
        }
        return;
    }
    case TYPE_RAW: {
        struct str json = ((const struct raw_json *)item)->json;

        add_compact(out, json.n != 0 ? json : STR("null"));
        return;
    }
    case TYPE_STRINGS:
        add_strings(out, item);
        return;
    case TYPE_STRUCT:
        encode_struct(field->type, item, out);
        return;
    case TYPE_KIND_COUNT:
        return;
    }
}

static void encode_list(const struct field *field, const struct any_list *list, struct buf *out)
{
    size_t size = field_item_size(field);

    buf_add_char(out, '[');
    for (size_t i = 0; i < list->len; i++) {
        if (i != 0) {
            buf_add_char(out, ',');
        }
        encode_item(field, (const char *)list->items + i * size, out);
    }
    buf_add_char(out, ']');
}

static void encode_entries(const struct field *field, const struct any_list *map, bool is_first, struct buf *out)
{
    size_t size = field_entry_size(field);

    for (size_t i = 0; i < map->len; i++) {
        const char *entry = (const char *)map->items + i * size;

        if (i != 0 || !is_first) {
            buf_add_char(out, ',');
        }
        json_add_string(out, *(const struct str *)entry);
        buf_add_char(out, ':');
        encode_item(field, entry + sizeof(struct str), out);
    }
}

static void encode_map(const struct field *field, const struct any_list *map, struct buf *out)
{
    buf_add_char(out, '{');
    encode_entries(field, map, true, out);
    buf_add_char(out, '}');
}

void json_encode_field(const struct field *field, const void *place, struct buf *out)
{
    switch ((enum field_shape)field->shape) {
    case SHAPE_PLAIN:
        encode_item(field, place, out);
        return;
    case SHAPE_POINTER:
        place = *(void *const *)place;
        if (place != NULL) {
            encode_item(field, place, out);
            return;
        }
        break;
    case SHAPE_LIST:
    case SHAPE_MAP: {
        const struct any_list *list = place;

        if (list->items == NULL) {
            break;
        }
        if (field->shape == SHAPE_LIST) {
            encode_list(field, list, out);
        } else {
            encode_map(field, list, out);
        }
        return;
    }
    }
    buf_add_str(out, STR("null"));
}

/* Go's omitempty never leaves a struct out, and these are structs there. */
static bool is_go_struct(const struct field *field)
{
    switch ((enum type_kind)field->kind) {
    case TYPE_STRUCT:
    case TYPE_QUANTITY:
    case TYPE_TIME:
    case TYPE_MICRO_TIME:
    case TYPE_DURATION:
    case TYPE_INT_OR_STRING:
    case TYPE_RAW:
        return true;
    default:
        return false;
    }
}

static bool is_shown(const struct field *field, const void *place)
{
    if (field->presence == PRESENCE_ALWAYS) {
        return true;
    }
    if (field->shape == SHAPE_LIST || field->shape == SHAPE_MAP) {
        const struct any_list *list = place;

        return field->presence == PRESENCE_OMITZERO ? list->items != NULL : list->len != 0;
    }
    if (field->presence == PRESENCE_OMITEMPTY && field->shape == SHAPE_PLAIN && is_go_struct(field)) {
        return true;
    }
    return !schema_field_is_zero(field, place);
}

static void encode_union(const struct type *type, const void *object, struct buf *out)
{
    const struct field *plain = NULL;

    /* lists before structs before plain values, as long as they are there */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < type->field_count; i++) {
            const struct field *field = &type->fields[i];
            const void *place = (const char *)object + field->offset;

            if (field->shape == SHAPE_PLAIN) {
                plain = field;
            } else if ((field->shape == SHAPE_LIST) == (pass == 0) &&
                       (pass == 0 ? ((const struct any_list *)place)->len != 0 : *(void *const *)place != NULL)) {
                json_encode_field(field, place, out);
                return;
            }
        }
    }
    if (plain != NULL) {
        encode_item(plain, (const char *)object + plain->offset, out);
    } else {
        buf_add_str(out, STR("null"));
    }
}

static void encode_struct(const struct type *type, const void *object, struct buf *out)
{
    bool first = true;

    if (type->flags & TYPE_UNION) {
        encode_union(type, object, out);
        return;
    }
    buf_add_char(out, '{');
    for (size_t i = 0; i < type->member_count; i++) {
        const struct type_member *member = &type->members[i];
        const void *place = (const char *)object + member->offset;

        if (!is_shown(member->field, place)) {
            continue;
        }
        if (!first) {
            buf_add_char(out, ',');
        }
        first = false;
        buf_add_char(out, '"');
        buf_add_str(out, member->field->name);
        buf_add(out, "\":", 2);
        json_encode_field(member->field, place, out);
    }
    if (type->rest != NULL) {
        const struct any_list *rest = (const struct any_list *)(const void *)((const char *)object + type->rest->offset);

        encode_entries(type->rest, rest, first, out);
    }
    buf_add_char(out, '}');
}

void json_encode(const struct type *type, const void *object, struct buf *out)
{
    encode_struct(type, object, out);
}
