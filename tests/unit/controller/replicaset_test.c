#include "api/apps_v1.h"
#include "base/env.h"
#include "controller/controllers.h"
#include "controller/pod_util.h"
#include "fake_world.h"
#include "test.h"

#include <string.h>

static const char web[] = "{'metadata':{'name':'web','namespace':'default','uid':'rs-1'},'spec':{'replicas':3,"
                          "'selector':{'matchLabels':{'app':'web'}},'template':{'metadata':{'labels':{'app':'web'}},"
                          "'spec':{'containers':[{'name':'c','image':'nginx'}]}}}}";

#define OWNER(uid) \
    "'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'web','uid':'" uid "','controller':true}]"
#define POD(name, more) \
    "{'metadata':{'name':'" name "','namespace':'default','uid':'" name "','labels':{'app':'web'}," OWNER("rs-1") "}" more "}"
#define READY \
    ",'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True','lastTransitionTime':'2023-11-14T00:00:00Z'}]}"

static void add(struct fake_world *fake, const struct kind *kind, const char *json)
{
    fake_world_add(fake, kind, json);
}

TEST("controller/replicaset/missing pods are created in slow-start batches, with owner and template")
{
    struct fake_world fake;

    fake_world_init(&fake);
    add(&fake, &apps_v1_replica_set_kind, web);
    CHECK_STR(fake_world_plan(&fake, &replicaset_controller, "default/web"),
              "create Pod default/web-*\ncreate Pod default/web-*\ncreate Pod default/web-*\n"
              "update-status ReplicaSet default/web\n");
    const struct plan_action *action = &fake.plan.items[1]; /* after the step of comparing */
    const struct core_v1_pod *pod = action->object;

    CHECK_INT(action->batch, 1);
    CHECK(strcmp(action->note.done_reason, "SuccessfulCreate") == 0);
    CHECK_STR(pod->metadata.labels.items[0].value, "web");
    CHECK_STR(pod->spec.containers.items[0].image, "nginx");
    const struct meta_v1_owner_reference *owner = &pod->metadata.owner_references.items[0];

    CHECK_STR(owner->api_version, "apps/v1");
    CHECK_STR(owner->kind, "ReplicaSet");
    CHECK_STR(owner->uid, "rs-1");
    CHECK(*owner->controller && *owner->block_owner_deletion);
    fake_world_apply(&fake);
    CHECK_INT(fake_world_count(&fake, &core_v1_pod_kind), 3);
    CHECK_STR(fake_world_plan_whole(&fake, &replicaset_controller, "default/web"),
              "update-status ReplicaSet default/web {\"metadata\":{\"name\":\"web\",\"namespace\":\"default\","
              "\"uid\":\"rs-1\",\"resourceVersion\":\"5\",\"generation\":1,\"creationTimestamp\":\"2023-11-14T22:13:20Z\"},"
              "\"spec\":{\"replicas\":3,\"selector\":{\"matchLabels\":{\"app\":\"web\"}},\"template\":{\"metadata\":"
              "{\"labels\":{\"app\":\"web\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"nginx\","
              "\"resources\":{}}]}}},\"status\":{\"replicas\":3,\"fullyLabeledReplicas\":3,\"terminatingReplicas\":0,"
              "\"observedGeneration\":1}}\n");
    fake_world_apply(&fake);
    CHECK_STR(fake_world_plan(&fake, &replicaset_controller, "default/web"), "");
    fake_world_done(&fake);
}

