#include "test.h"

#include "apiserver/watch_cache.h"
#include "base/env.h"
#include "base/mem.h"
#include "base/task.h"
#include "store/memory.h"

#include <stdio.h>
#include <stdlib.h>

/* A cache over a store in memory. An object is its text; a revision is what the decoder was told. */
struct object {
    struct str text;
    int64_t revision;
};

struct bed {
    struct memory_disk *disk;
    struct store *store;
    struct watch_cache *cache;
    struct watch_cache_options options;
    int decoded, encoded;
};

static struct status *decode(void *arg, struct arena *arena, struct str bytes, int64_t revision, void **ret)
{
    struct bed *bed = arg;
    struct object *object = ARENA_NEW(arena, struct object);

    if (str_is(bytes, "damaged")) {
        return status_new(STATUS_BAD_REQUEST, "no object");
    }
    *object = (struct object){bytes, revision};
    bed->decoded++;
    *ret = object;
    return NULL;
}

static void bed_open(struct bed *bed)
{
    CHECK_OK(store_open_memory(bed->disk, &(struct store_options){0}, &bed->store));
    bed->options.prefix = STR("/registry/pods/");
    bed->options.decode = decode;
    bed->options.arg = bed;
    bed->cache = watch_cache_new(bed->store, &bed->options);
}

static void bed_close(struct bed *bed)
{
    watch_cache_free(TAKE(bed->cache));
    CHECK_OK(store_close(TAKE(bed->store)));
}

struct bed_call {
    struct bed bed;
    void (*fn)(struct bed *bed);
};

static void bed_task(void *arg)
{
    struct bed_call *call = arg;

    bed_open(&call->bed);
    call->fn(&call->bed);
    bed_close(&call->bed);
}

static void bed_run(void (*fn)(struct bed *bed))
{
    struct bed_call call = {.bed = {.disk = memory_disk_new()}, .fn = fn};

    test_run_task(bed_task, &call);
    memory_disk_free(call.bed.disk);
}

/* Creates or replaces; an empty value deletes. */
static int64_t put(struct bed *bed, const char *name, const char *value)
{
    char key[128];
    OWNED(blob_unrefp) struct blob *blob = blob_of(str_of(value));
    OWNED(store_object_done) struct store_object object = {0};

    snprintf(key, sizeof(key), "/registry/%s%s", name[0] == '/' ? "" : "pods/", name[0] == '/' ? name + 1 : name);
    if (blob->n == 0) {
        CHECK_OK(store_delete(bed->store, str_of(key), 0, &object));
    } else {
        struct status *status = store_update(bed->store, str_of(key), blob, 0, 0, &object);

        if (status_free_if(&status, STATUS_NOT_FOUND)) {
            status = store_create(bed->store, str_of(key), blob, &object);
        }
        CHECK_OK(status);
    }
    return object.mod_revision;
}

static struct str text_of(struct stored *stored)
{
    const void *object;

    CHECK_OK(stored_object(stored, &object));
    CHECK_INT(((const struct object *)object)->revision, stored_revision(stored));
    return ((const struct object *)object)->text;
}

static void check_list(struct bed *bed, struct str scope, enum freshness freshness, int64_t revision,
                       const char *wanted)
{
    OWNED(watch_snapshot_done) struct watch_snapshot snapshot = {0};
    OWNED(buf_done) struct buf out = {0};
    struct watch_snapshot_walk walk;
    size_t count = 0;

    CHECK_OK(watch_cache_snapshot(bed->cache, freshness, revision, &snapshot));
    watch_snapshot_walk(&walk, &snapshot, scope, STR(""));
    for (struct stored *stored; (stored = watch_snapshot_next(&walk)) != NULL; count++) {
        buf_printf(&out, "%s%.*s=%.*s", out.n > 0 ? " " : "", STR_ARG(stored_key(stored)), STR_ARG(text_of(stored)));
    }
    CHECK_STR(buf_str(&out), wanted);
    CHECK_INT(watch_snapshot_count(&snapshot, scope, STR("")), count);
}

static struct watcher *watch(struct bed *bed, const struct watch_options *options)
{
    struct watcher *watcher;

