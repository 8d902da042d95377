#include "bed.h"

#include "base/arena.h"
#include "base/buf.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bed_call {
    struct bed bed;
    void (*fn)(struct bed *bed);
};

static void remove_directory(const char *path)
{
    static const char *const names[] = {"data.mdb", "lock.mdb", "owner"};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char file[128];

        snprintf(file, sizeof(file), "%s/%s", path, names[i]);
        unlink(file);
    }
    CHECK(rmdir(path) == 0);
}

static void bed_task(void *arg)
{
    struct bed_call *call = arg;

    bed_open(&call->bed);
    call->fn(&call->bed);
    bed_close(&call->bed);
}

void bed_run(enum backend backend, void (*fn)(struct bed *bed))
{
    struct bed_call call = {.bed = {.backend = backend, .map_bytes = LMDB_MAP_BYTES_MIN}, .fn = fn};

    if (backend == MEMORY) {
        call.bed.disk = memory_disk_new();
    } else {
        snprintf(call.bed.directory, sizeof(call.bed.directory), "/tmp/c8s-store-test.XXXXXX");
        CHECK(mkdtemp(call.bed.directory) != NULL);
    }
    test_run_task(bed_task, &call);
    if (backend == MEMORY) {
        memory_disk_free(call.bed.disk);
    } else {
        remove_directory(call.bed.directory);
    }
}

void bed_open(struct bed *bed)
{
    if (bed->backend == MEMORY) {
        CHECK_OK(store_open_memory(bed->disk, &bed->options, &bed->store));
    } else {
        CHECK_OK(store_open_lmdb_sized(bed->directory, &bed->options, bed->map_bytes, &bed->store));
    }
}

void bed_close(struct bed *bed)
{
    CHECK_OK(store_close(TAKE(bed->store)));
}

void bed_reopen(struct bed *bed)
{
    bed_close(bed);
    bed_open(bed);
}

void bed_crash(struct bed *bed)
{
    store_abandon(TAKE(bed->store));
    task_sleep(ENV_SECOND); /* calls that were on their way end */
    bed_open(bed);
}

int64_t bed_create(struct bed *bed, const char *key, const char *value)
{
    OWNED(blob_unrefp) struct blob *blob = blob_of(str_of(value));
    OWNED(store_object_done) struct store_object object = {0};

    CHECK_OK(store_create(bed->store, str_of(key), blob, &object));
    return object.mod_revision;
}

static int64_t update(struct bed *bed, const char *key, const char *value, unsigned flags)
{
    OWNED(blob_unrefp) struct blob *blob = blob_of(str_of(value));
    OWNED(store_object_done) struct store_object object = {0};

    CHECK_OK(store_update(bed->store, str_of(key), blob, 0, flags, &object));
    return object.mod_revision;
}

int64_t bed_update(struct bed *bed, const char *key, const char *value)
{
    return update(bed, key, value, 0);
}

int64_t bed_update_volatile(struct bed *bed, const char *key, const char *value)
{
    return update(bed, key, value, STORE_VOLATILE);
}

int64_t bed_delete(struct bed *bed, const char *key)
{
    OWNED(store_object_done) struct store_object object = {0};

    CHECK_OK(store_delete(bed->store, str_of(key), 0, &object));
    return object.mod_revision;
}

void bed_check(struct bed *bed, const char *key, int64_t revision, const char *value)
{
    OWNED(store_object_done) struct store_object object = {0};
    struct status *status = store_get(bed->store, str_of(key), revision, &object, NULL);

    if (value == NULL) {
        CHECK(status_is(status, STATUS_NOT_FOUND));
        status_free(status);
    } else {
        CHECK_OK(status);
        CHECK_STR(blob_str(object.value), value);
    }
}

void bed_check_list(struct bed *bed, const char *prefix, int64_t revision, const char *text)
{
    struct store_list list;
    OWNED(buf_done) struct buf out = {0};

    CHECK_OK(store_list(bed->store, &(struct store_list_options){.prefix = str_of(prefix), .revision = revision}, &list));
    LIST_EACH(item, &list)
    {
        buf_printf(&out, "%s%.*s=%.*s", out.n > 0 ? " " : "", STR_ARG(item->key), STR_ARG(blob_str(item->object.value)));
    }
    store_list_done(&list);
    CHECK_STR(buf_str(&out), text);
}

struct store_watch *bed_watch(struct bed *bed, const char *prefix, int64_t after)
{
    struct store_watch *watch;

    CHECK_OK(store_watch_start(bed->store, str_of(prefix), after, &watch));
    return watch;
}

void bed_check_events(struct store_watch *watch, const char *text)
{
    OWNED(store_events_done) struct store_events events = {0};
    OWNED(buf_done) struct buf out = {0};
    int64_t before = 0;

    do {
        CHECK_OK(store_watch_next(watch, env_mono(), &events));
        for (size_t i = 0; i < events.len; i++) {
            const struct store_event *event = events.items[i];

            CHECK(event->revision > before && event->revision <= events.revision);
            before = event->revision;
            buf_printf(&out, "%s%c%.*s", out.n > 0 ? " " : "", "+~-"[event->type], STR_ARG(event->key));
            if (event->value != NULL) {
                buf_printf(&out, "=%.*s", STR_ARG(blob_str(event->value)));
            }
            if (event->previous != NULL) {
                buf_printf(&out, "<%.*s", STR_ARG(blob_str(event->previous)));
            }
        }
    } while (events.len > 0);
    CHECK_STR(buf_str(&out), text);
}