TEST("controller/replicaset/finished and dying pods are replaced, and counted as terminating")
{
    struct fake_world fake;

    fake_world_init(&fake);
    add(&fake, &apps_v1_replica_set_kind, web);
    add(&fake, &core_v1_pod_kind, POD("web-a", READY));
    add(&fake, &core_v1_pod_kind, POD("web-b", ",'status':{'phase':'Failed'}"));
    add(&fake, &core_v1_pod_kind,
        "{'metadata':{'name':'web-c','namespace':'default','deletionTimestamp':'2023-11-14T00:00:00Z','labels':{'app':"
        "'web'}," OWNER("rs-1") "}}");
    CHECK_STR(fake_world_plan(&fake, &replicaset_controller, "default/web"),
              "create Pod default/web-*\ncreate Pod default/web-*\nupdate-status ReplicaSet default/web\n");
    const struct apps_v1_replica_set *set = plan_last(&fake.plan)->object;

    CHECK_INT(set->status.replicas, 1);
    CHECK_INT(set->status.ready_replicas, 1);
    CHECK_INT(set->status.available_replicas, 1);
    CHECK_INT(*set->status.terminating_replicas, 1);
    fake_world_done(&fake);
}

TEST("controller/replicaset/an orphan that matches is adopted, one that no longer does is released, others' are left")
{
    struct fake_world fake;

    fake_world_init(&fake);
    add(&fake, &apps_v1_replica_set_kind, web);
    add(&fake, &core_v1_pod_kind, POD("mine", READY));
    add(&fake, &core_v1_pod_kind,
        "{'metadata':{'name':'orphan','namespace':'default','uid':'o','resourceVersion':'1','labels':{'app':'web'}}}");
    add(&fake, &core_v1_pod_kind, "{'metadata':{'name':'stranger','namespace':'default','labels':{'app':'x'}}}");
    add(&fake, &core_v1_pod_kind, "{'metadata':{'name':'far','namespace':'kube-system','labels':{'app':'web'}}}");
    add(&fake, &core_v1_pod_kind,
        "{'metadata':{'name':'done','namespace':'default','labels':{'app':'web'}},'status':{'phase':'Succeeded'}}");
    add(&fake, &core_v1_pod_kind,
        "{'metadata':{'name':'left','namespace':'default','uid':'l','labels':{'app':'y'}," OWNER("rs-1") "}}");
    add(&fake, &core_v1_pod_kind,
        "{'metadata':{'name':'others','namespace':'default','labels':{'app':'web'}," OWNER("rs-2") "}}");
    CHECK_STR(fake_world_plan(&fake, &replicaset_controller, "default/web"),
              "patch Pod default/left {\"metadata\":{\"uid\":\"l\",\"ownerReferences\":[],\"resourceVersion\":\"7\"}}\n"
              "patch Pod default/orphan {\"metadata\":{\"uid\":\"o\",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\","
              "\"kind\":\"ReplicaSet\",\"name\":\"web\",\"uid\":\"rs-1\",\"controller\":true,\"blockOwnerDeletion\":"
              "true}],\"resourceVersion\":\"3\"}}\n"
              "create Pod default/web-*\nupdate-status ReplicaSet default/web\n");
    fake_world_done(&fake);
}

TEST("controller/replicaset/one that is being deleted adopts, releases, creates and deletes nothing")
{
    struct fake_world fake;

    fake_world_init(&fake);
    add(&fake, &apps_v1_replica_set_kind,
        "{'metadata':{'name':'web','namespace':'default','uid':'rs-1','deletionTimestamp':'2023-11-14T00:00:00Z',"
        "'generation':1},'spec':{'replicas':3,'selector':{'matchLabels':{'app':'web'}}},'status':{'replicas':1,"
        "'fullyLabeledReplicas':1,'terminatingReplicas':0,'observedGeneration':1}}");
    add(&fake, &core_v1_pod_kind, POD("mine", ""));
    add(&fake, &core_v1_pod_kind, "{'metadata':{'name':'orphan','namespace':'default','labels':{'app':'web'}}}");
    CHECK_STR(fake_world_plan(&fake, &replicaset_controller, "default/web"), "");
    fake_world_done(&fake);
}

