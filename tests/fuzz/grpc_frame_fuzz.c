/* What comes on a gRPC stream, in pieces of odd sizes, and texts in its headers. */
#include "cri/grpc_wire.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct grpc_frames frames = {0};
    struct str text = {(const char *)data, size}, message;
    struct status *bad = NULL;
    int64_t timeout;

    for (size_t at = 0; bad == NULL && at < size; at += 7) {
        buf_add(&frames.bytes, data + at, MIN(size - at, (size_t)7));
        for (bool has = true; bad == NULL && has;) {
            bad = grpc_frame_next(&frames, &message, &has);
        }
    }
    status_free(bad);
    buf_done(&frames.bytes);
    if (!str_eq(grpc_message_unescape(arena, grpc_message_escape(arena, text)), text)) {
        abort();
    }
    (void)grpc_message_unescape(arena, text);
    if (grpc_timeout_parse(text, &timeout) && timeout < 0) {
        abort();
    }
    return 0;
}
