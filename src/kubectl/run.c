/* kubectl run: a pod of one container, or with --replicas a Deployment of such pods. */
#include "api/apps_v1.h"
#include "api/core_v1.h"
#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/trace.h"
#include "kubectl/discovery.h"
#include "schema/image_reference.h"
#include "schema/map_of.h"
#include "schema/names.h"

struct run_options {
    struct str image, port, restart, image_pull_policy;
    struct flag_strings env, labels, annotations;
    int64_t replicas, grace_period;
    bool command, interactive, tty, attach, remove, expose, quiet, privileged;
};

static struct status *invalid(const char *kind, struct str group, struct str name, const char *field,
                              const char *format, ...) PRINTF_LIKE(5, 6);

/* What the server would say, said before it is asked. */
static struct status *invalid(const char *kind, struct str group, struct str name, const char *field,
                              const char *format, ...)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    va_list args;

    va_start(args, format);
    struct str message = arena_vprintf(arena, format, args);

    va_end(args);
    struct status *status = status_new(STATUS_INVALID, "%s \"%.*s\" is invalid: %s: %.*s", kind, STR_ARG(name), field,
                                       STR_ARG(message));

    status_about(status, group, str_of(kind), name);
    status_add_cause(status, STR("FieldValueInvalid"), str_of(field), "%.*s", STR_ARG(message));
    status->code |= REPORT_FROM_SERVER;
    return status;
}

static struct status *check_names(struct kubectl *k, const struct run_options *options, struct str name)
{
    bool is_deployment = flags_seen(&k->args, "replicas");
    const char *kind = is_deployment ? "Deployment" : "Pod";
    struct name_errors errors = {0};

    if (!name_is_dns1123_subdomain(name, &errors)) {
        return invalid(kind, is_deployment ? STR("apps") : STR(""), name, "metadata.name",
                       "Invalid value: \"%.*s\": %.*s", STR_ARG(name), STR_ARG(errors.items[0]));
    }
    if (options->replicas < 0) {
        return invalid(kind, STR("apps"), name, "spec.replicas",
                       "Invalid value: %lld: must be greater than or equal to 0", (long long)options->replicas);
    }
    if (options->replicas > INT32_MAX) {
        return error_local("--replicas=%lld is more than a Deployment can have (%d)", (long long)options->replicas,
                           INT32_MAX);
    }
    return NULL;
}

static struct status *check(struct kubectl *k, const struct run_options *options, struct str name)
{
    struct image_reference reference;
    struct str restart = options->restart;

    if (!flags_seen(&k->args, "image")) {
        return error_local("required flag(s) \"image\" not set");
    }
    if (options->image.n == 0) {
        return error_local("--image is required");
    }
    struct status *status = image_reference_parse(k->arena, options->image, &reference);

    if (status != NULL) {
        status_free(status); /* stock says no more than this */
        return error_local("Invalid image name \"%.*s\": invalid reference format", STR_ARG(options->image));
    }
    if (!str_is(restart, "Always") && !str_is(restart, "OnFailure") && !str_is(restart, "Never")) {
        return error_usage(k, "invalid restart policy: %.*s", STR_ARG(restart));
    }
    if (options->remove && !options->attach && !options->interactive) {
        return error_usage(k, "--rm should only be used for attached containers");
    }
    if (options->tty && !options->interactive) {
        return error_local("-i/--stdin is required for containers with -t/--tty=true");
    }
    if (options->attach || options->remove || options->interactive) {
        return error_local("attaching to what is run is not supported yet; use `kubectl exec` or `kubectl logs`");
    }
    return check_names(k, options, name);
}

/* "KEY=VALUE" each. */
static struct status *parse_map(struct kubectl *k, const struct flag_strings *pairs, const char *what,
                                struct str_map *ret)
{
    LIST_EACH(pair, pairs)
    {
        struct str key, value;

        if (!str_cut(*pair, '=', &key, &value) || key.n == 0) {
            return error_local("unexpected %s: %.*s", what, STR_ARG(*pair));
        }
        str_map_set(k->arena, ret, key, value);
    }
    return NULL;
}

