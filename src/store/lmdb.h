/* The embedded store: one directory on a local disk, kept by LMDB. */
#ifndef STORE_LMDB_H
#define STORE_LMDB_H

#include "store/store.h"

/* Opens the store in `directory`, which is made (mode 0700) when missing; its parent must exist. SERVICE_UNAVAILABLE
 * when another process has it open; INTERNAL_ERROR when the data is of a newer format, or damaged. */
MUST_USE struct status *store_open_lmdb(const char *directory, const struct store_options *options, struct store **ret);

enum { LMDB_MAP_BYTES_MIN = 1 << 20 };

/* The same with a small first map, which grows like any other: for tests of that. */
MUST_USE struct status *store_open_lmdb_sized(const char *directory, const struct store_options *options,
                                              size_t map_bytes, struct store **ret);

#endif
