/* Protobuf <-> C structs, by the tables of schema/type.h: bare messages (gRPC, parts of objects) and the Kubernetes
 * envelope ("k8s\0" and a runtime.Unknown) that bodies and stored values have.
 *
 * Decoding skips unknown fields, merges repeated ones as protobuf says, refuses nesting beyond LIMIT_DECODE_DEPTH;
 * strings and bytes borrow from the input. Encoding gives gogo's bytes: fields by ascending number, plain scalars of
 * API types even when zero, maps by key. Any thread. */
#ifndef SCHEMA_PROTOBUF_H
#define SCHEMA_PROTOBUF_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "schema/type.h"

/* Adds what the message says to `object`. Errors are BAD_REQUEST, such as `proto: Pod: wiretype end group for non-group`. */
MUST_USE struct status *protobuf_decode(struct arena *arena, const struct type *type, struct str bytes, void *object);
void protobuf_encode(const struct type *type, const void *object, struct buf *out);

#define PROTOBUF_MAGIC STR("k8s\0")

/* What an envelope holds; all borrowed. */
struct protobuf_envelope {
    struct str api_version, kind;
    struct str raw; /* the message */
    struct str content_encoding, content_type;
};
MUST_USE struct status *protobuf_envelope_read(struct str bytes, struct protobuf_envelope *ret);
/* The object in an envelope under that apiVersion and kind; its own type_meta stays out of the message, as in stock. */
void protobuf_envelope_write(const struct type *type, const void *object, struct str api_version, struct str kind,
                             struct buf *out);

/* For streams and messages written by hand. */
void protobuf_add_varint(struct buf *out, uint64_t value);
/* Takes one off *bytes; false when there is none. */
bool protobuf_take_varint(struct str *bytes, uint64_t *ret);
/* Field `number` with these bytes (wire type 2). */
void protobuf_add_bytes(struct buf *out, uint32_t number, struct str bytes);

#endif
