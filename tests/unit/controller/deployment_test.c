#include "api/apps_v1.h"
#include "base/env.h"
#include "controller/controllers.h"
#include "controller/deployment_history.h"
#include "controller/deployment_rollout.h"
#include "controller/deployment_status.h"
#include "controller/pod_util.h"
#include "fake_world.h"
#include "schema/int_or_string.h"
#include "schema/map_of.h"
#include "schema/object.h"
#include "test.h"

static const char web[] =
    "{'metadata':{'name':'web','namespace':'default','uid':'d','annotations':{'team':'a'}},'spec':{'replicas':3,"
    "'selector':{'matchLabels':{'app':'web'}},'template':{'metadata':{'labels':{'app':'web'}},'spec':{'containers':"
    "[{'name':'c','image':'nginx'}]}},'strategy':{'type':'RollingUpdate','rollingUpdate':{'maxSurge':'25%',"
    "'maxUnavailable':'25%'}},'revisionHistoryLimit':10,'progressDeadlineSeconds':600}}";

TEST("controller/deployment/the first plan makes the set of the template")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &apps_v1_deployment_kind, web);
    struct str plan = fake_world_plan(&fake, &deployment_controller, "default/web");
    const struct apps_v1_replica_set *set = fake.plan.items[0].object;
    struct str hash = str_map_get(&set->metadata.labels, STR("pod-template-hash"));

    CHECK(str_has_prefix(plan, STR("create ReplicaSet default/web-")));
    CHECK(hash.n > 0);
    CHECK(str_eq(set->metadata.name, arena_printf(fake.arena, "web-%.*s", STR_ARG(hash))));
    CHECK(str_eq(str_map_get(&set->spec.selector->match_labels, STR("pod-template-hash")), hash));
    CHECK_STR(str_map_get(&set->spec.selector->match_labels, STR("app")), "web");
    CHECK(str_eq(str_map_get(&set->spec.template.metadata.labels, STR("pod-template-hash")), hash));
    CHECK_INT(*set->spec.replicas, 3);
    CHECK_STR(str_map_get(&set->metadata.annotations, STR("deployment.kubernetes.io/revision")), "1");
    CHECK_STR(str_map_get(&set->metadata.annotations, STR("deployment.kubernetes.io/desired-replicas")), "3");
    CHECK_STR(str_map_get(&set->metadata.annotations, STR("deployment.kubernetes.io/max-replicas")), "4");
    CHECK_STR(str_map_get(&set->metadata.annotations, STR("team")), "a");
    CHECK_STR(set->metadata.owner_references.items[0].uid, "d");
    CHECK_STR(fake.plan.items[1].event_message,
              arena_cstr(fake.arena, arena_printf(fake.arena, "Scaled up replica set web-%.*s from 0 to 3", STR_ARG(hash))));
    const struct apps_v1_deployment *status = plan_last(&fake.plan)->object;
    const struct apps_v1_deployment_condition *progressing =
        deployment_condition_find(&status->status, "Progressing");

    CHECK_STR(deployment_history_revision_of(&status->metadata), "1");
    CHECK_STR(progressing->reason, "NewReplicaSetCreated");
    CHECK_STR(progressing->status, "True");
    CHECK_STR(deployment_condition_find(&status->status, "Available")->status, "False");
    CHECK_STR(deployment_condition_find(&status->status, "Available")->reason, "MinimumReplicasUnavailable");
    fake_world_done(&fake);
}

/* What a kubelet does: pods that are there become ready. */
static bool make_ready(struct fake_world *fake, size_t at_most)
{
    bool acted = false;

    for (size_t i = 0; i < fake->objects.len && at_most > 0; i++) {
        struct core_v1_pod *pod = (void *)fake->objects.items[i].object;

        if (fake->objects.items[i].kind != &core_v1_pod_kind || pod == NULL || pod_is_ready(pod)) {
            continue;
        }
        pod->status.phase = STR("Running");
        pod->spec.node_name = STR("n");
        *LIST_ADD(fake->arena, &pod->status.conditions) = (struct core_v1_pod_condition){
            .type = STR("Ready"),
            .status = STR("True"),
            .last_transition_time = {.seconds = fake->world.now / ENV_SECOND, .is_set = true}};
        acted = true;
        at_most--;
    }
    return acted;
}

