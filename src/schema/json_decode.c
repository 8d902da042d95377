/* Reading half of json.h: a walk over the text with the tables at hand. */
#include "schema/json.h"

#include "base/base64.h"
#include "base/limits.h"
#include "schema/go_type.h"
#include "schema/json_lexer.h"
#include "schema/map_of.h"
#include "schema/quantity.h"
#include "schema/timestamp.h"

#include <stdio.h>
#include <string.h>

/* Where the walk is, for messages: a member of a struct or map, or an element. */
struct place {
    const struct place *outer;
    const struct type *owner; /* the struct whose member this is; NULL for elements and map entries */
    struct str name;
    size_t index;
    bool is_element;
};

struct decoder {
    struct json_lexer in;
    struct arena *arena;
    struct str type_error; /* the first one; decoding goes on, as a syntax error later comes first */
    struct json_problems *problems;
};

static void decode_struct(struct decoder *decoder, const struct type *type, void *object, const struct place *place);
static void decode_item(struct decoder *decoder, const struct field *field, void *item, const struct place *place);

/* "spec.containers[0].name", or without indexes as Go's field stack has it. */
static void add_path(struct buf *out, const struct place *place, bool with_elements)
{
    if (place == NULL) {
        return;
    }
    add_path(out, place->outer, with_elements);
    if (place->is_element) {
        if (with_elements) {
            buf_printf(out, "[%zu]", place->index);
        }
        return;
    }
    if (!with_elements && place->owner == NULL) {
        return;
    }
    if (out->n != 0) {
        buf_add_char(out, '.');
    }
    buf_add_str(out, place->name);
}

static void add_problem(struct decoder *decoder, const char *what, const struct place *place)
{
    struct json_problems *problems = decoder->problems;
    OWNED(buf_done) struct buf path = {0};

    if (problems == NULL || problems->len >= JSON_PROBLEMS_MAX) {
        return;
    }
    add_path(&path, place, true);
    struct str text = arena_printf(decoder->arena, "%s field \"%.*s\"", what, STR_ARG(buf_str(&path)));

    LIST_EACH(known, problems) {
        if (str_eq(*known, text)) {
            return;
        }
    }
    *LIST_ADD(decoder->arena, problems) = text;
}

static void fail(struct decoder *decoder, struct str error)
{
    if (decoder->type_error.n == 0) {
        decoder->type_error = error;
    }
}

/* Go's UnmarshalTypeError; takes the value that is wrong. */
static void fail_type(struct decoder *decoder, struct str go_type, bool wants_number, const struct place *place)
{
    OWNED(buf_done) struct buf path = {0};
    enum json_kind kind = json_peek(&decoder->in);
    const struct place *owner = place;
    struct str text;

    if (!json_skip(&decoder->in, &text) || decoder->type_error.n != 0) {
        return;
    }
    struct str literal = wants_number && kind == JSON_NUMBER ? text : (struct str){"", 0};

    while (owner != NULL && owner->owner == NULL) {
        owner = owner->outer;
    }
    add_path(&path, place, false);
    if (owner == NULL) {
        fail(decoder, arena_printf(decoder->arena, "json: cannot unmarshal %s%s%.*s into Go value of type %.*s",
                                   json_kind_name(kind), literal.n != 0 ? " " : "", STR_ARG(literal),
                                   STR_ARG(go_type)));
        return;
    }
    fail(decoder,
         arena_printf(decoder->arena, "json: cannot unmarshal %s%s%.*s into Go struct field %.*s.%.*s of type %.*s",
                      json_kind_name(kind), literal.n != 0 ? " " : "", STR_ARG(literal), STR_ARG(owner->owner->name),
                      STR_ARG(buf_str(&path)), STR_ARG(go_type)));
}

static void decode_integer(struct decoder *decoder, const struct field *field, void *item, const struct place *place)
{
    struct str text = {NULL, 0};
    struct json_lexer before = decoder->in;
    int64_t value = 0;
    uint64_t natural = 0;
    bool is_fine = json_peek(&decoder->in) == JSON_NUMBER && json_number(&decoder->in, &text);

    if (json_failed(&decoder->in)) {
        return;
    }
    if (field->kind == TYPE_UINT32 || field->kind == TYPE_UINT64) {
        is_fine = is_fine && str_to_u64(text, &natural) && (field->kind == TYPE_UINT64 || natural <= UINT32_MAX);
    } else {
        is_fine = is_fine && json_to_i64(text, &value) &&
                  (field->kind == TYPE_INT64 || (value >= INT32_MIN && value <= INT32_MAX));
    }
    if (!is_fine) {
        decoder->in = before;
        fail_type(decoder, go_type_of_item(decoder->arena, field), true, place);
        return;
    }
    switch ((enum type_kind)field->kind) {
    case TYPE_INT32:
        *(int32_t *)item = (int32_t)value;
        return;
    case TYPE_INT64:
        *(int64_t *)item = value;
        return;
    case TYPE_UINT32:
        *(uint32_t *)item = (uint32_t)natural;
        return;
    default:
        *(uint64_t *)item = natural;
        return;
    }
}

