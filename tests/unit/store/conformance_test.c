/* What every back end must do, as a table of behaviours; each is run on each back end. */
#include "bed.h"

#include "base/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void create_and_get(struct bed *bed)
{
    struct store_object object;
    OWNED(blob_unrefp) struct blob *value = blob_of(STR("other"));
    int64_t first = bed_create(bed, "/registry/pods/default/a", "1");
    int64_t second = bed_create(bed, "/registry/pods/default/b", "");

    CHECK(first > 0 && second == first + 1 && store_revision(bed->store) == second);
    bed_check(bed, "/registry/pods/default/a", 0, "1");
    bed_check(bed, "/registry/pods/default/b", 0, "");
    bed_check(bed, "/registry/pods/default/", 0, NULL);
    struct status *status = store_create(bed->store, STR("/registry/pods/default/a"), value, &object);

    CHECK(status_is(status, STATUS_ALREADY_EXISTS));
    status_free(status);
    CHECK_STR(blob_str(object.value), "1");
    CHECK_INT(object.mod_revision, first);
    store_object_done(&object);
    CHECK_INT(store_revision(bed->store), second);
}

static void update_compares(struct bed *bed)
{
    struct store_object object = {0};
    OWNED(blob_unrefp) struct blob *value = blob_of(STR("2"));
    int64_t first = bed_create(bed, "/a", "1");
    struct status *status = store_update(bed->store, STR("/a"), value, first + 7, 0, &object);

    CHECK(status_is(status, STATUS_CONFLICT));
    status_free(status);
    CHECK_STR(blob_str(object.value), "1");
    CHECK_INT(object.mod_revision, first);
    store_object_done(&object);
    CHECK_OK(store_update(bed->store, STR("/a"), value, first, 0, &object));
    CHECK(object.value == value && object.mod_revision == first + 1 && object.create_revision == first);
    store_object_done(&object);
    status = store_update(bed->store, STR("/b"), value, 0, 0, &object);
    CHECK(status_is(status, STATUS_NOT_FOUND));
    status_free(status);
    CHECK_INT(store_revision(bed->store), first + 1);
    bed_check(bed, "/a", 0, "2");
}

static void delete_and_recreate(struct bed *bed)
{
    struct store_object object;
    int64_t first = bed_create(bed, "/a", "1");
    struct status *status = store_delete(bed->store, STR("/a"), first + 1, &object);

    CHECK(status_is(status, STATUS_CONFLICT));
    status_free(status);
    store_object_done(&object);
    CHECK_OK(store_delete(bed->store, STR("/a"), first, &object));
    CHECK_STR(blob_str(object.value), "1");
    CHECK(object.mod_revision == first + 1 && object.create_revision == first);
    store_object_done(&object);
    bed_check(bed, "/a", 0, NULL);
    CHECK_ERROR(store_delete(bed->store, STR("/a"), 0, NULL), "key not found: /a");
    CHECK_INT(bed_create(bed, "/a", "2"), first + 2);
    CHECK_OK(store_get(bed->store, STR("/a"), 0, &object, NULL));
    CHECK_INT(object.create_revision, first + 2);
    store_object_done(&object);
    CHECK_OK(store_get(bed->store, STR("/a"), first, &object, NULL));
    CHECK(object.create_revision == first && object.mod_revision == first);
    store_object_done(&object);
    bed_check(bed, "/a", first + 1, NULL);
}

static void limits_are_errors(struct bed *bed)
{
    char key[LIMIT_STORE_KEY_BYTES + 1];
    OWNED(blob_unrefp) struct blob *small = blob_of(STR("1")), *most = blob_new(LIMIT_STORE_VALUE_BYTES),
                                   *over = blob_new(LIMIT_STORE_VALUE_BYTES + 1);

    memset(key, 'k', sizeof(key));
    memset(most->p, 'v', most->n);
    memset(over->p, 'v', over->n);
    CHECK_ERROR(store_create(bed->store, STR(""), small, NULL), "must not be empty");
    CHECK_ERROR(store_create(bed->store, (struct str){key, sizeof(key)}, small, NULL), "1025 bytes, more than the 1024");
    CHECK_ERROR(store_create(bed->store, STR("/big"), over, NULL), "/big has 1572865 bytes, more than the 1572864");
    CHECK_OK(store_create(bed->store, STR("/big"), most, NULL));
    bed_reopen(bed);
    struct store_object object;

    CHECK_OK(store_get(bed->store, STR("/big"), 0, &object, NULL));
    CHECK(str_eq(blob_str(object.value), blob_str(most)));
    store_object_done(&object);
    CHECK_ERROR(store_get(bed->store, STR("/big"), 2, &object, NULL), "revision 2 is yet to come, the store is at 1");
}

