/* Every controller of the controller manager, a row each. The decider of a row is in the file of its name. */
#ifndef CONTROLLER_CONTROLLERS_H
#define CONTROLLER_CONTROLLERS_H

#include "controller/controller.h"

extern const struct controller deployment_controller;
extern const struct controller replicaset_controller;

#endif
