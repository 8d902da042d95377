/* Objects of one version as another: where a kind is served in versions that it isn't stored in. */
#ifndef APISERVER_REGISTRY_CONVERT_H
#define APISERVER_REGISTRY_CONVERT_H

#include "base/arena.h"
#include "schema/type.h"

/* The object itself when the kinds are the same; else a new one that borrows from it. Only pairs that
 * apiserver/resource.c names may be asked for. */
void *convert(struct arena *arena, const struct kind *from, const struct kind *to, const void *object);

#endif
