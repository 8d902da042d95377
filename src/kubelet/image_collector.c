#include "kubelet/image_collector.h"

#include "base/env.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "kubelet/garbage.h"
#include "kubelet/runtime_fetch.h"

#include <stdlib.h>

#define PERIOD (300 * ENV_SECOND)

/* What is remembered of an image from one look to the next. */
struct known_image {
    int64_t detected, last_used; /* env_mono */
    bool is_here;
};

struct image_collector {
    struct kubelet *kubelet;
    struct map images; /* by ID */
    bool has_looked;
};

struct images {
    struct garbage_image *items;
    size_t len;
};

struct image_collector *image_collector_new(struct kubelet *kubelet)
{
    struct image_collector *collector = MEM_NEW(struct image_collector);

    collector->kubelet = kubelet;
    return collector;
}

void image_collector_free(struct image_collector *collector)
{
    size_t at = 0;

    if (collector == NULL) {
        return;
    }
    for (struct map_entry *e; (e = map_next(&collector->images, &at)) != NULL;) {
        free(e->value);
    }
    map_done(&collector->images);
    free(collector);
}

struct status *image_fs_usage(struct kubelet *kubelet, struct host_fs_usage *ret)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cri_v1_image_fs_info_request request = {0};
    struct cri_v1_image_fs_info_response *response;
    struct str path = kubelet->options.root_dir;
    struct status *error = cri_image_fs_info(kubelet->cri, &request, arena, &response);

    if (error == NULL && response->image_filesystems.len > 0 && response->image_filesystems.items[0].fs_id != NULL) {
        path = response->image_filesystems.items[0].fs_id->mountpoint;
    }
    status_free(error);
    return host_fs_usage(kubelet->host, arena_cstr(arena, path), ret);
}

static bool is_used(const struct cri_v1_image *image, const struct runtime_items *containers)
{
    LIST_EACH (container, containers) {
        if (str_eq(container->image_ref, image->id) || str_eq(container->image, image->id)) {
            return true;
        }
        LIST_EACH (tag, &image->repo_tags) {
            if (str_eq(container->image, *tag) || str_eq(container->image_ref, *tag)) {
                return true;
            }
        }
        LIST_EACH (digest, &image->repo_digests) {
            if (str_eq(container->image, *digest) || str_eq(container->image_ref, *digest)) {
                return true;
            }
        }
    }
    return false;
}

static void forget_absent(struct image_collector *collector)
{
    size_t at = 0;

    for (struct map_entry *e; (e = map_next(&collector->images, &at)) != NULL;) {
        struct known_image *known = e->value;

        if (!known->is_here) {
            map_remove(&collector->images, e->key);
            free(known);
        }
    }
}

/* Takes in what images there are now, and which of them containers use. */
static struct status *look(struct image_collector *collector, struct arena *arena, struct images *ret)
{
    struct kubelet *kubelet = collector->kubelet;
    struct cri_v1_list_images_request request = {0};
    struct cri_v1_list_images_response *response;
    struct runtime_items sandboxes, containers;
    int64_t now = env_mono();
    size_t at = 0;

    TRY(cri_list_images(kubelet->cri, &request, arena, &response));
    TRY(runtime_list(kubelet, arena, &sandboxes, &containers));
    for (struct map_entry *e; (e = map_next(&collector->images, &at)) != NULL;) {
        ((struct known_image *)e->value)->is_here = false;
    }
    LIST_EACH (image, &response->images) {
        struct known_image *known = map_find(&collector->images, image->id);
        bool is_in_use = is_used(image, &containers);

        if (known == NULL) {
            known = MEM_NEW(struct known_image);
            /* Those that were here before the kubelet are as old as can be. */
            known->detected = collector->has_looked ? now : INT64_MIN / 2;
            map_set(&collector->images, image->id, known);
        }
        known->is_here = true;
        known->last_used = is_in_use ? now : known->last_used;
        *LIST_ADD(arena, ret) = (struct garbage_image){
            .id = image->id,
            .size = (int64_t)image->size,
            .detected = known->detected,
            .last_used = known->last_used,
            .is_in_use = is_in_use,
            .is_pinned = image->pinned,
        };
    }
    collector->has_looked = true;
    forget_absent(collector);
    return NULL;
}

static struct status *remove_image(struct kubelet *kubelet, struct str id)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cri_v1_image_spec spec = {.image = id};
    struct cri_v1_remove_image_request request = {.image = &spec};
    struct cri_v1_remove_image_response *response;

    log_info("removing image %.*s", STR_ARG(id));
    return cri_remove_image(kubelet->cri, &request, arena, &response);
}

static struct status *collect(struct image_collector *collector)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct kubelet *kubelet = collector->kubelet;
    struct garbage_image_policy policy = {.high_percent = (int)kubelet->options.image_gc_high,
                                          .low_percent = (int)kubelet->options.image_gc_low,
                                          .minimum_age = kubelet->options.image_minimum_age};
    struct host_fs_usage fs;
    struct images images = {0};
    int64_t missing;

    TRY(look(collector, arena, &images));
    TRY(image_fs_usage(kubelet, &fs));
    size_t count = garbage_images(images.items, images.len, &policy, fs.capacity, fs.available, env_mono(), &missing);
    int64_t freed = 0;

    for (size_t i = 0; i < count; i++) {
        TRY(remove_image(kubelet, images.items[i].id));
        freed += images.items[i].size;
    }
    if (missing > 0) {
        node_event(kubelet, "Warning", "FreeDiskSpaceFailed",
                   "Failed to garbage collect required amount of images. Attempted to free %lld bytes, but only found "
                   "%lld bytes eligible to free.",
                   (long long)(freed + missing), (long long)freed);
    }
    return NULL;
}

struct status *image_collector_remove_unused(struct image_collector *collector)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct images images = {0};

    TRY(look(collector, arena, &images));
    LIST_EACH (image, &images) {
        if (!image->is_in_use && !image->is_pinned) {
            TRY(remove_image(collector->kubelet, image->id));
        }
    }
    return NULL;
}

static void collector_task(void *arg)
{
    struct image_collector *collector = arg;

    do {
        struct status *error = collector->kubelet->options.image_gc_high >= 100 ? NULL : collect(collector);

        if (error != NULL && !status_is(error, STATUS_CANCELLED)) {
            log_debug("looking for images to remove: %.*s", STR_ARG(error->message));
        }
        status_free(error);
    } while (task_sleep(PERIOD));
}

void image_collector_start(struct image_collector *collector)
{
    task_group_spawn(&collector->kubelet->tasks, "image-garbage", collector_task, collector);
}
