#include "schema/value.h"

#include "schema/json_lexer.h"

#include <stdio.h>
#include <string.h>

/* Where the reader is, as a path to name duplicates by; lives on the stack of the recursion. */
struct place {
    const struct place *parent;
    struct str key; /* empty with an index */
    size_t index;
};

struct reader {
    struct json_lexer in;
    struct arena *arena;
    struct value_duplicates *duplicates;
};

static struct value *read_value(struct reader *reader, const struct place *place);

static void add_path(struct buf *out, const struct place *place)
{
    if (place == NULL) {
        return;
    }
    add_path(out, place->parent);
    if (place->key.p == NULL) {
        buf_printf(out, "[%zu]", place->index);
        return;
    }
    if (place->parent != NULL) {
        buf_add_char(out, '.');
    }
    buf_add_str(out, place->key);
}

static void note_duplicate(struct reader *reader, const struct place *place)
{
    OWNED(buf_done) struct buf path = {0};

    if (reader->duplicates == NULL || reader->duplicates->len >= VALUE_DUPLICATES_MAX) {
        return;
    }
    add_path(&path, place);
    *LIST_ADD(reader->arena, reader->duplicates) = arena_str(reader->arena, buf_str(&path));
}

static struct value *read_object(struct reader *reader, const struct place *place)
{
    struct value *object = value_object(reader->arena);

    if (!json_object_start(&reader->in)) {
        return NULL;
    }
    for (struct str key; json_object_next(&reader->in, &key);) {
        struct place member = {place, key.p != NULL ? key : STR(""), 0};

        if (reader->duplicates != NULL && value_find(object, key) != NULL) {
            note_duplicate(reader, &member);
        }
        struct value *value = read_value(reader, &member);

        if (value == NULL) {
            return NULL;
        }
        value_set(reader->arena, object, key, value);
    }
    return object;
}

static struct value *read_array(struct reader *reader, const struct place *place)
{
    struct value *array = value_array(reader->arena);

    if (!json_array_start(&reader->in)) {
        return NULL;
    }
    while (json_array_next(&reader->in)) {
        struct place element = {place, {0}, array->array.len};
        struct value *value = read_value(reader, &element);

        if (value == NULL) {
            return NULL;
        }
        value_add(reader->arena, array, value);
    }
    return array;
}

static struct value *read_number(struct reader *reader)
{
    struct str text;
    int64_t integer;

    if (!json_number(&reader->in, &text)) {
        return NULL;
    }
    if (str_to_i64(text, &integer)) {
        return value_int(reader->arena, integer);
    }
    double number = json_to_double(text);

    if (__builtin_isinf(number)) {
        OWNED(buf_done) struct buf error = {0};

        buf_printf(&error, "json: cannot unmarshal number %.*s into Go value of type float64", STR_ARG(text));
        json_fail(&reader->in, arena_cstr(reader->arena, buf_str(&error)));
        return NULL;
    }
    return value_double(reader->arena, number);
}

/* NULL when the lexer has failed. Nesting, and so the recursion, is bounded by the lexer. */
static struct value *read_value(struct reader *reader, const struct place *place)
{
    struct json_lexer *in = &reader->in;
    struct str string;
    bool boolean;

    switch (json_peek(in)) {
    case JSON_NULL:
        return json_null(in) ? value_null(reader->arena) : NULL;
    case JSON_BOOL:
        return json_bool(in, &boolean) ? value_bool(reader->arena, boolean) : NULL;
    case JSON_NUMBER:
        return read_number(reader);
    case JSON_STRING:
        return json_string(in, &string) ? value_string(reader->arena, string) : NULL;
    case JSON_ARRAY:
        return read_array(reader, place);
    case JSON_OBJECT:
        return read_object(reader, place);
    case JSON_INVALID:
    default:
        return NULL;
    }
}

struct status *value_read_json(struct arena *arena, struct str text, struct value **ret,
                               struct value_duplicates *duplicates)
{
    struct reader reader = {.arena = arena, .duplicates = duplicates};

    json_begin(&reader.in, text, arena);
    struct value *value = read_value(&reader, NULL);

    TRY(json_finish(&reader.in));
    *ret = value;
    return NULL;
}

static void new_line(struct buf *out, unsigned flags, unsigned depth)
{
    if (flags & VALUE_JSON_INDENT) {
        buf_add_char(out, '\n');
        memset(buf_reserve(out, 4 * depth), ' ', 4 * depth);
        out->n += 4 * depth;
    }
}

static void write_string(struct buf *out, struct str s, unsigned flags)
{
    if (flags & VALUE_JSON_PLAIN) {
        json_add_string_plain(out, s);
    } else {
        json_add_string(out, s);
    }
}

static void write(struct buf *out, const struct value *value, unsigned flags, unsigned depth);

static void write_member(struct buf *out, struct str key, const struct value *value, bool first, unsigned flags,
                         unsigned depth)
{
    if (!first) {
        buf_add_char(out, ',');
    }
    new_line(out, flags, depth);
    write_string(out, key, flags);
    buf_add(out, ": ", flags & VALUE_JSON_INDENT ? 2 : 1);
    write(out, value, flags, depth);
}

static void write_object(struct buf *out, const struct value *object, unsigned flags, unsigned depth)
{
    bool first = true;

    buf_add_char(out, '{');
    if (flags & VALUE_JSON_SORTED) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct str *keys = value_sorted_keys(arena, object);

        for (size_t i = 0; i < value_count(object); i++) {
            write_member(out, keys[i], value_find(object, keys[i]), i == 0, flags, depth + 1);
        }
    } else {
        VALUE_EACH_MEMBER(member, object)
        {
            write_member(out, member->key, member->value, first, flags, depth + 1);
            first = false;
        }
    }
    if (value_count(object) > 0) {
        new_line(out, flags, depth);
    }
    buf_add_char(out, '}');
}

static void write_array(struct buf *out, const struct value *array, unsigned flags, unsigned depth)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < array->array.len; i++) {
        if (i > 0) {
            buf_add_char(out, ',');
        }
        new_line(out, flags, depth + 1);
        write(out, array->array.items[i], flags, depth + 1);
    }
    if (array->array.len > 0) {
        new_line(out, flags, depth);
    }
    buf_add_char(out, ']');
}

static void write(struct buf *out, const struct value *value, unsigned flags, unsigned depth)
{
    switch (value == NULL ? VALUE_NULL : value->type) {
    case VALUE_BOOL:
        buf_add_str(out, value->boolean ? STR("true") : STR("false"));
        break;
    case VALUE_INT:
        buf_printf(out, "%lld", (long long)value->integer);
        break;
    case VALUE_DOUBLE:
        json_add_double(out, value->number);
        break;
    case VALUE_STRING:
        write_string(out, value->string, flags);
        break;
    case VALUE_ARRAY:
        write_array(out, value, flags, depth);
        break;
    case VALUE_OBJECT:
        write_object(out, value, flags, depth);
        break;
    case VALUE_NULL:
    default:
        buf_add_str(out, STR("null"));
        break;
    }
}

void value_write_json(struct buf *out, const struct value *value, unsigned flags)
{
    write(out, value, flags, 0);
}

struct str value_json(struct arena *arena, const struct value *value)
{
    OWNED(buf_done) struct buf out = {0};

    value_write_json(&out, value, VALUE_JSON_SORTED);
    return arena_str(arena, buf_str(&out));
}
