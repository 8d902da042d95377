#include "bed.h"

#include "scheduler/preemption.h"
#include "schema/json.h"
#include "schema/type.h"
#include "test.h"

void bed_init(struct bed *bed)
{
    *bed = (struct bed){.arena = arena_new(), .snapshot = snapshot_new()};
}

void bed_done(struct bed *bed)
{
    snapshot_free(bed->snapshot);
    arena_free(bed->arena);
}

static void lay_on(struct arena *arena, const struct type *type, void *object, const char *json)
{
    struct str text = arena_str(arena, str_of(json));

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\'') {
            ((char *)(uintptr_t)text.p)[i] = '"';
        }
    }
    CHECK_OK(json_decode(arena, type, text, object, NULL));
}

static struct cached *cached_of(const struct type *type, const char *base, const char *json)
{
    struct arena *arena = arena_new();
    struct cached *cached = ARENA_NEW(arena, struct cached);

    *cached = (struct cached){.refs = 1, .arena = arena, .object = arena_alloc(arena, type->size)};
    lay_on(arena, type, cached->object, base);
    lay_on(arena, type, cached->object, json);
    return cached;
}

void bed_node(struct bed *bed, const char *json)
{
    snapshot_set_node(bed->snapshot,
                      cached_of(&core_v1_node_type,
                                "{'status':{'allocatable':{'cpu':'4','memory':'8Gi','pods':'110'}}}", json));
}

struct cached *bed_cached_pod(struct bed *bed, const char *json)
{
    struct str base = arena_printf(bed->arena, "{'metadata':{'namespace':'default','uid':'u%d'}}", ++bed->next_uid);

    return cached_of(&core_v1_pod_type, base.p, json);
}

void bed_pod(struct bed *bed, const char *json)
{
    snapshot_set_pod(bed->snapshot, bed_cached_pod(bed, json));
}

void bed_namespace(struct bed *bed, const char *json)
{
    snapshot_set_namespace(bed->snapshot, cached_of(&core_v1_namespace_type, "{}", json));
}

struct decision bed_decide(struct bed *bed, const char *json)
{
    struct core_v1_pod *pod = bed->last = ARENA_NEW(bed->arena, struct core_v1_pod);
    struct pod_info info;
    struct decision decision;

    pod->metadata.namespace = STR("default");
    lay_on(bed->arena, &core_v1_pod_type, pod, json);
    pod_info_of(pod, &info);
    cycle_decide(bed->snapshot, &info, 0, bed->arena, &decision);
    return decision;
}

struct str bed_answer(struct bed *bed, const char *json)
{
    struct decision decision = bed_decide(bed, json);

    struct preemption preemption;
    struct pod_info info;

    if (decision.node != NULL) {
        return decision.node->name;
    }
    pod_info_of(bed->last, &info);
    preemption_find(bed->snapshot, &info, &decision, bed->arena, &preemption);
    return arena_printf(bed->arena, "%.*s%.*s", STR_ARG(decision.message), STR_ARG(preemption.message));
}