    CHECK_OK(watch_cache_watch(bed->cache, options, &watcher));
    return watcher;
}

/* All events that come without waiting, as "A:key=text M:... D:... B". */
static void check_events(struct watcher *watcher, const char *wanted)
{
    OWNED(watch_events_done) struct watch_events events = {0};
    OWNED(buf_done) struct buf out = {0};

    task_sleep(ENV_MS); /* the cache takes in what is new */
    do {
        CHECK_OK(watcher_next(watcher, env_mono(), &events));
        for (size_t i = 0; i < events.len; i++) {
            const struct watch_event *event = &events.items[i];

            buf_printf(&out, "%s%c", out.n > 0 ? " " : "", "AMDB"[event->type]);
            if (event->object != NULL) {
                buf_printf(&out, ":%.*s=%.*s", STR_ARG(stored_key(event->object)), STR_ARG(text_of(event->object)));
                CHECK_INT(stored_revision(event->object), event->revision);
            } else {
                buf_printf(&out, "%s", event->is_initial_end ? "!" : "");
            }
        }
    } while (events.len > 0);
    CHECK_STR(buf_str(&out), wanted);
}

static bool begins_with_x(void *arg, const void *object)
{
    return str_has_prefix(((const struct object *)object)->text, STR("x"));
}

static void reads(struct bed *bed)
{
    struct stored *stored;
    int64_t revision;

    put(bed, "a/1", "one");
    int64_t second = put(bed, "a/2", "two");

    put(bed, "b/1", "three");
    put(bed, "/podsecurity/z", "of another resource");
    CHECK_OK(watch_cache_get(bed->cache, STR("a/2"), FRESH_LATEST, 0, &stored, &revision));
    CHECK_STR(text_of(stored), "two");
    CHECK_INT(stored_revision(stored), second);
    CHECK_INT(revision, second + 2);
    stored_unref(stored);
    CHECK_OK(watch_cache_get(bed->cache, STR("a/3"), FRESH_LATEST, 0, &stored, NULL));
    CHECK(stored == NULL);
    check_list(bed, STR(""), FRESH_LATEST, 0, "a/1=one a/2=two b/1=three");
    check_list(bed, STR("a/"), FRESH_ANY, 0, "a/1=one a/2=two");
    check_list(bed, STR("a/2"), FRESH_ANY, 0, "a/2=two");
    check_list(bed, STR("a"), FRESH_ANY, 0, "");
    put(bed, "a/1", "ONE");
    check_list(bed, STR("a/"), FRESH_LATEST, 0, "a/1=ONE a/2=two"); /* what was acknowledged is seen */
}

TEST("apiserver/watch_cache/gets and lists by scope, as fresh as asked") { bed_run(reads); }

static void exact(struct bed *bed)
{
    int64_t before_all = put(bed, "a/1", "one");

    put(bed, "a/2", "two");
    check_list(bed, STR(""), FRESH_LATEST, 0, "a/1=one a/2=two"); /* the window begins here */
    int64_t at[] = {put(bed, "a/1", "ONE"), put(bed, "a/2", ""), put(bed, "a/3", "three"), put(bed, "/x", "other")};

    check_list(bed, STR(""), FRESH_EXACT, at[3], "a/1=ONE a/3=three");
    check_list(bed, STR(""), FRESH_EXACT, at[2], "a/1=ONE a/3=three");
    check_list(bed, STR(""), FRESH_EXACT, at[1], "a/1=ONE");
    check_list(bed, STR(""), FRESH_EXACT, at[0], "a/1=ONE a/2=two");
    check_list(bed, STR(""), FRESH_EXACT, before_all, "a/1=one"); /* from the store */
    check_list(bed, STR(""), FRESH_LATEST, 0, "a/1=ONE a/3=three");
    CHECK_OK(store_compact(bed->store, at[0]));
    struct watch_snapshot snapshot;

    CHECK_ERROR(watch_cache_snapshot(bed->cache, FRESH_EXACT, before_all, &snapshot),
                "The resourceVersion for the provided list is too old.");
}

TEST("apiserver/watch_cache/a list at a past revision is that of then") { bed_run(exact); }

