#include "sim/fake_runtime.h"

#include "base/env.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/task.h"
#include "schema/copy.h"
#include "schema/map_of.h"

#include <stdlib.h>

enum { LOST_CODE = 255 }; /* of containers that nobody saw end */

struct sandbox {
    struct arena *arena;
    struct str id, ip;
    struct cri_v1_pod_sandbox_config *config;
    int32_t state;
    int64_t created_at;
};

struct container {
    struct arena *arena;
    struct str id, sandbox_id;
    struct cri_v1_container_config *config;
    int32_t state, exit_code;
    int64_t created_at, started_at, finished_at;
};

struct fake_runtime {
    struct str node;
    uint8_t subnet;
    fake_runtime_observer *observer;
    void *observer_arg;
    struct fake_runtime_faults faults;
    struct map sandboxes, containers, images; /* by id; images by reference, to themselves */
    uint64_t next_id;
};

struct connection {
    struct cri cri;
    struct fake_runtime *runtime;
};

struct fake_runtime *fake_runtime_new(struct str node, uint8_t subnet, fake_runtime_observer *observer, void *arg)
{
    struct fake_runtime *runtime = MEM_NEW(struct fake_runtime);

    runtime->node = node;
    runtime->subnet = subnet;
    runtime->observer = observer;
    runtime->observer_arg = arg;
    return runtime;
}

void fake_runtime_free(struct fake_runtime *runtime)
{
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&runtime->sandboxes, &at)) != NULL;) {
        arena_free(((struct sandbox *)entry->value)->arena);
    }
    at = 0;
    for (struct map_entry *entry; (entry = map_next(&runtime->containers, &at)) != NULL;) {
        arena_free(((struct container *)entry->value)->arena);
    }
    map_done(&runtime->sandboxes);
    map_done(&runtime->containers);
    map_done(&runtime->images);
    free(runtime);
}

void fake_runtime_set_faults(struct fake_runtime *runtime, const struct fake_runtime_faults *faults)
{
    runtime->faults = *faults;
}

static bool is_ready(const struct sandbox *sandbox)
{
    return sandbox->state == CRI_V1_POD_SANDBOX_STATE_SANDBOX_READY;
}

static void container_end(struct container *container, int32_t code)
{
    if (container->state == CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING) {
        container->state = CRI_V1_CONTAINER_STATE_CONTAINER_EXITED;
        container->exit_code = code;
        container->finished_at = env_wall();
    }
}

void fake_runtime_reboot(struct fake_runtime *runtime)
{
    struct map_entry *entry;

    for (size_t at = 0; (entry = map_next(&runtime->containers, &at)) != NULL;) {
        container_end(entry->value, LOST_CODE);
    }
    for (size_t at = 0; (entry = map_next(&runtime->sandboxes, &at)) != NULL;) {
        struct sandbox *sandbox = entry->value;

        if (is_ready(sandbox)) {
            sandbox->state = CRI_V1_POD_SANDBOX_STATE_SANDBOX_NOTREADY;
            runtime->observer(runtime->observer_arg, runtime->node, sandbox->config->metadata->uid, false);
        }
    }
}

bool fake_runtime_end_container(struct fake_runtime *runtime, int32_t code)
{
    struct map_entry *entry;
    uint64_t running = 0;

    for (size_t at = 0; (entry = map_next(&runtime->containers, &at)) != NULL;) {
        running += ((struct container *)entry->value)->state == CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING;
    }
    if (running == 0) {
        return false;
    }
    uint64_t chosen = env_random_below(running);

    for (size_t at = 0; (entry = map_next(&runtime->containers, &at)) != NULL;) {
        struct container *container = entry->value;

        if (container->state == CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING && chosen-- == 0) {
            container_end(container, code);
            break;
        }
    }
    return true;
}

size_t fake_runtime_running(const struct fake_runtime *runtime)
{
    size_t at = 0, count = 0;

    for (struct map_entry *entry; (entry = map_next(&runtime->sandboxes, &at)) != NULL;) {
        count += is_ready(entry->value);
    }
    return count;
}

