#include "kubelet/memory_cri.h"

#include "base/env.h"
#include "kubelet/memory_cri_parts.h"
#include "kubelet/runtime_fetch.h"
#include "schema/map_of.h"

#include <stdlib.h>

/* An event on its way to one reader. */
struct queued {
    struct link link;
    int32_t type;
    int64_t at;
    char *container_id, *pod_uid;
};

struct memory_stream {
    struct cri_stream stream;
    struct memory_cri *memory;
    struct link link, events;
    struct cond changed;
};

static char *text_of(struct str s)
{
    char *text = mem_zalloc(s.n + 1);

    __builtin_memcpy(text, s.n > 0 ? s.p : "", s.n);
    return text;
}

void memory_cri_tell(struct memory_cri *memory, const struct memory_one *one, int32_t type)
{
    LINK_EACH (link, &memory->streams) {
        struct memory_stream *stream = CONTAINER_OF(link, struct memory_stream, link);
        struct queued *event = MEM_NEW(struct queued);

        *event = (struct queued){.type = type,
                                 .at = env_wall(),
                                 .container_id = text_of(one->id),
                                 .pod_uid = text_of(str_map_get(&one->config->labels, LABEL_POD_UID))};
        list_add_tail(&stream->events, &event->link);
        cond_signal(&stream->changed);
    }
}

static struct status *down(void)
{
    return status_new(STATUS_SERVICE_UNAVAILABLE, "connection error: desc = \"transport: Error while dialing: dial "
                                                  "unix: "
                                                  "connect: connection refused\"");
}

static struct memory_error *row_of(struct memory_cri *memory, const struct rpc *rpc)
{
    for (size_t i = 0; i < memory->errors.len; i++) {
        if (memory->errors.items[i].rpc == rpc) {
            return &memory->errors.items[i];
        }
    }
    struct memory_error *row = VEC_ADD(&memory->errors);

    row->rpc = rpc;
    return row;
}

static struct status *memory_call(struct cri *cri, const struct rpc *rpc, const void *request, struct arena *arena,
                                  void *response, int64_t deadline)
{
    struct memory_cri *memory = (struct memory_cri *)cri;
    int64_t spread = memory->latency_max - memory->latency_min;
    int64_t latency = memory->latency_min + (spread > 0 ? (int64_t)env_random_below((uint64_t)spread + 1) : 0);

    row_of(memory, rpc)->calls++;
    if (latency > 0 && !task_sleep(MIN(latency, deadline - env_mono()))) {
        return status_new(STATUS_CANCELLED, "context canceled");
    }
    if (memory->is_down) {
        return down();
    }
    if (env_mono() >= deadline) {
        return status_new(STATUS_TIMEOUT, "context deadline exceeded");
    }
    if (row_of(memory, rpc)->status != NULL) {
        return status_copy(row_of(memory, rpc)->status);
    }
    return memory_cri_answer(memory, rpc, request, arena, response);
}

static struct status *memory_open(struct cri *cri, const struct rpc *rpc, const void *request, struct cri_stream **ret)
{
    struct memory_cri *memory = (struct memory_cri *)cri;

    (void)request;
    if (memory->is_down) {
        return down();
    }
    if (!memory->has_events || rpc != &cri_v1_runtime_service_get_container_events_rpc) {
        return status_new(STATUS_METHOD_NOT_ALLOWED, "unknown method for service runtime.v1.RuntimeService");
    }
    struct memory_stream *stream = MEM_NEW(struct memory_stream);

    *stream = (struct memory_stream){.stream.ops = cri->ops, .memory = memory};
    list_init(&stream->events);
    cond_init(&stream->changed);
    list_add_tail(&memory->streams, &stream->link);
    *ret = &stream->stream;
    return NULL;
}

static void queued_free(struct queued *event)
{
    free(event->container_id);
    free(event->pod_uid);
    free(event);
}

static struct status *memory_next(struct cri_stream *base, struct arena *arena, void *response, bool *ret_more)
{
    struct memory_stream *stream = (struct memory_stream *)base;
    struct cri_v1_container_event_response *answer = response;

    while (list_empty(&stream->events)) {
        if (task_is_cancelled()) {
            return status_new(STATUS_CANCELLED, "context canceled");
        }
        if (stream->memory->is_down) {
            return down();
        }
        cond_wait(&stream->changed, TASK_FOREVER);
    }
    struct queued *event = CONTAINER_OF(list_pop(&stream->events), struct queued, link);

    answer->container_event_type = event->type;
    answer->created_at = event->at;
    answer->container_id = arena_str(arena, str_of(event->container_id));
    answer->pod_sandbox_status = ARENA_NEW(arena, struct cri_v1_pod_sandbox_status);
    str_map_set(arena, &answer->pod_sandbox_status->labels, LABEL_POD_UID, arena_str(arena, str_of(event->pod_uid)));
    queued_free(event);
    *ret_more = true;
    return NULL;
}

static void memory_close(struct cri_stream *base)
{
    struct memory_stream *stream = (struct memory_stream *)base;

    list_remove(&stream->link);
    for (struct link *link; (link = list_pop(&stream->events)) != NULL;) {
        queued_free(CONTAINER_OF(link, struct queued, link));
    }
    free(stream);
}

