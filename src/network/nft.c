#include "network/nft.h"

#include "base/buf.h"
#include "base/mem.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <libnftnl/chain.h>
#include <libnftnl/common.h>
#include <libnftnl/expr.h>
#include <libnftnl/rule.h>
#include <libnftnl/set.h>
#include <libnftnl/table.h>
#include <libnftnl/udata.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A message is far smaller; a rule has a dozen expressions. */
enum { MESSAGE_BYTES = 16384, RECEIVE_BYTES = 65536, COMMENT_BYTES = 121 };

struct nft_batch {
    enum nft_family family;
    const char *table;
    struct buf messages;
    unsigned sequence;
};

struct nft_rule {
    struct nft_batch *batch;
    struct nftnl_rule *rule;
};

/* libnftnl fails to allocate only when there is no memory. */
static void *made(void *object)
{
    if (object == NULL) {
        mem_die("out of memory");
    }
    return object;
}

static struct status *failure(int error, const char *what)
{
    enum status_reason reason = error == EEXIST || error == EBUSY ? STATUS_ALREADY_EXISTS
                                : error == ENOENT                 ? STATUS_NOT_FOUND
                                                                  : STATUS_INTERNAL_ERROR;

    return status_new(reason, "nftables: %s: %s", what, strerror(error));
}

/* Batches */

static void add_marker(struct nft_batch *batch, bool is_end)
{
    char *place = buf_reserve(&batch->messages, MESSAGE_BYTES);
    struct nlmsghdr *header = is_end ? nftnl_batch_end(place, batch->sequence++)
                                     : nftnl_batch_begin(place, batch->sequence++);

    batch->messages.n += header->nlmsg_len;
}

struct nft_batch *nft_batch_new(enum nft_family family, const char *table)
{
    struct nft_batch *batch = MEM_NEW(struct nft_batch);

    batch->family = family;
    batch->table = table;
    add_marker(batch, false);
    return batch;
}

void nft_batch_free(struct nft_batch *batch)
{
    if (batch != NULL) {
        buf_done(&batch->messages);
        free(batch);
    }
}

void nft_batch_freep(struct nft_batch **batch)
{
    nft_batch_free(*batch);
}

static struct nlmsghdr *begin(struct nft_batch *batch, uint16_t type, uint16_t flags)
{
    char *place = buf_reserve(&batch->messages, MESSAGE_BYTES);

    return nftnl_nlmsg_build_hdr(place, type, (uint16_t)batch->family, flags, batch->sequence++);
}

static void end(struct nft_batch *batch, const struct nlmsghdr *header)
{
    batch->messages.n += header->nlmsg_len;
}

static struct status *open_socket(struct mnl_socket **ret)
{
    struct mnl_socket *sock = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);

    if (sock == NULL || mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID) < 0) {
        struct status *bad = failure(errno, "opening a netlink socket");

        if (sock != NULL) {
            mnl_socket_close(sock);
        }
        return bad;
    }
    *ret = sock;
    return NULL;
}

/* The kernel answers before sendto() returns, and only what it refuses: what can be read at once is all there is. */
static int first_error(struct mnl_socket *sock)
{
    char bytes[RECEIVE_BYTES];
    int error = 0;

    for (;;) {
        ssize_t size = recv(mnl_socket_get_fd(sock), bytes, sizeof(bytes), MSG_DONTWAIT);

        if (size <= 0) {
            return size < 0 && errno != EAGAIN && errno != EWOULDBLOCK && error == 0 ? errno : error;
        }
        int left = (int)size;

        for (struct nlmsghdr *at = (struct nlmsghdr *)bytes; mnl_nlmsg_ok(at, left); at = mnl_nlmsg_next(at, &left)) {
            const struct nlmsgerr *report = mnl_nlmsg_get_payload(at);

            if (at->nlmsg_type == NLMSG_ERROR && report->error != 0 && error == 0) {
                error = -report->error;
            }
        }
    }
}

struct status *nft_batch_commit(struct nft_batch *batch)
{
    struct mnl_socket *sock;
    int error = 0, size;

