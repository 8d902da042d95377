#include "network/host_nat.h"

#include "base/buf.h"
#include "network/nft.h"

#include <netinet/in.h> /* before the kernel's, which then leave its names alone */

#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <string.h>

/* Changes when the rules below do, so that tables of an older c8s are made anew. */
#define LAYOUT "1"

/* How one family's packets look. */
struct family {
    enum nft_family nft;
    uint8_t length;                     /* of an address */
    unsigned source_at, destination_at; /* in the network header */
    enum nft_part part;
    struct nft_set hairpins;   /* address . address: a pod talking to itself through a translation */
    struct nft_set ports;      /* protocol . port -> address . port */
    struct nft_set host_ports; /* host's address . protocol . port -> address . port */
};

#define FAMILY(family, bytes, source, destination, ip)                                             \
    {                                                                                              \
        .nft = family, .length = bytes, .source_at = source, .destination_at = destination,       \
        .part = ip, .hairpins = {"hairpins", {ip, ip}, {0}},                                       \
        .ports = {"ports", {NFT_PART_PROTOCOL, NFT_PART_PORT}, {ip, NFT_PART_PORT}},               \
        .host_ports = {"host-ports", {ip, NFT_PART_PROTOCOL, NFT_PART_PORT}, {ip, NFT_PART_PORT}}, \
    }
static const struct family families[] = {
    FAMILY(NFT_IPV4, 4, 12, 16, NFT_PART_IPV4),
    FAMILY(NFT_IPV6, 16, 8, 24, NFT_PART_IPV6),
};

/* Rules */

