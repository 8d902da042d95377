/* A growable run of bytes on the heap. The zero value is empty and ready; buf_done() releases.
 * One thread at a time. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/attr.h"
#include "base/str.h"

#include <stdarg.h>

struct buf {
    char *p;
    size_t n;   /* bytes in use */
    size_t cap; /* bytes held; when p is not NULL, p[n] may be written */
};

/* Releases the memory and leaves an empty buf; for OWNED(buf_done) too. */
void buf_done(struct buf *buf);
/* Empties, keeps the memory. */
void buf_clear(struct buf *buf);
void buf_grow_(struct buf *buf, size_t more);

/* Makes room for `more` bytes past the end and returns where they go; add to buf->n what was written. */
static inline char *buf_reserve(struct buf *buf, size_t more)
{
    if (more >= buf->cap - buf->n) { /* one more for buf_cstr()'s NUL */
        buf_grow_(buf, more);
    }
    return buf->p + buf->n;
}

/* Inline, like the two below: encoders call them for every few bytes. */
static inline void buf_add(struct buf *buf, const void *bytes, size_t size)
{
    if (size > 0) {
        __builtin_memcpy(buf_reserve(buf, size), bytes, size);
        buf->n += size;
    }
}

static inline void buf_add_str(struct buf *buf, struct str s)
{
    buf_add(buf, s.p, s.n);
}

static inline void buf_add_char(struct buf *buf, char c)
{
    *buf_reserve(buf, 1) = c;
    buf->n++;
}

void buf_printf(struct buf *buf, const char *format, ...) PRINTF_LIKE(2, 3);
void buf_vprintf(struct buf *buf, const char *format, va_list args) PRINTF_LIKE(2, 0);
/* Drops the first `size` bytes. */
void buf_consume(struct buf *buf, size_t size);
/* What is in it, borrowed until the next change. */
struct str buf_str(const struct buf *buf);
/* The text NUL-terminated in place, borrowed. */
const char *buf_cstr(struct buf *buf);

#endif
