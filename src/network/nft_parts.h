/* What the files of nftables share: nft.c has batches, tables, chains and sets, nft_rule.c rules, nft_look.c what the
 * kernel tells. */
#ifndef NETWORK_NFT_PARTS_H
#define NETWORK_NFT_PARTS_H

#include "base/buf.h"
#include "base/mem.h"
#include "network/nft.h"

#include <libmnl/libmnl.h>
#include <libnftnl/udata.h>

enum { NFT_COMMENT_BYTES = 121 };

struct nft_batch {
    enum nft_family family;
    const char *table;
    struct buf messages;
    unsigned sequence;
};

/* libnftnl fails to allocate only when there is no memory. */
static inline void *nft_made(void *object)
{
    if (object == NULL) {
        mem_die("out of memory");
    }
    return object;
}

struct status *nft_failure(int error, const char *what);
struct status *nft_open_socket(struct mnl_socket **ret);
/* A message of the batch, to be filled between. */
struct nlmsghdr *nft_begin(struct nft_batch *batch, uint16_t type, uint16_t flags);
void nft_end(struct nft_batch *batch, const struct nlmsghdr *header);
/* The comment with its head, as nft writes it: type, length, text with NUL. */
struct nftnl_udata_buf *nft_comment_data(struct str comment, uint8_t type);

#endif
