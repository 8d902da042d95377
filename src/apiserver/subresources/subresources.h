/* Subresources that are no part of their object, and kinds that are computed instead of stored. */
#ifndef APISERVER_SUBRESOURCES_SUBRESOURCES_H
#define APISERVER_SUBRESOURCES_SUBRESOURCES_H

#include "apiserver/request.h"

typedef struct status *request_handler(struct request *request);

/* What serves the request's subresource; NULL when it is a part of the object (status, finalize, ...), which the registry
 * updates like the object itself. */
request_handler *subresource_handler(const struct request *request);
/* What serves a POST of a kind that is not stored; NULL for none. */
request_handler *computed_handler(const struct request *request);

#endif
