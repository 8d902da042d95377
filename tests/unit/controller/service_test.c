#include "api/core_v1.h"
#include "api/discovery_v1.h"
#include "controller/controllers.h"
#include "fake_world.h"
#include "schema/map_of.h"
#include "schema/object.h"
#include "test.h"

static const char web[] =
    "{'metadata':{'name':'web','namespace':'d','uid':'s','labels':{'l':'1'},'creationTimestamp':'2023-01-01T00:00:00Z'},"
    "'spec':{'clusterIP':'10.0.0.1','selector':{'app':'web'},'ipFamilies':['IPv4'],'ports':[{'name':'http','port':80,"
    "'targetPort':'web','protocol':'TCP'}]}}";

#define POD(name, ip, ready, more) \
    "{'metadata':{'name':'" name "','namespace':'d','uid':'" name "'" more ",'labels':{'app':'web'}},'spec':{'nodeName':" \
    "'n','containers':[{'name':'c','ports':[{'name':'web','containerPort':8080,'protocol':'TCP'}]}]},'status':{'phase':" \
    "'Running','podIP':'" ip "','podIPs':[{'ip':'" ip "'}],'conditions':[{'type':'Ready','status':'" ready "'," \
    "'lastTransitionTime':'2023-02-01T00:00:00Z'}]}}"
#define ENDPOINT(name, ip, ready, serving, terminating) \
    "{\"addresses\":[\"" ip "\"],\"conditions\":{\"ready\":" ready ",\"serving\":" serving ",\"terminating\":" terminating \
    "},\"targetRef\":{\"kind\":\"Pod\",\"namespace\":\"d\",\"name\":\"" name "\",\"uid\":\"" name "\"},\"nodeName\":\"n\"," \
    "\"zone\":\"z\"}"

TEST("controller/endpointslice/the addresses of a service's pods")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &core_v1_service_kind, web);
    fake_world_add(&fake, &core_v1_node_kind, "{'metadata':{'name':'n','labels':{'topology.kubernetes.io/zone':'z'}}}");
    fake_world_add(&fake, &core_v1_pod_kind, POD("b", "10.1.0.2", "False", ""));
    fake_world_add(&fake, &core_v1_pod_kind, POD("a", "10.1.0.1", "True", ""));
    fake_world_add(&fake, &core_v1_pod_kind, POD("c", "10.1.0.3", "True", ",'deletionTimestamp':'2023-02-01T00:00:00Z'"));
    fake_world_add(&fake, &core_v1_pod_kind, "{'metadata':{'name':'x','namespace':'d','labels':{'app':'web'}}}");
    CHECK_STR(fake_world_plan_whole(&fake, &endpointslice_controller, "d/web"),
              "create EndpointSlice d/web-* {\"metadata\":{\"generateName\":\"web-\",\"namespace\":\"d\",\"labels\":{"
              "\"endpointslice.kubernetes.io/managed-by\":\"endpointslice-controller.k8s.io\","
              "\"kubernetes.io/service-name\":\"web\",\"l\":\"1\"},\"annotations\":{"
              "\"endpoints.kubernetes.io/last-change-trigger-time\":\"2023-02-01T00:00:00Z\"},\"ownerReferences\":[{"
              "\"apiVersion\":\"v1\",\"kind\":\"Service\",\"name\":\"web\",\"uid\":\"s\",\"controller\":true,"
              "\"blockOwnerDeletion\":true}]},\"addressType\":\"IPv4\",\"endpoints\":["
              ENDPOINT("a", "10.1.0.1", "true", "true", "false") "," ENDPOINT("b", "10.1.0.2", "false", "false", "false")
              "," ENDPOINT("c", "10.1.0.3", "false", "true", "true")
              "],\"ports\":[{\"name\":\"http\",\"protocol\":\"TCP\",\"port\":8080}]}\n");
    fake_world_apply(&fake);
    CHECK_STR(fake_world_plan(&fake, &endpointslice_controller, "d/web"), "");
    fake_world_remove(&fake, &core_v1_pod_kind, "d/c");
    struct core_v1_pod *pod = fake_world_get(&fake, &core_v1_pod_kind, "d/b");

    pod->status.conditions.items[0].status = STR("True");
    struct str plan = fake_world_plan(&fake, &endpointslice_controller, "d/web");

    CHECK(str_has_prefix(plan, STR("update EndpointSlice d/web-")));
    const struct discovery_v1_endpoint_slice *slice = fake.plan.items[0].object;

    CHECK_INT(fake.plan.len, 1);
    CHECK_INT(slice->endpoints.len, 2);
    CHECK(*slice->endpoints.items[1].conditions.ready);
    fake_world_done(&fake);
}

