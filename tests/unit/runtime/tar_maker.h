/* Makes tar streams in memory for tests, evil ones too. */
#ifndef TESTS_UNIT_RUNTIME_TAR_MAKER_H
#define TESTS_UNIT_RUNTIME_TAR_MAKER_H

#include "base/buf.h"

/* `type` is tar's: '0' file, '1' hard link, '2' symbolic link, '3' character, '4' block, '5' directory, '6' pipe. */
struct made_entry {
    char type;
    const char *path, *link, *data;
    unsigned mode, uid, gid, major, minor;
    long long claimed_size; /* not 0: what the header says instead of the data's length */
    const char *xattr, *xattr_value; /* one extended attribute, as a pax record */
};

void tar_make_entry(struct buf *tar, const struct made_entry *entry);
void tar_make_end(struct buf *tar);
/* A file with these bytes, unlinked: an fd to read from. */
int tar_make_fd(struct str bytes);

#endif
