/* An image's configuration: what a container of it runs unless its pod says otherwise. Pure; strings borrow from the
 * JSON text and the arena. */
#ifndef RUNTIME_IMAGES_IMAGE_CONFIG_H
#define RUNTIME_IMAGES_IMAGE_CONFIG_H

#include "base/arena.h"
#include "base/status.h"
#include "schema/scalars.h"

struct image_config {
    struct str os, architecture, variant;
    struct str_list entrypoint, cmd, env; /* env: "NAME=value" */
    struct str user;        /* "", "nginx", "1000:1000", ... */
    struct str working_dir; /* "" or absolute */
    struct str stop_signal; /* "", "SIGQUIT", "3" */
    struct str_list volumes, exposed_ports; /* sorted */
    struct str_map labels;
    struct str_list diff_ids; /* of the layers, lowest first; valid digests */
};

/* BAD_REQUEST when it is not one. */
MUST_USE struct status *image_config_decode(struct arena *arena, struct str json, struct image_config *ret);
/* As CRI tells it: the number when the user (what is before ":") is one, else the name. An empty user is number 0. */
void image_config_user(const struct image_config *config, bool *ret_is_number, int64_t *ret_uid, struct str *ret_name);

#endif
