/* Disks that fail, and what is particular to a back end. */
#include "bed.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void full_disk(struct bed *bed)
{
    OWNED(blob_unrefp) struct blob *value = blob_of(STR("2"));
    struct store_watch *watch = bed_watch(bed, "/", 0);
    int64_t before = bed_create(bed, "/a", "1");
    struct store_object object = {0};

    memory_disk_fail(bed->disk, MEMORY_DISK_FULL, 2);
    struct status *status = store_update(bed->store, STR("/a"), value, 0, 0, &object);

    CHECK(status_is(status, STATUS_SERVICE_UNAVAILABLE) && object.value == NULL);
    CHECK_ERROR(status, "the disk is full");
    CHECK_ERROR(store_create(bed->store, STR("/b"), value, NULL), "the disk is full");
    bed_check_list(bed, "/", 0, "/a=1");
    CHECK_INT(store_revision(bed->store), before);
    CHECK_INT(bed_update(bed, "/a", "3"), before + 1); /* there is space again */
    bed_check_events(watch, "+/a=1 ~/a=3<1");
    store_watch_stop(watch);
}

TEST("store/memory/a full disk refuses, loses nothing, and is over when there is space")
{
    bed_run(MEMORY, full_disk);
}

struct racer {
    struct bed *bed;
    const char *value;
    enum status_reason reason; /* UNKNOWN: it went well */
};

static void race_create(void *arg)
{
    struct racer *racer = arg;
    OWNED(blob_unrefp) struct blob *value = blob_of(str_of(racer->value));
    struct status *status = store_create(racer->bed->store, STR("/a"), value, NULL);

    racer->reason = status != NULL ? status->reason : STATUS_UNKNOWN;
    status_free(status);
}

static void refusals_rest_on_durable_facts(struct bed *bed)
{
    struct racer first = {bed, "1", 0}, second = {bed, "2", 0};
    struct task_group group;

    /* Both are in one transaction, which fails: the second was not beaten to it by anything. */
    memory_disk_fail(bed->disk, MEMORY_DISK_FULL, 1);
    task_group_init(&group);
    task_group_spawn(&group, "first", race_create, &first);
    task_group_spawn(&group, "second", race_create, &second);
    task_group_wait(&group);
    CHECK_INT(memory_disk_writes(bed->disk), 1);
    CHECK_INT(first.reason, STATUS_SERVICE_UNAVAILABLE);
    CHECK_INT(second.reason, STATUS_SERVICE_UNAVAILABLE);
    bed_check(bed, "/a", 0, NULL);
}

TEST("store/memory/a refusal that rests on a failed write is a failure too")
{
    bed_run(MEMORY, refusals_rest_on_durable_facts);
}

static void uncertain_write(struct bed *bed)
{
    OWNED(blob_unrefp) struct blob *value = blob_of(STR("2"));
    struct store_watch *watch = bed_watch(bed, "/", 0);
    int64_t before = bed_create(bed, "/a", "1");

    memory_disk_fail(bed->disk, MEMORY_DISK_UNCERTAIN, 1);
    CHECK_ERROR(store_update(bed->store, STR("/a"), value, 0, 0, NULL), "disk");
    bed_check(bed, "/a", 0, "2"); /* it did happen, so all see it */
    CHECK_INT(bed_update(bed, "/a", "3"), before + 2);
    bed_check_events(watch, "+/a=1 ~/a=2<1 ~/a=3<2");
    store_watch_stop(watch);
}

TEST("store/memory/a write that failed but happened is seen")
{
    bed_run(MEMORY, uncertain_write);
}

/* The first is on its way to the disk, the second waits for its turn; neither's memory is lost (sanitized builds look). */
static void crash_with_a_queue(struct bed *bed)
{
    struct racer first = {bed, "1", 0}, second = {bed, "2", 0};
    struct task_group group;

    memory_disk_slow(bed->disk, ENV_SECOND);
    task_group_init(&group);
    task_group_spawn(&group, "first", race_create, &first);
    task_sleep(ENV_MS);
    task_group_spawn(&group, "second", race_create, &second);
    task_sleep(ENV_MS);
    task_group_cancel(&group);
    CHECK_INT(second.reason, STATUS_CANCELLED);
    memory_disk_slow(bed->disk, 0);
    bed_crash(bed);
    bed_check(bed, "/a", 0, "1");
}

