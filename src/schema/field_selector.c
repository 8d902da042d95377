#include "schema/selector.h"

#include "base/buf.h"
#include "schema/json_lexer.h"

#include <stdlib.h>

struct terms {
    struct str *items;
    size_t len;
};

/* Cuts at commas that no backslash stands before. */
static void split(struct arena *arena, struct str text, struct terms *terms)
{
    size_t start = 0;
    bool escaped = false;

    for (size_t i = 0; i < text.n; i++) {
        if (escaped) {
            escaped = false;
        } else if (text.p[i] == '\\') {
            escaped = true;
        } else if (text.p[i] == ',') {
            *LIST_ADD(arena, terms) = str_sub(text, start, i);
            start = i + 1;
        }
    }
    *LIST_ADD(arena, terms) = str_from(text, start);
}

static int by_bytes(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static struct status *bad_escape(struct str sequence)
{
    return status_new(STATUS_BAD_REQUEST, "invalid field selector: invalid escape sequence: %.*s", STR_ARG(sequence));
}

static struct status *unescape(struct arena *arena, struct str value, struct str *ret)
{
    OWNED(buf_done) struct buf out = {0};

    for (size_t i = 0; i < value.n; i++) {
        char c = value.p[i];

        if (c == '\\') {
            unsigned length = utf8_decode(value, i + 1, NULL);

            i++;
            if (i >= value.n || (value.p[i] != '\\' && value.p[i] != ',' && value.p[i] != '=')) {
                return bad_escape(str_sub(value, i - 1, i + MAX(length, 1U)));
            }
            buf_add_char(&out, value.p[i]);
        } else if (c == ',' || c == '=') {
            return status_new(STATUS_BAD_REQUEST, "invalid field selector: unescaped character in value: %d", c);
        } else {
            buf_add_char(&out, c);
        }
    }
    *ret = arena_str(arena, buf_str(&out));
    return NULL;
}

/* The first "=", "==" or "!=". */
static bool cut_term(struct str term, struct field_requirement *ret, struct str *ret_value)
{
    for (size_t i = 0; i < term.n; i++) {
        bool equals_next = i + 1 < term.n && term.p[i + 1] == '=';
        bool negative = term.p[i] == '!' && equals_next;

        if (negative || term.p[i] == '=') {
            ret->field = str_sub(term, 0, i);
            ret->negative = negative;
            *ret_value = str_from(term, i + (equals_next ? 2 : 1));
            return true;
        }
    }
    return false;
}

struct status *field_selector_parse(struct arena *arena, struct str text, struct field_selector *ret)
{
    struct field_selector selector = {0};
    struct terms terms = {0};

    split(arena, text, &terms);
    qsort(terms.items, terms.len, sizeof(*terms.items), by_bytes);
    for (size_t i = 0; i < terms.len; i++) {
        struct field_requirement requirement = {0};
        struct str value;

        if (terms.items[i].n == 0) {
            continue;
        }
        if (!cut_term(terms.items[i], &requirement, &value)) {
            return status_new(STATUS_BAD_REQUEST, "invalid selector: '%.*s'; can't understand '%.*s'", STR_ARG(text),
                              STR_ARG(terms.items[i]));
        }
        TRY(unescape(arena, value, &requirement.value));
        if (requirement.field.n > 0 || requirement.value.n > 0) { /* "=" alone restricts nothing */
            *LIST_ADD(arena, &selector) = requirement;
        }
    }
    *ret = selector;
    return NULL;
}

bool field_selector_matches(const struct field_selector *selector, selector_lookup *lookup, const void *fields)
{
    for (size_t i = 0; i < selector->len; i++) {
        struct str value = {0};

        if (!lookup(fields, selector->items[i].field, &value)) {
            value = (struct str){0};
        }
        if (str_eq(value, selector->items[i].value) == selector->items[i].negative) {
            return false;
        }
    }
    return true;
}

bool field_selector_exact(const struct field_selector *selector, struct str field, struct str *ret)
{
    for (size_t i = 0; i < selector->len; i++) {
        if (!selector->items[i].negative && str_eq(selector->items[i].field, field)) {
            *ret = selector->items[i].value;
            return true;
        }
    }
    return false;
}

struct str field_selector_format(struct arena *arena, const struct field_selector *selector)
{
    OWNED(buf_done) struct buf out = {0};

    for (size_t i = 0; i < selector->len; i++) {
        const struct field_requirement *item = &selector->items[i];

        buf_printf(&out, "%s%.*s%s", i == 0 ? "" : ",", STR_ARG(item->field), item->negative ? "!=" : "=");
        for (size_t at = 0; at < item->value.n; at++) {
            char c = item->value.p[at];

            if (c == '\\' || c == ',' || c == '=') {
                buf_add_char(&out, '\\');
            }
            buf_add_char(&out, c);
        }
    }
    return arena_str(arena, buf_str(&out));
}
