/* kubectl expose: a Service for the pods of a workload. */
#include "api/core_v1.h"
#include "kubectl/create.h"
#include "kubectl/output.h"
#include "kubectl/pods.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/selection.h"
#include "schema/int_or_string.h"
#include "schema/map_of.h"
#include "schema/selector.h"

struct expose_options {
    struct str name, port, target_port, protocol, type, cluster_ip, selector, session_affinity, labels, external_ip;
};

/* "a=b,c=d" */
static struct status *parse_pairs(struct kubectl *k, struct str text, struct str_map *ret)
{
    struct str pair, key, value;

    while (text.n > 0 && str_next(&text, ',', &pair)) {
        if (!str_cut(pair, '=', &key, &value) || key.n == 0) {
            return error_local("Invalid selector format. Unable to parse \"%.*s\"", STR_ARG(pair));
        }
        str_map_set(k->arena, ret, key, value);
    }
    return NULL;
}

static void map_of(struct kubectl *k, const struct value *from, struct str_map *ret)
{
    struct str *keys = value_sorted_keys(k->arena, from);

    for (size_t i = 0; i < value_count(from); i++) {
        str_map_set(k->arena, ret, keys[i], value_str(value_find(from, keys[i])));
    }
}

/* As Go prints a slice of requirements: [{Key:a Operator:In Values:[b c]}] */
static struct str expressions_text(struct kubectl *k, const struct value *expressions)
{
    struct str text = STR("");

    VALUE_EACH_ITEM(expression, expressions)
    {
        struct str values = STR("");

        VALUE_EACH_ITEM(value, value_find(*expression, STR("values")))
        {
            values = arena_printf(k->arena, "%.*s%s%.*s", STR_ARG(values), values.n > 0 ? " " : "", STR_ARG(value_str(*value)));
        }
        text = arena_printf(k->arena, "%.*s%s{Key:%.*s Operator:%.*s Values:[%.*s]}", STR_ARG(text), text.n > 0 ? " " : "",
                            STR_ARG(value_str_at(*expression, "key")), STR_ARG(value_str_at(*expression, "operator")),
                            STR_ARG(values));
    }
    return arena_printf(k->arena, "[%.*s]", STR_ARG(text));
}

/* The labels that the workload's pods have. */
static struct status *selector_of(struct kubectl *k, const struct kind *kind, const struct value *object,
                                  struct str_map *ret)
{
    const struct value *selector = value_find_path(object, "spec.selector");

    if (str_is(kind->kind, "Pod")) {
        map_of(k, value_find_path(object, "metadata.labels"), ret);
        return ret->len > 0 ? NULL
                            : error_local("couldn't retrieve selectors via --selector flag or introspection: the pod has no "
                                          "labels and cannot be exposed");
    }
    if (value_count(value_find(selector, STR("matchExpressions"))) > 0) {
        return error_local("couldn't retrieve selectors via --selector flag or introspection: couldn't convert expressions - "
                           "\"%.*s\" to map-based selector format",
                           STR_ARG(expressions_text(k, value_find(selector, STR("matchExpressions")))));
    }
    if (!value_is(selector, VALUE_OBJECT)) {
        return error_local("cannot expose a %.*s", STR_ARG(kind->kind));
    }
    map_of(k, value_find(selector, STR("matchLabels")) != NULL ? value_find(selector, STR("matchLabels")) : selector, ret);
    return NULL;
}

static const struct value *containers_of(const struct value *object)
{
    const struct value *template = value_find_path(object, "spec.template.spec.containers");

    return template != NULL ? template : value_find_path(object, "spec.containers");
}

static struct status *add_ports(struct kubectl *k, const struct expose_options *options, const struct value *object,
                                struct core_v1_service_spec *spec)
{
    struct str text = options->port, one;
    int64_t number;

    VALUE_EACH_ITEM(container, options->port.n == 0 ? containers_of(object) : NULL)
    {
        VALUE_EACH_ITEM(port, value_find(*container, STR("ports")))
        {
            text = arena_printf(k->arena, "%.*s%s%.*s", STR_ARG(text), text.n > 0 ? "," : "",
                                STR_ARG(value_json(k->arena, value_find(*port, STR("containerPort")))));
        }
    }
    if (text.n == 0) {
        return error_local("couldn't find port via --port flag or introspection");
    }
    bool several = str_index(text, ',') != SIZE_MAX;