/* Takes a string for a type that reads text of its own; false when it was something else. */
static bool take_text(struct decoder *decoder, const struct place *place, struct str *ret)
{
    if (json_peek(&decoder->in) != JSON_STRING) {
        fail_type(decoder, STR("string"), false, place);
        return false;
    }
    return json_string(&decoder->in, ret);
}

static void decode_time(struct decoder *decoder, const struct field *field, struct timestamp *ret,
                        const struct place *place)
{
    bool micro = field->kind == TYPE_MICRO_TIME;
    struct str text;

    if (!take_text(decoder, place, &text)) {
        return;
    }
    if (!(micro ? timestamp_parse_micro(text, ret) : timestamp_parse(text, ret))) {
        fail(decoder, timestamp_problem(decoder->arena, text, micro));
        return;
    }
    if (ret->seconds == TIMESTAMP_GO_ZERO) {
        *ret = (struct timestamp){0};
    }
}

static void decode_duration(struct decoder *decoder, int64_t *ret, const struct place *place)
{
    struct str text;

    if (take_text(decoder, place, &text) && !duration_parse(text, ret)) {
        fail(decoder, arena_printf(decoder->arena, "time: invalid duration \"%.*s\"", STR_ARG(text)));
    }
}

static void decode_quantity(struct decoder *decoder, struct quantity *ret)
{
    struct str text;
    bool is_string = json_peek(&decoder->in) == JSON_STRING;

    if (!(is_string ? json_string(&decoder->in, &text) : json_skip(&decoder->in, &text))) {
        return;
    }
    struct status *status = quantity_parse(decoder->arena, text, ret);

    if (status != NULL) {
        fail(decoder, arena_str(decoder->arena, status->message));
        status_free(status);
    }
}

static void decode_bytes(struct decoder *decoder, const struct field *field, struct str *ret,
                         const struct place *place)
{
    struct str text;

    if (json_peek(&decoder->in) != JSON_STRING) {
        fail_type(decoder, go_type_of_item(decoder->arena, field), false, place);
        return;
    }
    if (!json_string(&decoder->in, &text)) {
        return;
    }
    if (!base64_decode(decoder->arena, text, ret)) {
        fail(decoder, arena_printf(decoder->arena, "illegal base64 data at input byte %zu", base64_error_at(text)));
    } else if (ret->p == NULL) {
        *ret = STR("");
    }
}

static void decode_int_or_string(struct decoder *decoder, struct int_or_string *ret, const struct place *place)
{
    static const struct field number = {.kind = TYPE_INT32};

    if (json_peek(&decoder->in) == JSON_STRING) {
        *ret = (struct int_or_string){.is_string = true};
        json_string(&decoder->in, &ret->text);
        return;
    }
    *ret = (struct int_or_string){0};
    decode_integer(decoder, &number, &ret->number, place);
}

static void decode_strings(struct decoder *decoder, struct str_list *ret, const struct place *place)
{
    static const struct field text = {.kind = TYPE_STRING};
    struct place element = {.outer = place, .is_element = true};

    if (json_peek(&decoder->in) != JSON_ARRAY) {
        fail_type(decoder, STR("[]string"), false, place);
        return;
    }
    *ret = (struct str_list){arena_alloc(decoder->arena, 0), 0};
    if (!json_array_start(&decoder->in)) {
        return;
    }
    for (; json_array_next(&decoder->in); element.index++) {
        struct str *item = LIST_ADD(decoder->arena, ret);

        decode_item(decoder, &text, item, &element);
    }
}

