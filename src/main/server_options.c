#include "main/server_options.h"

#include "base/file.h"
#include "main/places.h"
#include "schema/ip.h"
#include "schema/yaml.h"

#include <ctype.h>
#include <unistd.h>

enum { CONFIG_MAX = 1 << 20, NAME_MAX_BYTES = 253 };

#define OPTION(kind, member, name, shorthand, help) FLAG(kind, struct server_options, member, name, shorthand, help)

static const struct flag table[] = {
    OPTION(STRING, data_dir, "data-dir", 'd', "directory of all state"),
    OPTION(INT, port, "https-listen-port", 0, "port of the API server; 0 picks one, which the kubeconfig tells"),
    OPTION(STRING, bind_address, "bind-address", 0, "address the API server listens on"),
    OPTION(STRING, advertise_address, "advertise-address", 0, "address others reach the API server at"),
    OPTION(STRINGS, tls_sans, "tls-san", 0, "more names of the API server in its certificate"),
    OPTION(STRING, write_kubeconfig, "write-kubeconfig", 'o', "file for the administrator's kubeconfig"),
    OPTION(STRING, write_kubeconfig_mode, "write-kubeconfig-mode", 0, "its mode, octal"),
    OPTION(STRING, token, "token", 't', "a bearer token that is an administrator"),
    OPTION(STRING, node_name, "node-name", 0, "name of this node"),
    OPTION(STRING, node_ip, "node-ip", 'i', "address of this node"),
    OPTION(ARRAY, node_labels, "node-label", 0, "labels of this node"),
    OPTION(ARRAY, node_taints, "node-taint", 0, "taints of this node"),
    OPTION(STRING, cluster_cidr, "cluster-cidr", 0, "addresses of pods"),
    OPTION(STRING, service_cidr, "service-cidr", 0, "addresses of services"),
    OPTION(STRING, cluster_dns, "cluster-dns", 0, "address of the DNS service"),
    OPTION(STRING, cluster_domain, "cluster-domain", 0, "DNS domain of the cluster"),
    OPTION(BOOL, disable_agent, "disable-agent", 0, "control plane only: no kubelet, no runtime, no root needed"),
    OPTION(STRINGS, disable, "disable", 0, "components to leave out: " SERVER_COMPONENTS),
    OPTION(STRING, registries, "private-registry", 0, "file of image registry mirrors and credentials"),
    OPTION(ARRAY, apiserver_args, "kube-apiserver-arg", 0, "a flag of the API server, as name=value"),
    OPTION(ARRAY, controller_manager_args, "kube-controller-manager-arg", 0, "a flag of the controller manager"),
    OPTION(ARRAY, scheduler_args, "kube-scheduler-arg", 0, "a flag of the scheduler"),
    OPTION(ARRAY, kubelet_args, "kubelet-arg", 0, "a flag of the kubelet"),
    OPTION(ARRAY, runtime_args, "runtime-arg", 0, "a flag of the container runtime"),
    OPTION(STRING, config, "config", 'c', "YAML file with these flags as keys"),
    OPTION(INT, verbosity, "v", 'v', "log verbosity: 4 and above show debug lines"),
};

static struct server_options defaults(void)
{
    return (struct server_options){
        .data_dir = STR(DEFAULT_DATA_DIR),
        .port = 6443,
        .bind_address = STR("0.0.0.0"),
        .write_kubeconfig_mode = STR("0600"),
        .cluster_cidr = STR("10.42.0.0/16"),
        .service_cidr = STR("10.43.0.0/16"),
        .cluster_dns = STR("10.43.0.10"),
        .cluster_domain = STR("cluster.local"),
    };
}