    for (size_t i = 1; str_next(&text, ',', &one); i++) {
        struct core_v1_service_port *port = LIST_ADD(k->arena, &spec->ports);
        struct str target = options->target_port.n > 0 ? options->target_port : one;

        if (!str_to_i64(one, &number) || number < 1 || number > 65535) {
            return error_local("strconv.Atoi: parsing \"%.*s\": invalid syntax", STR_ARG(one));
        }
        port->name = several ? arena_printf(k->arena, "port-%zu", i) : STR("");
        port->port = (int32_t)number;
        port->protocol = options->protocol.n > 0 ? options->protocol : STR("TCP");
        port->target_port = str_to_i64(target, &number) ? int_or_string_of((int32_t)number) : int_or_string_text(target);
    }
    return NULL;
}

static struct status *build(struct kubectl *k, const struct expose_options *options, const struct selected *selected,
                            struct core_v1_service *service)
{
    struct value *object;

    TRY(api_get(k, client_path(k->arena, selected->kind, selected->namespace, selected->name, STR("")), &object));
    service->metadata.name = options->name.n > 0 ? options->name : selected->name;
    if (options->selector.n > 0) {
        TRY(parse_pairs(k, options->selector, &service->spec.selector));
    } else {
        TRY(selector_of(k, selected->kind, object, &service->spec.selector));
    }
    if (options->labels.n > 0) {
        TRY(parse_pairs(k, options->labels, &service->metadata.labels));
    } else {
        map_of(k, value_find_path(object, "metadata.labels"), &service->metadata.labels);
    }
    TRY(add_ports(k, options, object, &service->spec));
    service->spec.type = options->type;
    service->spec.cluster_ip = options->cluster_ip;
    service->spec.session_affinity = options->session_affinity;
    return NULL;
}

static struct status *expose_one(struct kubectl *k, const struct expose_options *options, const struct output *output,
                                 const struct selected *selected)
{
    struct core_v1_service *service = ARENA_NEW(k->arena, struct core_v1_service);
    const struct kind *kind;

    TRY(build(k, options, selected, service));
    struct value *value = output_value_of(k, &core_v1_service_kind, service);

    TRY(discovery_find(k, STR("services"), &kind));
    if (k->write.dry_run != DRY_RUN_CLIENT) {
        TRY(api_create(k, kind, selected->namespace, value, "kubectl-expose", &value));
    }
    return output_done(k, output, kind, value, service->metadata.name, "exposed", true);
}

static struct status *expose_run(struct kubectl *k, void *arg)
{
    struct selection selection;
    struct output output;

    TRY(output_parse(k, false, &output));
    TRY(selection_of(k, k->args.positional.items, k->args.positional.len,
                     &(struct selection_rules){.command = "expose", .needs_names = true}, &selection));
    LIST_EACH(selected, &selection)
    {
        report_error(k, expose_one(k, arg, &output, selected));
    }
    return NULL;
}

static const struct flag expose_flags[] = {
    FLAG(STRING, struct expose_options, name, "name", 0, "the service's name, if not the resource's"),
    FLAG(STRING, struct expose_options, port, "port", 0, "port (or several, with commas) of the service"),
    FLAG(STRING, struct expose_options, target_port, "target-port", 0, "name or number of the port in the pods"),
    FLAG(STRING, struct expose_options, protocol, "protocol", 0, "TCP, UDP or SCTP"),
    FLAG(STRING, struct expose_options, type, "type", 0, "ClusterIP, NodePort, LoadBalancer or ExternalName"),
    FLAG(STRING, struct expose_options, cluster_ip, "cluster-ip", 0, "the service's address; None for a headless one"),
    FLAG(STRING, struct expose_options, selector, "selector", 0, "labels of the pods, if not the workload's"),
    FLAG(STRING, struct expose_options, session_affinity, "session-affinity", 0, "None or ClientIP"),
    FLAG(STRING, struct expose_options, labels, "labels", 'l', "labels of the service"),
};

const struct command command_expose = {
    .name = "expose",
    .help = "Take a replication controller, service, deployment or pod and expose it as a new Kubernetes service",
    .usage = "(-f FILENAME | TYPE NAME) [--port=port] [--protocol=TCP|UDP|SCTP] [--target-port=number-or-name]",
    .uses = USES_OUTPUT | USES_FILES | USES_WRITE,
    .flags = expose_flags,
    .flag_count = COUNT_OF(expose_flags),
    .options_size = sizeof(struct expose_options),
    .run = expose_run,
};