TEST("store/memory/a crash drops what waited to be written")
{
    bed_run(MEMORY, crash_with_a_queue);
}

static void crash_during_write(struct bed *bed)
{
    for (int lose = 0; lose < 2; lose++) {
        struct racer racer = {bed, "1", 0};
        struct task_group group;

        memory_disk_slow(bed->disk, ENV_SECOND);
        task_group_init(&group);
        task_group_spawn(&group, "writer", race_create, &racer);
        task_sleep(ENV_MS);
        bed_check(bed, "/a", 0, NULL); /* written, but not known to be */
        task_group_cancel(&group);
        CHECK_INT(racer.reason, STATUS_CANCELLED);
        memory_disk_slow(bed->disk, 0);
        if (lose == 0) {
            memory_disk_lose(bed->disk);
        }
        bed_crash(bed);
        bed_check(bed, "/a", 0, lose == 0 ? NULL : "1");
    }
}

TEST("store/memory/a write that nobody was told of may survive a crash or not")
{
    bed_run(MEMORY, crash_during_write);
}

static void many_creates(void *arg)
{
    struct racer *racer = arg;
    char key[32];

    snprintf(key, sizeof(key), "/many/%d", (int)env_random_below(1000000000));
    bed_create(racer->bed, key, "1");
}

static void one_write_for_many(struct bed *bed)
{
    struct racer racer = {bed, NULL, 0};
    struct task_group group;

    memory_disk_slow(bed->disk, ENV_MS);
    task_group_init(&group);
    for (int i = 0; i < 300; i++) {
        task_group_spawn(&group, "writer", many_creates, &racer);
    }
    task_group_wait(&group);
    CHECK(memory_disk_writes(bed->disk) <= 2);
    CHECK_INT(store_revision(bed->store), 300);
    uint64_t writes = memory_disk_writes(bed->disk);

    bed_create(bed, "/lease", "0");
    bed_update_volatile(bed, "/lease", "1");
    for (int i = 0; i < 1000; i++) {
        bed_update_volatile(bed, "/lease", "2");
    }
    CHECK_INT(memory_disk_writes(bed->disk), writes + 2);
}

TEST("store/memory/writers at the same time share a transaction, heartbeats need none")
{
    bed_run(MEMORY, one_write_for_many);
}

static void sweeping_pauses_on_a_full_disk(struct bed *bed)
{
    for (int i = 0; i < 50; i++) {
        i == 0 ? bed_create(bed, "/a", "1") : bed_update(bed, "/a", "2");
    }
    memory_disk_fail(bed->disk, MEMORY_DISK_FULL, 1);
    CHECK_ERROR(store_compact(bed->store, 50), "the disk is full");
    uint64_t writes = memory_disk_writes(bed->disk), used;

    task_sleep(3600 * ENV_SECOND);
    CHECK_INT(memory_disk_writes(bed->disk), writes);
    bed_create(bed, "/b", "1");
    task_sleep(ENV_SECOND);
    store_size(bed->store, &used, NULL);
    CHECK_INT(used, 2);
}

TEST("store/memory/sweeping pauses on a full disk and goes on after the next write")
{
    bed_run(MEMORY, sweeping_pauses_on_a_full_disk);
}

static void fill(struct bed *bed, int from, int to)
{
    OWNED(blob_unrefp) struct blob *value = blob_new(10000);

    memset(value->p, 'v', value->n);
    for (int i = from; i < to; i++) {
        char key[32];

        snprintf(key, sizeof(key), "/registry/pods/ns/%d", i);
        CHECK_OK(store_create(bed->store, str_of(key), value, NULL));
    }
}

static void map_grows(struct bed *bed)
{
    uint64_t file;

    fill(bed, 0, 500);
    store_size(bed->store, NULL, &file);
    CHECK(file > 4 * (uint64_t)LMDB_MAP_BYTES_MIN);
    bed_reopen(bed);
    size_t count;

    CHECK_OK(store_count(bed->store, STR("/registry/pods/"), &count));
    CHECK_INT(count, 500);
}

TEST("store/lmdb/the map grows")
{
    bed_run(LMDB, map_grows);
}

