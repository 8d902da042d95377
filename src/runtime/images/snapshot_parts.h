/* What the files of snapshot.h share. */
#ifndef RUNTIME_IMAGES_SNAPSHOT_PARTS_H
#define RUNTIME_IMAGES_SNAPSHOT_PARTS_H

#include "runtime/images/snapshot.h"

#include <dirent.h>

struct snapshots {
    char *directory; /* absolute */
    bool is_flat;    /* layers hold all that is below them too, and containers get a copy: overlayfs can't be had here */
};

/* Whether overlayfs can be mounted with its upper layer in the directory, and layers can say what they take away. */
bool snapshots_can_overlay(const char *directory);

/* chains/sha256-HEX */
struct chain_record {
    int64_t layer; /* its number */
    int64_t bytes, inodes;
    struct str parent; /* chain ID; empty: none */
};

struct str snapshots_path(const struct snapshots *snapshots, struct arena *arena, const char *part, struct str name);
struct str chain_file_name(struct arena *arena, struct str chain_id);
/* NOT_FOUND, also when the layer that it tells of is gone. */
MUST_USE struct status *chain_read(const struct snapshots *snapshots, struct arena *arena, struct str chain_id,
                                   struct chain_record *ret);
/* The numbers of the layers of a chain, topmost first. NOT_FOUND when one is missing. */
MUST_USE struct status *chain_layers(const struct snapshots *snapshots, struct arena *arena, struct str chain_id,
                                     struct str_list *ret);
/* The names in a directory but "." and "..", sorted by bytes. A missing directory has none. */
MUST_USE struct status *directory_names(struct arena *arena, struct str path, struct str_list *ret);
/* What containers/ID/chain says; NOT_FOUND. */
MUST_USE struct status *container_chain(const struct snapshots *snapshots, struct arena *arena, struct str container_id,
                                        struct str *ret_chain_id);

#endif
