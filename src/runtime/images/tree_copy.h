/* Copies directory trees with all that belongs to files: owners, modes, times, extended attributes, links, devices.
 * For machines where overlayfs can't be had. Blocking. */
#ifndef RUNTIME_IMAGES_TREE_COPY_H
#define RUNTIME_IMAGES_TREE_COPY_H

#include "base/status.h"

enum tree_copy_mode {
    TREE_COPY_LINKS, /* files are hard links to those of `from`, which must never be written to */
    TREE_COPY_DATA,  /* everything stands alone; names of one file stay names of one file */
};

/* Fills the directory `to`, which is there and empty. What was copied before a failure stays. */
MUST_USE struct status *tree_copy(const char *from, const char *to, enum tree_copy_mode mode);

#endif
