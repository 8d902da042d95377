/* What deciders may read: the objects of the kinds that their controller watches, as the informers show them, and the
 * time of the pass. A test gives a world of its own making (world_reader). */
#ifndef CONTROLLER_WORLD_H
#define CONTROLLER_WORLD_H

#include "client/informer.h"
#include "controller/plan.h"

enum world_index {
    WORLD_ALL,           /* no key */
    WORLD_BY_NAMESPACE,  /* key: the namespace */
    WORLD_BY_CONTROLLER, /* key: the UID of the controlling owner */
    WORLD_ORPHANS,       /* key: the namespace; those without a controlling owner */
};

struct world_reader {
    const void *(*find)(void *source, const struct kind *kind, struct str key, struct arena *arena);
    struct object_pointers (*list)(void *source, const struct kind *kind, enum world_index index,
                                   struct str key, struct arena *arena);
};

/* What the command line says that deciders go by. */
struct controller_settings {
    struct str root_ca;      /* PEM; empty: none is published */
    struct str cluster_cidr; /* one, or two with a comma between */
    struct str service_cidr;
    bool allocate_node_cidrs;
    int node_mask_v4, node_mask_v6;                       /* sizes of nodes' parts of the cluster's range */
    int64_t node_grace, node_startup_grace;               /* ns without a heartbeat until a node is in doubt */
    int32_t endpoints_per_slice;
    int32_t terminated_pods_max;
};

struct world {
    const struct controller_settings *settings;
    const struct world_reader *reader;
    void *source; /* the reader's own */
    int64_t now;        /* env_wall() at the start of the pass */
    struct arena *arena;
    bool gone; /* for a map function: the object is no more */
    const void *gathered; /* what the controller's gather() has found; NULL: nothing */
    /* What went wrong when this key's last plan was carried out; NULL when nothing did. */
    const struct status *failure;
    enum plan_verb failed_verb;
    int64_t memory[PLAN_MEMORY]; /* what the last plan for this key kept; zero when there was none */
};

/* The object under "NAMESPACE/NAME", or "NAME" when its kind has no namespaces; NULL when absent. Objects are borrowed
 * for the pass. */
const void *world_find(const struct world *world, const struct kind *kind, struct str key);
const void *world_find_in(const struct world *world, const struct kind *kind, struct str namespace, struct str name);
struct object_pointers world_all(const struct world *world, const struct kind *kind);
struct object_pointers world_in_namespace(const struct world *world, const struct kind *kind, struct str namespace);
/* Those whose controller is the object with that UID. */
struct object_pointers world_owned(const struct world *world, const struct kind *kind, struct str uid);
/* The same, and those of the namespace that nobody controls: what an owner may claim. */
struct object_pointers world_claimable(const struct world *world, const struct kind *kind, struct str uid,
                                       struct str namespace);

/* "NAMESPACE/NAME", or "NAME" without a namespace. */
struct str world_key(struct arena *arena, struct str namespace, struct str name);

#endif
