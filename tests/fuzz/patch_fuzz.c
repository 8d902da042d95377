/* What clients send to change objects: JSON, merge and strategic patches, apply configurations, and fieldsV1. */
#include "api/core_v1.h"
#include "schema/field_set.h"
#include "schema/patch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char document[] =
    "{\"metadata\":{\"name\":\"a\",\"labels\":{\"l\":\"1\"},\"finalizers\":[\"x\",\"y\"]},\"spec\":{\"containers\":[{\"name\":\"c\","
    "\"image\":\"i\",\"ports\":[{\"containerPort\":80,\"protocol\":\"TCP\"}]},{\"name\":\"d\"}],\"volumes\":[{\"name\":\"v\"}]}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str text = {(const char *)data, size};
    const struct type *type = &core_v1_pod_type;
    const struct field_set *set = NULL;
    struct value *from = NULL, *patch = NULL, *result;
    struct str unknown = {0};

    status_free(value_read_json(arena, str_of(document), &from, NULL));
    status_free(field_set_read(arena, text, &set));
    if (set != NULL) {
        OWNED(buf_done) struct buf out = {0};

        field_set_write(set, &out);
        (void)field_set_paths(arena, set);
        (void)field_remove(arena, type, from, field_set_with_named(arena, type, set));
    }
    struct status *bad = value_read_json(arena, text, &patch, NULL);

    if (bad == NULL) {
        status_free(patch_json(arena, from, patch, &result));
        status_free(patch_strategic(arena, type, from, patch, &result));
        (void)patch_merge(arena, from, patch);
        (void)field_set_of_value(arena, type, patch, &unknown);
        (void)field_compare(arena, type, from, field_merge(arena, type, from, patch));
    }
    status_free(bad);
    return 0;
}
