#include "net/spdy_headers.h"

#include "base/limits.h"
#include "base/mem.h"

#include <stdlib.h>
#include <zlib.h>

/* The dictionary of SPDY/3 (its specification, 2.6.10.1) is words, each with its length in four bytes before it, ... */
static const char *const words[] = {
    "options", "head", "post", "put", "delete", "trace", "accept", "accept-charset", "accept-encoding", "accept-language",
    "accept-ranges", "age", "allow", "authorization", "cache-control", "connection", "content-base", "content-encoding",
    "content-language", "content-length", "content-location", "content-md5", "content-range", "content-type", "date",
    "etag", "expect", "expires", "from", "host", "if-match", "if-modified-since", "if-none-match", "if-range",
    "if-unmodified-since", "last-modified", "location", "max-forwards", "pragma", "proxy-authenticate",
    "proxy-authorization", "range", "referer", "retry-after", "server", "te", "trailer", "transfer-encoding", "upgrade",
    "user-agent", "vary", "via", "warning", "www-authenticate", "method", "get", "status", "200 OK", "version", "HTTP/1.1",
    "url", "public", "set-cookie", "keep-alive", "origin",
};
/* ... and a text. */
static const char text[] =
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden"
    "404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
    "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
    "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,"
    "publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";

enum { DICTIONARY_BYTES = 1423 };

static void put_u32(struct buf *out, size_t number)
{
    unsigned char bytes[4] = {(unsigned char)(number >> 24), (unsigned char)(number >> 16), (unsigned char)(number >> 8),
                              (unsigned char)number};

    buf_add(out, bytes, sizeof(bytes));
}

static void dictionary(struct buf *out)
{
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        put_u32(out, str_of(words[i]).n);
        buf_add_str(out, str_of(words[i]));
    }
    buf_add(out, text, sizeof(text) - 1);
    if (out->n != DICTIONARY_BYTES) {
        mem_die("SPDY's dictionary has the wrong size");
    }
}

struct spdy_inflater {
    z_stream zlib;
};

struct spdy_inflater *spdy_inflater_new(void)
{
    struct spdy_inflater *inflater = MEM_NEW(struct spdy_inflater);

    if (inflateInit(&inflater->zlib) != Z_OK) {
        mem_die("inflateInit");
    }
    return inflater;
}

void spdy_inflater_free(struct spdy_inflater *inflater)
{
    inflateEnd(&inflater->zlib);
    free(inflater);
}

/* The blocks of a connection are one zlib stream, flushed at the end of each. */
static struct status *inflate_block(struct spdy_inflater *inflater, struct str block, struct buf *out)
{
    z_stream *zlib = &inflater->zlib;

    zlib->next_in = (unsigned char *)(uintptr_t)block.p;
    zlib->avail_in = (unsigned)block.n;
    for (;;) {
        enum { STEP = 4096 };

        zlib->next_out = (unsigned char *)buf_reserve(out, STEP);
        zlib->avail_out = STEP;
        int result = inflate(zlib, Z_SYNC_FLUSH);

        out->n += STEP - zlib->avail_out;
        if (result == Z_NEED_DICT) {
            OWNED(buf_done) struct buf words_and_text = {0};

            dictionary(&words_and_text);
            result = inflateSetDictionary(zlib, (unsigned char *)words_and_text.p, (unsigned)words_and_text.n);
            if (result == Z_OK) {
                continue;
            }
        }
        if (out->n > LIMIT_HTTP_HEADER_BYTES) {
            return status_new(STATUS_BAD_REQUEST, "spdy: headers are larger than %zu bytes", LIMIT_HTTP_HEADER_BYTES);
        }
        if (result == Z_BUF_ERROR || (result == Z_OK && zlib->avail_in == 0 && zlib->avail_out > 0)) {
            return NULL;
        }
        if (result != Z_OK) {
            return status_new(STATUS_BAD_REQUEST, "spdy: a header block is not zlib's");
        }
    }
}

static bool take_u32(struct str *rest, size_t *ret)
{
    if (rest->n < 4) {
        return false;
    }
    const unsigned char *bytes = (const unsigned char *)rest->p;

    *ret = (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3];
    *rest = str_from(*rest, 4);
    return true;
}

static bool take_text(struct str *rest, struct str *ret)
{
    size_t size;

    if (!take_u32(rest, &size) || size > rest->n) {
        return false;
    }
    *ret = str_sub(*rest, 0, size);
    *rest = str_from(*rest, size);
    return true;
}

struct status *spdy_inflate(struct spdy_inflater *inflater, struct str block, struct arena *arena, struct http_headers *ret)
{
    OWNED(buf_done) struct buf plain = {0};
    struct http_headers headers = {0};
    size_t count;

    TRY(inflate_block(inflater, block, &plain));
    struct str rest = buf_str(&plain), name, values;

    if (!take_u32(&rest, &count) || count > LIMIT_HTTP_HEADERS) {
        return status_new(STATUS_BAD_REQUEST, "spdy: more than %d headers, or none", LIMIT_HTTP_HEADERS);
    }
    while (count-- > 0) {
        if (!take_text(&rest, &name) || !take_text(&rest, &values)) {
            return status_new(STATUS_BAD_REQUEST, "spdy: a header block is cut");
        }
        for (struct str value; str_next(&values, '\0', &value);) { /* several values of a name stand in one */
            http_header_add(arena, &headers, arena_str(arena, name), arena_str(arena, value));
        }
    }
    *ret = headers;
    return NULL;
}

struct spdy_deflater {
    z_stream zlib;
};

struct spdy_deflater *spdy_deflater_new(void)
{
    struct spdy_deflater *deflater = MEM_NEW(struct spdy_deflater);
    OWNED(buf_done) struct buf words_and_text = {0};

    dictionary(&words_and_text);
    if (deflateInit(&deflater->zlib, Z_BEST_COMPRESSION) != Z_OK ||
        deflateSetDictionary(&deflater->zlib, (unsigned char *)words_and_text.p, (unsigned)words_and_text.n) != Z_OK) {
        mem_die("deflateInit");
    }
    return deflater;
}

void spdy_deflater_free(struct spdy_deflater *deflater)
{
    deflateEnd(&deflater->zlib);
    free(deflater);
}

void spdy_deflate(struct spdy_deflater *deflater, const struct http_headers *headers, struct buf *out)
{
    OWNED(buf_done) struct buf plain = {0};
    z_stream *zlib = &deflater->zlib;

    put_u32(&plain, headers->len);
    LIST_EACH(header, headers)
    {
        put_u32(&plain, header->name.n);
        buf_add_str(&plain, header->name);
        put_u32(&plain, header->value.n);
        buf_add_str(&plain, header->value);
    }
    size_t room = deflateBound(zlib, plain.n) + 16;

    zlib->next_in = (unsigned char *)plain.p;
    zlib->avail_in = (unsigned)plain.n;
    zlib->next_out = (unsigned char *)buf_reserve(out, room);
    zlib->avail_out = (unsigned)room;
    if (deflate(zlib, Z_SYNC_FLUSH) != Z_OK || zlib->avail_in != 0) {
        mem_die("deflate");
    }
    out->n += room - zlib->avail_out;
}
