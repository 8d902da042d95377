#include "api/coordination_v1.h"
#include "api/core_v1.h"
#include "base/env.h"
#include "controller/controllers.h"
#include "controller/node_taints.h"
#include "fake_world.h"
#include "schema/object.h"
#include "test.h"

TEST("controller/node_ipam/each node gets the first part that is free")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &core_v1_node_kind, "{'metadata':{'name':'a'}}");
    CHECK_STR(fake_world_plan(&fake, &node_ipam_controller, "a"), "");
    fake.settings.allocate_node_cidrs = true;
    fake.settings.cluster_cidr = STR("10.42.0.0/22,fd00::/62");
    fake_world_add(&fake, &core_v1_node_kind,
                   "{'metadata':{'name':'b'},'spec':{'podCIDR':'10.42.0.0/24','podCIDRs':['10.42.0.0/24','fd00::/64']}}");
    CHECK_STR(fake_world_plan(&fake, &node_ipam_controller, "a"),
              "patch Node a {\"spec\":{\"podCIDR\":\"10.42.1.0/24\",\"podCIDRs\":[\"10.42.1.0/24\",\"fd00:0:0:1::/64\"]}}\n");
    fake.settings.service_cidr = STR("10.42.1.0/25");
    fake_world_add(&fake, &core_v1_node_kind, "{'metadata':{'name':'c'},'spec':{'podCIDRs':['10.42.2.7/32']}}");
    CHECK_STR(fake_world_plan(&fake, &node_ipam_controller, "a"),
              "patch Node a {\"spec\":{\"podCIDR\":\"10.42.3.0/24\",\"podCIDRs\":[\"10.42.3.0/24\",\"fd00:0:0:1::/64\"]}}\n");
    fake_world_apply(&fake);
    CHECK_STR(fake_world_plan(&fake, &node_ipam_controller, "a"), "");
    fake_world_add(&fake, &core_v1_node_kind, "{'metadata':{'name':'d'}}");
    CHECK_STR(fake_world_plan(&fake, &node_ipam_controller, "d"),
              "event Normal CIDRNotAvailable: Node d status is now: CIDRNotAvailable\n");
    fake_world_done(&fake);
}

#define READY(status) "'conditions':[{'type':'Ready','status':'" status "','lastHeartbeatTime':'2023-11-14T22:13:20Z'}]"

TEST("controller/node_lifecycle/conditions put taints on and take them off")
{
    struct fake_world fake;

    fake_world_init(&fake);
    struct core_v1_node *node = fake_world_add(
        &fake, &core_v1_node_kind,
        "{'metadata':{'name':'a'},'spec':{'taints':[{'key':'own','effect':'NoSchedule'}]},'status':{'conditions':[{'type':"
        "'Ready','status':'False','lastHeartbeatTime':'2023-11-14T22:13:20Z'},{'type':'DiskPressure','status':'True'}]}}");

    CHECK_STR(
        fake_world_plan(&fake, &node_lifecycle_controller, "a"),
        "patch Node a {\"metadata\":{\"resourceVersion\":\"1\"},\"spec\":{\"taints\":[{\"key\":\"own\",\"effect\":"
        "\"NoSchedule\"},{\"key\":\"node.kubernetes.io/not-ready\",\"effect\":\"NoSchedule\",\"timeAdded\":"
        "\"2023-11-14T22:13:20Z\"},{\"key\":\"node.kubernetes.io/not-ready\",\"effect\":\"NoExecute\",\"timeAdded\":"
        "\"2023-11-14T22:13:20Z\"},{\"key\":\"node.kubernetes.io/disk-pressure\",\"effect\":\"NoSchedule\","
        "\"timeAdded\":\"2023-11-14T22:13:20Z\"}]}}\n"
        "event Normal NodeNotReady: Node a status is now: NodeNotReady\n");
    fake_world_apply(&fake);
    CHECK_STR(fake_world_plan(&fake, &node_lifecycle_controller, "a"), "");
    node = fake_world_get(&fake, &core_v1_node_kind, "a");
    node->status.conditions.items[0].status = STR("True");
    node->spec.unschedulable = true;
    fake_world_plan(&fake, &node_lifecycle_controller, "a");
    fake_world_apply(&fake);
    node = fake_world_get(&fake, &core_v1_node_kind, "a");
    CHECK_INT(node->spec.taints.len, 3);
    CHECK_STR(node->spec.taints.items[2].key, "node.kubernetes.io/unschedulable");
    fake_world_done(&fake);
}

