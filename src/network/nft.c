#include "network/nft_parts.h"

#include <errno.h>
#include <libnftnl/chain.h>
#include <libnftnl/common.h>
#include <libnftnl/rule.h>
#include <libnftnl/set.h>
#include <libnftnl/table.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A message is far smaller; a rule has a dozen expressions. */
enum { MESSAGE_BYTES = 16384, RECEIVE_BYTES = 65536 };

struct status *nft_failure(int error, const char *what)
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

struct nlmsghdr *nft_begin(struct nft_batch *batch, uint16_t type, uint16_t flags)
{
    char *place = buf_reserve(&batch->messages, MESSAGE_BYTES);

    return nftnl_nlmsg_build_hdr(place, type, (uint16_t)batch->family, flags, batch->sequence++);
}

void nft_end(struct nft_batch *batch, const struct nlmsghdr *header)
{
    batch->messages.n += header->nlmsg_len;
}

struct status *nft_open_socket(struct mnl_socket **ret)
{
    struct mnl_socket *sock = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);

    if (sock == NULL || mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID) < 0) {
        struct status *bad = nft_failure(errno, "opening a netlink socket");

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
    TRY(nft_open_socket(&sock));
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
    return error != 0 ? nft_failure(error, batch->table) : NULL;
}

/* Tables and chains */

static void put_table(struct nft_batch *batch, uint16_t type, uint16_t flags)
{
    struct nftnl_table *table = nft_made(nftnl_table_alloc());
    struct nlmsghdr *header = nft_begin(batch, type, flags);

    nftnl_table_set_str(table, NFTNL_TABLE_NAME, batch->table);
    nftnl_table_nlmsg_build_payload(header, table);
    nftnl_table_free(table);
    nft_end(batch, header);
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
    struct nlmsghdr *header = nft_begin(batch, NFT_MSG_NEWCHAIN, NLM_F_CREATE);

    nftnl_chain_set_str(chain, NFTNL_CHAIN_TABLE, batch->table);
    nftnl_chain_set_str(chain, NFTNL_CHAIN_NAME, name);
    nftnl_chain_nlmsg_build_payload(header, chain);
    nftnl_chain_free(chain);
    nft_end(batch, header);
}

void nft_chain_add(struct nft_batch *batch, const char *chain)
{
    put_chain(batch, nft_made(nftnl_chain_alloc()), chain);
}

void nft_base_chain_add(struct nft_batch *batch, const char *name, const char *type, unsigned hook, int priority)
{
    struct nftnl_chain *chain = nft_made(nftnl_chain_alloc());

    nftnl_chain_set_str(chain, NFTNL_CHAIN_TYPE, type);
    nftnl_chain_set_u32(chain, NFTNL_CHAIN_HOOKNUM, hook);
    nftnl_chain_set_s32(chain, NFTNL_CHAIN_PRIO, priority);
    nftnl_chain_set_u32(chain, NFTNL_CHAIN_POLICY, NF_ACCEPT);
    put_chain(batch, chain, name);
}

void nft_chain_flush(struct nft_batch *batch, const char *chain)
{
    struct nftnl_rule *rule = nft_made(nftnl_rule_alloc());
    struct nlmsghdr *header = nft_begin(batch, NFT_MSG_DELRULE, 0);

    nftnl_rule_set_str(rule, NFTNL_RULE_TABLE, batch->table);
    nftnl_rule_set_str(rule, NFTNL_RULE_CHAIN, chain);
    nftnl_rule_nlmsg_build_payload(header, rule);
    nftnl_rule_free(rule);
    nft_end(batch, header);
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
    struct nftnl_set *set = nft_made(nftnl_set_alloc());
    struct nlmsghdr *header = nft_begin(batch, NFT_MSG_NEWSET, NLM_F_CREATE);

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
    nft_end(batch, header);
}

static void put_elements(struct nft_batch *batch, uint16_t type, uint16_t flags, const char *set_name,
                         struct nftnl_set_elem *element)
{
    struct nftnl_set *set = nft_made(nftnl_set_alloc());
    struct nlmsghdr *header = nft_begin(batch, type, flags);

    nftnl_set_set_str(set, NFTNL_SET_TABLE, batch->table);
    nftnl_set_set_str(set, NFTNL_SET_NAME, set_name);
    nftnl_set_elem_add(set, element);
    nftnl_set_elems_nlmsg_build_payload(header, set);
    nftnl_set_free(set); /* the element too */
    nft_end(batch, header);
}

struct nftnl_udata_buf *nft_comment_data(struct str comment, uint8_t type)
{
    struct nftnl_udata_buf *data = nft_made(nftnl_udata_buf_alloc(256));
    char text[NFT_COMMENT_BYTES] = {0};

    memcpy(text, comment.p, MIN(comment.n, sizeof(text) - 1));
    nftnl_udata_put_strz(data, type, text);
    return data;
}

void nft_element_add(struct nft_batch *batch, const char *set, const struct nft_element *element)
{
    struct nftnl_set_elem *item = nft_made(nftnl_set_elem_alloc());

    nftnl_set_elem_set(item, NFTNL_SET_ELEM_KEY, element->key.p, (uint32_t)element->key.n);
    if (element->data.n > 0) {
        nftnl_set_elem_set(item, NFTNL_SET_ELEM_DATA, element->data.p, (uint32_t)element->data.n);
    }
    if (element->comment.n > 0) {
        struct nftnl_udata_buf *data = nft_comment_data(element->comment, NFTNL_UDATA_SET_ELEM_COMMENT);

        nftnl_set_elem_set(item, NFTNL_SET_ELEM_USERDATA, nftnl_udata_buf_data(data), nftnl_udata_buf_len(data));
        nftnl_udata_buf_free(data);
    }
    put_elements(batch, NFT_MSG_NEWSETELEM, NLM_F_CREATE, set, item);
}

void nft_element_delete(struct nft_batch *batch, const char *set, struct str key)
{
    struct nftnl_set_elem *item = nft_made(nftnl_set_elem_alloc());

    nftnl_set_elem_set(item, NFTNL_SET_ELEM_KEY, key.p, (uint32_t)key.n);
    put_elements(batch, NFT_MSG_DELSETELEM, 0, set, item);
}
