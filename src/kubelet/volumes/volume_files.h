/* What files a configMap, secret, downwardAPI or projected volume holds. Pure: the objects are given. */
#ifndef KUBELET_VOLUMES_VOLUME_FILES_H
#define KUBELET_VOLUMES_VOLUME_FILES_H

#include "kubelet/downward.h"
#include "kubelet/volumes/atomic_writer.h"

struct key_selection {
    const struct core_v1_key_to_path *items; /* len 0: all keys, each under its own name */
    size_t len;
    uint32_t mode; /* of files without their own */
    bool is_optional;
    const char *kind;           /* "configmap", "secret" of messages */
    struct str namespace, name; /* of the object */
};

/* Adds the selected keys of `data` (and `more`, may be NULL). INVALID in stock's words when a key is missing that is
 * not optional, or a path leads outside. */
MUST_USE struct status *volume_files_add_keys(struct arena *arena, struct volume_files *files,
                                              const struct str_map *data, const struct str_map *more,
                                              const struct key_selection *selection);
MUST_USE struct status *volume_files_add_downward(struct arena *arena, struct volume_files *files,
                                                  const struct downward_facts *facts,
                                                  const struct core_v1_downward_api_volume_file *items, size_t len,
                                                  uint32_t mode);
/* Relative, not empty, without "..". */
bool volume_path_is_inside(struct str path);

#endif