static void count_pods(struct fake_world *fake, int *ret_all, int *ret_ready)
{
    *ret_all = *ret_ready = 0;
    LIST_EACH(entry, &fake->objects)
    {
        if (entry->kind == &core_v1_pod_kind && entry->object != NULL) {
            ++*ret_all;
            *ret_ready += pod_is_ready((const struct core_v1_pod *)(void *)entry->object);
        }
    }
}

struct bounds {
    int most, least; /* pods in all, ready pods */
};

/* Controllers and kubelet in turns until nothing changes any more; the bounds hold after every step. */
static void settle(struct fake_world *fake, struct bounds bounds)
{
    for (int round = 0; round < 200; round++) {
        bool acted = false;
        int all, ready;

        fake->world.now += ENV_SECOND;
        acted |= fake_world_step(fake, &deployment_controller);
        acted |= fake_world_step(fake, &replicaset_controller);
        count_pods(fake, &all, &ready);
        if (all > bounds.most || ready < bounds.least) {
            test_fail(__FILE__, __LINE__, "round %d: %d pods, %d ready", round, all, ready);
        }
        acted |= make_ready(fake, 1);
        if (!acted) {
            return;
        }
    }
    test_fail(__FILE__, __LINE__, "no end");
}

static struct apps_v1_deployment *rolled_out(struct fake_world *fake, const char *json)
{
    fake_world_init(fake);
    fake_world_add(fake, &apps_v1_deployment_kind, json);
    settle(fake, (struct bounds){100, 0});
    return fake_world_get(fake, &apps_v1_deployment_kind, "default/web");
}

static void set_image(struct fake_world *fake, const char *image)
{
    struct apps_v1_deployment *deployment = fake_world_get(fake, &apps_v1_deployment_kind, "default/web");

    deployment->spec.template.spec.containers.items[0].image = str_of(image);
    deployment->metadata.generation++;
}

static const struct apps_v1_replica_set *set_of_revision(struct fake_world *fake, const char *revision)
{
    LIST_EACH(entry, &fake->objects)
    {
        if (entry->kind == &apps_v1_replica_set_kind && entry->object != NULL &&
            str_is(str_map_get(&entry->object->metadata.annotations, STR(DEPLOYMENT_REVISION)), revision)) {
            return (const void *)entry->object;
        }
    }
    return NULL;
}

TEST("controller/deployment/rolls out, and says so")
{
    struct fake_world fake;
    const struct apps_v1_deployment *deployment = rolled_out(&fake, web);

    CHECK_INT(deployment->status.replicas, 3);
    CHECK_INT(deployment->status.updated_replicas, 3);
    CHECK_INT(deployment->status.ready_replicas, 3);
    CHECK_INT(deployment->status.available_replicas, 3);
    CHECK_INT(deployment->status.unavailable_replicas, 0);
    CHECK_INT(deployment->status.observed_generation, deployment->metadata.generation);
    CHECK_STR(deployment_condition_find(&deployment->status, "Available")->status, "True");
    CHECK_STR(deployment_condition_find(&deployment->status, "Progressing")->reason, "NewReplicaSetAvailable");
    CHECK(str_has_suffix(deployment_condition_find(&deployment->status, "Progressing")->message,
                         STR("has successfully progressed.")));
    CHECK_STR(deployment_history_revision_of(&deployment->metadata), "1");
    CHECK_STR(fake_world_plan(&fake, &deployment_controller, "default/web"), "");
    fake_world_done(&fake);
}

