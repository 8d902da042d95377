/* The CNI plugins as programs: bridge, host-local, loopback, portmap, and c8s-cni, which is the bridge with addresses and
 * port mappings in one program, so that a pod costs one process.
 *
 * Called by CNI's rules: parameters in the environment, configuration on standard input, result or error as JSON on
 * standard output. */
#ifndef NETWORK_CNI_MAIN_H
#define NETWORK_CNI_MAIN_H

#include <stdbool.h>

/* Whether a program of that name (argv[0], with or without a path) is one of the plugins. */
bool cni_is_plugin(const char *name);
/* Returns the exit code. The plugin is the one argv[0] names, else the configuration's type. Without CNI_COMMAND it says
 * what it is, on standard error. */
int cni_main(int argc, char **argv);

#endif
