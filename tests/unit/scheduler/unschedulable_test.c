#include "base/env.h"
#include "bed.h"
#include "scheduler/unschedulable.h"
#include "test.h"

TEST("scheduler/unschedulable/the condition is written once for each reason, and keeps its time")
{
    struct bed bed;
    int64_t now = 1700000000 * ENV_SECOND;

    bed_init(&bed);
    struct cached *fresh = bed_cached_pod(&bed, "{'metadata':{'uid':'u','generation':1}}");
    struct cached *said = bed_cached_pod(
        &bed, "{'metadata':{'uid':'u','generation':1},'status':{'conditions':[{'type':'PodScheduled','status':'False',"
              "'reason':'Unschedulable','message':'why','observedGeneration':1,'lastTransitionTime':"
              "'2023-01-01T00:00:00Z'}]}}");

    CHECK_STR(unschedulable_patch(bed.arena, fresh->object, STR("why"), STR(""), now),
              "{\"metadata\":{\"uid\":\"u\"},\"status\":{\"conditions\":[{\"type\":\"PodScheduled\","
              "\"observedGeneration\":1,\"status\":\"False\",\"lastProbeTime\":null,\"lastTransitionTime\":"
              "\"2023-11-14T22:13:20Z\",\"reason\":\"Unschedulable\",\"message\":\"why\"}]}}");
    CHECK_STR(unschedulable_patch(bed.arena, said->object, STR("why"), STR(""), now), "");
    CHECK_STR(unschedulable_patch(bed.arena, said->object, STR("other"), STR(""), now),
              "{\"metadata\":{\"uid\":\"u\"},\"status\":{\"conditions\":[{\"type\":\"PodScheduled\","
              "\"observedGeneration\":1,\"status\":\"False\",\"lastProbeTime\":null,\"lastTransitionTime\":"
              "\"2023-01-01T00:00:00Z\",\"reason\":\"Unschedulable\",\"message\":\"other\"}]}}");
    cached_unref(fresh);
    cached_unref(said);
    bed_done(&bed);
}