static void memory_free(struct cri *cri)
{
    struct memory_cri *memory = (struct memory_cri *)cri;

    for (size_t i = 0; i < memory->sandboxes.len; i++) {
        arena_free(memory->sandboxes.items[i]->arena);
    }
    for (size_t i = 0; i < memory->containers.len; i++) {
        arena_free(memory->containers.items[i]->arena);
    }
    for (size_t i = 0; i < memory->errors.len; i++) {
        status_free(memory->errors.items[i].status);
    }
    free(memory->sandboxes.items);
    free(memory->containers.items);
    free(memory->errors.items);
    free(memory->images.items);
    free(memory->known_images.items);
    arena_free(memory->arena);
    free(memory);
}

static const struct cri_ops memory_ops = {
    .call = memory_call,
    .open = memory_open,
    .next = memory_next,
    .close = memory_close,
    .free = memory_free,
};

struct cri *memory_cri_new(void)
{
    struct memory_cri *memory = MEM_NEW(struct memory_cri);

    memory->cri.ops = &memory_ops;
    memory->arena = arena_new();
    memory->has_events = true;
    list_init(&memory->streams);
    return &memory->cri;
}

void memory_cri_set_latency(struct cri *cri, int64_t min, int64_t max)
{
    ((struct memory_cri *)cri)->latency_min = min;
    ((struct memory_cri *)cri)->latency_max = max;
}

void memory_cri_set_events(struct cri *cri, bool has_events)
{
    ((struct memory_cri *)cri)->has_events = has_events;
}

void memory_cri_set_serving(struct cri *cri, bool is_serving)
{
    struct memory_cri *memory = (struct memory_cri *)cri;

    memory->is_down = !is_serving;
    LINK_EACH (link, &memory->streams) {
        cond_broadcast(&CONTAINER_OF(link, struct memory_stream, link)->changed);
    }
}

void memory_cri_set_error(struct cri *cri, const struct rpc *rpc, struct status *error)
{
    struct memory_error *row = row_of((struct memory_cri *)cri, rpc);

    status_free(row->status);
    row->status = error;
}

void memory_cri_add_image(struct cri *cri, struct str reference)
{
    struct memory_cri *memory = (struct memory_cri *)cri;

    *VEC_ADD(&memory->known_images) = arena_str(memory->arena, reference);
}

bool memory_cri_has_image(struct cri *cri, struct str reference)
{
    struct memory_cri *memory = (struct memory_cri *)cri;

    for (size_t i = 0; i < memory->images.len; i++) {
        if (str_eq(memory->images.items[i], reference)) {
            return true;
        }
    }
    return false;
}

void memory_cri_set_exec(struct cri *cri, int32_t exit_code, struct str output)
{
    struct memory_cri *memory = (struct memory_cri *)cri;

    memory->exec_code = exit_code;
    memory->exec_output = arena_str(memory->arena, output);
}

void memory_cri_set_stop_delay(struct cri *cri, int64_t delay)
{
    ((struct memory_cri *)cri)->stop_delay = delay;
}

static struct memory_one *newest(struct memory_cri *memory, struct str pod_uid, struct str name)
{
    for (size_t i = memory->containers.len; i-- > 0;) {
        struct memory_one *one = memory->containers.items[i];

        if (str_eq(str_map_get(&one->config->labels, LABEL_POD_UID), pod_uid) &&
            str_eq(str_map_get(&one->config->labels, LABEL_CONTAINER_NAME), name)) {
            return one;
        }
    }
    return NULL;
}

bool memory_cri_find(struct cri *cri, struct str pod_uid, struct str name, struct memory_container *ret)
{
    const struct memory_one *one = newest((struct memory_cri *)cri, pod_uid, name);

    if (one == NULL) {
        return false;
    }
    *ret = (struct memory_container){
        .id = one->id,
        .sandbox_id = one->sandbox_id,
        .pod_uid = str_map_get(&one->config->labels, LABEL_POD_UID),
        .name = str_map_get(&one->config->labels, LABEL_CONTAINER_NAME),
        .state = one->state,
        .exit_code = one->exit_code,
        .stop_timeout = one->stop_timeout,
        .config = one->config,
    };
    return true;
}

bool memory_cri_exit(struct cri *cri, struct str pod_uid, struct str name, int32_t exit_code)
{
    struct memory_one *one = newest((struct memory_cri *)cri, pod_uid, name);

    if (one == NULL || one->state != CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING) {
        return false;
    }
    memory_cri_end((struct memory_cri *)cri, one, exit_code);
    return true;
}

size_t memory_cri_running(const struct cri *cri)
{
    const struct memory_cri *memory = (const struct memory_cri *)cri;
    size_t count = 0;

    for (size_t i = 0; i < memory->containers.len; i++) {
        count += memory->containers.items[i]->state == CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING;
    }
    return count;
}

size_t memory_cri_containers(const struct cri *cri)
{
    return ((const struct memory_cri *)cri)->containers.len;
}

size_t memory_cri_sandboxes(const struct cri *cri)
{
    return ((const struct memory_cri *)cri)->sandboxes.len;
}

size_t memory_cri_calls(const struct cri *cri, const struct rpc *rpc)
{
    return row_of((struct memory_cri *)(uintptr_t)cri, rpc)->calls;
}