TEST("controller/deployment/a rolling update keeps within its bounds, and a rollback takes the old set again")
{
    struct fake_world fake;

    rolled_out(&fake, web);
    set_image(&fake, "nginx:2");
    settle(&fake, (struct bounds){4, 3}); /* 25% of 3: one more, none fewer */
    CHECK_INT(fake_world_count(&fake, &apps_v1_replica_set_kind), 2);
    CHECK_INT(fake_world_count(&fake, &core_v1_pod_kind), 3);
    CHECK_INT(*set_of_revision(&fake, "1")->spec.replicas, 0);
    CHECK_INT(*set_of_revision(&fake, "2")->spec.replicas, 3);
    set_image(&fake, "nginx");
    settle(&fake, (struct bounds){4, 3});
    const struct apps_v1_replica_set *set = set_of_revision(&fake, "3");

    CHECK_INT(fake_world_count(&fake, &apps_v1_replica_set_kind), 2);
    CHECK_INT(*set->spec.replicas, 3);
    CHECK_STR(str_map_get(&set->metadata.annotations, STR("deployment.kubernetes.io/revision-history")), "1");
    fake_world_done(&fake);
}

TEST("controller/deployment/an update overtaken by another leaves pods of the last alone")
{
    struct fake_world fake;

    rolled_out(&fake, web);
    set_image(&fake, "nginx:2");
    fake_world_step(&fake, &deployment_controller);
    fake_world_step(&fake, &replicaset_controller);
    make_ready(&fake, 1);
    set_image(&fake, "nginx:3");
    settle(&fake, (struct bounds){4, 3});
    CHECK_INT(*set_of_revision(&fake, "3")->spec.replicas, 3);
    CHECK_INT(*set_of_revision(&fake, "2")->spec.replicas, 0);
    CHECK_INT(*set_of_revision(&fake, "1")->spec.replicas, 0);
    fake_world_done(&fake);
}

TEST("controller/deployment/an image that never gets ready stops the update, and in time that is said")
{
    struct fake_world fake;
    const struct apps_v1_deployment *deployment = rolled_out(&fake, web);

    set_image(&fake, "broken");
    for (int i = 0; i < 20; i++) {
        fake.world.now += ENV_SECOND;
        fake_world_step(&fake, &deployment_controller);
        fake_world_step(&fake, &replicaset_controller);
    }
    int all, ready;

    count_pods(&fake, &all, &ready);
    CHECK_INT(all, 4);
    CHECK_INT(ready, 3);
    fake_world_plan(&fake, &deployment_controller, "default/web");
    CHECK(fake.plan.requeue_after > 500 * ENV_SECOND && fake.plan.requeue_after <= 601 * ENV_SECOND);
    fake.world.now += fake.plan.requeue_after;
    fake_world_step(&fake, &deployment_controller);
    deployment = fake_world_get(&fake, &apps_v1_deployment_kind, "default/web");
    CHECK_STR(deployment_condition_find(&deployment->status, "Progressing")->reason, "ProgressDeadlineExceeded");
    CHECK_STR(deployment_condition_find(&deployment->status, "Progressing")->status, "False");
    CHECK_STR(deployment_condition_find(&deployment->status, "Available")->status, "True");
    fake_world_done(&fake);
}

static void scale_to(struct fake_world *fake, int32_t replicas)
{
    struct apps_v1_deployment *deployment = fake_world_get(fake, &apps_v1_deployment_kind, "default/web");

    *deployment->spec.replicas = replicas;
    deployment->metadata.generation++;
}

TEST("controller/deployment/scales up and down")
{
    struct fake_world fake;

    rolled_out(&fake, web);
    scale_to(&fake, 5);
    settle(&fake, (struct bounds){5, 3});
    CHECK_INT(fake_world_count(&fake, &core_v1_pod_kind), 5);
    CHECK_STR(str_map_get(&set_of_revision(&fake, "1")->metadata.annotations,
                          STR("deployment.kubernetes.io/desired-replicas")),
              "5");
    scale_to(&fake, 0);
    settle(&fake, (struct bounds){5, 0});
    CHECK_INT(fake_world_count(&fake, &core_v1_pod_kind), 0);
    CHECK_INT(fake_world_count(&fake, &apps_v1_replica_set_kind), 1);
    fake_world_done(&fake);
}