/* The longest keys that Kubernetes allows: a custom resource with names of full length. */
static void long_keys_keep_their_order(struct bed *bed)
{
    char group[254], plural[64], space[64], name[254], key[LIMIT_STORE_KEY_BYTES], list[64];
    struct store_list result;

    memset(group, 'g', 253), memset(plural, 'p', 63), memset(space, 's', 63), memset(name, 'n', 253);
    group[253] = plural[63] = space[63] = name[253] = '\0';
    group[100] = '.';
    for (int i = 9; i >= 0; i--) {
        name[252] = (char)('0' + i);
        snprintf(key, sizeof(key), "/registry/%s/%s/%s/%s", group, plural, space, name);
        bed_create(bed, key, name + 250);
    }
    bed_reopen(bed);
    snprintf(key, sizeof(key), "/registry/%s/%s/%s/%.100s", group, plural, space, name);
    CHECK_OK(store_list(bed->store, &(struct store_list_options){.prefix = str_of(key)}, &result));
    CHECK_INT(result.len, 10);
    for (size_t i = 0; i < 10; i++) {
        snprintf(list, sizeof(list), "nn%zu", i);
        CHECK_STR(blob_str(result.items[i].object.value), list);
        CHECK_INT(result.items[i].key.n, 10 + 253 + 1 + 63 + 1 + 63 + 1 + 253);
    }
    store_list_done(&result);
}

static void lists_are_in_order_across_sections(struct bed *bed)
{
    static const char *const keys[] = {
        "/registry/pods/default/b", "/registry/podtemplates/x/y", "/registry/pods/default/a", "/registry/pods", "zzz",
        "/registry/a.b/cs/n/1", "/registry/a.b/cs", "/registry/a.b/cs-other/n", "/registry/pods/kube-system/a", "/",
        "/registry/apps/", "compact_rev_key", "/registry/pods/default/a/sub", "/registry/a.b", "/registry/services/specs/d/k",
    };

    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        bed_create(bed, keys[i], "1");
    }
    bed_check_list(bed, "",
                   0, "/=1 /registry/a.b=1 /registry/a.b/cs=1 /registry/a.b/cs-other/n=1 /registry/a.b/cs/n/1=1 "
                      "/registry/apps/=1 /registry/pods=1 /registry/pods/default/a=1 /registry/pods/default/a/sub=1 "
                      "/registry/pods/default/b=1 /registry/pods/kube-system/a=1 /registry/podtemplates/x/y=1 "
                      "/registry/services/specs/d/k=1 compact_rev_key=1 zzz=1");
    bed_check_list(bed, "/registry/pods/default/", 0,
                   "/registry/pods/default/a=1 /registry/pods/default/a/sub=1 /registry/pods/default/b=1");
    bed_check_list(bed, "/registry/pods/def", 0,
                   "/registry/pods/default/a=1 /registry/pods/default/a/sub=1 /registry/pods/default/b=1");
    bed_check_list(bed, "/registry/pod", 0,
                   "/registry/pods=1 /registry/pods/default/a=1 /registry/pods/default/a/sub=1 "
                   "/registry/pods/default/b=1 /registry/pods/kube-system/a=1 /registry/podtemplates/x/y=1");
    bed_check_list(bed, "/registry/a.b/cs/", 0, "/registry/a.b/cs/n/1=1");
    bed_check_list(bed, "/registry/nothing/", 0, "");
    bed_check_list(bed, "zzzz", 0, "");
}

