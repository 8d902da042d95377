/* The extension that serves /api and /apis: which groups, versions and resources there are. */
#ifndef APISERVER_DISCOVERY_DISCOVERY_H
#define APISERVER_DISCOVERY_DISCOVERY_H

#include "apiserver/server.h"

extern const struct apiserver_extension discovery_extension;

#endif
