/* Layers on their way: each blob that some pull needs lies in one file under ingest/, however many pulls wait for it,
 * until the last has unpacked it. Loop thread. */
#ifndef RUNTIME_IMAGES_BLOB_FETCH_H
#define RUNTIME_IMAGES_BLOB_FETCH_H

#include "runtime/images/registry.h"

struct blobs;
struct blob;

/* `directory` is the store's. */
struct blobs *blobs_new(struct str directory);
/* Nobody may hold a blob any more. NULL is fine. */
void blobs_free(struct blobs *blobs);

/* Parks until the blob is there whole and its digest has been verified; it stays until blob_drop(). Broken transfers
 * are taken up again where they ended, a few times. *received counts the bytes that come now. */
MUST_USE struct status *blobs_fetch(struct blobs *blobs, struct registry *registry, const struct descriptor *wanted,
                                    atomic_llong *received, struct blob **ret);
/* Its file. */
struct str blob_path(const struct blob *blob);
/* NULL is fine. */
void blob_drop(struct blob *blob);

#endif
