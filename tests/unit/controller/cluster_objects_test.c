#include "api/core_v1.h"
#include "api/rbac_v1.h"
#include "controller/controllers.h"
#include "fake_world.h"
#include "schema/map_of.h"
#include "test.h"

TEST("controller/cluster_role_aggregation/rules of the roles selected, each once, by name")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &rbac_v1_cluster_role_kind,
                   "{'metadata':{'name':'all'},'aggregationRule':{'clusterRoleSelectors':[{'matchLabels':{'to':'all'}}]},"
                   "'rules':[{'apiGroups':['old'],'resources':['x'],'verbs':['get']}]}");
#define ROLE(name, label, group) \
    "{'metadata':{'name':'" name "','labels':{'to':'" label "'}},'rules':[{'apiGroups':['" group "'],'resources':['x']," \
    "'verbs':['get']}]}"
    fake_world_add(&fake, &rbac_v1_cluster_role_kind, ROLE("c", "all", "b"));
    fake_world_add(&fake, &rbac_v1_cluster_role_kind, ROLE("b", "all", "b"));
    fake_world_add(&fake, &rbac_v1_cluster_role_kind, ROLE("a", "all", "z"));
    fake_world_add(&fake, &rbac_v1_cluster_role_kind, ROLE("d", "other", "d"));
    CHECK_STR(fake_world_plan(&fake, &cluster_role_aggregation_controller, "all"), "update ClusterRole all\n");
    const struct rbac_v1_cluster_role *role = fake.plan.items[0].object;

    CHECK_INT(role->rules.len, 2);
    CHECK_STR(role->rules.items[0].api_groups.items[0], "z");
    CHECK_STR(role->rules.items[1].api_groups.items[0], "b");
    fake_world_apply(&fake);
    CHECK_STR(fake_world_plan(&fake, &cluster_role_aggregation_controller, "all"), "");
    CHECK_STR(fake_world_plan(&fake, &cluster_role_aggregation_controller, "a"), "");
    fake_world_done(&fake);
}

static struct str used(struct fake_world *fake, const char *name)
{
    const struct core_v1_resource_quota *quota = fake_world_get(fake, &core_v1_resource_quota_kind, "d/q");
    const struct quantity *amount = quantity_map_get(&quota->status.used, str_of(name));

    return amount != NULL ? amount->text : STR("absent");
}

TEST("controller/resource_quota/what a namespace's objects cost")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &core_v1_resource_quota_kind,
                   "{'metadata':{'name':'q','namespace':'d'},'spec':{'hard':{'pods':'10','requests.cpu':'2','limits.memory':"
                   "'1Gi','services':'1','count/deployments.apps':'5','count/things.example.com':'3'}},'status':{'used':"
                   "{'count/things.example.com':'2'}}}");
#define POD(name, phase) \
    "{'metadata':{'name':'" name "','namespace':'d'},'spec':{'containers':[{'name':'c','resources':{'requests':{'cpu':" \
    "'250m'},'limits':{'memory':'100Mi'}}}]},'status':{'phase':'" phase "'}}"
    fake_world_add(&fake, &core_v1_pod_kind, POD("a", "Running"));
    fake_world_add(&fake, &core_v1_pod_kind, POD("b", "Pending"));
    fake_world_add(&fake, &core_v1_pod_kind, POD("done", "Succeeded"));
    fake_world_add(&fake, &core_v1_pod_kind, "{'metadata':{'name':'a','namespace':'other'}}");
    fake_world_add(&fake, &core_v1_service_kind, "{'metadata':{'name':'s','namespace':'d'}}");
    CHECK_STR(fake_world_plan(&fake, &resource_quota_controller, "d/q"), "update-status ResourceQuota d/q\n");
    fake_world_apply(&fake);
    CHECK_STR(used(&fake, "pods"), "2");
    CHECK_STR(used(&fake, "requests.cpu"), "500m");
    CHECK_STR(used(&fake, "limits.memory"), "200Mi");
    CHECK_STR(used(&fake, "services"), "1");
    CHECK_STR(used(&fake, "count/deployments.apps"), "0");
    CHECK_STR(used(&fake, "count/things.example.com"), "2"); /* booked; not counted here */
    CHECK_STR(fake_world_plan(&fake, &resource_quota_controller, "d/q"), "");
    CHECK(fake.plan.requeue_after > 0);
    fake_world_remove(&fake, &core_v1_pod_kind, "d/b");
    fake_world_plan(&fake, &resource_quota_controller, "d/q");
    fake_world_apply(&fake);
    CHECK_STR(used(&fake, "pods"), "1");
    CHECK_STR(used(&fake, "requests.cpu"), "250m");
    fake_world_done(&fake);
}

TEST("controller/resource_quota/scopes choose the pods that count")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &core_v1_resource_quota_kind,
                   "{'metadata':{'name':'q','namespace':'d'},'spec':{'hard':{'pods':'10'},'scopes':['BestEffort']}}");
    fake_world_add(&fake, &core_v1_pod_kind, POD("a", "Running"));
    fake_world_add(&fake, &core_v1_pod_kind,
                   "{'metadata':{'name':'b','namespace':'d'},'spec':{'containers':[{'name':'c'}]}}");
    fake_world_plan(&fake, &resource_quota_controller, "d/q");
    fake_world_apply(&fake);
    CHECK_STR(used(&fake, "pods"), "1");
    fake_world_done(&fake);
}

TEST("controller/controllers/which run is said by name, with stock's names")
{
    static const struct {
        const char *wanted[3];
        bool deployment, job;
    } rows[] = {
        {{NULL}, true, true},
        {{"*"}, true, true},
        {{"*", "-job-controller"}, true, false},
        {{"deployment-controller"}, true, false},
        {{"-deployment-controller", "*"}, false, true},
        {{"-deployment-controller"}, false, false},
    };
    struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct str_list wanted = {0};

        for (size_t n = 0; n < 3 && rows[i].wanted[n] != NULL; n++) {
            *LIST_ADD(arena, &wanted) = str_of(rows[i].wanted[n]);
        }
        CHECK_INT(controllers_is_enabled(&wanted, "deployment-controller"), rows[i].deployment);
        CHECK_INT(controllers_is_enabled(&wanted, "job-controller"), rows[i].job);
    }
    CHECK(controllers_is_name(STR("garbage-collector-controller")) && !controllers_is_name(STR("nonsense")));
    arena_free(arena);
}
