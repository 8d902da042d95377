/* SPDY/3's compressed header blocks: one zlib stream a direction for the whole connection, with a dictionary. */
#ifndef NET_SPDY_HEADERS_H
#define NET_SPDY_HEADERS_H

#include "base/buf.h"
#include "net/http.h"

struct spdy_inflater;
struct spdy_deflater;

struct spdy_inflater *spdy_inflater_new(void);
/* A block's headers, in the arena. BAD_REQUEST when it is broken or beyond LIMIT_HTTP_HEADER_BYTES. */
MUST_USE struct status *spdy_inflate(struct spdy_inflater *inflater, struct str block, struct arena *arena,
                                     struct http_headers *ret);
void spdy_inflater_free(struct spdy_inflater *inflater);

struct spdy_deflater *spdy_deflater_new(void);
/* Appends the block. */
void spdy_deflate(struct spdy_deflater *deflater, const struct http_headers *headers, struct buf *out);
void spdy_deflater_free(struct spdy_deflater *deflater);

#endif
