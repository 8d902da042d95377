/* The images of a node: what names stand for, kept on disk as content-addressed blobs and unpacked layers.
 *
 * An image is known by its ID, the digest of its configuration; names ("docker.io/library/nginx:latest",
 * "docker.io/library/nginx@sha256:...") lead to it. A name is one small file that is written last, so an image is there
 * whole or not at all, whatever is killed when. Layers are unpacked as they come and their compressed form is dropped.
 *
 *   DIR/names/HEX            "NAME TARGET MANIFEST FLAGS": HEX is the digest of the name
 *   DIR/blobs/sha256-HEX     manifests and configurations
 *   DIR/ingest/sha256-HEX    what has come of a layer so far; a pull goes on from there
 *   DIR/layers, chains, containers: snapshot.h
 *
 * Several processes may use one directory: a store sees names that others wrote at the next look. Loop thread;
 * functions that touch the disk for more than a glance park. */
#ifndef RUNTIME_IMAGES_IMAGE_STORE_H
#define RUNTIME_IMAGES_IMAGE_STORE_H

#include "runtime/images/image_config.h"
#include "runtime/images/snapshot.h"

struct image_store;

/* Never changes; counted. */
struct image {
    struct str id;            /* "sha256:..." */
    struct str manifest;      /* digest of the manifest for this platform */
    struct str_list tags;     /* "docker.io/library/nginx:latest", sorted */
    struct str_list digests;  /* "docker.io/library/nginx@sha256:...", sorted */
    struct str chain_id;      /* of the topmost layer, for snapshots_prepare(); empty: no layers */
    int64_t size;             /* manifest, configuration and layers as they travel */
    bool is_pinned;           /* never to be collected */
    struct str config_json;   /* as it came */
    struct image_config config;
};

struct image *image_ref(struct image *image);
/* NULL is fine. */
void image_unref(struct image *image);
void image_unrefp(struct image **image);

/* Makes the directory when it is missing. Blocks for as long as it takes to read small files: at start-up. */
MUST_USE struct status *image_store_open(struct str directory, struct image_store **ret);
/* Nobody may be using it any more. */
void image_store_close(struct image_store *store);
struct str image_store_directory(const struct image_store *store);
/* Where containers' root file systems are made. */
struct snapshots *image_store_snapshots(struct image_store *store);

/* The image that an ID ("sha256:...", its hex, or the unique beginning of it) or a reference stands for; the caller gets
 * a count. NOT_FOUND; BAD_REQUEST for what is neither. */
MUST_USE struct status *image_store_find(struct image_store *store, struct str reference, struct image **ret);

struct images {
    struct image **items; /* borrowed until the next call on the store; image_ref() keeps one */
    size_t len;
};
/* Sorted by ID; the list is in the arena. */
MUST_USE struct status *image_store_list(struct image_store *store, struct arena *arena, struct images *ret);

/* Removes all names of the image and then what nobody needs any more. Fine when there is no such image. Containers
 * keep the layers they stand on. Parks. */
MUST_USE struct status *image_store_remove(struct image_store *store, struct str reference);
/* Removes blobs and layers that no name leads to, and what broken pulls left. Does nothing while images are being
 * added, here or in another process: it is made up for when that ends. Parks. */
MUST_USE struct status *image_store_collect(struct image_store *store);

/* Disk use of layers and blobs, without what containers wrote. Parks. */
MUST_USE struct status *image_store_usage(struct image_store *store, int64_t *ret_bytes, int64_t *ret_inodes);

#endif
