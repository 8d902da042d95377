/* A definition's schema and columns, and an object of it: two JSON texts with a zero byte between. */
#include "api/custom_columns.h"
#include "api/custom_kind.h"
#include "schema/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_object(struct arena *arena, const struct kind *kind, struct str text)
{
    void *object = arena_alloc(arena, kind->type->size);
    struct json_problems problems = {0};
    struct status *status = json_decode(arena, kind->type, text, object, &problems);

    if (status == NULL) {
        struct status *causes = status_new(STATUS_INVALID, "%s", "");

        custom_object_prune(arena, kind, object, &problems);
        custom_object_default(arena, kind, object);
        custom_object_validate(kind, object, NULL, causes);
        custom_cells(arena, kind, object, (struct timestamp){0}, value_array(arena));
        status_free(causes);
    }
    status_free(status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct apiextensions_v1_custom_resource_definition definition = {0};
    struct str version, object;
    struct arena *arena = arena_new();
    struct apiextensions_v1_custom_resource_definition_version *made =
        ARENA_NEW(arena, struct apiextensions_v1_custom_resource_definition_version);

    str_cut((struct str){(const char *)data, size}, '\0', &version, &object);
    struct status *status =
        json_decode(arena, &apiextensions_v1_custom_resource_definition_version_type, version, made, NULL);

    if (status == NULL) {
        try_object(arena, &custom_kind_new(arena, &definition, made)->kind, object);
    }
    status_free(status);
    arena_free(arena);
    return 0;
}