    add_marker(batch, true);
    size = (int)MIN(batch->messages.n + 65536, (size_t)INT32_MAX / 2);
    TRY(open_socket(&sock));
    /* Beyond the usual limit where we may; a small batch fits anyway. */
    (void)setsockopt(mnl_socket_get_fd(sock), SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
    if (mnl_socket_sendto(sock, batch->messages.p, batch->messages.n) < 0) {
        error = errno;
    } else {
        error = first_error(sock);
    }
    mnl_socket_close(sock);
    buf_clear(&batch->messages);
    add_marker(batch, false);
    return error != 0 ? failure(error, batch->table) : NULL;
}

/* Tables and chains */

static void put_table(struct nft_batch *batch, uint16_t type, uint16_t flags)
{
    struct nftnl_table *table = made(nftnl_table_alloc());
    struct nlmsghdr *header = begin(batch, type, flags);

    nftnl_table_set_str(table, NFTNL_TABLE_NAME, batch->table);
    nftnl_table_nlmsg_build_payload(header, table);
    nftnl_table_free(table);
    end(batch, header);
}

void nft_table_add(struct nft_batch *batch)
{
    put_table(batch, NFT_MSG_NEWTABLE, NLM_F_CREATE);
}

void nft_table_delete(struct nft_batch *batch)
{
    put_table(batch, NFT_MSG_DELTABLE, 0);
}

static void put_chain(struct nft_batch *batch, struct nftnl_chain *chain, const char *name)
{
    struct nlmsghdr *header = begin(batch, NFT_MSG_NEWCHAIN, NLM_F_CREATE);

    nftnl_chain_set_str(chain, NFTNL_CHAIN_TABLE, batch->table);
    nftnl_chain_set_str(chain, NFTNL_CHAIN_NAME, name);
    nftnl_chain_nlmsg_build_payload(header, chain);
    nftnl_chain_free(chain);
    end(batch, header);
}

void nft_chain_add(struct nft_batch *batch, const char *chain)
{
    put_chain(batch, made(nftnl_chain_alloc()), chain);
}

void nft_base_chain_add(struct nft_batch *batch, const char *name, const char *type, unsigned hook, int priority)
{
    struct nftnl_chain *chain = made(nftnl_chain_alloc());

    nftnl_chain_set_str(chain, NFTNL_CHAIN_TYPE, type);
    nftnl_chain_set_u32(chain, NFTNL_CHAIN_HOOKNUM, hook);
    nftnl_chain_set_s32(chain, NFTNL_CHAIN_PRIO, priority);
    nftnl_chain_set_u32(chain, NFTNL_CHAIN_POLICY, NF_ACCEPT);
    put_chain(batch, chain, name);
}

void nft_chain_flush(struct nft_batch *batch, const char *chain)
{
    struct nftnl_rule *rule = made(nftnl_rule_alloc());
    struct nlmsghdr *header = begin(batch, NFT_MSG_DELRULE, 0);

    nftnl_rule_set_str(rule, NFTNL_RULE_TABLE, batch->table);
    nftnl_rule_set_str(rule, NFTNL_RULE_CHAIN, chain);
    nftnl_rule_nlmsg_build_payload(header, rule);
    nftnl_rule_free(rule);
    end(batch, header);
}

/* Sets */

static size_t part_size(enum nft_part part)
{
    return part == NFT_PART_IPV6 ? 16 : 4;
}

size_t nft_parts_size(const enum nft_part parts[4])
{
    size_t size = 0;

    for (size_t i = 0; i < 4 && parts[i] != 0; i++) {
        size += part_size(parts[i]);
    }
    return size;
}

/* nft's name for the concatenation of these. */
static uint32_t parts_type(const enum nft_part parts[4])
{
    uint32_t type = 0;

    for (size_t i = 0; i < 4 && parts[i] != 0; i++) {
        type = type << 6 | (uint32_t)parts[i];
    }
    return type;
}

/* A single part's length is told as it is, without filling. */
static uint32_t parts_length(const enum nft_part parts[4])
{
    if (parts[1] != 0) {
        return (uint32_t)nft_parts_size(parts);
    }
    return parts[0] == NFT_PART_PROTOCOL ? 1 : parts[0] == NFT_PART_PORT ? 2 : (uint32_t)part_size(parts[0]);
}

void nft_set_add(struct nft_batch *batch, const struct nft_set *description)
{
    struct nftnl_set *set = made(nftnl_set_alloc());
    struct nlmsghdr *header = begin(batch, NFT_MSG_NEWSET, NLM_F_CREATE);

    nftnl_set_set_str(set, NFTNL_SET_TABLE, batch->table);
    nftnl_set_set_str(set, NFTNL_SET_NAME, description->name);
    nftnl_set_set_u32(set, NFTNL_SET_ID, batch->sequence);
    nftnl_set_set_u32(set, NFTNL_SET_FLAGS, description->data[0] != 0 ? NFT_SET_MAP : 0);
    nftnl_set_set_u32(set, NFTNL_SET_KEY_TYPE, parts_type(description->key));
    nftnl_set_set_u32(set, NFTNL_SET_KEY_LEN, parts_length(description->key));
    if (description->data[0] != 0) {
        nftnl_set_set_u32(set, NFTNL_SET_DATA_TYPE, parts_type(description->data));
        nftnl_set_set_u32(set, NFTNL_SET_DATA_LEN, parts_length(description->data));
    }
    nftnl_set_nlmsg_build_payload(header, set);
    nftnl_set_free(set);
    end(batch, header);
}

static void put_elements(struct nft_batch *batch, uint16_t type, uint16_t flags, const char *set_name,
                         struct nftnl_set_elem *element)
{
    struct nftnl_set *set = made(nftnl_set_alloc());
    struct nlmsghdr *header = begin(batch, type, flags);

