/* Every namespace has a ConfigMap with the certificates that pods check the API server's with. */
#include "controller/controllers.h"

#include "api/core_v1.h"
#include "controller/namespace_util.h"
#include "schema/copy.h"
#include "schema/map_of.h"

#define NAME "kube-root-ca.crt"
#define KEY "ca.crt"
#define DESCRIPTION_KEY "kubernetes.io/description"
#define DESCRIPTION                                                                                                    \
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "    \
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "  \
    "clusters."

static void fill(struct arena *arena, struct core_v1_config_map *map, struct str root_ca)
{
    str_map_set(arena, &map->metadata.annotations, STR(DESCRIPTION_KEY), STR(DESCRIPTION));
    map->data = (__typeof__(map->data)){0};
    str_map_set(arena, &map->data, STR(KEY), root_ca);
}

static bool is_right(const struct core_v1_config_map *map, struct str root_ca)
{
    return map->data.len == 1 && str_eq(str_map_get(&map->data, STR(KEY)), root_ca) &&
           str_is(str_map_get(&map->metadata.annotations, STR(DESCRIPTION_KEY)), DESCRIPTION);
}

static struct status *root_ca_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct core_v1_namespace *namespace = world_find(world, &core_v1_namespace_kind, key);
    const struct core_v1_config_map *found = world_find_in(world, &core_v1_config_map_kind, key, STR(NAME));
    struct core_v1_config_map *map;

    if (!namespace_is_active(namespace) || world->settings->root_ca.n == 0) {
        return NULL;
    }
    if (found == NULL) {
        map = ARENA_NEW(plan->arena, struct core_v1_config_map);
        map->metadata.namespace = namespace->metadata.name;
        map->metadata.name = STR(NAME);
        fill(plan->arena, map, world->settings->root_ca);
        plan_create(plan, &core_v1_config_map_kind, map);
        plan_last(plan)->may_exist = true;
    } else if (!is_right(found, world->settings->root_ca)) {
        map = schema_copy(plan->arena, &core_v1_config_map_type, found);
        fill(plan->arena, map, world->settings->root_ca);
        plan_update(plan, &core_v1_config_map_kind, map);
    }
    return NULL;
}

static void map_config_map(const struct world *world, const void *object, struct str_list *ret)
{
    const struct core_v1_config_map *map = object;

    if (str_is(map->metadata.name, NAME)) {
        *LIST_ADD(world->arena, ret) = map->metadata.namespace;
    }
}

const struct controller root_ca_controller = {
    .name = "root-ca-certificate-publisher-controller",
    .account = "root-ca-cert-publisher",
    .kind = &core_v1_namespace_kind,
    .watches = {{&core_v1_config_map_kind, map_config_map}},
    .plan = root_ca_plan,
};
