#include "runtime/images/image_store.h"

#include "base/env.h"
#include "base/mem.h"
#include "base/task.h"
#include "runtime/images/image_names.h"
#include "runtime/images/image_parts.h"
#include "runtime/images/manifest.h"
#include "schema/image_reference.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* An image holds all its text in an arena of its own. */
struct held_image {
    struct image image;
    int count;
    struct arena *arena;
};

struct image_store {
    struct arena *arena;
    struct str directory, names;
    struct snapshots *snapshots;
    VEC(struct image *) images; /* sorted by ID */
    bool is_stale;
    struct timespec changed; /* when names/ did, as far as we have looked */
};

static struct held_image *held(struct image *image)
{
    return CONTAINER_OF(image, struct held_image, image);
}

struct image *image_ref(struct image *image)
{
    held(image)->count++;
    return image;
}

void image_unref(struct image *image)
{
    if (image != NULL && --held(image)->count == 0) {
        arena_free(held(image)->arena); /* which holds the image itself */
    }
}

void image_unrefp(struct image **image)
{
    image_unref(*image);
}

struct status *image_store_open(struct str directory, struct image_store **ret)
{
    struct snapshots *snapshots;

    TRY(snapshots_open(directory, &snapshots));
    struct image_store *store = MEM_NEW(struct image_store);

    store->arena = arena_new();
    store->directory = arena_str(store->arena, snapshots_directory(snapshots));
    store->names = arena_printf(store->arena, "%.*s/names", STR_ARG(store->directory));
    store->snapshots = snapshots;
    store->is_stale = true;
    struct status *failure = image_names_make(store->directory);

    if (failure != NULL) {
        image_store_close(store);
        return failure;
    }
    *ret = store;
    return NULL;
}

static void forget_images(struct image_store *store)
{
    for (size_t i = 0; i < store->images.len; i++) {
        image_unref(store->images.items[i]);
    }
    store->images.len = 0;
}

void image_store_close(struct image_store *store)
{
    if (store != NULL) {
        forget_images(store);
        free(store->images.items);
        snapshots_close(store->snapshots);
        arena_free(store->arena);
        free(store);
    }
}

struct str image_store_directory(const struct image_store *store)
{
    return store->directory;
}

struct snapshots *image_store_snapshots(struct image_store *store)
{
    return store->snapshots;
}

void image_store_changed(struct image_store *store)
{
    store->is_stale = true;
}

/* Everything about the image but its names. NOT_FOUND when any part of it is missing. */
static struct status *read_image(struct image_store *store, struct arena *arena, struct str manifest_digest,
                                 struct image *ret)
{
    struct manifest manifest;
    struct str manifest_json;

    TRY(image_blob_read(store->directory, manifest_digest, arena, &manifest_json));
    TRY(manifest_decode(arena, manifest_json, STR(""), &manifest));
    if (manifest.is_index) {
        return status_new(STATUS_NOT_FOUND, "%.*s is no manifest", STR_ARG(manifest_digest));
    }
    *ret = (struct image){
        .id = manifest.config.digest,
        .manifest = arena_str(arena, manifest_digest),
        .size = (int64_t)manifest_json.n + manifest.config.size,
    };
    LIST_EACH(layer, &manifest.layers)
    {
        ret->size += layer->size;
    }
    TRY(image_blob_read(store->directory, ret->id, arena, &ret->config_json));
    TRY(image_config_decode(arena, ret->config_json, &ret->config));
    LIST_EACH(diff_id, &ret->config.diff_ids)
    {
        ret->chain_id = snapshot_chain_id(arena, ret->chain_id, *diff_id);
    }
    if (ret->chain_id.n > 0 && !snapshots_has(store->snapshots, ret->chain_id)) {
        return status_new(STATUS_NOT_FOUND, "the layers of %.*s are not there", STR_ARG(ret->id));
    }
    return NULL;
}

static struct image *image_by_id(const struct image_store *store, struct str id)
{
    for (size_t i = 0; i < store->images.len; i++) {
        if (str_eq(store->images.items[i]->id, id)) {
            return store->images.items[i];
        }
    }
    return NULL;
}

/* An image that is not there whole is not there: its names lead nowhere until it is pulled again. */
static struct status *add_name(struct image_store *store, const struct image_name *name)
{
    struct arena *arena = arena_new();
    struct held_image *fresh = ARENA_NEW(arena, struct held_image);
    struct status *failure = read_image(store, arena, name->manifest, &fresh->image);

    fresh->arena = arena;
    fresh->count = 1;
    if (failure != NULL) {
        bool is_broken = failure->reason == STATUS_NOT_FOUND || failure->reason == STATUS_BAD_REQUEST;

        arena_free(arena);
        if (is_broken) {
            status_free(failure);
            failure = NULL;
        }
        return failure;
    }
    struct image *image = image_by_id(store, fresh->image.id);

    if (image == NULL) {
        image = &fresh->image;
        *VEC_ADD(&store->images) = image;
    } else {
        arena_free(arena);
        arena = held(image)->arena;
    }
    struct str_list *names = str_index(name->name, '@') != SIZE_MAX ? &image->digests : &image->tags;

    *LIST_ADD(arena, names) = arena_str(arena, name->name); /* sorted, as names come sorted */
    image->is_pinned = image->is_pinned || name->is_pinned;
    return NULL;
}

