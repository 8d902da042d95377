/* kubectl create namespace | serviceaccount | deployment. */
#include "api/apps_v1.h"
#include "api/core_v1.h"
#include "kubectl/create.h"
#include "kubectl/report.h"
#include "kubectl/trace.h"
#include "schema/image_reference.h"
#include "schema/map_of.h"

static struct status *namespace_run(struct kubectl *k, void *arg)
{
    struct core_v1_namespace *namespace = ARENA_NEW(k->arena, struct core_v1_namespace);
    int64_t start = trace_now();

    (void)arg;
    TRY(create_name(k, &namespace->metadata.name));
    return create_built(k, &core_v1_namespace_kind, namespace, start);
}

const struct command command_create_namespace = {
    .name = "namespace",
    .aliases = "ns",
    .help = "Create a namespace with the specified name",
    .usage = "NAME [--dry-run=server|client|none]",
    .uses = USES_OUTPUT | USES_WRITE,
    .run = namespace_run,
};

static struct status *serviceaccount_run(struct kubectl *k, void *arg)
{
    struct core_v1_service_account *account = ARENA_NEW(k->arena, struct core_v1_service_account);
    int64_t start = trace_now();

    (void)arg;
    TRY(create_name(k, &account->metadata.name));
    return create_built(k, &core_v1_service_account_kind, account, start);
}

const struct command command_create_serviceaccount = {
    .name = "serviceaccount",
    .aliases = "sa",
    .help = "Create a service account with the specified name",
    .usage = "NAME [--dry-run=server|client|none]",
    .uses = USES_OUTPUT | USES_WRITE,
    .run = serviceaccount_run,
};

struct deployment_options {
    struct flag_strings images;
    int64_t port, replicas;
};

/* A container is called after its image: without registry, path, tag and digest. */
static struct str container_name(struct kubectl *k, struct str image)
{
    struct str name = str_from(image, str_last_index(image, '/') == SIZE_MAX ? 0 : str_last_index(image, '/') + 1);
    OWNED(buf_done) struct buf out = {0};

    name = str_sub(name, 0, MIN(str_index(name, ':'), MIN(str_index(name, '@'), name.n)));
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];

        buf_add_char(&out, c == '_' || c == '.' ? '-' : c);
    }
    return arena_str(k->arena, buf_str(&out));
}

static struct status *add_containers(struct kubectl *k, const struct deployment_options *options,
                                     struct core_v1_pod_spec *spec)
{
    LIST_EACH(image, &options->images)
    {
        struct core_v1_container *container = LIST_ADD(k->arena, &spec->containers);
        struct image_reference reference;
        struct status *status = image_reference_parse(k->arena, *image, &reference);

        if (status != NULL) {
            struct status *bad =
                error_local("Invalid image name \"%.*s\": %.*s", STR_ARG(*image), STR_ARG(status->message));

            status_free(status);
            return bad;
        }
        container->name = container_name(k, *image);
        container->image = *image;
    }
    if (options->port >= 0 && spec->containers.len > 0) {
        *LIST_ADD(k->arena, &spec->containers.items[0].ports) =
            (struct core_v1_container_port){.container_port = (int32_t)options->port};
    }
    for (size_t i = 1; i < k->args.positional.len; i++) {
        *LIST_ADD(k->arena, &spec->containers.items[0].command) = k->args.positional.items[i];
    }
    return NULL;
}

static struct status *deployment_build(struct kubectl *k, const struct deployment_options *options,
                                       struct apps_v1_deployment *deployment)
{
    struct str name = k->args.positional.len > 0 ? k->args.positional.items[0] : STR("");
    struct str_map labels = {0};

    if (name.n == 0 || k->args.after_dashes == 0 || MIN(k->args.after_dashes, k->args.positional.len) != 1) {
        return error_usage(k, "exactly one NAME is required, got %zu",
                           MIN(k->args.after_dashes, k->args.positional.len));
    }
    if (!flags_seen(&k->args, "image")) {
        return error_local("required flag(s) \"image\" not set");
    }
    if (options->images.len > 1 && k->args.positional.len > 1) {
        return error_local("cannot specify multiple --image options and command");
    }
    str_map_set(k->arena, &labels, STR("app"), name);
    deployment->metadata.name = name;
    deployment->metadata.labels = labels;
    deployment->spec.replicas = ARENA_NEW(k->arena, int32_t);
    *deployment->spec.replicas = (int32_t)options->replicas;
    deployment->spec.selector = ARENA_NEW(k->arena, struct meta_v1_label_selector);
    deployment->spec.selector->match_labels = labels;
    deployment->spec.template.metadata.labels = labels;
    return add_containers(k, options, &deployment->spec.template.spec);
}

static struct status *deployment_run(struct kubectl *k, void *arg)
{
    struct apps_v1_deployment *deployment = ARENA_NEW(k->arena, struct apps_v1_deployment);
    int64_t start = trace_now();
    struct status *status = deployment_build(k, arg, deployment);

    trace_step(k, TRACE_CLIENT_VALIDATION, start, status, "name, images and flags are good");
    TRY(status);
    return create_built(k, &apps_v1_deployment_kind, deployment, start);
}

static void deployment_defaults(struct kubectl *k, void *arg)
{
    struct deployment_options *options = arg;

    (void)k;
    options->port = -1;
    options->replicas = 1;
}

static const struct flag deployment_flags[] = {
    FLAG(STRINGS, struct deployment_options, images, "image", 0, "the containers' images"),
    FLAG(INT, struct deployment_options, port, "port", 0, "port that the first container listens on"),
    FLAG(INT, struct deployment_options, replicas, "replicas", 'r', "how many pods"),
};

const struct command command_create_deployment = {
    .name = "deployment",
    .aliases = "deploy",
    .help = "Create a deployment with the specified name",
    .usage = "NAME --image=image -- [COMMAND] [args...]",
    .uses = USES_OUTPUT | USES_WRITE,
    .flags = deployment_flags,
    .flag_count = COUNT_OF(deployment_flags),
    .options_size = sizeof(struct deployment_options),
    .defaults = deployment_defaults,
    .run = deployment_run,
};
