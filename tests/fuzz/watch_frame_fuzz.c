/* A watch as a server may send it, in JSON (first byte even) or protobuf: frames, events, errors. */
#include "api/core_v1.h"
#include "client/codec.h"
#include "client/watch_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    bool is_protobuf = (data[0] & 1) != 0;
    struct str rest = {(const char *)data + 1, size - 1}, frame;
    size_t used;

    while (is_protobuf ? watch_frame_protobuf(rest, &frame, &used) : watch_frame_json(rest, 0, &frame, &used)) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct client_event event;

        status_free(watch_frame_decode(&core_v1_pod_kind, is_protobuf, frame, arena, &event));
        rest = str_from(rest, used);
    }
    status_free(codec_decode_status(is_protobuf ? STR("application/vnd.kubernetes.protobuf") : STR("application/json"), 500,
                                    rest));
    return 0;
}
