#include "api/autoscaling_v1.h"
#include "api/autoscaling_v2.h"
#include "api/validation/kinds.h"
#include "api/validation/meta.h"
#include "schema/quantity.h"

enum { STABILIZATION_MAX = 3600, PERIOD_MAX = 1800 };

static void check_path_name(struct status *to, const struct path *at, struct str name)
{
    if (check_present(to, at, name)) {
        check_name(to, at, name, name_is_path_segment);
    }
}

static void check_replicas(struct status *to, const struct path *at, const int32_t *min, int32_t max)
{
    if (min != NULL) {
        check_non_negative(to, AT(at, "minReplicas"), *min);
    }
    if (max < 0) {
        check_invalid_int(to, AT(at, "maxReplicas"), max, "must be greater than or equal to 1");
    }
    if (min != NULL && *min > max) {
        check_invalid_int(to, AT(at, "maxReplicas"), max, "must be greater than or equal to `minReplicas`");
    }
}

static bool is_positive(const struct quantity *amount)
{
    return quantity_cmp(*amount, (struct quantity){STR("0")}) > 0;
}

static void check_target(struct status *to, const struct path *at, const struct autoscaling_v2_metric_target *target)
{
    static const char *const types[] = {"Utilization", "Value", "AverageValue", NULL};

    if (target->type.n == 0) {
        check_required(to, AT(at, "type"), "must specify a metric target type");
    }
    if (!is_one_of(target->type, types)) {
        check_invalid_str(to, AT(at, "type"), target->type, "must be either Utilization, Value, or AverageValue");
    }
    if (target->value != NULL && !is_positive(target->value)) {
        check_invalid_str(to, AT(at, "value"), target->value->text, "must be positive");
    }
    if (target->average_value != NULL && !is_positive(target->average_value)) {
        check_invalid_str(to, AT(at, "averageValue"), target->average_value->text, "must be positive");
    }
    if (target->average_utilization != NULL && *target->average_utilization < 1) {
        check_invalid_int(to, AT(at, "averageUtilization"), *target->average_utilization, "must be greater than 0");
    }
}

static void check_resource_metric(struct status *to, const struct path *at, struct str name,
                                  const struct autoscaling_v2_metric_target *target)
{
    const struct path *target_at = AT(at, "target");

    if (name.n == 0) {
        check_required(to, AT(at, "name"), "must specify a resource name");
    }
    check_target(to, target_at, target);
    if (target->average_utilization == NULL && target->average_value == NULL) {
        check_required(to, AT(target_at, "averageUtilization"),
                       "must set either a target raw value or a target utilization");
    } else if (target->average_utilization != NULL && target->average_value != NULL) {
        check_forbidden(to, AT(target_at, "averageValue"),
                        "may not set both a target raw value and a target utilization");
    }
}

static void check_metric_name(struct status *to, const struct path *at,
                              const struct autoscaling_v2_metric_identifier *id)
{
    if (id->name.n == 0) {
        check_required(to, AT(at, "name"), "must specify a metric name");
    } else {
        check_name(to, AT(at, "name"), id->name, name_is_path_segment);
    }
}

static void check_either_value(struct status *to, const struct path *at,
                               const struct autoscaling_v2_metric_target *target)
{
    if (target->value == NULL && target->average_value == NULL) {
        check_required(to, AT(at, "averageValue"), "must set either a target value for metric or a per-pod target");
    } else if (target->value != NULL && target->average_value != NULL) {
        check_forbidden(to, AT(at, "value"), "may not set both a target value for metric and a per-pod target");
    }
}

static void check_described(struct status *to, const struct path *at,
                            const struct autoscaling_v2_cross_version_object_reference *reference)
{
    check_path_name(to, AT(at, "kind"), reference->kind);
    check_path_name(to, AT(at, "name"), reference->name);
}

/* One kind of source, by its place among the others. */
static void check_source(struct status *to, const struct path *at, const struct autoscaling_v2_metric_spec *metric,
                         const char *name)
{
    const struct path *one = AT(at, name);

    if (metric->object != NULL && str_is(STR("object"), name)) {
        check_described(to, AT(one, "describedObject"), &metric->object->described_object);
        check_metric_name(to, AT(one, "metric"), &metric->object->metric);
        check_target(to, AT(one, "target"), &metric->object->target);
        check_either_value(to, AT(one, "target"), &metric->object->target);
    } else if (metric->external != NULL && str_is(STR("external"), name)) {
        check_metric_name(to, AT(one, "metric"), &metric->external->metric);
        check_target(to, AT(one, "target"), &metric->external->target);
        check_either_value(to, AT(one, "target"), &metric->external->target);
    } else if (metric->pods != NULL && str_is(STR("pods"), name)) {
        const struct autoscaling_v2_metric_target *target = &metric->pods->target;

        check_metric_name(to, AT(one, "metric"), &metric->pods->metric);
        check_target(to, AT(one, "target"), target);
        if (target->average_value == NULL || !is_positive(target->average_value)) {
            check_required(to, AT(AT(one, "target"), "averageValue"), "must specify a positive target averageValue");
        }
    } else if (metric->resource != NULL && str_is(STR("resource"), name)) {
        check_resource_metric(to, one, metric->resource->name, &metric->resource->target);
    } else if (metric->container_resource != NULL && str_is(STR("containerResource"), name)) {
        if (metric->container_resource->container.n == 0) {
            check_required(to, AT(one, "container"), "must specify a container");
        }
        check_resource_metric(to, one, metric->container_resource->name, &metric->container_resource->target);
    }
}

