#include "schema/map_of.h"

#include "schema/type.h"

#include <string.h>

bool map_of_find(const void *items, size_t len, size_t entry_size, struct str key, size_t *ret_at)
{
    size_t low = 0, high = len;
    bool found = false;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct str *here = (const struct str *)((const char *)items + middle * entry_size);
        int order = str_cmp(*here, key);

        if (order == 0) {
            low = middle;
            found = true;
            break;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (ret_at != NULL) {
        *ret_at = low;
    }
    return found;
}

/* The value's place under the key; a key that is new gets it in new items, so that copies of the map see no change. */
static void *place_of(struct arena *arena, struct any_list *map, size_t entry_size, struct str key)
{
    size_t at;

    if (!map_of_find(map->items, map->len, entry_size, key, &at)) {
        char *made = arena_array(arena, map->len + 1, entry_size);

        if (map->len != 0) {
            memcpy(made, map->items, at * entry_size);
            memcpy(made + (at + 1) * entry_size, (char *)map->items + at * entry_size, (map->len - at) * entry_size);
        }
        *(struct str *)(made + at * entry_size) = key;
        *map = (struct any_list){made, map->len + 1};
    }
    return (char *)map->items + at * entry_size + sizeof(struct str);
}

struct str str_map_get(const struct str_map *map, struct str key)
{
    size_t at;

    return map_of_find(map->items, map->len, sizeof(*map->items), key, &at) ? map->items[at].value
                                                                            : (struct str){NULL, 0};
}

bool str_map_has(const struct str_map *map, struct str key)
{
    return map_of_find(map->items, map->len, sizeof(*map->items), key, NULL);
}

void str_map_set(struct arena *arena, struct str_map *map, struct str key, struct str value)
{
    *(struct str *)place_of(arena, (struct any_list *)map, sizeof(*map->items), key) = value;
}

bool str_map_remove(struct str_map *map, struct str key)
{
    size_t at;

    if (!map_of_find(map->items, map->len, sizeof(*map->items), key, &at)) {
        return false;
    }
    memmove(&map->items[at], &map->items[at + 1], (map->len - at - 1) * sizeof(*map->items));
    map->len--;
    return true;
}

struct str_map str_map_copy(struct arena *arena, const struct str_map *map)
{
    struct str_map copy = {NULL, map->len};

    if (map->items != NULL) {
        copy.items = ARENA_ARRAY(arena, struct str_entry, map->len);
        memcpy(copy.items, map->items, map->len * sizeof(*map->items));
    }
    return copy;
}

bool str_map_equal(const struct str_map *a, const struct str_map *b)
{
    if (a->len != b->len) {
        return false;
    }
    for (size_t i = 0; i < a->len; i++) {
        if (!str_eq(a->items[i].key, b->items[i].key) || !str_eq(a->items[i].value, b->items[i].value)) {
            return false;
        }
    }
    return true;
}

bool str_map_lookup(const void *map, struct str key, struct str *ret)
{
    const struct str_map *labels = map;
    size_t at;

    if (!map_of_find(labels->items, labels->len, sizeof(*labels->items), key, &at)) {
        return false;
    }
    *ret = labels->items[at].value;
    return true;
}

const struct quantity *quantity_map_get(const struct quantity_map *map, struct str key)
{
    size_t at;

    return map_of_find(map->items, map->len, sizeof(*map->items), key, &at) ? &map->items[at].value : NULL;
}

void quantity_map_set(struct arena *arena, struct quantity_map *map, struct str key, struct quantity value)
{
    *(struct quantity *)place_of(arena, (struct any_list *)map, sizeof(*map->items), key) = value;
}
