#include "apiserver/registry/convert.h"

#include "api/autoscaling_v1.h"
#include "api/autoscaling_v2.h"
#include "api/core_v1.h"
#include "api/custom_kind.h"
#include "api/events_v1.h"
#include "base/mem.h"

static struct events_v1_event *event_to_new(struct arena *arena, const struct core_v1_event *from)
{
    struct events_v1_event *to = ARENA_NEW(arena, struct events_v1_event);

    to->metadata = from->metadata;
    to->event_time = from->event_time;
    to->reporting_controller = from->reporting_component;
    to->reporting_instance = from->reporting_instance;
    to->action = from->action;
    to->reason = from->reason;
    to->regarding = from->involved_object;
    to->related = from->related;
    to->note = from->message;
    to->type = from->type;
    to->deprecated_source = from->source;
    to->deprecated_first_timestamp = from->first_timestamp;
    to->deprecated_last_timestamp = from->last_timestamp;
    to->deprecated_count = from->count;
    if (from->series != NULL) {
        to->series = ARENA_NEW(arena, struct events_v1_event_series);
        to->series->count = from->series->count;
        to->series->last_observed_time = from->series->last_observed_time;
    }
    return to;
}

static struct core_v1_event *event_to_core(struct arena *arena, const struct events_v1_event *from)
{
    struct core_v1_event *to = ARENA_NEW(arena, struct core_v1_event);

    to->metadata = from->metadata;
    to->event_time = from->event_time;
    to->reporting_component = from->reporting_controller;
    to->reporting_instance = from->reporting_instance;
    to->action = from->action;
    to->reason = from->reason;
    to->involved_object = from->regarding;
    to->related = from->related;
    to->message = from->note;
    to->type = from->type;
    to->source = from->deprecated_source;
    to->first_timestamp = from->deprecated_first_timestamp;
    to->last_timestamp = from->deprecated_last_timestamp;
    to->count = from->deprecated_count;
    if (from->series != NULL) {
        to->series = ARENA_NEW(arena, struct core_v1_event_series);
        to->series->count = from->series->count;
        to->series->last_observed_time = from->series->last_observed_time;
    }
    return to;
}

static bool is_cpu_utilization(const struct autoscaling_v2_metric_spec *metric)
{
    return str_is(metric->type, "Resource") && metric->resource != NULL && str_is(metric->resource->name, "cpu") &&
           metric->resource->target.average_utilization != NULL;
}

static struct autoscaling_v1_horizontal_pod_autoscaler *
autoscaler_to_v1(struct arena *arena, const struct autoscaling_v2_horizontal_pod_autoscaler *from)
{
    struct autoscaling_v1_horizontal_pod_autoscaler *to =
        ARENA_NEW(arena, struct autoscaling_v1_horizontal_pod_autoscaler);

    to->metadata = from->metadata;
    to->spec.scale_target_ref.kind = from->spec.scale_target_ref.kind;
    to->spec.scale_target_ref.name = from->spec.scale_target_ref.name;
    to->spec.scale_target_ref.api_version = from->spec.scale_target_ref.api_version;
    to->spec.min_replicas = from->spec.min_replicas;
    to->spec.max_replicas = from->spec.max_replicas;
    LIST_EACH(metric, &from->spec.metrics) {
        if (is_cpu_utilization(metric)) {
            to->spec.target_cpu_utilization_percentage = metric->resource->target.average_utilization;
        }
    }
    to->status.observed_generation = from->status.observed_generation;
    to->status.last_scale_time = from->status.last_scale_time;
    to->status.current_replicas = from->status.current_replicas;
    to->status.desired_replicas = from->status.desired_replicas;
    LIST_EACH(metric, &from->status.current_metrics) {
        if (metric->resource != NULL && str_is(metric->resource->name, "cpu")) {
            to->status.current_cpu_utilization_percentage = metric->resource->current.average_utilization;
        }
    }
    return to;
}

static struct autoscaling_v2_horizontal_pod_autoscaler *
autoscaler_to_v2(struct arena *arena, const struct autoscaling_v1_horizontal_pod_autoscaler *from)
{
    struct autoscaling_v2_horizontal_pod_autoscaler *to =
        ARENA_NEW(arena, struct autoscaling_v2_horizontal_pod_autoscaler);

    to->metadata = from->metadata;
    to->spec.scale_target_ref.kind = from->spec.scale_target_ref.kind;
    to->spec.scale_target_ref.name = from->spec.scale_target_ref.name;
    to->spec.scale_target_ref.api_version = from->spec.scale_target_ref.api_version;
    to->spec.min_replicas = from->spec.min_replicas;
    to->spec.max_replicas = from->spec.max_replicas;
    if (from->spec.target_cpu_utilization_percentage != NULL) {
        struct autoscaling_v2_metric_spec *metric = LIST_ADD(arena, &to->spec.metrics);

        metric->type = STR("Resource");
        metric->resource = ARENA_NEW(arena, struct autoscaling_v2_resource_metric_source);
        metric->resource->name = STR("cpu");
        metric->resource->target.type = STR("Utilization");
        metric->resource->target.average_utilization = from->spec.target_cpu_utilization_percentage;
    }
    to->status.observed_generation = from->status.observed_generation;
    to->status.last_scale_time = from->status.last_scale_time;
    to->status.current_replicas = from->status.current_replicas;
    to->status.desired_replicas = from->status.desired_replicas;
    if (from->status.current_cpu_utilization_percentage != NULL) {
        struct autoscaling_v2_metric_status *metric = LIST_ADD(arena, &to->status.current_metrics);

        metric->type = STR("Resource");
        metric->resource = ARENA_NEW(arena, struct autoscaling_v2_resource_metric_status);
        metric->resource->name = STR("cpu");
        metric->resource->current.average_utilization = from->status.current_cpu_utilization_percentage;
    }
    return to;
}

void *convert(struct arena *arena, const struct kind *from, const struct kind *to, const void *object)
{
    if (from == to) {
        return (void *)object;
    }
    if (from->custom != NULL && to->custom != NULL) {
        return custom_object_convert(arena, from, to, object);
    }
    if (from == &core_v1_event_kind && to == &events_v1_event_kind) {
        return event_to_new(arena, object);
    }
    if (from == &events_v1_event_kind && to == &core_v1_event_kind) {
        return event_to_core(arena, object);
    }
    if (from == &autoscaling_v2_horizontal_pod_autoscaler_kind &&
        to == &autoscaling_v1_horizontal_pod_autoscaler_kind) {
        return autoscaler_to_v1(arena, object);
    }
    if (from == &autoscaling_v1_horizontal_pod_autoscaler_kind &&
        to == &autoscaling_v2_horizontal_pod_autoscaler_kind) {
        return autoscaler_to_v2(arena, object);
    }
    mem_die("convert: no conversion between these kinds");
}
