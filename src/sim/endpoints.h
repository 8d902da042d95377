/* Where Services send traffic, as their EndpointSlices have it. */
#ifndef SIM_ENDPOINTS_H
#define SIM_ENDPOINTS_H

#include "sim/history.h"

/* The user's Service, whose pods are labelled app=NAME, sends to each ready one and to no other; else `why` says more. */
bool endpoints_right(const struct history *history, const struct object *service, char *why, size_t why_size);

#endif
