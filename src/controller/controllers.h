/* Every controller of the controller manager, a row each. The decider of a row is in the file of its name. */
#ifndef CONTROLLER_CONTROLLERS_H
#define CONTROLLER_CONTROLLERS_H

#include "controller/engine.h"

extern const struct controller deployment_controller;
extern const struct controller replicaset_controller;
extern const struct controller endpointslice_controller;
extern const struct controller namespace_controller;
extern const struct controller serviceaccount_controller;
extern const struct controller root_ca_controller;
extern const struct controller node_lifecycle_controller;

#endif