/* A call NAME by its own types, and NAME_call by those of the table below. */
#define CALL(name)                                                                                                   \
    static struct status *name(struct fake_runtime *runtime, struct arena *arena,                                    \
                               const struct cri_v1_##name##_request *request,                                        \
                               struct cri_v1_##name##_response *response);                                           \
    static struct status *name##_call(struct fake_runtime *runtime, struct arena *arena, const void *request,        \
                                      void *response)                                                                \
    {                                                                                                                \
        return name(runtime, arena, request, response);                                                              \
    }                                                                                                                \
    static struct status *name(struct fake_runtime *runtime, struct arena *arena,                                    \
                               const struct cri_v1_##name##_request *request, struct cri_v1_##name##_response *response)

static struct status *not_found(const char *what, struct str id)
{
    return status_new(STATUS_NOT_FOUND, "%s \"%.*s\": not found", what, STR_ARG(id));
}

static struct sandbox *sandbox_find(struct fake_runtime *runtime, struct str id)
{
    return map_find(&runtime->sandboxes, id);
}

CALL(version)
{
    (void)runtime, (void)arena, (void)request;
    response->version = STR("0.1.0");
    response->runtime_name = STR("c8s");
    response->runtime_version = STR("0.1.0");
    response->runtime_api_version = STR("v1");
    return NULL;
}

CALL(status)
{
    static const char *const types[] = {"RuntimeReady", "NetworkReady"};

    (void)runtime, (void)request;
    response->status = ARENA_NEW(arena, struct cri_v1_runtime_status);
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        *LIST_ADD(arena, &response->status->conditions) =
            (struct cri_v1_runtime_condition){.type = str_of(types[i]), .status = true};
    }
    return NULL;
}

CALL(run_pod_sandbox)
{
    struct sandbox *sandbox;
    struct arena *own = arena_new();

    sandbox = ARENA_NEW(own, struct sandbox);
    sandbox->arena = own;
    runtime->next_id++;
    sandbox->id = arena_printf(own, "%.*s-sandbox-%llu", STR_ARG(runtime->node), (unsigned long long)runtime->next_id);
    sandbox->ip = arena_printf(own, "10.42.%u.%u", runtime->subnet, 2 + (unsigned)(runtime->next_id % 250));
    sandbox->config = schema_copy(own, &cri_v1_pod_sandbox_config_type, request->config);
    sandbox->created_at = env_wall();
    map_set(&runtime->sandboxes, sandbox->id, sandbox);
    response->pod_sandbox_id = arena_str(arena, sandbox->id);
    runtime->observer(runtime->observer_arg, runtime->node, sandbox->config->metadata->uid, true);
    return NULL;
}

CALL(stop_pod_sandbox)
{
    struct sandbox *sandbox = sandbox_find(runtime, request->pod_sandbox_id);
    size_t at = 0;

    (void)arena, (void)response;
    if (sandbox == NULL || !is_ready(sandbox)) {
        return NULL; /* done already */
    }
    for (struct map_entry *entry; (entry = map_next(&runtime->containers, &at)) != NULL;) {
        struct container *container = entry->value;

        if (str_eq(container->sandbox_id, sandbox->id)) {
            container_end(container, 137);
        }
    }
    sandbox->state = CRI_V1_POD_SANDBOX_STATE_SANDBOX_NOTREADY;
    runtime->observer(runtime->observer_arg, runtime->node, sandbox->config->metadata->uid, false);
    return NULL;
}

static void container_drop(struct fake_runtime *runtime, struct container *container)
{
    map_remove(&runtime->containers, container->id);
    arena_free(container->arena);
}

CALL(remove_pod_sandbox)
{
    struct sandbox *sandbox = sandbox_find(runtime, request->pod_sandbox_id);
    size_t at = 0;

    (void)arena, (void)response;
    if (sandbox == NULL) {
        return NULL;
    }
    if (is_ready(sandbox)) {
        runtime->observer(runtime->observer_arg, runtime->node, sandbox->config->metadata->uid, false);
    }
    for (struct map_entry *entry; (entry = map_next(&runtime->containers, &at)) != NULL;) {
        struct container *container = entry->value;

        if (str_eq(container->sandbox_id, sandbox->id)) {
            container_drop(runtime, container);
        }
    }
    map_remove(&runtime->sandboxes, sandbox->id);
    arena_free(sandbox->arena);
    return NULL;
}

CALL(pod_sandbox_status)
{
    struct sandbox *sandbox = sandbox_find(runtime, request->pod_sandbox_id);

    if (sandbox == NULL) {
        return not_found("sandbox", request->pod_sandbox_id);
    }
    struct cri_v1_pod_sandbox_status status = {
        .id = sandbox->id,
        .metadata = sandbox->config->metadata,
        .state = sandbox->state,
        .created_at = sandbox->created_at,
        .network = &(struct cri_v1_pod_sandbox_network_status){.ip = is_ready(sandbox) ? sandbox->ip : STR("")},
        .labels = sandbox->config->labels,
        .annotations = sandbox->config->annotations,
    };

    response->status = schema_copy(arena, &cri_v1_pod_sandbox_status_type, &status);
    response->timestamp = env_wall();
    return NULL;
}

