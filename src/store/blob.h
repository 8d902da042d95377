/* Immutable bytes with a count of their users: an encoded object is made once and the same bytes go to the store's log,
 * into lists and to every watcher. Counting is atomic: references may be taken and given back on any thread. */
#ifndef STORE_BLOB_H
#define STORE_BLOB_H

#include "base/str.h"

struct blob {
    uint32_t refs;
    uint32_t n;
    char p[]; /* n bytes and a NUL past the end; may be written until the blob is shared */
};

/* A blob of `size` bytes (below 4 GiB) with one reference, contents yet to be written. */
struct blob *blob_new(size_t size);
struct blob *blob_of(struct str bytes);
/* Returns `blob`; NULL is fine for all of these. */
struct blob *blob_ref(struct blob *blob);
void blob_unref(struct blob *blob);
/* For OWNED(blob_unrefp). */
void blob_unrefp(struct blob **blob);
/* The bytes, borrowed; empty for NULL. */
struct str blob_str(const struct blob *blob);

#endif
