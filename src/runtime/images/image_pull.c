#include "runtime/images/image_pull.h"

#include "base/file.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/task.h"
#include "runtime/images/blob_fetch.h"
#include "runtime/images/digest.h"
#include "runtime/images/image_parts.h"
#include "runtime/images/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { FETCHERS = 3, INDEX_DEPTH_MAX = 4, REGISTRIES_MAX = 1 << 20 };

struct image_puller {
    struct image_store *store;
    struct arena *arena;
    struct str registries_file;
    struct transfers *transfers;
    struct blobs *blobs;
    struct map pulls; /* by key */
    struct task_group tasks;
};

struct pull_layer {
    struct descriptor descriptor;
    struct str diff_id, chain_id; /* its own */
    struct str parent;            /* chain ID of what is below */
    struct blob *blob;
    bool is_fetched;
};

struct pull {
    struct image_puller *puller;
    struct arena *arena;
    struct str key, text;
    struct image_reference reference;
    struct registry_auth auth;
    struct task *task;
    int waiters;
    struct cond changed; /* for waiters: it ended; for the pull: a layer was fetched */
    bool is_done;
    struct status *failure;
    struct image *image;
    atomic_bool is_cancelled;
    /* of the pull's task */
    struct registries registries;
    struct registry registry;
    struct str target, manifest_digest, manifest_json, config_json;
    struct manifest manifest;
    struct image_config config;
    struct pull_layer *layers;
    size_t layer_count, first_missing, next_fetch;
    struct task_group fetchers;
    struct status *fetch_failure;
    atomic_llong received;
    int64_t bytes_total;
};

struct image_puller *image_puller_new(struct image_store *store, struct str registries_file)
{
    struct image_puller *puller = MEM_NEW(struct image_puller);

    puller->store = store;
    puller->arena = arena_new();
    puller->registries_file = arena_str(puller->arena, registries_file);
    puller->transfers = transfers_new();
    puller->blobs = blobs_new(image_store_directory(store));
    task_group_init(&puller->tasks);
    return puller;
}

void image_puller_free(struct image_puller *puller)
{
    if (puller == NULL) {
        return;
    }
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&puller->pulls, &at)) != NULL;) {
        atomic_store(&((struct pull *)entry->value)->is_cancelled, true);
    }
    task_group_cancel(&puller->tasks);
    map_done(&puller->pulls);
    transfers_free(puller->transfers);
    blobs_free(puller->blobs);
    arena_free(puller->arena);
    free(puller);
}

/* ---- The parts that block, on a worker. */

struct pull_work {
    struct pull *pull;
    struct pull_layer *layer;
    int hold;
    struct status *failure;
};

static void hold_work(void *arg)
{
    struct pull_work *work = arg;
    const struct image_puller *puller = work->pull->puller;
    struct str text = {0};
    struct status *failure = NULL;

    if (puller->registries_file.n > 0) {
        failure = file_read(work->pull->arena, puller->registries_file.p, REGISTRIES_MAX, &text);
        status_free_if(&failure, STATUS_NOT_FOUND);
    }
    if (failure == NULL) {
        failure = registries_decode(work->pull->arena, text, &work->pull->registries);
    }
    work->failure =
        failure != NULL ? failure : snapshots_hold(image_store_snapshots(puller->store), &work->hold);
}

static void release_work(void *arg)
{
    struct pull_work *work = arg;
    struct image_store *store = work->pull->puller->store;

    images_release(image_store_directory(store), image_store_snapshots(store), work->hold);
}

static void unpack_work(void *arg)
{
    struct pull_work *work = arg;
    struct snapshots *snapshots = image_store_snapshots(work->pull->puller->store);
    int fd = open(blob_path(work->layer->blob).p, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        work->failure = status_errno(errno, "opening %s", blob_path(work->layer->blob).p);
        return;
    }
    work->failure =
        snapshots_add(snapshots, work->layer->parent, work->layer->diff_id, fd, &work->pull->is_cancelled);
    close(fd);
}

static struct status *put_name(struct pull *pull, struct str name)
{
    struct image_name record = {.name = name, .target = pull->target, .manifest = pull->manifest_digest};

    return image_names_put(image_store_directory(pull->puller->store), &record);
}

/* The blobs, then the names, the tag last: from then on the image is there. */
static struct status *save(struct pull *pull)
{
    struct str directory = image_store_directory(pull->puller->store);
    struct str by_digest = arena_printf(pull->arena, "%.*s/%.*s@%.*s", STR_ARG(pull->reference.domain),
                                        STR_ARG(pull->reference.path), STR_ARG(pull->target));