/* One T, which is not null. */
static void decode_item(struct decoder *decoder, const struct field *field, void *item, const struct place *place)
{
    enum json_kind kind = json_peek(&decoder->in);

    if (kind == JSON_NULL && field->kind != TYPE_RAW) {
        json_null(&decoder->in);
        return;
    }
    switch ((enum type_kind)field->kind) {
    case TYPE_BOOL:
        if (kind == JSON_BOOL) {
            json_bool(&decoder->in, item);
            return;
        }
        break;
    case TYPE_STRING:
        if (kind == JSON_STRING) {
            json_string(&decoder->in, item);
            return;
        }
        break;
    case TYPE_DOUBLE:
        if (kind == JSON_NUMBER) {
            struct str text;

            if (json_number(&decoder->in, &text)) {
                *(double *)item = json_to_double(text);
            }
            return;
        }
        break;
    case TYPE_INT32:
    case TYPE_INT64:
    case TYPE_UINT32:
    case TYPE_UINT64:
        decode_integer(decoder, field, item, place);
        return;
    case TYPE_BYTES:
        decode_bytes(decoder, field, item, place);
        return;
    case TYPE_QUANTITY:
        decode_quantity(decoder, item);
        return;
    case TYPE_TIME:
    case TYPE_MICRO_TIME:
        decode_time(decoder, field, item, place);
        return;
    case TYPE_DURATION:
        decode_duration(decoder, item, place);
        return;
    case TYPE_INT_OR_STRING:
        decode_int_or_string(decoder, item, place);
        return;
    case TYPE_RAW:
        if (kind == JSON_NULL) {
            json_null(&decoder->in);
        } else {
            json_skip(&decoder->in, &((struct raw_json *)item)->json);
        }
        return;
    case TYPE_STRINGS:
        decode_strings(decoder, item, place);
        return;
    case TYPE_STRUCT:
        decode_struct(decoder, field->type, item, place);
        return;
    case TYPE_KIND_COUNT:
        break;
    }
    fail_type(decoder, go_type_of_item(decoder->arena, field), false, place);
}

static void decode_list(struct decoder *decoder, const struct field *field, struct any_list *list,
                        const struct place *place)
{
    size_t size = field_item_size(field);
    struct place element = {.outer = place, .is_element = true};

    if (json_peek(&decoder->in) != JSON_ARRAY) {
        fail_type(decoder, go_type_of_field(decoder->arena, field), false, place);
        return;
    }
    *list = (struct any_list){arena_alloc(decoder->arena, 0), 0};
    if (!json_array_start(&decoder->in)) {
        return;
    }
    for (; json_array_next(&decoder->in); element.index++) {
        list->items = arena_list_room_(decoder->arena, list->items, list->len, size);
        void *item = (char *)list->items + list->len++ * size;

        decode_item(decoder, field, item, &element);
    }
}

/* The place of the key in a map that grows sorted; most come in order, which costs nothing. */
static void *map_place(struct decoder *decoder, const struct field *field, struct any_list *map, struct str key,
                       const struct place *place)
{
    size_t size = field_entry_size(field), at = map->len;

    if (map->len != 0) {
        const char *last = (const char *)map->items + (map->len - 1) * size;

        if (str_cmp(*(const struct str *)last, key) >= 0 && map_of_find(map->items, map->len, size, key, &at)) {
            add_problem(decoder, "duplicate", place);
            void *value = (char *)map->items + at * size + sizeof(struct str);

            memset(value, 0, size - sizeof(struct str));
            return value;
        }
    }
    map->items = arena_list_room_(decoder->arena, map->items, map->len, size);
    char *entry = (char *)map->items + at * size;

    memmove(entry + size, entry, (map->len - at) * size);
    memset(entry, 0, size);
    map->len++;
    *(struct str *)entry = key;
    return entry + sizeof(struct str);
}

static void decode_map(struct decoder *decoder, const struct field *field, struct any_list *map,
                       const struct place *place)
{
    struct str key;

    if (json_peek(&decoder->in) != JSON_OBJECT) {
        fail_type(decoder, go_type_of_field(decoder->arena, field), false, place);
        return;
    }
    *map = (struct any_list){arena_alloc(decoder->arena, 0), 0};
    if (!json_object_start(&decoder->in)) {
        return;
    }
    while (json_object_next(&decoder->in, &key)) {
        struct place entry = {.outer = place, .name = key};

        decode_item(decoder, field, map_place(decoder, field, map, key, &entry), &entry);
    }
}

