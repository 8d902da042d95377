#include "kubectl/kyaml.h"

static void indent(struct buf *out, int level)
{
    for (int i = 0; i < level; i++) {
        buf_add_str(out, STR("  "));
    }
}

/* Keys that are plain words need no quotes; those that YAML would take for something else do. */
static bool is_plain_key(struct str key)
{
    static const char *const words[] = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"};

    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (str_eq_nocase(key, str_of(words[i]))) {
            return false;
        }
    }
    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

        if (!is_letter && (i == 0 || !((c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/'))) {
            return false;
        }
    }
    return key.n > 0;
}

static void write_string(struct buf *out, struct str text)
{
    struct value string = {.type = VALUE_STRING, .string = text};

    value_write_json(out, &string, VALUE_JSON_PLAIN);
}

static void write(struct buf *out, const struct value *value, int level);

static void write_object(struct buf *out, const struct value *value, int level)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str *keys = value_sorted_keys(arena, value);

    buf_add_str(out, STR("{"));
    for (size_t i = 0; i < value_count(value); i++) {
        buf_add_char(out, '\n');
        indent(out, level + 1);
        if (is_plain_key(keys[i])) {
            buf_add_str(out, keys[i]);
        } else {
            write_string(out, keys[i]);
        }
        buf_add_str(out, STR(": "));
        write(out, value_find(value, keys[i]), level + 1);
        buf_add_char(out, ',');
    }
    if (value_count(value) > 0) {
        buf_add_char(out, '\n');
        indent(out, level);
    }
    buf_add_char(out, '}');
}

/* Lists of structures are cuddled: "[{" on one line. */
static void write_array(struct buf *out, const struct value *value, int level)
{
    bool cuddles = value_count(value) > 0;

    VALUE_EACH_ITEM(item, value)
    {
        cuddles = cuddles && value_count(*item) > 0 && (value_is(*item, VALUE_OBJECT) || value_is(*item, VALUE_ARRAY));
    }
    buf_add_char(out, '[');
    for (size_t i = 0; i < value_count(value); i++) {
        if (!cuddles) {
            buf_add_char(out, '\n');
            indent(out, level + 1);
        } else if (i > 0) {
            buf_add_str(out, STR(", "));
        }
        write(out, value_item(value, i), cuddles ? level : level + 1);
        buf_add_str(out, cuddles ? STR("") : STR(","));
    }
    if (value_count(value) > 0 && !cuddles) {
        buf_add_char(out, '\n');
        indent(out, level);
    }
    buf_add_char(out, ']');
}

static void write(struct buf *out, const struct value *value, int level)
{
    if (value_is(value, VALUE_OBJECT)) {
        write_object(out, value, level);
    } else if (value_is(value, VALUE_ARRAY)) {
        write_array(out, value, level);
    } else if (value_is(value, VALUE_STRING)) {
        write_string(out, value_str(value));
    } else {
        value_write_json(out, value, 0);
    }
}

void kyaml_write(struct buf *out, const struct value *value)
{
    buf_add_str(out, STR("---\n"));
    write(out, value, 0);
    buf_add_char(out, '\n');
}
