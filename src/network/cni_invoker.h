/* Attaches pods to networks by the CNI specification (1.0, with 1.1's STATUS): what the runtime calls.
 *
 * The network is the first *.conflist, *.conf or *.json of a directory by name, read again for every pod, so a change
 * needs no restart. What a pod was attached by (configuration and result) is kept under `cache_dir` in the form of
 * stock's libcni, so a pod is detached by what attached it, also after a restart or a change.
 * Plugins run as programs found in `plugin_dirs`. A failure of one is
 *   plugin type="bridge" failed (add): MESSAGE; DETAILS
 * with the error code of the specification as the reason and the plugin's type as the field of the status' one cause;
 * SERVICE_UNAVAILABLE for "try again later" (11) and "not available" (50, 51), INTERNAL_ERROR otherwise.
 *
 * Calls that take a deadline (env_mono(), or TASK_FOREVER) park; loop thread only. */
#ifndef NETWORK_CNI_INVOKER_H
#define NETWORK_CNI_INVOKER_H

#include "base/arena.h"
#include "base/status.h"
#include "schema/ip.h"

#include <stdint.h>

struct process_output;

/* Runs a plugin that is this very program, in a process of its own that needs no exec: `path` is its argv[0], `parameters`
 * ("CNI_COMMAND=ADD", ...) replace all CNI_ variables of the environment. SERVICE_UNAVAILABLE before anything was run
 * when that can't be done now: then it is executed as any other. Otherwise as process_run(). Parks. */
typedef struct status *cni_run_own_fn(void *arg, struct str path, const struct str_list *parameters, struct str input,
                                      int64_t deadline, struct arena *arena, struct process_output *ret);

/* Where things are; lives as long as it is used. */
struct cni_invoker {
    struct str conf_dir;         /* /etc/cni/net.d */
    struct str_list plugin_dirs; /* /opt/cni/bin, ... */
    struct str cache_dir;        /* /var/lib/cni; made when missing */
    cni_run_own_fn *run_own;     /* NULL: plugins are always executed */
    void *run_own_arg;
};

struct cni_port_mapping {
    struct str host_ip; /* empty: all addresses of the host */
    int32_t host_port, container_port;
    struct str protocol; /* tcp, udp, sctp */
};

struct cni_dns {
    struct str_list nameservers, search, options;
    struct str domain;
};

/* A pod to attach. Only container_id, netns and interface are needed. */
struct cni_attachment {
    struct str container_id; /* the sandbox's */
    struct str netns;        /* path, /run/netns/...; empty for a DEL whose namespace is gone */
    struct str interface;    /* eth0 */
    struct str pod_namespace, pod_name, pod_uid; /* go to CNI_ARGS */
    /* Given to plugins that declare the capability. */
    struct {
        struct cni_port_mapping *items;
        size_t len;
    } port_mappings;
    struct str_list ips;     /* addresses asked for, "10.1.2.3/24" */
    struct str mac;
    struct cni_dns dns;
    struct str cgroup_path;
    int64_t ingress_rate, ingress_burst, egress_rate, egress_burst; /* bits per second and bits; 0: no limit */
};

struct cni_address {
    struct cidr address;
    struct ip gateway; /* length 0: none */
    int interface;     /* index in interfaces; -1: not said */
};

struct cni_route {
    struct cidr destination;
    struct ip gateway; /* length 0: the default */
};

struct cni_interface {
    struct str name, mac;
    struct str sandbox; /* netns path; empty for an interface of the host */
};

/* What the plugins made, in the arena it was asked for with. */
struct cni_result {
    struct {
        struct cni_interface *items;
        size_t len;
    } interfaces;
    struct {
        struct cni_address *items;
        size_t len;
    } addresses;
    struct {
        struct cni_route *items;
        size_t len;
    } routes;
    struct cni_dns dns;
    struct str json; /* the last plugin's answer as it is */
};

/* Brings up the namespace's loopback (without a plugin), then runs ADD of every plugin in order, each with the result
 * of the one before. When one fails, DEL is run for all in reverse order (its errors are dropped) before the first
 * error is returned. The addresses inside the pod are result->addresses with `interface` -1 or one that has a sandbox. */
MUST_USE struct status *cni_add(const struct cni_invoker *invoker, const struct cni_attachment *attachment,
                                int64_t deadline, struct arena *arena, struct cni_result *ret);
/* DEL in reverse order, by the kept configuration, else by today's. Succeeds when there is nothing (no more) to
 * detach; only then is what was kept forgotten. All plugins are run, the first error is returned. */
MUST_USE struct status *cni_del(const struct cni_invoker *invoker, const struct cni_attachment *attachment,
                                int64_t deadline);
/* CHECK in order, with the kept result; NOT_FOUND when nothing is kept. Nothing is run where the configuration has
 * disableCheck. */
MUST_USE struct status *cni_check(const struct cni_invoker *invoker, const struct cni_attachment *attachment,
                                  int64_t deadline);
/* The kept result, without running anything: for a runtime that restarts. NOT_FOUND when nothing is kept. */
MUST_USE struct status *cni_result_read(const struct cni_invoker *invoker, const struct cni_attachment *attachment,
                                        struct arena *arena, struct cni_result *ret);
/* Whether pods can be attached now: there is a valid configuration, its plugins are found, and, from cniVersion 1.1 on,
 * their STATUS is good. NULL: the CRI's NetworkReady. Without configuration SERVICE_UNAVAILABLE "cni plugin not
 * initialized". */
MUST_USE struct status *cni_status(const struct cni_invoker *invoker, int64_t deadline);

/* An address that is the pod's, not that of an interface on the host. */
bool cni_address_is_pod(const struct cni_result *result, const struct cni_address *address);

#endif
