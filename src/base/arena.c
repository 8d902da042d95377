#include "base/arena.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_MIN = 4096, BLOCK_MAX = 65536, ALIGNMENT = 16 };

struct block {
    struct block *next;
    size_t size; /* of data */
    size_t used;
    _Alignas(ALIGNMENT) char data[];
};

struct arena {
    struct block *blocks; /* the newest, which is allocated from, first */
    size_t next_size;
    size_t held;
};

struct arena *arena_new(void)
{
    struct arena *arena = mem_zalloc(sizeof(*arena));

    arena->next_size = BLOCK_MIN;
    return arena;
}

void arena_free(struct arena *arena)
{
    if (arena == NULL) {
        return;
    }
    for (struct block *block = arena->blocks, *next; block != NULL; block = next) {
        next = block->next;
        free(block);
    }
    free(arena);
}

void arena_freep(struct arena **arena)
{
    arena_free(TAKE(*arena));
}

void arena_reset(struct arena *arena)
{
    struct block *kept = arena->blocks;

    if (kept == NULL) {
        return;
    }
    for (struct block *block = kept->next, *next; block != NULL; block = next) {
        next = block->next;
        arena->held -= sizeof(*block) + block->size;
        free(block);
    }
    kept->next = NULL;
    kept->used = 0;
}

size_t arena_size(const struct arena *arena)
{
    return sizeof(*arena) + arena->held;
}

static struct block *block_add(struct arena *arena, size_t size)
{
    struct block *block = mem_resize(NULL, mem_add(sizeof(*block), size), 1);

    block->next = NULL;
    block->used = 0;
    block->size = size;
    arena->held += sizeof(*block) + size;
    return block;
}

/* Bytes that are zeroed when they are given out: a block is seldom used whole. */
static void *take(struct block *block, size_t rounded)
{
    void *at = block->data + block->used;

    block->used += rounded;
    return memset(at, 0, rounded);
}

void *arena_alloc(struct arena *arena, size_t size)
{
    size_t rounded = mem_add(size, ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct block *block = arena->blocks;

    if (block != NULL && block->size - block->used >= rounded) {
        return take(block, rounded);
    }
    if (rounded > arena->next_size / 2) { /* a block of its own, behind the current one */
        struct block *own = block_add(arena, rounded);

        if (block == NULL) {
            arena->blocks = own;
        } else {
            own->next = block->next;
            block->next = own;
        }
        return take(own, rounded);
    }
    block = block_add(arena, arena->next_size);
    block->next = arena->blocks;
    arena->blocks = block;
    arena->next_size = MIN(arena->next_size * 2, (size_t)BLOCK_MAX);
    return take(block, rounded);
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    return arena_alloc(arena, mem_mul(count, size));
}

struct str arena_str(struct arena *arena, struct str s)
{
    return (struct str){arena_cstr(arena, s), s.n};
}

char *arena_cstr(struct arena *arena, struct str s)
{
    char *copy = arena_alloc(arena, mem_add(s.n, 1));

    if (s.n > 0) {
        memcpy(copy, s.p, s.n);
    }
    return copy;
}

struct str arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    size_t n = length > 0 ? (size_t)length : 0;
    char *text = arena_alloc(arena, n + 1);

    vsnprintf(text, n + 1, format, again);
    va_end(again);
    return (struct str){text, n};
}

struct str arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    struct str text = arena_vprintf(arena, format, args);

    va_end(args);
    return text;
}

void *arena_list_copy_(struct arena *arena, const void *items, size_t len, size_t size)
{
    void *grown = arena_array(arena, mem_add(len, 1), size);

    if (len > 0) {
        memcpy(grown, items, len * size);
    }
    return grown;
}

void *arena_list_room_(struct arena *arena, void *items, size_t len, size_t size)
{
    bool full = len == 0 || (len & (len - 1)) == 0; /* capacity is the next power of two */

    if (!full) {
        return items;
    }
    void *grown = arena_array(arena, len == 0 ? 1 : mem_mul(len, 2), size);

    if (len > 0) {
        memcpy(grown, items, len * size);
    }
    return grown;
}
