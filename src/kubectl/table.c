#include "kubectl/table.h"

#include "kubectl/discovery.h"
#include "kubectl/tab_writer.h"

#include <ctype.h>

enum { WIDTH_MIN = 6, PADDING = 3 };

struct cells {
    struct str *items;
    size_t len;
};

struct rows {
    struct cells *items;
    size_t len;
};

/* One line of a cell; where more follows, "..." says so. */
static struct str first_line(struct arena *arena, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\n' || text.p[i] == '\r' || text.p[i] == '\f') {
            return arena_printf(arena, "%.*s...", (int)i, text.p);
        }
    }
    return text;
}

static struct str cell_text(struct arena *arena, const struct value *cell)
{
    return value_is(cell, VALUE_STRING) ? first_line(arena, value_str(cell))
           : value_is(cell, VALUE_NULL) || cell == NULL ? STR("<nil>")
                                                        : value_json(arena, cell);
}

static struct str upper(struct arena *arena, struct str text)
{
    char *copy = arena_cstr(arena, text);

    for (size_t i = 0; i < text.n; i++) {
        copy[i] = (char)toupper((unsigned char)copy[i]);
    }
    return (struct str){copy, text.n};
}

static bool is_shown(const struct value *column, bool wide)
{
    const struct value *priority = value_find(column, STR("priority"));

    return wide || !value_is(priority, VALUE_INT) || priority->integer == 0;
}

/* "app.kubernetes.io/name" is headed NAME. */
static struct str label_header(struct arena *arena, struct str label)
{
    size_t slash = str_last_index(label, '/');

    return upper(arena, slash == SIZE_MAX ? label : str_from(label, slash + 1));
}

static struct cells headers_of(struct arena *arena, const struct value *columns, const struct table_options *options)
{
    struct cells cells = {0};

    if (options->with_namespace) {
        *LIST_ADD(arena, &cells) = STR("NAMESPACE");
    }
    VALUE_EACH_ITEM(column, columns)
    {
        if (is_shown(*column, options->wide)) {
            *LIST_ADD(arena, &cells) = upper(arena, value_str(value_find(*column, STR("name"))));
        }
    }
    LIST_EACH(label, &options->label_columns)
    {
        *LIST_ADD(arena, &cells) = label_header(arena, *label);
    }
    if (options->with_labels) {
        *LIST_ADD(arena, &cells) = STR("LABELS");
    }
    return cells;
}

static struct str labels_text(struct arena *arena, const struct value *labels)
{
    struct buf text = {0};
    struct str *keys = value_sorted_keys(arena, labels);

    for (size_t i = 0; i < value_count(labels); i++) {
        buf_printf(&text, "%s%.*s=%.*s", i > 0 ? "," : "", STR_ARG(keys[i]), STR_ARG(value_str(value_find(labels, keys[i]))));
    }
    struct str ret = value_count(labels) > 0 ? arena_str(arena, buf_str(&text)) : STR("<none>");

    buf_done(&text);
    return ret;
}

static struct cells cells_of(struct arena *arena, const struct kind *kind, const struct value *columns,
                             const struct value *row, const struct table_options *options)
{
    struct cells cells = {0};
    const struct value *object = value_find(row, STR("object")), *labels = value_find_path(object, "metadata.labels");
    const struct value *values = value_find(row, STR("cells"));
    bool named = false;

    if (options->with_namespace) {
        *LIST_ADD(arena, &cells) = value_str_at(object, "metadata.namespace");
    }
    for (size_t i = 0; i < value_count(columns); i++) {
        const struct value *column = value_item(columns, i);
        struct str text = cell_text(arena, value_item(values, i));

        if (!is_shown(column, options->wide)) {
            continue;
        }
        if (options->with_kind && !named) {
            text = arena_printf(arena, "%.*s/%.*s", STR_ARG(kind_label(arena, kind)), STR_ARG(text));
        }
        named = true;
        *LIST_ADD(arena, &cells) = text;
    }
    LIST_EACH(label, &options->label_columns)
    {
        const struct value *found = value_find(labels, *label);

        *LIST_ADD(arena, &cells) = found != NULL ? value_str(found) : STR("<none>");
    }
    if (options->with_labels) {
        *LIST_ADD(arena, &cells) = labels != NULL ? labels_text(arena, labels) : STR("<none>");
    }
    return cells;
}

static void write_row(struct buf *out, const struct cells *cells, const struct table_widths *widths)
{
    for (size_t i = 0; i < cells->len; i++) {
        buf_add_str(out, cells->items[i]);
        for (size_t width = text_width(cells->items[i]); i + 1 < cells->len && width < widths->items[i]; width++) {
            buf_add_char(out, ' ');
        }
    }
    buf_add_char(out, '\n');
}

void table_print(struct arena *arena, const struct kind *kind, const struct value *table,
                 const struct table_options *options, bool is_more, struct table_widths *widths, struct buf *out)
{
    const struct value *columns = value_find(table, STR("columnDefinitions"));
    struct table_widths own = {0}, *used = widths != NULL ? widths : &own;
    struct rows rows = {0};

    if (!options->no_headers && !is_more) {
        *LIST_ADD(arena, &rows) = headers_of(arena, columns, options);
    }
    VALUE_EACH_ITEM(row, value_find(table, STR("rows")))
    {
        *LIST_ADD(arena, &rows) = cells_of(arena, kind, columns, *row, options);
    }
    LIST_EACH(cells, &rows)
    {
        while (used->len < cells->len) {
            *LIST_ADD(arena, used) = WIDTH_MIN;
        }
        for (size_t i = 0; i < cells->len; i++) {
            used->items[i] = MAX(used->items[i], text_width(cells->items[i]) + PADDING);
        }
    }
    LIST_EACH(cells, &rows)
    {
        write_row(out, cells, used);
    }
}
