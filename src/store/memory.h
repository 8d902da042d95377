/* A store on a disk that is memory: for simulation and tests. The disk outlives the stores opened on it, so a crash is
 * store_abandon() (store/disk.h) and opening again. */
#ifndef STORE_MEMORY_H
#define STORE_MEMORY_H

#include "store/store.h"

struct memory_disk;

struct memory_disk *memory_disk_new(void);
/* No store may be open on it. */
void memory_disk_free(struct memory_disk *disk);

/* One store at a time. */
MUST_USE struct status *store_open_memory(struct memory_disk *disk, const struct store_options *options,
                                          struct store **ret);

enum memory_disk_fault {
    MEMORY_DISK_GOOD,
    MEMORY_DISK_FULL,      /* writes fail and change nothing */
    MEMORY_DISK_UNCERTAIN, /* writes happen, but are reported as failed and perhaps done */
};

/* How the next `count` writes go; those after them are good. */
void memory_disk_fail(struct memory_disk *disk, enum memory_disk_fault fault, unsigned count);
/* Holds the outcome of each write back that long (ns). */
void memory_disk_slow(struct memory_disk *disk, int64_t latency);
/* After a crash: takes back the last write, if the store never got to know that it was done. */
void memory_disk_lose(struct memory_disk *disk);
/* Writes so far, failed ones too. */
uint64_t memory_disk_writes(const struct memory_disk *disk);

#endif
