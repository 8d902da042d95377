/* Rules: what a packet must be, and what becomes of it. */
#include "network/nft_parts.h"

#include <libnftnl/expr.h>
#include <libnftnl/rule.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

struct nft_rule {
    struct nft_batch *batch;
    struct nftnl_rule *rule;
};

struct nft_rule *nft_rule_begin(struct nft_batch *batch, const char *chain)
{
    struct nft_rule *rule = MEM_NEW(struct nft_rule);

    rule->batch = batch;
    rule->rule = nft_made(nftnl_rule_alloc());
    nftnl_rule_set_str(rule->rule, NFTNL_RULE_TABLE, batch->table);
    nftnl_rule_set_str(rule->rule, NFTNL_RULE_CHAIN, chain);
    return rule;
}

void nft_rule_end(struct nft_rule *rule)
{
    struct nlmsghdr *header = nft_begin(rule->batch, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);

    nftnl_rule_nlmsg_build_payload(header, rule->rule);
    nft_end(rule->batch, header);
    nftnl_rule_free(rule->rule);
    free(rule);
}

void nft_rule_comment(struct nft_rule *rule, const char *text)
{
    struct nftnl_udata_buf *data = nft_comment_data(str_of(text), NFTNL_UDATA_RULE_COMMENT);

    nftnl_rule_set_data(rule->rule, NFTNL_RULE_USERDATA, nftnl_udata_buf_data(data), nftnl_udata_buf_len(data));
    nftnl_udata_buf_free(data);
}

static struct nftnl_expr *expression(struct nft_rule *rule, const char *name)
{
    struct nftnl_expr *made_one = nft_made(nftnl_expr_alloc(name));

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
