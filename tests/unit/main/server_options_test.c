#include "main/server_options.h"

#include "main/components.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct status *parse(char **argv, struct arena *arena, struct server_options *ret)
{
    int argc = 0;
    bool wants_help;

    while (argv[argc] != NULL) {
        argc++;
    }
    return server_options_parse(argc, argv, arena, ret, &wants_help);
}

#define ARGS(...) ((char *[]){(char *)"server", ##__VA_ARGS__, NULL})

TEST("main/server_options/has defaults for all, and the host's name for the node")
{
    struct arena *arena = arena_new();
    struct server_options options;

    CHECK_OK(parse(ARGS(), arena, &options));
    CHECK_STR(options.data_dir, "/var/lib/c8s");
    CHECK_INT(options.port, 6443);
    CHECK_STR(options.cluster_cidr, "10.42.0.0/16");
    CHECK(options.node_name.n > 0);
    CHECK(!server_options_disabled(&options, "kubelet"));
    arena_free(arena);
}

TEST("main/server_options/names the flag at fault")
{
    static const struct {
        const char *argument, *error;
    } rows[] = {
        {"--https-listen-port=70000", "--https-listen-port: 70000 is not between 0 and 65535"},
        {"--data-dir=relative", "--data-dir: \"relative\" is not an absolute path"},
        {"--bind-address=localhost", "--bind-address: \"localhost\" is not an IP address"},
        {"--cluster-cidr=10.0.0.0", "--cluster-cidr: \"10.0.0.0\" is not a CIDR"},
        {"--cluster-dns=10.42.0.10", "--cluster-dns: 10.42.0.10 is not in the service CIDR 10.43.0.0/16"},
        {"--disable=scheduler,nothing", "--disable: \"nothing\" is none of"},
        {"--config=/nonexistent/c8s.yaml", "--config /nonexistent/c8s.yaml"},
        {"--no-such-flag", "no-such-flag"},
        {"stray", "unknown argument \"stray\""},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_new();
        struct server_options options;
        char argument[64];

        snprintf(argument, sizeof(argument), "%s", rows[i].argument);
        CHECK_ERROR(parse(ARGS(argument), arena, &options), rows[i].error);
        arena_free(arena);
    }
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    CHECK(file != NULL);
    fputs(text, file);
    fclose(file);
}

TEST("main/server_options/takes a configuration file, before which the arguments go")
{
    struct arena *arena = arena_new();
    struct server_options options;
    char path[] = "/tmp/c8s-config-XXXXXX", config[64], port[] = "--https-listen-port=7443";
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    close(fd);
    snprintf(config, sizeof(config), "--config=%s", path);
    write_text(path, "https-listen-port: 1\ndisable-agent: true\ndisable: [scheduler]\ntls-san:\n- a.example\n- 10.0.0.1\n");
    CHECK_OK(parse(ARGS(config, port), arena, &options));
    CHECK_INT(options.port, 7443);
    CHECK(options.disable_agent);
    CHECK_INT(options.tls_sans.len, 2);
    CHECK(server_options_disabled(&options, "scheduler"));
    CHECK(server_options_disabled(&options, "runtime"));
    CHECK(!server_options_disabled(&options, "controller-manager"));

    write_text(path, "https-listen-port: {a: b}\n");
    CHECK_ERROR(parse(ARGS(config), arena, &options), "\"https-listen-port\" is a object");
    write_text(path, "- a\n");
    CHECK_ERROR(parse(ARGS(config), arena, &options), "a mapping of flags to values is wanted");
    unlink(path);
    arena_free(arena);
}

static const struct component *find(const struct component *components, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(components[i].name, name) == 0) {
            return &components[i];
        }
    }
    return NULL;
}

static bool has_argument(const struct component *component, const char *wanted)
{
    for (size_t i = 0; component->argv[i] != NULL; i++) {
        if (strcmp(component->argv[i], wanted) == 0) {
            return true;
        }
    }
    return false;
}

TEST("main/components/give the API server its socket, and what the user adds last")
{
    struct arena *arena = arena_new();
    struct server_options options;
    char agent[] = "--disable-agent", extra[] = "--kube-apiserver-arg=anonymous-auth=false";
    struct component components[COMPONENTS_MAX];
    size_t count;

    CHECK_OK(parse(ARGS(agent, extra), arena, &options));
    struct places places = places_of(arena, options.data_dir);
    struct cluster cluster = {.options = &options, .places = &places, .port = 6443, .listen_fd = 5, .uid = 77};

    CHECK_OK(components_of(&cluster, arena, components, &count));
    const struct component *apiserver = find(components, count, "apiserver");

    CHECK(apiserver != NULL);
    CHECK_INT(apiserver->keep_fd, 5);
    CHECK_INT(apiserver->uid, 77);
    CHECK(has_argument(apiserver, "--listen-fd=5"));
    CHECK(has_argument(apiserver, "--anonymous-auth=false"));
    CHECK(find(components, count, "kubelet") == NULL);
    CHECK(find(components, count, "cri") == NULL);
    arena_free(arena);
}

TEST("main/server_options/keeps a server's arguments for whoever ends it")
{
    struct arena *arena = arena_new();
    char path[] = "/tmp/c8s-arguments-XXXXXX", one[] = "--node-name=a b", two[] = "--runtime-arg=x", three[] = "-d/d";
    int fd = mkstemp(path), argc;
    char **argv;

    CHECK(fd >= 0);
    close(fd);
    CHECK_OK(server_arguments_keep(path, 3, ARGS(one, two)));
    CHECK_OK(server_arguments_join(path, 2, ARGS(three), arena, &argc, &argv));
    CHECK_INT(argc, 4);
    CHECK_STR(str_of(argv[0]), "server");
    CHECK_STR(str_of(argv[1]), "--node-name=a b");
    CHECK_STR(str_of(argv[2]), "--runtime-arg=x");
    CHECK_STR(str_of(argv[3]), "-d/d");
    unlink(path);
    CHECK_OK(server_arguments_join(path, 2, ARGS(three), arena, &argc, &argv));
    CHECK_INT(argc, 2);
    arena_free(arena);
}
