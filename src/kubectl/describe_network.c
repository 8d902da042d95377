/* kubectl describe of services and ingresses, with the endpoints behind them. */
#include "kubectl/describe.h"
#include "kubectl/pods.h"
#include "kubectl/request.h"

#define ADD(d, ...) buf_printf(&(d)->text, __VA_ARGS__)
enum { ENDPOINTS_SHOWN = 3 };

static struct str joined(struct arena *arena, const struct value *list, const char *separator)
{
    struct str text = STR("");

    VALUE_EACH_ITEM(item, list)
    {
        text = arena_printf(arena, "%.*s%s%.*s", STR_ARG(text), text.n > 0 ? separator : "",
                            STR_ARG(describe_value(arena, *item)));
    }
    return text;
}

static bool is_ready(const struct value *endpoint)
{
    const struct value *ready = value_find_path(endpoint, "conditions.ready");

    return !value_is(ready, VALUE_BOOL) || ready->boolean;
}

/* "10.0.0.1:80,10.0.0.2:80", or the first three and how many more there are. */
static struct str endpoints_text(struct arena *arena, const struct value *slices, struct str port_name)
{
    struct str text = STR("");
    size_t count = 0;

    VALUE_EACH_ITEM(slice, slices)
    {
        VALUE_EACH_ITEM(port, value_find(*slice, STR("ports")))
        {
            if (!str_eq(value_str_at(*port, "name"), port_name)) {
                continue;
            }
            VALUE_EACH_ITEM(endpoint, value_find(*slice, STR("endpoints")))
            {
                struct str address = value_str(value_item(value_find(*endpoint, STR("addresses")), 0));
                bool is_ip6 = str_index(address, ':') != SIZE_MAX;

                if (is_ready(*endpoint) && ++count <= ENDPOINTS_SHOWN) {
                    text = arena_printf(arena, "%.*s%s%s%.*s%s:%.*s", STR_ARG(text), text.n > 0 ? "," : "",
                                        is_ip6 ? "[" : "", STR_ARG(address), is_ip6 ? "]" : "",
                                        STR_ARG(describe_value(arena, value_find(*port, STR("port")))));
                }
            }
        }
    }
    return count > ENDPOINTS_SHOWN ? arena_printf(arena, "%.*s + %zu more...", STR_ARG(text), count - ENDPOINTS_SHOWN)
                                   : describe_or_none(text);
}

static struct status *slices_of(struct kubectl *k, struct str namespace, struct str service, struct value **ret)
{
    struct str path = arena_printf(k->arena, "/apis/discovery.k8s.io/v1/namespaces/%.*s/endpointslices", STR_ARG(namespace));
    struct str selector = arena_printf(k->arena, "kubernetes.io/service-name=%.*s", STR_ARG(service));
    struct value *list;

    TRY(api_get(k, path_with(k, path, "labelSelector", selector), &list));
    *ret = value_find(list, STR("items"));
    return NULL;
}

static void service_port(struct description *d, const struct value *port, const struct value *slices)
{
    struct arena *arena = d->k->arena;
    struct str name = value_str_at(port, "name"), protocol = value_str_at(port, "protocol");
    struct str shown = name.n > 0 ? name : STR("<unset>");
    const struct value *node = value_find(port, STR("nodePort"));

    ADD(d, "Port:\t%.*s\t%.*s/%.*s\n", STR_ARG(shown), STR_ARG(describe_value(arena, value_find(port, STR("port")))),
        STR_ARG(protocol));
    ADD(d, "TargetPort:\t%.*s/%.*s\n", STR_ARG(describe_value(arena, value_find(port, STR("targetPort")))),
        STR_ARG(protocol));
    if (value_is(node, VALUE_INT) && node->integer > 0) {
        ADD(d, "NodePort:\t%.*s\t%lld/%.*s\n", STR_ARG(shown), (long long)node->integer, STR_ARG(protocol));
    }
    ADD(d, "Endpoints:\t%.*s\n", STR_ARG(endpoints_text(arena, slices, name)));
}

