/* Bytes on the wire <-> objects, for the client alone: protobuf for built-in kinds, JSON for all else. */
#ifndef CLIENT_CODEC_H
#define CLIENT_CODEC_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

struct kind;

/* The media type a kind travels as. */
struct str codec_media_type(const struct kind *kind, bool json_only);
/* The Accept header for it: protobuf with JSON as second choice. */
struct str codec_accept(const struct kind *kind, bool json_only);
/* Appends the object in that form, with apiVersion and kind. */
void codec_encode(const struct kind *kind, const void *object, bool json_only, struct buf *out);
/* An object of that kind from a body of that content type. `bytes` must live as long as the object. */
MUST_USE struct status *codec_decode(const struct kind *kind, struct str content_type, struct str bytes,
                                     struct arena *arena, void **ret_object);
/* The Status that a server answered with, as ours; `code` is the HTTP code, and all there is when the body is none. */
struct status *codec_decode_status(struct str content_type, int code, struct str bytes);

#endif
