#include "controller/job_parts.h"
#include "controller/pod_template.h"
#include "controller/pod_util.h"
#include "schema/map_of.h"

#include <stdlib.h>

enum { CREATIONS = 1, BURST_PODS = 500 };

struct containers {
    struct core_v1_container *items;
    size_t len;
};

/* The containers with JOB_COMPLETION_INDEX, taken from the pod's label. */
static struct core_v1_container *with_index(struct arena *arena, const struct core_v1_container *items, size_t count)
{
    struct core_v1_container *copies = ARENA_ARRAY(arena, struct core_v1_container, count);

    for (size_t i = 0; i < count; i++) {
        struct core_v1_env_var_source *source = ARENA_NEW(arena, struct core_v1_env_var_source);
        struct core_v1_object_field_selector *field = ARENA_NEW(arena, struct core_v1_object_field_selector);
        __typeof__(copies->env) env = {0};

        copies[i] = items[i];
        LIST_EACH(have, &items[i].env)
        {
            *LIST_ADD(arena, &env) = *have;
        }
        field->field_path = STR("metadata.labels['" JOB_INDEX "']");
        source->field_ref = field;
        *LIST_ADD(arena, &env) = (struct core_v1_env_var){.name = STR("JOB_COMPLETION_INDEX"), .value_from = source};
        copies[i].env.items = env.items;
        copies[i].env.len = env.len;
    }
    return copies;
}

static void make_indexed(struct job_pass *pass, struct core_v1_pod *pod, int32_t index)
{
    struct arena *arena = pass->plan->arena;
    struct str text = arena_printf(arena, "%d", index);

    pod->metadata.generate_name =
        arena_printf(arena, "%.*s-%d-", STR_ARG(pass->job->metadata.name), index);
    str_map_set(arena, &pod->metadata.annotations, STR(JOB_INDEX), text);
    str_map_set(arena, &pod->metadata.labels, STR(JOB_INDEX), text);
    if (pass->given_up.size > 0) {
        str_map_set(arena, &pod->metadata.annotations, STR(JOB_INDEX_FAILURES),
                    arena_printf(arena, "%d", job_failures_of(pass, index)));
    }
    pod->spec.hostname = arena_printf(arena, "%.*s-%d", STR_ARG(pass->job->metadata.name), index);
    pod->spec.containers.items = with_index(arena, pod->spec.containers.items, pod->spec.containers.len);
    pod->spec.init_containers.items =
        with_index(arena, pod->spec.init_containers.items, pod->spec.init_containers.len);
}

static bool is_worked_on(const struct job_pass *pass, int32_t index)
{
    LIST_EACH(pod, &pass->active)
    {
        if (job_index_of(*pod) == index) {
            return true;
        }
    }
    return false;
}

static bool is_given_up(const struct job_pass *pass, int32_t index)
{
    return index < pass->given_up.size && pass->given_up.has[index];
}

static int32_t next_index(const struct job_pass *pass, int32_t from)
{
    while (from < pass->done.size &&
           (pass->done.has[from] || is_given_up(pass, from) || is_worked_on(pass, from))) {
        from++;
    }
    return from;
}

void job_create_pods(struct job_pass *pass, int32_t count)
{
    int32_t index = 0;

    for (int32_t i = 0; i < MIN(count, (int32_t)BURST_PODS); i++) {
        struct core_v1_pod *pod =
            pod_template_pod(pass->plan->arena, &pass->job->spec.template, &batch_v1_job_kind, pass->job);

        if (pass->is_indexed) {
            index = next_index(pass, index);
            if (index >= pass->done.size) {
                return;
            }
            make_indexed(pass, pod, index++);
        }
        *LIST_ADD(pass->plan->arena, &pod->metadata.finalizers) = STR(JOB_FINALIZER);
        pod_template_create(pass->plan, pod, CREATIONS, &batch_v1_job_kind, pass->job);
    }
}

/* A pod that the Job itself does away with counts neither way: its finalizer goes first. */
void job_delete_pods(struct job_pass *pass, int32_t count)
{
    struct pod_ranked *ranked = ARENA_ARRAY(pass->plan->arena, struct pod_ranked, pass->active.len);

    for (size_t i = 0; i < pass->active.len; i++) {
        ranked[i] = (struct pod_ranked){pass->active.items[i], 0, pass->world->now};
    }
    if ((size_t)count < pass->active.len) {
        qsort(ranked, pass->active.len, sizeof(*ranked), pod_deletion_order);
    }
    for (int32_t i = 0; i < MIN(count, (int32_t)BURST_PODS); i++) {
        if (job_has_finalizer(ranked[i].pod)) {
            job_plan_remove_finalizer(pass->plan, ranked[i].pod);
        }
        pod_template_delete(pass->plan, ranked[i].pod, 0, &batch_v1_job_kind, pass->job);
    }
}
