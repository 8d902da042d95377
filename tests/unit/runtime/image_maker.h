/* Makes images of files in memory for tests: the blobs, and archives of them. */
#ifndef TESTS_UNIT_RUNTIME_IMAGE_MAKER_H
#define TESTS_UNIT_RUNTIME_IMAGE_MAKER_H

#include "base/arena.h"
#include "tar_maker.h"

enum { MADE_LAYERS_MAX = 128 };

struct made_image {
    struct str layers[MADE_LAYERS_MAX]; /* tar streams */
    struct str layer_digests[MADE_LAYERS_MAX];
    size_t layer_count;
    struct str config, config_digest;
    struct str manifest, manifest_digest;
};

/* A layer of one file. */
struct str image_make_layer(struct arena *arena, const char *path, const char *content);
/* Configuration and manifest of the layers that were put in. `config` is the "config" member's JSON. */
void image_make(struct arena *arena, struct made_image *image, const char *config);
/* An OCI layout whose index names it so. */
struct str image_make_oci(struct arena *arena, const struct made_image *image, const char *name);
/* What `docker save` writes; the last layer is a link to the first when `links_last`. */
struct str image_make_docker(struct arena *arena, const struct made_image *image, const char *tag, bool links_last);

#endif
