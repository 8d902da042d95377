/* Unpacks one layer of an image into a directory of its own, in the form overlayfs wants: a whiteout becomes a character
 * device 0:0, an opaque directory gets the attribute trusted.overlay.opaque. Owners, modes, times, links, devices and
 * extended attributes are kept; nothing is ever written outside the directory. Blocking: on a worker. */
#ifndef RUNTIME_IMAGES_UNPACK_H
#define RUNTIME_IMAGES_UNPACK_H

#include "base/arena.h"
#include "base/status.h"

#include <stdatomic.h>

struct unpack_options {
    const char *directory; /* exists and is empty; becomes the layer's root */
    /* The layers below, topmost first: a directory that an entry needs but the layer leaves out looks as it does there. */
    const char *const *lowers;
    size_t lower_count;
    int64_t bytes_max, entries_max;  /* 0: those of limits.h */
    const atomic_bool *is_cancelled; /* NULL: never */
    /* The directory holds the layers below already, as links: what the layer takes away is removed there. For machines
     * without overlayfs. */
    bool is_flat;
};

struct unpack_result {
    struct str diff_id; /* digest of the uncompressed tar stream */
    int64_t bytes;      /* disk space by whole pages of files */
    int64_t inodes;
};

/* Reads the layer (tar, gzip or zstd) from fd's offset on. BAD_REQUEST for what is no proper layer,
 * REQUEST_ENTITY_TOO_LARGE past a limit, CANCELLED. What was unpacked before a failure is left for the caller. */
MUST_USE struct status *unpack_layer(int fd, const struct unpack_options *options, struct arena *arena,
                                     struct unpack_result *ret);

/* What a name in a layer means. */
enum unpack_name { UNPACK_PLAIN, UNPACK_WHITEOUT, UNPACK_OPAQUE, UNPACK_RESERVED };
/* *ret_name is, for a whiteout, the name that is gone. Reserved names (".wh..wh.plnk") mean nothing and are skipped. */
enum unpack_name unpack_classify(const char *name, const char **ret_name);

struct tar_reader;
/* The part after opening the tar stream; for fuzzing. */
MUST_USE struct status *unpack_entries(struct tar_reader *reader, const struct unpack_options *options,
                                       struct unpack_result *ret);

#endif