    nftnl_set_set_str(set, NFTNL_SET_TABLE, batch->table);
    nftnl_set_set_str(set, NFTNL_SET_NAME, set_name);
    nftnl_set_elem_add(set, element);
    nftnl_set_elems_nlmsg_build_payload(header, set);
    nftnl_set_free(set); /* the element too */
    end(batch, header);
}

/* The comment with its head, as nft writes it: type, length, text with NUL. */
static struct nftnl_udata_buf *comment_data(struct str comment, uint8_t type)
{
    struct nftnl_udata_buf *data = made(nftnl_udata_buf_alloc(256));
    char text[COMMENT_BYTES] = {0};

    memcpy(text, comment.p, MIN(comment.n, sizeof(text) - 1));
    nftnl_udata_put_strz(data, type, text);
    return data;
}

void nft_element_add(struct nft_batch *batch, const char *set, const struct nft_element *element)
{
    struct nftnl_set_elem *item = made(nftnl_set_elem_alloc());

    nftnl_set_elem_set(item, NFTNL_SET_ELEM_KEY, element->key.p, (uint32_t)element->key.n);
    if (element->data.n > 0) {
        nftnl_set_elem_set(item, NFTNL_SET_ELEM_DATA, element->data.p, (uint32_t)element->data.n);
    }
    if (element->comment.n > 0) {
        struct nftnl_udata_buf *data = comment_data(element->comment, NFTNL_UDATA_SET_ELEM_COMMENT);

        nftnl_set_elem_set(item, NFTNL_SET_ELEM_USERDATA, nftnl_udata_buf_data(data), nftnl_udata_buf_len(data));
        nftnl_udata_buf_free(data);
    }
    put_elements(batch, NFT_MSG_NEWSETELEM, NLM_F_CREATE, set, item);
}

void nft_element_delete(struct nft_batch *batch, const char *set, struct str key)
{
    struct nftnl_set_elem *item = made(nftnl_set_elem_alloc());

    nftnl_set_elem_set(item, NFTNL_SET_ELEM_KEY, key.p, (uint32_t)key.n);
    put_elements(batch, NFT_MSG_DELSETELEM, 0, set, item);
}

/* Rules */

struct nft_rule *nft_rule_begin(struct nft_batch *batch, const char *chain)
{
    struct nft_rule *rule = MEM_NEW(struct nft_rule);

    rule->batch = batch;
    rule->rule = made(nftnl_rule_alloc());
    nftnl_rule_set_str(rule->rule, NFTNL_RULE_TABLE, batch->table);
    nftnl_rule_set_str(rule->rule, NFTNL_RULE_CHAIN, chain);
    return rule;
}

void nft_rule_end(struct nft_rule *rule)
{
    struct nlmsghdr *header = begin(rule->batch, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);

    nftnl_rule_nlmsg_build_payload(header, rule->rule);
    end(rule->batch, header);
    nftnl_rule_free(rule->rule);
    free(rule);
}

void nft_rule_comment(struct nft_rule *rule, const char *text)
{
    struct nftnl_udata_buf *data = comment_data(str_of(text), NFTNL_UDATA_RULE_COMMENT);

    nftnl_rule_set_data(rule->rule, NFTNL_RULE_USERDATA, nftnl_udata_buf_data(data), nftnl_udata_buf_len(data));
    nftnl_udata_buf_free(data);
}

static struct nftnl_expr *expression(struct nft_rule *rule, const char *name)
{
    struct nftnl_expr *made_one = made(nftnl_expr_alloc(name));

