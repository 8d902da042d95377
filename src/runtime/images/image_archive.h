/* The files of an image archive, unpacked flat into a scratch directory: they come in any order, and a layer may be a
 * link to another. Nothing in the archive decides where anything is written. Blocking. */
#ifndef RUNTIME_IMAGES_IMAGE_ARCHIVE_H
#define RUNTIME_IMAGES_IMAGE_ARCHIVE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/status.h"

struct archive_file {
    struct str path;   /* in the archive, clean */
    struct str disk;   /* where its bytes are; empty for a link */
    struct str digest; /* sha256, or sha512 for what lies in blobs/sha512/ */
    struct str link;   /* clean path of what it stands for */
    int64_t size;
};

struct image_archive {
    struct arena *arena;
    struct str directory;
    struct map files; /* struct archive_file by path */
};

/* Reads the whole tar stream, compressed or not. `directory` is made, and removed by image_archive_done(). */
MUST_USE struct status *image_archive_read(int fd, struct str directory, struct image_archive *ret);
void image_archive_done(struct image_archive *archive);
/* Follows links. NULL when there is no such file. */
const struct archive_file *image_archive_find(const struct image_archive *archive, struct str path);
/* The content of a small file; in the archive's arena. NOT_FOUND. */
MUST_USE struct status *image_archive_text(const struct image_archive *archive, struct str path, struct str *ret);

#endif
