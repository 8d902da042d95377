/* The extension that serves /openapi: what kubectl explains and validates by. */
#ifndef APISERVER_OPENAPI_OPENAPI_H
#define APISERVER_OPENAPI_OPENAPI_H

#include "apiserver/server.h"

extern const struct apiserver_extension openapi_extension;

#endif
