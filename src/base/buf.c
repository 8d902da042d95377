#include "base/buf.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_done(struct buf *buf)
{
    free(buf->p);
    *buf = (struct buf){0};
}

void buf_clear(struct buf *buf)
{
    buf->n = 0;
}

void buf_grow_(struct buf *buf, size_t more)
{
    size_t wanted = mem_add(mem_add(buf->n, more), 1);
    size_t doubled = buf->cap < 64 ? 64 : mem_mul(buf->cap, 2);

    buf->cap = MAX(doubled, wanted);
    buf->p = mem_resize(buf->p, buf->cap, 1);
}

void buf_vprintf(struct buf *buf, const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);

    if (length > 0) {
        vsnprintf(buf_reserve(buf, (size_t)length), (size_t)length + 1, format, again);
        buf->n += (size_t)length;
    }
    va_end(again);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    buf_vprintf(buf, format, args);
    va_end(args);
}

void buf_consume(struct buf *buf, size_t size)
{
    if (size >= buf->n) {
        buf->n = 0;
        return;
    }
    memmove(buf->p, buf->p + size, buf->n - size);
    buf->n -= size;
}

struct str buf_str(const struct buf *buf)
{
    return (struct str){buf->p, buf->n};
}

const char *buf_cstr(struct buf *buf)
{
    *buf_reserve(buf, 0) = '\0';
    return buf->p;
}