static void mask_of(uint8_t prefix, uint8_t mask[16])
{
    memset(mask, 0, 16);
    for (unsigned bit = 0; bit < prefix; bit++) {
        mask[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
    }
}

static void is_in(struct nft_rule *rule, unsigned offset, const struct cidr *cidr)
{
    struct cidr masked = cidr_masked(cidr);
    uint8_t mask[16];

    mask_of(cidr->prefix, mask);
    nft_rule_load_network(rule, offset, cidr->ip.length, NFT_REGISTER(0));
    nft_rule_mask(rule, NFT_REGISTER(0), mask, cidr->ip.length);
    nft_rule_is(rule, NFT_REGISTER(0), masked.ip.bytes, cidr->ip.length);
}

static bool is_of(const struct family *family, const struct cidr *cidr)
{
    return cidr->ip.length == family->length;
}

/* Chain "outside" is entered with what comes from a pod: it returns for what stays near, and masquerades the rest. */
static void add_outside(struct nft_batch *batch, const struct family *family, const struct host_nat *nat)
{
    static const struct cidr multicast[] = {{{{224}, 4}, 4}, {{{0xff}, 16}, 8}};
    const struct host_nat_cidrs near[] = {nat->subnets, nat->near, {(struct cidr *)multicast, COUNT_OF(multicast)}};
    struct nft_rule *rule;

    for (size_t i = 0; i < COUNT_OF(near); i++) {
        LIST_EACH(cidr, &near[i]) {
            if (is_of(family, cidr)) {
                rule = nft_rule_begin(batch, "outside");
                is_in(rule, family->destination_at, cidr);
                nft_rule_return(rule);
                nft_rule_end(rule);
            }
        }
    }
    rule = nft_rule_begin(batch, "outside");
    nft_rule_masquerade(rule);
    nft_rule_end(rule);
}

static void add_leaving(struct nft_batch *batch, const struct family *family, const struct host_nat *nat,
                        const char *digest)
{
    static const struct cidr localhost = {{{127}, 4}, 8};
    struct nft_rule *rule = nft_rule_begin(batch, "postrouting");

    nft_rule_comment(rule, digest);
    nft_rule_is_dnat(rule);
    nft_rule_load_network(rule, family->source_at, family->length, NFT_REGISTER(0));
    nft_rule_load_network(rule, family->destination_at, family->length, NFT_REGISTER(family->length / 4u));
    nft_rule_in_set(rule, family->hairpins.name, NFT_REGISTER(0));
    nft_rule_masquerade(rule);
    nft_rule_end(rule);
    LIST_EACH(subnet, &nat->subnets) {
        if (!is_of(family, subnet)) {
            continue;
        }
        if (family->length == 4) { /* the kernel has no such thing for ::1 */
            rule = nft_rule_begin(batch, "postrouting");
            nft_rule_is_dnat(rule);
            is_in(rule, family->source_at, &localhost);
            is_in(rule, family->destination_at, subnet);
            nft_rule_masquerade(rule);
            nft_rule_end(rule);
        }
        if (nat->is_bridged) {
            rule = nft_rule_begin(batch, "postrouting");
            nft_rule_is_dnat(rule);
            is_in(rule, family->source_at, subnet);
            is_in(rule, family->destination_at, subnet);
            nft_rule_masquerade(rule);
            nft_rule_end(rule);
        }
        if (nat->masquerades) {
            rule = nft_rule_begin(batch, "postrouting");
            is_in(rule, family->source_at, subnet);
            nft_rule_jump(rule, "outside");
            nft_rule_end(rule);
        }
    }
}

/* What comes for this machine, from outside or from itself. */
static void add_coming(struct nft_batch *batch, const struct family *family)
{
    static const char *const chains[] = {"prerouting", "output"};
    unsigned words = family->length / 4u;
    struct nft_rule *rule;

    for (size_t i = 0; i < COUNT_OF(chains); i++) {
        rule = nft_rule_begin(batch, chains[i]);
        nft_rule_destination_is_local(rule);
        nft_rule_jump(rule, "host-ports");
        nft_rule_end(rule);
    }
    rule = nft_rule_begin(batch, "host-ports");
    nft_rule_load_network(rule, family->destination_at, family->length, NFT_REGISTER(0));
    nft_rule_load_protocol(rule, NFT_REGISTER(words));
    nft_rule_load_transport(rule, 2, 2, NFT_REGISTER(words + 1));
    nft_rule_in_map(rule, family->host_ports.name, NFT_REGISTER(0), NFT_REGISTER(0));
    nft_rule_dnat(rule, NFT_REGISTER(0), NFT_REGISTER(words));
    nft_rule_end(rule);
    rule = nft_rule_begin(batch, "host-ports");
    nft_rule_load_protocol(rule, NFT_REGISTER(0));
    nft_rule_load_transport(rule, 2, 2, NFT_REGISTER(1));
    nft_rule_in_map(rule, family->ports.name, NFT_REGISTER(0), NFT_REGISTER(0));
    nft_rule_dnat(rule, NFT_REGISTER(0), NFT_REGISTER(words));
    nft_rule_end(rule);
}

static void add_table(struct nft_batch *batch, const struct family *family, const struct host_nat *nat,
                      const char *digest)
{
    static const char *const own[] = {"outside", "host-ports"};
    static const char *const all[] = {"outside", "host-ports", "prerouting", "output", "postrouting"};

    nft_table_add(batch);
    for (size_t i = 0; i < COUNT_OF(own); i++) {
        nft_chain_add(batch, own[i]);
    }
    nft_base_chain_add(batch, "prerouting", "nat", NF_INET_PRE_ROUTING, NF_IP_PRI_NAT_DST);
    nft_base_chain_add(batch, "output", "nat", NF_INET_LOCAL_OUT, NF_IP_PRI_NAT_DST);
    nft_base_chain_add(batch, "postrouting", "nat", NF_INET_POST_ROUTING, NF_IP_PRI_NAT_SRC);
    nft_set_add(batch, &family->hairpins);
    nft_set_add(batch, &family->ports);
    nft_set_add(batch, &family->host_ports);
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        nft_chain_flush(batch, all[i]);
    }
    add_leaving(batch, family, nat, digest);
    add_coming(batch, family);
    if (nat->masquerades) {
        add_outside(batch, family, nat);
    }
}

static void add_cidrs(struct buf *out, struct arena *arena, char mark, const struct host_nat_cidrs *cidrs)
{
    LIST_EACH(cidr, cidrs) {
        buf_printf(out, " %c%.*s", mark, STR_ARG(cidr_format(arena, cidr)));
    }
}

/* What the rules were made of, short enough for a comment. */
static struct str digest_of(struct arena *arena, const struct host_nat *nat)
{
    OWNED(buf_done) struct buf text = {0};

    buf_printf(&text, LAYOUT " %d %d", nat->masquerades, nat->is_bridged);
    add_cidrs(&text, arena, 's', &nat->subnets);
    add_cidrs(&text, arena, 'n', &nat->near);
    return arena_printf(arena, "c8s " LAYOUT " %016llx", (unsigned long long)str_hash(buf_str(&text)));
}

