/* One object of each kind with every field set (tests/golden/bodies): protobuf comes back byte by byte, and stands for
 * the same object as the JSON beside it. */
#include "test.h"

#include "api/kinds.h"
#include "base/file.h"
#include "base/limits.h"
#include "schema/json.h"
#include "schema/object.h"
#include "schema/protobuf.h"
#include "schema/value.h"

#include <dirent.h>
#include <stdio.h>

#define BODIES "tests/golden/bodies"

static struct str read_body(struct arena *arena, struct str name)
{
    struct str text;

    CHECK_OK(file_read(arena, arena_cstr(arena, arena_printf(arena, BODIES "/%.*s", STR_ARG(name))),
                       LIMIT_REQUEST_BODY_BYTES, &text));
    return text;
}

/* Of GROUP.VERSION.KIND; a watch event says no kind in its envelope. */
static const struct kind *kind_of_name(struct str name)
{
    size_t last = str_last_index(name, '.'), first = str_last_index(str_sub(name, 0, last), '.');
    struct str group = str_sub(name, 0, first), version = str_sub(name, first + 1, last);
    const struct kind *kind = kind_find(str_is(group, "core") ? STR("") : group, version, str_from(name, last + 1));

    if (kind == NULL) {
        test_fail(__FILE__, __LINE__, "no kind for %.*s", STR_ARG(name));
    }
    return kind;
}

static void check_bytes(struct str name, const char *what, struct str got, struct str wanted)
{
    size_t at = 0;

    while (at < got.n && at < wanted.n && got.p[at] == wanted.p[at]) {
        at++;
    }
    if (at < got.n || at < wanted.n) {
        test_fail(__FILE__, __LINE__, "%.*s: %s: %zu bytes, wanted %zu; they differ at %zu", STR_ARG(name), what, got.n,
                  wanted.n, at);
    }
}

static void check_body(struct arena *arena, struct str name)
{
    struct str bytes = read_body(arena, arena_printf(arena, "%.*s.pb", STR_ARG(name)));
    struct str text = read_body(arena, arena_printf(arena, "%.*s.json", STR_ARG(name)));
    struct protobuf_envelope envelope;
    OWNED(buf_done) struct buf out = {0};
    struct value *got, *wanted;

    CHECK_OK(protobuf_envelope_read(bytes, &envelope));
    const struct kind *kind = kind_of_name(name);

    struct object *object = arena_alloc(arena, kind->type->size);

    CHECK_OK(protobuf_decode(arena, kind->type, envelope.raw, object));
    protobuf_envelope_write(kind->type, object, envelope.api_version, envelope.kind, &out);
    check_bytes(name, "protobuf again", buf_str(&out), bytes);

    if (type_field(kind->type, STR("apiVersion")) == NULL && envelope.kind.n > 0) {
        test_fail(__FILE__, __LINE__, "%.*s has no apiVersion", STR_ARG(name));
    } else if (envelope.kind.n > 0) {
        object->type_meta = (struct meta_v1_type_meta){.kind = envelope.kind, .api_version = envelope.api_version};
    }
    buf_clear(&out);
    json_encode(kind->type, object, &out);
    CHECK_OK(value_read_json(arena, buf_str(&out), &got, NULL));
    CHECK_OK(value_read_json(arena, text, &wanted, NULL));
    if (!value_equal(got, wanted)) {
        test_fail(__FILE__, __LINE__, "%.*s: got %.*s\nwanted %.*s", STR_ARG(name), STR_ARG(value_json(arena, got)),
                  STR_ARG(value_json(arena, wanted)));
    }

    /* JSON inside stays as it came, so the text to start from is one without white space. */
    void *again = arena_alloc(arena, kind->type->size);

    CHECK_OK(json_decode(arena, kind->type, arena_str(arena, buf_str(&out)), again, NULL));
    buf_clear(&out);
    protobuf_envelope_write(kind->type, again, envelope.api_version, envelope.kind, &out);
    check_bytes(name, "protobuf of the JSON", buf_str(&out), bytes);
}

TEST("api/protobuf/every kind comes back as stock wrote it")
{
    DIR *directory = opendir(BODIES);
    size_t count = 0;

    CHECK(directory != NULL);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        struct str name = str_of(entry->d_name);
        OWNED(arena_freep) struct arena *arena = arena_new();

        if (str_has_suffix(name, STR(".pb"))) {
            check_body(arena, str_sub(name, 0, name.n - 3));
            count++;
        }
    }
    closedir(directory);
    CHECK_INT(count, 94);
}
