#include "test.h"

#include "apiserver/bootstrap/reconcile.h"

#include "api/core_v1.h"
#include "api/kinds.h"
#include "api/rbac_v1.h"
#include "schema/copy.h"
#include "schema/json.h"
#include "schema/map_of.h"

static const struct initial_object *find(const struct initial_objects *list, const char *kind, const char *name)
{
    LIST_EACH(item, list) {
        if (str_is(item->kind->kind, kind) && str_is(item->object->metadata.name, name)) {
            return item;
        }
    }
    test_fail(__FILE__, __LINE__, "no %s %s", kind, name);
}

static struct initial_objects all(struct arena *arena)
{
    struct initial_facts facts = {.address = STR("192.0.2.1"),
                                  .port = 6443,
                                  .service_address = STR("10.96.0.1"),
                                  .service_range = STR("10.96.0.0/12"),
                                  .client_ca = STR("-----BEGIN \"x\"\n")};
    struct initial_objects list = {0};

    CHECK_OK(initial_objects(arena, &facts, &list));
    return list;
}

TEST("apiserver/bootstrap/initial objects say where the server is")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct initial_objects list = all(arena);
    const struct core_v1_service *service = (const void *)find(&list, "Service", "kubernetes")->object;
    const struct core_v1_endpoints *endpoints = (const void *)find(&list, "Endpoints", "kubernetes")->object;
    const struct core_v1_config_map *map =
        (const void *)find(&list, "ConfigMap", "extension-apiserver-authentication")->object;

    CHECK_STR(service->spec.cluster_ip, "10.96.0.1");
    CHECK_INT(service->spec.ports.items[0].target_port.number, 6443);
    CHECK_STR(endpoints->subsets.items[0].addresses.items[0].ip, "192.0.2.1");
    CHECK_STR(str_map_get(&map->data, STR("client-ca-file")), "-----BEGIN \"x\"\n");
    find(&list, "ClusterRole", "system:node");
    find(&list, "RoleBinding", "system::extension-apiserver-authentication-reader");
    find(&list, "PriorityClass", "system-node-critical");
    find(&list, "FlowSchema", "catch-all");
    find(&list, "ServiceCIDR", "kubernetes");
}

TEST("apiserver/bootstrap/what is as wanted stays")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct initial_objects list = all(arena);

    CHECK(list.len > 150);
    LIST_EACH(item, &list) {
        CHECK(!reconcile(arena, item, schema_copy(arena, item->kind->type, item->object)));
    }
}

TEST("apiserver/bootstrap/missing rules, subjects and labels come back, own ones stay")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct initial_objects list = all(arena);
    const struct initial_object *wanted = find(&list, "ClusterRole", "system:node");
    struct rbac_v1_cluster_role *role = schema_copy(arena, wanted->kind->type, wanted->object);
    size_t rules = role->rules.len;

    /* one that covers all others but non-resource URLs takes their place */
    role->rules.items[0].verbs.items[0] = STR("watch");
    str_map_set(arena, &role->metadata.labels, STR("own"), STR("x"));
    CHECK(reconcile(arena, wanted, (struct object *)role));
    CHECK_INT(role->rules.len, rules + 1);
    CHECK_STR(str_map_get(&role->metadata.labels, STR("own")), "x");
    CHECK(!reconcile(arena, wanted, (struct object *)role));

    str_map_set(arena, &role->metadata.annotations, STR("rbac.authorization.kubernetes.io/autoupdate"), STR("false"));
    role->rules.len = 0;
    CHECK(!reconcile(arena, wanted, (struct object *)role));

    wanted = find(&list, "ClusterRoleBinding", "cluster-admin");
    struct rbac_v1_cluster_role_binding *binding = schema_copy(arena, wanted->kind->type, wanted->object);

    binding->subjects.items[0].name = STR("someone");
    CHECK(reconcile(arena, wanted, (struct object *)binding));
    CHECK_INT(binding->subjects.len, 2);
    CHECK_STR(binding->subjects.items[0].name, "someone");
    CHECK_STR(binding->subjects.items[1].name, "system:masters");

    wanted = find(&list, "ClusterRole", "admin");
    role = schema_copy(arena, wanted->kind->type, wanted->object);
    role->aggregation_rule = NULL;
    CHECK(reconcile(arena, wanted, (struct object *)role));
    CHECK_INT(role->aggregation_rule->cluster_role_selectors.len, 1);
}

TEST("apiserver/bootstrap/the Service follows the server")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct initial_objects list = all(arena);
    const struct initial_object *wanted = find(&list, "Endpoints", "kubernetes");
    struct core_v1_endpoints *endpoints = schema_copy(arena, wanted->kind->type, wanted->object);

    endpoints->subsets.items[0].addresses.items[0].ip = STR("192.0.2.9");
    CHECK(reconcile(arena, wanted, (struct object *)endpoints));
    CHECK_STR(endpoints->subsets.items[0].addresses.items[0].ip, "192.0.2.1");
}
