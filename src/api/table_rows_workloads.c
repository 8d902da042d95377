/* Rows of what makes pods, and of what scales and protects them. */
#include "api/age.h"
#include "api/apps_v1.h"
#include "api/autoscaling_v1.h"
#include "api/autoscaling_v2.h"
#include "api/batch_v1.h"
#include "api/kinds.h"
#include "api/policy_v1.h"
#include "api/table_rows.h"
#include "schema/int_or_string.h"
#include "schema/timestamp.h"

#include <ctype.h>

static const struct str none = STR_INIT("<none>");

void row_replication_controller(struct cells *cells, const void *object)
{
    const struct core_v1_replication_controller *rc = object;

    cell_name(cells, object);
    cell_int(cells, number_or(rc->spec.replicas, 0));
    cell_int(cells, rc->status.replicas);
    cell_int(cells, rc->status.ready_replicas);
    cell_object_age(cells, object);
    cell_containers(cells, rc->spec.template != NULL ? &rc->spec.template->spec : &(struct core_v1_pod_spec){0});
    cell_labels(cells, &rc->spec.selector);
}

void row_replica_set(struct cells *cells, const void *object)
{
    const struct apps_v1_replica_set *set = object;

    cell_name(cells, object);
    cell_int(cells, number_or(set->spec.replicas, 0));
    cell_int(cells, set->status.replicas);
    cell_int(cells, set->status.ready_replicas);
    cell_object_age(cells, object);
    cell_containers(cells, &set->spec.template.spec);
    cell_selector(cells, set->spec.selector, none);
}

void row_deployment(struct cells *cells, const void *object)
{
    const struct apps_v1_deployment *deployment = object;
    const struct apps_v1_deployment_status *status = &deployment->status;

    cell_name(cells, object);
    cell_printf(cells, "%d/%d", status->ready_replicas, number_or(deployment->spec.replicas, 0));
    cell_int(cells, status->updated_replicas);
    cell_int(cells, status->available_replicas);
    cell_object_age(cells, object);
    cell_containers(cells, &deployment->spec.template.spec);
    cell_selector(cells, deployment->spec.selector, STR(""));
}

void row_daemon_set(struct cells *cells, const void *object)
{
    const struct apps_v1_daemon_set *set = object;
    const struct apps_v1_daemon_set_status *status = &set->status;

    cell_name(cells, object);
    cell_int(cells, status->desired_number_scheduled);
    cell_int(cells, status->current_number_scheduled);
    cell_int(cells, status->number_ready);
    cell_int(cells, status->updated_number_scheduled);
    cell_int(cells, status->number_available);
    cell_labels(cells, &set->spec.template.spec.node_selector);
    cell_object_age(cells, object);
    cell_containers(cells, &set->spec.template.spec);
    cell_selector(cells, set->spec.selector, none);
}

void row_stateful_set(struct cells *cells, const void *object)
{
    const struct apps_v1_stateful_set *set = object;

    cell_name(cells, object);
    cell_printf(cells, "%d/%d", set->status.ready_replicas, number_or(set->spec.replicas, 0));
    cell_object_age(cells, object);
    cell_containers(cells, &set->spec.template.spec);
}

static struct str lower(struct arena *arena, struct str text)
{
    char *copy = arena_cstr(arena, text);

    for (size_t i = 0; i < text.n; i++) {
        copy[i] = (char)tolower((unsigned char)copy[i]);
    }
    return (struct str){copy, text.n};
}

void row_controller_revision(struct cells *cells, const void *object)
{
    const struct apps_v1_controller_revision *revision = object;
    struct str controller = none;

    LIST_EACH(owner, &revision->metadata.owner_references) {
        if (owner->controller != NULL && *owner->controller) {
            struct str group, version;

            api_version_split(owner->api_version, &group, &version);
            controller = lower(cells->arena, arena_printf(cells->arena, "%.*s%s%.*s", STR_ARG(owner->kind),
                                                          group.n > 0 ? "." : "", STR_ARG(group)));
            controller = arena_printf(cells->arena, "%.*s/%.*s", STR_ARG(controller), STR_ARG(owner->name));
            break;
        }
    }
    cell_name(cells, object);
    cell_str(cells, controller);
    cell_int(cells, revision->revision);
    cell_object_age(cells, object);
}