static void snapshots(struct bed *bed)
{
    OWNED(watch_snapshot_done) struct watch_snapshot snapshot = {0};
    struct watch_snapshot_walk walk;
    char name[16];

    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof(name), "a/%d", i);
        put(bed, name, "x");
    }
    CHECK_OK(watch_cache_snapshot(bed->cache, FRESH_LATEST, 0, &snapshot));
    watch_snapshot_walk(&walk, &snapshot, STR("a/"), STR("a/7"));
    CHECK_STR(stored_key(watch_snapshot_next(&walk)), "a/7");
    put(bed, "a/8", "");
    put(bed, "a/77", "new");
    check_list(bed, STR("a/7"), FRESH_LATEST, 0, "a/7=x");
    CHECK_STR(stored_key(watch_snapshot_next(&walk)), "a/8");
    CHECK_STR(stored_key(watch_snapshot_next(&walk)), "a/9");
    CHECK(watch_snapshot_next(&walk) == NULL);
    CHECK_INT(watch_snapshot_count(&snapshot, STR("a/"), STR("a/7")), 3);
    CHECK_INT(watch_snapshot_count(&snapshot, STR("a/"), STR("a/7\0")), 2);
    CHECK_INT(watch_snapshot_count(&snapshot, STR("b/"), STR("")), 0);
}

TEST("apiserver/watch_cache/a snapshot stays as it is under writers") { bed_run(snapshots); }

static void too_large(struct bed *bed)
{
    struct watch_snapshot snapshot;
    int64_t last = put(bed, "a/1", "one"), began = env_mono();
    struct status *status = watch_cache_snapshot(bed->cache, FRESH_NOT_OLDER, last + 5, &snapshot);

    CHECK(status_is(status, STATUS_TIMEOUT) && status->cause_count == 1 && status->retry_after_seconds == 1);
    CHECK_STR(status->causes[0].reason, "ResourceVersionTooLarge");
    CHECK_INT(env_mono() - began, 3 * ENV_SECOND);
    CHECK_ERROR(status, "Timeout: Too large resource version: 6, current: 1");
}

TEST("apiserver/watch_cache/a revision to come is waited for, three seconds") { bed_run(too_large); }

static void write_later(void *arg)
{
    task_sleep(ENV_SECOND);
    put(arg, "/other/thing", "moves the revision, not the cache");
}

static void comes_in_time(struct bed *bed)
{
    struct task_group group;
    int64_t last = put(bed, "a/1", "one");

    task_group_init(&group);
    task_group_spawn(&group, "write-later", write_later, bed);
    check_list(bed, STR(""), FRESH_NOT_OLDER, last + 1, "a/1=one");
    CHECK(env_mono() < 2 * ENV_SECOND);
    task_group_wait(&group);
}

TEST("apiserver/watch_cache/a revision counts when it comes with another resource") { bed_run(comes_in_time); }

static void watches(struct bed *bed)
{
    int64_t first = put(bed, "a/1", "one");
    struct watcher *from_state = watch(bed, &(struct watch_options){.after = -1, .freshness = FRESH_LATEST});
    struct watcher *from_first = watch(bed, &(struct watch_options){.after = first, .scope = STR("a/")});
    struct watcher *one = watch(bed, &(struct watch_options){.after = first, .scope = STR("a/2")});
    struct watcher *to_come = watch(bed, &(struct watch_options){.after = first + 2});

    put(bed, "a/1", "ONE");
    put(bed, "a/2", "two");
    put(bed, "b/1", "three");
    put(bed, "a/2", "");
    check_events(from_state, "A:a/1=one M:a/1=ONE A:a/2=two A:b/1=three D:a/2=two");
    check_events(from_first, "M:a/1=ONE A:a/2=two D:a/2=two");
    check_events(one, "A:a/2=two D:a/2=two");
    check_events(to_come, "A:b/1=three D:a/2=two");
    put(bed, "b/1", "THREE");
    check_events(one, "");
    check_events(from_state, "M:b/1=THREE");
    watcher_stop(from_state);
    watcher_stop(from_first);
    watcher_stop(one);
    watcher_stop(to_come);
}

TEST("apiserver/watch_cache/watchers see changes after a revision, in their scope") { bed_run(watches); }

