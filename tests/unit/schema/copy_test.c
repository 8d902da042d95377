#include "schema/copy.h"

#include "schema/meta_v1.h"
#include "test.h"

TEST("schema/copy/lists of a copy may be grown")
{
    struct arena *arena = arena_new();

    for (size_t len = 1; len < 10; len++) {
        struct meta_v1_object_meta from = {0};

        for (size_t i = 0; i < len; i++) {
            *LIST_ADD(arena, &from.finalizers) = STR("f");
            LIST_ADD(arena, &from.owner_references)->name = STR("o");
        }
        struct meta_v1_object_meta *copy = schema_copy(arena, &meta_v1_object_meta_type, &from);
        char *after = arena_alloc(arena, 1); /* what comes next in the arena */

        *LIST_ADD(arena, &copy->finalizers) = STR("last");
        LIST_ADD(arena, &copy->owner_references)->name = STR("last");
        CHECK_INT(*after, 0);
        CHECK_INT(copy->finalizers.len, len + 1);
        CHECK_STR(copy->finalizers.items[0], "f");
        CHECK_STR(copy->finalizers.items[len], "last");
        CHECK_STR(copy->owner_references.items[len - 1].name, "o");
        CHECK_STR(copy->owner_references.items[len].name, "last");
        CHECK_INT(from.finalizers.len, len);
    }
    arena_free(arena);
}
