/* kubectl create service clusterip | nodeport | loadbalancer | externalname. */
#include "api/core_v1.h"
#include "kubectl/create.h"
#include "kubectl/report.h"
#include "kubectl/trace.h"
#include "schema/int_or_string.h"
#include "schema/map_of.h"

struct service_options {
    struct flag_strings tcp;
    struct str cluster_ip, external_name;
    int64_t node_port;
};

static struct status *bad_number(struct str text)
{
    return error_local("strconv.ParseUint: parsing \"%.*s\": invalid syntax", STR_ARG(text));
}

/* "80", "80:8080" or "80:http". */
static struct status *add_port(struct kubectl *k, const struct service_options *options, struct str text,
                               struct core_v1_service_spec *spec)
{
    struct core_v1_service_port *port = LIST_ADD(k->arena, &spec->ports);
    struct str own, target;
    bool has_target = str_cut(text, ':', &own, &target);
    int64_t number;

    if (!str_to_i64(own, &number) || number < 0 || number > 65535) {
        return bad_number(own);
    }
    target = has_target ? target : own;
    port->name = has_target ? arena_printf(k->arena, "%.*s-%.*s", STR_ARG(own), STR_ARG(target)) : own;
    port->port = (int32_t)number;
    port->protocol = STR("TCP");
    port->target_port = str_to_i64(target, &number) ? int_or_string_of((int32_t)number) : int_or_string_text(target);
    port->node_port = (int32_t)options->node_port;
    return NULL;
}

static struct status *make(struct kubectl *k, const struct service_options *options, struct str type)
{
    struct core_v1_service *service = ARENA_NEW(k->arena, struct core_v1_service);
    struct str_map labels = {0};
    int64_t start = trace_now();

    TRY(create_name(k, &service->metadata.name));
    str_map_set(k->arena, &labels, STR("app"), service->metadata.name);
    service->metadata.labels = service->spec.selector = labels;
    service->spec.type = type;
    service->spec.cluster_ip = options->cluster_ip;
    service->spec.external_name = options->external_name;
    if (options->tcp.len == 0 && !str_is(options->cluster_ip, "None") && !str_is(type, "ExternalName")) {
        return error_local("at least one tcp port specifier must be provided");
    }
    LIST_EACH(text, &options->tcp)
    {
        TRY(add_port(k, options, *text, &service->spec));
    }
    return create_built(k, &core_v1_service_kind, service, start);
}

static struct status *clusterip_run(struct kubectl *k, void *arg)
{
    return make(k, arg, STR("ClusterIP"));
}

static struct status *nodeport_run(struct kubectl *k, void *arg)
{
    return make(k, arg, STR("NodePort"));
}

static struct status *loadbalancer_run(struct kubectl *k, void *arg)
{
    return make(k, arg, STR("LoadBalancer"));
}

static struct status *externalname_run(struct kubectl *k, void *arg)
{
    if (!flags_seen(&k->args, "external-name")) {
        return error_local("required flag(s) \"external-name\" not set");
    }
    return make(k, arg, STR("ExternalName"));
}

#define TCP FLAG(STRINGS, struct service_options, tcp, "tcp", 0, "PORT or PORT:TARGET; may be repeated")

static const struct flag clusterip_flags[] = {
    TCP,
    FLAG(STRING, struct service_options, cluster_ip, "clusterip", 0, "an address of one's own, or None"),
};
static const struct flag nodeport_flags[] = {
    TCP,
    FLAG(INT, struct service_options, node_port, "node-port", 0, "the port on the nodes"),
};
static const struct flag loadbalancer_flags[] = {TCP};
static const struct flag externalname_flags[] = {
    TCP,
    FLAG(STRING, struct service_options, external_name, "external-name", 0, "the name to stand for"),
};

#define SERVICE(variable, word, text, table, function)                                                              \
    static const struct command variable = {.name = word,                                                           \
                                            .help = text,                                                           \
                                            .usage = "NAME [--tcp=port:targetPort] [--dry-run=server|client|none]", \
                                            .uses = USES_OUTPUT | USES_WRITE,                                       \
                                            .flags = table,                                                         \
                                            .flag_count = COUNT_OF(table),                                          \
                                            .options_size = sizeof(struct service_options),                         \
                                            .run = function}

SERVICE(service_clusterip, "clusterip", "Create a ClusterIP service", clusterip_flags, clusterip_run);
SERVICE(service_nodeport, "nodeport", "Create a NodePort service", nodeport_flags, nodeport_run);
SERVICE(service_loadbalancer, "loadbalancer", "Create a LoadBalancer service", loadbalancer_flags, loadbalancer_run);
SERVICE(service_externalname, "externalname", "Create an ExternalName service", externalname_flags, externalname_run);

static const struct command *const services[] = {
    &service_clusterip, &service_externalname, &service_loadbalancer, &service_nodeport, NULL,
};

const struct command command_create_service = {
    .name = "service",
    .aliases = "svc",
    .help = "Create a service using a specified subcommand",
    .usage = "[flags]",
    .subcommands = services,
};
