#include "controller/controller_main.h"

#include "client/component_process.h"
#include "controller/controllers.h"
#include "controller/engine.h"

struct options {
    struct str root_ca_file, service_account_private_key_file, cluster_cidr, service_cluster_ip_range;
    struct str cluster_name;
    bool allocate_node_cidrs;
};

#define OPTION(kind, member, name, help) FLAG(kind, struct options, member, name, 0, help)
static const struct flag flags[] = {
    OPTION(STRING, root_ca_file, "root-ca-file", "certificates that pods get to check the API server's with"),
    OPTION(STRING, service_account_private_key_file, "service-account-private-key-file",
           "key that tokens kept in Secrets are signed with"),
    OPTION(STRING, cluster_cidr, "cluster-cidr", "range of pods' addresses"),
    OPTION(STRING, service_cluster_ip_range, "service-cluster-ip-range", "range of services' addresses"),
    OPTION(STRING, cluster_name, "cluster-name", "prefix of the cluster's instances"),
    OPTION(BOOL, allocate_node_cidrs, "allocate-node-cidrs", "give each node a part of the range"),
};

static void run(struct client *client, void *arg)
{
    struct engine *engine = engine_new(client);

    engine_add(engine, &deployment_controller);
    engine_add(engine, &replicaset_controller);
    engine_run(engine);
    engine_free(engine);
}

int controller_main(int argc, char **argv)
{
    struct options options = {.cluster_name = STR("kubernetes")};
    struct component_process component = {
        .name = "kube-controller-manager",
        .trace_name = "controller-manager",
        .about = "The Kubernetes controller manager of c8s: brings what is there to what is wanted.",
        .flags = {flags, COUNT_OF(flags), &options},
        .run = run,
    };

    return component_process_main(&component, argc, argv);
}