TEST("controller/deployment/resized in the middle of an update, the sets grow in proportion")
{
    struct fake_world fake;

    rolled_out(&fake, web);
    set_image(&fake, "broken");
    for (int i = 0; i < 10; i++) {
        fake_world_step(&fake, &deployment_controller);
        fake_world_step(&fake, &replicaset_controller);
    }
    CHECK_INT(*set_of_revision(&fake, "1")->spec.replicas, 3);
    CHECK_INT(*set_of_revision(&fake, "2")->spec.replicas, 1);
    scale_to(&fake, 12);
    fake_world_step(&fake, &deployment_controller);
    CHECK_INT(*set_of_revision(&fake, "1")->spec.replicas, 11); /* 15 with surge, 3 to 1 */
    CHECK_INT(*set_of_revision(&fake, "2")->spec.replicas, 4);
    fake_world_done(&fake);
}

TEST("controller/deployment/paused, it scales but does not roll; resumed, it does")
{
    struct fake_world fake;
    struct apps_v1_deployment *deployment = rolled_out(&fake, web);

    deployment = fake_world_get(&fake, &apps_v1_deployment_kind, "default/web");
    deployment->spec.paused = true;
    set_image(&fake, "nginx:2");
    scale_to(&fake, 4);
    settle(&fake, (struct bounds){4, 3});
    CHECK_INT(fake_world_count(&fake, &apps_v1_replica_set_kind), 1);
    CHECK_INT(fake_world_count(&fake, &core_v1_pod_kind), 4);
    deployment = fake_world_get(&fake, &apps_v1_deployment_kind, "default/web");
    CHECK_STR(deployment_condition_find(&deployment->status, "Progressing")->reason, "DeploymentPaused");
    CHECK_STR(deployment_condition_find(&deployment->status, "Progressing")->status, "Unknown");
    deployment->spec.paused = false;
    deployment->metadata.generation++;
    settle(&fake, (struct bounds){5, 3});
    CHECK_INT(*set_of_revision(&fake, "2")->spec.replicas, 4);
    fake_world_done(&fake);
}

TEST("controller/deployment/Recreate ends all old pods before it makes new ones")
{
    struct fake_world fake;

    rolled_out(&fake, "{'metadata':{'name':'web','namespace':'default','uid':'d'},'spec':{'replicas':3,'selector':"
                      "{'matchLabels':{'app':'web'}},'template':{'metadata':{'labels':{'app':'web'}},'spec':{"
                      "'containers':[{'name':'c','image':'nginx'}]}},'strategy':{'type':'Recreate'},"
                      "'progressDeadlineSeconds':600}}");
    set_image(&fake, "nginx:2");
    fake_world_step(&fake, &deployment_controller);
    CHECK_INT(fake_world_count(&fake, &apps_v1_replica_set_kind), 1);
    fake_world_step(&fake, &deployment_controller); /* the old pods still run */
    CHECK_INT(fake_world_count(&fake, &apps_v1_replica_set_kind), 1);
    settle(&fake, (struct bounds){3, 0});
    CHECK_INT(*set_of_revision(&fake, "2")->spec.replicas, 3);
    CHECK_INT(fake_world_count(&fake, &core_v1_pod_kind), 3);
    fake_world_done(&fake);
}

TEST("controller/deployment/old sets beyond the history limit go, oldest first")
{
    struct fake_world fake;
    struct apps_v1_deployment *deployment;

    rolled_out(&fake, web);
    deployment = fake_world_get(&fake, &apps_v1_deployment_kind, "default/web");
    *deployment->spec.revision_history_limit = 1;
    set_image(&fake, "nginx:2");
    settle(&fake, (struct bounds){4, 3});
    set_image(&fake, "nginx:3");
    settle(&fake, (struct bounds){4, 3});
    CHECK_INT(fake_world_count(&fake, &apps_v1_replica_set_kind), 2);
    CHECK(set_of_revision(&fake, "1") == NULL && set_of_revision(&fake, "2") != NULL);
    fake_world_done(&fake);
}