TEST("controller/node_lifecycle/a node that falls silent becomes unknown, by our clock, and its pods not ready")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &core_v1_node_kind, "{'metadata':{'name':'a'},'status':{" READY("True") "}}");
    fake_world_add(&fake, &core_v1_pod_kind,
                   "{'metadata':{'name':'p','namespace':'default'},'spec':{'nodeName':'a'},'status':{" READY("True") "}}");
    struct coordination_v1_lease *lease =
        fake_world_add(&fake, &coordination_v1_lease_kind,
                       "{'metadata':{'name':'a','namespace':'kube-node-lease'},'spec':{'renewTime':"
                       "'2020-01-01T00:00:00.000000Z'}}"); /* that machine's clock is years behind */

    CHECK_STR(fake_world_plan(&fake, &node_lifecycle_controller, "a"), "");
    CHECK_INT(fake.plan.requeue_after, 50 * ENV_SECOND);
    fake_world_remember(&fake);
    fake.world.now += 40 * ENV_SECOND;
    CHECK_STR(fake_world_plan(&fake, &node_lifecycle_controller, "a"), "");
    CHECK_INT(fake.plan.requeue_after, 10 * ENV_SECOND);
    fake_world_remember(&fake);
    lease->spec.renew_time->seconds += 200000000; /* renewed */
    CHECK_STR(fake_world_plan(&fake, &node_lifecycle_controller, "a"), "");
    CHECK_INT(fake.plan.requeue_after, 50 * ENV_SECOND);
    fake_world_remember(&fake);
    fake.world.now += 51 * ENV_SECOND;
    CHECK_STR(fake_world_plan(&fake, &node_lifecycle_controller, "a"), "update-status Node a\n");
    fake_world_apply(&fake);
    fake_world_remember(&fake);
    const struct core_v1_node *node = fake_world_get(&fake, &core_v1_node_kind, "a");

    CHECK_INT(node->status.conditions.len, 4);
    CHECK_STR(node->status.conditions.items[0].status, "Unknown");
    CHECK_STR(node->status.conditions.items[0].reason, "NodeStatusUnknown");
    CHECK_STR(node->status.conditions.items[1].reason, "NodeStatusNeverUpdated");
    struct str plan = fake_world_plan(&fake, &node_lifecycle_controller, "a");

    CHECK(str_has_prefix(plan, STR("patch Node a ")) && str_contains(plan, STR(TAINT_UNREACHABLE)));
    CHECK(str_has_suffix(plan, STR("event Normal NodeNotReady: Node a status is now: NodeNotReady\n"
                                   "update-status Pod default/p\nevent Warning NodeNotReady: Node is not ready\n")));
    fake_world_apply(&fake);
    CHECK_STR(fake_world_plan(&fake, &node_lifecycle_controller, "a"), "");
    fake_world_done(&fake);
}

TEST("controller/taint_eviction/pods leave a node they do not tolerate, at once or when their time is over")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &core_v1_node_kind,
                   "{'metadata':{'name':'a'},'spec':{'taints':[{'key':'k','effect':'NoExecute','timeAdded':"
                   "'2023-11-14T22:13:20Z'}]}}");
#define POD(name, node, tolerations) \
    "{'metadata':{'name':'" name "','namespace':'d','uid':'" name "'},'spec':{'nodeName':'" node "','tolerations':[" \
    tolerations "]}}"
    fake_world_add(&fake, &core_v1_pod_kind, POD("elsewhere", "b", ""));
    fake_world_add(&fake, &core_v1_pod_kind, POD("stays", "a", "{'key':'k','operator':'Exists'}"));
    fake_world_add(&fake, &core_v1_pod_kind,
                   POD("later", "a", "{'key':'k','operator':'Exists','tolerationSeconds':300}"));
    fake_world_add(&fake, &core_v1_pod_kind, POD("leaves", "a", "{'key':'k','operator':'Exists','effect':'NoSchedule'}"));
    struct str plan = fake_world_plan(&fake, &taint_eviction_controller, "a");

    CHECK(str_has_prefix(plan, STR("event Normal TaintManagerEviction: Marking for deletion Pod d/leaves\n"
                                   "patch Pod d/leaves {\"metadata\":{\"uid\":\"leaves\"},\"status\":")));
    CHECK(str_has_suffix(plan, STR("\ndelete Pod d/leaves\n")));
    CHECK_INT(fake.plan.requeue_after, 300 * ENV_SECOND);
    fake_world_remove(&fake, &core_v1_pod_kind, "d/leaves");
    fake.world.now += 300 * ENV_SECOND;
    CHECK(str_has_suffix(fake_world_plan(&fake, &taint_eviction_controller, "a"), STR("\ndelete Pod d/later\n")));
    fake_world_done(&fake);
}

TEST("controller/pod_gc/a pod without a node whose deletion failed half-way goes after a while")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &core_v1_pod_kind,
                   "{'metadata':{'name':'p','namespace':'d','uid':'u','deletionTimestamp':'2026-01-01T00:00:00Z',"
                   "'deletionGracePeriodSeconds':0},'status':{'phase':'Pending'}}");
    fake.world.now = 1767225600LL * ENV_SECOND;
    CHECK_STR(fake_world_plan(&fake, &pod_gc_controller, "d/p"), "");
    CHECK_INT(fake.plan.requeue_after, 20 * ENV_SECOND);
    fake.world.now += 20 * ENV_SECOND;
    struct str text = fake_world_plan(&fake, &pod_gc_controller, "d/p");

    CHECK(str_has_suffix(text, STR("\ndelete Pod d/p\n")));
    CHECK(str_contains(text, STR("\"phase\":\"Failed\"")) && !str_contains(text, STR("DisruptionTarget")));
    CHECK_INT(*plan_last(&fake.plan)->grace_seconds, 0);
    CHECK_STR(fake_world_plan(&fake, &pod_gc_controller, "d/none"), "");
    fake_world_done(&fake);
}

TEST("controller/pod_gc/pods of a node that is no more go after a while")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &core_v1_node_kind, "{'metadata':{'name':'a'}}");
    fake_world_add(&fake, &core_v1_pod_kind, POD("stays", "a", ""));
    fake_world_add(&fake, &core_v1_pod_kind, POD("orphan", "b", ""));
    CHECK_STR(fake_world_plan(&fake, &pod_gc_controller, "a"), "");
    CHECK_STR(fake_world_plan(&fake, &pod_gc_controller, "b"), "");
    CHECK_INT(fake.plan.requeue_after, 40 * ENV_SECOND);
    fake_world_remember(&fake);
    fake.world.now += 41 * ENV_SECOND;
    CHECK(str_has_suffix(fake_world_plan(&fake, &pod_gc_controller, "b"), STR("\ndelete Pod d/orphan\n")));
    CHECK_INT(*plan_last(&fake.plan)->grace_seconds, 0);
    fake_world_done(&fake);
}
