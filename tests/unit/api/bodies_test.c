/* One object of each kind with every field set (tests/golden/bodies) comes back from the codecs as it went in. */
#include "api/kinds.h"
#include "base/file.h"
#include "base/limits.h"
#include "schema/copy.h"
#include "schema/json.h"
#include "schema/value.h"
#include "tests/test.h"

#include <dirent.h>
#include <stdio.h>

#define BODIES "tests/golden/bodies"

static struct str read_body(struct arena *arena, const char *name, const char *ending)
{
    char path[512];
    struct str text;

    snprintf(path, sizeof(path), BODIES "/%s%s", name, ending);
    CHECK_OK(file_read(arena, path, LIMIT_REQUEST_BODY_BYTES, &text));
    return text;
}

static void check_json(struct arena *arena, const char *name)
{
    struct str text = read_body(arena, name, ".json");
    struct json_problems problems = {0};
    struct value *wanted, *got;
    struct buf out = {0};

    CHECK_OK(value_read_json(arena, text, &wanted, NULL));
    const struct kind *kind = kind_find_api_version(value_str_at(wanted, "apiVersion"), value_str_at(wanted, "kind"));

    if (kind == NULL) { /* WatchEvent has no apiVersion and kind of its own */
        struct str file = str_of(name);

        kind = kind_find_api_version(STR("v1"), str_from(file, str_last_index(file, '.') + 1));
    }
    if (kind == NULL) {
        test_fail(__FILE__, __LINE__, "no kind for %s", name);
    }
    void *object = arena_alloc(arena, kind->type->size);

    CHECK_OK(json_decode(arena, kind->type, text, object, &problems));
    if (problems.len != 0) {
        test_fail(__FILE__, __LINE__, "%s: %.*s", name, STR_ARG(problems.items[0]));
    }
    json_encode(kind->type, object, &out);
    CHECK_OK(value_read_json(arena, buf_str(&out), &got, NULL));
    if (!value_equal(got, wanted)) {
        test_fail(__FILE__, __LINE__, "%s: got %.*s\nwanted %.*s", name, STR_ARG(value_json(arena, got)),
                  STR_ARG(value_json(arena, wanted)));
    }
    struct arena *other = arena_new();
    void *copy = schema_copy(other, kind->type, object);

    CHECK(schema_equal(kind->type, copy, object));
    CHECK(!schema_is_zero(kind->type, object));
    CHECK(schema_is_zero(kind->type, arena_alloc(other, kind->type->size)));
    arena_free(other);
    buf_done(&out);
}

static size_t each_body(void (*check)(struct arena *arena, const char *name))
{
    DIR *directory = opendir(BODIES);
    size_t count = 0;

    CHECK(directory != NULL);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        struct str name = str_of(entry->d_name);
        struct arena *arena = arena_new();

        if (str_has_suffix(name, STR(".json"))) {
            check(arena, arena_cstr(arena, str_sub(name, 0, name.n - 5)));
            count++;
        }
        arena_free(arena);
    }
    closedir(directory);
    return count;
}

TEST("api/bodies/JSON comes back as it was")
{
    CHECK_INT(each_body(check_json), 94);
}
