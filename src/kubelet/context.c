#include "kubelet/context.h"

#include "base/env.h"
#include "base/mem.h"
#include "base/trace.h"

#include <stdlib.h>

struct pod_ref *pod_ref_of_cached(struct cached *cached)
{
    struct pod_ref *pod = MEM_NEW(struct pod_ref);

    *pod = (struct pod_ref){.refs = 1, .pod = cached->object, .cached = cached_ref(cached)};
    return pod;
}

struct pod_ref *pod_ref_of_arena(struct arena *arena, const struct core_v1_pod *object)
{
    struct pod_ref *pod = MEM_NEW(struct pod_ref);

    *pod = (struct pod_ref){.refs = 1, .pod = object, .arena = arena};
    return pod;
}

struct pod_ref *pod_ref(struct pod_ref *pod)
{
    pod->refs++;
    return pod;
}

void pod_unref(struct pod_ref *pod)
{
    if (pod == NULL || --pod->refs > 0) {
        return;
    }
    if (pod->cached != NULL) {
        cached_unref(pod->cached);
    }
    arena_free(pod->arena);
    free(pod);
}

void pod_unrefp(struct pod_ref **pod)
{
    pod_unref(*pod);
}

static void record(struct kubelet *kubelet, const struct kind *kind, const void *object, struct str field_path,
                   const char *type, const char *reason, const char *format, va_list args) PRINTF_LIKE(7, 0);

static void record(struct kubelet *kubelet, const struct kind *kind, const void *object, struct str field_path,
                   const char *type, const char *reason, const char *format, va_list args)
{
    if (kubelet->recorder != NULL) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct str message = arena_vprintf(arena, format, args);

        event_record(kubelet->recorder, kind, object, field_path, type, reason, "%.*s", STR_ARG(message));
    }
}

void pod_event(struct kubelet *kubelet, const struct core_v1_pod *pod, const char *type, const char *reason,
               const char *format, ...)
{
    va_list args;

    va_start(args, format);
    record(kubelet, &core_v1_pod_kind, pod, STR(""), type, reason, format, args);
    va_end(args);
}

void container_event(struct kubelet *kubelet, const struct core_v1_pod *pod, enum plan_kind kind, struct str name,
                     const char *type, const char *reason, const char *format, ...)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    va_list args;

    va_start(args, format);
    record(kubelet, &core_v1_pod_kind, pod, container_field_path(arena, kind, name), type, reason, format, args);
    va_end(args);
}

void node_event(struct kubelet *kubelet, const char *type, const char *reason, const char *format, ...)
{
    /* Stock names the node by its name where others have the UID, which ties its events together. */
    struct core_v1_node node = {.metadata = {.name = kubelet->node_name, .uid = kubelet->node_name}};
    va_list args;

    va_start(args, format);
    record(kubelet, &core_v1_node_kind, &node, STR(""), type, reason, format, args);
    va_end(args);
}

const char *pod_directory(struct kubelet *kubelet, struct arena *arena, struct str uid)
{
    return arena_printf(arena, "%.*s/pods/%.*s", STR_ARG(kubelet->options.root_dir), STR_ARG(uid)).p;
}

const char *pod_log_directory(struct kubelet *kubelet, struct arena *arena, const struct core_v1_pod *pod)
{
    return arena_printf(arena, "%.*s/%.*s_%.*s_%.*s", STR_ARG(kubelet->options.pod_logs_dir),
                        STR_ARG(pod->metadata.namespace), STR_ARG(pod->metadata.name), STR_ARG(pod->metadata.uid))
        .p;
}

void kubelet_trace_pod(const struct core_v1_pod *pod, int step, int outcome, int64_t start, const char *format, ...)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    va_list args;

    va_start(args, format);
    struct str detail = arena_vprintf(arena, format, args);

    va_end(args);
    trace_emit(&(struct trace_span){
        .step = (enum trace_step)step,
        .outcome = (enum trace_outcome)outcome,
        .start = start,
        .end = env_wall(),
        .uid = pod->metadata.uid,
        .object = arena_printf(arena, "pods/%.*s/%.*s", STR_ARG(pod->metadata.namespace),
                               STR_ARG(pod->metadata.name)),
        .detail = detail,
    });
}
