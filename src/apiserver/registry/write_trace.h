/* The spans of a write: handed to the store, and durable. */
#ifndef APISERVER_REGISTRY_WRITE_TRACE_H
#define APISERVER_REGISTRY_WRITE_TRACE_H

#include "apiserver/request.h"
#include "store/store.h"

/* Nothing when nothing was written. */
void registry_trace_write(struct request *request, const struct store_object *written);

#endif