/* The file's members as arguments: "name: value" is --name=value, a list is the flag several times. */
static struct status *config_arguments(const struct value *config, struct arena *arena, struct str_list *ret)
{
    VALUE_EACH_MEMBER(member, config)
    {
        struct value *one[] = {member->value};
        struct value **items = one;
        size_t count = 1;

        if (value_is(member->value, VALUE_ARRAY)) {
            items = member->value->array.items;
            count = member->value->array.len;
        }
        for (size_t i = 0; i < count; i++) {
            struct str text;

            switch (items[i]->type) {
            case VALUE_STRING:
                text = items[i]->string;
                break;
            case VALUE_INT:
                text = arena_printf(arena, "%lld", (long long)items[i]->integer);
                break;
            case VALUE_BOOL:
                text = items[i]->boolean ? STR("true") : STR("false");
                break;
            default:
                return status_new(STATUS_BAD_REQUEST, "\"%.*s\" is a %s; a string, a whole number, true, false or a list of "
                                  "those is wanted", STR_ARG(member->key), value_type_name(items[i]));
            }
            *LIST_ADD(arena, ret) = arena_printf(arena, "--%.*s=%.*s", STR_ARG(member->key), STR_ARG(text));
        }
    }
    return NULL;
}

static struct status *apply(struct server_options *options, char *const *args, size_t count, struct arena *arena,
                            struct flags_result *result)
{
    struct flag_table tables[] = {{table, COUNT_OF(table), options}};

    TRY(flags_parse(tables, COUNT_OF(tables), args, count, true, arena, result));
    if (result->positional.len > 0) {
        return status_new(STATUS_BAD_REQUEST, "unknown argument \"%.*s\"", STR_ARG(result->positional.items[0]));
    }
    return NULL;
}

static struct status *apply_config(struct server_options *options, struct arena *arena)
{
    struct str text;
    struct value *config;
    struct str_list words = {0};
    struct flags_result result;
    const char *path = arena_cstr(arena, options->config);

    TRY(file_read(arena, path, CONFIG_MAX, &text));
    TRY(yaml_read(arena, text, true, &config));
    if (!value_is(config, VALUE_OBJECT) && !value_is(config, VALUE_NULL)) {
        return status_new(STATUS_BAD_REQUEST, "a mapping of flags to values is wanted");
    }
    TRY(config_arguments(config, arena, &words));
    char **args = ARENA_ARRAY(arena, char *, words.len + 1);

    for (size_t i = 0; i < words.len; i++) {
        args[i] = arena_cstr(arena, words.items[i]);
    }
    return apply(options, args, words.len, arena, &result);
}

static struct status *check_address(const char *flag, struct str value)
{
    struct ip ip;

    if (value.n > 0 && !ip_parse(value, &ip)) {
        return status_new(STATUS_BAD_REQUEST, "--%s: \"%.*s\" is not an IP address", flag, STR_ARG(value));
    }
    return NULL;
}

static struct status *check_cidr(const char *flag, struct str value)
{
    struct cidr cidr;

    if (!cidr_parse(value, &cidr)) {
        return status_new(STATUS_BAD_REQUEST, "--%s: \"%.*s\" is not a CIDR such as 10.42.0.0/16", flag, STR_ARG(value));
    }
    return NULL;
}

static bool is_component(struct str name)
{
    for (struct str rest = STR(SERVER_COMPONENTS), item; str_next(&rest, ',', &item);) {
        if (str_eq(item, name)) {
            return true;
        }
    }
    /* Those k3s users name, which are not there to be left out. */
    return str_is(name, "proxy") || str_is(name, "dns");
}

static struct status *check(const struct server_options *options)
{
    struct cidr services;
    struct ip dns;

