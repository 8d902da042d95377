#include "api/apps_v1.h"
#include "base/env.h"
#include "controller/controllers.h"
#include "controller/daemonset_nodes.h"
#include "controller/pod_util.h"
#include "controller/revisions.h"
#include "fake_world.h"
#include "schema/map_of.h"
#include "schema/object.h"
#include "test.h"

static const char agent[] =
    "{'metadata':{'name':'agent','namespace':'d','uid':'ds'},'spec':{'selector':{'matchLabels':{'app':'agent'}},"
    "'template':{'metadata':{'labels':{'app':'agent'}},'spec':{'containers':[{'name':'c','image':'i'}]}},"
    "'updateStrategy':{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':1,'maxSurge':0}},"
    "'revisionHistoryLimit':1}}";

static void add_nodes(struct fake_world *fake, int count)
{
    for (int i = 0; i < count; i++) {
        fake_world_add(fake, &core_v1_node_kind, arena_printf(fake->arena, "{'metadata':{'name':'n%d'}}", i).p);
    }
}

/* Scheduler and kubelet: pods are where they are pinned to, and at most so many more become ready. */
static bool run_pods(struct fake_world *fake, size_t at_most)
{
    bool acted = false;

    LIST_EACH(entry, &fake->objects)
    {
        struct core_v1_pod *pod = (void *)entry->object;

        if (entry->kind != &core_v1_pod_kind || pod == NULL || pod_is_ready(pod) || at_most == 0) {
            continue;
        }
        pod->spec.node_name = daemonset_nodes_of_pod(pod);
        pod->status.phase = STR("Running");
        *LIST_ADD(fake->arena, &pod->status.conditions) = (struct core_v1_pod_condition){
            .type = STR("Ready"),
            .status = STR("True"),
            .last_transition_time = {.seconds = fake->world.now / ENV_SECOND, .is_set = true}};
        at_most--;
        acted = true;
    }
    return acted;
}

/* Until nothing changes; never fewer nodes with a ready pod than `least`. */
static void settle(struct fake_world *fake, size_t least)
{
    for (int round = 0; round < 100; round++) {
        bool acted = fake_world_step(fake, &daemonset_controller);
        size_t ready = 0;

        LIST_EACH(entry, &fake->objects)
        {
            ready += entry->kind == &core_v1_pod_kind && entry->object != NULL &&
                     pod_is_ready((const struct core_v1_pod *)(const void *)entry->object);
        }
        if (ready < least) {
            test_fail(__FILE__, __LINE__, "round %d: %zu ready", round, ready);
        }
        fake->world.now += ENV_SECOND;
        if (!run_pods(fake, 1) && !acted) {
            return;
        }
    }
    test_fail(__FILE__, __LINE__, "no end");
}

TEST("controller/daemonset/a pod for every node, pinned to it, that lives with what daemons live with")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &apps_v1_daemon_set_kind, agent);
    add_nodes(&fake, 2);
    struct str plan = fake_world_plan(&fake, &daemonset_controller, "d/agent");

    CHECK(str_has_prefix(plan, STR("create ControllerRevision d/agent-")));
    CHECK(str_has_suffix(
        plan, STR("\ncreate Pod d/agent-*\ncreate Pod d/agent-*\nupdate-status DaemonSet d/agent\n")));
    const struct apps_v1_controller_revision *revision = fake.plan.items[0].object;
    const struct core_v1_pod *pod = fake.plan.items[1].object;

    CHECK_INT(revision->revision, 1);
    CHECK_STR(revision->data.json, "{\"spec\":{\"template\":{\"$patch\":\"replace\",\"metadata\":{\"labels\":{\"app\":"
                                   "\"agent\"}},\"spec\":{\"containers\":[{\"image\":\"i\",\"name\":\"c\",\"resources\":"
                                   "{}}]}}}}");
    CHECK_STR(daemonset_nodes_of_pod(pod), "n0");
    CHECK_INT(pod->spec.tolerations.len, 6);
    CHECK(str_eq(str_map_get(&pod->metadata.labels, STR(REVISION_HASH_LABEL)),
                 str_map_get(&revision->metadata.labels, STR(REVISION_HASH_LABEL))));
    fake_world_apply(&fake);
    settle(&fake, 0);
    const struct apps_v1_daemon_set *set = fake_world_get(&fake, &apps_v1_daemon_set_kind, "d/agent");

    CHECK_INT(set->status.desired_number_scheduled, 2);
    CHECK_INT(set->status.current_number_scheduled, 2);
    CHECK_INT(set->status.number_ready, 2);
    CHECK_INT(set->status.number_available, 2);
    CHECK_INT(set->status.updated_number_scheduled, 2);
    CHECK_INT(set->status.number_unavailable, 0);
    CHECK_STR(fake_world_plan(&fake, &daemonset_controller, "d/agent"), "");
    fake_world_done(&fake);
}

