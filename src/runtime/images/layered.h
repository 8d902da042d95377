/* Paths in a layer as they look on top of the layers below: what a layer holds in lib/ lies in usr/lib/ when lib is a
 * symbolic link to that in a lower layer. Blocking. */
#ifndef RUNTIME_IMAGES_LAYERED_H
#define RUNTIME_IMAGES_LAYERED_H

#include <stdbool.h>
#include <stddef.h>

/* Follows all symbolic links of a clean path, those that the layer itself has and those of `lowers` (topmost first),
 * below its root. Components that are nowhere stay as they are. `out` has room for PATH_MAX bytes; false when it is too
 * long or goes in circles. */
bool layered_follow(int root, const int *lowers, size_t lower_count, const char *path, char *out);

#endif
