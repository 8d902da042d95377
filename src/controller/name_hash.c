#include "controller/name_hash.h"

static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";

static uint32_t fnv1a(uint32_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ at[i]) * 16777619U;
    }
    return hash;
}

struct str name_hash(struct arena *arena, struct str bytes, const int32_t *collision_count)
{
    uint32_t hash = fnv1a(2166136261U, bytes.p, bytes.n);

    if (collision_count != NULL) {
        hash = fnv1a(hash, collision_count, sizeof(*collision_count));
    }
    struct str digits = arena_printf(arena, "%u", hash);
    char *text = (char *)(uintptr_t)digits.p;

    for (size_t i = 0; i < digits.n; i++) {
        text[i] = alphabet[(unsigned char)text[i] % (sizeof(alphabet) - 1)];
    }
    return digits;
}
