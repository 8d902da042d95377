/* The answers of the runtime in memory (memory_cri.h). */
#include "base/env.h"
#include "kubelet/memory_cri_parts.h"
#include "schema/copy.h"
#include "schema/map_of.h"

struct memory_sandbox *memory_cri_sandbox(const struct memory_cri *memory, struct str id)
{
    for (size_t i = 0; i < memory->sandboxes.len; i++) {
        if (str_eq(memory->sandboxes.items[i]->id, id)) {
            return memory->sandboxes.items[i];
        }
    }
    return NULL;
}

static struct memory_one *find_one(const struct memory_cri *memory, struct str id)
{
    for (size_t i = 0; i < memory->containers.len; i++) {
        if (str_eq(memory->containers.items[i]->id, id)) {
            return memory->containers.items[i];
        }
    }
    return NULL;
}

static struct status *no_sandbox(struct str id)
{
    return status_new(STATUS_NOT_FOUND, "an error occurred when try to find sandbox: \"%.*s\": not found", STR_ARG(id));
}

static struct status *no_container(struct str id)
{
    return status_new(STATUS_NOT_FOUND, "an error occurred when try to find container \"%.*s\": not found",
                      STR_ARG(id));
}

void memory_cri_end(struct memory_cri *memory, struct memory_one *one, int32_t exit_code)
{
    one->state = CRI_V1_CONTAINER_STATE_CONTAINER_EXITED;
    one->exit_code = exit_code;
    one->finished_at = env_wall();
    memory_cri_tell(memory, one, CRI_V1_CONTAINER_EVENT_TYPE_CONTAINER_STOPPED_EVENT);
}

static struct str new_id(struct memory_cri *memory, struct arena *arena)
{
    return arena_printf(arena, "%064llx", (unsigned long long)++memory->last_id);
}

static struct status *run_sandbox(struct memory_cri *memory, const struct cri_v1_run_pod_sandbox_request *request,
                                  struct arena *arena, struct cri_v1_run_pod_sandbox_response *response)
{
    struct arena *own = arena_new();
    struct memory_sandbox *sandbox = ARENA_NEW(own, struct memory_sandbox);

    *sandbox = (struct memory_sandbox){
        .arena = own,
        .id = new_id(memory, own),
        .config = schema_copy(own, &cri_v1_pod_sandbox_config_type, request->config),
        .created_at = env_wall(),
        .is_ready = true,
    };
    sandbox->ip =
        arena_printf(own, "10.88.%d.%d", (int)(memory->last_id / 250 % 250), (int)(memory->last_id % 250 + 2));
    *VEC_ADD(&memory->sandboxes) = sandbox;
    response->pod_sandbox_id = arena_str(arena, sandbox->id);
    return NULL;
}

static void end_all_of(struct memory_cri *memory, struct str sandbox_id)
{
    for (size_t i = 0; i < memory->containers.len; i++) {
        struct memory_one *one = memory->containers.items[i];

        if (str_eq(one->sandbox_id, sandbox_id) && one->state == CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING) {
            memory_cri_end(memory, one, 137);
        }
    }
}

static struct status *remove_sandbox(struct memory_cri *memory, struct str id)
{
    end_all_of(memory, id);
    for (size_t i = memory->containers.len; i-- > 0;) {
        if (str_eq(memory->containers.items[i]->sandbox_id, id)) {
            arena_free(memory->containers.items[i]->arena);
            VEC_REMOVE(&memory->containers, i);
        }
    }
    for (size_t i = 0; i < memory->sandboxes.len; i++) {
        if (str_eq(memory->sandboxes.items[i]->id, id)) {
            arena_free(memory->sandboxes.items[i]->arena);
            VEC_REMOVE(&memory->sandboxes, i);
            return NULL;
        }
    }
    return NULL;
}

static bool labels_match(const struct str_map *wanted, const struct str_map *labels)
{
    LIST_EACH (label, wanted) {
        if (!str_eq(str_map_get(labels, label->key), label->value)) {
            return false;
        }
    }
    return true;
}

static int32_t sandbox_state(const struct memory_sandbox *sandbox)
{
    return sandbox->is_ready ? CRI_V1_POD_SANDBOX_STATE_SANDBOX_READY : CRI_V1_POD_SANDBOX_STATE_SANDBOX_NOTREADY;
}