static int by_id(const void *a, const void *b)
{
    return str_cmp((*(struct image *const *)a)->id, (*(struct image *const *)b)->id);
}

/* Reads names/ anew when it changed since the last look. A change within one tick of the file system's clock does not
 * show in its time, so what changed just now is looked at again. */
static struct status *refresh(struct image_store *store)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct image_names names;
    struct stat found;

    if (stat(store->names.p, &found) != 0) {
        return status_errno(errno, "looking at %s", store->names.p);
    }
    int64_t changed = found.st_mtim.tv_sec * ENV_SECOND + found.st_mtim.tv_nsec;
    bool is_same = found.st_mtim.tv_sec == store->changed.tv_sec && found.st_mtim.tv_nsec == store->changed.tv_nsec;

    if (!store->is_stale && is_same) {
        return NULL;
    }
    TRY(image_names_read(store->directory, arena, &names));
    forget_images(store);
    store->is_stale = true;
    LIST_EACH(name, &names)
    {
        TRY(add_name(store, name));
    }
    if (store->images.len > 0) {
        qsort(store->images.items, store->images.len, sizeof(struct image *), by_id);
    }
    store->changed = found.st_mtim;
    store->is_stale = env_wall() - changed < ENV_SECOND;
    return NULL;
}

static bool has_name(const struct image *image, struct str name)
{
    const struct str_list *names = str_index(name, '@') != SIZE_MAX ? &image->digests : &image->tags;

    LIST_EACH(item, names)
    {
        if (str_eq(*item, name)) {
            return true;
        }
    }
    return false;
}

static struct image *find_by_name(const struct image_store *store, struct str name)
{
    for (size_t i = 0; i < store->images.len; i++) {
        if (has_name(store->images.items[i], name)) {
            return store->images.items[i];
        }
    }
    return NULL;
}

/* NULL when none, or more than one, begins so. */
static struct image *find_by_id(const struct image_store *store, struct str id)
{
    struct image *found = NULL;

    id = str_has_prefix(id, STR("sha256:")) ? str_from(id, 7) : id;
    for (size_t i = 0; i < store->images.len && id.n > 0; i++) {
        struct image *image = store->images.items[i];

        if (str_has_prefix(str_from(image->id, 7), id)) {
            if (found != NULL) {
                return NULL;
            }
            found = image;
        }
    }
    return found;
}

struct status *image_store_find(struct image_store *store, struct str reference, struct image **ret)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct image_reference parsed;
    struct image *image = NULL;
    struct status *failure = image_reference_parse(arena, reference, &parsed);

    if (failure == NULL) {
        failure = refresh(store);
        image = failure == NULL ? find_by_name(store, image_reference_text(arena, &parsed)) : NULL;
    } else {
        status_free(failure);
        failure = refresh(store);
    }
    TRY(failure);
    image = image != NULL ? image : find_by_name(store, reference);
    image = image != NULL ? image : find_by_id(store, reference);
    if (image == NULL) {
        return status_new(STATUS_NOT_FOUND, "image \"%.*s\": not found", STR_ARG(reference));
    }
    *ret = image_ref(image);
    return NULL;
}

struct status *image_store_list(struct image_store *store, struct arena *arena, struct images *ret)
{
    TRY(refresh(store));
    ret->len = store->images.len;
    ret->items = ARENA_ARRAY(arena, struct image *, ret->len);
    for (size_t i = 0; i < ret->len; i++) {
        ret->items[i] = store->images.items[i];
    }
    return NULL;
}

static struct status *remove_names(struct image_store *store, const struct str_list *names)
{
    LIST_EACH(name, names)
    {
        TRY(image_names_remove(store->directory, *name));
    }
    return NULL;
}

struct status *image_store_remove(struct image_store *store, struct str reference)
{
    OWNED(image_unrefp) struct image *image = NULL;
    struct status *failure = image_store_find(store, reference, &image);

    if (status_free_if(&failure, STATUS_NOT_FOUND)) {
        return NULL;
    }
    TRY(failure);
    store->is_stale = true;
    TRY(remove_names(store, &image->tags));
    TRY(remove_names(store, &image->digests));
    return image_store_collect(store);
}

/* A call of a blocking function that has the store's directory and snapshots to work on. */
struct store_call {
    struct image_store *store;
    struct status *failure;
    int64_t bytes, inodes;
};

static void collect_work(void *arg)
{
    struct store_call *call = arg;

    call->failure = images_collect(call->store->directory, call->store->snapshots);
}

struct status *image_store_collect(struct image_store *store)
{
    struct store_call call = {.store = store};

    task_offload(collect_work, &call);
    return call.failure;
}

static void usage_work(void *arg)
{
    struct store_call *call = arg;
    int64_t bytes, inodes;

    call->failure = snapshots_usage(call->store->snapshots, &call->bytes, &call->inodes);
    if (call->failure == NULL) {
        call->failure = images_blob_usage(call->store->directory, &bytes, &inodes);
    }
    if (call->failure == NULL) {
        call->bytes += bytes;
        call->inodes += inodes;
    }
}

struct status *image_store_usage(struct image_store *store, int64_t *ret_bytes, int64_t *ret_inodes)
{
    struct store_call call = {.store = store};

    task_offload(usage_work, &call);
    TRY(call.failure);
    *ret_bytes = call.bytes;
    *ret_inodes = call.inodes;
    return NULL;
}