static void lists_go_by_pages(struct bed *bed)
{
    struct store_list list;
    size_t count, pages = 0, seen = 0;
    char key[64], start[64] = "";

    for (int i = 0; i < 25; i++) {
        snprintf(key, sizeof(key), "/registry/pods/ns/%02d", i);
        bed_create(bed, key, "1");
    }
    bed_create(bed, "/registry/pods/nt/0", "1");
    int64_t revision = bed_create(bed, "/registry/pode/ns/0", "1");

    CHECK_OK(store_count(bed->store, STR("/registry/pods/ns/"), &count));
    CHECK_INT(count, 25);
    do {
        struct store_list_options options = {.prefix = STR("/registry/pods/ns/"), .start = str_of(start), .limit = 10,
                                             .revision = pages > 0 ? revision : 0, .count_remaining = true};

        CHECK_OK(store_list(bed->store, &options, &list));
        CHECK_INT(list.revision, revision);
        pages++;
        seen += list.len;
        CHECK(list.more == (seen < 25));
        CHECK_INT(list.remaining, 25 - seen);
        snprintf(start, sizeof(start), "%.*s!", STR_ARG(list.items[list.len - 1].key));
        store_list_done(&list);
        snprintf(key, sizeof(key), "/registry/pods/ns/%zu", 14 + pages * 3); /* later pages don't see this */
        bed_delete(bed, key);
        snprintf(key, sizeof(key), "/registry/pods/ns/%zu5", 14 + pages * 3);
        bed_create(bed, key, "1");
    } while (seen < 25 && pages < 9);
    CHECK_INT(pages, 3);
}

/* A plain account of what happened, to hold the store against. */
enum { MODEL_KEYS = 12, MODEL_STEPS = 400 };

struct model {
    int64_t base;
    struct {
        int key; /* changed by this revision */
        int value[MODEL_KEYS]; /* 0: not there */
    } at[MODEL_STEPS + 1];
};

static void model_key(char *out, int key)
{
    snprintf(out, 64, key % 3 == 0 ? "/registry/pods/ns/%02d" : "/registry/example.com/things/%02d", key);
}

static void model_step(struct bed *bed, struct model *model, int step)
{
    int key = (int)env_random_below(MODEL_KEYS), *value = model->at[step].value;
    char name[64], text[16];
    int64_t revision;

    memcpy(value, model->at[step - 1].value, sizeof(model->at[step].value));
    model->at[step].key = key;
    model_key(name, key);
    snprintf(text, sizeof(text), "%d", step);
    if (value[key] == 0) {
        revision = bed_create(bed, name, text);
        value[key] = step;
    } else if (env_random_below(3) == 0) {
        revision = bed_delete(bed, name);
        value[key] = 0;
    } else {
        revision = env_random_below(3) == 0 ? bed_update_volatile(bed, name, text) : bed_update(bed, name, text);
        value[key] = step;
    }
    CHECK_INT(revision, model->base + step);
}

static void model_check_at(struct bed *bed, const struct model *model, int step)
{
    int64_t revision = model->base + step;
    struct store_list list;
    size_t i = 0;

    CHECK_OK(store_list(bed->store, &(struct store_list_options){.prefix = STR("/registry/"), .revision = revision}, &list));
    for (int round = 0; round < 2; round++) {
        for (int key = 0; key < MODEL_KEYS; key++) {
            char name[64], text[16];
            int value = model->at[step].value[key];

            if ((key % 3 == 0) != (round == 1)) {
                continue; /* example.com sorts before pods */
            }
            model_key(name, key);
            snprintf(text, sizeof(text), "%d", value);
            bed_check(bed, name, revision, value > 0 ? text : NULL);
            if (value > 0) {
                CHECK(i < list.len);
                CHECK_STR(list.items[i].key, name);
                CHECK_STR(blob_str(list.items[i].object.value), text);
                i++;
            }
        }
    }
    CHECK_INT(list.len, i);
    store_list_done(&list);
}