static void filters(struct bed *bed)
{
    put(bed, "a/1", "x1");
    put(bed, "a/2", "y2");
    struct watcher *watcher =
        watch(bed, &(struct watch_options){.after = -1, .match = begins_with_x, .initial_end = true});

    check_events(watcher, "A:a/1=x1 B!");
    put(bed, "a/1", "x1b");
    put(bed, "a/1", "gone from view");
    put(bed, "a/1", "still gone");
    put(bed, "a/2", "x2");
    put(bed, "a/2", "");
    put(bed, "a/1", "");
    check_events(watcher, "M:a/1=x1b D:a/1=x1b A:a/2=x2 D:a/2=x2");
    watcher_stop(watcher);
}

TEST("apiserver/watch_cache/a filter turns changes into additions and deletions") { bed_run(filters); }

struct reader {
    struct watcher *watcher;
    int wakes, events;
};

static void read_all(void *arg)
{
    struct reader *reader = arg;
    OWNED(watch_events_done) struct watch_events events = {0};
    struct status *status;

    while ((status = watcher_next(reader->watcher, TASK_FOREVER, &events)) == NULL) {
        reader->wakes++;
        reader->events += (int)events.len;
    }
    CHECK(status_is(status, STATUS_SERVICE_UNAVAILABLE));
    status_free(status);
}

static struct status *encode(void *arg, struct stored *stored, uint32_t form, struct buf *out)
{
    ((struct bed *)arg)->encoded++;
    buf_printf(out, "%u %.*s", form, STR_ARG(text_of(stored)));
    return NULL;
}

static void wakes_few(struct bed *bed)
{
    struct task_group group;
    struct reader readers[50];
    char scope[16];

    put(bed, "n0/a", "0");
    task_group_init(&group);
    for (size_t i = 0; i < COUNT_OF(readers); i++) {
        snprintf(scope, sizeof(scope), "n%zu/", i % 10);
        readers[i] = (struct reader){watch(bed, &(struct watch_options){.after = 1, .scope = str_of(scope)}), 0, 0};
        task_group_spawn(&group, "reader", read_all, &readers[i]);
    }
    for (int i = 0; i < 20; i++) {
        put(bed, "n3/b", "text");
        task_sleep(ENV_MS);
    }
    watch_cache_stop(bed->cache);
    task_group_wait(&group);
    for (size_t i = 0; i < COUNT_OF(readers); i++) {
        CHECK_INT(readers[i].events, i % 10 == 3 ? 20 : 0);
        CHECK_INT(readers[i].wakes, readers[i].events);
        watcher_stop(readers[i].watcher);
    }
    CHECK_INT(bed->decoded, 0); /* nobody looked inside */
}

TEST("apiserver/watch_cache/only those concerned are woken; stopping ends all") { bed_run(wakes_few); }

static void shares_bytes(struct bed *bed)
{
    struct stored *stored;
    struct blob *blobs[3];

    bed->options.encoded_bytes = 16;
    bed_close(bed);
    bed_open(bed);
    put(bed, "a/1", "first");
    put(bed, "a/2", "a text that is longer than all that is kept");
    CHECK_OK(watch_cache_get(bed->cache, STR("a/1"), FRESH_LATEST, 0, &stored, NULL));
    CHECK_OK(stored_encoded(stored, 1, encode, bed, &blobs[0]));
    CHECK_OK(stored_encoded(stored, 1, encode, bed, &blobs[1]));
    CHECK_OK(stored_encoded(stored, 2, encode, bed, &blobs[2]));
    CHECK(blobs[0] == blobs[1] && blobs[0] != blobs[2] && bed->encoded == 2 && bed->decoded == 1);
    CHECK_STR(blob_str(blobs[0]), "1 first");
    CHECK_STR(blob_str(blobs[2]), "2 first");
    for (size_t i = 0; i < COUNT_OF(blobs); i++) {
        blob_unref(blobs[i]);
    }
    struct stored *longer;

    CHECK_OK(watch_cache_get(bed->cache, STR("a/2"), FRESH_LATEST, 0, &longer, NULL));
    for (size_t i = 0; i < 2; i++) {
        CHECK_OK(stored_encoded(longer, 1, encode, bed, &blobs[0]));
        blob_unref(blobs[0]);
    }
    CHECK_INT(bed->encoded, 3);
    CHECK_OK(stored_encoded(stored, 1, encode, bed, &blobs[0])); /* the longer one took its place */
    CHECK_INT(bed->encoded, 4);
    blob_unref(blobs[0]);
    stored_unref(stored);
    stored_unref(longer);
}

