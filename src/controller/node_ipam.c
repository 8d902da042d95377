/* Node -> its part of the cluster's range: the first that no other node has. */
#include "controller/controllers.h"

#include "api/core_v1.h"
#include "base/buf.h"
#include "schema/ip.h"
#include "schema/json.h"
#include "schema/object.h"

#include <string.h>

enum { RANGES_MAX = 2, PARTS_MAX = 1 << 16 };

static bool overlaps(const struct cidr *a, const struct cidr *b)
{
    return cidr_contains(a, &b->ip) || cidr_contains(b, &a->ip);
}

/* Marks the parts of the range that a CIDR covers. */
static void mark(uint8_t *used, size_t count, const struct cidr *range, int mask, const struct cidr *by)
{
    if (by->ip.length != range->ip.length || !overlaps(range, by)) {
        return;
    }
    if (by->prefix <= range->prefix) {
        memset(used, 1, count);
        return;
    }
    size_t first = 0, bits = (size_t)(mask - range->prefix);

    for (size_t i = 0; i < bits; i++) {
        size_t at = (size_t)range->prefix + i;
        unsigned bit = at < by->prefix ? (by->ip.bytes[at / 8] >> (7 - at % 8)) & 1U : 0;

        first = first * 2 + bit;
    }
    size_t length = by->prefix >= mask ? 1 : (size_t)1 << (mask - by->prefix);

    for (size_t i = first; i < first + length && i < count; i++) {
        used[i] = 1;
    }
}

static struct cidr part(const struct cidr *range, int mask, size_t number)
{
    struct cidr result = cidr_masked(range);

    result.prefix = (uint8_t)mask;
    for (int at = mask - 1; at >= range->prefix; at--, number >>= 1) {
        result.ip.bytes[at / 8] |= (uint8_t)((number & 1) << (7 - at % 8));
    }
    return result;
}

/* Empty when the range is used up. */
static struct str first_free(const struct world *world, const struct cidr *range, int mask)
{
    size_t count = mask - range->prefix > 16 ? PARTS_MAX : (size_t)1 << (mask - range->prefix);
    uint8_t *used = arena_alloc(world->arena, count);
    struct object_pointers nodes = world_all(world, &core_v1_node_kind);
    struct cidr taken;

    if (cidr_parse(world->settings->service_cidr, &taken)) {
        mark(used, count, range, mask, &taken);
    }
    for (size_t i = 0; i < nodes.len; i++) {
        const struct core_v1_node *node = nodes.items[i];

        LIST_EACH(text, &node->spec.pod_cidrs)
        {
            if (cidr_parse(*text, &taken)) {
                mark(used, count, range, mask, &taken);
            }
        }
    }
    const uint8_t *free = memchr(used, 0, count);

    if (free == NULL) {
        return (struct str){0};
    }
    struct cidr found = part(range, mask, (size_t)(free - used));

    return cidr_format(world->arena, &found);
}

/* One part of each of the cluster's ranges; false when one is used up. */
static bool choose(const struct world *world, struct str_list *ret)
{
    for (struct str rest = world->settings->cluster_cidr, text; str_next(&rest, ',', &text);) {
        struct cidr range;

        if (!cidr_parse(str_trim(text), &range)) {
            continue;
        }
        range = cidr_masked(&range);
        int mask = range.ip.length == 4 ? world->settings->node_mask_v4 : world->settings->node_mask_v6;

        if (mask < range.prefix) {
            continue;
        }
        struct str chosen = first_free(world, &range, mask);

        if (chosen.n == 0) {
            return false;
        }
        *LIST_ADD(world->arena, ret) = chosen;
    }
    return true;
}

static struct status *node_ipam_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct core_v1_node *node = world_find(world, &core_v1_node_kind, key);
    struct str_list chosen = {0};
    OWNED(buf_done) struct buf patch = {0};

    if (!world->settings->allocate_node_cidrs || node == NULL || node->metadata.deletion_timestamp != NULL ||
        node->spec.pod_cidrs.len > 0) {
        return NULL;
    }
    if (!choose(world, &chosen)) {
        plan_event(plan, &core_v1_node_kind, node, "Normal", "CIDRNotAvailable",
                   "Node %.*s status is now: CIDRNotAvailable", STR_ARG(node->metadata.name));
        plan_requeue_after(plan, INT64_C(30000000000));
        return NULL;
    }
    if (chosen.len == 0) {
        return NULL;
    }
    buf_printf(&patch, "{\"spec\":{\"podCIDR\":\"%.*s\",\"podCIDRs\":[", STR_ARG(chosen.items[0]));
    LIST_EACH(cidr, &chosen)
    {
        buf_printf(&patch, "%s\"%.*s\"", cidr == chosen.items ? "" : ",", STR_ARG(*cidr));
    }
    buf_printf(&patch, "]}}");
    plan_patch(plan, &core_v1_node_kind, node, arena_str(plan->arena, buf_str(&patch)));
    return NULL;
}

const struct controller node_ipam_controller = {
    .name = "node-ipam-controller",
    .account = "node-controller",
    .kind = &core_v1_node_kind,
    .serial = true, /* two nodes must not get one part */
    .plan = node_ipam_plan,
};