    TRY(image_blob_put(directory, pull->manifest.config.digest, pull->config_json));
    TRY(image_blob_put(directory, pull->manifest_digest, pull->manifest_json));
    TRY(put_name(pull, by_digest));
    return str_eq(pull->text, by_digest) ? NULL : put_name(pull, pull->text);
}

static void save_work(void *arg)
{
    struct pull_work *work = arg;

    work->failure = save(work->pull);
}

static void find_missing_work(void *arg)
{
    struct pull *pull = arg;

    pull->first_missing = pull->layer_count;
    while (pull->first_missing > 0 && !snapshots_has(image_store_snapshots(pull->puller->store),
                                                     pull->layers[pull->first_missing - 1].chain_id)) {
        pull->first_missing--;
    }
}

/* ---- What the image is. */

static struct status *not_resolved(struct pull *pull, struct status *failure)
{
    if (status_is(failure, STATUS_NOT_FOUND)) {
        failure = status_while(failure, "%.*s", STR_ARG(pull->text));
    }
    return status_while(failure, "failed to resolve reference \"%.*s\"", STR_ARG(pull->text));
}

static struct status *check_digest(struct arena *arena, struct str bytes, struct str wanted)
{
    struct digester *digester = digester_new(digest_algorithm(wanted));

    digester_add(digester, bytes.p, bytes.n);
    struct str got = digester_text(digester, arena);

    digester_free(digester);
    return str_eq(got, wanted) ? NULL
                               : status_new(STATUS_UNKNOWN, "unexpected commit digest %.*s, expected %.*s: failed "
                                                            "precondition",
                                            STR_ARG(got), STR_ARG(wanted));
}

/* One manifest or index; a digest must be that of what comes. */
static struct status *get_manifest(struct pull *pull, struct str reference, struct str digest, struct manifest *ret)
{
    struct str media_type;

    TRY(registry_manifest(&pull->registry, reference, &pull->manifest_json, &media_type));
    pull->manifest_digest = digest.n > 0 ? digest : digest_of(pull->arena, pull->manifest_json);
    TRY(check_digest(pull->arena, pull->manifest_json, pull->manifest_digest));
    return manifest_decode(pull->arena, pull->manifest_json, media_type, ret);
}

/* From the reference through indexes to the manifest for this machine. */
static struct status *find_manifest(struct pull *pull)
{
    bool has_digest = pull->reference.digest.n > 0;

    TRY(not_resolved(pull, get_manifest(pull, has_digest ? pull->reference.digest : pull->reference.tag,
                                        pull->reference.digest, &pull->manifest)));
    pull->target = pull->manifest_digest;
    for (int depth = 0; pull->manifest.is_index; depth++) {
        const struct descriptor *chosen = manifest_choose(&pull->manifest, platform_host());

        if (chosen == NULL || depth == INDEX_DEPTH_MAX) {
            return status_new(STATUS_NOT_FOUND, "no match for platform in manifest: not found");
        }
        struct str digest = chosen->digest;

        TRY(status_while(get_manifest(pull, digest, digest, &pull->manifest), "failed to copy: %.*s",
                         STR_ARG(digest)));
    }
    return NULL;
}

static struct status *find_layers(struct pull *pull)
{
    struct str chain_id = {0};

    TRY(status_while(registry_blob(&pull->registry, &pull->manifest.config, &pull->config_json),
                     "failed to copy: httpReadSeeker: failed open: %.*s", STR_ARG(pull->manifest.config.digest)));
    TRY(status_while(check_digest(pull->arena, pull->config_json, pull->manifest.config.digest),
                     "failed commit on ref \"config-%.*s\"", STR_ARG(pull->manifest.config.digest)));
    TRY(image_config_decode(pull->arena, pull->config_json, &pull->config));
    TRY(images_check_layers(&pull->manifest, &pull->config));
    pull->layer_count = pull->manifest.layers.len;
    pull->layers = ARENA_ARRAY(pull->arena, struct pull_layer, pull->layer_count);
    for (size_t i = 0; i < pull->layer_count; i++) {
        struct str diff_id = pull->config.diff_ids.items[i], parent = chain_id;

        chain_id = snapshot_chain_id(pull->arena, parent, diff_id);
        pull->layers[i] = (struct pull_layer){
            .descriptor = pull->manifest.layers.items[i], .diff_id = diff_id, .chain_id = chain_id, .parent = parent};
    }
    task_offload(find_missing_work, pull);
    for (size_t i = pull->first_missing; i < pull->layer_count; i++) {
        pull->bytes_total += pull->layers[i].descriptor.size;
    }
    return NULL;
}