TEST("controller/endpointslice/a service without pods has an empty slice, which the first pods take")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &core_v1_service_kind, web);
    fake_world_plan(&fake, &endpointslice_controller, "d/web");
    const struct discovery_v1_endpoint_slice *slice = fake.plan.items[0].object;

    CHECK(slice->endpoints.len == 0 && slice->ports.len == 0);
    fake_world_apply(&fake);
    CHECK_STR(fake_world_plan(&fake, &endpointslice_controller, "d/web"), "");
    fake_world_add(&fake, &core_v1_pod_kind, POD("a", "10.1.0.1", "True", ""));
    CHECK(str_has_prefix(fake_world_plan(&fake, &endpointslice_controller, "d/web"), STR("update EndpointSlice ")));
    CHECK_INT(fake.plan.len, 1);
    fake_world_apply(&fake);
    fake_world_remove(&fake, &core_v1_pod_kind, "d/a");
    CHECK(str_has_prefix(fake_world_plan(&fake, &endpointslice_controller, "d/web"), STR("update EndpointSlice ")));
    CHECK_INT(fake.plan.len, 1);
    fake_world_done(&fake);
}

TEST("controller/endpointslice/many endpoints are split, with few writes when one changes")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake.settings.endpoints_per_slice = 2;
    fake_world_add(&fake, &core_v1_service_kind, web);
    for (int i = 0; i < 5; i++) {
        fake_world_add(&fake, &core_v1_pod_kind,
                       arena_printf(fake.arena, POD("p%d", "10.1.0.%d", "True", ""), i, i, i, i).p);
    }
    fake_world_plan(&fake, &endpointslice_controller, "d/web");
    CHECK_INT(fake.plan.len, 3);
    fake_world_apply(&fake);
    CHECK_STR(fake_world_plan(&fake, &endpointslice_controller, "d/web"), "");
    fake_world_remove(&fake, &core_v1_pod_kind, "d/p0");
    fake_world_add(&fake, &core_v1_pod_kind, POD("q", "10.1.0.9", "True", ""));
    fake_world_plan(&fake, &endpointslice_controller, "d/web");
    CHECK_INT(fake.plan.len, 1); /* the new one takes the place of the one that went */
    fake_world_apply(&fake);
    fake_world_remove(&fake, &core_v1_pod_kind, "d/p4");
    struct str plan = fake_world_plan(&fake, &endpointslice_controller, "d/web");

    CHECK(str_has_prefix(plan, STR("delete EndpointSlice ")));
    CHECK_INT(fake.plan.len, 1);
    fake_world_done(&fake);
}

TEST("controller/endpointslice/services that are not of pods have none")
{
    static const char *const services[] = {
        "{'metadata':{'name':'web','namespace':'d'},'spec':{'clusterIP':'10.0.0.1','ports':[{'port':80}]}}",
        "{'metadata':{'name':'web','namespace':'d'},'spec':{'type':'ExternalName','selector':{'app':'web'}}}",
    };

    for (size_t i = 0; i < COUNT_OF(services); i++) {
        struct fake_world fake;

        fake_world_init(&fake);
        fake_world_add(&fake, &core_v1_service_kind, services[i]);
        fake_world_add(&fake, &core_v1_pod_kind, POD("a", "10.1.0.1", "True", ""));
        CHECK_STR(fake_world_plan(&fake, &endpointslice_controller, "d/web"), "");
        CHECK_STR(fake_world_plan(&fake, &endpoints_controller, "d/web"), "");
        fake_world_done(&fake);
    }
}

TEST("controller/endpoints/ready addresses and others, and none of pods that end")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &core_v1_service_kind, web);
    fake_world_add(&fake, &core_v1_pod_kind, POD("b", "10.1.0.2", "False", ""));
    fake_world_add(&fake, &core_v1_pod_kind, POD("a", "10.1.0.1", "True", ""));
    fake_world_add(&fake, &core_v1_pod_kind, POD("c", "10.1.0.3", "True", ",'deletionTimestamp':'2023-02-01T00:00:00Z'"));
#define ADDRESS(name, ip) \
    "{\"ip\":\"" ip "\",\"nodeName\":\"n\",\"targetRef\":{\"kind\":\"Pod\",\"namespace\":\"d\",\"name\":\"" name \
    "\",\"uid\":\"" name "\"}}"
    CHECK_STR(fake_world_plan_whole(&fake, &endpoints_controller, "d/web"),
              "create Endpoints d/web {\"metadata\":{\"name\":\"web\",\"namespace\":\"d\",\"labels\":{"
              "\"endpoints.kubernetes.io/managed-by\":\"endpoint-controller\",\"l\":\"1\"},\"annotations\":{"
              "\"endpoints.kubernetes.io/last-change-trigger-time\":\"2023-02-01T00:00:00Z\"}},\"subsets\":[{"
              "\"addresses\":[" ADDRESS("a", "10.1.0.1") "],\"notReadyAddresses\":[" ADDRESS("b", "10.1.0.2")
              "],\"ports\":[{\"name\":\"http\",\"port\":8080,\"protocol\":\"TCP\"}]}]}\n");
    fake_world_apply(&fake);
    CHECK_STR(fake_world_plan(&fake, &endpoints_controller, "d/web"), "");
    fake_world_remove(&fake, &core_v1_service_kind, "d/web");
    CHECK_STR(fake_world_plan(&fake, &endpoints_controller, "d/web"), "delete Endpoints d/web\n");
    fake_world_done(&fake);
}