static void list_sandboxes(const struct memory_cri *memory, const struct cri_v1_list_pod_sandbox_request *request,
                           struct arena *arena, struct cri_v1_list_pod_sandbox_response *response)
{
    for (size_t i = 0; i < memory->sandboxes.len; i++) {
        const struct memory_sandbox *sandbox = memory->sandboxes.items[i];

        if (request->filter == NULL || labels_match(&request->filter->label_selector, &sandbox->config->labels)) {
            *LIST_ADD(arena, &response->items) = (struct cri_v1_pod_sandbox){
                .id = sandbox->id,
                .metadata = sandbox->config->metadata,
                .state = sandbox_state(sandbox),
                .created_at = sandbox->created_at,
                .labels = sandbox->config->labels,
                .annotations = sandbox->config->annotations,
            };
        }
    }
    schema_own(arena, &cri_v1_list_pod_sandbox_response_type, response);
}

static struct status *sandbox_status(const struct memory_cri *memory, struct str id, struct arena *arena,
                                     struct cri_v1_pod_sandbox_status_response *response)
{
    const struct memory_sandbox *sandbox = memory_cri_sandbox(memory, id);

    if (sandbox == NULL) {
        return no_sandbox(id);
    }
    struct cri_v1_pod_sandbox_network_status *network = ARENA_NEW(arena, struct cri_v1_pod_sandbox_network_status);

    network->ip = sandbox->is_ready ? sandbox->ip : STR("");
    response->status = ARENA_NEW(arena, struct cri_v1_pod_sandbox_status);
    *response->status = (struct cri_v1_pod_sandbox_status){
        .id = sandbox->id,
        .metadata = sandbox->config->metadata,
        .state = sandbox_state(sandbox),
        .created_at = sandbox->created_at,
        .network = network,
        .labels = sandbox->config->labels,
        .annotations = sandbox->config->annotations,
    };
    schema_own(arena, &cri_v1_pod_sandbox_status_response_type, response);
    return NULL;
}

static struct status *create(struct memory_cri *memory, const struct cri_v1_create_container_request *request,
                             struct arena *arena, struct cri_v1_create_container_response *response)
{
    const struct memory_sandbox *sandbox = memory_cri_sandbox(memory, request->pod_sandbox_id);

    if (sandbox == NULL || !sandbox->is_ready) {
        return no_sandbox(request->pod_sandbox_id);
    }
    struct arena *own = arena_new();
    struct memory_one *one = ARENA_NEW(own, struct memory_one);

    *one = (struct memory_one){
        .arena = own,
        .id = new_id(memory, own),
        .sandbox_id = arena_str(own, sandbox->id),
        .config = schema_copy(own, &cri_v1_container_config_type, request->config),
        .state = CRI_V1_CONTAINER_STATE_CONTAINER_CREATED,
        .created_at = env_wall(),
        .stop_timeout = -1,
    };
    one->log_path =
        arena_printf(own, "%.*s/%.*s", STR_ARG(sandbox->config->log_directory), STR_ARG(one->config->log_path));
    *VEC_ADD(&memory->containers) = one;
    response->container_id = arena_str(arena, one->id);
    memory_cri_tell(memory, one, CRI_V1_CONTAINER_EVENT_TYPE_CONTAINER_CREATED_EVENT);
    return NULL;
}

static struct status *start(struct memory_cri *memory, struct str id)
{
    struct memory_one *one = find_one(memory, id);

    if (one == NULL) {
        return no_container(id);
    }
    one->state = CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING;
    one->started_at = env_wall();
    memory_cri_tell(memory, one, CRI_V1_CONTAINER_EVENT_TYPE_CONTAINER_STARTED_EVENT);
    return NULL;
}

static struct status *stop(struct memory_cri *memory, const struct cri_v1_stop_container_request *request)
{
    struct memory_one *one = find_one(memory, request->container_id);
    int64_t timeout = request->timeout * ENV_SECOND;

    if (one == NULL) {
        return no_container(request->container_id);
    }
    one->stop_timeout = request->timeout;
    if (one->state != CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING) {
        return NULL;
    }
    if (memory->stop_delay > 0 && timeout > 0 && !task_sleep(MIN(memory->stop_delay, timeout))) {
        return status_new(STATUS_CANCELLED, "context canceled");
    }
    one = find_one(memory, request->container_id); /* it may be gone by now */
    if (one != NULL && one->state == CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING) {
        memory_cri_end(memory, one, memory->stop_delay > timeout ? 137 : 0);
    }
    return NULL;
}

static void remove_one(struct memory_cri *memory, struct str id)
{
    for (size_t i = 0; i < memory->containers.len; i++) {
        struct memory_one *one = memory->containers.items[i];

        if (str_eq(one->id, id)) {
            memory_cri_tell(memory, one, CRI_V1_CONTAINER_EVENT_TYPE_CONTAINER_DELETED_EVENT);
            VEC_REMOVE(&memory->containers, i);
            arena_free(one->arena);
            return;
        }
    }
}