/* ---- Layers come side by side, lowest first, and are unpacked one on the other. */

static void run_fetcher(void *arg)
{
    struct pull *pull = arg;

    while (pull->next_fetch < pull->layer_count && pull->fetch_failure == NULL) {
        struct pull_layer *layer = &pull->layers[pull->next_fetch++];
        struct status *failure = blobs_fetch(pull->puller->blobs, &pull->registry, &layer->descriptor,
                                             &pull->received, &layer->blob);

        if (failure == NULL) {
            layer->is_fetched = true;
        } else if (pull->fetch_failure == NULL) {
            pull->fetch_failure = status_is(failure, STATUS_NOT_FOUND)
                                      ? status_while(failure, "failed to copy: httpReadSeeker: failed open: content "
                                                              "at %.*s",
                                                     STR_ARG(layer->descriptor.digest))
                                      : status_while(failure, "failed to copy");
        } else {
            status_free(failure);
        }
        cond_broadcast(&pull->changed);
    }
}

static struct status *unpack_layers(struct pull *pull)
{
    for (size_t i = pull->first_missing; i < pull->layer_count; i++) {
        struct pull_work work = {.pull = pull, .layer = &pull->layers[i]};

        while (!pull->layers[i].is_fetched) {
            if (pull->fetch_failure != NULL) {
                return TAKE(pull->fetch_failure);
            }
            if (task_is_cancelled()) {
                return status_new(STATUS_CANCELLED, "context canceled");
            }
            cond_wait(&pull->changed, TASK_FOREVER);
        }
        task_offload(unpack_work, &work);
        TRY(status_while(work.failure, "failed to extract layer %.*s", STR_ARG(pull->layers[i].diff_id)));
        blob_drop(TAKE(pull->layers[i].blob));
    }
    return NULL;
}

static struct status *get_layers(struct pull *pull)
{
    size_t missing = pull->layer_count - pull->first_missing;

    task_group_init(&pull->fetchers);
    pull->next_fetch = pull->first_missing;
    for (size_t i = 0; i < MIN(missing, (size_t)FETCHERS); i++) {
        task_group_spawn(&pull->fetchers, "fetch layers", run_fetcher, pull);
    }
    struct status *failure = unpack_layers(pull);

    pull->next_fetch = pull->layer_count;
    task_group_cancel(&pull->fetchers);
    for (size_t i = 0; i < pull->layer_count; i++) {
        blob_drop(TAKE(pull->layers[i].blob));
    }
    status_free(TAKE(pull->fetch_failure));
    return failure;
}

/* ---- The pull. */

/* When the image is there, one question tells whether its tag still means the same. */
static struct status *find_unchanged(struct pull *pull, struct image **ret)
{
    OWNED(image_unrefp) struct image *image = NULL;
    struct status *failure = image_store_find(pull->puller->store, pull->text, &image);
    struct str digest;

    *ret = NULL;
    if (status_free_if(&failure, STATUS_NOT_FOUND)) {
        return NULL;
    }
    TRY(failure);
    if (pull->reference.digest.n > 0) {
        *ret = TAKE(image);
        return NULL;
    }
    TRY(not_resolved(pull, registry_resolve(&pull->registry, pull->reference.tag, &digest)));
    if (digest.n == 0) {
        return NULL;
    }
    struct str name = arena_printf(pull->arena, "%.*s/%.*s@%.*s", STR_ARG(pull->reference.domain),
                                   STR_ARG(pull->reference.path), STR_ARG(digest));

    LIST_EACH(there, &image->digests)
    {
        if (str_eq(*there, name)) {
            *ret = TAKE(image);
            return NULL;
        }
    }
    return NULL;
}

static struct status *pull_held(struct pull *pull)
{
    struct pull_work work = {.pull = pull};

    registry_init(&pull->registry, pull->puller->transfers, pull->arena, &pull->registries, &pull->reference,
                  &pull->auth);
    TRY(find_unchanged(pull, &pull->image));
    if (pull->image != NULL) {
        return NULL;
    }
    TRY(find_manifest(pull));
    TRY(find_layers(pull));
    TRY(get_layers(pull));
    task_offload(save_work, &work);
    image_store_changed(pull->puller->store);
    return work.failure;
}

static struct status *pull_whole(struct pull *pull)
{
    struct pull_work work = {.pull = pull, .hold = -1};

