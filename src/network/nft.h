/* nftables: tables, chains, rules, sets and maps of one address family, changed in one transaction (libnftnl).
 *
 * A batch collects changes to one table and carries all of them out or none. Adding a table, chain, set or element that
 * is there already is no error (an element of a map with other data is); adding a rule again adds a second one. Names
 * are borrowed until nft_batch_commit(). Keys and data are what lies in the kernel's registers: each part in network
 * order, filled up with zeros to a multiple of four bytes. All calls block; any thread, a batch in one at a time. */
#ifndef NETWORK_NFT_H
#define NETWORK_NFT_H

#include "base/arena.h"
#include "base/status.h"

#include <stdint.h>

enum nft_family { NFT_IPV4 = 2, NFT_INET = 1, NFT_IPV6 = 10 };

/* Parts of keys and data, by the number nft gives them; `nft list` shows values by it. */
enum nft_part { NFT_PART_IPV4 = 7, NFT_PART_IPV6 = 8, NFT_PART_PROTOCOL = 12, NFT_PART_PORT = 13 };

struct nft_batch;
struct nft_rule;

struct nft_batch *nft_batch_new(enum nft_family family, const char *table);
void nft_batch_free(struct nft_batch *batch);
/* For OWNED(nft_batch_freep). */
void nft_batch_freep(struct nft_batch **batch);
/* Sends it; the first thing the kernel refuses is the error: NOT_FOUND, ALREADY_EXISTS (also a map's element with other
 * data) or INTERNAL_ERROR. The batch is empty afterwards. */
MUST_USE struct status *nft_batch_commit(struct nft_batch *batch);

void nft_table_add(struct nft_batch *batch);
void nft_table_delete(struct nft_batch *batch);
void nft_chain_add(struct nft_batch *batch, const char *chain);
/* A chain the kernel enters: `type` "nat" or "filter", `hook` NF_INET_PRE_ROUTING, ... */
void nft_base_chain_add(struct nft_batch *batch, const char *chain, const char *type, unsigned hook, int priority);
/* Removes the chain's rules. */
void nft_chain_flush(struct nft_batch *batch, const char *chain);

/* With data parts it is a map. At most four parts each; a list ends with 0. */
struct nft_set {
    const char *name;
    enum nft_part key[4], data[4];
};
void nft_set_add(struct nft_batch *batch, const struct nft_set *set);
/* Bytes a key or the data of that set takes. */
size_t nft_parts_size(const enum nft_part parts[4]);

struct nft_element {
    struct str key, data; /* data empty: of a set */
    struct str comment;   /* at most 120 bytes; empty: none */
};
void nft_element_add(struct nft_batch *batch, const char *set, const struct nft_element *element);
/* NOT_FOUND for the whole batch when it is not there. */
void nft_element_delete(struct nft_batch *batch, const char *set, struct str key);

/* A rule is made of expressions that run in order on registers of four bytes, NFT_REGISTER(0) to (15); one that does not
 * hold ends the rule. nft_rule_end() appends it to the chain. */
#define NFT_REGISTER(i) (8u + (i))
struct nft_rule *nft_rule_begin(struct nft_batch *batch, const char *chain);
void nft_rule_end(struct nft_rule *rule);
/* Shown by `nft list`, and found by nft_chain_comment(). */
void nft_rule_comment(struct nft_rule *rule, const char *text);
void nft_rule_load_network(struct nft_rule *rule, unsigned offset, unsigned size, unsigned to);
void nft_rule_load_transport(struct nft_rule *rule, unsigned offset, unsigned size, unsigned to);
void nft_rule_load_protocol(struct nft_rule *rule, unsigned to);
void nft_rule_mask(struct nft_rule *rule, unsigned at, const void *mask, size_t size);
void nft_rule_is(struct nft_rule *rule, unsigned at, const void *bytes, size_t size);
void nft_rule_is_not(struct nft_rule *rule, unsigned at, const void *bytes, size_t size);
/* Holds when the destination is an address of this machine, or the connection's destination was translated. */
void nft_rule_destination_is_local(struct nft_rule *rule);
void nft_rule_is_dnat(struct nft_rule *rule);
/* Holds when the key is in the set; for a map its data is put at `to`. */
void nft_rule_in_set(struct nft_rule *rule, const char *set, unsigned key_at);
void nft_rule_in_map(struct nft_rule *rule, const char *map, unsigned key_at, unsigned to);
void nft_rule_dnat(struct nft_rule *rule, unsigned address_at, unsigned port_at);
void nft_rule_masquerade(struct nft_rule *rule);
void nft_rule_jump(struct nft_rule *rule, const char *chain);
void nft_rule_return(struct nft_rule *rule);

/* The comment of the chain's first rule that has one; empty when none has. NOT_FOUND without the chain. */
MUST_USE struct status *nft_chain_comment(enum nft_family family, const char *table, const char *chain,
                                          struct arena *arena, struct str *ret);
struct nft_elements {
    struct nft_element *items;
    size_t len;
};
MUST_USE struct status *nft_element_list(enum nft_family family, const char *table, const char *set,
                                         struct arena *arena, struct nft_elements *ret);
/* Names of the family's tables that begin with `prefix`. */
MUST_USE struct status *nft_table_list(enum nft_family family, struct str prefix, struct arena *arena,
                                       struct str_list *ret);

#endif
