/* ClusterRoles with an aggregation rule have the rules of all roles that its selectors match. */
#include "controller/controllers.h"

#include "api/rbac_v1.h"
#include "schema/copy.h"
#include "schema/object.h"
#include "schema/selectors.h"

#include <stdlib.h>

struct rules {
    struct rbac_v1_policy_rule *items;
    size_t len;
};

static int by_name(const void *a, const void *b)
{
    const struct object *x = *(const struct object *const *)a, *y = *(const struct object *const *)b;

    return str_cmp(x->metadata.name, y->metadata.name);
}

static void add_rules(struct arena *arena, struct rules *rules, const struct rbac_v1_cluster_role *role)
{
    LIST_EACH(rule, &role->rules)
    {
        bool known = false;

        LIST_EACH(have, rules)
        {
            known = known || schema_equal(&rbac_v1_policy_rule_type, have, rule);
        }
        if (!known) {
            *LIST_ADD(arena, rules) = *rule;
        }
    }
}

static struct status *cluster_role_aggregation_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct rbac_v1_cluster_role *role = world_find(world, &rbac_v1_cluster_role_kind, key);
    struct object_pointers all = world_all(world, &rbac_v1_cluster_role_kind);
    struct rules rules = {0};

    if (role == NULL || role->aggregation_rule == NULL) {
        return NULL;
    }
    if (all.len > 1) {
        qsort(all.items, all.len, sizeof(*all.items), by_name);
    }
    LIST_EACH(from, &role->aggregation_rule->cluster_role_selectors)
    {
        struct label_selector selector;

        TRY(label_selector_of(plan->arena, from, &selector));
        for (size_t i = 0; i < all.len; i++) {
            const struct rbac_v1_cluster_role *other = all.items[i];

            if (other != role && label_selector_matches_map(&selector, &other->metadata.labels)) {
                add_rules(plan->arena, &rules, other);
            }
        }
    }
    struct rbac_v1_cluster_role *changed = ARENA_NEW(plan->arena, struct rbac_v1_cluster_role);

    *changed = *role;
    changed->rules.items = rules.items;
    changed->rules.len = rules.len;
    if (!schema_equal(&rbac_v1_cluster_role_type, changed, role)) {
        plan_update(plan, &rbac_v1_cluster_role_kind, changed);
    }
    return NULL;
}

static void map_role(const struct world *world, const void *object, struct str_list *ret)
{
    struct object_pointers all = world_all(world, &rbac_v1_cluster_role_kind);

    for (size_t i = 0; i < all.len; i++) {
        const struct rbac_v1_cluster_role *role = all.items[i];

        if (role->aggregation_rule != NULL) {
            *LIST_ADD(world->arena, ret) = role->metadata.name;
        }
    }
}

const struct controller cluster_role_aggregation_controller = {
    .name = "clusterrole-aggregation-controller",
    .account = "clusterrole-aggregation-controller",
    .kind = &rbac_v1_cluster_role_kind,
    .map = map_role,
    .workers = 1,
    .plan = cluster_role_aggregation_plan,
};
