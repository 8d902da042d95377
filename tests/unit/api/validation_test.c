/* What a stock server said of objects that are wrong (tests/golden/validation): the same causes in the same order. */
#include "test.h"

#include "api/defaults.h"
#include "api/kinds.h"
#include "api/validation.h"
#include "base/file.h"
#include "base/limits.h"
#include "schema/json.h"
#include "schema/value.h"

#include <dirent.h>

#define RECORDINGS "tests/golden/validation"

static void *object_of(struct arena *arena, const struct kind *kind, const struct value *from)
{
    void *object = arena_alloc(arena, kind->type->size);

    CHECK_OK(json_decode(arena, kind->type, value_json(arena, from), object, NULL));
    api_defaults_apply(kind->type, object, arena);
    return object;
}

/* [["FieldValueRequired","spec.containers","Required value"],...] */
static struct value *causes_of(struct arena *arena, const struct value *recording)
{
    const struct kind *kind =
        kind_find_resource(value_str_at(recording, "group"), value_str_at(recording, "version"),
                           value_str_at(recording, "resource"));
    const struct value *old = value_find(recording, STR("old"));
    struct str subresource = value_str_at(recording, "subresource");
    OWNED(status_freep) struct status *causes = status_new(STATUS_INVALID, "%s", "");
    struct value *list = value_array(arena);

    CHECK(kind != NULL);
    void *object = object_of(arena, kind, value_find(recording, STR("object")));

    if (old == NULL) {
        api_validate_create(kind, object, causes);
    } else if (subresource.n != 0) {
        api_validate_update_subresource(kind, subresource, object, object_of(arena, kind, old), causes);
    } else {
        api_validate_update(kind, object, object_of(arena, kind, old), causes);
    }
    for (size_t i = 0; i < causes->cause_count; i++) {
        struct value *cause = value_array(arena);

        value_add(arena, cause, value_string(arena, arena_str(arena, causes->causes[i].reason)));
        value_add(arena, cause, value_string(arena, arena_str(arena, causes->causes[i].field)));
        value_add(arena, cause, value_string(arena, arena_str(arena, causes->causes[i].message)));
        value_add(arena, list, cause);
    }
    return list;
}

static size_t check_file(const char *name)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str text;
    struct value *all;

    CHECK_OK(file_read(arena, arena_printf(arena, RECORDINGS "/%s", name).p, LIMIT_REQUEST_BODY_BYTES, &text));
    CHECK_OK(value_read_json(arena, text, &all, NULL));
    VALUE_EACH_ITEM(recording, all) {
        const struct value *wanted = value_find(*recording, STR("causes"));
        const struct value *got = causes_of(arena, *recording);

        if (!value_equal(got, wanted)) {
            test_fail(__FILE__, __LINE__, "%.*s: got %.*s\nwanted %.*s", STR_ARG(value_str_at(*recording, "name")),
                      STR_ARG(value_json(arena, got)), STR_ARG(value_json(arena, wanted)));
        }
    }
    return value_count(all);
}

TEST("api/validation/objects that are wrong get the causes a stock server gives")
{
    DIR *directory = opendir(RECORDINGS);
    size_t count = 0;

    CHECK(directory != NULL);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] != '.') {
            count += check_file(entry->d_name);
        }
    }
    closedir(directory);
    CHECK(count > 100);
}

TEST("api/validation/objects that a stock server took have nothing wrong")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str text;
    struct value *all;

    CHECK_OK(file_read(arena, "tests/golden/defaults.json", LIMIT_REQUEST_BODY_BYTES, &text));
    CHECK_OK(value_read_json(arena, text, &all, NULL));
    VALUE_EACH_ITEM(at, all) {
        struct value *from = value_find(*at, STR("object"));
        const struct kind *kind = kind_find_api_version(value_str_at(from, "apiVersion"), value_str_at(from, "kind"));
        OWNED(status_freep) struct status *causes = status_new(STATUS_INVALID, "%s", "");

        CHECK(kind != NULL);
        if (kind->namespaced) {
            value_set(arena, value_find(from, STR("metadata")), STR("namespace"), value_string(arena, STR("ns1")));
        }
        api_validate_create(kind, object_of(arena, kind, from), causes);
        if (causes->cause_count != 0) {
            test_fail(__FILE__, __LINE__, "%.*s: %.*s: %.*s", STR_ARG(value_str_at(*at, "name")),
                      STR_ARG(causes->causes[0].field), STR_ARG(causes->causes[0].message));
        }
    }
}
