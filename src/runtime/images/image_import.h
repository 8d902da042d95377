/* Brings images from files into a store: OCI layouts in a tar (also with several images, also of several platforms),
 * and Docker's archives (`docker save`), plain or compressed. */
#ifndef RUNTIME_IMAGES_IMAGE_IMPORT_H
#define RUNTIME_IMAGES_IMAGE_IMPORT_H

#include "runtime/images/image_store.h"

/* Reads the archive at fd's offset to its end. All digests are verified. *ret_names gets the names that now stand for
 * the imported images ("docker.io/library/nginx:latest"), in the archive's order, in the arena; an image that the
 * archive does not name gets none of its own but "import@DIGEST". BAD_REQUEST for what is no such archive or holds
 * nothing for this machine's platform. Parks. */
MUST_USE struct status *image_import(struct image_store *store, int fd, struct arena *arena,
                                     struct str_list *ret_names);

#endif
