#include "runtime/service.h"

#include "base/env.h"
#include "runtime/sandbox.h"
#include "runtime/sandbox_plan.h"

static struct cri_v1_pod_sandbox_metadata *metadata_of(const struct sandbox *sandbox)
{
    return sandbox->record.config->metadata;
}

static struct status *run(struct runtime *runtime, struct arena *arena, const void *request, void *response)
{
    const struct cri_v1_run_pod_sandbox_request *asked = request;
    struct cri_v1_run_pod_sandbox_response *answer = response;

    return sandbox_run(runtime, asked->config, asked->runtime_handler, &answer->pod_sandbox_id, arena);
}

static struct status *stop(struct runtime *runtime, struct arena *arena, const void *request, void *response)
{
    const struct cri_v1_stop_pod_sandbox_request *asked = request;
    OWNED(sandbox_unrefp) struct sandbox *sandbox = NULL;
    struct status *status = sandbox_get(runtime, asked->pod_sandbox_id, &sandbox);

    if (status != NULL) {
        status_free(status); /* it has been removed: stopped as can be */
        return NULL;
    }
    return sandbox_stop(sandbox);
}

static struct status *remove(struct runtime *runtime, struct arena *arena, const void *request, void *response)
{
    const struct cri_v1_remove_pod_sandbox_request *asked = request;
    OWNED(sandbox_unrefp) struct sandbox *sandbox = NULL;
    struct status *status = sandbox_get(runtime, asked->pod_sandbox_id, &sandbox);

    if (status != NULL) {
        status_free(status);
        return NULL;
    }
    return sandbox_remove(sandbox);
}

SERVICE_WHOLE(run)
SERVICE_WHOLE(stop)
SERVICE_WHOLE(remove)

void service_sandbox_status(struct arena *arena, const struct sandbox *sandbox, struct cri_v1_pod_sandbox_status *ret)
{
    const struct shim_sandbox_record *record = &sandbox->record;
    const struct cri_v1_linux_pod_sandbox_config *linux_config = record->config->linux_;
    struct cri_v1_pod_sandbox_network_status *network = ARENA_NEW(arena, struct cri_v1_pod_sandbox_network_status);

    for (size_t i = 0; i < record->ips.len; i++) {
        if (i == 0) {
            network->ip = record->ips.items[0];
        } else {
            *LIST_ADD(arena, &network->additional_ips) = (struct cri_v1_pod_ip){record->ips.items[i]};
        }
    }
    *ret = (struct cri_v1_pod_sandbox_status){
        .id = record->id, .metadata = metadata_of(sandbox), .state = record->state, .created_at = record->created_at,
        .network = network, .labels = record->config->labels, .annotations = record->config->annotations,
        .runtime_handler = record->runtime_handler};
    ret->linux_ = ARENA_NEW(arena, struct cri_v1_linux_pod_sandbox_status);
    ret->linux_->namespaces = ARENA_NEW(arena, struct cri_v1_namespace);
    ret->linux_->namespaces->options = linux_config != NULL && linux_config->security_context != NULL &&
                                               linux_config->security_context->namespace_options != NULL
                                           ? linux_config->security_context->namespace_options
                                           : ARENA_NEW(arena, struct cri_v1_namespace_option);
}

static struct status *show(void *arg, struct arena *arena, const void *request, void *response)
{
    struct runtime *runtime = arg;
    const struct cri_v1_pod_sandbox_status_request *asked = request;
    struct cri_v1_pod_sandbox_status_response *answer = response;
    OWNED(sandbox_unrefp) struct sandbox *sandbox = NULL;

    TRY(sandbox_get(runtime, asked->pod_sandbox_id, &sandbox));
    answer->status = ARENA_NEW(arena, struct cri_v1_pod_sandbox_status);
    service_sandbox_status(arena, sandbox, answer->status);
    if (asked->verbose) {
        typeof(*answer->info.items) info = {
            STR("info"), arena_printf(arena, "{\"pid\":%u,\"netns\":\"%.*s\"}", sandbox->pause_pid,
                                      STR_ARG(sandbox->record.netns_path))};

        *LIST_ADD(arena, &answer->info) = info;
    }
    /* With them the kubelet's generic events need no second question. */
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&runtime->containers, &at)) != NULL;) {
        const struct container *container = entry->value;

        if (container->sandbox == sandbox) {
            service_container_status(arena, container, LIST_ADD(arena, &answer->containers_statuses));
        }
    }
    answer->timestamp = env_wall();
    return NULL;
}

static bool is_wanted(const struct sandbox *sandbox, const struct cri_v1_pod_sandbox_filter *filter)
{
    return filter == NULL ||
           ((filter->id.n == 0 || str_has_prefix(sandbox->record.id, filter->id)) &&
            (filter->state == NULL || filter->state->state == sandbox->record.state) &&
            service_labels_match(&sandbox->record.config->labels, &filter->label_selector));
}

static struct status *list(void *arg, struct arena *arena, const void *request, void *response)
{
    struct runtime *runtime = arg;
    const struct cri_v1_list_pod_sandbox_request *asked = request;
    struct cri_v1_list_pod_sandbox_response *answer = response;
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&runtime->sandboxes, &at)) != NULL;) {
        const struct sandbox *sandbox = entry->value;
        const struct shim_sandbox_record *record = &sandbox->record;

        if (is_wanted(sandbox, asked->filter)) {
            *LIST_ADD(arena, &answer->items) = (struct cri_v1_pod_sandbox){
                .id = record->id, .metadata = metadata_of(sandbox), .state = record->state,
                .created_at = record->created_at, .labels = record->config->labels,
                .annotations = record->config->annotations, .runtime_handler = record->runtime_handler};
        }
    }
    return NULL;
}

static const struct grpc_method methods[] = {
    {.rpc = &cri_v1_runtime_service_run_pod_sandbox_rpc, .handle = run_method},
    {.rpc = &cri_v1_runtime_service_stop_pod_sandbox_rpc, .handle = stop_method},
    {.rpc = &cri_v1_runtime_service_remove_pod_sandbox_rpc, .handle = remove_method},
    {.rpc = &cri_v1_runtime_service_pod_sandbox_status_rpc, .handle = show},
    {.rpc = &cri_v1_runtime_service_list_pod_sandbox_rpc, .handle = list},
};
const struct service_methods service_sandbox_methods = {methods, COUNT_OF(methods)};
