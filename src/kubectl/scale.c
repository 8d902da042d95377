/* kubectl scale: another count of replicas, by the scale subresource. */
#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/selection.h"

struct scale_options {
    int64_t replicas, current_replicas;
    struct str resource_version;
    bool all;
};

static struct status *scale_one(struct kubectl *k, const struct scale_options *options, const struct output *output,
                                const struct selected *selected, bool is_first)
{
    struct value *spec = value_object(k->arena), *patch = value_object(k->arena), *metadata, *scale;
    struct str path = client_path(k->arena, selected->kind, selected->namespace, selected->name, STR("scale"));

    if (options->current_replicas >= 0 || options->resource_version.n > 0) {
        TRY(api_get(k, path, &scale));
        const struct value *now = value_find_path(scale, "spec.replicas");
        int64_t count = value_is(now, VALUE_INT) ? now->integer : 0;

        if (options->current_replicas >= 0 && count != options->current_replicas) {
            return error_local("Expected replicas to be %lld, was %lld", (long long)options->current_replicas,
                               (long long)count);
        }
    }
    value_set(k->arena, spec, STR("replicas"), value_int(k->arena, options->replicas));
    value_set(k->arena, patch, STR("spec"), spec);
    if (options->resource_version.n > 0) {
        metadata = value_object(k->arena);
        value_set(k->arena, metadata, STR("resourceVersion"), value_string(k->arena, options->resource_version));
        value_set(k->arena, patch, STR("metadata"), metadata);
    }
    if (k->write.dry_run == DRY_RUN_CLIENT) {
        TRY(api_get(k, path, &scale));
    } else {
        TRY(api_patch(k, selected->kind, selected->namespace, selected->name, STR("scale"), CLIENT_PATCH_MERGE, patch,
                      "kubectl-scale", &scale));
    }
    return output_done(k, output, selected->kind, scale, selected->name, "scaled", is_first);
}

static struct status *scale_run(struct kubectl *k, void *arg)
{
    const struct scale_options *options = arg;
    struct selection selection;
    struct output output;

    TRY(output_parse(k, false, &output));
    if (!flags_seen(&k->args, "replicas")) {
        return error_local("required flag(s) \"replicas\" not set");
    }
    if (options->replicas < 0) {
        return error_local("The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0");
    }
    TRY(selection_of(k, k->args.positional.items, k->args.positional.len,
                     &(struct selection_rules){.command = "scale", .needs_names = true, .all = options->all},
                     &selection));
    TRY(selection_list(k, &selection));
    for (size_t i = 0; i < selection.len; i++) {
        report_error(k, scale_one(k, options, &output, &selection.items[i], i == 0));
    }
    if (selection.len == 0 && k->errors.len == 0) {
        return error_local("no objects passed to scale");
    }
    return NULL;
}

static void scale_defaults(struct kubectl *k, void *arg)
{
    (void)k;
    ((struct scale_options *)arg)->current_replicas = -1;
}

static const struct flag scale_flags[] = {
    FLAG(INT, struct scale_options, replicas, "replicas", 0, "the count that is wanted"),
    FLAG(INT, struct scale_options, current_replicas, "current-replicas", 0, "scale only when the count is this now"),
    FLAG(STRING, struct scale_options, resource_version, "resource-version", 0, "scale only this version"),
    FLAG(BOOL, struct scale_options, all, "all", 0, "all resources of the type in the namespace"),
    FLAG_IGNORE("timeout"),
};

const struct command command_scale = {
    .name = "scale",
    .help = "Set a new size for a deployment, replica set, or replication controller",
    .usage = "[--resource-version=version] [--current-replicas=count] --replicas=COUNT (-f FILENAME | TYPE NAME)",
    .uses = USES_OUTPUT | USES_FILES | USES_SELECTOR | USES_WRITE,
    .flags = scale_flags,
    .flag_count = COUNT_OF(scale_flags),
    .options_size = sizeof(struct scale_options),
    .defaults = scale_defaults,
    .run = scale_run,
};
