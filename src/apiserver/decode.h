/* Bodies of requests: read, recognised and decoded, with stock's words for what is wrong. */
#ifndef APISERVER_DECODE_H
#define APISERVER_DECODE_H

#include "apiserver/query.h"
#include "apiserver/request.h"

/* The whole body; REQUEST_ENTITY_TOO_LARGE in stock's words. */
MUST_USE struct status *decode_read_body(struct request *request, struct str *ret);
/* Reads the body as an object of the kind. What strict reading finds becomes warnings, or an error. The object's type_meta
 * is cleared. */
MUST_USE struct status *decode_object(struct request *request, struct str body, const struct kind *kind,
                                      enum field_validation validation, void **ret);
/* The same from text that is JSON, for which `body` is what errors quote; used for the outcome of patches. */
MUST_USE struct status *decode_json(struct request *request, struct str text, const struct kind *kind,
                                    enum field_validation validation, void **ret);

#endif