    nftnl_rule_add_expr(rule->rule, made_one);
    return made_one;
}

static void load(struct nft_rule *rule, uint32_t base, unsigned offset, unsigned size, unsigned to)
{
    struct nftnl_expr *payload = expression(rule, "payload");

    nftnl_expr_set_u32(payload, NFTNL_EXPR_PAYLOAD_BASE, base);
    nftnl_expr_set_u32(payload, NFTNL_EXPR_PAYLOAD_OFFSET, offset);
    nftnl_expr_set_u32(payload, NFTNL_EXPR_PAYLOAD_LEN, size);
    nftnl_expr_set_u32(payload, NFTNL_EXPR_PAYLOAD_DREG, to);
}

void nft_rule_load_network(struct nft_rule *rule, unsigned offset, unsigned size, unsigned to)
{
    load(rule, NFT_PAYLOAD_NETWORK_HEADER, offset, size, to);
}

void nft_rule_load_transport(struct nft_rule *rule, unsigned offset, unsigned size, unsigned to)
{
    load(rule, NFT_PAYLOAD_TRANSPORT_HEADER, offset, size, to);
}

void nft_rule_load_protocol(struct nft_rule *rule, unsigned to)
{
    struct nftnl_expr *meta = expression(rule, "meta");

    nftnl_expr_set_u32(meta, NFTNL_EXPR_META_KEY, NFT_META_L4PROTO);
    nftnl_expr_set_u32(meta, NFTNL_EXPR_META_DREG, to);
}

void nft_rule_mask(struct nft_rule *rule, unsigned at, const void *mask, size_t size)
{
    static const uint8_t zeros[16];
    struct nftnl_expr *bitwise = expression(rule, "bitwise");

    nftnl_expr_set_u32(bitwise, NFTNL_EXPR_BITWISE_SREG, at);
    nftnl_expr_set_u32(bitwise, NFTNL_EXPR_BITWISE_DREG, at);
    nftnl_expr_set_u32(bitwise, NFTNL_EXPR_BITWISE_LEN, (uint32_t)size);
    nftnl_expr_set(bitwise, NFTNL_EXPR_BITWISE_MASK, mask, (uint32_t)size);
    nftnl_expr_set(bitwise, NFTNL_EXPR_BITWISE_XOR, zeros, (uint32_t)size);
}

static void compare(struct nft_rule *rule, uint32_t operation, unsigned at, const void *bytes, size_t size)
{
    struct nftnl_expr *cmp = expression(rule, "cmp");

    nftnl_expr_set_u32(cmp, NFTNL_EXPR_CMP_SREG, at);
    nftnl_expr_set_u32(cmp, NFTNL_EXPR_CMP_OP, operation);
    nftnl_expr_set(cmp, NFTNL_EXPR_CMP_DATA, bytes, (uint32_t)size);
}

void nft_rule_is(struct nft_rule *rule, unsigned at, const void *bytes, size_t size)
{
    compare(rule, NFT_CMP_EQ, at, bytes, size);
}

void nft_rule_is_not(struct nft_rule *rule, unsigned at, const void *bytes, size_t size)
{
    compare(rule, NFT_CMP_NEQ, at, bytes, size);
}

void nft_rule_destination_is_local(struct nft_rule *rule)
{
    static const uint32_t local = RTN_LOCAL;
    struct nftnl_expr *fib = expression(rule, "fib");

    nftnl_expr_set_u32(fib, NFTNL_EXPR_FIB_RESULT, NFT_FIB_RESULT_ADDRTYPE);
    nftnl_expr_set_u32(fib, NFTNL_EXPR_FIB_FLAGS, NFTA_FIB_F_DADDR);
    nftnl_expr_set_u32(fib, NFTNL_EXPR_FIB_DREG, NFT_REGISTER(0));
    nft_rule_is(rule, NFT_REGISTER(0), &local, sizeof(local));
}

void nft_rule_is_dnat(struct nft_rule *rule)
{
    static const uint32_t mask = IPS_DST_NAT, none = 0;
    struct nftnl_expr *ct = expression(rule, "ct");

    nftnl_expr_set_u32(ct, NFTNL_EXPR_CT_KEY, NFT_CT_STATUS);
    nftnl_expr_set_u32(ct, NFTNL_EXPR_CT_DREG, NFT_REGISTER(0));
    nft_rule_mask(rule, NFT_REGISTER(0), &mask, sizeof(mask));
    nft_rule_is_not(rule, NFT_REGISTER(0), &none, sizeof(none));
}

void nft_rule_in_set(struct nft_rule *rule, const char *set, unsigned key_at)
{
    struct nftnl_expr *lookup = expression(rule, "lookup");

    nftnl_expr_set_u32(lookup, NFTNL_EXPR_LOOKUP_SREG, key_at);
    nftnl_expr_set_str(lookup, NFTNL_EXPR_LOOKUP_SET, set);
}

void nft_rule_in_map(struct nft_rule *rule, const char *map, unsigned key_at, unsigned to)
{
    struct nftnl_expr *lookup = expression(rule, "lookup");

    nftnl_expr_set_u32(lookup, NFTNL_EXPR_LOOKUP_SREG, key_at);
    nftnl_expr_set_u32(lookup, NFTNL_EXPR_LOOKUP_DREG, to);
    nftnl_expr_set_str(lookup, NFTNL_EXPR_LOOKUP_SET, map);
}

void nft_rule_dnat(struct nft_rule *rule, unsigned address_at, unsigned port_at)
{
    struct nftnl_expr *nat = expression(rule, "nat");

    nftnl_expr_set_u32(nat, NFTNL_EXPR_NAT_TYPE, NFT_NAT_DNAT);
    nftnl_expr_set_u32(nat, NFTNL_EXPR_NAT_FAMILY, (uint32_t)rule->batch->family);
    nftnl_expr_set_u32(nat, NFTNL_EXPR_NAT_REG_ADDR_MIN, address_at);
    nftnl_expr_set_u32(nat, NFTNL_EXPR_NAT_REG_PROTO_MIN, port_at);
}

void nft_rule_masquerade(struct nft_rule *rule)
{
    expression(rule, "masq");
}

static void verdict(struct nft_rule *rule, uint32_t code, const char *chain)
{
    struct nftnl_expr *immediate = expression(rule, "immediate");

    nftnl_expr_set_u32(immediate, NFTNL_EXPR_IMM_DREG, NFT_REG_VERDICT);
    nftnl_expr_set_u32(immediate, NFTNL_EXPR_IMM_VERDICT, code);
    if (chain != NULL) {
        nftnl_expr_set_str(immediate, NFTNL_EXPR_IMM_CHAIN, chain);
    }
}

void nft_rule_jump(struct nft_rule *rule, const char *chain)
{
    verdict(rule, (uint32_t)NFT_JUMP, chain);
}

void nft_rule_return(struct nft_rule *rule)
{
    verdict(rule, (uint32_t)NFT_RETURN, NULL);
}

/* Looking */

struct look {
    struct arena *arena;
    struct str comment, prefix;
    struct nft_elements elements;
    struct str_list names;
};

static struct status *look(struct nlmsghdr *header, mnl_cb_t each, struct look *about, const char *what)
{
    char bytes[RECEIVE_BYTES];
    struct mnl_socket *sock;
    int more = 1;

