/* OpenAPI paths: what can be asked of each resource, and with which parameters. Pure. */
#ifndef APISERVER_OPENAPI_PATHS_H
#define APISERVER_OPENAPI_PATHS_H

#include "apiserver/openapi/schemas.h"
#include "apiserver/resource.h"

/* Appends "PATH":{...},... of all resources of the group and version; *first says whether a comma is due. */
void openapi_paths(struct openapi_writer *writer, const struct resources *resources, struct str group,
                   struct str version, bool *first);

#endif