static bool job_has(const struct batch_v1_job *job, const char *type)
{
    LIST_EACH(condition, &job->status.conditions) {
        if (str_is(condition->type, type)) {
            return str_is(condition->status, "True");
        }
    }
    return false;
}

static struct str job_status(const struct batch_v1_job *job)
{
    return job_has(job, "Complete")                   ? STR("Complete")
           : job_has(job, "Failed")                   ? STR("Failed")
           : job->metadata.deletion_timestamp != NULL ? STR("Terminating")
           : job_has(job, "Suspended")                ? STR("Suspended")
           : job_has(job, "FailureTarget")            ? STR("FailureTarget")
           : job_has(job, "SuccessCriteriaMet")       ? STR("SuccessCriteriaMet")
                                                      : STR("Running");
}

void row_job(struct cells *cells, const void *object)
{
    const struct batch_v1_job *job = object;
    const struct timestamp *from = job->status.start_time, *to = job->status.completion_time;
    int32_t parallelism = number_or(job->spec.parallelism, 0);

    cell_name(cells, object);
    cell_str(cells, job_status(job));
    if (job->spec.completions != NULL) {
        cell_printf(cells, "%d/%d", job->status.succeeded, *job->spec.completions);
    } else if (parallelism > 1) {
        cell_printf(cells, "%d/1 of %d", job->status.succeeded, parallelism);
    } else {
        cell_printf(cells, "%d/1", job->status.succeeded);
    }
    cell_str(cells, from == NULL ? STR("") : human_age(cells->arena, *from, to != NULL ? *to : cells->now));
    cell_object_age(cells, object);
    cell_containers(cells, &job->spec.template.spec);
    cell_selector(cells, job->spec.selector, none);
}

void row_cron_job(struct cells *cells, const void *object)
{
    const struct batch_v1_cron_job *job = object;
    const bool *suspend = job->spec.suspend;

    cell_name(cells, object);
    cell_str(cells, job->spec.schedule);
    cell_ptr_or(cells, job->spec.time_zone, none);
    cell_str(cells, suspend == NULL ? STR("<unset>") : *suspend ? STR("True") : STR("False"));
    cell_int(cells, (int64_t)job->status.active.len);
    if (job->status.last_schedule_time != NULL) {
        cell_age(cells, *job->status.last_schedule_time);
    } else {
        cell_str(cells, none);
    }
    cell_object_age(cells, object);
    cell_containers(cells, &job->spec.job_template.spec.template.spec);
    cell_selector(cells, job->spec.job_template.spec.selector, none);
}

static struct str percent(struct arena *arena, const int32_t *utilization, struct str otherwise)
{
    return utilization != NULL ? arena_printf(arena, "%d%%", *utilization) : otherwise;
}

/* "CURRENT/TARGET" of a metric that is no resource; `average_only` for those of pods. */
static struct str target_text(struct arena *arena, const struct autoscaling_v2_metric_target *target,
                              const struct autoscaling_v2_metric_value_status *current, bool average_only)
{
    bool average = average_only || target->average_value != NULL;
    const struct quantity *now = current == NULL ? NULL : average ? current->average_value : current->value;
    struct str now_text = now != NULL ? amount_text(now) : STR("<unknown>");

    return arena_printf(arena, "%.*s/%.*s%s", STR_ARG(now_text),
                        STR_ARG(amount_text(average ? target->average_value : target->value)),
                        average && !average_only ? " (avg)" : "");
}

static struct str resource_text(struct arena *arena, struct str name, const struct autoscaling_v2_metric_target *target,
                                const struct autoscaling_v2_metric_value_status *current)
{
    struct str now = STR("<unknown>"), wanted = amount_text(target->average_value);

    if (target->average_value != NULL) {
        now = current != NULL ? amount_text(current->average_value) : now;
    } else {
        now = percent(arena, current != NULL ? current->average_utilization : NULL, now);
        wanted = percent(arena, target->average_utilization, STR("<auto>"));
    }
    return arena_printf(arena, "%.*s: %.*s/%.*s", STR_ARG(name), STR_ARG(now), STR_ARG(wanted));
}

