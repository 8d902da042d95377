/* References to images: [REGISTRY/]NAME[:TAG][@DIGEST]. Pure. */
#ifndef KUBELET_IMAGE_NAME_H
#define KUBELET_IMAGE_NAME_H

#include "base/arena.h"
#include "base/status.h"

struct image_name {
    struct str domain; /* "docker.io" when none is given */
    struct str path;   /* "library/nginx" for "nginx" */
    struct str tag, digest; /* empty when absent */
};

/* BAD_REQUEST in the words stock uses after "couldn't parse image name". */
MUST_USE struct status *image_name_parse(struct arena *arena, struct str image, struct image_name *ret);
/* The image with ":latest" when it has neither tag nor digest; otherwise as it is. */
MUST_USE struct status *image_name_with_tag(struct arena *arena, struct str image, struct str *ret);

#endif
