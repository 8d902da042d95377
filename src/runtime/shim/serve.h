/* A sandbox's shim: parent of its pause process and containers, for as long as they live. */
#ifndef RUNTIME_SHIM_SERVE_H
#define RUNTIME_SHIM_SERVE_H

#include "base/attr.h"

/* Serves the protocol (protocol.h) on a listening socket until it is told to quit. Ends the process. */
NO_RETURN void shim_serve(int listener);

#endif
