/* What registries and archives say an image is made of: descriptors, manifests and indexes, in OCI's form and Docker's.
 * Everything is checked here: digests are valid, sizes within limits, counts bounded. Pure; strings borrow from the
 * JSON text and the arena. Errors are BAD_REQUEST. */
#ifndef RUNTIME_IMAGES_MANIFEST_H
#define RUNTIME_IMAGES_MANIFEST_H

#include "base/arena.h"
#include "base/status.h"

#define MEDIA_OCI_INDEX "application/vnd.oci.image.index.v1+json"
#define MEDIA_OCI_MANIFEST "application/vnd.oci.image.manifest.v1+json"
#define MEDIA_OCI_CONFIG "application/vnd.oci.image.config.v1+json"
#define MEDIA_OCI_LAYER "application/vnd.oci.image.layer.v1.tar"
#define MEDIA_DOCKER_INDEX "application/vnd.docker.distribution.manifest.list.v2+json"
#define MEDIA_DOCKER_MANIFEST "application/vnd.docker.distribution.manifest.v2+json"
#define MEDIA_DOCKER_CONFIG "application/vnd.docker.container.image.v1+json"

struct platform {
    struct str os, architecture, variant;
};

/* One blob somewhere. */
struct descriptor {
    struct str media_type, digest;
    int64_t size;
    struct platform platform; /* empty when not said */
    struct str image_name;    /* annotation io.containerd.image.name */
    struct str ref_name;      /* annotation org.opencontainers.image.ref.name */
    bool is_pinned;           /* annotation io.cri-containerd.pinned */
};

struct descriptors {
    struct descriptor *items;
    size_t len;
};

struct manifest {
    struct str media_type;
    bool is_index;
    struct descriptors manifests; /* of an index */
    struct descriptor config;     /* of a manifest */
    struct descriptors layers;
};

/* `media_type` is what the sender said (a registry's Content-Type without parameters, or a descriptor's); empty: take
 * the text's own word. */
MUST_USE struct status *manifest_decode(struct arena *arena, struct str json, struct str media_type,
                                        struct manifest *ret);
/* A manifest or an index, by its media type. */
bool manifest_is_index(struct str media_type);
bool manifest_is_manifest(struct str media_type);

/* The platform c8s was built for: linux on amd64, arm64, ... */
struct platform platform_host(void);
/* The index' first entry that runs on `platform`: an exact variant before a lesser one; attestations ("unknown") never.
 * NULL when there is none. */
const struct descriptor *manifest_choose(const struct manifest *index, struct platform platform);

#endif
