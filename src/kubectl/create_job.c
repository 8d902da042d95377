/* kubectl create job | cronjob. */
#include "api/batch_v1.h"
#include "kubectl/create.h"
#include "kubectl/discovery.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/trace.h"
#include "schema/json.h"
#include "schema/map_of.h"

struct job_options {
    struct str image, from, schedule, restart;
};

static struct status *name_before_command(struct kubectl *k, struct str *ret)
{
    size_t before = MIN(k->args.after_dashes, k->args.positional.len);

    if (before != 1) {
        return error_usage(k, "exactly one NAME is required, got %zu", before);
    }
    *ret = k->args.positional.items[0];
    return NULL;
}

static void add_container(struct kubectl *k, const struct job_options *options, struct str name,
                          struct core_v1_pod_spec *spec)
{
    struct core_v1_container *container = LIST_ADD(k->arena, &spec->containers);

    container->name = name;
    container->image = options->image;
    for (size_t i = 1; i < k->args.positional.len; i++) {
        *LIST_ADD(k->arena, &container->command) = k->args.positional.items[i];
    }
}

/* A job as the CronJob would make it, now. */
static struct status *job_of_cronjob(struct kubectl *k, const struct job_options *options, struct batch_v1_job *job)
{
    struct batch_v1_cron_job *cron = ARENA_NEW(k->arena, struct batch_v1_cron_job);
    struct str type, name;
    const struct kind *kind;
    struct value *object;

    if (!str_cut(options->from, '/', &type, &name)) {
        return error_local("from must be specified as TYPE/NAME, got %.*s", STR_ARG(options->from));
    }
    TRY(kubectl_configure(k));
    TRY(discovery_find(k, type, &kind));
    TRY(api_get(k, client_path(k->arena, kind, kubectl_namespace(k), name, STR("")), &object));
    if (!str_is(kind->kind, "CronJob")) {
        return error_local("from must be an existing cronjob");
    }
    TRY(json_decode(k->arena, &batch_v1_cron_job_type, value_json(k->arena, object), cron, NULL));
    job->metadata.annotations = cron->spec.job_template.metadata.annotations;
    job->metadata.labels = cron->spec.job_template.metadata.labels;
    str_map_set(k->arena, &job->metadata.annotations, STR("cronjob.kubernetes.io/instantiate"), STR("manual"));
    struct meta_v1_owner_reference *owner = LIST_ADD(k->arena, &job->metadata.owner_references);

    owner->api_version = STR("batch/v1");
    owner->kind = STR("CronJob");
    owner->name = cron->metadata.name;
    owner->uid = cron->metadata.uid;
    owner->controller = ARENA_NEW(k->arena, bool);
    *owner->controller = true;
    job->spec = cron->spec.job_template.spec;
    return NULL;
}

static struct status *job_run(struct kubectl *k, void *arg)
{
    const struct job_options *options = arg;
    struct batch_v1_job *job = ARENA_NEW(k->arena, struct batch_v1_job);
    int64_t start = trace_now();

    TRY(name_before_command(k, &job->metadata.name));
    if ((options->image.n == 0) == (options->from.n == 0)) {
        return error_local("either --image or --from must be specified");
    }
    if (options->from.n > 0 && k->args.positional.len > 1) {
        return error_local("cannot specify --from and command");
    }
    if (options->from.n > 0) {
        TRY(job_of_cronjob(k, options, job));
    } else {
        add_container(k, options, job->metadata.name, &job->spec.template.spec);
        job->spec.template.spec.restart_policy = STR("Never");
    }
    return create_built(k, &batch_v1_job_kind, job, start);
}

static struct status *cronjob_run(struct kubectl *k, void *arg)
{
    const struct job_options *options = arg;
    struct batch_v1_cron_job *cron = ARENA_NEW(k->arena, struct batch_v1_cron_job);
    int64_t start = trace_now();

    if (!flags_seen(&k->args, "image") || !flags_seen(&k->args, "schedule")) {
        return error_local("required flag(s) %s%s%s not set", !flags_seen(&k->args, "image") ? "\"image\"" : "",
                           !flags_seen(&k->args, "image") && !flags_seen(&k->args, "schedule") ? ", " : "",
                           !flags_seen(&k->args, "schedule") ? "\"schedule\"" : "");
    }
    TRY(name_before_command(k, &cron->metadata.name));
    cron->spec.schedule = options->schedule;
    cron->spec.job_template.metadata.name = cron->metadata.name;
    struct core_v1_pod_spec *spec = &cron->spec.job_template.spec.template.spec;

    add_container(k, options, cron->metadata.name, spec);
    spec->restart_policy = options->restart.n > 0 ? options->restart : STR("OnFailure");
    return create_built(k, &batch_v1_cron_job_kind, cron, start);
}

static const struct flag job_flags[] = {
    FLAG(STRING, struct job_options, image, "image", 0, "the container's image"),
    FLAG(STRING, struct job_options, from, "from", 0, "make it as this cronjob (cronjob/NAME) does"),
};

static const struct flag cronjob_flags[] = {
    FLAG(STRING, struct job_options, image, "image", 0, "the container's image"),
    FLAG(STRING, struct job_options, schedule, "schedule", 0, "when to run, in cron's form"),
    FLAG(STRING, struct job_options, restart, "restart", 0, "restart policy: OnFailure or Never"),
};

const struct command command_create_job = {
    .name = "job",
    .help = "Create a job with the specified name",
    .usage = "NAME --image=image [--from=cronjob/name] -- [COMMAND] [args...]",
    .uses = USES_OUTPUT | USES_WRITE,
    .flags = job_flags,
    .flag_count = COUNT_OF(job_flags),
    .options_size = sizeof(struct job_options),
    .run = job_run,
};

const struct command command_create_cronjob = {
    .name = "cronjob",
    .aliases = "cj",
    .help = "Create a cron job with the specified name",
    .usage = "NAME --image=image --schedule='0/5 * * * ?' -- [COMMAND] [args...]",
    .uses = USES_OUTPUT | USES_WRITE,
    .flags = cronjob_flags,
    .flag_count = COUNT_OF(cronjob_flags),
    .options_size = sizeof(struct job_options),
    .run = cronjob_run,
};
