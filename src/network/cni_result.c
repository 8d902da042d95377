#include "network/cni_result.h"

#include "network/cni_conf.h"
#include "network/cni_json.h"
#include "schema/json_lexer.h"

static struct str_list strings_of(struct arena *arena, const struct value *array)
{
    struct str_list list = {0};

    VALUE_EACH_ITEM(item, array) {
        *LIST_ADD(arena, &list) = value_str(*item);
    }
    return list;
}

static struct status *read_ip(struct str text, struct ip *ret)
{
    if (text.n > 0 && !ip_parse(text, ret)) {
        return status_new(STATUS_BAD_REQUEST, "invalid IP address: %.*s", STR_ARG(text));
    }
    return NULL;
}

static struct status *read_cidr(struct str text, struct cidr *ret)
{
    if (!cidr_parse(text, ret)) {
        return status_new(STATUS_BAD_REQUEST, "invalid CIDR address: %.*s", STR_ARG(text));
    }
    return NULL;
}

static struct status *read_address(const struct value *ip, struct str key, struct cni_address *ret)
{
    const struct value *interface = value_find(ip, STR("interface"));

    TRY(read_cidr(value_str(value_find(ip, key)), &ret->address));
    TRY(read_ip(value_str_at(ip, "gateway"), &ret->gateway));
    ret->interface = value_is(interface, VALUE_INT) && interface->integer >= 0 && interface->integer < INT32_MAX
                         ? (int)interface->integer : -1;
    return NULL;
}

static struct status *read_routes(struct arena *arena, const struct value *routes, struct cni_result *ret)
{
    VALUE_EACH_ITEM(item, routes) {
        struct cni_route route = {0};

        TRY(read_cidr(value_str_at(*item, "dst"), &route.destination));
        TRY(read_ip(value_str_at(*item, "gw"), &route.gateway));
        *LIST_ADD(arena, &ret->routes) = route;
    }
    return NULL;
}

/* Versions 0.1 and 0.2 have one address of each family, and no interfaces. */
static struct status *read_old_address(struct arena *arena, const struct value *ip, struct cni_result *ret)
{
    struct cni_address address = {0};

    if (ip == NULL) {
        return NULL;
    }
    TRY(read_address(ip, STR("ip"), &address));
    *LIST_ADD(arena, &ret->addresses) = address;
    return read_routes(arena, value_find(ip, STR("routes")), ret);
}

struct status *cni_result_parse(struct arena *arena, struct str text, struct cni_result *ret, struct value **ret_tree)
{
    struct value *tree;
    struct cni_result result = {0};

    TRY(value_read_json(arena, text, &tree, NULL));
    if (!value_is(tree, VALUE_OBJECT)) {
        return status_new(STATUS_BAD_REQUEST, "want a result, got %s", value_type_name(tree));
    }
    VALUE_EACH_ITEM(item, value_find(tree, STR("interfaces"))) {
        *LIST_ADD(arena, &result.interfaces) = (struct cni_interface){
            .name = value_str_at(*item, "name"),
            .mac = value_str_at(*item, "mac"),
            .sandbox = value_str_at(*item, "sandbox"),
        };
    }
    VALUE_EACH_ITEM(item, value_find(tree, STR("ips"))) {
        struct cni_address address = {0};

        TRY(read_address(*item, STR("address"), &address));
        if (address.interface >= 0 && (size_t)address.interface >= result.interfaces.len) {
            return status_new(STATUS_BAD_REQUEST, "address of interface %d, of which there are %zu", address.interface,
                              result.interfaces.len);
        }
        *LIST_ADD(arena, &result.addresses) = address;
    }
    TRY(read_routes(arena, value_find(tree, STR("routes")), &result));
    TRY(read_old_address(arena, value_find(tree, STR("ip4")), &result));
    TRY(read_old_address(arena, value_find(tree, STR("ip6")), &result));
    const struct value *dns = value_find(tree, STR("dns"));

    result.dns = (struct cni_dns){
        .nameservers = strings_of(arena, value_find(dns, STR("nameservers"))),
        .search = strings_of(arena, value_find(dns, STR("search"))),
        .options = strings_of(arena, value_find(dns, STR("options"))),
        .domain = value_str_at(dns, "domain"),
    };
    result.json = text;
    *ret = result;
    if (ret_tree != NULL) {
        *ret_tree = tree;
    }
    return NULL;
}

bool cni_address_is_pod(const struct cni_result *result, const struct cni_address *address)
{
    return address->interface < 0 || (size_t)address->interface >= result->interfaces.len ||
           result->interfaces.items[address->interface].sandbox.n > 0;
}

static struct value *address_tree(struct arena *arena, const struct cni_address *address, bool has_version)
{
    struct value *item = value_object(arena);

