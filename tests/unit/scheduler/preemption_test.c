#include "bed.h"
#include "scheduler/nominations.h"
#include "scheduler/preemption.h"
#include "test.h"

#define POD(name, node, cpu, priority, more)                                                                        \
    "{'metadata':{'name':'" name "'" more "},'spec':{'nodeName':'" node "','priority':" priority ",'containers':[{" \
    "'name':'c','resources':{'requests':{'cpu':'" cpu "'}}}]}}"
#define WANTS(cpu, priority, more) \
    "{'spec':{'priority':" priority more ",'containers':[{'name':'c','resources':{'requests':{'cpu':'" cpu "'}}}]}}"

/* "NODE: VICTIM VICTIM", or the message. */
static struct str answer(struct bed *bed, const char *pod)
{
    struct decision decision = bed_decide(bed, pod);
    struct preemption preemption;
    struct pod_info info;

    CHECK(decision.node == NULL);
    pod_info_of(bed->last, &info);
    preemption_find(bed->snapshot, &info, &decision, bed->arena, &preemption);
    if (preemption.node == NULL) {
        return preemption.message;
    }
    struct str text = arena_printf(bed->arena, "%.*s:", STR_ARG(preemption.node->name));

    LIST_EACH(victim, &preemption.victims)
    {
        text = arena_printf(bed->arena, "%.*s %.*s", STR_ARG(text), STR_ARG((*victim)->pod->metadata.name));
    }
    return text;
}

TEST("scheduler/preemption/as few and as unimportant pods as can be go, for more important ones only")
{
    struct bed bed;

    bed_init(&bed);
    bed_node(&bed, "{'metadata':{'name':'a'}}");
    bed_pod(&bed, POD("low", "a", "1", "1", ""));
    bed_pod(&bed, POD("lower", "a", "1", "0", ""));
    bed_pod(&bed, POD("lowest", "a", "1", "-1", ""));
    bed_pod(&bed, POD("high", "a", "1", "100", ""));
    CHECK_STR(answer(&bed, WANTS("1", "10", "")), "a: lowest");
    CHECK_STR(answer(&bed, WANTS("2", "10", "")), "a: lower lowest");
    CHECK_STR(answer(&bed, WANTS("3", "10", "")), "a: low lower lowest");
    CHECK_STR(answer(&bed, WANTS("4", "10", "")),
              " no new claims to deallocate, preemption: 0/1 nodes are available: 1 Insufficient cpu.");
    CHECK_STR(answer(&bed, WANTS("5", "10", "")), " no new claims to deallocate, preemption: 0/1 nodes are available: 1 "
                                                   "Preemption is not helpful for scheduling.");
    CHECK_STR(answer(&bed, WANTS("1", "-1", "")), " no new claims to deallocate, preemption: 0/1 nodes are available: 1 "
                                                   "No preemption victims found for incoming pod.");
    CHECK_STR(answer(&bed, WANTS("1", "10", ",'preemptionPolicy':'Never'")),
              " no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.");
    bed_done(&bed);
}

TEST("scheduler/preemption/of several nodes the one where least is lost")
{
    struct bed bed;

    bed_init(&bed);
    bed_node(&bed, "{'metadata':{'name':'a'}}");
    bed_node(&bed, "{'metadata':{'name':'b'}}");
    bed_node(&bed, "{'metadata':{'name':'c'}}");
    bed_pod(&bed, POD("a1", "a", "4", "5", ""));
    bed_pod(&bed, POD("b1", "b", "2", "4", ",'creationTimestamp':'2024-01-01T00:00:00Z'"));
    bed_pod(&bed, POD("b2", "b", "2", "4", ",'creationTimestamp':'2024-01-02T00:00:00Z'"));
    bed_pod(&bed, POD("c1", "c", "4", "4", ",'creationTimestamp':'2023-01-01T00:00:00Z'"));
    CHECK_STR(answer(&bed, WANTS("4", "10", "")), "c: c1"); /* lower than a's, fewer than b's */
    CHECK_STR(answer(&bed, WANTS("2", "10", "")), "b: b2"); /* as many, but not as old; and b's younger one */
    bed_done(&bed);
}

TEST("scheduler/preemption/nobody else goes while those that had to are going")
{
    struct bed bed;

    bed_init(&bed);
    bed_node(&bed, "{'metadata':{'name':'a'}}");
    bed_pod(&bed, POD("going", "a", "2", "0", ",'deletionTimestamp':'2023-01-01T00:00:00Z'"));
    bed_pod(&bed, POD("stays", "a", "2", "0", ""));
    CHECK_STR(answer(&bed, "{'spec':{'priority':10,'containers':[{'name':'c','resources':{'requests':{'cpu':'2'}}}]},"
                           "'status':{'nominatedNodeName':'a'}}"),
              " no new claims to deallocate, preemption: not eligible due to a terminating pod on the nominated node.");
    bed_done(&bed);
}

TEST("scheduler/preemption/the room that was made is kept for whom it was made")
{
    struct bed bed;
    struct nominations *nominations = nominations_new();

    bed_init(&bed);
    bed_node(&bed, "{'metadata':{'name':'a'}}");
    nominations_set(nominations, bed_cached_pod(&bed, POD("high", "", "3", "100", ",'uid':'high'")), STR("a"));
    const struct node_info *node = snapshot_find_node(bed.snapshot, STR("a"));
    struct cached *low = bed_cached_pod(&bed, WANTS("2", "0", "")), *higher = bed_cached_pod(&bed, WANTS("2", "200", ""));
    struct cached *itself = bed_cached_pod(&bed, POD("high", "", "3", "100", ",'uid':'high'"));

    nominations_apply(nominations, bed.snapshot, low->object);
    CHECK_INT(node->requested.milli_cpu, 3000);
    nominations_revert(nominations, bed.snapshot);
    CHECK_INT(node->requested.milli_cpu, 0);
    nominations_apply(nominations, bed.snapshot, higher->object);
    CHECK_INT(node->requested.milli_cpu, 0);
    nominations_revert(nominations, bed.snapshot);
    nominations_apply(nominations, bed.snapshot, itself->object);
    CHECK_INT(node->requested.milli_cpu, 0);
    nominations_revert(nominations, bed.snapshot);
    nominations_remove(nominations, STR("high"));
    nominations_apply(nominations, bed.snapshot, low->object);
    CHECK_INT(node->requested.milli_cpu, 0);
    cached_unref(low);
    cached_unref(higher);
    cached_unref(itself);
    nominations_free(nominations);
    bed_done(&bed);
}
