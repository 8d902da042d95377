/* The extension that gives a fresh cluster what it must have, and brings an older one up to date. */
#ifndef APISERVER_BOOTSTRAP_BOOTSTRAP_H
#define APISERVER_BOOTSTRAP_BOOTSTRAP_H

#include "apiserver/server.h"

extern const struct apiserver_extension bootstrap_extension;

#endif
