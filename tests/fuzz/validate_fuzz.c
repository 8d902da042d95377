/* Objects of every kind as clients may send them: filled in and checked, new and against themselves, in the kind the
 * first two bytes pick. Filling in twice must be as once. */
#include "api/defaults.h"
#include "api/kinds.h"
#include "api/validation.h"
#include "base/buf.h"
#include "schema/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct str text_of(struct arena *arena, const struct kind *kind, const void *object)
{
    OWNED(buf_done) struct buf out = {0};

    json_encode(kind->type, object, &out);
    return arena_str(arena, buf_str(&out));
}

static void check(struct arena *arena, const struct kind *kind, void *object, void *old)
{
    static const char *const subresources[] = {"status", "scale", "resize", "ephemeralcontainers", "finalize"};
    OWNED(status_freep) struct status *causes = status_new(STATUS_INVALID, "%s", "");

    api_defaults_apply(kind->type, object, arena);
    struct str once = text_of(arena, kind, object);

    api_defaults_apply(kind->type, object, arena);
    if (!str_eq(once, text_of(arena, kind, object))) {
        abort();
    }
    api_validate_create(kind, object, causes);
    api_validate_update(kind, object, old, causes);
    api_validate_update(kind, old, object, causes);
    for (size_t i = 0; i < COUNT_OF(subresources); i++) {
        api_validate_update_subresource(kind, str_of(subresources[i]), object, old, causes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct kind *kind = kinds_all[(data[0] << 8 | data[1]) % kinds_all_count];
    struct str text = {(const char *)data + 2, size - 2};
    void *object = arena_alloc(arena, kind->type->size), *old = arena_alloc(arena, kind->type->size);
    struct status *bad = json_decode(arena, kind->type, text, object, NULL);

    if (bad == NULL) {
        check(arena, kind, object, old); /* the old one is empty */
        bad = json_decode(arena, kind->type, text, old, NULL);
        if (bad == NULL) {
            check(arena, kind, object, old);
        }
    }
    status_free(bad);
    return 0;
}
