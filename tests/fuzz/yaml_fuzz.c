/* YAML -> value -> YAML -> value: what was read is written, read again, and the same. */
#include "schema/yaml.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(buf_done) struct buf out = {0};
    struct str rest = {(const char *)data, size}, document;
    struct value *value, *again;
    struct status *error = yaml_next_document(&rest, &document);

    if (error == NULL) {
        error = yaml_read(arena, document, size % 2, &value);
    }
    if (error != NULL) {
        status_free(error);
        return 0;
    }
    yaml_write(&out, value);
    error = yaml_read(arena, buf_str(&out), true, &again);
    if (error != NULL) {
        status_free(error); /* at the depth's limit, or characters that YAML may not hold */
        return 0;
    }
    value_write_json(&out, again, VALUE_JSON_SORTED);
    return 0;
}
