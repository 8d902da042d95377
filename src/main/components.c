#include "main/components.h"

#include "main/commands.h"

/* One component's arguments as they are gathered. */
struct arguments {
    struct arena *arena;
    struct component *component;
    size_t count;
    bool is_full;
};

static void add(struct arguments *arguments, struct str argument)
{
    if (arguments->count + 1 >= COMPONENT_ARGS_MAX) {
        arguments->is_full = true;
        return;
    }
    arguments->component->argv[arguments->count++] = arena_cstr(arguments->arena, argument);
}

#define ADD(arguments, ...) add((arguments), arena_printf((arguments)->arena, __VA_ARGS__))

/* What the user adds comes last, so that it wins. */
static void add_extra(struct arguments *arguments, const struct flag_strings *extra)
{
    for (size_t i = 0; i < extra->len; i++) {
        ADD(arguments, "--%.*s", STR_ARG(extra->items[i]));
    }
}

static void add_joined(struct arguments *arguments, const char *flag, const struct flag_strings *items)
{
    struct str joined = STR("");

    for (size_t i = 0; i < items->len; i++) {
        joined = arena_printf(arguments->arena, "%.*s%s%.*s", STR_ARG(joined), i > 0 ? "," : "", STR_ARG(items->items[i]));
    }
    if (items->len > 0) {
        ADD(arguments, "--%s=%.*s", flag, STR_ARG(joined));
    }
}

static void apiserver_arguments(const struct cluster *cluster, struct arguments *to)
{
    const char *tls = cluster->places->tls.p;

    to->component->keep_fd = cluster->listen_fd;
    ADD(to, "--listen-fd=%d", cluster->listen_fd);
    ADD(to, "--bind-address=%.*s", STR_ARG(cluster->options->bind_address));
    ADD(to, "--secure-port=%d", cluster->port);
    ADD(to, "--advertise-address=%.*s", STR_ARG(cluster->advertise_address));
    ADD(to, "--data-dir=%s", cluster->places->store.p);
    ADD(to, "--trace-dir=%s", cluster->places->trace.p);
    ADD(to, "--client-ca-file=%s/ca.crt", tls);
    ADD(to, "--tls-cert-file=%s/apiserver.crt", tls);
    ADD(to, "--tls-private-key-file=%s/apiserver.key", tls);
    ADD(to, "--service-account-key-file=%s/sa.pub", tls);
    ADD(to, "--service-account-signing-key-file=%s/sa.key", tls);
    ADD(to, "--service-account-issuer=https://kubernetes.default.svc.%.*s", STR_ARG(cluster->options->cluster_domain));
    ADD(to, "--service-cluster-ip-range=%.*s", STR_ARG(cluster->options->service_cidr));
    ADD(to, "--kubelet-certificate-authority=%s/ca.crt", tls);
    ADD(to, "--kubelet-client-certificate=%s/apiserver-kubelet-client.crt", tls);
    ADD(to, "--kubelet-client-key=%s/apiserver-kubelet-client.key", tls);
    ADD(to, "--kubelet-preferred-address-types=InternalIP,Hostname");
    ADD(to, "--authorization-mode=Node,RBAC");
    ADD(to, "--enable-admission-plugins=NodeRestriction");
    if (cluster->options->token.n > 0) {
        ADD(to, "--token-auth-file=%s/tokens.csv", tls);
    }
    add_extra(to, &cluster->options->apiserver_args);
}

static void controller_manager_arguments(const struct cluster *cluster, struct arguments *to)
{
    ADD(to, "--kubeconfig=%s/controller-manager.yaml", cluster->places->kubeconfigs.p);
    ADD(to, "--service-account-private-key-file=%s/sa.key", cluster->places->tls.p);
    ADD(to, "--root-ca-file=%s/ca.crt", cluster->places->tls.p);
    ADD(to, "--allocate-node-cidrs=true");
    ADD(to, "--cluster-cidr=%.*s", STR_ARG(cluster->options->cluster_cidr));
    ADD(to, "--use-service-account-credentials=true");
    ADD(to, "--leader-elect=false");
    add_extra(to, &cluster->options->controller_manager_args);
}