TEST("controller/deployment/a set of the wanted name with another template raises the collision count")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &apps_v1_deployment_kind, web);
    const struct apps_v1_deployment *deployment = fake_world_get(&fake, &apps_v1_deployment_kind, "default/web");
    struct apps_v1_replica_set *other = deployment_history_new_set(fake.arena, deployment);

    fake_world_add(&fake, &apps_v1_replica_set_kind,
                   arena_printf(fake.arena, "{'metadata':{'name':'%.*s','namespace':'default','labels':{'x':'y'}}}",
                                STR_ARG(other->metadata.name))
                       .p);
    CHECK_STR(fake_world_plan(&fake, &deployment_controller, "default/web"), "update-status Deployment default/web\n");
    fake_world_apply(&fake);
    deployment = fake_world_get(&fake, &apps_v1_deployment_kind, "default/web");
    CHECK_INT(*deployment->status.collision_count, 1);
    fake_world_plan(&fake, &deployment_controller, "default/web");
    CHECK(fake.plan.items[0].verb == PLAN_CREATE && !str_eq(fake.plan.items[0].name, other->metadata.name));
    fake_world_done(&fake);
}

TEST("controller/deployment/a set that can't get its pods, or can't be made, shows in the conditions")
{
    struct fake_world fake;
    struct status *failure = status_new(STATUS_FORBIDDEN, "no more sets");

    fake_world_init(&fake);
    fake_world_add(&fake, &apps_v1_deployment_kind, web);
    fake.world.failure = failure;
    fake.world.failed_verb = PLAN_CREATE;
    fake_world_plan(&fake, &deployment_controller, "default/web");
    CHECK(plan_last(&fake.plan)->regardless);
    const struct apps_v1_deployment *deployment = plan_last(&fake.plan)->object;
    const struct apps_v1_deployment_condition *condition = deployment_condition_find(&deployment->status, "Progressing");

    CHECK_STR(condition->status, "False");
    CHECK_STR(condition->reason, "FailedCreate");
    CHECK(str_has_prefix(condition->message, STR("Failed to create new replica set \"web-")) &&
          str_has_suffix(condition->message, STR("\": no more sets")));
    fake.world.failure = NULL;
    fake_world_plan(&fake, &deployment_controller, "default/web");
    fake_world_apply(&fake);
    fake.world.failure = failure;
    fake_world_step(&fake, &replicaset_controller);
    fake.world.failure = NULL;
    fake_world_step(&fake, &deployment_controller);
    deployment = fake_world_get(&fake, &apps_v1_deployment_kind, "default/web");
    condition = deployment_condition_find(&deployment->status, "ReplicaFailure");
    CHECK_STR(condition->status, "True");
    CHECK_STR(condition->reason, "FailedCreate");
    CHECK_STR(condition->message, "no more sets");
    status_free(failure);
    fake_world_done(&fake);
}

TEST("controller/deployment/pods that a set still counts but no longer wants hold up no rolling update's bounds")
{
    int32_t replicas = 7, old_wants = 5, new_wants = 3, ret[1];
    struct int_or_string one = int_or_string_of(1);
    struct apps_v1_rolling_update_deployment rolling = {.max_surge = &one, .max_unavailable = &one};
    const struct apps_v1_deployment deployment = {
        .spec = {.replicas = &replicas, .strategy = {.type = STR("RollingUpdate"), .rolling_update = &rolling}}};
    /* The old set has just let one of its six pods go, and its status is from before. */
    struct apps_v1_replica_set old = {.spec.replicas = &old_wants, .status.available_replicas = 6};
    struct apps_v1_replica_set new = {.spec.replicas = &new_wants, .status.available_replicas = 2};
    struct apps_v1_replica_set *both[] = {&old, &new};
    const struct replica_sets all = {both, 2}, olds = {both, 1};

    CHECK(rollout_scale_down_old(&deployment, &all, &olds, &new, ret));
    CHECK_INT(ret[0], 4); /* and 2 new ones: 6, of 7 with 1 less */
}
