#include "apiserver/watch_cache_parts.h"

/* Lists are walks over snapshots. A revision that is past is reached by undoing the changes since then on a snapshot of
 * now, and when the window doesn't reach back, by reading the store as of then. */

bool scope_has_(struct str scope, struct str key)
{
    if (scope.n == 0) {
        return true;
    }
    return scope.p[scope.n - 1] == '/' ? str_has_prefix(key, scope) : str_eq(key, scope);
}

void watch_snapshot_done(struct watch_snapshot *snapshot)
{
    if (snapshot->map.type != NULL) {
        pmap_done(&snapshot->map);
    }
    *snapshot = (struct watch_snapshot){0};
}

static void undo(const struct watch_cache *cache, int64_t revision, struct pmap *map)
{
    size_t oldest = window_find_(cache, revision);

    for (size_t i = window_count_(cache); i-- > oldest;) {
        const struct change *change = window_at_(cache, i);

        if (change->before != NULL) {
            pmap_set(map, stored_ref(change->before));
        } else {
            pmap_remove(map, stored_key(change->now));
        }
    }
}

/* One page of the store's list as of `revision`; moves *start on, and empties it at the end. */
static struct status *read_page(struct watch_cache *cache, int64_t revision, struct buf *start, struct pmap *map)
{
    enum { PAGE = 500 };
    struct store_list list = {0};

    TRY(store_list(cache->store,
                   &(struct store_list_options){.prefix = cache->options.prefix, .start = buf_str(start),
                                                .limit = PAGE, .revision = revision},
                   &list));
    buf_clear(start);
    LIST_EACH(item, &list)
    {
        struct str key = watch_cache_relative_(cache, item->key);
        struct stored *current = pmap_find(&cache->objects, key);

        if (current != NULL && stored_revision(current) == item->object.mod_revision) {
            pmap_set(map, stored_ref(current));
        } else {
            pmap_set(map, stored_new_(cache, key, TAKE(item->object.value), item->object.mod_revision));
        }
    }
    if (list.more) {
        buf_add_str(start, list.items[list.len - 1].key);
        buf_add_char(start, '\0');
    }
    store_list_done(&list);
    return NULL;
}

struct status *watch_cache_read_(struct watch_cache *cache, int64_t revision, struct pmap *ret)
{
    OWNED(buf_done) struct buf start = {0};
    struct pmap map = {&stored_map_type_, NULL};
    struct status *status = NULL;

    do {
        status = read_page(cache, revision, &start, &map);
        if (status == NULL && start.n > 0) {
            task_yield(); /* a page at a time: others run too */
            status = task_is_cancelled() ? status_new(STATUS_CANCELLED, "cancelled while listing") : NULL;
        }
    } while (status == NULL && start.n > 0);
    if (status != NULL) {
        pmap_done(&map);
        return status;
    }
    *ret = map;
    return NULL;
}

struct status *watch_cache_snapshot(struct watch_cache *cache, enum freshness freshness, int64_t revision,
                                    struct watch_snapshot *ret)
{
    TRY(watch_cache_await_(cache, freshness, revision));
    int64_t now = watch_cache_revision(cache);

    if (freshness != FRESH_EXACT || revision == now) {
        *ret = (struct watch_snapshot){pmap_snapshot(&cache->objects), now};
        return NULL;
    }
    if (revision < cache->window_after) {
        struct pmap map;

        TRY(watch_cache_read_(cache, revision, &map));
        *ret = (struct watch_snapshot){map, revision};
        return NULL;
    }
    struct pmap map = pmap_snapshot(&cache->objects);

    undo(cache, revision, &map);
    *ret = (struct watch_snapshot){map, revision};
    return NULL;
}

/* The first key that may be past the scope. */
static size_t rank_of_end(const struct pmap *map, struct str scope)
{
    if (scope.n == 0) {
        return pmap_count(map);
    }
    OWNED(buf_done) struct buf end = {0};

    buf_add_str(&end, scope);
    if (scope.p[scope.n - 1] == '/') {
        end.p[end.n - 1]++; /* '0' follows '/' */
    } else {
        buf_add_char(&end, '\0');
    }
    return pmap_rank(map, buf_str(&end));
}

size_t watch_snapshot_count(const struct watch_snapshot *snapshot, struct str scope, struct str start)
{
    size_t begin = pmap_rank(&snapshot->map, str_cmp(start, scope) < 0 ? scope : start);
    size_t end = rank_of_end(&snapshot->map, scope);

    return end > begin ? end - begin : 0;
}

void watch_snapshot_walk(struct watch_snapshot_walk *walk, const struct watch_snapshot *snapshot, struct str scope,
                         struct str start)
{
    walk->scope = scope;
    pmap_walk(&walk->walk, &snapshot->map, str_cmp(start, scope) < 0 ? scope : start);
}

struct stored *watch_snapshot_next(struct watch_snapshot_walk *walk)
{
    struct stored *stored = pmap_next(&walk->walk);

    return stored != NULL && scope_has_(walk->scope, stored_key(stored)) ? stored : NULL;
}
