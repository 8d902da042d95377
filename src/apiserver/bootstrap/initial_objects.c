#include "apiserver/bootstrap/initial_objects.h"

#include "api/kinds.h"
#include "apiserver/embedded.h"
#include "schema/json.h"
#include "schema/value.h"

/* The object a JSON text describes, which says its kind and apiVersion. */
static struct status *add_json(struct arena *arena, struct initial_objects *list, struct str json)
{
    struct value *tree;

    TRY(value_read_json(arena, json, &tree, NULL));
    const struct kind *kind = kind_find_api_version(value_str_at(tree, "apiVersion"), value_str_at(tree, "kind"));

    if (kind == NULL) {
        return status_new(STATUS_INTERNAL_ERROR, "no such kind: %.*s", STR_ARG(value_str_at(tree, "kind")));
    }
    struct object *object = arena_alloc(arena, kind->type->size);

    TRY(json_decode(arena, kind->type, json, object, NULL));
    object->type_meta = (struct meta_v1_type_meta){0};
    *LIST_ADD(arena, list) = (struct initial_object){kind, object};
    return NULL;
}

struct status *initial_namespaces(struct arena *arena, struct initial_objects *ret)
{
    static const char *const names[] = {"default", "kube-system", "kube-public", "kube-node-lease"};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        TRY(add_json(arena, ret,
                     arena_printf(arena,
                                  "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"%s\"}}",
                                  names[i])));
    }
    return NULL;
}

static struct status *add_embedded(struct arena *arena, struct initial_objects *list)
{
    struct value *all;

    TRY(value_read_json(arena, (struct str){bootstrap_objects, bootstrap_objects_size}, &all, NULL));
    VALUE_EACH_ITEM(item, all) {
        TRY(add_json(arena, list, value_json(arena, *item)));
    }
    return NULL;
}

/* Endpoints may not lead to it: each node would find itself there. */
static bool is_loopback(struct str address)
{
    return str_has_prefix(address, STR("127.")) || str_is(address, "::1");
}

/* The Service "kubernetes" and where it leads. */
static struct status *add_service(struct arena *arena, const struct initial_facts *facts, struct initial_objects *list)
{
    const char *family = str_index(facts->address, ':') == SIZE_MAX ? "IPv4" : "IPv6";
    const char *service_family = str_index(facts->service_address, ':') == SIZE_MAX ? "IPv4" : "IPv6";

    if (facts->service_address.n != 0) {
        TRY(add_json(arena, list,
                     arena_printf(arena,
                                  "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"kubernetes\","
                                  "\"namespace\":\"default\",\"labels\":{\"component\":\"apiserver\","
                                  "\"provider\":\"kubernetes\"}},\"spec\":{\"ports\":[{\"name\":\"https\","
                                  "\"protocol\":\"TCP\",\"port\":443,\"targetPort\":%d}],\"clusterIP\":\"%.*s\","
                                  "\"clusterIPs\":[\"%.*s\"],\"type\":\"ClusterIP\",\"sessionAffinity\":\"None\","
                                  "\"ipFamilies\":[\"%s\"],\"ipFamilyPolicy\":\"SingleStack\","
                                  "\"internalTrafficPolicy\":\"Cluster\"}}",
                                  facts->port, STR_ARG(facts->service_address), STR_ARG(facts->service_address),
                                  service_family)));
    }
    if (facts->address.n == 0 || is_loopback(facts->address)) {
        return NULL;
    }
    TRY(add_json(arena, list,
                 arena_printf(arena,
                              "{\"apiVersion\":\"v1\",\"kind\":\"Endpoints\",\"metadata\":{\"name\":\"kubernetes\","
                              "\"namespace\":\"default\",\"labels\":{\"endpointslice.kubernetes.io/skip-mirror\":"
                              "\"true\"}},\"subsets\":[{\"addresses\":[{\"ip\":\"%.*s\"}],\"ports\":[{\"name\":"
                              "\"https\",\"port\":%d,\"protocol\":\"TCP\"}]}]}",
                              STR_ARG(facts->address), facts->port)));
    return add_json(arena, list,
                    arena_printf(arena,
                                 "{\"apiVersion\":\"discovery.k8s.io/v1\",\"kind\":\"EndpointSlice\",\"metadata\":{"
                                 "\"name\":\"kubernetes\",\"namespace\":\"default\",\"labels\":{"
                                 "\"kubernetes.io/service-name\":\"kubernetes\"}},\"addressType\":\"%s\","
                                 "\"endpoints\":[{\"addresses\":[\"%.*s\"],\"conditions\":{\"ready\":true}}],"
                                 "\"ports\":[{\"name\":\"https\",\"port\":%d,\"protocol\":\"TCP\"}]}",
                                 family, STR_ARG(facts->address), facts->port));
}

static void set_text(struct arena *arena, struct value *data, const char *key, struct str text)
{
    value_set(arena, data, str_of(key), value_string(arena, text));
}

static void set_list(struct arena *arena, struct value *data, const char *key, const struct str_list *list)
{
    struct value *array = value_array(arena);

    LIST_EACH(item, list) {
        value_add(arena, array, value_string(arena, *item));
    }
    set_text(arena, data, key, value_json(arena, array));
}

/* What extension API servers need to believe requests that this server passes on. */
static struct status *add_authentication(struct arena *arena, const struct initial_facts *facts,
                                         struct initial_objects *list)
{
    struct value *data = value_object(arena);

    if (facts->client_ca.n != 0) {
        set_text(arena, data, "client-ca-file", facts->client_ca);
    }
    if (facts->requestheader_ca.n != 0) {
        set_list(arena, data, "requestheader-allowed-names", &facts->requestheader_names);
        set_text(arena, data, "requestheader-client-ca-file", facts->requestheader_ca);
        set_list(arena, data, "requestheader-extra-headers-prefix", &facts->requestheader_extra_prefixes);
        set_list(arena, data, "requestheader-group-headers", &facts->requestheader_groups);
        set_list(arena, data, "requestheader-uid-headers", &facts->requestheader_uids);
        set_list(arena, data, "requestheader-username-headers", &facts->requestheader_usernames);
    }
    return add_json(arena, list,
                    arena_printf(arena,
                                 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                                 "\"extension-apiserver-authentication\",\"namespace\":\"kube-system\"},\"data\":%.*s}",
                                 STR_ARG(value_json(arena, data))));
}

static struct status *add_service_range(struct arena *arena, const struct initial_facts *facts,
                                        struct initial_objects *list)
{
    return facts->service_range.n == 0
               ? NULL
               : add_json(arena, list,
                          arena_printf(arena,
                                       "{\"apiVersion\":\"networking.k8s.io/v1\",\"kind\":\"ServiceCIDR\","
                                       "\"metadata\":{\"name\":\"kubernetes\"},\"spec\":{\"cidrs\":[\"%.*s\"]}}",
                                       STR_ARG(facts->service_range)));
}

struct status *initial_objects(struct arena *arena, const struct initial_facts *facts, struct initial_objects *ret)
{
    TRY(add_service_range(arena, facts, ret));
    TRY(add_service(arena, facts, ret));
    TRY(add_authentication(arena, facts, ret));
    return add_embedded(arena, ret);
}
