/* What a request's method, path and query ask for: stock's RequestInfo. Pure. */
#ifndef APISERVER_ROUTE_H
#define APISERVER_ROUTE_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>

struct request_info {
    bool is_resource; /* below: only `path` and `verb` are set when it isn't */
    struct str path;  /* decoded */
    struct str verb;  /* create, get, list, watch, update, patch, delete, deletecollection; else the method, small */
    struct str prefix; /* "api" or "apis" */
    struct str group, version;
    struct str namespace;
    struct str resource, subresource, name;
    struct str rest; /* what follows the subresource, with its leading slash; as in .../proxy/a/b */
    struct str field_selector, label_selector; /* of list, watch and deletecollection */
};

/* BAD_REQUEST when the path is broken. Text lives in the arena or is borrowed from the arguments. */
MUST_USE struct status *route_parse(struct arena *arena, struct str method, struct str path, struct str query,
                                    struct request_info *ret);

#endif
