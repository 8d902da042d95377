/* Removes images that nobody uses when the disk fills up: looks every five minutes, and when eviction asks. */
#ifndef KUBELET_IMAGE_COLLECTOR_H
#define KUBELET_IMAGE_COLLECTOR_H

#include "kubelet/context.h"

struct image_collector *image_collector_new(struct kubelet *kubelet);
/* Its task has ended (kubelet->tasks). NULL is fine. */
void image_collector_free(struct image_collector *collector);
void image_collector_start(struct image_collector *collector);
/* Removes all images that are not in use, whatever their age. Parks. */
MUST_USE struct status *image_collector_remove_unused(struct image_collector *collector);
/* The file system of images, by the runtime; the kubelet's own where the runtime does not say. Parks. */
MUST_USE struct status *image_fs_usage(struct kubelet *kubelet, struct host_fs_usage *ret);

#endif
