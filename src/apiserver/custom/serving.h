/* The custom resources that are served: what the definitions make of the server's resources. Event-loop thread. */
#ifndef APISERVER_CUSTOM_SERVING_H
#define APISERVER_CUSTOM_SERVING_H

#include "api/apiextensions_v1.h"
#include "apiserver/server.h"

struct serving;

struct serving *serving_new(struct apiserver *server);
/* Serves what the definition says, in place of what it said before; nothing changes when it is the same. */
void serving_set(struct serving *serving, const struct apiextensions_v1_custom_resource_definition *definition);
/* No longer serves what the definition of that name made. */
void serving_drop(struct serving *serving, struct str name);
/* Drops those whose definition is none of `names`. */
void serving_keep_only(struct serving *serving, const struct str_list *names);
/* The resource of the stored version; NULL when the definition isn't served. */
const struct resource *serving_stored(const struct serving *serving, struct str name);
/* Ends all watches. */
void serving_stop(struct serving *serving);
/* Parks. NULL is fine. */
void serving_free(struct serving *serving);

#endif
