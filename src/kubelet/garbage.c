#include "kubelet/garbage.h"

#include <stdlib.h>

static int compare_images(const void *a, const void *b)
{
    const struct garbage_image *left = a, *right = b;

    if (left->last_used != right->last_used) {
        return left->last_used < right->last_used ? -1 : 1;
    }
    if (left->detected != right->detected) {
        return left->detected < right->detected ? -1 : 1;
    }
    return str_cmp(left->id, right->id);
}

static bool may_go(const struct garbage_image *image, const struct garbage_image_policy *policy, int64_t now)
{
    return !image->is_in_use && !image->is_pinned && now - image->detected >= policy->minimum_age;
}

size_t garbage_images(struct garbage_image *images, size_t count, const struct garbage_image_policy *policy,
                      int64_t capacity, int64_t available, int64_t now, int64_t *ret_short)
{
    int64_t used_percent = capacity > 0 ? 100 - available * 100 / capacity : 0;
    int64_t wanted = capacity * (100 - policy->low_percent) / 100 - available;
    size_t chosen = 0;

    if (ret_short != NULL) {
        *ret_short = 0;
    }
    if (capacity <= 0 || used_percent < policy->high_percent) {
        return 0;
    }
    qsort(images, count, sizeof(*images), compare_images);
    for (size_t i = 0; i < count && wanted > 0; i++) {
        if (may_go(&images[i], policy, now)) {
            struct garbage_image image = images[i];

            wanted -= image.size;
            images[i] = images[chosen];
            images[chosen++] = image;
        }
    }
    if (ret_short != NULL && wanted > 0) {
        *ret_short = wanted;
    }
    return chosen;
}

static int compare_containers(const void *a, const void *b)
{
    const struct garbage_container *left = a, *right = b;
    int order = str_cmp(left->pod_uid, right->pod_uid);

    if (order == 0) {
        order = str_cmp(left->name, right->name);
    }
    if (order == 0) {
        order = left->created == right->created ? str_cmp(left->id, right->id)
              : left->created > right->created  ? -1
                                                : 1;
    }
    return order;
}

size_t garbage_containers(struct garbage_container *containers, size_t count, int keep)
{
    size_t chosen = 0;
    int seen = 0;
    struct str pod = {0}, name = {0};

    if (count > 1) {
        qsort(containers, count, sizeof(*containers), compare_containers);
    }
    for (size_t i = 0; i < count; i++) {
        struct garbage_container container = containers[i];

        if (i == 0 || !str_eq(container.pod_uid, pod) || !str_eq(container.name, name)) {
            seen = 0;
        }
        pod = container.pod_uid;
        name = container.name;
        if (seen++ >= keep || container.is_pod_gone) {
            containers[i] = containers[chosen];
            containers[chosen++] = container;
        }
    }
    return chosen;
}
