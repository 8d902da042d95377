/* What the subcommands of `kubectl create` share. */
#ifndef KUBECTL_CREATE_H
#define KUBECTL_CREATE_H

#include "kubectl/kubectl.h"

/* The one NAME that every subcommand takes. */
MUST_USE struct status *create_name(struct kubectl *k, struct str *ret);
/* Creates what a subcommand has built (a typed struct of that kind), or shows it in a dry run. `start` is when building
 * began (trace_now()). */
MUST_USE struct status *create_built(struct kubectl *k, const struct kind *kind, void *object, int64_t start);

extern const struct command command_create_clusterrole, command_create_clusterrolebinding, command_create_configmap,
    command_create_cronjob, command_create_deployment, command_create_job, command_create_namespace,
    command_create_poddisruptionbudget, command_create_priorityclass, command_create_quota, command_create_role,
    command_create_rolebinding, command_create_secret, command_create_service, command_create_serviceaccount;

#endif
