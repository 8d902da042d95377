/* Pulls images from registries into a store. Pulls of the same image at the same time are one; layers that several
 * pulls need come once; what came before a failure is gone on from. Loop thread. */
#ifndef RUNTIME_IMAGES_IMAGE_PULL_H
#define RUNTIME_IMAGES_IMAGE_PULL_H

#include "runtime/images/image_store.h"
#include "runtime/images/registries.h"

struct image_puller;

/* The store is lent; `registries_file` is read for each pull, empty: none. */
struct image_puller *image_puller_new(struct image_store *store, struct str registries_file);
/* Breaks off all pulls and parks until they have ended. NULL is fine. */
void image_puller_free(struct image_puller *puller);

struct pull_progress {
    int64_t bytes_done, bytes_total; /* of layers that have to come; 0 until the manifest is known */
    size_t layers_done, layers_total;
};

/* Parks until the image is there; the caller gets a count. Errors read as stock's: `failed to pull and unpack image
 * "docker.io/library/x:y": failed to resolve reference ...`; NOT_FOUND when there is no such image. A cancelled caller
 * leaves; the pull ends when the last has left. `auth` may be NULL. */
MUST_USE struct status *image_pull(struct image_puller *puller, struct str reference, const struct registry_auth *auth,
                                   struct image **ret);
/* How far the pull of that reference is; false when there is none. */
bool image_pull_progress(struct image_puller *puller, struct str reference, struct pull_progress *ret);

#endif