static void list_containers(const struct memory_cri *memory, const struct cri_v1_list_containers_request *request,
                            struct arena *arena, struct cri_v1_list_containers_response *response)
{
    for (size_t i = 0; i < memory->containers.len; i++) {
        const struct memory_one *one = memory->containers.items[i];

        if (request->filter == NULL || labels_match(&request->filter->label_selector, &one->config->labels)) {
            *LIST_ADD(arena, &response->containers) = (struct cri_v1_container){
                .id = one->id,
                .pod_sandbox_id = one->sandbox_id,
                .metadata = one->config->metadata,
                .image = one->config->image,
                .image_ref = one->config->image->image,
                .state = one->state,
                .created_at = one->created_at,
                .labels = one->config->labels,
                .annotations = one->config->annotations,
            };
        }
    }
    schema_own(arena, &cri_v1_list_containers_response_type, response);
}

static struct status *container_status(const struct memory_cri *memory, struct str id, struct arena *arena,
                                       struct cri_v1_container_status_response *response)
{
    const struct memory_one *one = find_one(memory, id);
    bool is_over = one != NULL && one->state == CRI_V1_CONTAINER_STATE_CONTAINER_EXITED;

    if (one == NULL) {
        return no_container(id);
    }
    response->status = ARENA_NEW(arena, struct cri_v1_container_status);
    *response->status = (struct cri_v1_container_status){
        .id = one->id,
        .metadata = one->config->metadata,
        .state = one->state,
        .created_at = one->created_at,
        .started_at = one->started_at,
        .finished_at = one->finished_at,
        .exit_code = one->exit_code,
        .image = one->config->image,
        .image_ref = one->config->image->image,
        .reason = !is_over ? STR("") : one->exit_code == 0 ? STR("Completed") : STR("Error"),
        .labels = one->config->labels,
        .annotations = one->config->annotations,
        .log_path = one->log_path,
    };
    response->status->mounts.items = one->config->mounts.items;
    response->status->mounts.len = one->config->mounts.len;
    schema_own(arena, &cri_v1_container_status_response_type, response);
    return NULL;
}

static struct status *pull(struct memory_cri *memory, struct str reference, struct arena *arena,
                           struct cri_v1_pull_image_response *response)
{
    for (size_t i = 0; i < memory->known_images.len; i++) {
        if (str_eq(memory->known_images.items[i], reference)) {
            if (!memory_cri_has_image(&memory->cri, reference)) {
                *VEC_ADD(&memory->images) = memory->known_images.items[i];
            }
            response->image_ref = arena_str(arena, reference);
            return NULL;
        }
    }
    return status_new(STATUS_NOT_FOUND, "failed to pull and unpack image \"%.*s\": not found", STR_ARG(reference));
}

static void fill_image(struct arena *arena, struct str reference, struct cri_v1_image *image)
{
    image->id = arena_str(arena, reference);
    *LIST_ADD(arena, &image->repo_tags) = image->id;
    image->size = 1 << 20;
}

static void statuses(const struct memory_cri *memory, struct arena *arena, struct cri_v1_status_response *response)
{
    static const char *const types[] = {"RuntimeReady", "NetworkReady"};

    (void)memory;
    response->status = ARENA_NEW(arena, struct cri_v1_runtime_status);
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        *LIST_ADD(arena, &response->status->conditions) =
            (struct cri_v1_runtime_condition){.type = str_of(types[i]), .status = true};
    }
}

static struct status *answer_image(struct memory_cri *memory, const struct rpc *rpc, const void *request,
                                   struct arena *arena, void *response)
{
    if (rpc == &cri_v1_image_service_image_status_rpc) {
        const struct cri_v1_image_status_request *ask = request;
        struct cri_v1_image_status_response *answer = response;

        if (memory_cri_has_image(&memory->cri, ask->image->image)) {
            answer->image = ARENA_NEW(arena, struct cri_v1_image);
            fill_image(arena, ask->image->image, answer->image);
        }
        return NULL;
    }
    if (rpc == &cri_v1_image_service_pull_image_rpc) {
        return pull(memory, ((const struct cri_v1_pull_image_request *)request)->image->image, arena, response);
    }
    if (rpc == &cri_v1_image_service_list_images_rpc) {
        struct cri_v1_list_images_response *answer = response;

        for (size_t i = 0; i < memory->images.len; i++) {
            fill_image(arena, memory->images.items[i], LIST_ADD(arena, &answer->images));
        }
        return NULL;
    }
    if (rpc == &cri_v1_image_service_remove_image_rpc) {
        struct str image = ((const struct cri_v1_remove_image_request *)request)->image->image;

        for (size_t i = memory->images.len; i-- > 0;) {
            if (str_eq(memory->images.items[i], image)) {
                VEC_REMOVE(&memory->images, i);
            }
        }
        return NULL;
    }
    return status_new(STATUS_METHOD_NOT_ALLOWED, "unknown method %.*s", STR_ARG(rpc->path));
}

