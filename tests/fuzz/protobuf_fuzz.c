/* Protobuf -> object -> protobuf -> object: what was read is written, and reading that gives the same bytes again. An
 * envelope says of which type it is; without one the first byte does. */
#include "api/kinds.h"
#include "schema/etcd_v3.h"
#include "schema/protobuf.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(buf_done) struct buf first = {0}, second = {0};
    struct protobuf_envelope envelope = {0};
    const struct kind *kind = NULL;
    struct status *error = protobuf_envelope_read((struct str){(const char *)data, size}, &envelope);

    if (!status_free_if(&error, STATUS_BAD_REQUEST)) {
        kind = kind_find_api_version(envelope.api_version, envelope.kind);
    } else if (size > 0) {
        envelope.raw = (struct str){(const char *)data + 1, size - 1};
        kind = kinds_all[data[0] % kinds_all_count];
    }
    const struct type *type = kind != NULL ? kind->type : &etcd_v3_txn_request_type;
    void *object = arena_alloc(arena, type->size), *again = arena_alloc(arena, type->size);

    error = protobuf_decode(arena, type, envelope.raw, object);
    if (error != NULL) {
        status_free(error);
        return 0;
    }
    protobuf_encode(type, object, &first);
    if (protobuf_decode(arena, type, buf_str(&first), again) != NULL) {
        abort();
    }
    protobuf_encode(type, again, &second);
    if (!str_eq(buf_str(&first), buf_str(&second))) {
        abort();
    }
    return 0;
}
