/* References to images: [REGISTRY/]NAME[:TAG][@DIGEST], read as Docker, containerd and kubectl do. Pure. */
#ifndef SCHEMA_IMAGE_REFERENCE_H
#define SCHEMA_IMAGE_REFERENCE_H

#include "base/arena.h"
#include "base/status.h"

struct image_reference {
    struct str domain; /* "docker.io" when none is given */
    struct str path;   /* "library/nginx" for "nginx" */
    struct str tag, digest; /* empty when absent */
};

/* BAD_REQUEST in the words stock uses after "couldn't parse image name". */
MUST_USE struct status *image_reference_parse(struct arena *arena, struct str image, struct image_reference *ret);
/* The image with ":latest" when it has neither tag nor digest; otherwise as it is. */
MUST_USE struct status *image_reference_with_tag(struct arena *arena, struct str image, struct str *ret);

/* All of it, with ":latest" when there is neither tag nor digest: "docker.io/library/nginx:latest". With a digest the
 * tag is left out: it says nothing more. */
struct str image_reference_text(struct arena *arena, const struct image_reference *reference);

#endif
