#include "test.h"

#include "schema/field_typed.h"
#include "schema/meta_v1.h"

TEST("schema/field_typed/an applied configuration of another shape is told in structured merge's words")
{
    static const struct {
        const char *json, *wanted; /* NULL: nothing is wrong */
    } rows[] = {
        {"{\"name\":\"a\",\"labels\":null,\"finalizers\":[\"x\"]}", NULL},
        {"{\"name\":1}", ".name: expected string, got &value.valueUnstructured{Value:1}"},
        {"{\"name\":{\"b\":[\"x\",2],\"a\":true}}",
         ".name: expected string, got &value.valueUnstructured{Value:map[string]interface {}{\"a\":true, "
         "\"b\":[]interface {}{\"x\", 2}}}"},
        {"{\"generation\":\"1\"}", ".generation: expected numeric (int or float), got string"},
        {"{\"labels\":[\"x\"]}", ".labels: expected map, got &{[x]}"},
        {"{\"labels\":{\"a\":{}}}",
         ".labels.a: expected string, got &value.valueUnstructured{Value:map[string]interface {}{}}"},
        {"{\"finalizers\":{\"b\":1,\"a\":2}}", ".finalizers: expected list, got &{map[a:2 b:1]}"},
        {"{\"finalizers\":[\"x\",\"x\"]}", ".finalizers: duplicate entries for key [=\"x\"]"},
        {"{\"ownerReferences\":[{\"uid\":\"u\"},{\"uid\":\"u\"}]}",
         ".ownerReferences: duplicate entries for key [uid=\"u\"]"},
        {"{\"ownerReferences\":[{}]}",
         ".ownerReferences: element 0: associative list with keys has an element that omits key field \"uid\" (and "
         "doesn't have default value)"},
        {"{\"ownerReferences\":[{\"uid\":\"u\",\"controller\":\"x\"}]}",
         ".ownerReferences[uid=\"u\"].controller: expected boolean, got &{x}"},
        {"{\"bogus\":1,\"name\":2}",
         "errors:\n  .bogus: field not declared in schema\n  .name: expected string, got "
         "&value.valueUnstructured{Value:2}"},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct value *value = NULL;

        CHECK_OK(value_read_json(arena, str_of(rows[i].json), &value, NULL));
        OWNED(status_freep) struct status *status = field_typed_check(arena, &meta_v1_object_meta_type, value);

        if (rows[i].wanted == NULL) {
            CHECK(status == NULL);
        } else {
            CHECK(status != NULL);
            CHECK_STR(status->message, rows[i].wanted);
        }
    }
}