static struct status *add_env(struct kubectl *k, const struct run_options *options, struct core_v1_container *container)
{
    LIST_EACH(pair, &options->env)
    {
        struct str name, value;

        if (!str_cut(*pair, '=', &name, &value) || name.n == 0 || !name_is_relaxed_env_var(name, NULL)) {
            return error_local("invalid env: %.*s", STR_ARG(*pair));
        }
        *LIST_ADD(k->arena, &container->env) = (struct core_v1_env_var){.name = name, .value = value};
    }
    return NULL;
}

static struct status *fill_container(struct kubectl *k, const struct run_options *options, struct str name,
                                     struct core_v1_container *container)
{
    int64_t port;

    container->name = name;
    container->image = options->image;
    container->image_pull_policy = options->image_pull_policy;
    container->stdin = options->interactive;
    container->tty = options->tty;
    TRY(add_env(k, options, container));
    if (options->port.n > 0) {
        if (!str_to_i64(options->port, &port)) {
            return error_local("invalid port: strconv.ParseInt: parsing \"%.*s\": invalid syntax", STR_ARG(options->port));
        }
        *LIST_ADD(k->arena, &container->ports) = (struct core_v1_container_port){.container_port = (int32_t)port};
    }
    for (size_t i = 1; i < k->args.positional.len; i++) {
        struct str word = k->args.positional.items[i];

        if (options->command) {
            *LIST_ADD(k->arena, &container->command) = word;
        } else {
            *LIST_ADD(k->arena, &container->args) = word;
        }
    }
    if (options->privileged) {
        container->security_context = ARENA_NEW(k->arena, struct core_v1_security_context);
        container->security_context->privileged = ARENA_NEW(k->arena, bool);
        *container->security_context->privileged = true;
    }
    return NULL;
}

static struct status *make_pod(struct kubectl *k, const struct run_options *options, struct str name,
                               const struct str_map *labels, struct core_v1_pod *pod)
{
    struct core_v1_container container = {0};

    TRY(fill_container(k, options, name, &container));
    *LIST_ADD(k->arena, &pod->spec.containers) = container;
    pod->metadata.name = name;
    pod->metadata.labels = *labels;
    TRY(parse_map(k, &options->annotations, "annotations", &pod->metadata.annotations));
    pod->spec.dns_policy = STR("ClusterFirst");
    pod->spec.restart_policy = options->restart;
    return NULL;
}

static struct apps_v1_deployment *make_deployment(struct kubectl *k, const struct run_options *options,
                                                  const struct core_v1_pod *pod)
{
    struct apps_v1_deployment *deployment = ARENA_NEW(k->arena, struct apps_v1_deployment);

    deployment->metadata.name = pod->metadata.name;
    deployment->metadata.labels = pod->metadata.labels;
    deployment->spec.replicas = ARENA_NEW(k->arena, int32_t);
    *deployment->spec.replicas = (int32_t)options->replicas;
    deployment->spec.selector = ARENA_NEW(k->arena, struct meta_v1_label_selector);
    deployment->spec.selector->match_labels = pod->metadata.labels;
    deployment->spec.template.metadata.labels = pod->metadata.labels;
    deployment->spec.template.metadata.annotations = pod->metadata.annotations;
    deployment->spec.template.spec = pod->spec;
    /* What the server adds by itself is left to it. */
    deployment->spec.template.spec.dns_policy = STR("");
    deployment->spec.template.spec.restart_policy = STR("");
    return deployment;
}

static struct status *build(struct kubectl *k, const struct run_options *options, struct str name,
                            const struct kind **ret_kind, struct value **ret)
{
    struct core_v1_pod *pod = ARENA_NEW(k->arena, struct core_v1_pod);
    struct str_map labels = {0};

    if (options->labels.is_set) {
        TRY(parse_map(k, &options->labels, "label", &labels));
    } else {
        str_map_set(k->arena, &labels, STR("run"), name);
    }
    TRY(make_pod(k, options, name, &labels, pod));
    bool is_deployment = flags_seen(&k->args, "replicas");

    if (is_deployment && !str_is(options->restart, "Always")) {
        return error_usage(k, "--replicas needs --restart=Always: a Deployment restarts its pods");
    }
    *ret_kind = is_deployment ? &apps_v1_deployment_kind : &core_v1_pod_kind;
    *ret = output_value_of(k, *ret_kind, is_deployment ? (void *)make_deployment(k, options, pod) : pod);
    return NULL;
}

/* Finds the resource in what the server has, so that a server without it is told here. */
static struct status *create(struct kubectl *k, const struct kind *kind, struct value **object)
{
    const struct kind *served;