static void model_check_event(const struct model *model, int step, const struct store_event *event)
{
    const int *before = model->at[step - 1].value, *now = model->at[step].value;
    int key = model->at[step].key;
    char name[64], text[16];

    model_key(name, key);
    CHECK_STR(event->key, name);
    CHECK_INT(event->revision, model->base + step);
    CHECK_INT(event->type, before[key] == 0 ? STORE_CREATED : now[key] == 0 ? STORE_DELETED : STORE_UPDATED);
    snprintf(text, sizeof(text), "%d", now[key]);
    CHECK_STR(blob_str(event->value), now[key] > 0 ? text : "");
    snprintf(text, sizeof(text), "%d", before[key]);
    CHECK_STR(blob_str(event->previous), before[key] > 0 ? text : "");
}

/* Every event under the prefix above `from`, each once, in order. */
static void model_check_watch(struct bed *bed, const struct model *model, int from, int to, const char *prefix)
{
    struct store_watch *watch = bed_watch(bed, prefix, model->base + from);
    OWNED(store_events_done) struct store_events events = {0};
    size_t at = 0;

    for (int step = from + 1; step <= to; step++) {
        char name[64];

        model_key(name, model->at[step].key);
        if (!str_has_prefix(str_of(name), str_of(prefix))) {
            continue;
        }
        if (at == events.len) {
            CHECK_OK(store_watch_next(watch, env_mono(), &events));
            CHECK(events.len > 0);
            at = 0;
        }
        model_check_event(model, step, events.items[at++]);
    }
    CHECK_INT(at, events.len);
    CHECK_OK(store_watch_next(watch, env_mono(), &events));
    CHECK_INT(events.len, 0);
    CHECK(events.revision >= model->base + to);
    store_watch_stop(watch);
}

static void model_check_all(struct bed *bed, const struct model *model, int from, int to)
{
    for (int step = from; step <= to; step += 1 + (int)env_random_below(5)) {
        if (step > 0) {
            model_check_at(bed, model, step); /* revision 0 would be the latest */
        }
        model_check_watch(bed, model, step, to, step % 2 == 0 ? "/registry/" : "/registry/pods/");
    }
    model_check_at(bed, model, to);
}

static void history_is_kept_exactly(struct bed *bed)
{
    static struct model model;
    char name[64];

    for (int step = 1; step <= MODEL_STEPS; step++) {
        model_step(bed, &model, step);
    }
    model_check_all(bed, &model, 0, MODEL_STEPS);
    bed_reopen(bed);
    model_check_all(bed, &model, 0, MODEL_STEPS);
    for (int compacted = 37; compacted <= MODEL_STEPS; compacted += 121) {
        CHECK_OK(store_compact(bed->store, compacted));
        CHECK_INT(store_compacted(bed->store), compacted);
        model_check_all(bed, &model, compacted, MODEL_STEPS);
        bed_crash(bed);
        model_check_all(bed, &model, compacted, MODEL_STEPS);
        struct store_object object;

        model_key(name, 0);
        struct status *status = store_get(bed->store, str_of(name), compacted - 1, &object, NULL);

        CHECK(status_is(status, STATUS_EXPIRED));
        status_free(status);
    }
    CHECK_OK(store_compact(bed->store, MODEL_STEPS));
    model_check_all(bed, &model, MODEL_STEPS, MODEL_STEPS);
}

static void watch_sees_what_comes(struct bed *bed)
{
    int64_t first = bed_create(bed, "/registry/pods/a", "1");
    struct store_watch *now = bed_watch(bed, "/registry/pods/", -1), *old = bed_watch(bed, "/registry/", 0),
                       *later = bed_watch(bed, "/registry/pods/", first + 2);

    bed_check_events(now, "");
    bed_check_events(old, "+/registry/pods/a=1");
    bed_update(bed, "/registry/pods/a", "2");
    bed_create(bed, "/registry/nodes/n", "n");
    bed_delete(bed, "/registry/pods/a");
    bed_check_events(now, "~/registry/pods/a=2<1 -/registry/pods/a<2");
    bed_check_events(old, "~/registry/pods/a=2<1 +/registry/nodes/n=n -/registry/pods/a<2");
    bed_check_events(later, "-/registry/pods/a<2");
    store_watch_stop(now);
    store_watch_stop(old);
    store_watch_stop(later);
}

