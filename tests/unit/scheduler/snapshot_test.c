#include "bed.h"
#include "test.h"

#define ASKS_CPU(cpu) "'containers':[{'name':'c','resources':{'requests':{'cpu':'" cpu "'}}}]"

TEST("scheduler/snapshot/pods count on their nodes, whichever is known first")
{
    struct bed bed;

    bed_init(&bed);
    bed_pod(&bed, "{'metadata':{'uid':'x'},'spec':{'nodeName':'a'," ASKS_CPU("1") "}}");
    CHECK_INT(snapshot_nodes(bed.snapshot, bed.arena).len, 0);
    bed_node(&bed, "{'metadata':{'name':'a'}}");
    const struct node_info *node = snapshot_find_node(bed.snapshot, STR("a"));

    CHECK_INT(snapshot_nodes(bed.snapshot, bed.arena).len, 1);
    CHECK_INT(node->requested.milli_cpu, 1000);
    CHECK_INT(node->allocatable.milli_cpu, 4000);
    CHECK_INT(node->allowed_pods, 110);
    bed_pod(&bed, "{'metadata':{'uid':'x'},'spec':{'nodeName':'a'," ASKS_CPU("2") "}}"); /* resized */
    CHECK_INT(node->requested.milli_cpu, 2000);
    CHECK_INT(node->pod_count, 1);
    snapshot_remove_node(bed.snapshot, STR("a"));
    CHECK_INT(snapshot_nodes(bed.snapshot, bed.arena).len, 0);
    bed_node(&bed, "{'metadata':{'name':'a'}}");
    CHECK_INT(snapshot_find_node(bed.snapshot, STR("a"))->requested.milli_cpu, 2000);
    snapshot_remove_pod(bed.snapshot, STR("x"));
    CHECK_INT(snapshot_find_node(bed.snapshot, STR("a"))->requested.milli_cpu, 0);
    snapshot_remove_pod(bed.snapshot, STR("x"));
    bed_done(&bed);
}

TEST("scheduler/snapshot/a pod assumed on a node counts until it is known elsewhere or gone")
{
    struct bed bed;

    bed_init(&bed);
    bed_node(&bed, "{'metadata':{'name':'a'}}");
    bed_node(&bed, "{'metadata':{'name':'b'}}");
    snapshot_assume(bed.snapshot, bed_cached_pod(&bed, "{'metadata':{'uid':'x'},'spec':{" ASKS_CPU("1") "}}"), STR("a"));
    CHECK(snapshot_has_pod(bed.snapshot, STR("x")));
    CHECK_INT(snapshot_find_node(bed.snapshot, STR("a"))->requested.milli_cpu, 1000);
    bed_pod(&bed, "{'metadata':{'uid':'x'},'spec':{'nodeName':'b'," ASKS_CPU("1") "}}");
    CHECK_INT(snapshot_find_node(bed.snapshot, STR("a"))->requested.milli_cpu, 0);
    CHECK_INT(snapshot_find_node(bed.snapshot, STR("b"))->requested.milli_cpu, 1000);
    snapshot_remove_pod(bed.snapshot, STR("x"));
    CHECK(!snapshot_has_pod(bed.snapshot, STR("x")));
    snapshot_assume(bed.snapshot, bed_cached_pod(&bed, "{'metadata':{'uid':'y'}}"), STR("unknown"));
    snapshot_remove_pod(bed.snapshot, STR("y"));
    CHECK(snapshot_find_node(bed.snapshot, STR("unknown")) == NULL);
    bed_done(&bed);
}

TEST("scheduler/snapshot/requests for a whole pod count instead of its containers'")
{
    struct bed bed;

    bed_init(&bed);
    bed_node(&bed, "{'metadata':{'name':'a'}}");
    bed_pod(&bed, "{'spec':{'nodeName':'a','resources':{'requests':{'cpu':'3'}}," ASKS_CPU("1") "}}");
    CHECK_INT(snapshot_find_node(bed.snapshot, STR("a"))->requested.milli_cpu, 3000);
    bed_done(&bed);
}
