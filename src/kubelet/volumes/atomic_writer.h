/* Writes a set of files into a volume so that a container sees either all of the old or all of the new: the files lie
 * in a directory ..TIMESTAMP, the symlink ..data points at it and is replaced in one step, and the names a container
 * uses are symlinks through ..data. The layout is stock's, which programs watch with inotify. */
#ifndef KUBELET_VOLUMES_ATOMIC_WRITER_H
#define KUBELET_VOLUMES_ATOMIC_WRITER_H

#include "kubelet/host.h"

struct volume_file {
    struct str path; /* relative, no "..", may have directories */
    struct str content;
    uint32_t mode;
};

struct volume_files {
    struct volume_file *items;
    size_t len;
};

/* `directory` exists. *ret_changed (may be NULL) tells whether anything was written. When `group` is not below 0 the
 * new files are given to it before they are seen. */
MUST_USE struct status *atomic_write(struct host *host, const char *directory, const struct volume_files *files,
                                     int64_t group, bool *ret_changed);

#endif
