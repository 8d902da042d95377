#include "bed.h"
#include "test.h"

#define CONTAINER(more) "'containers':[{'name':'c','image':'nginx'" more "}]"
#define ASKS(cpu, memory) "{'spec':{" CONTAINER(",'resources':{'requests':{'cpu':'" cpu "','memory':'" memory "'}}") "}}"

static int64_t score_of(const struct plugin *plugin, struct bed *bed, const char *node, const char *json)
{
    struct decision decision = bed_decide(bed, json); /* makes the pod */
    struct cached *cached = bed_cached_pod(bed, json);
    struct pod_info info;

    (void)decision;
    pod_info_of(cached->object, &info);
    struct attempt attempt = {.pod = &info,
                              .snapshot = bed->snapshot,
                              .nodes = snapshot_nodes(bed->snapshot, bed->arena),
                              .candidates = snapshot_nodes(bed->snapshot, bed->arena),
                              .arena = bed->arena};
    int64_t scores[8];
    int64_t result = -1;

    attempt.state = plugin->prepare_score != NULL ? plugin->prepare_score(&attempt) : NULL;
    for (size_t i = 0; i < attempt.nodes.len; i++) {
        scores[i] = plugin->score(&attempt, attempt.nodes.items[i]);
    }
    if (plugin->normalize != NULL) {
        plugin->normalize(&attempt, scores, attempt.nodes.len);
    }
    for (size_t i = 0; i < attempt.nodes.len; i++) {
        result = str_is(attempt.nodes.items[i]->name, node) ? scores[i] : result;
    }
    cached_unref(cached);
    return result;
}

TEST("scheduler/score/the emptier and the more balanced node are liked")
{
    struct bed bed;

    bed_init(&bed);
    bed_node(&bed, "{'metadata':{'name':'a'}}");
    bed_node(&bed, "{'metadata':{'name':'b'}}");
    bed_pod(&bed, "{'spec':{'nodeName':'a'," CONTAINER(",'resources':{'requests':{'cpu':'2','memory':'2Gi'}}") "}}");
    /* b: (4000-1000)/4000 = 75, (8-2)/8 = 75; a: 25 and 50 */
    CHECK_INT(score_of(&node_resources_fit_plugin, &bed, "b", ASKS("1", "2Gi")), 75);
    CHECK_INT(score_of(&node_resources_fit_plugin, &bed, "a", ASKS("1", "2Gi")), 37);
    /* b: shares 25% and 25%; a: 75% and 50% */
    CHECK_INT(score_of(&node_resources_balanced_plugin, &bed, "b", ASKS("1", "2Gi")), 100);
    CHECK_INT(score_of(&node_resources_balanced_plugin, &bed, "a", ASKS("1", "2Gi")), 87);
    /* what asks for nothing counts as 100m and 200Mi */
    CHECK_INT(score_of(&node_resources_fit_plugin, &bed, "b", "{'spec':{" CONTAINER("") "}}"), 97);
    CHECK_STR(bed_answer(&bed, ASKS("1", "2Gi")), "b");
    bed_done(&bed);
}

TEST("scheduler/score/taints that are only preferred, preferred affinity")
{
    struct bed bed;
    static const char likes_ssd[] =
        "{'spec':{'affinity':{'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':80,"
        "'preference':{'matchExpressions':[{'key':'disk','operator':'In','values':['ssd']}]}},{'weight':20,"
        "'preference':{'matchExpressions':[{'key':'z','operator':'Exists'}]}}]}}}}";

    bed_init(&bed);
    bed_node(&bed, "{'metadata':{'name':'a','labels':{'disk':'ssd'}},'spec':{'taints':[{'key':'k','effect':"
                   "'PreferNoSchedule'}]}}");
    bed_node(&bed, "{'metadata':{'name':'b','labels':{'z':''}}}");
    CHECK_INT(score_of(&taint_toleration_plugin, &bed, "a", "{}"), 0);
    CHECK_INT(score_of(&taint_toleration_plugin, &bed, "b", "{}"), 100);
    CHECK_STR(bed_answer(&bed, "{}"), "b");
    CHECK_INT(score_of(&node_affinity_plugin, &bed, "a", likes_ssd), 100);
    CHECK_INT(score_of(&node_affinity_plugin, &bed, "b", likes_ssd), 25);
    bed_done(&bed);
}

TEST("scheduler/score/images that are there already")
{
    struct bed bed;

    bed_init(&bed);
    bed_node(&bed, "{'metadata':{'name':'a'},'status':{'images':[{'names':['nginx:latest'],'sizeBytes':1048576000}]}}");
    bed_node(&bed, "{'metadata':{'name':'b'}}");
    /* 1000 MiB on one of two nodes count as 500 of 1000, from 23 up */
    CHECK_INT(score_of(&image_locality_plugin, &bed, "a", "{'spec':{" CONTAINER("") "}}"), 48);
    CHECK_INT(score_of(&image_locality_plugin, &bed, "b", "{'spec':{" CONTAINER("") "}}"), 0);
    bed_done(&bed);
}

