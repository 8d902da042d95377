/* JSON -> value -> JSON -> value: what was read is written, read again, and the same. */
#include "schema/value.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(buf_done) struct buf out = {0};
    struct value_duplicates duplicates = {0};
    struct value *value, *again;
    struct status *error = value_read_json(arena, (struct str){(const char *)data, size}, &value, &duplicates);

    if (error != NULL) {
        status_free(error);
        return 0;
    }
    value_write_json(&out, value, size % 2 ? VALUE_JSON_SORTED | VALUE_JSON_INDENT : 0);
    if (value_read_json(arena, buf_str(&out), &again, NULL) != NULL) {
        abort();
    }
    struct str first = value_json(arena, value), second = value_json(arena, again);

    /* -0e5 is the double -0, written "-0", which reads as the integer 0: in Go too. */
    if ((!str_eq(first, second) && !str_contains(first, STR("-0"))) || !value_equal(value, value_copy_whole(arena, value))) {
        abort();
    }
    return 0;
}
