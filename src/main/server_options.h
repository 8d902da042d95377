/* What `c8s server` was told: flags by the names k3s users know, and the same names as keys of --config FILE (YAML). */
#ifndef MAIN_SERVER_OPTIONS_H
#define MAIN_SERVER_OPTIONS_H

#include "base/flags.h"

struct server_options {
    struct str data_dir;
    int64_t port;
    struct str bind_address;
    struct str advertise_address; /* that of the node unless told */
    struct str write_kubeconfig;
    struct str write_kubeconfig_mode;
    struct str token; /* a bearer token of an administrator; empty: none */
    struct str node_name, node_ip;
    struct str cluster_cidr, service_cidr, cluster_dns, cluster_domain;
    struct str registries; /* mirrors and credentials of image registries */
    struct str config;
    bool disable_agent;
    struct flag_strings disable;
    struct flag_strings tls_sans;
    struct flag_strings node_labels, node_taints;
    struct flag_strings apiserver_args, controller_manager_args, scheduler_args, kubelet_args, runtime_args;
    int64_t verbosity;
};

/* What can be left out with --disable. */
#define SERVER_COMPONENTS "controller-manager,scheduler,kubelet,runtime"

/* Reads the arguments (argv[0] is skipped) and the configuration file they name; what the arguments say goes before the
 * file. Checks all values. BAD_REQUEST names the flag at fault. *ret_wants_help: nothing else counts. */
MUST_USE struct status *server_options_parse(int argc, char **argv, struct arena *arena, struct server_options *ret,
                                             bool *ret_wants_help);
/* Keeps the arguments of a server in FILE, for whoever ends it later, and reads them back in front of others: *ret is
 * argv[0], those kept, then the rest of argv; argv itself when nothing is kept. Blocks. */
MUST_USE struct status *server_arguments_keep(const char *file, int argc, char **argv);
MUST_USE struct status *server_arguments_join(const char *file, int argc, char **argv, struct arena *arena, int *ret_argc,
                                              char ***ret);
struct str server_options_usage(struct arena *arena);
bool server_options_disabled(const struct server_options *options, const char *component);

#endif