static void decode_field(struct decoder *decoder, const struct field *field, void *at, const struct place *place)
{
    bool is_null = json_peek(&decoder->in) == JSON_NULL;

    switch ((enum field_shape)field->shape) {
    case SHAPE_PLAIN:
        if (is_null && (field->kind == TYPE_TIME || field->kind == TYPE_MICRO_TIME || field->kind == TYPE_QUANTITY ||
                        field->kind == TYPE_BYTES)) {
            memset(at, 0, field_item_size(field));
        }
        decode_item(decoder, field, at, place);
        return;
    case SHAPE_POINTER:
        if (is_null) {
            *(void **)at = NULL;
            json_null(&decoder->in);
            return;
        }
        if (*(void **)at == NULL) {
            *(void **)at = arena_alloc(decoder->arena, field_item_size(field));
        }
        decode_item(decoder, field, *(void **)at, place);
        return;
    case SHAPE_LIST:
    case SHAPE_MAP:
        if (is_null) {
            *(struct any_list *)at = (struct any_list){0};
            json_null(&decoder->in);
        } else if (field->shape == SHAPE_LIST) {
            decode_list(decoder, field, at, place);
        } else {
            decode_map(decoder, field, at, place);
        }
        return;
    }
}

/* Which alternative of a union a value of that JSON kind is; NULL: none. */
static const struct field *alternative(const struct type *type, enum json_kind kind)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];

        if ((kind == JSON_ARRAY && field->shape == SHAPE_LIST) ||
            (kind == JSON_OBJECT && field->shape != SHAPE_LIST && field->kind == TYPE_STRUCT) ||
            (kind == JSON_BOOL && field->shape == SHAPE_PLAIN && field->kind == TYPE_BOOL)) {
            return field;
        }
    }
    return NULL;
}

static void decode_union(struct decoder *decoder, const struct type *type, void *object, const struct place *place)
{
    enum json_kind kind = json_peek(&decoder->in);
    const struct field *field = alternative(type, kind), *truth = alternative(type, JSON_BOOL);

    if (field == NULL) {
        fail_type(decoder, go_type_of_struct(decoder->arena, type), false, place);
        return;
    }
    decode_field(decoder, field, (char *)object + field->offset, place);
    if (truth != NULL && kind == JSON_OBJECT) {
        *(bool *)((char *)object + truth->offset) = true; /* a schema allows what it describes */
    }
}

/* Where a type that takes any member keeps those it has no field for. */
static struct any_list *rest_of(const struct type *type, void *object)
{
    return (struct any_list *)(void *)((char *)object + type->rest->offset);
}

static void decode_struct(struct decoder *decoder, const struct type *type, void *object, const struct place *place)
{
    uint64_t seen[4] = {0};
    struct str key;

    if (type->flags & TYPE_UNION) {
        decode_union(decoder, type, object, place);
        return;
    }
    if (json_peek(&decoder->in) != JSON_OBJECT) {
        fail_type(decoder, go_type_of_struct(decoder->arena, type), false, place);
        return;
    }
    if (!json_object_start(&decoder->in)) {
        return;
    }
    while (json_object_next(&decoder->in, &key)) {
        const struct type_member *member = type_member(type, key);
        struct place inner = {.outer = place, .owner = type, .name = key};

        if (member == NULL && type->rest != NULL && key.n != 0) {
            decode_item(decoder, type->rest, map_place(decoder, type->rest, rest_of(type, object), key, &inner), &inner);
            continue;
        }
        if (member == NULL) {
            add_problem(decoder, "unknown", &inner);
            json_skip(&decoder->in, NULL);
            continue;
        }
        size_t index = (size_t)(member - type->members);

        if (index < 8 * sizeof(seen)) {
            if (seen[index / 64] >> (index % 64) & 1) {
                add_problem(decoder, "duplicate", &inner);
            }
            seen[index / 64] |= UINT64_C(1) << (index % 64);
        }
        decode_field(decoder, member->field, (char *)object + member->offset, &inner);
    }
}

struct status *json_decode(struct arena *arena, const struct type *type, struct str text, void *object,
                           struct json_problems *problems)
{
    struct decoder decoder = {.arena = arena, .problems = problems};

    json_begin(&decoder.in, text, arena);
    if (json_peek(&decoder.in) == JSON_NULL) {
        json_null(&decoder.in);
    } else {
        decode_struct(&decoder, type, object, NULL);
    }
    TRY(json_finish(&decoder.in));
    if (decoder.type_error.n != 0) {
        return status_new(STATUS_BAD_REQUEST, "%.*s", STR_ARG(decoder.type_error));
    }
    return NULL;
}
