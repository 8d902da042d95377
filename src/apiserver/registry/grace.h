/* Deleting takes turns: finalizers must go first, pods get time to end, dependents may be orphaned or waited for. Pure. */
#ifndef APISERVER_REGISTRY_GRACE_H
#define APISERVER_REGISTRY_GRACE_H

#include "apiserver/query.h"
#include "apiserver/resource.h"
#include "schema/object.h"

enum grace_verdict {
    GRACE_DELETE_NOW, /* nothing holds the object */
    GRACE_UPDATE,     /* the object has been marked as being deleted and is to be stored so */
    GRACE_LAST_UPDATE, /* so marked it is stored, for those who watch, and then deleted */
    GRACE_ALREADY,    /* it is being deleted, and this request changes nothing */
};

/* Decides, and marks `object` (a copy that may be changed). `now` is env_wall(). */
enum grace_verdict grace_decide(struct arena *arena, const struct resource *resource,
                                const struct delete_options *options, int64_t now, struct object *object);

#endif
