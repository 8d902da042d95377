/* Unpacked layers on disk, and what containers write on top of them.
 *
 * A layer is known by its chain ID (OCI): it stands for the layer and all below, so images share what they have in
 * common. Each lies in a directory of a short number, so that overlayfs options for LIMIT_IMAGE_LAYERS layers fit in a
 * page when they are given relative to one directory. A layer exists when its record in chains/ does, which is written
 * last; what was being unpacked when a process died is removed at the next collection.
 *
 *   DIR/layers/12/...            a layer's files
 *   DIR/chains/sha256-HEX        "12 BYTES INODES PARENT"
 *   DIR/containers/ID/{chain,upper,work}
 *   DIR/lock, DIR/trash
 *   DIR/flat                     when overlayfs can't be used in DIR, as when that lies on an overlayfs itself: each
 *                                layer holds what is below it too (as hard links), and a container gets a copy
 *
 * Blocking: on a worker. Several processes may use one directory; any thread, as the struct does not change. */
#ifndef RUNTIME_IMAGES_SNAPSHOT_H
#define RUNTIME_IMAGES_SNAPSHOT_H

#include "base/arena.h"
#include "base/map.h"
#include "base/status.h"

#include <stdatomic.h>

struct snapshots;

/* Makes the directory when it is missing. BAD_REQUEST when its path can't stand in overlayfs' options (",", ":", "\"). */
MUST_USE struct status *snapshots_open(struct str directory, struct snapshots **ret);
void snapshots_close(struct snapshots *snapshots);
/* As an absolute path without links, as long as the snapshots are open. */
struct str snapshots_directory(const struct snapshots *snapshots);

/* The chain ID of a layer on those of `parent` (empty: the lowest layer). */
struct str snapshot_chain_id(struct arena *arena, struct str parent, struct str diff_id);

bool snapshots_has(const struct snapshots *snapshots, struct str chain_id);
/* Unpacks the layer at fd's offset on top of `parent` (which must be there, or is empty). BAD_REQUEST when the layer
 * is not the one of `diff_id`. Fine when it is there already. */
MUST_USE struct status *snapshots_add(struct snapshots *snapshots, struct str parent, struct str diff_id, int fd,
                                      const atomic_bool *is_cancelled);

/* A container's root: overlayfs of `layers` (lowerdirs, topmost first, relative to `directory`), upper and work. */
struct snapshot_mount {
    struct str directory;
    struct str *layers;
    size_t layer_count;     /* 0: nothing to mount, `upper` is the root itself */
    struct str upper, work; /* absolute */
};

/* Makes the container's own layer on an image's (its top chain ID; empty for an image without layers), or finds the
 * one made before. Everything in *ret is in the arena. ALREADY_EXISTS when it was made on another image. */
MUST_USE struct status *snapshots_prepare(struct snapshots *snapshots, struct str container_id, struct str chain_id,
                                          struct arena *arena, struct snapshot_mount *ret);
/* Removes the container's own layer; fine when there is none. It must not be mounted. */
MUST_USE struct status *snapshots_discard(struct snapshots *snapshots, struct str container_id);
/* What the container has written. NOT_FOUND. */
MUST_USE struct status *snapshots_container_usage(struct snapshots *snapshots, struct str container_id,
                                                  int64_t *ret_bytes, int64_t *ret_inodes);
/* The containers that have a layer of their own; names in the arena. */
MUST_USE struct status *snapshots_containers(struct snapshots *snapshots, struct arena *arena, struct str_list *ret);

/* Disk use of all layers. */
MUST_USE struct status *snapshots_usage(struct snapshots *snapshots, int64_t *ret_bytes, int64_t *ret_inodes);
/* Nobody collects while this is held: from before the first layer of an image is looked for until the image has a name.
 * Waits for a collection that goes on. Closing *ret_hold ends it. */
MUST_USE struct status *snapshots_hold(struct snapshots *snapshots, int *ret_hold);
/* The other side of snapshots_hold(): CONFLICT while anybody holds; nobody can hold until *ret_lock is closed. */
MUST_USE struct status *snapshots_lock(struct snapshots *snapshots, int *ret_lock);
/* Takes away every layer whose chain ID is not among the keys of `wanted` and that no container stands on, and
 * leftovers. Under snapshots_lock(), as `wanted` must be. */
MUST_USE struct status *snapshots_collect(struct snapshots *snapshots, const struct map *wanted);
/* Gives the disk space of what was taken away back; after the lock was closed, as it may take long. */
MUST_USE struct status *snapshots_empty_trash(struct snapshots *snapshots);

/* Mounts it on `target`, which may be on any path; for commands and tests. */
MUST_USE struct status *snapshot_mount(const struct snapshot_mount *mount, const char *target);

#endif
