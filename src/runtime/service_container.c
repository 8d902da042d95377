#include "runtime/service.h"

#include "runtime/pod_container.h"
#include "runtime/container_plan.h"

static struct status *create(struct runtime *runtime, struct arena *arena, const void *request, void *response)
{
    const struct cri_v1_create_container_request *asked = request;
    struct cri_v1_create_container_response *answer = response;
    OWNED(sandbox_unrefp) struct sandbox *sandbox = NULL;

    TRY(sandbox_get(runtime, asked->pod_sandbox_id, &sandbox));
    return pod_container_create(sandbox, asked->config, &answer->container_id, arena);
}

static struct status *start(struct runtime *runtime, struct arena *arena, const void *request, void *response)
{
    const struct cri_v1_start_container_request *asked = request;
    OWNED(container_unrefp) struct container *container = NULL;

    TRY(container_get(runtime, asked->container_id, &container));
    return pod_container_start(container);
}

static struct status *stop(struct runtime *runtime, struct arena *arena, const void *request, void *response)
{
    const struct cri_v1_stop_container_request *asked = request;
    OWNED(container_unrefp) struct container *container = NULL;
    struct status *status = container_get(runtime, asked->container_id, &container);

    if (status != NULL) {
        status_free(status); /* it has been removed: stopped as can be */
        return NULL;
    }
    return pod_container_stop(container, asked->timeout);
}

static struct status *remove(struct runtime *runtime, struct arena *arena, const void *request, void *response)
{
    const struct cri_v1_remove_container_request *asked = request;
    OWNED(container_unrefp) struct container *container = NULL;
    struct status *status = container_get(runtime, asked->container_id, &container);

    if (status != NULL) {
        status_free(status);
        return NULL;
    }
    return pod_container_remove(container);
}

static struct status *update(struct runtime *runtime, struct arena *arena, const void *request, void *response)
{
    const struct cri_v1_update_container_resources_request *asked = request;
    OWNED(container_unrefp) struct container *container = NULL;

    TRY(container_get(runtime, asked->container_id, &container));
    return asked->linux_ != NULL ? pod_container_update(container, asked->linux_) : NULL;
}

static struct status *reopen(struct runtime *runtime, struct arena *arena, const void *request, void *response)
{
    const struct cri_v1_reopen_container_log_request *asked = request;
    OWNED(container_unrefp) struct container *container = NULL;

    TRY(container_get(runtime, asked->container_id, &container));
    return pod_container_reopen_log(container);
}

SERVICE_WHOLE(create)
SERVICE_WHOLE(start)
SERVICE_WHOLE(stop)
SERVICE_WHOLE(remove)
SERVICE_WHOLE(update)
SERVICE_WHOLE(reopen)

static struct cri_v1_container_user *user_of(struct arena *arena, const struct shim_process *process)
{
    struct cri_v1_container_user *user = ARENA_NEW(arena, struct cri_v1_container_user);

    user->linux_ = ARENA_NEW(arena, struct cri_v1_linux_container_user);
    user->linux_->uid = process->uid;
    user->linux_->gid = process->gid;
    LIST_EACH(group, &process->groups) {
        *LIST_ADD(arena, &user->linux_->supplemental_groups) = *group;
    }
    return user;
}

/* By a name that people know, while the image has one. */
static struct cri_v1_image_spec *image_of(struct arena *arena, const struct container *container)
{
    struct cri_v1_image_spec *spec = ARENA_NEW(arena, struct cri_v1_image_spec);
    OWNED(image_unrefp) struct image *image = NULL;
    struct status *status = image_store_find(container->runtime->images, container->record.image_id, &image);

    *spec = *container->record.config->image;
    if (status != NULL) {
        status_free(status);
    } else if (image->tags.len + image->digests.len > 0) {
        spec->image = arena_str(arena, image->tags.len > 0 ? image->tags.items[0] : image->digests.items[0]);
    }
    return spec;
}

void service_container_status(struct arena *arena, const struct container *container,
                              struct cri_v1_container_status *ret)
{
    const struct shim_container_record *record = &container->record;
    const struct cri_v1_container_config *config = record->config;
    const struct shim_process *process = record->process;