static bool has_labels(const struct str_map *labels, const struct str_map *wanted)
{
    for (size_t i = 0; i < wanted->len; i++) {
        if (!str_map_has(labels, wanted->items[i].key) ||
            !str_eq(str_map_get(labels, wanted->items[i].key), wanted->items[i].value)) {
            return false;
        }
    }
    return true;
}

CALL(list_pod_sandbox)
{
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&runtime->sandboxes, &at)) != NULL;) {
        const struct sandbox *sandbox = entry->value;
        const struct cri_v1_pod_sandbox_filter *filter = request->filter;

        if (filter != NULL && ((filter->id.n > 0 && !str_eq(filter->id, sandbox->id)) ||
                               (filter->state != NULL && filter->state->state != sandbox->state) ||
                               !has_labels(&sandbox->config->labels, &filter->label_selector))) {
            continue;
        }
        struct cri_v1_pod_sandbox row = {
            .id = sandbox->id,
            .metadata = sandbox->config->metadata,
            .state = sandbox->state,
            .created_at = sandbox->created_at,
            .labels = sandbox->config->labels,
            .annotations = sandbox->config->annotations,
        };

        *LIST_ADD(arena, &response->items) =
            *(struct cri_v1_pod_sandbox *)schema_copy(arena, &cri_v1_pod_sandbox_type, &row);
    }
    return NULL;
}

CALL(create_container)
{
    struct sandbox *sandbox = sandbox_find(runtime, request->pod_sandbox_id);

    if (sandbox == NULL || !is_ready(sandbox)) {
        return not_found("sandbox", request->pod_sandbox_id);
    }
    struct arena *own = arena_new();
    struct container *container = ARENA_NEW(own, struct container);

    runtime->next_id++;
    container->arena = own;
    container->id = arena_printf(own, "%.*s-container-%llu", STR_ARG(runtime->node), (unsigned long long)runtime->next_id);
    container->sandbox_id = arena_str(own, sandbox->id);
    container->config = schema_copy(own, &cri_v1_container_config_type, request->config);
    container->created_at = env_wall();
    map_set(&runtime->containers, container->id, container);
    response->container_id = arena_str(arena, container->id);
    return NULL;
}

CALL(start_container)
{
    struct container *container = map_find(&runtime->containers, request->container_id);

    (void)arena, (void)response;
    if (container == NULL) {
        return not_found("container", request->container_id);
    }
    container->state = CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING;
    container->started_at = env_wall();
    return NULL;
}

CALL(stop_container)
{
    struct container *container = map_find(&runtime->containers, request->container_id);

    (void)arena, (void)response;
    if (container != NULL) {
        container_end(container, 0);
    }
    return NULL;
}

CALL(remove_container)
{
    struct container *container = map_find(&runtime->containers, request->container_id);

    (void)arena, (void)response;
    if (container != NULL) {
        container_drop(runtime, container);
    }
    return NULL;
}

CALL(list_containers)
{
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&runtime->containers, &at)) != NULL;) {
        const struct container *container = entry->value;
        const struct cri_v1_container_filter *filter = request->filter;

        if (filter != NULL && ((filter->id.n > 0 && !str_eq(filter->id, container->id)) ||
                               (filter->state != NULL && filter->state->state != container->state) ||
                               (filter->pod_sandbox_id.n > 0 && !str_eq(filter->pod_sandbox_id, container->sandbox_id)) ||
                               !has_labels(&container->config->labels, &filter->label_selector))) {
            continue;
        }
        struct cri_v1_container row = {
            .id = container->id,
            .pod_sandbox_id = container->sandbox_id,
            .metadata = container->config->metadata,
            .image = container->config->image,
            .image_ref = container->config->image->image,
            .image_id = container->config->image->image,
            .state = container->state,
            .created_at = container->created_at,
            .labels = container->config->labels,
            .annotations = container->config->annotations,
        };

        *LIST_ADD(arena, &response->containers) =
            *(struct cri_v1_container *)schema_copy(arena, &cri_v1_container_type, &row);
    }
    return NULL;
}

