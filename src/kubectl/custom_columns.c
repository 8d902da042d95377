#include "kubectl/custom_columns.h"

#include "kubectl/json_path.h"
#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/tab_writer.h"

struct column {
    struct str name, path;
};

struct columns {
    struct column *items;
    size_t len;
};

static struct status *add_column(struct kubectl *k, struct str name, struct str path, struct columns *ret)
{
    struct str relaxed;

    TRY(json_path_relaxed(k->arena, path, &relaxed));
    TRY(json_path_check(k->arena, relaxed));
    *LIST_ADD(k->arena, ret) = (struct column){name, relaxed};
    return NULL;
}

/* Words between white space. */
static bool next_word(struct str *rest, struct str *ret)
{
    struct str text = str_trim(*rest);
    size_t end = 0;

    while (end < text.n && text.p[end] != ' ' && text.p[end] != '\t') {
        end++;
    }
    *ret = str_sub(text, 0, end);
    *rest = str_from(text, end);
    return end > 0;
}

static struct status *parse_file(struct kubectl *k, struct str text, struct columns *ret)
{
    struct str names, paths, name, path;

    str_cut(text, '\n', &names, &paths);
    str_cut(paths, '\n', &paths, &text);
    while (next_word(&names, &name)) {
        if (!next_word(&paths, &path)) {
            return error_local("number of headers and field specifications do not match");
        }
        TRY(add_column(k, name, path, ret));
    }
    return NULL;
}

static struct status *parse(struct kubectl *k, struct str text, bool is_file, struct columns *ret)
{
    struct str part, name, path;

    *ret = (struct columns){0};
    if (is_file || str_index(text, '\n') != SIZE_MAX) {
        return parse_file(k, text, ret);
    }
    while (str_next(&text, ',', &part)) {
        if (!str_cut(part, ':', &name, &path) || name.n == 0 || path.n == 0) {
            return error_local("unexpected custom-columns spec: %.*s, expected <header>:<json-path-expr>",
                               STR_ARG(part));
        }
        TRY(add_column(k, name, path, ret));
    }
    return NULL;
}

struct status *custom_columns_check(struct kubectl *k, struct str text, bool is_file)
{
    struct columns columns;

    return parse(k, text, is_file, &columns);
}

static struct status *print_row(struct kubectl *k, const struct columns *columns, const struct value *object,
                                struct buf *out)
{
    for (size_t i = 0; i < columns->len; i++) {
        struct json_path_results found;

        TRY(json_path_find(k->arena, columns->items[i].path, object, &found));
        buf_add_str(out, i > 0 ? STR("\t") : STR(""));
        if (found.len == 0) {
            buf_add_str(out, STR("<none>"));
        }
        for (size_t j = 0; j < found.len; j++) {
            buf_add_str(out, j > 0 ? STR(",") : STR(""));
            if (value_is(found.items[j], VALUE_NULL)) {
                buf_add_str(out, STR("<none>"));
            } else {
                json_path_text(out, found.items[j]);
            }
        }
    }
    buf_add_char(out, '\n');
    return NULL;
}

struct status *custom_columns_print(struct kubectl *k, struct str text, bool no_headers, struct value *const *objects,
                                    size_t count)
{
    OWNED(buf_done) struct buf lines = {0};
    OWNED(buf_done) struct buf aligned = {0};
    struct columns columns;

    TRY(parse(k, text, false, &columns));
    for (size_t i = 0; i < columns.len && !no_headers; i++) {
        buf_printf(&lines, "%s%.*s", i > 0 ? "\t" : "", STR_ARG(columns.items[i].name));
    }
    buf_add_str(&lines, no_headers ? STR("") : STR("\n"));
    for (size_t i = 0; i < count; i++) {
        TRY(print_row(k, &columns, objects[i], &lines));
    }
    tab_write(&aligned, buf_str(&lines), 6, 3);
    output_text(k, buf_str(&aligned));
    return NULL;
}
