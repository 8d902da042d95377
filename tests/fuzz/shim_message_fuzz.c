/* What a shim and the runtime say to each other, and what both read back from disk. */
#include "schema/copy.h"
#include "schema/protobuf.h"
#include "schema/shim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct type *const types[] = {&shim_request_type, &shim_reply_type, &shim_container_plan_type,
                                               &shim_sandbox_record_type, &shim_container_record_type};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        void *message = arena_alloc(arena, types[i]->size);
        struct status *status = protobuf_decode(arena, types[i], (struct str){(const char *)data, size}, message);

        if (status == NULL) {
            OWNED(buf_done) struct buf bytes = {0};

            schema_own(arena, types[i], message);
            protobuf_encode(types[i], message, &bytes);
        }
        status_free(status);
    }
    return 0;
}
