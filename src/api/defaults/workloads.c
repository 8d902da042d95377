/* Defaults of the kinds that make pods. */
#include "api/apps_v1.h"
#include "api/autoscaling_v1.h"
#include "api/autoscaling_v2.h"
#include "api/batch_v1.h"
#include "api/core_v1.h"
#include "api/defaults/fillers.h"
#include "api/resource_v1.h"
#include "schema/map_of.h"

#include <limits.h>

void fill_deployment_strategy(struct arena *arena, void *object)
{
    struct apps_v1_deployment_strategy *strategy = object;

    if (str_is(strategy->type, "RollingUpdate") && strategy->rolling_update == NULL) {
        strategy->rolling_update = ARENA_NEW(arena, struct apps_v1_rolling_update_deployment);
    }
}

void fill_daemon_set_update_strategy(struct arena *arena, void *object)
{
    struct apps_v1_daemon_set_update_strategy *strategy = object;

    if (str_is(strategy->type, "RollingUpdate") && strategy->rolling_update == NULL) {
        strategy->rolling_update = ARENA_NEW(arena, struct apps_v1_rolling_update_daemon_set);
    }
}

void fill_stateful_set_update_strategy(struct arena *arena, void *object)
{
    struct apps_v1_stateful_set_update_strategy *strategy = object;

    if (!str_is(strategy->type, "RollingUpdate")) {
        return;
    }
    if (strategy->rolling_update == NULL) {
        strategy->rolling_update = ARENA_NEW(arena, struct apps_v1_rolling_update_stateful_set_strategy);
    }
    FILL_POINTER(arena, strategy->rolling_update->partition, 0);
    FILL_POINTER(arena, strategy->rolling_update->max_unavailable, ((struct int_or_string){.number = 1}));
}

void fill_stateful_set_spec(struct arena *arena, void *object)
{
    struct apps_v1_stateful_set_spec *spec = object;

    LIST_EACH(claim, &spec->volume_claim_templates) { /* claims in a template say what they are, however they came */
        claim->type_meta.api_version = STR("v1");
        claim->type_meta.kind = STR("PersistentVolumeClaim");
    }
}

void fill_replication_controller(struct arena *arena, void *object)
{
    struct core_v1_replication_controller *controller = object;

    if (controller->spec.template == NULL) {
        return;
    }
    const struct str_map *labels = &controller->spec.template->metadata.labels;

    if (labels->items == NULL) {
        return;
    }
    if (controller->spec.selector.len == 0) {
        controller->spec.selector = *labels;
    }
    if (controller->metadata.labels.len == 0) {
        controller->metadata.labels = *labels;
    }
}

void fill_job(struct arena *arena, void *object)
{
    struct batch_v1_job *job = object;
    struct batch_v1_job_spec *spec = &job->spec;

    if (spec->completions == NULL && spec->parallelism == NULL) {
        FILL_POINTER(arena, spec->completions, 1);
    }
    FILL_POINTER(arena, spec->parallelism, 1);
    FILL_POINTER(arena, spec->backoff_limit, spec->backoff_limit_per_index != NULL ? INT32_MAX : 6);
    FILL_POINTER(arena, spec->completion_mode, BATCH_V1_NON_INDEXED_COMPLETION);
    FILL_POINTER(arena, spec->suspend, false);
    FILL_POINTER(arena, spec->pod_replacement_policy,
                 spec->pod_failure_policy != NULL ? BATCH_V1_FAILED : BATCH_V1_TERMINATING_OR_FAILED);
    FILL_POINTER(arena, spec->manual_selector, false);
    if (job->metadata.labels.len == 0) {
        job->metadata.labels = spec->template.metadata.labels;
    }
}

/* The rules a client gave, completed by those of stock. */
static void fill_scaling(struct arena *arena, struct autoscaling_v2_hpa_scaling_rules **rules, bool up)
{
    if (*rules == NULL) {
        *rules = ARENA_NEW(arena, struct autoscaling_v2_hpa_scaling_rules);
    }
    FILL_POINTER(arena, (*rules)->select_policy, STR("Max"));
    if (up) {
        FILL_POINTER(arena, (*rules)->stabilization_window_seconds, 0);
    }
    if ((*rules)->policies.items == NULL) {
        if (up) {
            *LIST_ADD(arena, &(*rules)->policies) = (struct autoscaling_v2_hpa_scaling_policy){STR("Pods"), 4, 15};
        }
        *LIST_ADD(arena, &(*rules)->policies) = (struct autoscaling_v2_hpa_scaling_policy){STR("Percent"), 100, 15};
    }
}

void fill_autoscaler_spec(struct arena *arena, void *object)
{
    struct autoscaling_v2_horizontal_pod_autoscaler_spec *spec = object;

    if (spec->metrics.len == 0) {
        struct autoscaling_v2_metric_spec *metric = LIST_ADD(arena, &spec->metrics);

        metric->type = STR("Resource");
        metric->resource = ARENA_NEW(arena, struct autoscaling_v2_resource_metric_source);
        metric->resource->name = STR("cpu");
        metric->resource->target.type = STR("Utilization");
        FILL_POINTER(arena, metric->resource->target.average_utilization, 80);
    }
    if (spec->behavior != NULL) {
        fill_scaling(arena, &spec->behavior->scale_up, true);
        fill_scaling(arena, &spec->behavior->scale_down, false);
    }
}

/* The first version knows CPU only; other metrics are in an annotation. */
void fill_autoscaler_v1(struct arena *arena, void *object)
{
    struct autoscaling_v1_horizontal_pod_autoscaler *autoscaler = object;

    if (!str_map_has(&autoscaler->metadata.annotations, STR("autoscaling.alpha.kubernetes.io/metrics"))) {
        FILL_POINTER(arena, autoscaler->spec.target_cpu_utilization_percentage, 80);
    }
}

void fill_exact_device_request(struct arena *arena, void *object)
{
    struct resource_v1_exact_device_request *request = object;

    (void)arena;
    if (str_is(request->allocation_mode, "ExactCount") && request->count == 0) {
        request->count = 1;
    }
}

void fill_device_sub_request(struct arena *arena, void *object)
{
    struct resource_v1_device_sub_request *request = object;

    (void)arena;
    if (str_is(request->allocation_mode, "ExactCount") && request->count == 0) {
        request->count = 1;
    }
}
