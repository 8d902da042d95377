#include "controller/endpointslice_layout.h"

#include "schema/copy.h"

static bool same_ports(const struct discovery_v1_endpoint_slice *a, const struct discovery_v1_endpoint_slice *b)
{
    return schema_field_equal(type_field(&discovery_v1_endpoint_slice_type, STR("ports")), &a->ports, &b->ports);
}

struct slice_group *endpointslice_group(struct arena *arena, struct slice_groups *groups,
                                        const struct discovery_v1_endpoint_slice *ports)
{
    LIST_EACH(group, groups)
    {
        if (same_ports(&group->ports, ports)) {
            return group;
        }
    }
    struct slice_group *group = LIST_ADD(arena, groups);

    group->ports = *ports;
    return group;
}

/* The same backend, whatever its condition. */
static bool same_endpoint(const struct discovery_v1_endpoint *a, const struct discovery_v1_endpoint *b)
{
    return a->addresses.len > 0 && b->addresses.len > 0 && str_eq(a->addresses.items[0], b->addresses.items[0]) &&
           (a->target_ref == NULL) == (b->target_ref == NULL) &&
           (a->target_ref == NULL || str_eq(a->target_ref->uid, b->target_ref->uid));
}

/* The endpoints of a group that have no slice yet. */
struct wanted {
    const struct slice_group *group;
    bool *taken;
    size_t left, next;
};

/* Takes the wanted endpoints that a slice has already. */
static void keep_in_place(struct arena *arena, struct slice_placed *placed, struct wanted *wanted)
{
    const struct slice_endpoints *all = &wanted->group->endpoints;

    LIST_EACH(have, &placed->before->endpoints)
    {
        size_t at = 0;

        while (at < all->len && (wanted->taken[at] || !same_endpoint(have, &all->items[at]))) {
            at++;
        }
        if (at == all->len || !schema_equal(&discovery_v1_endpoint_type, have, &all->items[at])) {
            placed->change = SLICE_UPDATED;
        }
        if (at < all->len) {
            wanted->taken[at] = true;
            wanted->left--;
            *LIST_ADD(arena, &placed->endpoints) = all->items[at];
        }
    }
}

static void fill(struct arena *arena, struct slice_placed *placed, struct wanted *wanted, size_t max)
{
    while (wanted->left > 0 && placed->endpoints.len < max) {
        while (wanted->taken[wanted->next]) {
            wanted->next++;
        }
        *LIST_ADD(arena, &placed->endpoints) = wanted->group->endpoints.items[wanted->next++];
        wanted->left--;
        placed->change = placed->before != NULL ? SLICE_UPDATED : SLICE_CREATED;
    }
}

/* Slices without endpoints go; of a group without any, one stays. */
static void drop_empty(struct slice_layout *layout, size_t first, const struct slice_group *group)
{
    bool one_stays = group->endpoints.len > 0;

    for (size_t i = first; i < layout->len; i++) {
        struct slice_placed *placed = &layout->items[i];

        if (placed->endpoints.len == 0 && placed->before != NULL && one_stays) {
            placed->change = SLICE_DELETED;
        }
        one_stays = true;
    }
}

static void place_group(struct arena *arena, struct slice_layout *layout, const struct slice_pointers *existing,
                        const struct slice_group *group, size_t max)
{
    size_t first = layout->len;
    struct wanted wanted = {group, ARENA_ARRAY(arena, bool, group->endpoints.len), group->endpoints.len, 0};

    LIST_EACH(slice, existing)
    {
        if (same_ports(*slice, &group->ports)) {
            struct slice_placed *placed = LIST_ADD(arena, layout);

            *placed = (struct slice_placed){.change = SLICE_KEPT, .before = *slice, .group = group};
            keep_in_place(arena, placed, &wanted);
        }
    }
    /* Those that must be written anyway take more first. */
    for (int changed_only = 1; changed_only >= 0; changed_only--) {
        for (size_t i = first; i < layout->len; i++) {
            if (!changed_only || layout->items[i].change == SLICE_UPDATED) {
                fill(arena, &layout->items[i], &wanted, max);
            }
        }
    }
    while (wanted.left > 0 || (group->endpoints.len == 0 && layout->len == first)) {
        struct slice_placed *placed = LIST_ADD(arena, layout);

        *placed = (struct slice_placed){.change = SLICE_CREATED, .group = group};
        fill(arena, placed, &wanted, max);
    }
    drop_empty(layout, first, group);
}

static bool is_placed(const struct slice_layout *layout, const struct discovery_v1_endpoint_slice *slice)
{
    LIST_EACH(placed, layout)
    {
        if (placed->before == slice) {
            return true;
        }
    }
    return false;
}

/* A slice that would be deleted becomes one that would be created. */
static void reuse(struct slice_layout *layout)
{
    for (size_t i = 0; i < layout->len; i++) {
        for (size_t n = 0; n < layout->len && layout->items[i].change == SLICE_CREATED; n++) {
            if (layout->items[n].change == SLICE_DELETED) {
                layout->items[i].before = layout->items[n].before;
                layout->items[i].change = SLICE_UPDATED;
                layout->items[n] = layout->items[--layout->len];
            }
        }
    }
}

struct slice_layout endpointslice_layout(struct arena *arena, const struct slice_pointers *existing,
                                         const struct slice_groups *groups, size_t endpoints_max)
{
    struct slice_layout layout = {0};

    LIST_EACH(group, groups)
    {
        place_group(arena, &layout, existing, group, endpoints_max);
    }
    LIST_EACH(slice, existing)
    {
        if (!is_placed(&layout, *slice)) {
            *LIST_ADD(arena, &layout) = (struct slice_placed){.change = SLICE_DELETED, .before = *slice};
        }
    }
    reuse(&layout);
    return layout;
}