TEST("apiserver/watch_cache/readers of one version share its bytes, within a bound") { bed_run(shares_bytes); }

static void cuts_off(struct bed *bed)
{
    OWNED(watch_events_done) struct watch_events events = {0};

    bed->options.window_events = 10;
    bed_close(bed);
    bed_open(bed);
    int64_t first = put(bed, "a/1", "one");
    struct watcher *slow = watch(bed, &(struct watch_options){.after = first});
    struct watcher *fast = watch(bed, &(struct watch_options){.after = first});
    struct watcher *elsewhere = watch(bed, &(struct watch_options){.after = first, .scope = STR("b/")});

    for (int i = 0; i < 20; i++) {
        put(bed, "a/1", "again");
        check_events(fast, "M:a/1=again");
    }
    CHECK_ERROR(watcher_next(slow, env_mono(), &events), "too old resource version: 1 (11)");
    check_events(elsewhere, ""); /* what doesn't concern it can't make it late */
    watcher_stop(slow);
    watcher_stop(fast);
    watcher_stop(elsewhere);
}

TEST("apiserver/watch_cache/a slow watcher is cut off and holds nobody up") { bed_run(cuts_off); }

static void goes_back(struct bed *bed)
{
    struct watcher *watcher;
    int64_t first = put(bed, "a/1", "one");

    put(bed, "a/1", "ONE");
    put(bed, "a/2", "two");
    put(bed, "a/2", "");
    int64_t fifth = put(bed, "a/3", "three");

    check_list(bed, STR(""), FRESH_LATEST, 0, "a/1=ONE a/3=three"); /* the window begins here */
    put(bed, "a/3", "THREE");
    watcher = watch(bed, &(struct watch_options){.after = first});
    check_events(watcher, "M:a/1=ONE A:a/2=two D:a/2=two A:a/3=three M:a/3=THREE");
    watcher_stop(watcher);
    check_list(bed, STR(""), FRESH_EXACT, first + 2, "a/1=ONE a/2=two");
    bed_close(bed);
    bed_open(bed);
    watcher = watch(bed, &(struct watch_options){.after = fifth}); /* clients go on after the server comes back */
    check_events(watcher, "M:a/3=THREE");
    watcher_stop(watcher);
    CHECK_OK(store_compact(bed->store, fifth));
    struct status *status = watch_cache_watch(bed->cache, &(struct watch_options){.after = first}, &watcher);

    CHECK(status_is(status, STATUS_EXPIRED) && status->code == 410);
    CHECK_ERROR(status, "too old resource version: 1 (5)");
}

TEST("apiserver/watch_cache/a watch goes back as far as the store's log") { bed_run(goes_back); }

static void bookmarks(struct bed *bed)
{
    OWNED(watch_events_done) struct watch_events events = {0};
    int64_t first = put(bed, "a/1", "one");
    struct watcher *watcher =
        watch(bed, &(struct watch_options){.after = first, .bookmarks = true, .ends = env_mono() + 200 * ENV_SECOND});

    CHECK_OK(watcher_next(watcher, env_mono() + 100 * ENV_SECOND, &events));
    CHECK_INT(events.len, 0); /* nothing to tell */
    int64_t other = put(bed, "/other/1", "x");
    int64_t began = env_mono();

    CHECK_OK(watcher_next(watcher, TASK_FOREVER, &events));
    CHECK(events.len == 1 && events.items[0].type == WATCH_BOOKMARK && events.items[0].revision == other);
    CHECK(env_mono() - began <= 75 * ENV_SECOND);
    put(bed, "/other/1", "y");
    CHECK_OK(watcher_next(watcher, TASK_FOREVER, &events));
    CHECK(events.len == 1 && events.items[0].revision == other + 1 && !events.items[0].is_initial_end);
    CHECK(env_mono() <= 198 * ENV_SECOND);
    watcher_stop(watcher);
}