    TRY(discovery_find_kind(k, kind->api_version, kind->kind, &served));
    if (served == NULL) {
        return error_local("no matches for kind \"%.*s\" in version \"%.*s\"", STR_ARG(kind->kind),
                           STR_ARG(kind->api_version));
    }
    TRY(api_create(k, served, kubectl_namespace(k), *object, "kubectl-run", object));
    trace_object(k, served, *object);
    return NULL;
}

static struct status *run_run(struct kubectl *k, void *arg)
{
    const struct run_options *options = arg;
    struct output output;
    const struct kind *kind = NULL;
    struct value *object = NULL;
    struct str name = k->args.positional.len > 0 ? k->args.positional.items[0] : STR("");

    if (name.n == 0) {
        return error_usage(k, "NAME is required for run");
    }
    TRY(output_parse(k, false, &output));
    int64_t start = trace_now();
    struct status *status = check(k, options, name);

    trace_step(k, TRACE_CLIENT_VALIDATION, start, status, "names, image and flags are good");
    TRY(status);
    start = trace_now();
    status = build(k, options, name, &kind, &object);
    trace_step(k, TRACE_RUNTIME_OBJECT, start, status, "%.*s", STR_ARG(kind != NULL ? kind->kind : STR("")));
    TRY(status);
    if (k->write.dry_run != DRY_RUN_CLIENT) {
        TRY(create(k, kind, &object));
    } else {
        TRY(kubectl_configure(k));
        if (k->config.namespace.n > 0 && k->flags.config.namespace.n > 0) {
            value_set(k->arena, value_find(object, STR("metadata")), STR("namespace"),
                      value_string(k->arena, k->config.namespace));
        }
    }
    return output_done(k, &output, kind, object, name, "created", true);
}

static void run_defaults(struct kubectl *k, void *arg)
{
    struct run_options *options = arg;

    (void)k;
    options->replicas = 1;
    options->restart = STR("Always");
    options->grace_period = -1;
}

static const struct flag run_flags[] = {
    FLAG(STRING, struct run_options, image, "image", 0, "the container's image"),
    FLAG(INT, struct run_options, replicas, "replicas", 'r', "make a Deployment with so many pods"),
    FLAG(STRING, struct run_options, port, "port", 0, "port that the container listens on"),
    FLAG(ARRAY, struct run_options, env, "env", 0, "NAME=VALUE for the container; may be repeated"),
    FLAG(STRINGS, struct run_options, labels, "labels", 'l', "labels instead of run=NAME"),
    FLAG(ARRAY, struct run_options, annotations, "annotations", 0, "annotations of the pod"),
    FLAG(BOOL, struct run_options, command, "command", 0, "the words after NAME are the command, not its arguments"),
    FLAG(STRING, struct run_options, restart, "restart", 0, "restart policy: Always, OnFailure, Never"),
    FLAG(STRING, struct run_options, image_pull_policy, "image-pull-policy", 0, "when to pull the image"),
    FLAG(BOOL, struct run_options, interactive, "stdin", 'i', "keep standard input open"),
    FLAG(BOOL, struct run_options, tty, "tty", 't', "allocate a terminal"),
    FLAG(BOOL, struct run_options, attach, "attach", 0, "attach to the container once it runs"),
    FLAG(BOOL, struct run_options, remove, "rm", 0, "delete the pod after it exits"),
    FLAG(BOOL, struct run_options, quiet, "quiet", 'q', "print less"),
    FLAG(BOOL, struct run_options, privileged, "privileged", 0, "run the container privileged"),
    FLAG(INT, struct run_options, grace_period, "grace-period", 0, "seconds to end in when --rm deletes the pod"),
    FLAG_IGNORE_BOOL("leave-stdin-open"),
    FLAG_IGNORE("pod-running-timeout"),
};

const struct command command_run = {
    .name = "run",
    .help = "Run a particular image on the cluster",
    .usage = "NAME --image=image [--env=\"key=value\"] [--port=port] [--replicas=n] [--dry-run=server|client] [--command] "
             "-- [COMMAND] [args...]",
    .uses = USES_OUTPUT | USES_WRITE,
    .flags = run_flags,
    .flag_count = COUNT_OF(run_flags),
    .options_size = sizeof(struct run_options),
    .defaults = run_defaults,
    .run = run_run,
};
