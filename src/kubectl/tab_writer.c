#include "kubectl/tab_writer.h"

#include "base/arena.h"
#include "base/mem.h"

struct line {
    struct str *items; /* cells; the last one is open: no tab follows */
    size_t len;
};

struct lines {
    struct line *items;
    size_t len;
};

struct writer {
    struct buf *out;
    struct lines lines;
    size_t width_min, padding;
    VEC(size_t) widths; /* of the columns open now */
};

size_t text_width(struct str text)
{
    size_t width = 0;

    for (size_t i = 0; i < text.n; i++) {
        width += ((unsigned char)text.p[i] & 0xC0) != 0x80;
    }
    return width;
}

static void write_lines(struct writer *writer, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        const struct line *line = &writer->lines.items[i];

        for (size_t j = 0; j < line->len; j++) {
            size_t width = text_width(line->items[j]);

            buf_add_str(writer->out, line->items[j]);
            for (; j < writer->widths.len && width < writer->widths.items[j]; width++) {
                buf_add_char(writer->out, ' ');
            }
        }
        if (i + 1 < writer->lines.len) {
            buf_add_char(writer->out, '\n');
        }
    }
}

/* Whether the line has a closed cell in that column. */
static bool has_cell(const struct line *line, size_t column)
{
    return column + 1 < line->len;
}

/* Writes lines [from, to), which share the columns that are open. Nests as deep as a line has cells. */
static void format(struct writer *writer, size_t from, size_t to)
{
    size_t column = writer->widths.len;

    for (size_t at = from; at < to; at++) {
        if (!has_cell(&writer->lines.items[at], column)) {
            continue;
        }
        write_lines(writer, from, at);
        from = at;
        size_t width = writer->width_min;

        for (; at < to && has_cell(&writer->lines.items[at], column); at++) {
            width = MAX(width, text_width(writer->lines.items[at].items[column]) + writer->padding);
        }
        *VEC_ADD(&writer->widths) = width;
        format(writer, from, at);
        writer->widths.len--;
        from = at;
    }
    write_lines(writer, from, to);
}

void tab_write(struct buf *out, struct str text, size_t width_min, size_t padding)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct writer writer = {.out = out, .width_min = width_min, .padding = padding};
    struct str rest = text, line_text, cell;

    while (str_cut(rest, '\n', &line_text, &rest), true) {
        struct line *line = LIST_ADD(arena, &writer.lines);
        bool is_last = line_text.p + line_text.n == text.p + text.n;

        for (bool more = true; more;) {
            more = str_cut(line_text, '\t', &cell, &line_text);
            *LIST_ADD(arena, line) = cell;
        }
        if (is_last) {
            break;
        }
    }
    format(&writer, 0, writer.lines.len);
    __builtin_free(writer.widths.items);
}
