#include "base/file.h"
#include "runtime/images/digest.h"
#include "runtime/images/rooted.h"
#include "runtime/images/snapshot_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static char marked; /* what the values of the sets point at */

/* Keeps the chain and all that it stands on; what is missing below a chain makes it useless, but keeping does no harm. */
static struct status *keep_chain(const struct snapshots *snapshots, struct arena *arena, struct str chain_id,
                                 struct map *kept)
{
    while (chain_id.n > 0 && map_find(kept, chain_id) == NULL) {
        struct chain_record record;
        struct status *failure = chain_read(snapshots, arena, chain_id, &record);

        if (status_free_if(&failure, STATUS_NOT_FOUND)) {
            return NULL;
        }
        TRY(failure);
        map_set(kept, chain_id, &marked);
        chain_id = record.parent;
    }
    return NULL;
}

static struct status *keep_all(struct snapshots *snapshots, struct arena *arena, const struct map *wanted,
                               struct map *kept)
{
    struct str_list containers;
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(wanted, &at)) != NULL;) {
        TRY(keep_chain(snapshots, arena, entry->key, kept));
    }
    TRY(snapshots_containers(snapshots, arena, &containers));
    LIST_EACH(container, &containers)
    {
        struct str chain_id;
        struct status *failure = container_chain(snapshots, arena, *container, &chain_id);

        if (failure == NULL) {
            failure = keep_chain(snapshots, arena, chain_id, kept);
        }
        status_free_if(&failure, STATUS_NOT_FOUND);
        TRY(failure);
    }
    return NULL;
}

static struct str chain_of_file(struct arena *arena, struct str name)
{
    struct str algorithm, hex;

    str_cut(name, '-', &algorithm, &hex);
    return arena_printf(arena, "%.*s:%.*s", STR_ARG(algorithm), STR_ARG(hex));
}

/* On disk before any layer goes, so that no record outlives its layer. */
static struct status *sync_chains(const struct snapshots *snapshots, struct arena *arena)
{
    struct str path = snapshots_path(snapshots, arena, "chains", STR(""));
    int fd = open(path.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = fd < 0 ? -1 : fsync(fd), error = errno;

    if (fd >= 0) {
        close(fd);
    }
    return result != 0 ? status_errno(error, "syncing %s", path.p) : NULL;
}

/* Removes the records of chains that are not kept, and tells the layers of those that are. */
static struct status *drop_chains(struct snapshots *snapshots, struct arena *arena, const struct map *kept,
                                  struct map *ret_layers)
{
    struct str_list names;

    TRY(directory_names(arena, snapshots_path(snapshots, arena, "chains", STR("")), &names));
    LIST_EACH(name, &names)
    {
        struct str chain_id = chain_of_file(arena, *name);
        struct chain_record record;

        if (map_find(kept, chain_id) != NULL) {
            TRY(chain_read(snapshots, arena, chain_id, &record));
            map_set(ret_layers, arena_printf(arena, "%lld", (long long)record.layer), &marked);
        } else if (unlink(snapshots_path(snapshots, arena, "chains", *name).p) != 0 && errno != ENOENT) {
            return status_errno(errno, "removing the record of %.*s", STR_ARG(chain_id));
        }
    }
    return sync_chains(snapshots, arena);
}

static struct status *drop_layers(struct snapshots *snapshots, struct arena *arena, const struct map *kept)
{
    struct str_list names;

    TRY(directory_names(arena, snapshots_path(snapshots, arena, "layers", STR("")), &names));
    LIST_EACH(name, &names)
    {
        if (map_find(kept, *name) == NULL) {
            struct str path = snapshots_path(snapshots, arena, "layers", *name);
            struct str gone = snapshots_path(snapshots, arena, "trash", *name);

            rooted_remove(AT_FDCWD, gone.p);
            if (rename(path.p, gone.p) != 0) {
                return status_errno(errno, "removing %s", path.p);
            }
        }
    }
    return NULL;
}

struct status *snapshots_collect(struct snapshots *snapshots, const struct map *wanted)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(map_done) struct map kept = {0};
    OWNED(map_done) struct map layers = {0};

    TRY(keep_all(snapshots, arena, wanted, &kept));
    TRY(drop_chains(snapshots, arena, &kept, &layers));
    return drop_layers(snapshots, arena, &layers);
}

struct status *snapshots_empty_trash(struct snapshots *snapshots)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str_list names;

    TRY(directory_names(arena, snapshots_path(snapshots, arena, "trash", STR("")), &names));
    LIST_EACH(name, &names)
    {
        struct str path = snapshots_path(snapshots, arena, "trash", *name);

        if (rooted_remove(AT_FDCWD, path.p) != 0) {
            return status_errno(errno, "removing %s", path.p);
        }
    }
    return NULL;
}

struct status *snapshots_usage(struct snapshots *snapshots, int64_t *ret_bytes, int64_t *ret_inodes)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str_list names;
    int64_t bytes = 0, inodes = 0;

    TRY(directory_names(arena, snapshots_path(snapshots, arena, "chains", STR("")), &names));
    LIST_EACH(name, &names)
    {
        struct chain_record record;
        struct status *failure = chain_read(snapshots, arena, chain_of_file(arena, *name), &record);

        if (failure == NULL) {
            bytes += record.bytes;
            inodes += record.inodes;
        }
        status_free_if(&failure, STATUS_NOT_FOUND);
        TRY(failure);
    }
    *ret_bytes = bytes;
    *ret_inodes = inodes;
    return NULL;
}