static void check_metric(struct status *to, const struct path *at, const struct autoscaling_v2_metric_spec *metric)
{
    static const char *const types[] = {"ContainerResource", "External", "Object", "Pods", "Resource", NULL};
    const struct {
        const char *type, *field;
        bool is_set;
    } sources[] = {
        {"Object", "object", metric->object != NULL},
        {"External", "external", metric->external != NULL},
        {"Pods", "pods", metric->pods != NULL},
        {"Resource", "resource", metric->resource != NULL},
        {"ContainerResource", "containerResource", metric->container_resource != NULL},
    };
    size_t count = 0;

    if (metric->type.n == 0) {
        check_required(to, AT(at, "type"), "must specify a metric source type");
    }
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        if (sources[i].is_set && count++ == 0) {
            check_source(to, at, metric, sources[i].field);
        }
    }
    if (!check_one_of(to, AT(at, "type"), metric->type, types)) {
        return;
    }
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        if (!sources[i].is_set && str_is(metric->type, sources[i].type)) {
            check_required(to, AT(at, sources[i].field), "must populate information for the given metric source");
        }
    }
    for (size_t i = 0; count > 1 && i < COUNT_OF(sources); i++) {
        if (sources[i].is_set && !str_is(metric->type, sources[i].type)) {
            check_forbidden(to, AT(at, sources[i].field), "must populate the given metric source only");
        }
    }
}

static void check_scaling(struct status *to, const struct path *at,
                          const struct autoscaling_v2_hpa_scaling_rules *rules)
{
    static const char *const selects[] = {"Disabled", "Max", "Min", NULL};
    static const char *const types[] = {"Percent", "Pods", NULL};
    const struct path *window = AT(at, "stabilizationWindowSeconds");

    if (rules == NULL) {
        return;
    }
    if (rules->stabilization_window_seconds != NULL && *rules->stabilization_window_seconds < 0) {
        check_invalid_int(to, window, *rules->stabilization_window_seconds, "must be greater than or equal to zero");
    }
    if (rules->stabilization_window_seconds != NULL && *rules->stabilization_window_seconds > STABILIZATION_MAX) {
        check_invalid_int(to, window, *rules->stabilization_window_seconds, "must be less than or equal to %d",
                          STABILIZATION_MAX);
    }
    if (rules->select_policy != NULL) {
        check_one_of(to, AT(at, "selectPolicy"), *rules->select_policy, selects);
    }
    if (rules->policies.len == 0) {
        check_required(to, AT(at, "policies"), "must specify at least one Policy");
    }
    LIST_EACH(policy, &rules->policies) {
        const struct path *one = ITEM(AT(at, "policies"), INDEX_OF(policy, &rules->policies));

        check_one_of(to, AT(one, "type"), policy->type, types);
        if (policy->value <= 0) {
            check_invalid_int(to, AT(one, "value"), policy->value, "must be greater than zero");
        }
        if (policy->period_seconds <= 0) {
            check_invalid_int(to, AT(one, "periodSeconds"), policy->period_seconds, "must be greater than zero");
        }
        if (policy->period_seconds > PERIOD_MAX) {
            check_invalid_int(to, AT(one, "periodSeconds"), policy->period_seconds, "must be less than or equal to %d",
                              PERIOD_MAX);
        }
    }
}

void validate_autoscaler(struct status *to, const void *object)
{
    const struct autoscaling_v2_horizontal_pod_autoscaler_spec *spec =
        &((const struct autoscaling_v2_horizontal_pod_autoscaler *)object)->spec;
    const struct path *at = AT(NULL, "spec");
    bool scales_to_zero = false;

    check_replicas(to, at, spec->min_replicas, spec->max_replicas);
    check_described(to, AT(at, "scaleTargetRef"), &spec->scale_target_ref);
    LIST_EACH(metric, &spec->metrics) {
        check_metric(to, ITEM(AT(at, "metrics"), INDEX_OF(metric, &spec->metrics)), metric);
        scales_to_zero |= metric->object != NULL || metric->external != NULL;
    }
    if (spec->min_replicas != NULL && *spec->min_replicas == 0 && !scales_to_zero) {
        check_forbidden(to, AT(at, "metrics"),
                        "must specify at least one Object or External metric to support scaling to zero replicas");
    }
    if (spec->behavior != NULL) {
        check_scaling(to, AT(AT(at, "behavior"), "scaleUp"), spec->behavior->scale_up);
        check_scaling(to, AT(AT(at, "behavior"), "scaleDown"), spec->behavior->scale_down);
    }
    if (spec->max_replicas == 0) {
        check_required(to, AT(at, "maxReplicas"), "%s", "");
    }
}

void validate_autoscaler_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_autoscaler(to, object);
}

void validate_autoscaler_v1(struct status *to, const void *object)
{
    const struct autoscaling_v1_horizontal_pod_autoscaler_spec *spec =
        &((const struct autoscaling_v1_horizontal_pod_autoscaler *)object)->spec;
    const struct path *at = AT(NULL, "spec"), *target = AT(at, "scaleTargetRef");

    check_replicas(to, at, spec->min_replicas, spec->max_replicas);
    check_path_name(to, AT(target, "kind"), spec->scale_target_ref.kind);
    check_path_name(to, AT(target, "name"), spec->scale_target_ref.name);
    if (spec->max_replicas == 0) {
        check_required(to, AT(at, "maxReplicas"), "%s", "");
    }
}

void validate_autoscaler_v1_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_autoscaler_v1(to, object);
}