/* Elements */

static uint8_t protocol_number(struct str protocol)
{
    return str_eq_nocase(protocol, STR("udp")) ? IPPROTO_UDP : str_eq_nocase(protocol, STR("sctp")) ? IPPROTO_SCTP
                                                                                                     : IPPROTO_TCP;
}

static void put_ip(struct buf *out, const struct ip *ip)
{
    buf_add(out, ip->bytes, ip->length);
}

static void put_protocol(struct buf *out, struct str protocol)
{
    const uint8_t bytes[4] = {protocol_number(protocol)};

    buf_add(out, bytes, sizeof(bytes));
}

static void put_port(struct buf *out, int32_t port)
{
    const uint8_t bytes[4] = {(uint8_t)(port >> 8), (uint8_t)port};

    buf_add(out, bytes, sizeof(bytes));
}

static struct str taken(struct arena *arena, struct buf *out)
{
    struct str bytes = arena_str(arena, buf_str(out));

    buf_clear(out);
    return bytes;
}

struct pod_element {
    const char *set;
    struct nft_element element;
};

struct pod_elements {
    struct pod_element *items;
    size_t len;
};

static bool is_unspecified(const struct ip *ip)
{
    static const uint8_t zeros[16];

    return memcmp(ip->bytes, zeros, ip->length) == 0;
}

static void add_port(struct arena *arena, const struct family *family, const struct ip *address,
                     const struct cni_port_mapping *port, struct str owner, struct pod_elements *elements)
{
    OWNED(buf_done) struct buf bytes = {0};
    struct ip host = {0};
    bool has_host = ip_parse(port->host_ip, &host);

    if (has_host && host.length != family->length) {
        return;
    }
    bool is_any = !has_host || is_unspecified(&host);
    struct pod_element *item = LIST_ADD(arena, elements);

    if (!is_any) {
        put_ip(&bytes, &host);
    }
    put_protocol(&bytes, port->protocol);
    put_port(&bytes, port->host_port);
    item->set = is_any ? family->ports.name : family->host_ports.name;
    item->element.key = taken(arena, &bytes);
    put_ip(&bytes, address);
    put_port(&bytes, port->container_port);
    item->element.data = taken(arena, &bytes);
    item->element.comment = owner;
}

static struct str owner_of(struct arena *arena, struct str container, struct str interface)
{
    return str_sub(arena_printf(arena, "%.*s %.*s", STR_ARG(container), STR_ARG(interface)), 0, 120);
}

static struct pod_elements elements_of(struct arena *arena, const struct family *family,
                                       const struct host_nat_pod *pod)
{
    struct str owner = owner_of(arena, pod->container, pod->interface);
    struct pod_elements elements = {0};

    LIST_EACH(address, &pod->addresses) {
        OWNED(buf_done) struct buf bytes = {0};

        if (address->length != family->length) {
            continue;
        }
        put_ip(&bytes, address);
        put_ip(&bytes, address);
        *LIST_ADD(arena, &elements) =
            (struct pod_element){family->hairpins.name, {.key = taken(arena, &bytes), .comment = owner}};
        LIST_EACH(port, &pod->ports) {
            add_port(arena, family, address, port, owner, &elements);
        }
    }
    return elements;
}

/* The rules are there as they should be. */
static struct status *is_made(struct arena *arena, const struct family *family, const char *table, struct str digest,
                              bool *ret)
{
    struct str comment = {0};
    struct status *bad = nft_chain_comment(family->nft, table, "postrouting", arena, &comment);

    *ret = bad == NULL && str_eq(comment, digest);
    return status_free_if(&bad, STATUS_NOT_FOUND) ? NULL : bad;
}

static struct status *add_to_family(struct arena *arena, const struct family *family, const struct host_nat *nat,
                                    const struct host_nat_pod *pod)
{
    struct pod_elements elements = elements_of(arena, family, pod);
    struct str digest = digest_of(arena, nat);
    const char *table = arena_cstr(arena, nat->table);
    bool made = false;

    if (elements.len == 0) {
        return NULL;
    }
    OWNED(nft_batch_freep) struct nft_batch *batch = nft_batch_new(family->nft, table);

    TRY(is_made(arena, family, table, digest, &made));
    if (!made) {
        add_table(batch, family, nat, digest.p);
    }
    LIST_EACH(item, &elements) {
        nft_element_add(batch, item->set, &item->element);
    }
    struct status *bad = nft_batch_commit(batch);

    return status_is(bad, STATUS_ALREADY_EXISTS) ? status_while(bad, "a host port is in use by another pod") : bad;
}