/* A line when there is something to say. */
static void line_if(struct description *d, const char *title, struct str text)
{
    if (text.n > 0) {
        ADD(d, "%s:\t%.*s\n", title, STR_ARG(text));
    }
}

static struct str addresses_of(struct arena *arena, const struct value *object)
{
    struct str text = STR("");

    VALUE_EACH_ITEM(entry, value_find_path(object, "status.loadBalancer.ingress"))
    {
        struct str one = value_str_at(*entry, "ip");

        one = one.n > 0 ? one : value_str_at(*entry, "hostname");
        text = arena_printf(arena, "%.*s%s%.*s", STR_ARG(text), text.n > 0 ? "," : "", STR_ARG(one));
    }
    return text;
}

struct status *describe_service(struct description *d, const struct value *service)
{
    struct arena *arena = d->k->arena;
    struct value *slices;
    struct str selector;

    TRY(selector_text(d->k, value_find_path(service, "spec.selector"), &selector));
    TRY(slices_of(d->k, value_str_at(service, "metadata.namespace"), value_str_at(service, "metadata.name"), &slices));
    describe_head(d, service);
    ADD(d, "Selector:\t%.*s\n", STR_ARG(describe_or_none(selector)));
    ADD(d, "Type:\t%.*s\n", STR_ARG(value_str_at(service, "spec.type")));
    line_if(d, "IP Family Policy", value_str_at(service, "spec.ipFamilyPolicy"));
    ADD(d, "IP Families:\t%.*s\n", STR_ARG(describe_or_none(joined(arena, value_find_path(service, "spec.ipFamilies"), ","))));
    ADD(d, "IP:\t%.*s\n", STR_ARG(value_str_at(service, "spec.clusterIP")));
    ADD(d, "IPs:\t%.*s\n", STR_ARG(describe_or_none(joined(arena, value_find_path(service, "spec.clusterIPs"), ","))));
    line_if(d, "External IPs", joined(arena, value_find_path(service, "spec.externalIPs"), ","));
    line_if(d, "Desired LoadBalancer IP", value_str_at(service, "spec.loadBalancerIP"));
    line_if(d, "LoadBalancer Ingress", addresses_of(arena, service));
    line_if(d, "External Name", value_str_at(service, "spec.externalName"));
    VALUE_EACH_ITEM(port, value_find_path(service, "spec.ports"))
    {
        service_port(d, *port, slices);
    }
    ADD(d, "Session Affinity:\t%.*s\n", STR_ARG(value_str_at(service, "spec.sessionAffinity")));
    line_if(d, "External Traffic Policy", value_str_at(service, "spec.externalTrafficPolicy"));
    line_if(d, "Internal Traffic Policy", value_str_at(service, "spec.internalTrafficPolicy"));
    line_if(d, "LoadBalancer Source Ranges", joined(arena, value_find_path(service, "spec.loadBalancerSourceRanges"), ","));
    return NULL;
}

/* The name of the service's port that a backend means. */
static struct str port_name(const struct value *service, const struct value *backend)
{
    const struct value *number = value_find_path(backend, "port.number");

    VALUE_EACH_ITEM(port, value_find_path(service, "spec.ports"))
    {
        if (value_is(number, VALUE_INT) ? value_equal(number, value_find(*port, STR("port")))
                                        : str_eq(value_str_at(*port, "name"), value_str_at(backend, "port.name"))) {
            return value_str_at(*port, "name");
        }
    }
    return STR("");
}

static struct str backend_text(struct description *d, struct str namespace, const struct value *backend)
{
    struct kubectl *k = d->k;
    const struct value *to = value_find(backend, STR("service")), *resource = value_find(backend, STR("resource"));
    const struct value *number = value_find_path(to, "port.number");
    struct value *service, *slices;
    struct str name = value_str_at(to, "name");