    if (has_version) {
        cni_set_text(arena, item, STR("version"), address->address.ip.length == 4 ? STR("4") : STR("6"));
    }
    if (address->interface >= 0) {
        value_set(arena, item, STR("interface"), value_int(arena, address->interface));
    }
    cni_set_text(arena, item, STR("address"), cidr_format(arena, &address->address));
    if (address->gateway.length > 0) {
        cni_set_text(arena, item, STR("gateway"), ip_format(arena, &address->gateway));
    }
    return item;
}

static struct value *route_tree(struct arena *arena, const struct cni_route *route)
{
    struct value *item = value_object(arena);

    cni_set_text(arena, item, STR("dst"), cidr_format(arena, &route->destination));
    if (route->gateway.length > 0) {
        cni_set_text(arena, item, STR("gw"), ip_format(arena, &route->gateway));
    }
    return item;
}

struct value *cni_result_tree(struct arena *arena, const struct cni_result *result, struct str version)
{
    struct value *tree = value_object(arena), *interfaces = value_array(arena), *ips = value_array(arena);
    struct value *routes = value_array(arena), *dns = value_object(arena);

    cni_set_text(arena, tree, STR("cniVersion"), version);
    LIST_EACH(interface, &result->interfaces) {
        struct value *item = value_object(arena);

        cni_set_text(arena, item, STR("name"), interface->name);
        cni_set_text(arena, item, STR("mac"), interface->mac);
        cni_set_text(arena, item, STR("sandbox"), interface->sandbox);
        value_add(arena, interfaces, item);
    }
    LIST_EACH(address, &result->addresses) {
        value_add(arena, ips, address_tree(arena, address, !cni_version_is(version, 1, 0)));
    }
    LIST_EACH(route, &result->routes) {
        value_add(arena, routes, route_tree(arena, route));
    }
    cni_set_texts(arena, dns, STR("nameservers"), result->dns.nameservers);
    cni_set_text(arena, dns, STR("domain"), result->dns.domain);
    cni_set_texts(arena, dns, STR("search"), result->dns.search);
    cni_set_texts(arena, dns, STR("options"), result->dns.options);
    cni_set_filled(arena, tree, STR("interfaces"), interfaces);
    cni_set_filled(arena, tree, STR("ips"), ips);
    cni_set_filled(arena, tree, STR("routes"), routes);
    value_set(arena, tree, STR("dns"), dns);
    return tree;
}

/* Go's %q, near enough for messages. */
static struct str quoted(struct arena *arena, struct str text)
{
    OWNED(buf_done) struct buf out = {0};

    json_add_string_plain(&out, text);
    return arena_str(arena, buf_str(&out));
}

static struct str failure_text(struct arena *arena, int exit_code, struct str out, struct str err, int64_t *ret_code)
{
    struct value *tree = NULL;

    if (str_trim(out).n == 0) {
        return err.n == 0 ? arena_printf(arena, "netplugin failed with no error message: exit status %d", exit_code)
                          : arena_printf(arena, "netplugin failed: %.*s", STR_ARG(quoted(arena, err)));
    }
    struct status *bad = value_read_json(arena, out, &tree, NULL);

    if (bad != NULL || !value_is(tree, VALUE_OBJECT)) {
        struct str why = bad != NULL ? arena_str(arena, bad->message) : STR("not an object");

        status_free(bad);
        return arena_printf(arena, "netplugin failed but error parsing its diagnostic message %.*s: %.*s",
                            STR_ARG(quoted(arena, out)), STR_ARG(why));
    }
    const struct value *code = value_find(tree, STR("code"));
    struct str details = value_str_at(tree, "details");

    *ret_code = value_is(code, VALUE_INT) ? code->integer : 0;
    return details.n == 0 ? value_str_at(tree, "msg")
                          : arena_printf(arena, "%.*s; %.*s", STR_ARG(value_str_at(tree, "msg")), STR_ARG(details));
}

struct status *cni_plugin_failure(struct str type, const char *command, int exit_code, struct str out, struct str err)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    int64_t code = 0;
    struct str text = failure_text(arena, exit_code, out, err, &code);
    bool is_passing = code == CNI_TRY_AGAIN_LATER || code == CNI_NOT_AVAILABLE || code == CNI_NOT_AVAILABLE_LIMITED;
    struct status *status = status_new(is_passing ? STATUS_SERVICE_UNAVAILABLE : STATUS_INTERNAL_ERROR,
                                       "plugin type=\"%.*s\" failed (%s): %.*s", STR_ARG(type), command, STR_ARG(text));

    status_add_cause(status, arena_printf(arena, "%lld", (long long)code), type, "%.*s", STR_ARG(text));
    return status;
}
