/* What a cluster holds before anyone uses it: namespaces, roles and bindings, priorities, the Service by which pods
 * reach the API server. Pure. */
#ifndef APISERVER_BOOTSTRAP_INITIAL_OBJECTS_H
#define APISERVER_BOOTSTRAP_INITIAL_OBJECTS_H

#include "base/arena.h"
#include "base/status.h"
#include "schema/object.h"
#include "schema/type.h"

struct initial_object {
    const struct kind *kind;
    struct object *object;
};

struct initial_objects {
    struct initial_object *items;
    size_t len;
};

/* What differs from server to server; empty where not known. */
struct initial_facts {
    struct str address;         /* where members of the cluster reach this server, without the port */
    int port;
    struct str service_address; /* of the Service: the first of the range */
    struct str service_range;   /* "10.96.0.0/12" */
    struct str client_ca, requestheader_ca; /* PEM */
    struct str_list requestheader_names, requestheader_extra_prefixes, requestheader_groups, requestheader_uids,
        requestheader_usernames;
};

/* The namespaces that all others need to be there first. */
MUST_USE struct status *initial_namespaces(struct arena *arena, struct initial_objects *ret);
/* Everything else, in no order that matters. */
MUST_USE struct status *initial_objects(struct arena *arena, const struct initial_facts *facts,
                                        struct initial_objects *ret);

#endif