    if (options->port < 0 || options->port > 65535) {
        return status_new(STATUS_BAD_REQUEST, "--https-listen-port: %lld is not between 0 and 65535",
                          (long long)options->port);
    }
    if (options->data_dir.n == 0 || options->data_dir.p[0] != '/') {
        return status_new(STATUS_BAD_REQUEST, "--data-dir: \"%.*s\" is not an absolute path", STR_ARG(options->data_dir));
    }
    TRY(check_address("bind-address", options->bind_address));
    TRY(check_address("advertise-address", options->advertise_address));
    TRY(check_address("node-ip", options->node_ip));
    TRY(check_cidr("cluster-cidr", options->cluster_cidr));
    TRY(check_cidr("service-cidr", options->service_cidr));
    TRY(check_address("cluster-dns", options->cluster_dns));
    if (cidr_parse(options->service_cidr, &services) && ip_parse(options->cluster_dns, &dns) &&
        !cidr_contains(&services, &dns)) {
        return status_new(STATUS_BAD_REQUEST, "--cluster-dns: %.*s is not in the service CIDR %.*s",
                          STR_ARG(options->cluster_dns), STR_ARG(options->service_cidr));
    }
    for (size_t i = 0; i < options->disable.len; i++) {
        if (!is_component(options->disable.items[i])) {
            return status_new(STATUS_BAD_REQUEST, "--disable: \"%.*s\" is none of " SERVER_COMPONENTS,
                              STR_ARG(options->disable.items[i]));
        }
    }
    return NULL;
}

/* The host's name as a node's name: in lower case. */
static struct str host_name(struct arena *arena)
{
    char name[NAME_MAX_BYTES + 1] = "";

    gethostname(name, sizeof(name) - 1);
    for (char *c = name; *c != '\0'; c++) {
        *c = (char)tolower((unsigned char)*c);
    }
    return arena_str(arena, str_of(name[0] != '\0' ? name : "localhost"));
}

struct status *server_options_parse(int argc, char **argv, struct arena *arena, struct server_options *ret,
                                    bool *ret_wants_help)
{
    struct server_options options = defaults();
    struct flags_result result;
    char *const *args = argv + 1;
    size_t count = argc > 0 ? (size_t)argc - 1 : 0;

    TRY(apply(&options, args, count, arena, &result));
    *ret_wants_help = result.wants_help;
    if (options.config.n > 0 && !result.wants_help) {
        struct str path = options.config;

        options = defaults();
        options.config = path;
        struct status *status = apply_config(&options, arena);

        if (status != NULL) {
            return status_while(status, "--config %.*s", STR_ARG(path));
        }
        TRY(apply(&options, args, count, arena, &result));
    }
    TRY(check(&options));
    if (options.node_name.n == 0) {
        options.node_name = host_name(arena);
    }
    *ret = options;
    return NULL;
}

struct status *server_arguments_keep(const char *file, int argc, char **argv)
{
    OWNED(buf_done) struct buf text = {0};

    for (int i = 1; i < argc; i++) {
        buf_add(&text, argv[i], str_of(argv[i]).n + 1); /* each ends with its NUL */
    }
    return file_write(file, buf_str(&text), 0600);
}

struct status *server_arguments_join(const char *file, int argc, char **argv, struct arena *arena, int *ret_argc,
                                     char ***ret)
{
    struct str text, rest, word;
    struct status *status = file_read(arena, file, CONFIG_MAX, &text);
    struct {
        char **items;
        size_t len;
    } joined = {0};

    if (status_free_if(&status, STATUS_NOT_FOUND)) {
        *ret_argc = argc;
        *ret = argv;
        return NULL;
    }
    TRY(status);
    *LIST_ADD(arena, &joined) = argv[0];
    for (rest = text; rest.n > 0 && str_next(&rest, '\0', &word);) {
        *LIST_ADD(arena, &joined) = arena_cstr(arena, word);
    }
    for (int i = 1; i < argc; i++) {
        *LIST_ADD(arena, &joined) = argv[i];
    }
    *ret_argc = (int)joined.len;
    *LIST_ADD(arena, &joined) = NULL;
    *ret = joined.items;
    return NULL;
}

struct str server_options_usage(struct arena *arena)
{
    struct server_options options = defaults();
    struct flag_table flags = {table, COUNT_OF(table), &options};

    return flags_usage(&flags, arena);
}

bool server_options_disabled(const struct server_options *options, const char *component)
{
    bool is_of_node = str_is(str_of(component), "kubelet") || str_is(str_of(component), "runtime");

    if (options->disable_agent && is_of_node) {
        return true;
    }
    for (size_t i = 0; i < options->disable.len; i++) {
        if (str_is(options->disable.items[i], component)) {
            return true;
        }
    }
    return false;
}
