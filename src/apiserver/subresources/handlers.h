/* The handlers there are, one file for each kind of thing. For subresources.c only. */
#ifndef APISERVER_SUBRESOURCES_HANDLERS_H
#define APISERVER_SUBRESOURCES_HANDLERS_H

#include "apiserver/request.h"

/* POST pods/NAME/binding, and POST bindings. */
struct status *binding_create(struct request *request);
/* GET, PUT, PATCH of .../scale. */
struct status *scale_serve(struct request *request);

#endif