static void write_later(void *arg)
{
    struct bed *bed = arg;

    task_sleep(ENV_SECOND);
    bed_create(bed, "/registry/nodes/n", "1");
    task_sleep(ENV_SECOND);
    bed_create(bed, "/registry/pods/a", "1");
}

static void watch_parks_and_tells_progress(struct bed *bed)
{
    struct store_watch *watch = bed_watch(bed, "/registry/pods/", -1);
    OWNED(store_events_done) struct store_events events = {0};
    int64_t start = env_mono();

    task_spawn("writer", write_later, bed);
    CHECK_OK(store_watch_next(watch, start + ENV_SECOND * 3 / 2, &events));
    CHECK_INT(env_mono() - start, ENV_SECOND * 3 / 2);
    CHECK_INT(events.len, 0);
    CHECK_INT(events.revision, store_revision(bed->store)); /* past the node's, which is no event here */
    CHECK_OK(store_watch_next(watch, TASK_FOREVER, &events));
    CHECK_INT(env_mono() - start, ENV_SECOND * 2);
    CHECK_INT(events.len, 1);
    store_watch_stop(watch);
}

static void watch_until_cancelled(void *arg)
{
    struct bed *bed = arg;
    struct store_watch *watch = bed_watch(bed, "/", -1);
    OWNED(store_events_done) struct store_events events = {0};
    struct status *status = store_watch_next(watch, TASK_FOREVER, &events);

    CHECK(status_is(status, STATUS_CANCELLED));
    status_free(status);
    store_watch_stop(watch);
}

static void create_cancelled(void *arg)
{
    struct bed *bed = arg;
    OWNED(blob_unrefp) struct blob *value = blob_of(STR("1"));
    struct status *status = store_create(bed->store, STR("/a"), value, NULL);

    CHECK(status_is(status, STATUS_CANCELLED));
    status_free(status);
}

static void callers_can_be_cancelled(struct bed *bed)
{
    struct task_group group;

    task_group_init(&group);
    task_group_spawn(&group, "watcher", watch_until_cancelled, bed);
    task_sleep(1);
    task_group_spawn(&group, "writer", create_cancelled, bed);
    task_yield();
    task_group_cancel(&group);
    bed_create(bed, "/b", "1"); /* all goes on */
    bed_check(bed, "/b", 0, "1");
}

static void compaction_expires_what_is_old(struct bed *bed)
{
    struct store_watch *slow = bed_watch(bed, "/", 0), *watch;
    OWNED(store_events_done) struct store_events events = {0};

    bed_create(bed, "/a", "1");
    bed_update(bed, "/a", "2");
    bed_create(bed, "/b", "1");
    bed_delete(bed, "/b");
    bed_update(bed, "/a", "3");
    CHECK_OK(store_compact(bed->store, 4));
    CHECK_ERROR(store_watch_start(bed->store, STR("/"), 3, &watch),
                "The resourceVersion for the provided watch is too old.");
    CHECK_ERROR(store_watch_next(slow, TASK_FOREVER, &events), "The resourceVersion for the provided watch is too old.");
    store_watch_stop(slow);
    struct store_list list;
    struct status *status = store_list(bed->store, &(struct store_list_options){.prefix = STR("/"), .revision = 3}, &list);

    CHECK(status_is(status, STATUS_EXPIRED));
    status_free(status);
    CHECK_ERROR(store_compact(bed->store, 3), "revision 3 is compacted, up to 4");
    CHECK_ERROR(store_compact(bed->store, 6), "revision 6 is yet to come");
    bed_check_list(bed, "/", 4, "/a=2");
    bed_check_list(bed, "/", 0, "/a=3");
    watch = bed_watch(bed, "/", 4);
    bed_check_events(watch, "~/a=3<2");
    store_watch_stop(watch);
}

