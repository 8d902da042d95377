#include "kubelet/amounts.h"

#include "schema/map_of.h"
#include "schema/quantity.h"

bool amount_has(const struct quantity_map *map, struct str name)
{
    return quantity_map_get(map, name) != NULL;
}

int64_t amount_milli(const struct quantity_map *map, struct str name)
{
    const struct quantity *found = quantity_map_get(map, name);

    return found == NULL ? 0 : quantity_milli(*found);
}

int64_t amount_value(const struct quantity_map *map, struct str name)
{
    const struct quantity *found = quantity_map_get(map, name);

    return found == NULL ? 0 : quantity_value(*found);
}

struct quantity amount_of_value(struct arena *arena, int64_t value)
{
    return (struct quantity){arena_printf(arena, "%lld", (long long)value)};
}

struct quantity amount_of_milli(struct arena *arena, int64_t milli)
{
    return milli % 1000 == 0 ? amount_of_value(arena, milli / 1000)
                             : (struct quantity){arena_printf(arena, "%lldm", (long long)milli)};
}

struct quantity amount_of_kibibytes(struct arena *arena, int64_t bytes)
{
    return quantity_of(arena, bytes, QUANTITY_BINARY_SI);
}
