/* Heap memory and checked sizes. Running out of memory, or a size that overflows, ends the process:
 * what outsiders can make grow is bounded before it gets here. Any thread. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include "base/attr.h"

#include <stddef.h>

/* Zeroed; release with free(). */
void *mem_zalloc(size_t size);
void *mem_zalloc_array(size_t count, size_t size);
/* Like realloc, for an array: the new part is not zeroed. */
void *mem_resize(void *pointer, size_t count, size_t size);
char *mem_strdup(const char *text);

/* a + b, a * b, or abort. */
size_t mem_add(size_t a, size_t b);
size_t mem_mul(size_t a, size_t b);

/* For a programmer's error or exhausted memory: says what, and aborts. */
NO_RETURN void mem_die(const char *what);

#define MEM_NEW(type) ((type *)mem_zalloc(sizeof(type)))

/* Adds one zeroed element to a heap-held array {items, len, cap}; free(array.items) releases it. */
#define VEC_ADD(vec)                                                                       \
    ({                                                                                     \
        (vec)->items = mem_vec_room_((vec)->items, (vec)->len, &(vec)->cap, sizeof(*(vec)->items)); \
        &(vec)->items[(vec)->len++];                                                       \
    })
#define VEC(type)    \
    struct {         \
        type *items; \
        size_t len;  \
        size_t cap;  \
    }
void *mem_vec_room_(void *items, size_t len, size_t *cap, size_t size);
/* Removes element i, keeping the order of the rest. */
#define VEC_REMOVE(vec, i)                                                       \
    do {                                                                         \
        size_t at_ = (i);                                                        \
        __builtin_memmove(&(vec)->items[at_], &(vec)->items[at_ + 1],            \
                          ((vec)->len - at_ - 1) * sizeof(*(vec)->items));       \
        (vec)->len--;                                                            \
    } while (0)

#endif
