/* What c8s' CNI plugins share: how they are called, and how they answer. Everything here blocks; a plugin is a process of
 * its own with one thread and no event loop.
 *
 * Statuses become the specification's error codes: BAD_REQUEST an invalid configuration (7), METHOD_NOT_ALLOWED a field
 * that is not supported (2), NOT_ACCEPTABLE a version (1), INVALID the environment (4), UNSUPPORTED_MEDIA_TYPE what can't
 * be decoded (6), GONE a container that does not exist (3), SERVICE_UNAVAILABLE try again later (11), others 999. */
#ifndef NETWORK_CNI_PLUGIN_H
#define NETWORK_CNI_PLUGIN_H

#include "network/cni_invoker.h"
#include "network/host_nat.h"
#include "network/ipam.h"
#include "schema/value.h"

/* One call, decoded. */
struct cni_call {
    struct arena *arena;
    struct str command; /* ADD, DEL, CHECK, STATUS, GC, VERSION */
    struct str container, netns, interface;
    struct str version; /* cniVersion of the configuration */
    struct str name;    /* of the network */
    const struct value *input;
    bool has_previous;
    struct cni_result previous;
    struct value *previous_tree;
};

/* A plugin. What is NULL has nothing to do and succeeds. `add` fills the result, which begins as the one before. */
struct cni_plugin {
    const char *type;
    struct status *(*add)(const struct cni_call *call, struct cni_result *result);
    struct status *(*del)(const struct cni_call *call);
    struct status *(*check)(const struct cni_call *call);
    struct status *(*status)(const struct cni_call *call);
    /* Gives back what belongs to no attachment for which is_valid(call, ...) holds. */
    struct status *(*collect)(const struct cni_call *call,
                              bool (*is_valid)(void *call, struct str container, struct str interface));
    bool only_ipam; /* it is called by other plugins, with their configuration: its name decides, not the type in it */
};

extern const struct cni_plugin cni_bridge, cni_c8s, cni_host_local, cni_loopback, cni_portmap;

/* The addresses of the pod in a result: those of no interface, or of one in a sandbox. */
void cni_pod_addresses(struct arena *arena, const struct cni_result *result, struct host_nat_pod *pod);
/* runtimeConfig.portMappings. BAD_REQUEST when they make no sense. */
MUST_USE struct status *cni_port_mappings(struct arena *arena, const struct value *input, struct host_nat_pod *pod);
/* A boolean of the configuration, `otherwise` when it is not there. BAD_REQUEST when it is none. */
MUST_USE struct status *cni_read_bool(const struct value *input, struct str key, bool otherwise, bool *ret);
/* Writes a file below /proc/sys when it holds something else. */
MUST_USE struct status *cni_sysctl(const char *path, const char *text);
/* "dns" of the configuration and of runtimeConfig, and resolv.conf when a path is given. */
MUST_USE struct status *cni_read_dns(struct arena *arena, const struct value *input, struct str resolv_conf,
                                     struct cni_dns *ret);

#endif
