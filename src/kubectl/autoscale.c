/* kubectl autoscale: a HorizontalPodAutoscaler for a workload. */
#include "api/autoscaling_v2.h"
#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/selection.h"

struct autoscale_options {
    int64_t min, max, cpu_percent;
    struct str name, cpu, memory;
};

static struct status *check(const struct kubectl *k, const struct autoscale_options *options)
{
    if (!flags_seen(&k->args, "max")) {
        return error_local("required flag(s) \"max\" not set");
    }
    if (options->max < 1) {
        return error_local("--max=MAXPODS is required and must be at least 1, max: %lld", (long long)options->max);
    }
    if (options->max < options->min) {
        return error_local("--max=MAXPODS must be larger or equal to --min=MINPODS, max: %lld, min: %lld",
                           (long long)options->max, (long long)options->min);
    }
    return NULL;
}

/* "70%" is a share of what pods ask for, "500m" an average amount. */
static struct status *add_metric(struct kubectl *k, const char *resource, struct str target,
                                 struct autoscaling_v2_horizontal_pod_autoscaler_spec *spec)
{
    int64_t percent;

    if (target.n == 0) {
        return NULL;
    }
    struct autoscaling_v2_metric_spec *metric = LIST_ADD(k->arena, &spec->metrics);

    metric->type = STR("Resource");
    metric->resource = ARENA_NEW(k->arena, struct autoscaling_v2_resource_metric_source);
    metric->resource->name = str_of(resource);
    if (str_has_suffix(target, STR("%"))) {
        if (!str_to_i64(str_sub(target, 0, target.n - 1), &percent) || percent < 1 || percent > INT32_MAX) {
            return error_local("invalid value for %s resource target: \"%.*s\"", resource, STR_ARG(target));
        }
        metric->resource->target.type = STR("Utilization");
        metric->resource->target.average_utilization = ARENA_NEW(k->arena, int32_t);
        *metric->resource->target.average_utilization = (int32_t)percent;
    } else {
        metric->resource->target.type = STR("AverageValue");
        metric->resource->target.average_value = ARENA_NEW(k->arena, struct quantity);
        metric->resource->target.average_value->text = target;
    }
    return NULL;
}

static struct status *autoscale_one(struct kubectl *k, const struct autoscale_options *options,
                                    const struct output *output, const struct selected *selected)
{
    struct autoscaling_v2_horizontal_pod_autoscaler *scaler =
        ARENA_NEW(k->arena, struct autoscaling_v2_horizontal_pod_autoscaler);
    struct str cpu = options->cpu_percent > 0 ? arena_printf(k->arena, "%lld%%", (long long)options->cpu_percent)
                                              : options->cpu;
    const struct kind *kind;
    struct value *target;

    TRY(api_get(k, client_path(k->arena, selected->kind, selected->namespace, selected->name, STR("")), &target));
    scaler->metadata.name = options->name.n > 0 ? options->name : selected->name;
    scaler->spec.scale_target_ref.api_version = selected->kind->api_version;
    scaler->spec.scale_target_ref.kind = selected->kind->kind;
    scaler->spec.scale_target_ref.name = selected->name;
    scaler->spec.max_replicas = (int32_t)options->max;
    if (options->min > 0) {
        scaler->spec.min_replicas = ARENA_NEW(k->arena, int32_t);
        *scaler->spec.min_replicas = (int32_t)options->min;
    }
    TRY(add_metric(k, "cpu", cpu, &scaler->spec));
    TRY(add_metric(k, "memory", options->memory, &scaler->spec));
    struct value *value = output_value_of(k, &autoscaling_v2_horizontal_pod_autoscaler_kind, scaler);

    TRY(discovery_find(k, STR("horizontalpodautoscalers.v2.autoscaling"), &kind));
    if (k->write.dry_run != DRY_RUN_CLIENT) {
        TRY(api_create(k, kind, selected->namespace, value, "kubectl-autoscale", &value));
    }
    return output_done(k, output, kind, value, scaler->metadata.name, "autoscaled", true);
}

static struct status *autoscale_run(struct kubectl *k, void *arg)
{
    struct selection selection;
    struct output output;

    TRY(output_parse(k, false, &output));
    TRY(check(k, arg));
    TRY(selection_of(k, k->args.positional.items, k->args.positional.len,
                     &(struct selection_rules){.command = "autoscale", .needs_names = true}, &selection));
    LIST_EACH(selected, &selection)
    {
        report_error(k, autoscale_one(k, arg, &output, selected));
    }
    return NULL;
}

static const struct flag autoscale_flags[] = {
    FLAG(INT, struct autoscale_options, min, "min", 0, "how few pods"),
    FLAG(INT, struct autoscale_options, max, "max", 0, "how many pods"),
    FLAG(INT, struct autoscale_options, cpu_percent, "cpu-percent", 0, "share of the requested CPU to aim at"),
    FLAG(STRING, struct autoscale_options, cpu, "cpu", 0, "the same as 70%, or an amount such as 500m"),
    FLAG(STRING, struct autoscale_options, memory, "memory", 0, "share or amount of memory to aim at"),
    FLAG(STRING, struct autoscale_options, name, "name", 0, "the autoscaler's name, if not the workload's"),
};

const struct command command_autoscale = {
    .name = "autoscale",
    .help = "Auto-scale a deployment, replica set, stateful set, or replication controller",
    .usage = "(-f FILENAME | TYPE NAME | TYPE/NAME) [--min=MINPODS] --max=MAXPODS [--cpu=CPU]",
    .uses = USES_OUTPUT | USES_FILES | USES_WRITE,
    .flags = autoscale_flags,
    .flag_count = COUNT_OF(autoscale_flags),
    .options_size = sizeof(struct autoscale_options),
    .run = autoscale_run,
};
