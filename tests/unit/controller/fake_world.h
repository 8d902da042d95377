/* A world for deciders: objects written as JSON, plans shown as text and carried out on the objects, as an API server
 * would. */
#ifndef TESTS_FAKE_WORLD_H
#define TESTS_FAKE_WORLD_H

#include "controller/controller.h"

struct fake_world {
    struct arena *arena;
    struct world world;
    struct controller_settings settings;
    struct {
        struct fake_object {
            const struct kind *kind;
            struct object *object; /* NULL: deleted */
        } *items;
        size_t len;
    } objects;
    struct plan plan;  /* the last */
    int64_t next_uid;
    int64_t next_version;
};

void fake_world_init(struct fake_world *fake);
void fake_world_done(struct fake_world *fake);
/* Adds the object; uid, resourceVersion and creationTimestamp are filled in when absent. Quotes may be written as '. */
void *fake_world_add(struct fake_world *fake, const struct kind *kind, const char *json);
/* An object that is not part of the world, as it is written. */
void *fake_world_decode(struct fake_world *fake, const struct kind *kind, const char *json);
/* NULL when absent. */
void *fake_world_get(struct fake_world *fake, const struct kind *kind, const char *key);
void fake_world_remove(struct fake_world *fake, const struct kind *kind, const char *key);
size_t fake_world_count(const struct fake_world *fake, const struct kind *kind);

/* Decides for the key and gives the plan as text, a line an action:
 *   create Pod default/web-* {"metadata":...}     (the object only where `shows_objects`)
 *   event Normal ScalingReplicaSet: Scaled up ... */
struct str fake_world_plan(struct fake_world *fake, const struct controller *controller, const char *key);
struct str fake_world_plan_whole(struct fake_world *fake, const struct controller *controller, const char *key);
/* fake->plan as it is. */
struct str fake_world_plan_text(struct fake_world *fake);
/* The next plan finds what the last one kept in its memory. */
void fake_world_remember(struct fake_world *fake);
/* Carries the last plan out. */
void fake_world_apply(struct fake_world *fake);
/* Plans and applies for all objects of the controller's kind; true when something was planned. */
bool fake_world_step(struct fake_world *fake, const struct controller *controller);

#endif
