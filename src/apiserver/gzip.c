#include "apiserver/gzip.h"

#include "base/mem.h"

#include <zlib.h>

bool gzip_is_accepted(struct str accept_encoding)
{
    struct str rest = accept_encoding, item, name, parameters;

    while (str_next(&rest, ',', &item)) {
        str_cut(item, ';', &name, &parameters);
        if (str_is(str_trim(name), "gzip")) {
            return !str_is(str_trim(parameters), "q=0");
        }
    }
    return false;
}

void gzip_compress(struct str bytes, struct buf *out)
{
    enum { GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8 };
    z_stream stream = {0};

    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        mem_die("deflateInit2");
    }
    size_t bound = deflateBound(&stream, bytes.n);

    stream.next_in = (unsigned char *)bytes.p;
    stream.avail_in = (unsigned)bytes.n;
    stream.next_out = (unsigned char *)buf_reserve(out, bound);
    stream.avail_out = (unsigned)bound;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) {
        mem_die("deflate");
    }
    out->n += bound - stream.avail_out;
    deflateEnd(&stream);
}
