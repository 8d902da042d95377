/* What is in the kernel. */
#include "network/nft_parts.h"

#include <errno.h>
#include <libnftnl/common.h>
#include <libnftnl/rule.h>
#include <libnftnl/set.h>
#include <libnftnl/table.h>
#include <linux/netfilter/nf_tables.h>

enum { RECEIVE_BYTES = 65536 };

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

    TRY(nft_open_socket(&sock));
    if (mnl_socket_sendto(sock, header, header->nlmsg_len) < 0) {
        more = -1;
    }
    while (more > 0) {
        ssize_t size = mnl_socket_recvfrom(sock, bytes, sizeof(bytes));

        more = size < 0 ? -1 : mnl_cb_run(bytes, (size_t)size, header->nlmsg_seq, mnl_socket_get_portid(sock), each,
                                          about);
    }
    struct status *bad = more < 0 ? nft_failure(errno, what) : NULL;

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
    struct nftnl_rule *rule = nft_made(nftnl_rule_alloc());
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
    struct nftnl_set *set = nft_made(nftnl_set_alloc());

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
    struct nftnl_table *table = nft_made(nftnl_table_alloc());

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
