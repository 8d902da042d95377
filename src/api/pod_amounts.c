#include "api/pod_amounts.h"

#include "schema/map_of.h"
#include "schema/quantity.h"

void amounts_add(struct arena *arena, struct quantity_map *sum, const struct quantity_map *more)
{
    LIST_EACH(entry, more) {
        const struct quantity *have = quantity_map_get(sum, entry->key);

        quantity_map_set(arena, sum, entry->key,
                         have == NULL ? entry->value : quantity_add(arena, *have, entry->value));
    }
}

static void take_greater(struct arena *arena, struct quantity_map *of, const struct quantity_map *other)
{
    LIST_EACH(entry, other) {
        const struct quantity *have = quantity_map_get(of, entry->key);

        if (have == NULL || quantity_cmp(entry->value, *have) > 0) {
            quantity_map_set(arena, of, entry->key, entry->value);
        }
    }
}

static const struct quantity_map *amounts_of(const struct core_v1_resource_requirements *resources, bool are_limits)
{
    return are_limits ? &resources->limits : &resources->requests;
}

static bool stays(const struct core_v1_container *container)
{
    return container->restart_policy != NULL && str_is(*container->restart_policy, "Always");
}

static struct quantity_map of_containers(struct arena *arena, const struct core_v1_pod_spec *spec, bool are_limits)
{
    struct quantity_map sum = {0}, sidecars = {0}, most = {0};

    LIST_EACH(container, &spec->containers) {
        amounts_add(arena, &sum, amounts_of(&container->resources, are_limits));
    }
    LIST_EACH(container, &spec->init_containers) {
        struct quantity_map at_once = {0};

        if (stays(container)) {
            amounts_add(arena, &sum, amounts_of(&container->resources, are_limits));
            amounts_add(arena, &sidecars, amounts_of(&container->resources, are_limits));
            amounts_add(arena, &at_once, &sidecars);
        } else {
            amounts_add(arena, &at_once, amounts_of(&container->resources, are_limits));
            amounts_add(arena, &at_once, &sidecars);
        }
        take_greater(arena, &most, &at_once);
    }
    take_greater(arena, &sum, &most);
    return sum;
}

static bool is_of_pod(struct str name)
{
    return str_is(name, "cpu") || str_is(name, "memory") || str_has_prefix(name, STR("hugepages-"));
}

static void take_pod_level(struct arena *arena, struct quantity_map *of, const struct core_v1_pod_spec *spec,
                           bool are_limits)
{
    if (spec->resources == NULL) {
        return;
    }
    LIST_EACH(entry, amounts_of(spec->resources, are_limits)) {
        if (is_of_pod(entry->key)) {
            quantity_map_set(arena, of, entry->key, entry->value);
        }
    }
}

struct quantity_map pod_requests(struct arena *arena, const struct core_v1_pod_spec *spec)
{
    struct quantity_map sum = of_containers(arena, spec, false);

    take_pod_level(arena, &sum, spec, false);
    amounts_add(arena, &sum, &spec->overhead);
    return sum;
}

struct quantity_map pod_limits(struct arena *arena, const struct core_v1_pod_spec *spec)
{
    struct quantity_map sum = of_containers(arena, spec, true);

    take_pod_level(arena, &sum, spec, true);
    LIST_EACH(entry, &spec->overhead) {
        const struct quantity *have = quantity_map_get(&sum, entry->key);

        if (have != NULL) {
            quantity_map_set(arena, &sum, entry->key, quantity_add(arena, *have, entry->value));
        }
    }
    return sum;
}
