#include "apiserver/registry/service_pool.h"

#include "base/env.h"

#include <string.h>

static struct status *open_ranges(struct service_pool *pool, const struct apiserver_options *options)
{
    struct str rest = options->service_cluster_ip_range, text, first, last;
    int64_t low, high;

    while (str_next(&rest, ',', &text) && pool->range_count < SERVICE_RANGES_MAX) {
        struct cidr cidr;

        if (!cidr_parse(str_trim(text), &cidr)) {
            return status_new(STATUS_INTERNAL_ERROR, "--service-cluster-ip-range: \"%.*s\" is no CIDR", STR_ARG(text));
        }
        pool->ranges[pool->range_count] = cidr_masked(&cidr);
        pool->range_texts[pool->range_count++] = str_trim(text);
    }
    str_cut(options->service_node_port_range, '-', &first, &last);
    if (!str_to_i64(first, &low) || !str_to_i64(last, &high) || low < 1 || high > 65535 || low > high) {
        return status_new(STATUS_INTERNAL_ERROR, "--service-node-port-range: \"%.*s\" is no range of ports",
                          STR_ARG(options->service_node_port_range));
    }
    pool->port_first = (int)low;
    pool->port_last = (int)high;
    return NULL;
}

bool service_pool_has_port(const struct service_pool *pool, int port)
{
    return port > 0 && port < 65536 && (pool->ports[port / 8] & (1 << port % 8)) != 0;
}

void service_pool_use_port(struct service_pool *pool, int port)
{
    if (port > 0 && port < 65536) {
        pool->ports[port / 8] |= (uint8_t)(1 << port % 8);
    }
}

static void use_service(struct service_pool *pool, const struct core_v1_service *service)
{
    LIST_EACH(text, &service->spec.cluster_ips) {
        struct ip ip;

        if (ip_parse(*text, &ip)) {
            map_set(&pool->addresses, ip_format(pool->arena, &ip), pool);
        }
    }
    LIST_EACH(port, &service->spec.ports) {
        service_pool_use_port(pool, port->node_port);
    }
    service_pool_use_port(pool, service->spec.health_check_node_port);
}

struct status *service_pool_open(struct service_pool *pool, struct apiserver *server, struct arena *arena,
                                 struct str uid)
{
    const struct resource *resource = apiserver_resource(server, "", "v1", "services");
    OWNED(watch_snapshot_done) struct watch_snapshot snapshot = {0};
    struct watch_snapshot_walk walk;

    memset(pool, 0, sizeof *pool);
    pool->arena = arena;
    TRY(open_ranges(pool, server->options));
    TRY(watch_cache_snapshot(resource->cache, FRESH_LATEST, 0, &snapshot));
    watch_snapshot_walk(&walk, &snapshot, (struct str){0}, (struct str){0});
    for (struct stored *stored; (stored = watch_snapshot_next(&walk)) != NULL;) {
        const void *object;

        TRY(stored_object(stored, &object));
        if (!str_eq(((const struct core_v1_service *)object)->metadata.uid, uid)) {
            use_service(pool, object);
        }
    }
    return NULL;
}

void service_pool_done(struct service_pool *pool)
{
    map_done(&pool->addresses);
}

int service_pool_take_port(struct service_pool *pool)
{
    int count = pool->port_last - pool->port_first + 1;
    int from = pool->is_dry_run ? 0 : (int)env_random_below((uint64_t)count);

    for (int i = 0; i < count; i++) {
        int port = pool->port_first + (from + i) % count;

        if (!service_pool_has_port(pool, port)) {
            service_pool_use_port(pool, port);
            return port;
        }
    }
    return 0;
}

/* The address at that distance from the range's first. */
static struct ip address_at(const struct cidr *range, uint64_t offset)
{
    struct ip ip = range->ip;

    for (int i = ip.length - 1; i >= 0 && offset != 0; i--, offset >>= 8) {
        ip.bytes[i] = (uint8_t)(ip.bytes[i] | (offset & 0xff));
    }
    return ip;
}

struct str service_pool_take_address(struct service_pool *pool, size_t range)
{
    const struct cidr *cidr = &pool->ranges[range];
    unsigned bits = cidr->ip.length * 8u - cidr->prefix;
    uint64_t size = UINT64_C(1) << (bits > 32 ? 32 : bits);
    /* the network's and the broadcast address are never given away, and the low addresses last: people ask for those */
    uint64_t last = size > 2 ? size - 2 : size - 1;
    uint64_t low = MIN(MAX(UINT64_C(16), size / 16), UINT64_C(256));
    uint64_t from = last <= low ? 1 : pool->is_dry_run ? low : low + env_random_below(last - low + 1);

    for (uint64_t i = 0; i < MIN(last, UINT64_C(1) << 20); i++) {
        uint64_t offset = 1 + (from - 1 + i) % last;
        struct ip ip = address_at(cidr, offset);
        struct str text = ip_format(pool->arena, &ip);

        if (map_find(&pool->addresses, text) == NULL) {
            map_set(&pool->addresses, text, pool);
            return text;
        }
    }
    return (struct str){0};
}
