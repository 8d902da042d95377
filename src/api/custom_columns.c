/* Printer columns and selectable fields of custom resources. */
#include "api/custom_columns.h"

#include "api/age.h"
#include "api/custom_kind.h"
#include "base/buf.h"
#include "schema/object.h"
#include "schema/timestamp.h"

#include <ctype.h>
#include <stdio.h>

/* The values that a path leads to, step by step. */
struct found {
    const struct value **items;
    size_t len;
};

/* 'text' or "text" at the start; takes it away. */
static bool take_quoted(struct str *rest, struct str *ret)
{
    if (rest->n < 2 || (rest->p[0] != '\'' && rest->p[0] != '"')) {
        return false;
    }
    size_t end = str_index(str_from(*rest, 1), rest->p[0]);

    if (end == SIZE_MAX) {
        return false;
    }
    *ret = str_sub(*rest, 1, end + 1);
    *rest = str_from(*rest, end + 2);
    return true;
}

static struct str trim(struct str text)
{
    while (text.n != 0 && isspace((unsigned char)text.p[0])) {
        text = str_from(text, 1);
    }
    while (text.n != 0 && isspace((unsigned char)text.p[text.n - 1])) {
        text.n--;
    }
    return text;
}

/* @.a.b=="x": the operand after @, whether it is != , and the text. */
static bool parse_filter(struct str filter, struct str *path, bool *is_negative, struct str *wanted)
{
    size_t at = str_find(filter, STR("=="));

    *is_negative = at == SIZE_MAX;
    at = at != SIZE_MAX ? at : str_find(filter, STR("!="));
    if (at == SIZE_MAX || !str_has_prefix(trim(filter), STR("@."))) {
        return false;
    }
    *path = str_from(trim(str_sub(filter, 0, at)), 1);
    struct str right = trim(str_from(filter, at + 2));

    if (!take_quoted(&right, wanted)) {
        *wanted = right;
    }
    return true;
}

static struct str text_of(struct arena *arena, const struct value *value)
{
    return value_is(value, VALUE_STRING) ? value->string : value_json(arena, value);
}

static void filter_items(struct arena *arena, const struct value *list, struct str filter, struct found *to)
{
    struct str path, wanted;
    bool is_negative;

    if (!parse_filter(filter, &path, &is_negative, &wanted)) {
        return;
    }
    VALUE_EACH_ITEM(item, list)
    {
        const struct value *value = custom_path_find(*item, path);

        if (value != NULL && str_eq(text_of(arena, value), wanted) != is_negative) {
            *LIST_ADD(arena, to) = *item;
        }
    }
}

/* What is between [ and ]. */
static void subscript(struct arena *arena, const struct value *of, struct str inside, struct found *to)
{
    struct str name = {0};
    const struct value *one = NULL;

    inside = trim(inside);
    if (str_is(inside, "*")) {
        VALUE_EACH_ITEM(item, of)
        {
            *LIST_ADD(arena, to) = *item;
        }
        VALUE_EACH_MEMBER(member, of)
        {
            *LIST_ADD(arena, to) = member->value;
        }
        return;
    }
    if (str_has_prefix(inside, STR("?(")) && str_has_suffix(inside, STR(")"))) {
        filter_items(arena, of, str_sub(inside, 2, inside.n - 1), to);
        return;
    }
    if (take_quoted(&inside, &name)) {
        one = value_find(of, name);
    } else {
        char digits[12];

        snprintf(digits, sizeof digits, "%.*s", STR_ARG(inside));
        int at = 0;

        if (sscanf(digits, "%d", &at) == 1) {
            one = value_item(of, at < 0 ? value_count(of) - (size_t)-at : (size_t)at);
        }
    }
    if (one != NULL) {
        *LIST_ADD(arena, to) = one;
    }
}

static size_t closing(struct str rest)
{
    char quote = 0;

    for (size_t i = 0; i < rest.n; i++) {
        char c = rest.p[i];

        if (quote != 0) {
            quote = c == quote ? 0 : quote;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == ']') {
            return i;
        }
    }
    return SIZE_MAX;
}

static struct str take_name(struct arena *arena, struct str *rest)
{
    OWNED(buf_done) struct buf name = {0};
    size_t i = 0;

    for (; i < rest->n && rest->p[i] != '.' && rest->p[i] != '['; i++) {
        i += rest->p[i] == '\\' && i + 1 < rest->n;
        buf_add_char(&name, rest->p[i]);
    }
    *rest = str_from(*rest, i);
    return arena_str(arena, buf_str(&name));
}

static struct found walk(struct arena *arena, const struct value *tree, struct str path)
{
    struct found now = {0};