    if (to == NULL) {
        return resource == NULL ? STR("")
                                : arena_printf(k->arena, "APIGroup: %.*s, Kind: %.*s, Name: %.*s",
                                               STR_ARG(value_str_at(resource, "apiGroup")),
                                               STR_ARG(value_str_at(resource, "kind")),
                                               STR_ARG(value_str_at(resource, "name")));
    }
    struct str port = number != NULL ? describe_value(k->arena, number) : value_str_at(to, "port.name");
    struct str path = arena_printf(k->arena, "/api/v1/namespaces/%.*s/services/%.*s", STR_ARG(namespace), STR_ARG(name));
    struct status *status = api_get(k, path, &service);

    if (status == NULL) {
        status = slices_of(k, namespace, name, &slices);
    }
    struct str behind = status != NULL ? arena_printf(k->arena, "<error: %.*s>", STR_ARG(status->message))
                                       : endpoints_text(k->arena, slices, port_name(service, to));

    status_free(status);
    return arena_printf(k->arena, "%.*s:%.*s (%.*s)", STR_ARG(name), STR_ARG(port), STR_ARG(behind));
}

static void ingress_tls(struct description *d, const struct value *entries)
{
    ADD(d, "TLS:\n");
    VALUE_EACH_ITEM(entry, entries)
    {
        struct str secret = value_str_at(*entry, "secretName");
        struct str hosts = joined(d->k->arena, value_find(*entry, STR("hosts")), ",");

        if (secret.n == 0) {
            describe_line(d, 1, "SNI routes %.*s\n", STR_ARG(hosts));
        } else {
            describe_line(d, 1, "%.*s terminates %.*s\n", STR_ARG(secret), STR_ARG(hosts));
        }
    }
}

static size_t ingress_rules(struct description *d, const struct value *ingress)
{
    struct str namespace = value_str_at(ingress, "metadata.namespace");
    size_t count = 0;

    ADD(d, "Rules:\n  Host\tPath\tBackends\n  ----\t----\t--------\n");
    VALUE_EACH_ITEM(rule, value_find_path(ingress, "spec.rules"))
    {
        struct str host = value_str_at(*rule, "host");

        if (value_find(*rule, STR("http")) == NULL) {
            continue;
        }
        count++;
        describe_line(d, 1, "%.*s\t\n", STR_ARG(host.n > 0 ? host : STR("*")));
        VALUE_EACH_ITEM(path, value_find_path(*rule, "http.paths"))
        {
            struct str backend = backend_text(d, namespace, value_find(*path, STR("backend")));

            describe_line(d, 2, "\t%.*s \t%.*s\n", STR_ARG(value_str_at(*path, "path")), STR_ARG(backend));
        }
    }
    return count;
}

struct status *describe_ingress(struct description *d, const struct value *ingress)
{
    const struct value *usual = value_find_path(ingress, "spec.defaultBackend"), *tls = value_find_path(ingress, "spec.tls");
    struct str namespace = value_str_at(ingress, "metadata.namespace"), class = value_str_at(ingress, "spec.ingressClassName");
    struct str otherwise = usual == NULL ? STR("<default>") : backend_text(d, namespace, usual);

    ADD(d, "Name:\t%.*s\n", STR_ARG(value_str_at(ingress, "metadata.name")));
    describe_map(d, "", "Labels", value_find_path(ingress, "metadata.labels"));
    ADD(d, "Namespace:\t%.*s\nAddress:\t%.*s\n", STR_ARG(namespace), STR_ARG(addresses_of(d->k->arena, ingress)));
    ADD(d, "Ingress Class:\t%.*s\n", STR_ARG(describe_or_none(class)));
    ADD(d, "Default backend:\t%.*s\n", STR_ARG(otherwise));
    if (value_count(tls) > 0) {
        ingress_tls(d, tls);
    }
    if (ingress_rules(d, ingress) == 0) {
        describe_line(d, 1, "*\t*\t%.*s\n", STR_ARG(otherwise));
    }
    describe_annotations(d, "", "Annotations", value_find_path(ingress, "metadata.annotations"));
    return NULL;
}
