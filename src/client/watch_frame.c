#include "client/watch_frame.h"

#include "client/codec.h"
#include "schema/json.h"
#include "schema/meta_v1.h"
#include "schema/protobuf.h"
#include "schema/type.h"

#include <string.h>

enum { LENGTH_BYTES = 4 };

bool watch_frame_json(struct str bytes, size_t scanned, struct str *ret_frame, size_t *ret_used)
{
    size_t from = MIN(scanned, bytes.n);
    size_t end = str_index(str_from(bytes, from), '\n');

    if (end == SIZE_MAX) {
        return false;
    }
    *ret_frame = str_trim(str_sub(bytes, 0, from + end));
    *ret_used = from + end + 1;
    return true;
}

bool watch_frame_protobuf(struct str bytes, struct str *ret_frame, size_t *ret_used)
{
    if (bytes.n < LENGTH_BYTES) {
        return false;
    }
    const unsigned char *at = (const unsigned char *)bytes.p;
    size_t length = (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];

    if (bytes.n - LENGTH_BYTES < length) {
        return false;
    }
    *ret_frame = str_sub(bytes, LENGTH_BYTES, LENGTH_BYTES + length);
    *ret_used = LENGTH_BYTES + length;
    return true;
}

static bool event_type_of(struct str name, enum client_event_type *ret)
{
    static const char *const names[] = {
        [CLIENT_ADDED] = "ADDED",
        [CLIENT_MODIFIED] = "MODIFIED",
        [CLIENT_DELETED] = "DELETED",
        [CLIENT_BOOKMARK] = "BOOKMARK",
    };

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (str_is(name, names[i])) {
            *ret = (enum client_event_type)i;
            return true;
        }
    }
    return false;
}

/* The frame's event; in protobuf it has no envelope of its own, though one does no harm. */
static struct status *event_read(bool is_protobuf, struct str frame, struct arena *arena,
                                 struct meta_v1_watch_event *ret)
{
    struct protobuf_envelope envelope;

    if (!is_protobuf) {
        return json_decode(arena, &meta_v1_watch_event_type, frame, ret, NULL);
    }
    if (str_has_prefix(frame, PROTOBUF_MAGIC)) {
        TRY(protobuf_envelope_read(frame, &envelope));
        frame = envelope.raw;
    }
    return protobuf_decode(arena, &meta_v1_watch_event_type, frame, ret);
}

struct status *watch_frame_decode(const struct kind *kind, bool is_protobuf, struct str frame, struct arena *arena,
                                  struct client_event *ret_event)
{
    struct meta_v1_watch_event event = {0};
    struct client_event ret = {.arena = arena};

    TRY(event_read(is_protobuf, frame, arena, &event));
    struct str bytes = event.object.json;
    struct str media = str_has_prefix(bytes, PROTOBUF_MAGIC) ? STR("application/vnd.kubernetes.protobuf")
                                                             : STR("application/json");

    if (str_is(event.type, "ERROR")) {
        return codec_decode_status(media, 500, bytes);
    }
    if (!event_type_of(event.type, &ret.type)) {
        return status_new(STATUS_UNKNOWN, "unknown type of watch event \"%.*s\"", STR_ARG(event.type));
    }
    TRY(codec_decode(kind, media, bytes, arena, &ret.object));
    *ret_event = ret;
    return NULL;
}
