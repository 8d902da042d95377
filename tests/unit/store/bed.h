/* A store to test, on either back end, and short ways to use it. Failures end the test. */
#ifndef TESTS_STORE_BED_H
#define TESTS_STORE_BED_H

#include "test.h"

#include "base/env.h"
#include "base/mem.h"
#include "base/task.h"
#include "store/disk.h"
#include "store/lmdb.h"
#include "store/memory.h"

enum backend { MEMORY, LMDB };

struct bed {
    enum backend backend;
    struct store_options options;
    size_t map_bytes; /* LMDB's; 0: the default */
    struct memory_disk *disk;
    char directory[64];
    struct store *store;
};

/* Runs fn(bed) as a task with an empty store open, and cleans up. */
void bed_run(enum backend backend, void (*fn)(struct bed *bed));
void bed_open(struct bed *bed);
void bed_close(struct bed *bed);
/* Close and open. */
void bed_reopen(struct bed *bed);
/* What a kill would leave, opened. */
void bed_crash(struct bed *bed);

/* Each returns the revision. */
int64_t bed_create(struct bed *bed, const char *key, const char *value);
int64_t bed_update(struct bed *bed, const char *key, const char *value);
int64_t bed_update_volatile(struct bed *bed, const char *key, const char *value);
int64_t bed_delete(struct bed *bed, const char *key);
/* The key has that value at `revision` (0: now); NULL: it is not there. */
void bed_check(struct bed *bed, const char *key, int64_t revision, const char *value);
/* Everything under the prefix at `revision`, as "key=value key=value". */
void bed_check_list(struct bed *bed, const char *prefix, int64_t revision, const char *text);
struct store_watch *bed_watch(struct bed *bed, const char *prefix, int64_t after);
/* The next events, all that come at once, as "+key=value" created, "~key=value<previous" updated, "-key<previous". */
void bed_check_events(struct store_watch *watch, const char *text);

#endif
