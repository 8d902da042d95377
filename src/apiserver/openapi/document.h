/* Whole OpenAPI documents. Pure; any thread, as long as the resources do not change. */
#ifndef APISERVER_OPENAPI_DOCUMENT_H
#define APISERVER_OPENAPI_DOCUMENT_H

#include "apiserver/resource.h"
#include "base/buf.h"

/* Version 3: about one group and version, in JSON. */
void openapi_document(const struct resources *resources, struct str group, struct str version, struct buf *out);
/* Version 2: about everything. */
void openapi_document_v2(const struct resources *resources, struct buf *out);
/* The same as a message of gnostic's openapi.v2. */
void openapi_document_v2_protobuf(const struct resources *resources, struct buf *out);

#endif
