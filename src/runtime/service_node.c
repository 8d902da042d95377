/* What is asked about the runtime itself. */
#include "runtime/service.h"

#include "base/env.h"
#include "runtime/oci_runtimes.h"

#define STATUS_TIMEOUT_NS (5 * ENV_SECOND)

static struct status *version(void *arg, struct arena *arena, const void *request, void *response)
{
    struct cri_v1_version_response *answer = response;

    *answer = (struct cri_v1_version_response){
        .version = STR("0.1.0"), /* of the kubelet's API with runtimes, unchanged since its first days */
        .runtime_name = STR("c8s"), .runtime_version = STR("0.1.0"), .runtime_api_version = STR("v1")};
    return NULL;
}

static void add_handlers(const struct runtime *runtime, struct arena *arena, struct cri_v1_status_response *answer)
{
    struct str_list names = {0};

    *LIST_ADD(arena, &names) = STR(""); /* our own way */
    oci_runtime_list(arena, runtime->oci_runtimes, &names);
    LIST_EACH(name, &names) {
        struct cri_v1_runtime_handler *handler = LIST_ADD(arena, &answer->runtime_handlers);

        handler->name = *name;
        handler->features = ARENA_NEW(arena, struct cri_v1_runtime_handler_features);
        handler->features->recursive_read_only_mounts = true;
    }
}

static struct status *status(void *arg, struct arena *arena, const void *request, void *response)
{
    struct runtime *runtime = arg;
    struct cri_v1_status_response *answer = response;
    struct cri_v1_runtime_condition *network;
    struct status *problem = cni_status(&runtime->network, env_mono() + STATUS_TIMEOUT_NS);

    answer->status = ARENA_NEW(arena, struct cri_v1_runtime_status);
    *LIST_ADD(arena, &answer->status->conditions) =
        (struct cri_v1_runtime_condition){.type = STR("RuntimeReady"), .status = true};
    network = LIST_ADD(arena, &answer->status->conditions);
    *network = (struct cri_v1_runtime_condition){.type = STR("NetworkReady"), .status = problem == NULL};
    if (problem != NULL) {
        network->reason = STR("NetworkPluginNotReady");
        network->message =
            arena_printf(arena, "Network plugin returns error: %.*s", STR_ARG(problem->message));
        status_free(problem);
    }
    add_handlers(runtime, arena, answer);
    answer->features = ARENA_NEW(arena, struct cri_v1_runtime_features);
    answer->features->supplemental_groups_policy = true;
    return NULL;
}

static struct status *runtime_config(void *arg, struct arena *arena, const void *request, void *response)
{
    struct cri_v1_runtime_config_response *answer = response;

    answer->linux_ = ARENA_NEW(arena, struct cri_v1_linux_runtime_configuration);
    answer->linux_->cgroup_driver = CRI_V1_CGROUP_DRIVER_CGROUPFS;
    return NULL;
}

/* The node's pod CIDR matters only to a network configuration made from it, which is the node's business. */
static struct status *update_runtime_config(void *arg, struct arena *arena, const void *request, void *response)
{
    const struct cri_v1_update_runtime_config_request *asked = request;
    struct runtime *runtime = arg;

    if (runtime->on_pod_cidr == NULL || asked->runtime_config == NULL ||
        asked->runtime_config->network_config == NULL || asked->runtime_config->network_config->pod_cidr.n == 0) {
        return NULL;
    }
    return runtime->on_pod_cidr(runtime->on_pod_cidr_arg, asked->runtime_config->network_config->pod_cidr);
}

static const struct grpc_method methods[] = {
    {.rpc = &cri_v1_runtime_service_version_rpc, .handle = version},
    {.rpc = &cri_v1_runtime_service_status_rpc, .handle = status},
    {.rpc = &cri_v1_runtime_service_runtime_config_rpc, .handle = runtime_config},
    {.rpc = &cri_v1_runtime_service_update_runtime_config_rpc, .handle = update_runtime_config},
};
const struct service_methods service_node_methods = {methods, COUNT_OF(methods)};
