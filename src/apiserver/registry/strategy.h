/* What differs between kinds when their objects are created, updated and deleted. Most kinds do with the flags; the
 * functions, where set, run after the general rules of the registry. */
#ifndef APISERVER_REGISTRY_STRATEGY_H
#define APISERVER_REGISTRY_STRATEGY_H

#include "apiserver/query.h"
#include "apiserver/request.h"
#include "schema/object.h"

enum strategy_flags {
    STRATEGY_GENERATION = 1,        /* metadata.generation counts changes of what users want */
    STRATEGY_GENERATION_LATE = 1024, /* ... but is 0 until the first change */
    STRATEGY_GENERATION_FIXED = 8192, /* ... is 1 for ever */
    STRATEGY_CREATE_ON_UPDATE = 2,  /* PUT of an object that isn't there creates it */
    STRATEGY_NEEDS_VERSION = 4,     /* PUT without a resourceVersion is refused */
    STRATEGY_RETURNS_DELETED = 8,   /* DELETE answers with the object, not with a Status */
    STRATEGY_ORPHANS = 16,          /* deleting leaves dependents, unless asked otherwise */
    STRATEGY_NO_COLLECTION = 32,    /* garbage collection doesn't apply */
    STRATEGY_KEEPS_STATUS = 64,     /* clients may create an object with its status */
    STRATEGY_STATUS_KEEPS_LABELS = 128, /* the status subresource doesn't change labels */
    STRATEGY_STATUS_KEEPS_META = 2048,  /* ... nor anything else of the metadata */
    STRATEGY_GENERATION_LABELS = 4096,  /* the generation counts changes of labels too */
    STRATEGY_GRACEFUL = 256,        /* deleting may take time (pods) */
    STRATEGY_VOLATILE = 512,        /* updates are heartbeats: they need not survive a crash */
};

struct strategy {
    const char *group, *kind;
    unsigned flags;
    /* Fills what clients can't set and drops what they may not. */
    void (*create)(struct request *request, void *object);
    void (*update)(struct request *request, void *object, const void *old);
    /* An update of the subresource (never NULL): status and others. */
    void (*update_subresource)(struct request *request, struct str subresource, void *object, const void *old);
    /* After validation, before the write: takes what must be allocated (addresses, ports). `old` is NULL at a create.
     * `finish` follows, however the write went (`is_written`), and after a delete with `object` NULL: it gives back what is
     * no longer used. */
    struct status *(*allocate)(struct request *request, const struct write_options *options, void *object,
                               const void *old);
    void (*finish)(struct request *request, const void *object, const void *old, bool is_written);
    /* Something beside finalizers still holds a deleted object (a namespace's spec.finalizers). */
    bool (*holds)(const struct object *object);
    /* The object has been marked as being deleted. */
    void (*deleting)(struct arena *arena, struct object *object);
};

/* Never NULL. */
const struct strategy *strategy_of(const struct kind *kind);

/* The object's field of that name, NULL when its kind has none. */
void *object_field(const struct kind *kind, void *object, struct str name);
/* Takes the field over from another object of the kind. Nothing happens when the kind has no such field. */
void object_field_take(const struct kind *kind, void *object, const void *from, struct str name);
void object_field_clear(const struct kind *kind, void *object, struct str name);

#endif
