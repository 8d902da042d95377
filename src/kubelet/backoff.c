#include "kubelet/backoff.h"

#include "base/mem.h"

#include <stdlib.h>

struct entry {
    int64_t delay, stepped;
};

void backoff_done(struct backoff *backoff)
{
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&backoff->entries, &at)) != NULL;) {
        free(entry->value);
    }
    map_done(&backoff->entries);
}

int64_t backoff_delay(const struct backoff *backoff, struct str key)
{
    const struct entry *entry = map_find(&backoff->entries, key);

    return entry == NULL ? 0 : entry->delay;
}

/* Long enough ago to count as a fresh start: stock counts from the step, twice the maximum. */
static bool is_over(const struct backoff *backoff, const struct entry *entry, int64_t at)
{
    return at - entry->stepped > backoff->max * 2;
}

bool backoff_is_waiting(struct backoff *backoff, struct str key, int64_t since, int64_t now)
{
    const struct entry *entry = map_find(&backoff->entries, key);

    return entry != NULL && !is_over(backoff, entry, since) && now - since < entry->delay;
}

bool backoff_is_waiting_since_step(struct backoff *backoff, struct str key, int64_t now)
{
    const struct entry *entry = map_find(&backoff->entries, key);

    return entry != NULL && !is_over(backoff, entry, now) && now - entry->stepped < entry->delay;
}

void backoff_step(struct backoff *backoff, struct str key, int64_t at)
{
    struct entry *entry = map_find(&backoff->entries, key);

    if (entry == NULL) {
        entry = MEM_NEW(struct entry);
        map_set(&backoff->entries, key, entry);
    }
    if (entry->delay == 0 || is_over(backoff, entry, at)) {
        entry->delay = backoff->initial;
    } else {
        entry->delay = MIN(entry->delay * 2, backoff->max);
    }
    entry->stepped = at;
}

void backoff_forget(struct backoff *backoff, struct str key)
{
    free(map_remove(&backoff->entries, key));
}

void backoff_forget_prefix(struct backoff *backoff, struct str prefix)
{
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&backoff->entries, &at)) != NULL;) {
        if (str_has_prefix(entry->key, prefix)) {
            free(map_remove(&backoff->entries, entry->key));
        }
    }
}
