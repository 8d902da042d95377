#include "api/apps_v1.h"
#include "api/policy_v1.h"
#include "base/env.h"
#include "controller/controllers.h"
#include "fake_world.h"
#include "test.h"

#define BUDGET(spec, status) \
    "{'metadata':{'name':'b','namespace':'d','generation':2},'spec':{'selector':{'matchLabels':{'app':'web'}}," spec \
    "},'status':{" status "}}"
#define POD(name, ready, more)                                                                                       \
    "{'metadata':{'name':'" name "','namespace':'d','labels':{'app':'web'},'ownerReferences':[{'kind':'ReplicaSet'," \
    "'name':'web-1','uid':'rs','controller':true}]" more "},'status':{'conditions':[{'type':'Ready','status':'" ready "'}]}}"

static const struct row {
    const char *what, *budget;
    int healthy, desired, expected, allowed;
} rows[] = {
    {"at least two of those there", BUDGET("'minAvailable':2", ""), 3, 2, 4, 1},
    {"at least half of the Deployment's five", BUDGET("'minAvailable':'50%'", ""), 3, 3, 5, 0},
    {"at most three of the Deployment's five away", BUDGET("'maxUnavailable':3", ""), 3, 2, 5, 1},
    {"at most a fifth away", BUDGET("'maxUnavailable':'20%'", ""), 3, 4, 5, 0},
    {"one is being evicted",
     BUDGET("'minAvailable':1", "'disruptedPods':{'a':'2023-11-14T22:13:00Z','gone':'2023-11-14T22:13:00Z'}"), 2, 1, 4,
     1},
    {"an eviction came to nothing", BUDGET("'minAvailable':1", "'disruptedPods':{'a':'2023-11-14T22:00:00Z'}"), 3, 1, 4,
     2},
    {"nothing is said", BUDGET("'unhealthyPodEvictionPolicy':'AlwaysAllow'", ""), 3, 0, 0, 0},
};

TEST("controller/disruption/how many pods may be evicted")
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fake_world fake;

        fake_world_init(&fake);
        fake_world_add(&fake, &policy_v1_pod_disruption_budget_kind, rows[i].budget);
        fake_world_add(&fake, &apps_v1_deployment_kind,
                       "{'metadata':{'name':'web','namespace':'d','uid':'dep'},'spec':{'replicas':5}}");
        fake_world_add(&fake, &apps_v1_replica_set_kind,
                       "{'metadata':{'name':'web-1','namespace':'d','uid':'rs','ownerReferences':[{'kind':'Deployment',"
                       "'name':'web','uid':'dep','controller':true}]},'spec':{'replicas':4}}");
        fake_world_add(&fake, &core_v1_pod_kind, POD("a", "True", ""));
        fake_world_add(&fake, &core_v1_pod_kind, POD("b", "True", ""));
        fake_world_add(&fake, &core_v1_pod_kind, POD("c", "True", ""));
        fake_world_add(&fake, &core_v1_pod_kind, POD("ill", "False", ""));
        fake_world_add(&fake, &core_v1_pod_kind, "{'metadata':{'name':'x','namespace':'d','labels':{'app':'db'}}}");
        CHECK_STR(fake_world_plan(&fake, &disruption_controller, "d/b"), "update-status PodDisruptionBudget d/b\n");
        fake_world_apply(&fake);
        const struct policy_v1_pod_disruption_budget *budget =
            fake_world_get(&fake, &policy_v1_pod_disruption_budget_kind, "d/b");

        if (budget->status.current_healthy != rows[i].healthy || budget->status.desired_healthy != rows[i].desired ||
            budget->status.expected_pods != rows[i].expected || budget->status.disruptions_allowed != rows[i].allowed) {
            test_fail(__FILE__, __LINE__, "%s: %d healthy, %d desired, %d expected, %d allowed", rows[i].what,
                      budget->status.current_healthy, budget->status.desired_healthy, budget->status.expected_pods,
                      budget->status.disruptions_allowed);
        }
        CHECK_INT(budget->status.observed_generation, 2);
        CHECK_STR(budget->status.conditions.items[0].reason,
                  rows[i].allowed > 0 ? "SufficientPods" : "InsufficientPods");
        CHECK_STR(fake_world_plan(&fake, &disruption_controller, "d/b"), "");
        fake_world_done(&fake);
    }
}
