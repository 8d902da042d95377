/* Asks registries for the parts of one image: /v2/NAME/manifests/REFERENCE and /v2/NAME/blobs/DIGEST, with whatever
 * credentials they want to see first. Loop thread; calls park. Errors have the words of stock's containerd. */
#ifndef RUNTIME_IMAGES_REGISTRY_H
#define RUNTIME_IMAGES_REGISTRY_H

#include "runtime/images/manifest.h"
#include "runtime/images/registries.h"
#include "runtime/images/transfer.h"
#include "schema/image_reference.h"

/* One image's registry and mirrors. Everything in it and all results are in the arena. */
struct registry {
    struct transfers *transfers; /* lent */
    struct arena *arena;
    struct str repository; /* "library/nginx" */
    struct registry_endpoints endpoints;
    struct str *authorizations; /* of each endpoint: a header line, once it was asked for */
    size_t current; /* the endpoint that answered last, which is asked first */
};

/* `auth`: credentials that came with the request (those of a pull secret); they go before configured ones. NULL: none. */
void registry_init(struct registry *registry, struct transfers *transfers, struct arena *arena,
                   const struct registries *registries, const struct image_reference *reference,
                   const struct registry_auth *auth);

/* The digest that a tag or digest stands for, without the manifest. NOT_FOUND when no endpoint has it; empty when the
 * registry doesn't say. */
MUST_USE struct status *registry_resolve(struct registry *registry, struct str reference, struct str *ret_digest);
/* The manifest or index itself. */
MUST_USE struct status *registry_manifest(struct registry *registry, struct str reference, struct str *ret_json,
                                          struct str *ret_media_type);
/* A small blob, in memory: not checked yet. */
MUST_USE struct status *registry_blob(struct registry *registry, const struct descriptor *blob, struct str *ret);
/* A blob into the file, which holds its first *offset bytes already. */
MUST_USE struct status *registry_download(struct registry *registry, const struct descriptor *blob, int fd,
                                          int64_t offset, atomic_llong *received);

#endif
