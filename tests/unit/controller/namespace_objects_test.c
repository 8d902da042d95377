#include "api/core_v1.h"
#include "controller/controllers.h"
#include "controller/namespace_content.h"
#include "fake_world.h"
#include "schema/map_of.h"
#include "test.h"

TEST("controller/service_account/every namespace that is not ending gets its default account")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &core_v1_namespace_kind, "{'metadata':{'name':'a'},'status':{'phase':'Active'}}");
    fake_world_add(&fake, &core_v1_namespace_kind, "{'metadata':{'name':'b'},'status':{'phase':'Terminating'}}");
    CHECK_STR(fake_world_plan(&fake, &service_account_controller, "a"), "create ServiceAccount a/default\n");
    CHECK(fake.plan.items[0].may_exist);
    fake_world_apply(&fake);
    CHECK_STR(fake_world_plan(&fake, &service_account_controller, "a"), "");
    CHECK_STR(fake_world_plan(&fake, &service_account_controller, "b"), "");
    CHECK_STR(fake_world_plan(&fake, &service_account_controller, "absent"), "");
    fake_world_done(&fake);
}

TEST("controller/root_ca/every namespace gets the certificates, and again when they are changed")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &core_v1_namespace_kind, "{'metadata':{'name':'a'}}");
    CHECK_STR(fake_world_plan(&fake, &root_ca_controller, "a"), "");
    fake.settings.root_ca = STR("PEM");
    CHECK_STR(fake_world_plan(&fake, &root_ca_controller, "a"), "create ConfigMap a/kube-root-ca.crt\n");
    fake_world_apply(&fake);
    CHECK_STR(fake_world_plan(&fake, &root_ca_controller, "a"), "");
    struct core_v1_config_map *map = fake_world_get(&fake, &core_v1_config_map_kind, "a/kube-root-ca.crt");

    CHECK_STR(str_map_get(&map->data, STR("ca.crt")), "PEM");
    map->data.items[0].value = STR("other");
    CHECK_STR(fake_world_plan(&fake, &root_ca_controller, "a"), "update ConfigMap a/kube-root-ca.crt\n");
    fake_world_apply(&fake);
    map = fake_world_get(&fake, &core_v1_config_map_kind, "a/kube-root-ca.crt");
    CHECK_STR(str_map_get(&map->data, STR("ca.crt")), "PEM");
    fake_world_done(&fake);
}

TEST("controller/namespace/its content goes, pods first, then it is let go")
{
    struct fake_world fake;
    struct namespace_remainder remainders[] = {{&core_v1_config_map_kind, 2}, {&core_v1_pod_kind, 1}};
    struct namespace_content content = {.items = remainders, .len = 2};

    fake_world_init(&fake);
    fake_world_add(&fake, &core_v1_namespace_kind,
                   "{'metadata':{'name':'a','deletionTimestamp':'2023-01-01T00:00:00Z'},'spec':{'finalizers':['kubernetes'"
                   ",'mine']},'status':{'phase':'Terminating'}}");
    fake_world_add(&fake, &core_v1_namespace_kind, "{'metadata':{'name':'b'},'spec':{'finalizers':['kubernetes']}}");
    fake.world.gathered = &content;
    CHECK_STR(fake_world_plan(&fake, &namespace_controller, "b"), "");
    CHECK_STR(fake_world_plan(&fake, &namespace_controller, "a"),
              "delete Pod a/* Background\nupdate-status Namespace a\n");
    const struct core_v1_namespace *namespace = plan_last(&fake.plan)->object;

    CHECK_INT(namespace->status.conditions.len, 5);
    CHECK_STR(namespace->status.conditions.items[3].type, "NamespaceContentRemaining");
    CHECK_STR(namespace->status.conditions.items[3].message,
              "Some resources are remaining: configmaps. has 2 resource instances, pods. has 1 resource instances");
    CHECK(fake.plan.requeue_after > 0);
    content.len = 1;
    CHECK_STR(fake_world_plan(&fake, &namespace_controller, "a"),
              "delete ConfigMap a/* Background\nupdate-status Namespace a\n");
    content.len = 0;
    CHECK_STR(fake_world_plan(&fake, &namespace_controller, "a"), "update Namespace a\n");
    CHECK_STR(fake.plan.items[0].subresource, "finalize");
    namespace = fake.plan.items[0].object;
    CHECK_INT(namespace->spec.finalizers.len, 1);
    CHECK_STR(namespace->spec.finalizers.items[0], "mine");
    fake_world_done(&fake);
}