TEST("controller/replicaset/too many pods go: unassigned, not ready, cheap and crowded ones first")
{
    struct fake_world fake;

    fake_world_init(&fake);
    add(&fake, &apps_v1_replica_set_kind, web);
#define ON(node) ",'spec':{'nodeName':'" node "'}"
    add(&fake, &core_v1_pod_kind, POD("b-alone", ON("n2") READY));
    add(&fake, &core_v1_pod_kind, POD("c-crowded", ON("n1") READY));
    add(&fake, &core_v1_pod_kind, POD("d-crowded", ON("n1") READY));
    add(&fake, &core_v1_pod_kind, POD("e-unready", ON("n3") ",'status':{'phase':'Running'}"));
    add(&fake, &core_v1_pod_kind, POD("f-unassigned", ",'status':{'phase':'Pending'}"));
    add(&fake, &core_v1_pod_kind,
        "{'metadata':{'name':'g-cheap','namespace':'default','uid':'g','labels':{'app':'web'},'annotations':"
        "{'controller.kubernetes.io/pod-deletion-cost':'-5'}," OWNER("rs-1") "}" ON("n4") READY "}");
    CHECK_STR(fake_world_plan(&fake, &replicaset_controller, "default/web"),
              "delete Pod default/f-unassigned\ndelete Pod default/e-unready\ndelete Pod default/g-cheap\n"
              "update-status ReplicaSet default/web\n");
    CHECK(fake.plan.items[1].batch == fake.plan.items[2].batch && fake.plan.items[1].batch > 0);
    fake_world_done(&fake);
}

TEST("controller/replicaset/a failure to create shows in the condition until the pods are there")
{
    struct fake_world fake;
    struct status *failure = status_new(STATUS_FORBIDDEN, "exceeded quota");

    fake_world_init(&fake);
    add(&fake, &apps_v1_replica_set_kind, web);
    fake.world.failure = failure;
    fake.world.failed_verb = PLAN_CREATE;
    fake_world_plan(&fake, &replicaset_controller, "default/web");
    const struct plan_action *last = plan_last(&fake.plan);
    const struct apps_v1_replica_set *set = last->object;

    CHECK(last->regardless); /* the creations before it may fail again */
    CHECK_INT(set->status.conditions.len, 1);
    CHECK_STR(set->status.conditions.items[0].type, "ReplicaFailure");
    CHECK_STR(set->status.conditions.items[0].reason, "FailedCreate");
    CHECK_STR(set->status.conditions.items[0].message, "exceeded quota");
    fake_world_apply(&fake);
    fake.world.failure = NULL;
    fake_world_plan(&fake, &replicaset_controller, "default/web");
    set = plan_last(&fake.plan)->object;
    CHECK_INT(set->status.conditions.len, 0);
    status_free(failure);
    fake_world_done(&fake);
}

TEST("controller/replicaset/pods become available after minReadySeconds, and the set is looked at again then")
{
    struct fake_world fake;

    fake_world_init(&fake);
    add(&fake, &apps_v1_replica_set_kind,
        "{'metadata':{'name':'web','namespace':'default','uid':'rs-1'},'spec':{'replicas':1,'minReadySeconds':10,"
        "'selector':{'matchLabels':{'app':'web'}}}}");
    add(&fake, &core_v1_pod_kind,
        POD("a", ",'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True','lastTransitionTime':"
                 "'2023-11-14T22:13:16Z'}]}"));
    fake_world_plan(&fake, &replicaset_controller, "default/web");
    const struct apps_v1_replica_set *set = plan_last(&fake.plan)->object;

    CHECK_INT(set->status.ready_replicas, 1);
    CHECK_INT(set->status.available_replicas, 0);
    CHECK_INT(fake.plan.requeue_after, 6 * ENV_SECOND);
    fake.world.now += 6 * ENV_SECOND;
    fake_world_plan(&fake, &replicaset_controller, "default/web");
    set = plan_last(&fake.plan)->object;
    CHECK_INT(set->status.available_replicas, 1);
    fake_world_done(&fake);
}

