#include "base/file.h"
#include "base/log.h"
#include "runtime/images/image_parts.h"
#include "runtime/images/rooted.h"
#include "runtime/images/snapshot_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the names lead to. */
struct wanted {
    struct arena *arena;
    struct map blobs;  /* file names */
    struct map chains; /* chain IDs */
};

static char marked;

struct status *images_check_layers(const struct manifest *manifest, const struct image_config *config)
{
    if (manifest->layers.len != config->diff_ids.len) {
        return status_new(STATUS_BAD_REQUEST, "mismatched image rootfs and manifest layers: %zu layers, %zu diff IDs",
                          manifest->layers.len, config->diff_ids.len);
    }
    return NULL;
}

/* Errors say that the image is broken; then it keeps nothing. */
static struct status *want_image(struct wanted *wanted, struct str directory, const struct image_name *name)
{
    struct str manifest_json, config_json, chain_id = {0};
    struct manifest manifest;
    struct image_config config;

    TRY(image_blob_read(directory, name->manifest, wanted->arena, &manifest_json));
    TRY(manifest_decode(wanted->arena, manifest_json, STR(""), &manifest));
    TRY(image_blob_read(directory, manifest.config.digest, wanted->arena, &config_json));
    TRY(image_config_decode(wanted->arena, config_json, &config));
    map_set(&wanted->blobs, chain_file_name(wanted->arena, name->manifest), &marked);
    map_set(&wanted->blobs, chain_file_name(wanted->arena, manifest.config.digest), &marked);
    LIST_EACH(diff_id, &config.diff_ids)
    {
        chain_id = snapshot_chain_id(wanted->arena, chain_id, *diff_id);
    }
    if (chain_id.n > 0) {
        map_set(&wanted->chains, chain_id, &marked);
    }
    return NULL;
}

static struct status *want_all(struct wanted *wanted, struct str directory)
{
    struct image_names names;

    TRY(image_names_read(directory, wanted->arena, &names));
    LIST_EACH(name, &names)
    {
        struct status *failure = want_image(wanted, directory, name);

        if (failure != NULL && (failure->reason == STATUS_NOT_FOUND || failure->reason == STATUS_BAD_REQUEST)) {
            status_free(failure);
            failure = image_names_remove(directory, name->name);
        }
        TRY(failure);
    }
    return NULL;
}

static struct status *drop_files(struct arena *arena, struct str directory, const char *part, const struct map *kept)
{
    struct str path = arena_printf(arena, "%.*s/%s", STR_ARG(directory), part);
    struct str_list names;

    TRY(directory_names(arena, path, &names));
    LIST_EACH(name, &names)
    {
        struct str file = arena_printf(arena, "%s/%s", path.p, name->p);

        if (map_find(kept, *name) == NULL && rooted_remove(AT_FDCWD, file.p) != 0) {
            return status_errno(errno, "removing %s", file.p);
        }
    }
    return NULL;
}

/* What writers that died left beside names. */
static struct status *drop_unfinished_names(struct arena *arena, struct str directory)
{
    struct str_list files;

    TRY(directory_names(arena, arena_printf(arena, "%.*s/names", STR_ARG(directory)), &files));
    LIST_EACH(file, &files)
    {
        if (str_has_suffix(*file, STR(".tmp"))) {
            unlink(arena_printf(arena, "%.*s/names/%s", STR_ARG(directory), file->p).p);
        }
    }
    return NULL;
}

static struct status *collect_locked(struct str directory, struct snapshots *snapshots, struct wanted *wanted)
{
    static const struct map none;

    unlink(arena_printf(wanted->arena, "%.*s/collect", STR_ARG(directory)).p);
    TRY(drop_unfinished_names(wanted->arena, directory));
    TRY(want_all(wanted, directory));
    TRY(drop_files(wanted->arena, directory, "blobs", &wanted->blobs));
    TRY(drop_files(wanted->arena, directory, "ingest", &none));
    return snapshots_collect(snapshots, &wanted->chains);
}

static struct status *leave_mark(struct str directory)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str path = arena_printf(arena, "%.*s/collect", STR_ARG(directory));
    int fd = open(path.p, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0) {
        return status_errno(errno, "making %s", path.p);
    }
    close(fd);
    return NULL;
}

struct status *images_collect(struct str directory, struct snapshots *snapshots)
{
    int lock = -1;
    struct status *failure = snapshots_lock(snapshots, &lock);

    if (status_free_if(&failure, STATUS_CONFLICT)) {
        return leave_mark(directory);
    }
    TRY(failure);
    struct wanted wanted = {.arena = arena_new()};

    failure = collect_locked(directory, snapshots, &wanted);
    close(lock);
    map_done(&wanted.blobs);
    map_done(&wanted.chains);
    arena_free(wanted.arena);
    return failure != NULL ? failure : snapshots_empty_trash(snapshots);
}

void images_release(struct str directory, struct snapshots *snapshots, int hold)
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    close(hold);
    if (file_exists(arena_printf(arena, "%.*s/collect", STR_ARG(directory)).p)) {
        struct status *failure = images_collect(directory, snapshots);

        if (failure != NULL) {
            log_warn("collecting what images left: %.*s", STR_ARG(failure->message));
            status_free(failure);
        }
    }
}

struct status *images_blob_usage(struct str directory, int64_t *ret_bytes, int64_t *ret_inodes)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str path = arena_printf(arena, "%.*s/blobs", STR_ARG(directory));
    struct str_list names;

    *ret_bytes = *ret_inodes = 0;
    TRY(directory_names(arena, path, &names));
    LIST_EACH(name, &names)
    {
        struct stat found;

        if (stat(arena_printf(arena, "%s/%s", path.p, name->p).p, &found) == 0) {
            *ret_bytes += found.st_blocks * 512;
            *ret_inodes += 1;
        }
    }
    return NULL;
}
