/* The informers of all kinds that some controller watches, one a kind, and a world read from them. For engine.c. */
#ifndef CONTROLLER_WATCHED_H
#define CONTROLLER_WATCHED_H

#include "controller/world.h"

struct watched_kinds;

/* Borrows the client. */
struct watched_kinds *watched_kinds_new(struct client *client);
/* The kind's informer, made if there is none yet. After watched_kinds_start() it is the caller's to start. */
struct informer *watched_kinds_get(struct watched_kinds *kinds, const struct kind *kind);
/* NULL when nobody watches the kind. */
struct informer *watched_kinds_find(const struct watched_kinds *kinds, const struct kind *kind);
/* Objects that have a reference to the owner with that UID, controlling or not. */
struct object_pointers watched_kinds_find_owned(const struct watched_kinds *kinds, const struct kind *kind,
                                                struct str uid, struct arena *arena);
void watched_kinds_start(struct watched_kinds *kinds);
bool watched_kinds_are_started(const struct watched_kinds *kinds);
/* Parks. */
void watched_kinds_free(struct watched_kinds *kinds);

/* One look at them, the source of a struct world with watched_reader. Objects read are borrowed until the next park;
 * with `remember` those of the pass can be held on to across parks. */
struct world_view {
    const struct watched_kinds *kinds;
    bool remember;
    struct {
        struct seen {
            struct informer *informer;
            const struct object *object;
        } *items;
        size_t len;
    } seen; /* in the arena of the world */
    struct {
        struct cached **items;
        size_t len;
    } held;
};

extern const struct world_reader watched_reader;

/* Before the first park of the pass. */
void world_view_hold(struct world_view *view, struct arena *arena);
void world_view_release(struct world_view *view);

#endif