static void file_limit(size_t bytes)
{
    struct rlimit limit;

    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = bytes > 0 ? bytes : limit.rlim_max;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static void full_file_system(struct bed *bed)
{
    OWNED(blob_unrefp) struct blob *value = blob_new(1000000);
    struct store_object object;
    char text[8];
    int failed = 0;

    memset(value->p, 'v', value->n);
    bed_create(bed, "/a", "1");
    signal(SIGXFSZ, SIG_IGN);
    file_limit(5 << 20); /* anyone may set this; tests/store/ fills a real file system */
    for (int i = 0; i < 10; i++) {
        snprintf(text, sizeof(text), "/%d", i);
        struct status *status = store_create(bed->store, str_of(text), value, NULL);

        if (status != NULL) {
            failed++;
            CHECK(status_is(status, STATUS_SERVICE_UNAVAILABLE));
            CHECK_ERROR(status, "nothing was written");
            bed_check(bed, text, 0, NULL);
        }
    }
    CHECK(failed > 3 && failed < 9);
    int64_t before = store_revision(bed->store);

    bed_check(bed, "/a", 0, "1");
    CHECK_OK(store_delete(bed->store, STR("/0"), 0, NULL)); /* small writes still fit */
    file_limit(0);
    CHECK_OK(store_create(bed->store, STR("/9"), value, NULL));
    CHECK_INT(store_revision(bed->store), before + 2);
    bed_reopen(bed);
    CHECK_OK(store_get(bed->store, STR("/9"), 0, &object, NULL));
    CHECK(str_eq(blob_str(object.value), blob_str(value)));
    store_object_done(&object);
}

TEST("store/lmdb/a file at its limit refuses, loses nothing, and is over when there is space")
{
    bed_run(LMDB, full_file_system);
}

static void one_process(struct bed *bed)
{
    struct store *second;
    struct status *status = store_open_lmdb(bed->directory, &bed->options, &second);
    struct stat stat_;
    char path[128];

    CHECK(status_is(status, STATUS_SERVICE_UNAVAILABLE));
    CHECK_ERROR(status, "is in use by another process");
    snprintf(path, sizeof(path), "%s/data.mdb", bed->directory);
    CHECK(stat(path, &stat_) == 0);
    CHECK_INT(stat_.st_mode & 0777, 0600);
}

TEST("store/lmdb/a directory has one owner, and nobody else may read it")
{
    bed_run(LMDB, one_process);
}

static void scribble(const char *directory, off_t at, const char *bytes)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/data.mdb", directory);
    int fd = open(path, O_WRONLY);

    CHECK(fd >= 0 && pwrite(fd, bytes, strlen(bytes), at) == (ssize_t)strlen(bytes) && close(fd) == 0);
}

static void garbage(struct bed *bed)
{
    struct store *store;

    bed_close(bed);
    scribble(bed->directory, 0, "this is no store of ours, not at all, whatever anyone may say about it");
    scribble(bed->directory, 4096, "this is no store of ours, not at all, whatever anyone may say about it");
    struct status *status = store_open_lmdb(bed->directory, &bed->options, &store);

    CHECK(status_is(status, STATUS_INTERNAL_ERROR));
    CHECK_ERROR(status, bed->directory);
    char path[128];

    snprintf(path, sizeof(path), "%s/data.mdb", bed->directory);
    CHECK(unlink(path) == 0);
    bed_open(bed);
}

TEST("store/lmdb/a file that is no store is refused")
{
    bed_run(LMDB, garbage);
}

static void churn(struct bed *bed)
{
    uint64_t early = 0, file = 0;
    char key[32], value[3000];
    struct store_list list;

    memset(value, 'v', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    for (int i = 0; i < 50; i++) {
        snprintf(key, sizeof(key), "/registry/pods/ns/%d", i);
        bed_create(bed, key, value);
    }
    for (int round = 0; round < 30; round++) {
        for (int i = 0; i < 200; i++) {
            snprintf(key, sizeof(key), "/registry/pods/ns/%d", i % 50);
            value[0] = (char)('a' + round);
            if (i % 50 == 7) {
                bed_delete(bed, key);
                bed_create(bed, key, value);
            } else {
                bed_update(bed, key, value);
            }
            CHECK_OK(store_list(bed->store, &(struct store_list_options){.prefix = STR("/registry/pods/")}, &list));
            store_list_done(&list);
        }
        CHECK_OK(store_compact(bed->store, store_revision(bed->store)));
        store_size(bed->store, NULL, &file);
        early = round == 5 ? file : early;
    }
    CHECK(file <= early * 5 / 4);
}

TEST("store/lmdb/the file does not grow when old versions are compacted away")
{
    bed_run(LMDB, churn);
}
