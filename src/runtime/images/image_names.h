/* The small files of an image store (image_store.h): names and blobs. Blocking, small; any thread. */
#ifndef RUNTIME_IMAGES_IMAGE_NAMES_H
#define RUNTIME_IMAGES_IMAGE_NAMES_H

#include "base/arena.h"
#include "base/status.h"

struct image_name {
    struct str name;     /* "docker.io/library/nginx:latest" or "docker.io/library/nginx@sha256:..." */
    struct str target;   /* digest of what the name led to: an index or a manifest */
    struct str manifest; /* digest of the manifest for this platform */
    bool is_pinned;
};

struct image_names {
    struct image_name *items;
    size_t len;
};

/* Makes what is missing of the directory. */
MUST_USE struct status *image_names_make(struct str directory);
/* All names, sorted; files that are no such record (a power cut leaves them) are left out. */
MUST_USE struct status *image_names_read(struct str directory, struct arena *arena, struct image_names *ret);
MUST_USE struct status *image_names_put(struct str directory, const struct image_name *name);
/* Fine when it is not there. */
MUST_USE struct status *image_names_remove(struct str directory, struct str name);

/* Keeps bytes under their digest. BAD_REQUEST when they have another. */
MUST_USE struct status *image_blob_put(struct str directory, struct str digest, struct str bytes);
/* NOT_FOUND, also when what is there is not what the digest says. */
MUST_USE struct status *image_blob_read(struct str directory, struct str digest, struct arena *arena,
                                        struct str *ret);

/* DIR/ingest/sha256-HEX: where a layer is gathered. */
struct str image_ingest_path(struct arena *arena, struct str directory, struct str digest);

#endif