    *LIST_ADD(arena, &now) = tree;
    while (path.n != 0 && now.len != 0) {
        struct found next = {0};

        if (path.p[0] == '[') {
            size_t end = closing(path);

            if (end == SIZE_MAX) {
                return (struct found){0};
            }
            LIST_EACH(value, &now) {
                subscript(arena, *value, str_sub(path, 1, end), &next);
            }
            path = str_from(path, end + 1);
        } else {
            path = path.p[0] == '.' ? str_from(path, 1) : path;
            if (path.n == 0 || path.p[0] == '[') {
                continue;
            }
            struct str name = take_name(arena, &path);

            LIST_EACH(value, &now) {
                struct value *below = value_find(*value, name);

                if (str_is(name, "*")) {
                    subscript(arena, *value, name, &next);
                } else if (below != NULL) {
                    *LIST_ADD(arena, &next) = below;
                }
            }
        }
        now = next;
    }
    return now;
}

static struct value *date_cell(struct arena *arena, const struct value *value, struct timestamp now)
{
    struct timestamp time;
    struct str text = text_of(arena, value);

    return value_string(arena, timestamp_parse(text, &time) ? human_age(arena, time, now) : STR("<invalid>"));
}

/* As the column's type wants it; null when the value is of another. */
static struct value *cell_of(struct arena *arena, struct str type, const struct value *value, struct timestamp now)
{
    if (str_is(type, "integer")) {
        return value_is(value, VALUE_INT)      ? value_int(arena, value->integer)
               : value_is(value, VALUE_DOUBLE) ? value_int(arena, (int64_t)value->number)
                                               : value_null(arena);
    }
    if (str_is(type, "number")) {
        return value_is(value, VALUE_DOUBLE) ? value_double(arena, value->number)
               : value_is(value, VALUE_INT)  ? value_int(arena, value->integer)
                                             : value_null(arena);
    }
    if (str_is(type, "boolean")) {
        return value_is(value, VALUE_BOOL) ? value_bool(arena, value->boolean) : value_null(arena);
    }
    if (str_is(type, "date")) {
        return date_cell(arena, value, now);
    }
    return value_string(arena, text_of(arena, value));
}

struct table_columns custom_columns(struct arena *arena, const struct kind *kind)
{
    const struct apiextensions_v1_custom_resource_definition_version *version = kind->custom->version;
    struct {
        struct table_column *items;
        size_t len;
    } columns = {0};

    *LIST_ADD(arena, &columns) = (struct table_column){
        STR("Name"), STR("string"), STR("name"), STR("The name of the object."), 0};
    LIST_EACH(from, &version->additional_printer_columns) {
        *LIST_ADD(arena, &columns) = (struct table_column){
            from->name, from->type, from->format,
            from->description.n != 0
                ? from->description
                : arena_printf(arena, "Custom resource definition column (in JSONPath format): %.*s",
                               STR_ARG(from->json_path)),
            from->priority};
    }
    if (version->additional_printer_columns.len == 0) {
        *LIST_ADD(arena, &columns) = (struct table_column){
            STR("Age"), STR("date"), STR(""), STR("Time since the object was created."), 0};
    }
    return (struct table_columns){columns.items, columns.len};
}

void custom_cells(struct arena *arena, const struct kind *kind, const void *object, struct timestamp now,
                  struct value *cells)
{
    const struct apiextensions_v1_custom_resource_definition_version *version = kind->custom->version;
    const struct meta_v1_object_meta *meta = &((const struct object *)object)->metadata;
    struct value *tree = custom_object_tree(arena, kind, object);

    value_add(arena, cells, value_string(arena, meta->name));
    LIST_EACH(column, &version->additional_printer_columns) {
        struct found found = walk(arena, tree, column->json_path);
        bool is_there = found.len != 0 && !value_is(found.items[0], VALUE_NULL);

        value_add(arena, cells, is_there ? cell_of(arena, column->type, found.items[0], now) : value_null(arena));
    }
    if (version->additional_printer_columns.len == 0) {
        value_add(arena, cells, value_string(arena, human_age(arena, meta->creation_timestamp, now)));
    }
}

bool custom_is_selectable(const struct kind *kind, struct str field)
{
    LIST_EACH(selectable, &kind->custom->version->selectable_fields) {
        if (str_eq(str_from(selectable->json_path, 1), field)) {
            return true;
        }
    }
    return false;
}

bool custom_field_is(const struct kind *kind, const void *object, struct str field, struct str wanted)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str root, path;

    str_cut(field, '.', &root, &path);
    struct value *tree = custom_object_property(arena, kind, object, root);
    const struct value *value = custom_path_find(tree, arena_printf(arena, ".%.*s", STR_ARG(path)));

    return value == NULL ? wanted.n == 0 : str_eq(text_of(arena, value), wanted);
}