    task_offload(hold_work, &work);
    TRY(work.failure);
    struct status *failure = pull_held(pull);

    if (failure == NULL && pull->image == NULL) {
        failure = image_store_find(pull->puller->store, pull->text, &pull->image);
    }
    task_offload(release_work, &work);
    return status_while(failure, "failed to pull and unpack image \"%.*s\"", STR_ARG(pull->text));
}

static void pull_free(struct pull *pull)
{
    status_free(pull->failure);
    image_unref(pull->image);
    arena_free(pull->arena);
    free(pull);
}

static void run_pull(void *arg)
{
    struct pull *pull = arg;

    pull->failure = pull_whole(pull);
    pull->is_done = true;
    if (map_find(&pull->puller->pulls, pull->key) == pull) { /* after it was broken off, another may have begun */
        map_remove(&pull->puller->pulls, pull->key);
    }
    cond_broadcast(&pull->changed);
    if (pull->waiters == 0) {
        pull_free(pull);
    }
}

/* Pulls with other credentials are others: what one may see says nothing of what another may. */
static struct str key_of(struct arena *arena, struct str text, const struct registry_auth *auth)
{
    return digest_of(arena, arena_printf(arena, "%.*s\n%.*s\n%.*s\n%.*s\n%.*s", STR_ARG(text), STR_ARG(auth->username),
                                         STR_ARG(auth->password), STR_ARG(auth->identity_token),
                                         STR_ARG(auth->registry_token)));
}

static struct pull *start(struct image_puller *puller, struct str text, struct str key,
                          const struct registry_auth *auth)
{
    struct pull *pull = MEM_NEW(struct pull);
    struct arena *arena = arena_new();

    pull->puller = puller;
    pull->arena = arena;
    pull->key = arena_str(arena, key);
    pull->text = arena_str(arena, text);
    pull->auth = (struct registry_auth){arena_str(arena, auth->username), arena_str(arena, auth->password),
                                        arena_str(arena, auth->identity_token), arena_str(arena, auth->registry_token)};
    cond_init(&pull->changed);
    map_set(&puller->pulls, key, pull);
    return pull;
}

/* Waits with the others; the last to leave before it has ended breaks it off. */
static struct status *wait_for(struct pull *pull, struct image **ret)
{
    struct status *failure = NULL;

    pull->waiters++;
    while (!pull->is_done && !task_is_cancelled()) {
        cond_wait(&pull->changed, TASK_FOREVER);
    }
    pull->waiters--;
    if (!pull->is_done) {
        if (pull->waiters == 0) {
            atomic_store(&pull->is_cancelled, true);
            task_cancel(pull->task);
        }
        return status_new(STATUS_CANCELLED, "failed to pull and unpack image \"%.*s\": context canceled",
                          STR_ARG(pull->text));
    }
    if (pull->failure != NULL) {
        failure = status_copy(pull->failure);
    } else {
        *ret = image_ref(pull->image);
    }
    if (pull->waiters == 0) {
        pull_free(pull);
    }
    return failure;
}

struct status *image_pull(struct image_puller *puller, struct str reference, const struct registry_auth *auth,
                          struct image **ret)
{
    static const struct registry_auth nobody;
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct image_reference parsed;

    auth = auth != NULL ? auth : &nobody;
    TRY(status_while(image_reference_parse(arena, reference, &parsed), "failed to parse image reference \"%.*s\"",
                     STR_ARG(reference)));
    struct str text = image_reference_text(arena, &parsed), key = key_of(arena, text, auth);
    struct pull *pull = map_find(&puller->pulls, key);

    if (pull == NULL || atomic_load(&pull->is_cancelled)) {
        pull = start(puller, text, key, auth);
        status_free(image_reference_parse(pull->arena, pull->text, &pull->reference));
        pull->task = task_group_spawn(&puller->tasks, "pull image", run_pull, pull);
    }
    return wait_for(pull, ret);
}

bool image_pull_progress(struct image_puller *puller, struct str reference, struct pull_progress *ret)
{
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&puller->pulls, &at)) != NULL;) {
        const struct pull *pull = entry->value;

        if (str_eq(pull->text, reference)) {
            *ret = (struct pull_progress){
                .bytes_done = atomic_load_explicit(&pull->received, memory_order_relaxed),
                .bytes_total = pull->bytes_total,
                .layers_total = pull->layer_count - pull->first_missing,
            };
            for (size_t i = pull->first_missing; i < pull->layer_count; i++) {
                ret->layers_done += pull->layers[i].is_fetched;
            }
            return true;
        }
    }
    return false;
}
