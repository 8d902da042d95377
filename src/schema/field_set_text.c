#include "schema/field_rule.h"

#include "base/limits.h"
#include "schema/json_lexer.h"

#include <stdlib.h>

static struct status *wrong(struct str element)
{
    return status_new(STATUS_BAD_REQUEST, "\"%.*s\" is no path element of fieldsV1", STR_ARG(element));
}

/* Keys and values are made anew, so that the same ones have the same text. */
static struct status *canonical(struct arena *arena, struct str element, struct str *ret)
{
    struct value *value;

    if (element.n < 2 || element.p[1] != ':') {
        return wrong(element);
    }
    switch (element.p[0]) {
    case 'f':
    case 'i':
        *ret = element;
        return NULL;
    case 'k':
    case 'v':
        TRY(value_read_json(arena, str_from(element, 2), &value, NULL));
        *ret = arena_printf(arena, "%c:%.*s", element.p[0], STR_ARG(value_json(arena, value)));
        return NULL;
    default:
        return wrong(element);
    }
}

static struct status *of_tree(struct arena *arena, const struct value *tree, const struct field_set **ret)
{
    struct field_set *set = ARENA_NEW(arena, struct field_set);

    if (!value_is(tree, VALUE_OBJECT)) {
        return status_new(STATUS_BAD_REQUEST, "fieldsV1 must be made of objects");
    }
    set->is_member = value_count(tree) == 0 || value_find(tree, STR(".")) != NULL;
    VALUE_EACH_MEMBER(member, tree)
    {
        const struct field_set *below = NULL;
        struct str element;

        if (str_is(member->key, ".")) {
            continue;
        }
        TRY(canonical(arena, member->key, &element));
        TRY(of_tree(arena, member->value, &below));
        field_set_add(arena, set, element, below);
    }
    *ret = field_set_sorted(arena, set);
    return NULL;
}

struct status *field_set_read(struct arena *arena, struct str json, const struct field_set **ret)
{
    struct value *tree;

    TRY(value_read_json(arena, json, &tree, NULL));
    if (value_is(tree, VALUE_OBJECT) && value_count(tree) == 0) {
        *ret = NULL;
        return NULL;
    }
    return of_tree(arena, tree, ret);
}

static void write_below(const struct field_set *set, struct buf *out)
{
    bool is_first = true;

    buf_add_char(out, '{');
    if (set->is_member && set->len != 0) {
        buf_add_str(out, STR("\".\":{}"));
        is_first = false;
    }
    for (size_t i = 0; i < set->len; i++) {
        buf_add_str(out, is_first ? STR("") : STR(","));
        is_first = false;
        json_add_string(out, set->items[i].element);
        buf_add_char(out, ':');
        write_below(set->items[i].below, out);
    }
    buf_add_char(out, '}');
}

void field_set_write(const struct field_set *set, struct buf *out)
{
    static const struct field_set none = {0};

    write_below(set == NULL ? &none : set, out);
}

static void add_scalar(struct arena *arena, const struct value *value, struct buf *path)
{
    buf_add_str(path, value_json(arena, value));
}

static void add_element(struct arena *arena, struct str element, struct buf *path)
{
    struct str text = str_from(element, 2);
    struct value *value = NULL;
    bool is_first = true;

    if (element.p[0] == 'f') {
        buf_printf(path, ".%.*s", STR_ARG(text));
        return;
    }
    if (element.p[0] == 'i') {
        buf_printf(path, "[%.*s]", STR_ARG(text));
        return;
    }
    status_free(value_read_json(arena, text, &value, NULL)); /* it was made by us */
    buf_add_char(path, '[');
    if (element.p[0] == 'v') {
        buf_add_char(path, '=');
        add_scalar(arena, value, path);
    }
    VALUE_EACH_MEMBER(member, value)
    {
        buf_printf(path, "%s%.*s=", is_first ? "" : ",", STR_ARG(member->key));
        add_scalar(arena, member->value, path);
        is_first = false;
    }
    buf_add_char(path, ']');
}

static void collect(struct arena *arena, const struct field_set *set, struct str prefix, struct field_paths *paths)
{
    if (set->is_member) {
        *LIST_ADD(arena, paths) = prefix;
    }
    for (size_t i = 0; i < set->len; i++) {
        OWNED(buf_done) struct buf path = {0};

        buf_add_str(&path, prefix);
        add_element(arena, set->items[i].element, &path);
        collect(arena, set->items[i].below, arena_str(arena, buf_str(&path)), paths);
    }
}

struct field_paths field_set_paths(struct arena *arena, const struct field_set *set)
{
    struct field_paths paths = {0};

    if (set != NULL) {
        collect(arena, set, STR(""), &paths);
    }
    return paths;
}
