#include "golden_rows.h"
#include "test.h"

#include "schema/yaml.h"

#include <string.h>

#define ROWS "tests/golden/schema/yaml.jsonl"

static struct str read_row(struct arena *arena, const struct str *row)
{
    struct value *value = NULL;
    struct status *status = yaml_read(arena, row[1], str_is(row[0], "strict"), &value);

    return golden_result(arena, status, status == NULL ? value_json(arena, value) : STR(""));
}

static struct str write_row(struct arena *arena, const struct str *row)
{
    OWNED(buf_done) struct buf out = {0};

    yaml_write(&out, golden_json(arena, row[1]));
    return arena_str(arena, buf_str(&out));
}

TEST("schema/yaml/scalars, mappings, anchors and errors read as go-yaml reads them")
{
    golden_rows(ROWS, "read", 3, read_row);
}

TEST("schema/yaml/strict reading refuses keys that come again")
{
    golden_rows(ROWS, "strict", 3, read_row);
}

TEST("schema/yaml/written as kubectl -o yaml writes")
{
    golden_rows(ROWS, "write", 3, write_row);
}

/* Lines such as: YAML "mode: 0400" -> {"mode":256} err=<nil> strictErr=<nil> */
TEST("schema/yaml/the surprising scalars of stock")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    size_t rows = 0;

    for (struct str rest = golden_file(arena, "tests/golden/schema/yaml_scalars.txt"), line; str_next(&rest, '\n', &line);) {
        size_t arrow = str_find(line, STR(" -> ")), errors = str_find(line, STR(" err=<nil> strictErr="));
        struct value *value;

        if (line.n == 0) {
            continue;
        }
        struct str text = value_str(golden_json(arena, str_sub(line, 5, arrow)));
        struct str strict = str_from(line, errors + strlen(" err=<nil> strictErr="));

        CHECK_OK(yaml_read(arena, text, false, &value));
        CHECK(str_eq(value_json(arena, value), str_sub(line, arrow + 4, errors)));
        if (str_is(strict, "<nil>")) {
            CHECK_OK(yaml_read(arena, text, true, &value));
        } else {
            CHECK_ERROR(yaml_read(arena, text, true, &value), arena_cstr(arena, strict));
        }
        rows++;
    }
    CHECK_INT(rows, 13);
}

TEST("schema/yaml/documents are cut as kubectl cuts files")
{
    static const struct {
        const char *text, *documents[4];
    } rows[] = {
        {"", {NULL}},
        {"a: 1", {"a: 1"}},
        {"---\na: 1\n--- # next\nb: 2\n---\n", {"---\na: 1\n", "b: 2\n"}},
        {"a\n---\n---\nb", {"a\n", "---\nb"}},
        {"a: |\n  ---\n---  \nb\n ---\n", {"a: |\n  ---\n", "b\n ---\n"}},
    };
    struct str rest, document;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t count = 0;

        rest = str_of(rows[i].text);
        for (;;) {
            CHECK_OK(yaml_next_document(&rest, &document));
            if (document.p == NULL) {
                break;
            }
            CHECK(count < 4 && rows[i].documents[count] != NULL);
            CHECK_STR(document, rows[i].documents[count]);
            count++;
        }
        CHECK(rows[i].documents[count] == NULL);
    }
    rest = STR("a: 1\n---b\n");
    CHECK_ERROR(yaml_next_document(&rest, &document), "invalid Yaml document separator: b");
}

TEST("schema/yaml/anchors that grow without bound and deep nesting are refused")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(buf_done) struct buf text = {0};
    struct value *value;

    buf_add_str(&text, STR("a0: &a0 [x,x,x,x,x,x,x,x,x]\n"));
    for (int i = 1; i < 9; i++) {
        buf_printf(&text, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i, i - 1, i - 1, i - 1,
                   i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    }
    CHECK_ERROR(yaml_read(arena, buf_str(&text), false, &value), "yaml: document contains excessive aliasing");
    buf_clear(&text);
    buf_add_str(&text, STR("a: &a "));
    memset(buf_reserve(&text, 1 << 20), 'x', 1 << 20);
    text.n += 1 << 20;
    buf_add_str(&text, STR("\nb: ["));
    for (int i = 0; i < 40; i++) {
        buf_add_str(&text, STR("*a, "));
    }
    buf_add_str(&text, STR("]"));
    CHECK_ERROR(yaml_read(arena, buf_str(&text), false, &value), "yaml: document contains excessive aliasing");
    buf_clear(&text);
    for (int i = 0; i < 101; i++) {
        buf_add_char(&text, '[');
    }
    CHECK_ERROR(yaml_read(arena, buf_str(&text), false, &value), "yaml: exceeded max depth of 100");
}
