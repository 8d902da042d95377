/* One object of each kind with every field set (tests/golden/bodies): it comes back from the codecs as it went in, and
 * stands for the same in JSON and in protobuf. */
#include "test.h"

#include "api/kinds.h"
#include "base/file.h"
#include "base/limits.h"
#include "schema/copy.h"
#include "schema/json.h"
#include "schema/object.h"
#include "schema/protobuf.h"
#include "schema/value.h"

#include <dirent.h>
#include <stdio.h>

#define BODIES "tests/golden/bodies"

static struct str read_body(struct arena *arena, struct str name, const char *ending)
{
    struct str text;

    CHECK_OK(file_read(arena, arena_printf(arena, BODIES "/%.*s%s", STR_ARG(name), ending).p, LIMIT_REQUEST_BODY_BYTES,
                       &text));
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

static void check_same(struct arena *arena, struct str name, struct str text, const struct value *wanted)
{
    struct value *got;

    CHECK_OK(value_read_json(arena, text, &got, NULL));
    if (!value_equal(got, wanted)) {
        test_fail(__FILE__, __LINE__, "%.*s: got %.*s\nwanted %.*s", STR_ARG(name), STR_ARG(value_json(arena, got)),
                  STR_ARG(value_json(arena, wanted)));
    }
}

static void check_json(struct arena *arena, struct str name)
{
    struct str text = read_body(arena, name, ".json");
    const struct kind *kind = kind_of_name(name);
    struct json_problems problems = {0};
    struct value *wanted;
    OWNED(buf_done) struct buf out = {0};
    void *object = arena_alloc(arena, kind->type->size);

    CHECK_OK(value_read_json(arena, text, &wanted, NULL));
    /* what the name says is what the object says, when it does */
    struct str said = value_str_at(wanted, "kind");

    CHECK(said.n == 0 || kind_find_api_version(value_str_at(wanted, "apiVersion"), said) == kind);
    CHECK_OK(json_decode(arena, kind->type, text, object, &problems));
    if (problems.len != 0) {
        test_fail(__FILE__, __LINE__, "%.*s: %.*s", STR_ARG(name), STR_ARG(problems.items[0]));
    }
    json_encode(kind->type, object, &out);
    check_same(arena, name, buf_str(&out), wanted);

    OWNED(arena_freep) struct arena *other = arena_new();
    void *copy = schema_copy(other, kind->type, object);

    CHECK(schema_equal(kind->type, copy, object));
    CHECK(!schema_is_zero(kind->type, object));
    CHECK(schema_is_zero(kind->type, arena_alloc(other, kind->type->size)));
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

static void check_protobuf(struct arena *arena, struct str name)
{
    struct str bytes = read_body(arena, name, ".pb");
    struct str text = read_body(arena, name, ".json");
    struct protobuf_envelope envelope;
    OWNED(buf_done) struct buf out = {0};
    struct value *wanted;

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
    CHECK_OK(value_read_json(arena, text, &wanted, NULL));
    check_same(arena, name, buf_str(&out), wanted);

    /* JSON inside stays as it came, so the text to start from is one without white space. */
    void *again = arena_alloc(arena, kind->type->size);

    CHECK_OK(json_decode(arena, kind->type, arena_str(arena, buf_str(&out)), again, NULL));
    buf_clear(&out);
    protobuf_envelope_write(kind->type, again, envelope.api_version, envelope.kind, &out);
    check_bytes(name, "protobuf of the JSON", buf_str(&out), bytes);
}

static size_t each_body(const char *ending, void (*check)(struct arena *arena, struct str name))
{
    DIR *directory = opendir(BODIES);
    size_t count = 0;

    CHECK(directory != NULL);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        struct str file = str_of(entry->d_name);
        OWNED(arena_freep) struct arena *arena = arena_new();

        if (str_has_suffix(file, str_of(ending))) {
            check(arena, str_sub(file, 0, str_last_index(file, '.')));
            count++;
        }
    }
    closedir(directory);
    return count;
}

TEST("api/bodies/JSON comes back as it was")
{
    CHECK_INT(each_body(".json", check_json), 94);
}

TEST("api/bodies/protobuf comes back byte by byte, and is the same object as the JSON")
{
    CHECK_INT(each_body(".pb", check_protobuf), 94);
}