    TRY(open_socket(&sock));
    if (mnl_socket_sendto(sock, header, header->nlmsg_len) < 0) {
        more = -1;
    }
    while (more > 0) {
        ssize_t size = mnl_socket_recvfrom(sock, bytes, sizeof(bytes));

        more = size < 0 ? -1 : mnl_cb_run(bytes, (size_t)size, header->nlmsg_seq, mnl_socket_get_portid(sock), each,
                                          about);
    }
    struct status *bad = more < 0 ? failure(errno, what) : NULL;

    mnl_socket_close(sock);
    return bad;
}

static struct str comment_of(struct arena *arena, const void *data, size_t size, uint8_t type)
{
    const uint8_t *bytes = data;

    while (size >= 2 && (size_t)bytes[1] + 2 <= size) {
        if (bytes[0] == type && bytes[1] > 0) {
            return arena_str(arena, str_of(arena_cstr(arena, (struct str){(const char *)bytes + 2, bytes[1]})));
        }
        size -= (size_t)bytes[1] + 2;
        bytes += bytes[1] + 2;
    }
    return (struct str){0};
}

static int on_rule(const struct nlmsghdr *header, void *arg)
{
    struct look *about = arg;
    struct nftnl_rule *rule = made(nftnl_rule_alloc());
    uint32_t size = 0;

    if (about->comment.n == 0 && nftnl_rule_nlmsg_parse(header, rule) == 0) {
        const void *data = nftnl_rule_get_data(rule, NFTNL_RULE_USERDATA, &size);

        about->comment = comment_of(about->arena, data, data != NULL ? size : 0, NFTNL_UDATA_RULE_COMMENT);
    }
    nftnl_rule_free(rule);
    return MNL_CB_OK;
}

static int on_nothing(const struct nlmsghdr *header, void *arg)
{
    (void)header, (void)arg;
    return MNL_CB_OK;
}

struct status *nft_chain_comment(enum nft_family family, const char *table, const char *chain, struct arena *arena,
                                 struct str *ret)
{
    char bytes[1024] __attribute__((aligned(8)));
    struct look about = {.arena = arena};
    struct nlmsghdr *header = nftnl_nlmsg_build_hdr(bytes, NFT_MSG_GETCHAIN, (uint16_t)family, NLM_F_ACK, 1);