TEST("apiserver/watch_cache/bookmarks tell of progress elsewhere") { bed_run(bookmarks); }

static void forgets(struct bed *bed)
{
    struct watcher *watcher;

    check_list(bed, STR(""), FRESH_ANY, 0, "");
    for (int i = 0; i < 300; i++) {
        put(bed, "a/1", "text");
    }
    watcher = watch(bed, &(struct watch_options){.after = 1});
    watcher_stop(watcher);
    task_sleep(80 * ENV_SECOND);
    CHECK_OK(store_compact(bed->store, 300)); /* so that it can't be read again */
    CHECK_ERROR(watch_cache_watch(bed->cache, &(struct watch_options){.after = 1}, &watcher),
                "too old resource version: 1 (200)");
    watcher = watch(bed, &(struct watch_options){.after = 200});
    watcher_stop(watcher);
}

TEST("apiserver/watch_cache/old changes go, but for the last hundred") { bed_run(forgets); }

static void damage(struct bed *bed)
{
    OWNED(watch_events_done) struct watch_events events = {0};
    struct watcher *watcher;
    const void *object;
    struct stored *stored;

    put(bed, "a/1", "damaged");
    CHECK_OK(watch_cache_get(bed->cache, STR("a/1"), FRESH_ANY, 0, &stored, NULL));
    struct status *status = stored_object(stored, &object);

    CHECK(status_is(status, STATUS_INTERNAL_ERROR) && status->code == 500);
    CHECK_ERROR(status, "decoding /registry/pods/a/1: no object");
    stored_unref(stored);
    watcher = watch(bed, &(struct watch_options){.after = -1, .match = begins_with_x});
    CHECK_ERROR(watcher_next(watcher, TASK_FOREVER, &events), "no object");
    watcher_stop(watcher);
}

TEST("apiserver/watch_cache/an object that can't be decoded is an error of those who read it") { bed_run(damage); }

static void be_cancelled(void *arg)
{
    OWNED(watch_events_done) struct watch_events events = {0};
    struct status *status = watcher_next(arg, TASK_FOREVER, &events);

    CHECK(status_is(status, STATUS_CANCELLED));
    status_free(status);
}

static void cancelled(struct bed *bed)
{
    struct task_group group;
    struct watcher *watcher = watch(bed, &(struct watch_options){.after = -1});

    task_group_init(&group);
    task_group_spawn(&group, "reader", be_cancelled, watcher);
    task_sleep(ENV_MS);
    task_group_cancel(&group);
    watcher_stop(watcher);
}

TEST("apiserver/watch_cache/a reader can be cancelled") { bed_run(cancelled); }

static void overtaken(struct bed *bed)
{
    OWNED(watch_events_done) struct watch_events events = {0};
    char name[16];
    struct watcher *watcher = watch(bed, &(struct watch_options){.after = -1});

    for (int i = 0; i < 1200; i++) { /* more than a page */
        snprintf(name, sizeof(name), "a/%04d", i);
        put(bed, name, "x");
    }
    OWNED(watch_snapshot_done) struct watch_snapshot snapshot = {0};

    CHECK_OK(watch_cache_snapshot(bed->cache, FRESH_LATEST, 0, &snapshot));
    CHECK_INT(watch_snapshot_count(&snapshot, STR(""), STR("")), 1200);
    watch_snapshot_done(&snapshot);
    int count = 0;

    do {
        CHECK_OK(watcher_next(watcher, env_mono(), &events));
        count += (int)events.len;
    } while (events.len > 0);
    CHECK_INT(count, 1200);
    watcher_stop(watcher);
    bed_close(bed);
    bed_open(bed);
    CHECK_OK(watch_cache_snapshot(bed->cache, FRESH_ANY, 0, &snapshot)); /* pages from the store */
    CHECK_INT(watch_snapshot_count(&snapshot, STR(""), STR("")), 1200);
}

TEST("apiserver/watch_cache/large resources are read in pages") { bed_run(overtaken); }
