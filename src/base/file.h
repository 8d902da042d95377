/* Whole files: read with a bound, written so that a crash leaves the old or the new one. These calls block; on a loop's
 * thread use them for small local files at start-up only, else through task_offload(). Any thread. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/arena.h"
#include "base/status.h"

#include <sys/types.h>

/* REQUEST_ENTITY_TOO_LARGE beyond `max` bytes, NOT_FOUND when there is none. */
MUST_USE struct status *file_read(struct arena *arena, const char *path, size_t max, struct str *ret_content);
/* Writes PATH.tmp beside it, syncs, renames it over PATH and syncs the directory. */
MUST_USE struct status *file_write(const char *path, struct str content, mode_t mode);
/* The same without waiting for the disk, for what means nothing any more once the machine has lost power. Whoever dies at
 * it leaves the old one, or the new one as PATH.tmp, which file_read_unsynced() takes when there is no PATH. */
MUST_USE struct status *file_write_unsynced(const char *path, struct str content, mode_t mode);
MUST_USE struct status *file_read_unsynced(struct arena *arena, const char *path, size_t max, struct str *ret_content);
/* Makes a directory and all above it that are missing. */
MUST_USE struct status *file_make_directories(const char *path, mode_t mode);
bool file_exists(const char *path);

#endif
