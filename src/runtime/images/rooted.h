/* File operations below a directory that outsiders' paths cannot leave: "..", absolute paths and symbolic links are all
 * resolved as if that directory were the root (openat2 with RESOLVE_IN_ROOT), and the last component is never followed.
 * Blocking. Functions that return int give -1 and errno. */
#ifndef RUNTIME_IMAGES_ROOTED_H
#define RUNTIME_IMAGES_ROOTED_H

#include "base/str.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* The path without leading and doubled slashes, "." and ".." (which stop at the root); "" is the root itself.
 * False when it is too long or holds a NUL. `out` has room for PATH_MAX bytes. */
bool rooted_clean(const char *path, char *out);

/* Opens with O_CLOEXEC; links on the way, and a final one unless O_NOFOLLOW, stay below `root`. */
int rooted_open(int root, const char *path, int flags);

/* What a directory gets that has to be made on the way to something else. */
struct rooted_owner {
    mode_t mode;
    uid_t uid;
    gid_t gid;
};
typedef struct rooted_owner rooted_owner_fn(void *arg, const char *path);

/* Opens the directory (clean path; O_PATH) and makes what is missing on the way, asking `owner` (NULL: root, 0755) for
 * each made; *made_count is raised by their number. */
int rooted_make_directory(int root, const char *path, rooted_owner_fn *owner, void *arg, int64_t *made_count);

/* Removes `name` in directory `at`, with all below it when it is a directory, without following links. Missing is fine.
 * 0, or -1 and errno. */
int rooted_remove(int at, const char *name);

#endif