static void a_watcher_behind_memory_reads_the_log(struct bed *bed)
{
    enum { EVENTS = 6000 }; /* more than stays in memory */
    struct store_watch *watch = bed_watch(bed, "/registry/pods/", 0);
    OWNED(store_events_done) struct store_events events = {0};
    char value[16];
    int next = 1;

    bed_create(bed, "/registry/pods/a", "1");
    for (int i = 2; i <= EVENTS; i++) {
        snprintf(value, sizeof(value), "%d", i);
        bed_update_volatile(bed, "/registry/pods/a", value);
        if (i % 1000 == 0) {
            bed_create(bed, value, "x");
        }
    }
    do {
        CHECK_OK(store_watch_next(watch, env_mono(), &events));
        for (size_t i = 0; i < events.len; i++) {
            snprintf(value, sizeof(value), "%d", next++);
            CHECK_STR(blob_str(events.items[i]->value), value);
        }
    } while (events.len > 0);
    CHECK_INT(next, EVENTS + 1);
    store_watch_stop(watch);
}

struct writers {
    struct bed *bed;
    int next, created, conflicts;
};

static void create_same(void *arg)
{
    struct writers *writers = arg;
    OWNED(blob_unrefp) struct blob *value = blob_of(STR("0"));
    struct status *status = store_create(writers->bed->store, STR("/counter"), value, NULL);

    writers->created += status == NULL;
    CHECK(status == NULL || status_free_if(&status, STATUS_ALREADY_EXISTS));
}

static void add_one(void *arg)
{
    struct writers *writers = arg;

    for (;;) {
        OWNED(store_object_done) struct store_object object = {0};
        uint64_t number;
        char text[16];

        CHECK_OK(store_get(writers->bed->store, STR("/counter"), 0, &object, NULL));
        CHECK(str_to_u64(blob_str(object.value), &number));
        snprintf(text, sizeof(text), "%d", (int)number + 1);
        OWNED(blob_unrefp) struct blob *value = blob_of(str_of(text));
        OWNED(store_object_done) struct store_object now = {0};
        struct status *status = store_update(writers->bed->store, STR("/counter"), value, object.mod_revision, 0, &now);

        if (status == NULL) {
            return;
        }
        CHECK(status_free_if(&status, STATUS_CONFLICT));
        CHECK(now.mod_revision > object.mod_revision);
        writers->conflicts++;
    }
}

static void many_writers_are_serialized(struct bed *bed)
{
    struct writers writers = {.bed = bed};
    struct task_group group;

    task_group_init(&group);
    for (int i = 0; i < 40; i++) {
        task_group_spawn(&group, "writer", create_same, &writers);
    }
    task_group_wait(&group);
    CHECK_INT(writers.created, 1);
    for (int i = 0; i < 40; i++) {
        task_group_spawn(&group, "writer", add_one, &writers);
    }
    task_group_wait(&group);
    bed_check(bed, "/counter", 0, "40");
    CHECK(writers.conflicts > 0);
}

static void volatile_writes_may_be_lost_but_not_their_revisions(struct bed *bed)
{
    bed_create(bed, "/registry/leases/l", "1");
    int64_t first = bed_update_volatile(bed, "/registry/leases/l", "2");
    struct store_watch *watch = bed_watch(bed, "/registry/leases/", first);
    int64_t second = bed_update_volatile(bed, "/registry/leases/l", "3");

    CHECK(second == first + 1 && store_revision(bed->store) == second);
    bed_check(bed, "/registry/leases/l", 0, "3");
    bed_check(bed, "/registry/leases/l", first, "2");
    bed_check_list(bed, "/", 0, "/registry/leases/l=3");
    bed_check_events(watch, "~/registry/leases/l=3<2");
    store_watch_stop(watch);
    bed_crash(bed);
    bed_check(bed, "/registry/leases/l", 0, "2"); /* it had to reserve revisions, and went along */
    CHECK(store_revision(bed->store) >= second);
    int64_t third = bed_update(bed, "/registry/leases/l", "4");

    CHECK(third > second);
    bed_update_volatile(bed, "/registry/leases/l", "5");
    bed_create(bed, "/registry/pods/p", "1"); /* takes it along */
    bed_crash(bed);
    bed_check(bed, "/registry/leases/l", 0, "5");
    bed_update_volatile(bed, "/registry/leases/l", "6");
    int64_t last = store_revision(bed->store);

    bed_reopen(bed);
    bed_check(bed, "/registry/leases/l", 0, "6");
    CHECK_INT(store_revision(bed->store), last);
}

