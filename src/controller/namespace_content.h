/* What is left in a namespace that is being deleted. */
#ifndef CONTROLLER_NAMESPACE_CONTENT_H
#define CONTROLLER_NAMESPACE_CONTENT_H

#include "client/client.h"
#include "schema/type.h"

struct namespace_remainder {
    const struct kind *kind; /* of which some are left */
    int64_t count;
};

struct namespace_finalizer {
    struct str name;
    int64_t count; /* objects that have it */
};

struct namespace_content {
    struct namespace_remainder *items;
    size_t len;
    struct {
        struct namespace_finalizer *items;
        size_t len;
    } finalizers;
};

/* Lists everything that can be deleted in it, custom resources too. Parks. */
MUST_USE struct status *namespace_content_list(struct client *client, struct str namespace, struct arena *arena,
                                               struct namespace_content *ret);

#endif