struct status *host_nat_add(const struct host_nat *nat, const struct host_nat_pod *pod)
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(families); i++) {
        TRY(add_to_family(arena, &families[i], nat, pod));
    }
    return NULL;
}

/* Which owners to remove. */
struct choice {
    struct str owner; /* this one, or */
    bool (*is_valid)(void *arg, struct str container, struct str interface);
    void *arg;
};

static bool is_chosen(const struct choice *choice, struct str owner)
{
    struct str container, interface;

    if (choice->is_valid == NULL) {
        return str_eq(owner, choice->owner);
    }
    str_cut(owner, ' ', &container, &interface);
    return !choice->is_valid(choice->arg, container, interface);
}

static struct status *remove_from_family(struct arena *arena, const struct family *family, const char *table,
                                         const struct choice *choice)
{
    const char *const sets[] = {family->hairpins.name, family->ports.name, family->host_ports.name};
    OWNED(nft_batch_freep) struct nft_batch *batch = nft_batch_new(family->nft, table);
    size_t count = 0;

    for (size_t i = 0; i < COUNT_OF(sets); i++) {
        struct nft_elements elements = {0};
        struct status *bad = nft_element_list(family->nft, table, sets[i], arena, &elements);

        if (!status_free_if(&bad, STATUS_NOT_FOUND)) {
            TRY(bad);
        }
        LIST_EACH(element, &elements) {
            if (is_chosen(choice, element->comment)) {
                nft_element_delete(batch, sets[i], element->key);
                count++;
            }
        }
    }
    return count > 0 ? nft_batch_commit(batch) : NULL;
}

static struct status *remove_chosen(struct str table, const struct choice *choice)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    enum { TRIES = 5 };

    for (size_t i = 0; i < COUNT_OF(families); i++) {
        struct status *bad = NULL;

        /* Someone else may remove the same at the same time. */
        for (int tries = 0; tries < TRIES; tries++) {
            bad = remove_from_family(arena, &families[i], arena_cstr(arena, table), choice);
            if (tries + 1 == TRIES || !status_free_if(&bad, STATUS_NOT_FOUND)) {
                break;
            }
        }
        TRY(bad);
    }
    return NULL;
}

struct status *host_nat_remove(struct str table, struct str container, struct str interface)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct choice choice = {.owner = owner_of(arena, container, interface)};

    return remove_chosen(table, &choice);
}

struct status *host_nat_collect(struct str table,
                                bool (*is_valid)(void *arg, struct str container, struct str interface), void *arg)
{
    struct choice choice = {.is_valid = is_valid, .arg = arg};

    return remove_chosen(table, &choice);
}

static bool has_element(const struct nft_elements *elements, const struct nft_element *wanted)
{
    LIST_EACH(element, elements) {
        if (str_eq(element->key, wanted->key) && str_eq(element->data, wanted->data)) {
            return true;
        }
    }
    return false;
}

struct status *host_nat_check(const struct host_nat *nat, const struct host_nat_pod *pod)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const char *table = arena_cstr(arena, nat->table);

    for (size_t i = 0; i < COUNT_OF(families); i++) {
        struct pod_elements wanted = elements_of(arena, &families[i], pod);
        bool made = false;

        if (wanted.len == 0) {
            continue;
        }
        TRY(is_made(arena, &families[i], table, digest_of(arena, nat), &made));
        if (!made) {
            return status_new(STATUS_NOT_FOUND, "the rules of nftables table %s are missing", table);
        }
        LIST_EACH(item, &wanted) {
            struct nft_elements elements;

            TRY(nft_element_list(families[i].nft, table, item->set, arena, &elements));
            if (!has_element(&elements, &item->element)) {
                return status_new(STATUS_NOT_FOUND, "an element of the pod is missing from %s of nftables table %s",
                                  item->set, table);
            }
        }
    }
    return NULL;
}
