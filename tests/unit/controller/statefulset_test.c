#include "api/apps_v1.h"
#include "base/env.h"
#include "controller/controllers.h"
#include "controller/pod_util.h"
#include "controller/revisions.h"
#include "fake_world.h"
#include "schema/map_of.h"
#include "schema/object.h"
#include "test.h"

#define SET(more)                                                                                                     \
    "{'metadata':{'name':'db','namespace':'d','uid':'s'},'spec':{'replicas':3,'serviceName':'db','selector':{"        \
    "'matchLabels':{'app':'db'}},'template':{'metadata':{'labels':{'app':'db'}},'spec':{'containers':[{'name':'c',"   \
    "'image':'i'}],'volumes':[{'name':'other','emptyDir':{}}]}},'volumeClaimTemplates':[{'metadata':{'name':'data'},"  \
    "'spec':{'accessModes':['ReadWriteOnce']}}],'updateStrategy':{'type':'RollingUpdate','rollingUpdate':{"            \
    "'partition':0}}" more "}}"

static struct apps_v1_stateful_set *set_of(struct fake_world *fake)
{
    return fake_world_get(fake, &apps_v1_stateful_set_kind, "d/db");
}

static bool make_ready(struct fake_world *fake)
{
    bool acted = false;

    LIST_EACH(entry, &fake->objects)
    {
        struct core_v1_pod *pod = (void *)entry->object;

        if (entry->kind != &core_v1_pod_kind || pod == NULL || pod_is_ready(pod)) {
            continue;
        }
        pod->status.phase = STR("Running");
        *LIST_ADD(fake->arena, &pod->status.conditions) = (struct core_v1_pod_condition){
            .type = STR("Ready"),
            .status = STR("True"),
            .last_transition_time = {.seconds = fake->world.now / ENV_SECOND, .is_set = true}};
        acted = true;
    }
    return acted;
}

static void settle(struct fake_world *fake)
{
    for (int round = 0; round < 100; round++) {
        bool acted = fake_world_step(fake, &statefulset_controller);

        fake->world.now += ENV_SECOND;
        if (!make_ready(fake) && !acted) {
            return;
        }
    }
    test_fail(__FILE__, __LINE__, "no end");
}

static struct str image_of(struct fake_world *fake, const char *pod)
{
    return ((const struct core_v1_pod *)fake_world_get(fake, &core_v1_pod_kind, pod))->spec.containers.items[0].image;
}

TEST("controller/statefulset/pods come in order, with names and claims of their own")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &apps_v1_stateful_set_kind, SET(""));
    struct str plan = fake_world_plan(&fake, &statefulset_controller, "d/db");

    CHECK(str_has_prefix(plan, STR("create ControllerRevision d/db-")));
    CHECK(str_has_suffix(plan, STR("\ncreate PersistentVolumeClaim d/data-db-0\ncreate Pod d/db-0\n"
                                   "update-status StatefulSet d/db\n")));
    const struct core_v1_pod *pod = fake.plan.items[2].object;

    CHECK_STR(pod->spec.hostname, "db-0");
    CHECK_STR(pod->spec.subdomain, "db");
    CHECK_STR(str_map_get(&pod->metadata.labels, STR("statefulset.kubernetes.io/pod-name")), "db-0");
    CHECK_STR(str_map_get(&pod->metadata.labels, STR("apps.kubernetes.io/pod-index")), "0");
    CHECK(str_eq(str_map_get(&pod->metadata.labels, STR(REVISION_HASH_LABEL)), fake.plan.items[0].name));
    CHECK_INT(pod->spec.volumes.len, 2);
    CHECK_STR(pod->spec.volumes.items[0].volume_source.persistent_volume_claim->claim_name, "data-db-0");
    fake_world_apply(&fake);
    CHECK_STR(fake_world_plan(&fake, &statefulset_controller, "d/db"), "update-status StatefulSet d/db\n");
    fake_world_apply(&fake);
    CHECK_STR(fake_world_plan(&fake, &statefulset_controller, "d/db"), ""); /* waits for db-0 */
    make_ready(&fake);
    CHECK(str_contains(fake_world_plan(&fake, &statefulset_controller, "d/db"), STR("create Pod d/db-1\n")));
    settle(&fake);
    CHECK_INT(set_of(&fake)->status.ready_replicas, 3);
    CHECK_INT(set_of(&fake)->status.current_replicas, 3);
    CHECK_INT(set_of(&fake)->status.updated_replicas, 3);
    CHECK(str_eq(set_of(&fake)->status.current_revision, set_of(&fake)->status.update_revision));
    CHECK_INT(fake_world_count(&fake, &core_v1_persistent_volume_claim_kind), 3);
    fake_world_done(&fake);
}

