#include "store/engine.h"

int64_t compact_target_(const struct compact_mark *marks, size_t count, int64_t now, int64_t keep, int64_t compacted)
{
    int64_t target = compacted;

    for (size_t i = 0; i < count; i++) {
        if (now - marks[i].mono >= keep && marks[i].revision >= target + COMPACT_REVISIONS_MIN) {
            target = marks[i].revision;
        }
    }
    return target;
}

/* Called after writes only, so a store that nobody writes to has nothing to do. */
void compact_by_age_(struct store *store)
{
    int64_t now = env_mono(), keep = store->options.keep;

    if (keep <= 0) {
        return;
    }
    store->compacted = compact_target_(store->marks, store->mark_count, now, keep, store->compacted);
    if (store->mark_count > 0 && now - store->marks[store->mark_count - 1].mono < keep / (COMPACT_MARKS - 1)) {
        return;
    }
    if (store->mark_count == COMPACT_MARKS) {
        __builtin_memmove(store->marks, store->marks + 1, (COMPACT_MARKS - 1) * sizeof(store->marks[0]));
        store->mark_count--;
    }
    store->marks[store->mark_count++] = (struct compact_mark){now, store->revision};
}

/* What can be swept: later revisions are not on disk, or there are none. */
static int64_t sweep_goal(const struct store *store)
{
    return MIN(store->compacted, store->durable.revision);
}

bool compact_step_(const struct store *store, struct disk_state *ret)
{
    if (store->closing || store->sweep_error != NULL ||
        (store->durable.compacted >= store->compacted && store->durable.swept >= sweep_goal(store))) {
        return false;
    }
    *ret = store->durable;
    ret->compacted = store->compacted;
    ret->swept = MAX(ret->swept, MIN(sweep_goal(store), ret->swept + SWEEP_STEP));
    return true;
}

struct status *store_compact(struct store *store, int64_t revision)
{
    if (revision > store->revision || revision < 0) {
        return status_new(STATUS_BAD_REQUEST, "revision %lld is yet to come, the store is at %lld", (long long)revision,
                          (long long)store->revision);
    }
    if (revision < store->compacted) {
        return status_new(STATUS_EXPIRED, "revision %lld is compacted, up to %lld", (long long)revision,
                          (long long)store->compacted);
    }
    store->compacted = revision;
    if (store->unflushed_bytes > 0 && revision > store->durable.revision) {
        TRY(commit_sync_(store)); /* sweeping goes as far as the disk knows of */
    }
    status_free(TAKE(store->sweep_error));
    watch_wake_all_(store); /* some may have been overtaken */
    commit_kick_(store);
    struct disk_state state;

    while (compact_step_(store, &state)) {
        if (!cond_wait(&store->swept, TASK_FOREVER)) {
            return status_new(STATUS_CANCELLED, "cancelled while compacting");
        }
    }
    return store->sweep_error != NULL ? status_copy(store->sweep_error) : NULL;
}
