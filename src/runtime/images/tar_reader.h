/* Reads a tar stream entry by entry, decompressing gzip or zstd (found by their first bytes) on the way, and hashes
 * the uncompressed stream: that hash is the layer's diff ID. Blocking, so on a worker; one thread at a time. */
#ifndef RUNTIME_IMAGES_TAR_READER_H
#define RUNTIME_IMAGES_TAR_READER_H

#include "base/arena.h"
#include "base/status.h"

#include <stdatomic.h>

struct tar_reader;

enum tar_type { TAR_FILE, TAR_DIRECTORY, TAR_SYMLINK, TAR_HARDLINK, TAR_CHARACTER, TAR_BLOCK, TAR_FIFO, TAR_OTHER };

struct tar_xattr {
    const char *name;
    const void *value;
    size_t size;
};

/* Borrowed until the next call. Nothing in it has been checked: paths and links are as the archive has them. */
struct tar_entry {
    enum tar_type type;
    const char *path;
    const char *link; /* of TAR_SYMLINK and TAR_HARDLINK */
    uint32_t mode;    /* permission bits with setuid, setgid and sticky */
    uint32_t uid, gid;
    int64_t size; /* what the header claims; data blocks may be sparse */
    int64_t mtime_seconds;
    int64_t mtime_nanoseconds;
    uint32_t device_major, device_minor;
    struct tar_xattr *xattrs;
    size_t xattr_count;
};

/* Reads from `fd` at its offset (lent). `bytes_max` bounds what decompression may give; *is_cancelled (may be NULL)
 * ends reading with CANCELLED. */
MUST_USE struct status *tar_reader_open(int fd, int64_t bytes_max, const atomic_bool *is_cancelled,
                                        struct tar_reader **ret);
/* The same from memory (lent until the end). */
MUST_USE struct status *tar_reader_open_memory(struct str bytes, int64_t bytes_max, struct tar_reader **ret);
/* The next entry; *ret is NULL at the end. */
MUST_USE struct status *tar_reader_next(struct tar_reader *reader, const struct tar_entry **ret);
/* The next run of the current file's data and where it goes; *ret_size is 0 at the file's end. */
MUST_USE struct status *tar_reader_data(struct tar_reader *reader, const void **ret_bytes, size_t *ret_size,
                                        int64_t *ret_offset);
/* Reads on to the very end of the stream, past the last entry, and tells the digest of the uncompressed stream. */
MUST_USE struct status *tar_reader_finish(struct tar_reader *reader, struct arena *arena, struct str *ret_diff_id);
void tar_reader_free(struct tar_reader *reader);
void tar_reader_freep(struct tar_reader **reader);

#endif
