/* The part of the server that makes CustomResourceDefinitions come true: their conditions, the resources they define, and
 * the end of their objects when they are deleted. */
#ifndef APISERVER_CUSTOM_DEFINITIONS_H
#define APISERVER_CUSTOM_DEFINITIONS_H

#include "apiserver/server.h"

extern const struct apiserver_extension definitions_extension;

#endif
