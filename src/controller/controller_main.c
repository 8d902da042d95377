#include "controller/controller_main.h"

#include "base/env.h"
#include "base/file.h"
#include "client/component_process.h"
#include "controller/controller_manager.h"
#include "controller/controllers.h"

enum { FILE_BYTES_MAX = 4 << 20 };

struct options {
    struct arena *arena;
    struct controller_manager_options manager;
    struct str root_ca_file, service_account_private_key_file, cluster_name;
    struct flag_strings controllers;
    bool enable_garbage_collector;
    int64_t node_mask_v4, node_mask_v6, node_mask;
    int64_t endpoints_per_slice, terminated_pods_max;
};

#define OPTION(kind, member, name, help) FLAG(kind, struct options, member, name, 0, help)
static const struct flag flags[] = {
    OPTION(STRING, root_ca_file, "root-ca-file", "certificates that pods check the API server's with"),
    OPTION(STRING, service_account_private_key_file, "service-account-private-key-file",
           "key that tokens kept in Secrets are signed with"),
    OPTION(STRING, manager.settings.cluster_cidr, "cluster-cidr", "range of pods' addresses"),
    OPTION(STRING, manager.settings.service_cidr, "service-cluster-ip-range", "range of services' addresses"),
    OPTION(STRING, cluster_name, "cluster-name", "prefix of the cluster's instances"),
    OPTION(STRINGS, controllers, "controllers", "controllers that run: *, NAME, -NAME"),
    OPTION(BOOL, enable_garbage_collector, "enable-garbage-collector", "delete what its owners have left behind"),
    OPTION(BOOL, manager.use_accounts, "use-service-account-credentials",
           "each controller acts as its own service account"),
    OPTION(BOOL, manager.settings.allocate_node_cidrs, "allocate-node-cidrs", "give each node a part of the range"),
    OPTION(INT, node_mask, "node-cidr-mask-size", "size of a node's part"),
    OPTION(INT, node_mask_v4, "node-cidr-mask-size-ipv4", "size of a node's part of an IPv4 range"),
    OPTION(INT, node_mask_v6, "node-cidr-mask-size-ipv6", "size of a node's part of an IPv6 range"),
    OPTION(DURATION, manager.settings.node_grace, "node-monitor-grace-period", "silence that makes a node doubtful"),
    OPTION(DURATION, manager.settings.node_startup_grace, "node-startup-grace-period",
           "the same for a node that starts"),
    OPTION(INT, endpoints_per_slice, "max-endpoints-per-slice", "endpoints in one EndpointSlice"),
    OPTION(INT, terminated_pods_max, "terminated-pod-gc-threshold", "finished pods that are kept"),
    FLAG_IGNORE("cidr-allocator-type"),
    FLAG_IGNORE("node-monitor-period"),
    FLAG_IGNORE("cluster-signing-cert-file"),
    FLAG_IGNORE("cluster-signing-key-file"),
    FLAG_IGNORE("requestheader-client-ca-file"),
    FLAG_IGNORE("client-ca-file"),
};

static struct status *check_controllers(struct options *options)
{
    for (size_t i = 0; i < options->controllers.len; i++) {
        struct str item = options->controllers.items[i];
        struct str name = str_has_prefix(item, STR("-")) ? str_from(item, 1) : item;

        if (!str_is(item, "*") && !controllers_is_name(name)) {
            return status_new(STATUS_BAD_REQUEST, "\"%.*s\" is not in the list of known controllers", STR_ARG(item));
        }
        *LIST_ADD(options->arena, &options->manager.controllers) = item;
    }
    if (!options->enable_garbage_collector) {
        struct str_list all = options->manager.controllers;

        options->manager.controllers = (struct str_list){0};
        *LIST_ADD(options->arena, &options->manager.controllers) = STR("-" GARBAGE_COLLECTOR_NAME);
        LIST_EACH(item, &all)
        {
            *LIST_ADD(options->arena, &options->manager.controllers) = *item;
        }
        if (all.len == 0) {
            *LIST_ADD(options->arena, &options->manager.controllers) = STR("*");
        }
    }
    return NULL;
}

static struct status *check(void *arg)
{
    struct options *options = arg;
    struct controller_settings *settings = &options->manager.settings;

    if (options->node_mask > 0) {
        options->node_mask_v4 = options->node_mask_v6 = options->node_mask;
    }
    if (options->node_mask_v4 > 32 || options->node_mask_v6 > 128 || options->node_mask_v4 < 0 ||
        options->node_mask_v6 < 0) {
        return status_new(STATUS_BAD_REQUEST, "--node-cidr-mask-size is larger than an address");
    }
    settings->node_mask_v4 = (int)options->node_mask_v4;
    settings->node_mask_v6 = (int)options->node_mask_v6;
    if (options->endpoints_per_slice < 1 || options->endpoints_per_slice > 1000) {
        return status_new(STATUS_BAD_REQUEST, "--max-endpoints-per-slice must be from 1 to 1000");
    }
    settings->endpoints_per_slice = (int32_t)options->endpoints_per_slice;
    settings->terminated_pods_max = (int32_t)MIN(options->terminated_pods_max, INT32_MAX);
    TRY(check_controllers(options));
    if (options->root_ca_file.n == 0) {
        return NULL;
    }
    struct status *status = file_read(options->arena, arena_cstr(options->arena, options->root_ca_file),
                                      FILE_BYTES_MAX, &settings->root_ca);

    return status != NULL ? status_while(status, "--root-ca-file: ") : NULL;
}

static void run(const struct component_clients *clients, void *arg)
{
    const struct options *options = arg;

    controller_manager_run(clients, &options->manager);
}

int controller_main(int argc, char **argv)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct options options = {
        .arena = arena,
        .cluster_name = STR("kubernetes"),
        .enable_garbage_collector = true,
        .manager.settings = {.node_grace = 50 * ENV_SECOND, .node_startup_grace = 60 * ENV_SECOND},
        .node_mask_v4 = 24,
        .node_mask_v6 = 64,
        .endpoints_per_slice = 100,
        .terminated_pods_max = 12500,
    };
    struct component_process component = {
        .name = "kube-controller-manager",
        .trace_name = "controller-manager",
        .about = "The Kubernetes controller manager of c8s: brings what is there to what is wanted.",
        .flags = {flags, COUNT_OF(flags), &options},
        .check = check,
        .run = run,
    };

    return component_process_main(&component, argc, argv);
}