static void scheduler_arguments(const struct cluster *cluster, struct arguments *to)
{
    ADD(to, "--kubeconfig=%s/scheduler.yaml", cluster->places->kubeconfigs.p);
    ADD(to, "--leader-elect=false");
    add_extra(to, &cluster->options->scheduler_args);
}

static void runtime_arguments(const struct cluster *cluster, struct arguments *to)
{
    ADD(to, "--root=%s", cluster->places->runtime.p);
    ADD(to, "--state=%s", cluster->places->run.p);
    ADD(to, "--socket=%s", cluster->places->cri_socket.p);
    ADD(to, "--cni-conf-dir=%s", cluster->places->cni_conf.p);
    ADD(to, "--cni-bin-dir=%s", cluster->places->cni_bin.p);
    ADD(to, "--cluster-cidr=%.*s", STR_ARG(cluster->options->cluster_cidr));
    if (cluster->options->registries.n > 0) {
        ADD(to, "--registries=%.*s", STR_ARG(cluster->options->registries));
    }
    add_extra(to, &cluster->options->runtime_args);
}

static void kubelet_arguments(const struct cluster *cluster, struct arguments *to)
{
    const char *tls = cluster->places->tls.p;

    ADD(to, "--kubeconfig=%s/kubelet.yaml", cluster->places->kubeconfigs.p);
    ADD(to, "--root-dir=%s", cluster->places->kubelet.p);
    ADD(to, "--container-runtime-endpoint=unix://%s", cluster->places->cri_socket.p);
    ADD(to, "--hostname-override=%.*s", STR_ARG(cluster->options->node_name));
    ADD(to, "--node-ip=%.*s", STR_ARG(cluster->node_ip));
    ADD(to, "--cluster-dns=%.*s", STR_ARG(cluster->options->cluster_dns));
    ADD(to, "--cluster-domain=%.*s", STR_ARG(cluster->options->cluster_domain));
    ADD(to, "--client-ca-file=%s/ca.crt", tls);
    ADD(to, "--tls-cert-file=%s/kubelet-serving.crt", tls);
    ADD(to, "--tls-private-key-file=%s/kubelet-serving.key", tls);
    ADD(to, "--anonymous-auth=false");
    ADD(to, "--authorization-mode=Webhook");
    add_joined(to, "node-labels", &cluster->options->node_labels);
    add_joined(to, "register-with-taints", &cluster->options->node_taints);
    add_extra(to, &cluster->options->kubelet_args);
}

/* The order is that of starting; the last started is the first to end. */
static const struct kind {
    const char *name;
    const char *option; /* its name to --disable; NULL: always there */
    bool is_root;
    void (*arguments)(const struct cluster *cluster, struct arguments *to);
} kinds[] = {
    {"apiserver", NULL, false, apiserver_arguments},
    {"cri", "runtime", true, runtime_arguments},
    {"controller-manager", "controller-manager", false, controller_manager_arguments},
    {"scheduler", "scheduler", false, scheduler_arguments},
    {"kubelet", "kubelet", true, kubelet_arguments},
};

struct status *components_of(const struct cluster *cluster, struct arena *arena,
                             struct component components[COMPONENTS_MAX], size_t *ret_count)
{
    size_t count = 0;

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const struct command *command = command_find(kinds[i].name);

        if (command == NULL || (kinds[i].option != NULL && server_options_disabled(cluster->options, kinds[i].option))) {
            continue;
        }
        uid_t uid = kinds[i].is_root ? 0 : cluster->uid;
        struct component *component = &components[count++];
        struct arguments arguments = {.arena = arena, .component = component};

        *component = (struct component){
            .name = kinds[i].name,
            .run = command->run,
            .uid = uid,
            .gid = uid,
            .box = kinds[i].is_root ? STR("") : cluster->box,
            .trace_directory = cluster->places->trace.p,
            .keep_fd = -1,
        };
        ADD(&arguments, "%s", kinds[i].name);
        kinds[i].arguments(cluster, &arguments);
        if (arguments.is_full) {
            return status_new(STATUS_CONFLICT, "more than %d arguments for %s", COMPONENT_ARGS_MAX - 1, kinds[i].name);
        }
    }
    *ret_count = count;
    return NULL;
}