static struct status *answer_sandbox(struct memory_cri *memory, const struct rpc *rpc, const void *request,
                                     struct arena *arena, void *response, bool *ret_done)
{
    *ret_done = true;
    if (rpc == &cri_v1_runtime_service_run_pod_sandbox_rpc) {
        return run_sandbox(memory, request, arena, response);
    }
    if (rpc == &cri_v1_runtime_service_stop_pod_sandbox_rpc) {
        struct memory_sandbox *sandbox =
            memory_cri_sandbox(memory, ((const struct cri_v1_stop_pod_sandbox_request *)request)->pod_sandbox_id);

        if (sandbox != NULL) {
            sandbox->is_ready = false;
            end_all_of(memory, sandbox->id);
        }
        return NULL;
    }
    if (rpc == &cri_v1_runtime_service_remove_pod_sandbox_rpc) {
        return remove_sandbox(memory, ((const struct cri_v1_remove_pod_sandbox_request *)request)->pod_sandbox_id);
    }
    if (rpc == &cri_v1_runtime_service_list_pod_sandbox_rpc) {
        list_sandboxes(memory, request, arena, response);
        return NULL;
    }
    if (rpc == &cri_v1_runtime_service_pod_sandbox_status_rpc) {
        return sandbox_status(memory, ((const struct cri_v1_pod_sandbox_status_request *)request)->pod_sandbox_id,
                              arena, response);
    }
    *ret_done = false;
    return NULL;
}

static struct status *answer_container(struct memory_cri *memory, const struct rpc *rpc, const void *request,
                                       struct arena *arena, void *response, bool *ret_done)
{
    *ret_done = true;
    if (rpc == &cri_v1_runtime_service_create_container_rpc) {
        return create(memory, request, arena, response);
    }
    if (rpc == &cri_v1_runtime_service_start_container_rpc) {
        return start(memory, ((const struct cri_v1_start_container_request *)request)->container_id);
    }
    if (rpc == &cri_v1_runtime_service_stop_container_rpc) {
        return stop(memory, request);
    }
    if (rpc == &cri_v1_runtime_service_remove_container_rpc) {
        remove_one(memory, ((const struct cri_v1_remove_container_request *)request)->container_id);
        return NULL;
    }
    if (rpc == &cri_v1_runtime_service_list_containers_rpc) {
        list_containers(memory, request, arena, response);
        return NULL;
    }
    if (rpc == &cri_v1_runtime_service_container_status_rpc) {
        return container_status(memory, ((const struct cri_v1_container_status_request *)request)->container_id, arena,
                                response);
    }
    if (rpc == &cri_v1_runtime_service_exec_sync_rpc) {
        struct cri_v1_exec_sync_response *answer = response;

        answer->exit_code = memory->exec_code;
        answer->stdout = arena_str(arena, memory->exec_output);
        return NULL;
    }
    *ret_done = false;
    return NULL;
}

struct status *memory_cri_answer(struct memory_cri *memory, const struct rpc *rpc, const void *request,
                                 struct arena *arena, void *response)
{
    bool is_done;
    struct status *error = answer_sandbox(memory, rpc, request, arena, response, &is_done);

    if (!is_done) {
        error = answer_container(memory, rpc, request, arena, response, &is_done);
    }
    if (is_done) {
        return error;
    }
    if (rpc == &cri_v1_runtime_service_version_rpc) {
        *(struct cri_v1_version_response *)response = (struct cri_v1_version_response){
            STR("0.1.0"), STR("memory"), STR("1.0.0"), STR("v1")};
        return NULL;
    }
    if (rpc == &cri_v1_runtime_service_status_rpc) {
        statuses(memory, arena, response);
        return NULL;
    }
    if (rpc == &cri_v1_runtime_service_update_container_resources_rpc) {
        const struct cri_v1_update_container_resources_request *ask = request;
        struct memory_one *one = find_one(memory, ask->container_id);

        if (one == NULL) {
            return no_container(ask->container_id);
        }
        one->config->linux_->resources =
            schema_copy(one->arena, &cri_v1_linux_container_resources_type, ask->linux_);
        return NULL;
    }
    if (rpc == &cri_v1_runtime_service_update_runtime_config_rpc ||
        rpc == &cri_v1_runtime_service_list_container_stats_rpc) {
        return NULL;
    }
    return answer_image(memory, rpc, request, arena, response);
}
