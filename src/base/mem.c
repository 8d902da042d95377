#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

NO_RETURN void mem_die(const char *what)
{
    fprintf(stderr, "c8s: fatal: %s\n", what);
    abort();
}

void *mem_zalloc(size_t size)
{
    void *memory = calloc(1, size ? size : 1);

    if (memory == NULL) {
        mem_die("out of memory");
    }
    return memory;
}

void *mem_zalloc_array(size_t count, size_t size)
{
    return mem_zalloc(mem_mul(count, size));
}

void *mem_resize(void *pointer, size_t count, size_t size)
{
    size_t bytes = mem_mul(count, size);
    void *memory = realloc(pointer, bytes ? bytes : 1);

    if (memory == NULL) {
        mem_die("out of memory");
    }
    return memory;
}

char *mem_strdup(const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(mem_zalloc(size), text, size);
}

size_t mem_add(size_t a, size_t b)
{
    size_t sum;

    if (__builtin_add_overflow(a, b, &sum)) {
        mem_die("size overflow");
    }
    return sum;
}

size_t mem_mul(size_t a, size_t b)
{
    size_t product;

    if (__builtin_mul_overflow(a, b, &product)) {
        mem_die("size overflow");
    }
    return product;
}

void *mem_vec_room_(void *items, size_t len, size_t *cap, size_t size)
{
    if (len == *cap) {
        *cap = *cap ? mem_mul(*cap, 2) : 4;
        items = mem_resize(items, *cap, size);
    }
    memset((char *)items + len * size, 0, size);
    return items;
}