static void volatile_writes_go_to_disk_in_the_end(struct bed *bed)
{
    bed_create(bed, "/registry/leases/l", "1");
    bed_update_volatile(bed, "/registry/leases/l", "2");
    bed_update_volatile(bed, "/registry/leases/l", "3");
    task_sleep(601 * ENV_SECOND);
    bed_crash(bed);
    bed_check(bed, "/registry/leases/l", 0, "3");
    OWNED(blob_unrefp) struct blob *large = blob_new(LIMIT_STORE_VALUE_BYTES);

    memset(large->p, 'x', large->n);
    CHECK_OK(store_update(bed->store, STR("/registry/leases/l"), large, 0, STORE_VOLATILE, NULL)); /* too much to hold */
    bed_crash(bed);
    struct store_object object;

    CHECK_OK(store_get(bed->store, STR("/registry/leases/l"), 0, &object, NULL));
    CHECK_INT(object.value->n, LIMIT_STORE_VALUE_BYTES);
    store_object_done(&object);
}

static void old_history_goes_by_itself(struct bed *bed)
{
    bed_close(bed);
    bed->options.keep = STORE_KEEP_DEFAULT;
    bed_open(bed);
    bed_create(bed, "/a", "1");
    for (int i = 0; i < 5000; i++) {
        bed_update(bed, "/a", "2");
        task_sleep(ENV_SECOND);
    }
    int64_t behind = store_revision(bed->store) - store_compacted(bed->store);

    CHECK(behind >= 300 && behind < 300 + 38 + 1 + 1000);
    uint64_t used, file;

    task_sleep(ENV_SECOND);
    store_size(bed->store, &used, &file);
    CHECK(bed->backend == LMDB ? file < (LMDB_MAP_BYTES_MIN << 1) : used < 1500);
}

#define BEHAVIOURS(X)                                                                        \
    X(create_and_get, "create and get")                                                      \
    X(update_compares, "update compares revisions")                                          \
    X(delete_and_recreate, "delete, and create again")                                       \
    X(limits_are_errors, "limits are clear errors")                                          \
    X(long_keys_keep_their_order, "the longest keys keep their order")                       \
    X(lists_are_in_order_across_sections, "lists are in the order of bytes")                 \
    X(lists_go_by_pages, "pages at one revision make one list")                              \
    X(history_is_kept_exactly, "reads and watches at every kept revision are exact")         \
    X(watch_sees_what_comes, "a watch sees what is kept, then what comes")                   \
    X(watch_parks_and_tells_progress, "a watch parks, and tells progress")                   \
    X(callers_can_be_cancelled, "callers can be cancelled")                                  \
    X(compaction_expires_what_is_old, "compaction expires what is old")                      \
    X(a_watcher_behind_memory_reads_the_log, "a watcher far behind reads the log")           \
    X(many_writers_are_serialized, "many writers are serialized")                            \
    X(volatile_writes_may_be_lost_but_not_their_revisions, "volatile writes keep revisions unique") \
    X(volatile_writes_go_to_disk_in_the_end, "volatile writes go to disk in the end")        \
    X(old_history_goes_by_itself, "old history goes by itself")

#define X(fn, title)                                                                                       \
    static void on_memory_##fn(void)                                                                       \
    {                                                                                                      \
        bed_run(MEMORY, fn);                                                                               \
    }                                                                                                      \
    static void on_lmdb_##fn(void)                                                                         \
    {                                                                                                      \
        bed_run(LMDB, fn);                                                                                 \
    }                                                                                                      \
    static struct test memory_row_##fn = {.name = "store/memory/" title, .run = on_memory_##fn};            \
    static struct test lmdb_row_##fn = {.name = "store/lmdb/" title, .run = on_lmdb_##fn};
BEHAVIOURS(X)
#undef X

__attribute__((constructor)) static void add_behaviours(void)
{
#define X(fn, title)            \
    test_add(&memory_row_##fn); \
    test_add(&lmdb_row_##fn);
    BEHAVIOURS(X)
#undef X
}
