/* Compressed answers. */
#ifndef APISERVER_GZIP_H
#define APISERVER_GZIP_H

#include "base/buf.h"

/* Whether an Accept-Encoding header allows gzip. */
bool gzip_is_accepted(struct str accept_encoding);
/* Appends `bytes` in gzip's format, at the fastest level. */
void gzip_compress(struct str bytes, struct buf *out);

#endif