TEST("controller/statefulset/in parallel all come at once")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &apps_v1_stateful_set_kind, SET(",'podManagementPolicy':'Parallel','ordinals':{'start':5}"));
    struct str plan = fake_world_plan(&fake, &statefulset_controller, "d/db");

    CHECK(str_contains(plan, STR("create Pod d/db-5\n")) && str_contains(plan, STR("create Pod d/db-7\n")));
    fake_world_done(&fake);
}

TEST("controller/statefulset/fewer: the last goes first, and the claims stay")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &apps_v1_stateful_set_kind, SET(""));
    settle(&fake);
    *set_of(&fake)->spec.replicas = 1;
    CHECK(str_has_prefix(fake_world_plan(&fake, &statefulset_controller, "d/db"), STR("delete Pod d/db-2\n")));
    CHECK(!str_contains(fake_world_plan(&fake, &statefulset_controller, "d/db"), STR("db-1")));
    settle(&fake);
    CHECK_INT(fake_world_count(&fake, &core_v1_pod_kind), 1);
    CHECK_INT(fake_world_count(&fake, &core_v1_persistent_volume_claim_kind), 3);
    fake_world_done(&fake);
}

TEST("controller/statefulset/an update goes from the last to the first, and down to the partition only")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &apps_v1_stateful_set_kind, SET(""));
    settle(&fake);
    *set_of(&fake)->spec.update_strategy.rolling_update->partition = 1;
    set_of(&fake)->spec.template.spec.containers.items[0].image = STR("j");
    struct str plan = fake_world_plan(&fake, &statefulset_controller, "d/db");

    CHECK(str_contains(plan, STR("delete Pod d/db-2\n")) && !str_contains(plan, STR("db-1")));
    settle(&fake);
    CHECK_STR(image_of(&fake, "d/db-0"), "i");
    CHECK_STR(image_of(&fake, "d/db-1"), "j");
    CHECK_STR(image_of(&fake, "d/db-2"), "j");
    CHECK(!str_eq(set_of(&fake)->status.current_revision, set_of(&fake)->status.update_revision));
    CHECK_INT(set_of(&fake)->status.updated_replicas, 2);
    CHECK_INT(set_of(&fake)->status.current_replicas, 1);
    /* A pod below the partition that is lost comes again as it was. */
    fake_world_remove(&fake, &core_v1_pod_kind, "d/db-0");
    settle(&fake);
    CHECK_STR(image_of(&fake, "d/db-0"), "i");
    *set_of(&fake)->spec.update_strategy.rolling_update->partition = 0;
    settle(&fake);
    CHECK_STR(image_of(&fake, "d/db-0"), "j");
    CHECK(str_eq(set_of(&fake)->status.current_revision, set_of(&fake)->status.update_revision));
    CHECK_INT(fake_world_count(&fake, &apps_v1_controller_revision_kind), 2);
    fake_world_done(&fake);
}

TEST("controller/statefulset/a pod that has ended is made again")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &apps_v1_stateful_set_kind, SET(""));
    settle(&fake);
    ((struct core_v1_pod *)fake_world_get(&fake, &core_v1_pod_kind, "d/db-1"))->status.phase = STR("Failed");
    CHECK(str_has_prefix(fake_world_plan(&fake, &statefulset_controller, "d/db"),
                         STR("event Warning RecreatingTerminatedPod: StatefulSet d/db is recreating terminated Pod db-1\n"
                             "delete Pod d/db-1\n")));
    settle(&fake);
    CHECK_INT(set_of(&fake)->status.ready_replicas, 3);
    fake_world_done(&fake);
}
