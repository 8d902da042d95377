/* Runs CNI plugins that are this very program: forked off the spawner, which has all that they need in memory already,
 * instead of executed, which takes longer than the work itself. */
#ifndef RUNTIME_OWN_PLUGIN_H
#define RUNTIME_OWN_PLUGIN_H

#include "network/cni_invoker.h"

/* A cni_run_own_fn; arg is the struct runtime. */
MUST_USE struct status *own_plugin_run(void *arg, struct str path, const struct str_list *parameters, struct str input,
                                       int64_t deadline, struct arena *arena, struct process_output *ret);

#endif
