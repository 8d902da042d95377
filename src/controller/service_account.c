/* Every namespace has a ServiceAccount "default". */
#include "controller/controllers.h"

#include "api/core_v1.h"
#include "controller/namespace_util.h"

#define NAME "default"

static struct status *service_account_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct core_v1_namespace *namespace = world_find(world, &core_v1_namespace_kind, key);

    if (!namespace_is_active(namespace) ||
        world_find_in(world, &core_v1_service_account_kind, key, STR(NAME)) != NULL) {
        return NULL;
    }
    struct core_v1_service_account *account = ARENA_NEW(plan->arena, struct core_v1_service_account);

    account->metadata.namespace = namespace->metadata.name;
    account->metadata.name = STR(NAME);
    plan_create(plan, &core_v1_service_account_kind, account);
    plan_last(plan)->may_exist = true;
    return NULL;
}

static void map_account(const struct world *world, const void *object, struct str_list *ret)
{
    const struct core_v1_service_account *account = object;

    if (str_is(account->metadata.name, NAME)) {
        *LIST_ADD(world->arena, ret) = account->metadata.namespace;
    }
}

const struct controller service_account_controller = {
    .name = "service-account-controller",
    .account = "service-account-controller",
    .kind = &core_v1_namespace_kind,
    .watches = {{&core_v1_service_account_kind, map_account}},
    .plan = service_account_plan,
};
