/* How images get into a store and out of it again: what imports, pulls and the store itself share. Functions that take
 * a directory (the store's) and snapshots are blocking and for any thread. */
#ifndef RUNTIME_IMAGES_IMAGE_PARTS_H
#define RUNTIME_IMAGES_IMAGE_PARTS_H

#include "runtime/images/image_names.h"
#include "runtime/images/image_store.h"
#include "runtime/images/manifest.h"

/* Names were written or removed: the next look reads them anew. Loop thread. */
void image_store_changed(struct image_store *store);

/* image_store_collect() itself. When somebody is adding images, a mark is left instead. */
MUST_USE struct status *images_collect(struct str directory, struct snapshots *snapshots);
MUST_USE struct status *images_blob_usage(struct str directory, int64_t *ret_bytes, int64_t *ret_inodes);

/* Ends a hold (snapshots_hold), and does the collection that was asked for meanwhile. */
void images_release(struct str directory, struct snapshots *snapshots, int hold);

/* Manifest and configuration belong together: as many diff IDs as layers. */
MUST_USE struct status *images_check_layers(const struct manifest *manifest, const struct image_config *config);

#endif