static struct str metric_text(struct arena *arena, const struct autoscaling_v2_metric_spec *spec,
                              const struct autoscaling_v2_metric_status *status)
{
#define CURRENT_(member) (status != NULL && status->member != NULL ? &status->member->current : NULL)
    if (str_is(spec->type, "External") && spec->external != NULL) {
        return target_text(arena, &spec->external->target, CURRENT_(external), false);
    }
    if (str_is(spec->type, "Pods") && spec->pods != NULL) {
        return target_text(arena, &spec->pods->target, CURRENT_(pods), true);
    }
    if (str_is(spec->type, "Object") && spec->object != NULL) {
        return target_text(arena, &spec->object->target, CURRENT_(object), false);
    }
    if (str_is(spec->type, "Resource") && spec->resource != NULL) {
        return resource_text(arena, spec->resource->name, &spec->resource->target, CURRENT_(resource));
    }
    if (str_is(spec->type, "ContainerResource") && spec->container_resource != NULL) {
        return resource_text(arena, spec->container_resource->name, &spec->container_resource->target,
                             CURRENT_(container_resource));
    }
#undef CURRENT_
    return STR("<unknown type>");
}

static void cell_metrics(struct cells *cells, const struct autoscaling_v2_horizontal_pod_autoscaler *hpa)
{
    enum { SHOWN = 2 };
    struct str_list texts = {0};
    size_t count = hpa->spec.metrics.len;

    for (size_t i = 0; i < count && i < SHOWN; i++) {
        const struct autoscaling_v2_metric_status *status =
            i < hpa->status.current_metrics.len ? &hpa->status.current_metrics.items[i] : NULL;

        *LIST_ADD(cells->arena, &texts) = metric_text(cells->arena, &hpa->spec.metrics.items[i], status);
    }
    struct str text = join_strings(cells->arena, &texts, ", ");

    if (count > SHOWN) {
        cell_printf(cells, "%.*s + %zu more...", STR_ARG(text), count - SHOWN);
    } else {
        cell_str_or(cells, text, none);
    }
}

static void cell_replicas(struct cells *cells, const int32_t *min, int32_t max, int32_t current)
{
    if (min != NULL) {
        cell_printf(cells, "%d", *min);
    } else {
        cell_str(cells, STR("<unset>"));
    }
    cell_int(cells, max);
    cell_int(cells, current);
}

void row_hpa(struct cells *cells, const void *object)
{
    const struct autoscaling_v2_horizontal_pod_autoscaler *hpa = object;

    cell_name(cells, object);
    cell_printf(cells, "%.*s/%.*s", STR_ARG(hpa->spec.scale_target_ref.kind), STR_ARG(hpa->spec.scale_target_ref.name));
    cell_metrics(cells, hpa);
    cell_replicas(cells, hpa->spec.min_replicas, hpa->spec.max_replicas, hpa->status.current_replicas);
    cell_object_age(cells, object);
}

void row_hpa_v1(struct cells *cells, const void *object)
{
    const struct autoscaling_v1_horizontal_pod_autoscaler *hpa = object;
    const struct str unknown = STR("<unknown>");

    cell_name(cells, object);
    cell_printf(cells, "%.*s/%.*s", STR_ARG(hpa->spec.scale_target_ref.kind), STR_ARG(hpa->spec.scale_target_ref.name));
    if (hpa->spec.target_cpu_utilization_percentage != NULL) {
        cell_printf(cells, "cpu: %.*s/%d%%",
                    STR_ARG(percent(cells->arena, hpa->status.current_cpu_utilization_percentage, unknown)),
                    *hpa->spec.target_cpu_utilization_percentage);
    } else {
        cell_str(cells, none);
    }
    cell_replicas(cells, hpa->spec.min_replicas, hpa->spec.max_replicas, hpa->status.current_replicas);
    cell_object_age(cells, object);
}

static void cell_int_or_string(struct cells *cells, const struct int_or_string *value)
{
    cell_str(cells, value != NULL ? int_or_string_format(cells->arena, value) : STR("N/A"));
}

void row_pdb(struct cells *cells, const void *object)
{
    const struct policy_v1_pod_disruption_budget *budget = object;

    cell_name(cells, object);
    cell_int_or_string(cells, budget->spec.min_available);
    cell_int_or_string(cells, budget->spec.max_unavailable);
    cell_int(cells, budget->status.disruptions_allowed);
    cell_object_age(cells, object);
}

void row_scale(struct cells *cells, const void *object)
{
    const struct autoscaling_v1_scale *scale = object;

    cell_name(cells, object);
    cell_int(cells, scale->spec.replicas);
    cell_int(cells, scale->status.replicas);
    cell_object_age(cells, object);
}
