/* Objects as the bytes of answers. An object without its type is an "item": what lists hold, and what is made once for all
 * readers; its type is put around it where it stands alone. */
#ifndef APISERVER_ENCODE_H
#define APISERVER_ENCODE_H

#include "apiserver/negotiate.h"
#include "base/buf.h"
#include "schema/type.h"

/* Appends the object without its type: JSON, or a bare protobuf message. `media` is JSON or protobuf. */
void encode_item(enum media media, const struct type *type, const void *object, struct buf *out);
/* Appends the item as an object of its own: with kind and apiVersion, in protobuf with its envelope. */
void encode_typed(enum media media, struct str api_version, struct str kind, struct str item, struct buf *out);

/* JSON text with two spaces a level, as Go indents. */
void encode_indent(struct str json, struct buf *out);
/* The JSON text as the media type wants it: with a newline at its end, indented, or as YAML. */
MUST_USE struct status *encode_finish(struct arena *arena, enum media media, bool is_pretty, struct buf *json);

#endif