    /* A list of the rules of a chain that is not there is just empty. */
    mnl_attr_put_strz(header, NFTA_CHAIN_TABLE, table);
    mnl_attr_put_strz(header, NFTA_CHAIN_NAME, chain);
    TRY(look(header, on_nothing, &about, "looking for a chain"));
    header = nftnl_nlmsg_build_hdr(bytes, NFT_MSG_GETRULE, (uint16_t)family, NLM_F_DUMP, 2);
    mnl_attr_put_strz(header, NFTA_RULE_TABLE, table);
    mnl_attr_put_strz(header, NFTA_RULE_CHAIN, chain);
    TRY(look(header, on_rule, &about, "listing rules"));
    *ret = about.comment;
    return NULL;
}

static struct str bytes_of(struct arena *arena, const void *bytes, size_t size)
{
    return arena_str(arena, (struct str){bytes, bytes != NULL ? size : 0});
}

static int on_element(struct nftnl_set_elem *item, void *arg)
{
    struct look *about = arg;
    struct nft_element *element = LIST_ADD(about->arena, &about->elements);
    uint32_t key_size = 0, data_size = 0, user_size = 0;
    const void *key = nftnl_set_elem_get(item, NFTNL_SET_ELEM_KEY, &key_size);
    const void *data = nftnl_set_elem_get(item, NFTNL_SET_ELEM_DATA, &data_size);
    const void *user = nftnl_set_elem_get(item, NFTNL_SET_ELEM_USERDATA, &user_size);

    element->key = bytes_of(about->arena, key, key_size);
    element->data = bytes_of(about->arena, data, data_size);
    element->comment = comment_of(about->arena, user, user != NULL ? user_size : 0, NFTNL_UDATA_SET_ELEM_COMMENT);
    return 0;
}

static int on_elements(const struct nlmsghdr *header, void *arg)
{
    struct look *about = arg;
    struct nftnl_set *set = made(nftnl_set_alloc());

    if (nftnl_set_elems_nlmsg_parse(header, set) == 0) {
        nftnl_set_elem_foreach(set, on_element, about);
    }
    nftnl_set_free(set);
    return MNL_CB_OK;
}

struct status *nft_element_list(enum nft_family family, const char *table, const char *set, struct arena *arena,
                                struct nft_elements *ret)
{
    char bytes[1024] __attribute__((aligned(8)));
    struct look about = {.arena = arena};
    struct nlmsghdr *header = nftnl_nlmsg_build_hdr(bytes, NFT_MSG_GETSETELEM, (uint16_t)family, NLM_F_DUMP, 1);

    mnl_attr_put_strz(header, NFTA_SET_ELEM_LIST_TABLE, table);
    mnl_attr_put_strz(header, NFTA_SET_ELEM_LIST_SET, set);
    TRY(look(header, on_elements, &about, "listing elements"));
    *ret = about.elements;
    return NULL;
}

static int on_table(const struct nlmsghdr *header, void *arg)
{
    struct look *about = arg;
    struct nftnl_table *table = made(nftnl_table_alloc());

    if (nftnl_table_nlmsg_parse(header, table) == 0) {
        struct str name = str_of(nftnl_table_get_str(table, NFTNL_TABLE_NAME));

        if (str_has_prefix(name, about->prefix)) {
            *LIST_ADD(about->arena, &about->names) = arena_str(about->arena, name);
        }
    }
    nftnl_table_free(table);
    return MNL_CB_OK;
}

struct status *nft_table_list(enum nft_family family, struct str prefix, struct arena *arena, struct str_list *ret)
{
    char bytes[1024] __attribute__((aligned(8)));
    struct look about = {.arena = arena, .prefix = prefix};
    struct nlmsghdr *header = nftnl_nlmsg_build_hdr(bytes, NFT_MSG_GETTABLE, (uint16_t)family, NLM_F_DUMP, 1);

    TRY(look(header, on_table, &about, "listing tables"));
    *ret = about.names;
    return NULL;
}
