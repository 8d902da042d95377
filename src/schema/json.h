/* JSON text <-> C structs, by the tables of schema/type.h.
 *
 * Decoding takes what Go's decoder takes: keys match exactly, unknown keys are left out, `null` leaves a field as it is,
 * a list or map is nil only when absent or null. Strings borrow from the text where they need no decoding, so the text
 * must live as long as the object; the rest is in the arena. Encoding gives Go's text byte by byte. Any thread. */
#ifndef SCHEMA_JSON_H
#define SCHEMA_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "schema/type.h"

/* What strict decoding finds, in stock's words: `unknown field "spec.foo"`, `duplicate field "spec.replicas"`. */
enum { JSON_PROBLEMS_MAX = 100 };
struct json_problems {
    struct str *items;
    size_t len;
};

/* Reads one object into `object`, which is zero or holds defaults to be kept where the text says nothing. `problems`
 * may be NULL. Errors are BAD_REQUEST with Go's text, such as
 * `json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32`. */
MUST_USE struct status *json_decode(struct arena *arena, const struct type *type, struct str text, void *object,
                                    struct json_problems *problems);
/* Appends the object, without a newline. */
void json_encode(const struct type *type, const void *object, struct buf *out);
/* One value of a field's shape, at the place of the field itself (its type and presence as in a struct). */
void json_encode_field(const struct field *field, const void *place, struct buf *out);

#endif