CALL(container_status)
{
    const struct container *container = map_find(&runtime->containers, request->container_id);

    if (container == NULL) {
        return not_found("container", request->container_id);
    }
    struct cri_v1_container_status status = {
        .id = container->id,
        .metadata = container->config->metadata,
        .state = container->state,
        .created_at = container->created_at,
        .started_at = container->started_at,
        .finished_at = container->finished_at,
        .exit_code = container->exit_code,
        .image = container->config->image,
        .image_ref = container->config->image->image,
        .image_id = container->config->image->image,
        .reason = container->state != CRI_V1_CONTAINER_STATE_CONTAINER_EXITED ? STR("")
                  : container->exit_code == 0                                 ? STR("Completed")
                                                                              : STR("Error"),
        .labels = container->config->labels,
        .annotations = container->config->annotations,
    };

    response->status = schema_copy(arena, &cri_v1_container_status_type, &status);
    return NULL;
}

CALL(image_status)
{
    if (map_find(&runtime->images, request->image->image) != NULL) {
        response->image = ARENA_NEW(arena, struct cri_v1_image);
        response->image->id = arena_str(arena, request->image->image);
        response->image->size = 1 << 20;
        *LIST_ADD(arena, &response->image->repo_tags) = response->image->id;
    }
    return NULL;
}

CALL(pull_image)
{
    map_set(&runtime->images, request->image->image, runtime);
    response->image_ref = arena_str(arena, request->image->image);
    return NULL;
}

CALL(list_images)
{
    size_t at = 0;

    (void)request;
    for (struct map_entry *entry; (entry = map_next(&runtime->images, &at)) != NULL;) {
        struct cri_v1_image *image = LIST_ADD(arena, &response->images);

        image->id = arena_str(arena, entry->key);
        image->size = 1 << 20;
        *LIST_ADD(arena, &image->repo_tags) = image->id;
    }
    return NULL;
}

typedef struct status *call_fn(struct fake_runtime *runtime, struct arena *arena, const void *request, void *response);

/* The calls that do something; all others answer with nothing. */
static const struct {
    const struct rpc *rpc;
    call_fn *call;
} calls[] = {
#define ROW(service, name) {&cri_v1_##service##_##name##_rpc, name##_call}
    ROW(runtime_service, version),
    ROW(runtime_service, status),
    ROW(runtime_service, run_pod_sandbox),
    ROW(runtime_service, stop_pod_sandbox),
    ROW(runtime_service, remove_pod_sandbox),
    ROW(runtime_service, pod_sandbox_status),
    ROW(runtime_service, list_pod_sandbox),
    ROW(runtime_service, create_container),
    ROW(runtime_service, start_container),
    ROW(runtime_service, stop_container),
    ROW(runtime_service, remove_container),
    ROW(runtime_service, list_containers),
    ROW(runtime_service, container_status),
    ROW(image_service, image_status),
    ROW(image_service, pull_image),
    ROW(image_service, list_images),
#undef ROW
};

static struct status *call(struct cri *cri, const struct rpc *rpc, const void *request, struct arena *arena, void *response,
                           int64_t deadline)
{
    struct fake_runtime *runtime = CONTAINER_OF(cri, struct connection, cri)->runtime;
    int64_t latency = runtime->faults.latency_max;

    (void)deadline;
    if (latency > 0 && !task_sleep((int64_t)env_random_below((uint64_t)latency))) {
        return status_new(STATUS_CANCELLED, "calling the runtime");
    }
    if (runtime->faults.failures_in_1000 > 0 && env_random_below(1000) < runtime->faults.failures_in_1000) {
        return status_new(STATUS_UNKNOWN, "the runtime failed at %.*s", STR_ARG(rpc->path));
    }
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        if (calls[i].rpc == rpc) {
            return calls[i].call(runtime, arena, request, response);
        }
    }
    return NULL;
}

/* No events: the kubelet looks by itself, as with runtimes that have none. */
static struct status *open_stream(struct cri *cri, const struct rpc *rpc, const void *request, struct cri_stream **ret)
{
    (void)cri, (void)request, (void)ret;
    return status_new(STATUS_METHOD_NOT_ALLOWED, "%.*s is not served", STR_ARG(rpc->path));
}

static void free_connection(struct cri *cri)
{
    free(CONTAINER_OF(cri, struct connection, cri));
}

struct cri *fake_runtime_connect(struct fake_runtime *runtime)
{
    static const struct cri_ops ops = {.call = call, .open = open_stream, .free = free_connection};
    struct connection *connection = MEM_NEW(struct connection);

    connection->cri.ops = &ops;
    connection->runtime = runtime;
    return &connection->cri;
}
