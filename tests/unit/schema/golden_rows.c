#include "golden_rows.h"

#include "test.h"

#include <stdio.h>

struct str golden_file(struct arena *arena, const char *path)
{
    OWNED(buf_done) struct buf text = {0};
    FILE *file = fopen(path, "rb");

    if (file == NULL) {
        test_fail(__FILE__, __LINE__, "cannot open %s", path);
    }
    for (size_t n = 1; n > 0;) {
        n = fread(buf_reserve(&text, 65536), 1, 65536, file);
        text.n += n;
    }
    fclose(file);
    return arena_str(arena, buf_str(&text));
}

struct value *golden_json(struct arena *arena, struct str text)
{
    struct value *value = NULL;

    CHECK_OK(value_read_json(arena, text, &value, NULL));
    return value;
}

struct str golden_result(struct arena *arena, struct status *status, struct str success)
{
    if (status == NULL) {
        return success;
    }
    struct str text = arena_printf(arena, "ERR %.*s", STR_ARG(status->message));

    status_free(status);
    return text;
}

void golden_rows(const char *path, const char *only, size_t count,
                 struct str (*got)(struct arena *arena, const struct str *row))
{
    OWNED(arena_freep) struct arena *file = arena_new();
    size_t rows = 0, wrong = 0;

    for (struct str rest = golden_file(file, path), line; str_next(&rest, '\n', &line);) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct str row[8];

        if (line.n == 0) {
            continue;
        }
        struct value *strings = golden_json(arena, line);

        CHECK(value_count(strings) <= COUNT_OF(row));
        for (size_t i = 0; i < value_count(strings); i++) {
            row[i] = value_str(value_item(strings, i));
        }
        if (only != NULL && !str_is(row[0], only)) {
            continue;
        }
        CHECK_INT(value_count(strings), count);
        rows++;
        struct str result = got(arena, row);

        if (!str_eq(result, row[count - 1])) {
            fprintf(stderr, "  row    %.*s\n  got    %.*s\n  wanted %.*s\n", STR_ARG(line), STR_ARG(result),
                    STR_ARG(row[count - 1]));
            wrong++;
        }
    }
    CHECK(rows > 0);
    CHECK_INT(wrong, 0);
}
