#include "main/server.h"

#include "base/file.h"
#include "base/log.h"
#include "main/box.h"
#include "main/components.h"
#include "main/kubeconfig_file.h"
#include "main/node_address.h"
#include "main/pki.h"
#include "net/event_loop.h"
#include "net/socket.h"
#include "schema/ip.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The user that components without need of power run as: a number that no package takes, so that nothing else is theirs. */
#define COMPONENT_UID 6443

/* A sanitizer looks for leaks by means that the box refuses. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

/* The socket is made here, not by the API server, so that it is there from the first moment and while that restarts. */
static struct status *listen_at(struct cluster *cluster, struct arena *arena)
{
    const struct server_options *options = cluster->options;
    bool is_six = str_index(options->bind_address, ':') != SIZE_MAX;
    struct listener *listener;

    struct str address = arena_printf(arena, "%s%.*s%s:%lld", is_six ? "[" : "", STR_ARG(options->bind_address),
                                      is_six ? "]" : "", (long long)options->port);

    TRY(listener_open(address, 0, &listener));
    cluster->port = listener_port(listener);
    cluster->listen_fd = listener_release(listener);
    return NULL;
}

/* The first address of the service CIDR: that of the service "kubernetes". */
static struct str first_service_address(struct arena *arena, struct str cidr_text)
{
    struct cidr cidr;

    if (!cidr_parse(cidr_text, &cidr)) {
        return STR("127.0.0.1");
    }
    cidr = cidr_masked(&cidr);
    cidr.ip.bytes[cidr.ip.length - 1] |= 1;
    return ip_format(arena, &cidr.ip);
}

static struct status *give(const char *directory, const char *name, struct arena *arena, uid_t uid)
{
    struct str path = pki_path(arena, directory, name);

    if (uid != 0 && chown(path.p, uid, uid) != 0) {
        return status_errno(errno, "giving %s to user %u", path.p, uid);
    }
    return NULL;
}

static struct status *make_certificates(const struct cluster *cluster, struct arena *arena)
{
    const struct server_options *options = cluster->options;
    struct pki_options pki = {
        .directory = cluster->places->tls.p,
        .node_name = options->node_name,
        .has_node = !options->disable_agent,
    };
    static const char *const keys[] = {"apiserver.key", "sa.key", "apiserver-kubelet-client.key"};
    struct str names[] = {
        STR("kubernetes"),
        STR("kubernetes.default"),
        STR("kubernetes.default.svc"),
        arena_printf(arena, "kubernetes.default.svc.%.*s", STR_ARG(options->cluster_domain)),
        first_service_address(arena, options->service_cidr),
        options->node_name,
        cluster->node_ip,
        cluster->advertise_address,
    };

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        *LIST_ADD(arena, &pki.server_names) = names[i];
    }
    for (size_t i = 0; i < options->tls_sans.len; i++) {
        *LIST_ADD(arena, &pki.server_names) = options->tls_sans.items[i];
    }
    *LIST_ADD(arena, &pki.node_names) = options->node_name;
    *LIST_ADD(arena, &pki.node_names) = cluster->node_ip;
    TRY(pki_ensure(&pki));
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        TRY(give(pki.directory, keys[i], arena, cluster->uid));
    }
    if (options->token.n > 0) {
        struct str line = arena_printf(arena, "%.*s,admin,admin,\"system:masters\"\n", STR_ARG(options->token));

        TRY(file_write(pki_path(arena, pki.directory, "tokens.csv").p, line, 0600));
        return give(pki.directory, "tokens.csv", arena, cluster->uid);
    }
    return NULL;
}

/* Where this machine's own clients reach the server. */
static struct str local_url(const struct cluster *cluster, struct arena *arena)
{
    struct str address = cluster->options->bind_address;

    if (str_is(address, "0.0.0.0")) {
        address = STR("127.0.0.1");
    } else if (str_is(address, "::")) {
        address = STR("::1");
    }
    bool is_six = str_index(address, ':') != SIZE_MAX;

    return arena_printf(arena, "https://%s%.*s%s:%d", is_six ? "[" : "", STR_ARG(address), is_six ? "]" : "", cluster->port);
}

