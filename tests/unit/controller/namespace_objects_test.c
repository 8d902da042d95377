#include "api/core_v1.h"
#include "controller/controllers.h"
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
