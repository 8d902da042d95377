/* Memory that is freed all at once: one arena for a request, a reconcile pass, or a decoded object.
 *
 * Blocks double from 4 KiB up to 64 KiB; a larger allocation gets a block of its own. Memory is zeroed.
 * Running out of memory aborts: what a client can make grow is bounded by the caller (limits.h).
 * An arena belongs to one thread at a time. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/attr.h"
#include "base/str.h"

#include <stdarg.h>

struct arena;

struct arena *arena_new(void);
/* NULL is fine. */
void arena_free(struct arena *arena);
/* For OWNED(arena_freep) struct arena *arena = arena_new(); */
void arena_freep(struct arena **arena);
/* Gives all memory back but one block, for use again. */
void arena_reset(struct arena *arena);
/* Bytes the arena holds from the heap. */
size_t arena_size(const struct arena *arena);

/* `size` zeroed bytes, aligned for any type. Never NULL, also for size 0. */
void *arena_alloc(struct arena *arena, size_t size);
/* `count` zeroed elements; aborts when count * size overflows. */
void *arena_array(struct arena *arena, size_t count, size_t size);
/* Copies, NUL-terminated past the end for the convenience of system calls. */
struct str arena_str(struct arena *arena, struct str s);
char *arena_cstr(struct arena *arena, struct str s);
struct str arena_printf(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
struct str arena_vprintf(struct arena *arena, const char *format, va_list args) PRINTF_LIKE(2, 0);

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_array((arena), (count), sizeof(type)))

/* Appends room for one element to an arena-held list {items, len}, which grows by doubling at powers of two;
 * the list must only ever be grown through this. Returns the new, zeroed element.
 *   *LIST_ADD(arena, &spec->volumes) = volume; */
#define LIST_ADD(arena, list)                                                                            \
    ({                                                                                                   \
        (list)->items = arena_list_room_((arena), (list)->items, (list)->len, sizeof(*(list)->items));   \
        &(list)->items[(list)->len++];                                                                   \
    })
/* The same for a list of unknown making, whose capacity is therefore unknown too: its items move.
 *   LIST_APPEND(arena, &spec->tolerations)->key = key; */
#define LIST_APPEND(arena, list)                                                                         \
    ({                                                                                                   \
        (list)->items = arena_list_copy_((arena), (list)->items, (list)->len, sizeof(*(list)->items));   \
        &(list)->items[(list)->len++];                                                                   \
    })
void *arena_list_copy_(struct arena *arena, const void *items, size_t len, size_t size);
void *arena_list_room_(struct arena *arena, void *items, size_t len, size_t size);

/* Iterates a {items, len} list: LIST_EACH(container, &spec->containers) { container->name ... } */
#define LIST_EACH(item, list)                                                                                   \
    for (__typeof__(*(list)->items) *item = (list)->items, *item##_end = item ? item + (list)->len : item; \
         item != item##_end; item++)

#endif