TEST("scheduler/score/pods of one controller are spread over hosts")
{
    struct bed bed;
#define OWNED_BY(uid) "'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'r','uid':'" uid "','controller':true}]"

    bed_init(&bed);
    bed_node(&bed, "{'metadata':{'name':'a','labels':{'kubernetes.io/hostname':'a'}}}");
    bed_node(&bed, "{'metadata':{'name':'b','labels':{'kubernetes.io/hostname':'b'}}}");
    bed_pod(&bed, "{'metadata':{" OWNED_BY("r1") "},'spec':{'nodeName':'a'}}");
    bed_pod(&bed, "{'metadata':{" OWNED_BY("r1") "},'spec':{'nodeName':'a'}}");
    bed_pod(&bed, "{'metadata':{" OWNED_BY("r2") "},'spec':{'nodeName':'b'}}");
    CHECK(score_of(&pod_topology_spread_plugin, &bed, "b", "{'metadata':{" OWNED_BY("r1") "}}") >
          score_of(&pod_topology_spread_plugin, &bed, "a", "{'metadata':{" OWNED_BY("r1") "}}"));
    CHECK(score_of(&pod_topology_spread_plugin, &bed, "b", "{'metadata':{" OWNED_BY("r2") "}}") <
          score_of(&pod_topology_spread_plugin, &bed, "a", "{'metadata':{" OWNED_BY("r2") "}}"));
    CHECK_STR(bed_answer(&bed, "{'metadata':{" OWNED_BY("r1") "}}"), "b");
    bed_done(&bed);
}

TEST("scheduler/score/constraints that may be broken")
{
    struct bed bed;
    static const char pod[] =
        "{'metadata':{'labels':{'app':'web'}},'spec':{'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'zone',"
        "'whenUnsatisfiable':'ScheduleAnyway','labelSelector':{'matchLabels':{'app':'web'}}}]}}";

    bed_init(&bed);
    bed_node(&bed, "{'metadata':{'name':'a','labels':{'zone':'1'}}}");
    bed_node(&bed, "{'metadata':{'name':'b','labels':{'zone':'2'}}}");
    bed_node(&bed, "{'metadata':{'name':'c'}}");
    bed_pod(&bed, "{'metadata':{'labels':{'app':'web'}},'spec':{'nodeName':'a'}}");
    CHECK_INT(score_of(&pod_topology_spread_plugin, &bed, "a", pod), 0);
    CHECK_INT(score_of(&pod_topology_spread_plugin, &bed, "b", pod), 100);
    CHECK_INT(score_of(&pod_topology_spread_plugin, &bed, "c", pod), 0); /* takes no part */
    bed_done(&bed);
}

TEST("scheduler/score/preferred affinity between pods, of both sides")
{
    struct bed bed;
#define LIKES(kind, weight) \
    "'affinity':{'" kind "':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':" weight \
    ",'podAffinityTerm':{'labelSelector':{'matchLabels':{'app':'web'}},'topologyKey':'zone'}}]}}"

    bed_init(&bed);
    bed_node(&bed, "{'metadata':{'name':'a','labels':{'zone':'1'}}}");
    bed_node(&bed, "{'metadata':{'name':'b','labels':{'zone':'2'}}}");
    bed_pod(&bed, "{'metadata':{'labels':{'app':'web'}},'spec':{'nodeName':'a'}}");
    CHECK_INT(score_of(&inter_pod_affinity_plugin, &bed, "a", "{'spec':{" LIKES("podAffinity", "10") "}}"), 100);
    CHECK_INT(score_of(&inter_pod_affinity_plugin, &bed, "b", "{'spec':{" LIKES("podAffinity", "10") "}}"), 0);
    CHECK_INT(score_of(&inter_pod_affinity_plugin, &bed, "a", "{'spec':{" LIKES("podAntiAffinity", "10") "}}"), 0);
    bed_pod(&bed, "{'spec':{'nodeName':'b'," LIKES("podAffinity", "10") "}}");
    CHECK_INT(score_of(&inter_pod_affinity_plugin, &bed, "b", "{'metadata':{'labels':{'app':'web'}}}"), 100);
    bed_done(&bed);
}

TEST("scheduler/score/chance decides among equals")
{
    struct bed bed;
    bool seen[2] = {false, false};
    struct core_v1_pod pod = {0};
    struct pod_info info;

    bed_init(&bed);
    bed_node(&bed, "{'metadata':{'name':'a'}}");
    bed_node(&bed, "{'metadata':{'name':'b'}}");
    pod_info_of(&pod, &info);
    for (uint64_t tie = 0; tie < 4; tie++) {
        struct decision decision;

        cycle_decide(bed.snapshot, &info, tie, bed.arena, &decision);
        seen[str_is(decision.node->name, "b")] = true;
    }
    CHECK(seen[0] && seen[1]);
    bed_done(&bed);
}
