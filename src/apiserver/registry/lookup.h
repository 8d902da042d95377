/* How requests read from a resource's watch cache: what resource versions ask for, and whose objects they are. */
#ifndef APISERVER_REGISTRY_LOOKUP_H
#define APISERVER_REGISTRY_LOOKUP_H

#include "apiserver/query.h"
#include "apiserver/registry/selection.h"
#include "apiserver/request.h"

/* Which objects of the cache a request can see: "", "NAMESPACE/", or one key. */
struct str lookup_scope(struct request *request, const struct selection *selection);
/* What resourceVersion and resourceVersionMatch of a get or list ask for. */
MUST_USE struct status *lookup_freshness(const struct list_options *options, enum freshness *ret_freshness,
                                         int64_t *ret_revision);
/* The bytes of a stored object as the resource's kind, without its type, in JSON or protobuf. A reference. */
MUST_USE struct status *lookup_item(const struct resource *resource, enum media media, struct stored *stored,
                                    struct blob **ret);
/* The same appended, for lists. */
MUST_USE struct status *lookup_add_item(const struct resource *resource, enum media media, struct stored *stored,
                                        struct buf *out);
/* The object as the resource's kind; lives as long as `stored` and the arena. Never to be changed. */
MUST_USE struct status *lookup_object(struct arena *arena, const struct resource *resource, struct stored *stored,
                                      const void **ret);

#endif