TEST("controller/daemonset/which nodes it is for")
{
    static const struct {
        const char *node, *set;
        bool runs, continues;
    } rows[] = {
        {"{'metadata':{'name':'n'}}", "{}", true, true},
        {"{'metadata':{'name':'n'},'spec':{'unschedulable':true,'taints':[{'key':'node.kubernetes.io/unschedulable',"
         "'effect':'NoSchedule'}]}}",
         "{}", true, true},
        {"{'metadata':{'name':'n'},'spec':{'taints':[{'key':'k','effect':'NoSchedule'}]}}", "{}", false, true},
        {"{'metadata':{'name':'n'},'spec':{'taints':[{'key':'k','effect':'NoExecute'}]}}", "{}", false, false},
        {"{'metadata':{'name':'n'},'spec':{'taints':[{'key':'k','effect':'NoExecute'}]}}",
         "{'spec':{'template':{'spec':{'tolerations':[{'operator':'Exists'}]}}}}", true, true},
        {"{'metadata':{'name':'n'}}", "{'spec':{'template':{'spec':{'nodeSelector':{'a':'b'}}}}}", false, false},
        {"{'metadata':{'name':'n','labels':{'a':'b'}}}", "{'spec':{'template':{'spec':{'nodeSelector':{'a':'b'}}}}}",
         true, true},
        {"{'metadata':{'name':'n'},'spec':{'taints':[{'key':'node.kubernetes.io/network-unavailable','effect':"
         "'NoSchedule'}]}}",
         "{}", false, true},
        {"{'metadata':{'name':'n'},'spec':{'taints':[{'key':'node.kubernetes.io/network-unavailable','effect':"
         "'NoSchedule'}]}}",
         "{'spec':{'template':{'spec':{'hostNetwork':true}}}}", true, true},
    };
    struct fake_world fake;

    fake_world_init(&fake);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct daemonset_verdict verdict =
            daemonset_nodes_judge(fake.arena, fake_world_decode(&fake, &apps_v1_daemon_set_kind, rows[i].set),
                                  fake_world_decode(&fake, &core_v1_node_kind, rows[i].node));

        if (verdict.should_run != rows[i].runs || verdict.should_continue != rows[i].continues) {
            test_fail(__FILE__, __LINE__, "row %zu: %d %d", i, verdict.should_run, verdict.should_continue);
        }
    }
    fake_world_done(&fake);
}

TEST("controller/daemonset/an update goes a node at a time, an undone one takes the old revision again")
{
    struct fake_world fake;

    fake_world_init(&fake);
    struct apps_v1_daemon_set *set = fake_world_add(&fake, &apps_v1_daemon_set_kind, agent);

    add_nodes(&fake, 3);
    settle(&fake, 0);
    set = fake_world_get(&fake, &apps_v1_daemon_set_kind, "d/agent");
    set->spec.template.spec.containers.items[0].image = STR("j");
    set->metadata.generation++;
    settle(&fake, 2);
    set = fake_world_get(&fake, &apps_v1_daemon_set_kind, "d/agent");
    CHECK_INT(set->status.updated_number_scheduled, 3);
    CHECK_INT(fake_world_count(&fake, &core_v1_pod_kind), 3);
    CHECK_INT(fake_world_count(&fake, &apps_v1_controller_revision_kind), 2);
    set->spec.template.spec.containers.items[0].image = STR("i");
    set->metadata.generation++;
    settle(&fake, 2);
    CHECK_INT(fake_world_count(&fake, &apps_v1_controller_revision_kind), 2);
    set = fake_world_get(&fake, &apps_v1_daemon_set_kind, "d/agent");
    set->spec.template.spec.containers.items[0].image = STR("k");
    set->metadata.generation++;
    settle(&fake, 2);
    CHECK_INT(fake_world_count(&fake, &apps_v1_controller_revision_kind), 2); /* the limit, and the current one */
    fake_world_done(&fake);
}

TEST("controller/daemonset/with a surge the new pod is there before the old one goes")
{
    struct fake_world fake;

    fake_world_init(&fake);
    struct apps_v1_daemon_set *set = fake_world_add(&fake, &apps_v1_daemon_set_kind, agent);

    set->spec.update_strategy.rolling_update->max_surge->number = 1;
    set->spec.update_strategy.rolling_update->max_unavailable->number = 0;
    add_nodes(&fake, 3);
    settle(&fake, 0);
    set = fake_world_get(&fake, &apps_v1_daemon_set_kind, "d/agent");
    set->spec.template.spec.containers.items[0].image = STR("j");
    set->metadata.generation++;
    settle(&fake, 3);
    set = fake_world_get(&fake, &apps_v1_daemon_set_kind, "d/agent");
    CHECK_INT(set->status.updated_number_scheduled, 3);
    CHECK_INT(fake_world_count(&fake, &core_v1_pod_kind), 3);
    fake_world_done(&fake);
}

TEST("controller/daemonset/failed pods, pods too many and pods of nodes that are gone go")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &apps_v1_daemon_set_kind, agent);
    add_nodes(&fake, 2);
    settle(&fake, 0);
    struct core_v1_pod *failed = NULL, *extra;

    LIST_EACH(entry, &fake.objects)
    {
        if (entry->kind == &core_v1_pod_kind && entry->object != NULL) {
            failed = (void *)entry->object;
        }
    }
    extra = fake_world_add(&fake, &core_v1_pod_kind,
                           "{'metadata':{'name':'extra','namespace':'d','labels':{'app':'agent'},'ownerReferences':[{"
                           "'kind':'DaemonSet','name':'agent','uid':'ds','controller':true}]},'spec':{'nodeName':'n0'}}");
    extra->metadata.creation_timestamp.seconds += 1000;
    failed->status.phase = STR("Failed");
    fake_world_add(&fake, &core_v1_pod_kind,
                   "{'metadata':{'name':'lost','namespace':'d','labels':{'app':'agent'},'ownerReferences':[{'kind':"
                   "'DaemonSet','name':'agent','uid':'ds','controller':true}]},'spec':{'nodeName':'gone'}}");
    struct str plan = fake_world_plan(&fake, &daemonset_controller, "d/agent");

    CHECK(str_contains(plan, STR("delete Pod d/extra\n")));
    CHECK(str_contains(plan, STR("delete Pod d/lost\n")));
    CHECK(str_contains(plan, arena_printf(fake.arena, "delete Pod d/%.*s\n", STR_ARG(failed->metadata.name))));
    CHECK(str_contains(plan, STR("event Warning FailedDaemonPod: Found failed daemon pod d/")));
    fake_world_done(&fake);
}