    *ret = (struct cri_v1_container_status){
        .id = record->id, .metadata = config->metadata, .state = record->state, .created_at = record->created_at,
        .image = image_of(arena, container), .image_ref = record->image_ref, .image_id = record->image_id,
        .reason = record->reason, .message = record->message, .labels = config->labels,
        .annotations = config->annotations, .log_path = record->log_path,
        .stop_signal = container_signal_to_cri(pod_container_stop_signal(container))};
    ret->mounts.items = config->mounts.items;
    ret->mounts.len = config->mounts.len;
    if (process != NULL) {
        ret->started_at = process->started_at;
        ret->finished_at = record->state == CRI_V1_CONTAINER_STATE_CONTAINER_EXITED ? process->finished_at : 0;
        ret->exit_code = (int32_t)process->exit_code;
        ret->user = user_of(arena, process);
    }
    if (config->linux_ != NULL && config->linux_->resources != NULL) {
        ret->resources = ARENA_NEW(arena, struct cri_v1_container_resources);
        ret->resources->linux_ = config->linux_->resources;
    }
}

static struct status *show(void *arg, struct arena *arena, const void *request, void *response)
{
    struct runtime *runtime = arg;
    const struct cri_v1_container_status_request *asked = request;
    struct cri_v1_container_status_response *answer = response;
    OWNED(container_unrefp) struct container *container = NULL;

    TRY(container_get(runtime, asked->container_id, &container));
    answer->status = ARENA_NEW(arena, struct cri_v1_container_status);
    service_container_status(arena, container, answer->status);
    if (asked->verbose) {
        typeof(*answer->info.items) info = {
            STR("info"), arena_printf(arena, "{\"sandboxID\":\"%.*s\",\"pid\":%u}", STR_ARG(container->record.sandbox_id),
                                      container->process.pid)};

        *LIST_ADD(arena, &answer->info) = info;
    }
    return NULL;
}

static bool is_wanted(const struct container *container, const struct cri_v1_container_filter *filter)
{
    return filter == NULL ||
           ((filter->id.n == 0 || str_has_prefix(container->record.id, filter->id)) &&
            (filter->pod_sandbox_id.n == 0 || str_has_prefix(container->record.sandbox_id, filter->pod_sandbox_id)) &&
            (filter->state == NULL || filter->state->state == container->record.state) &&
            service_labels_match(&container->record.config->labels, &filter->label_selector));
}

static struct status *list(void *arg, struct arena *arena, const void *request, void *response)
{
    struct runtime *runtime = arg;
    const struct cri_v1_list_containers_request *asked = request;
    struct cri_v1_list_containers_response *answer = response;
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&runtime->containers, &at)) != NULL;) {
        const struct container *container = entry->value;
        const struct shim_container_record *record = &container->record;

        if (is_wanted(container, asked->filter)) {
            *LIST_ADD(arena, &answer->containers) = (struct cri_v1_container){
                .id = record->id, .pod_sandbox_id = record->sandbox_id, .metadata = record->config->metadata,
                .image = record->config->image, .image_ref = record->image_ref, .state = record->state,
                .created_at = record->created_at, .labels = record->config->labels,
                .annotations = record->config->annotations, .image_id = record->image_id};
        }
    }
    return NULL;
}

static const struct grpc_method methods[] = {
    {.rpc = &cri_v1_runtime_service_create_container_rpc, .handle = create_method},
    {.rpc = &cri_v1_runtime_service_start_container_rpc, .handle = start_method},
    {.rpc = &cri_v1_runtime_service_stop_container_rpc, .handle = stop_method},
    {.rpc = &cri_v1_runtime_service_remove_container_rpc, .handle = remove_method},
    {.rpc = &cri_v1_runtime_service_update_container_resources_rpc, .handle = update_method},
    {.rpc = &cri_v1_runtime_service_reopen_container_log_rpc, .handle = reopen_method},
    {.rpc = &cri_v1_runtime_service_container_status_rpc, .handle = show},
    {.rpc = &cri_v1_runtime_service_list_containers_rpc, .handle = list},
};
const struct service_methods service_container_methods = {methods, COUNT_OF(methods)};