/* Pairs of pods of which the first is deleted before the second. */
TEST("controller/replicaset/the order of deletion is stock's")
{
#define WITH(status) "{'metadata':{'name':'p','creationTimestamp':'2023-01-01T00:00:00Z'},'spec':{'nodeName':'n'},'status':" status "}"
#define SINCE(time) "'conditions':[{'type':'Ready','status':'True','lastTransitionTime':'" time "'}]"
    static const char *const pairs[][2] = {
        {"{'metadata':{'name':'p'}}", WITH("{'phase':'Pending'}")},
        {WITH("{'phase':'Pending'}"), WITH("{'phase':'Unknown'}")},
        {WITH("{'phase':'Unknown'}"), WITH("{'phase':'Running'}")},
        {WITH("{'phase':'Running'}"), WITH("{'phase':'Running'," SINCE("2023-01-01T00:00:00Z") "}")},
        {WITH("{'phase':'Running'," SINCE("2023-02-01T00:00:00Z") "}"),
         WITH("{'phase':'Running'," SINCE("2023-01-01T00:00:00Z") "}")},
        {WITH("{'phase':'Running','containerStatuses':[{'name':'c','restartCount':5}]}"),
         WITH("{'phase':'Running','containerStatuses':[{'name':'c','restartCount':4}]}")},
        {"{'metadata':{'name':'p','creationTimestamp':'2023-01-02T00:00:00Z'},'spec':{'nodeName':'n'},'status':{'phase':"
         "'Running'}}",
         WITH("{'phase':'Running'}")},
    };
    struct fake_world fake;

    fake_world_init(&fake);
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        struct pod_ranked first = {fake_world_add(&fake, &core_v1_pod_kind, pairs[i][0]), 0, 0};
        struct pod_ranked second = {fake_world_add(&fake, &core_v1_pod_kind, pairs[i][1]), 0, 0};

        if (pod_deletion_order(&first, &second) >= 0 || pod_deletion_order(&second, &first) <= 0) {
            test_fail(__FILE__, __LINE__, "pair %zu", i);
        }
    }
    fake_world_done(&fake);
}

TEST("controller/replication_controller/does what a ReplicaSet does")
{
    struct fake_world fake;

    fake_world_init(&fake);
    add(&fake, &core_v1_replication_controller_kind,
        "{'metadata':{'name':'old','namespace':'default','uid':'rc'},'spec':{'replicas':2,'selector':{'app':'old'},"
        "'template':{'metadata':{'labels':{'app':'old'}},'spec':{'containers':[{'name':'c','image':'i'}]}}}}");
    add(&fake, &core_v1_pod_kind,
        "{'metadata':{'name':'orphan','namespace':'default','labels':{'app':'old'}},'status':{'phase':'Running'}}");
    struct str plan = fake_world_plan(&fake, &replication_controller, "default/old");

    CHECK(str_has_prefix(plan, STR("patch Pod default/orphan ")));
    CHECK(str_has_suffix(plan, STR("\ncreate Pod default/old-*\nupdate-status ReplicationController default/old\n")));
    const struct core_v1_replication_controller *object = plan_last(&fake.plan)->object;

    CHECK_INT(object->status.replicas, 1);
    CHECK_INT(object->status.fully_labeled_replicas, 1);
    fake_world_apply(&fake);
    fake_world_plan(&fake, &replication_controller, "default/old");
    fake_world_apply(&fake);
    CHECK_STR(fake_world_plan(&fake, &replication_controller, "default/old"), "");
    CHECK_INT(fake_world_count(&fake, &core_v1_pod_kind), 2);
    fake_world_done(&fake);
}

TEST("controller/replicaset/a write of the status that failed is no failure to get pods")
{
    struct fake_world fake;
    struct status *failure = status_new(STATUS_CONFLICT, "changed meanwhile");

    fake_world_init(&fake);
    add(&fake, &apps_v1_replica_set_kind, web);
    fake.world.failure = failure;
    fake.world.failed_verb = PLAN_UPDATE_STATUS;
    fake_world_plan(&fake, &replicaset_controller, "default/web");
    CHECK_INT(((const struct apps_v1_replica_set *)plan_last(&fake.plan)->object)->status.conditions.len, 0);
    status_free(failure);
    fake_world_done(&fake);
}