static struct status *write_kubeconfigs(const struct cluster *cluster, struct arena *arena)
{
    static const struct {
        const char *client;
        bool is_root;
    } clients[] = {{"controller-manager", false}, {"scheduler", false}, {"kubelet", true}};
    const struct server_options *options = cluster->options;
    struct kubeconfig_file file = {.server = local_url(cluster, arena), .tls = cluster->places->tls.p};
    struct str admin = options->write_kubeconfig.n > 0 ? options->write_kubeconfig : cluster->places->kubeconfig;

    for (size_t i = 0; i < COUNT_OF(clients); i++) {
        if (clients[i].is_root && options->disable_agent) {
            continue;
        }
        file.client = clients[i].client;
        file.name = str_of(file.client);
        file.path = arena_printf(arena, "%s/%s.yaml", cluster->places->kubeconfigs.p, file.client).p;
        file.mode = 0600;
        file.uid = clients[i].is_root ? 0 : cluster->uid;
        TRY(kubeconfig_file_write(arena, &file));
    }
    file.client = "admin";
    file.name = STR("default");
    file.path = arena_cstr(arena, admin);
    file.mode = (mode_t)strtoul(arena_cstr(arena, options->write_kubeconfig_mode), NULL, 8) & 0777;
    file.uid = 0;
    return kubeconfig_file_write(arena, &file);
}

static struct status *make_files(const struct cluster *cluster, struct arena *arena)
{
    TRY(make_certificates(cluster, arena));
    return write_kubeconfigs(cluster, arena);
}

static void report(struct status *status)
{
    fprintf(stderr, "c8s server: %.*s\n", STR_ARG(status->message));
    status_free(status);
}

/* Certificates want the time and random numbers, which come from an event loop. That is made in a child: the library
 * under it keeps descriptors of its own, which it closes again in whatever is forked later, by numbers that mean something
 * else by then. */
static bool prepare(const struct cluster *cluster, struct arena *arena)
{
    int ended = 1;
    pid_t pid = fork();

    if (pid == 0) {
        struct env *env = event_loop_new();
        struct status *status = make_files(cluster, arena);

        event_loop_free(env);
        if (status != NULL) {
            report(status);
            _exit(1);
        }
        _exit(0);
    }
    return pid > 0 && waitpid(pid, &ended, 0) == pid && ended == 0;
}

static struct status *serve(const struct server_options *options, int argc, char **argv, struct arena *arena)
{
    struct places places = places_of(arena, options->data_dir);
    struct cluster cluster = {.options = options, .places = &places, .uid = geteuid() == 0 ? COMPONENT_UID : 0};
    struct component components[COMPONENTS_MAX];
    size_t count;
    int lock_fd;

    if (geteuid() != 0 && !options->disable_agent) {
        return status_new(STATUS_FORBIDDEN, "running containers needs root; --disable-agent runs the control plane alone");
    }
    TRY(places_make(&places, cluster.uid, !options->disable_agent));
    TRY(places_lock(&places, &lock_fd));
    TRY(server_arguments_keep(places.arguments.p, argc, argv));
    TRY(listen_at(&cluster, arena));
    cluster.node_ip = options->node_ip.n > 0 ? options->node_ip : node_address(arena);
    cluster.advertise_address = options->advertise_address.n > 0 ? options->advertise_address : cluster.node_ip;
    if (!prepare(&cluster, arena)) {
        return status_new(STATUS_INTERNAL_ERROR, "certificates and kubeconfigs can't be made");
    }
    if (!IS_SANITIZED) {
        TRY(box_make(arena, &cluster.box));
    }
    TRY(components_of(&cluster, arena, components, &count));
    log_info("serving %.*s on port %d", STR_ARG(places.data), cluster.port);
    return supervisor_run(components, count) == 0 ? NULL : status_new(STATUS_INTERNAL_ERROR, "the supervisor failed");
}

int server_main(int argc, char **argv)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct server_options options;
    bool wants_help = false;
    struct status *status = server_options_parse(argc, argv, arena, &options, &wants_help);

    log_component("server");
    if (status == NULL && wants_help) {
        printf("Runs a cluster on this machine: API server, controllers, scheduler, kubelet and container runtime.\n\n"
               "Usage: c8s server [FLAGS]\n\n%.*s", STR_ARG(server_options_usage(arena)));
        return 0;
    }
    if (status == NULL) {
        log_level(options.verbosity >= 4 ? LOG_DEBUG : LOG_INFO);
        status = serve(&options, argc, argv, arena);
    }
    if (status != NULL) {
        report(status);
        return 1;
    }
    return 0;
}
