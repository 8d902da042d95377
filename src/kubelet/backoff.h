/* Back-off by key, as stock's flowcontrol.Backoff: the delay starts at `initial`, doubles with each step up to `max`,
 * and is forgotten when twice `max` has passed since the last step. Times are those of one clock, chosen by the
 * caller. */
#ifndef KUBELET_BACKOFF_H
#define KUBELET_BACKOFF_H

#include "base/map.h"

struct backoff {
    struct map entries;
    int64_t initial, max; /* ns */
};

void backoff_done(struct backoff *backoff);
/* The key's current delay; 0 when it has none. */
int64_t backoff_delay(const struct backoff *backoff, struct str key);
/* Whether `now` is still within the key's delay counted from `since` (for a container: when it finished). */
bool backoff_is_waiting(struct backoff *backoff, struct str key, int64_t since, int64_t now);
/* The same counted from the last step. */
bool backoff_is_waiting_since_step(struct backoff *backoff, struct str key, int64_t now);
/* Takes the next step at `at`: starts, doubles, or starts over when twice the maximum has passed since. */
void backoff_step(struct backoff *backoff, struct str key, int64_t at);
void backoff_forget(struct backoff *backoff, struct str key);
/* Forgets all keys that begin so. */
void backoff_forget_prefix(struct backoff *backoff, struct str prefix);

#endif
