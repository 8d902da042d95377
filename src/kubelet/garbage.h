/* Which images and dead containers may go. Pure; image_collector.c carries it out. */
#ifndef KUBELET_GARBAGE_H
#define KUBELET_GARBAGE_H

#include "base/arena.h"

struct garbage_image {
    struct str id;
    int64_t size;
    int64_t detected, last_used; /* ns; last_used is that of the last look that found it in use */
    bool is_in_use, is_pinned;
};

struct garbage_image_policy {
    int high_percent, low_percent; /* of the image file system: 85, 80 */
    int64_t minimum_age;           /* ns: two minutes */
};

/* The images to delete, oldest use first, until usage falls to low_percent; none while usage is below high_percent.
 * `images` is put in that order; returns how many from its beginning. *ret_short (may be NULL): bytes that deleting all
 * eligible images still leaves above the low threshold. */
size_t garbage_images(struct garbage_image *images, size_t count, const struct garbage_image_policy *policy,
                      int64_t capacity, int64_t available, int64_t now, int64_t *ret_short);

struct garbage_container {
    struct str id, pod_uid, name;
    int64_t created;
    bool is_pod_gone; /* deleted, or its pod is being removed */
};

/* The dead containers to remove: all of pods that are gone, all but the newest `keep` of each container of others.
 * `containers` is put in order, those to remove first; returns their number. */
size_t garbage_containers(struct garbage_container *containers, size_t count, int keep);

#endif
