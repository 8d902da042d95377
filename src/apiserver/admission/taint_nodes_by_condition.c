/* No pod comes to a new node before it says that it is ready. */
#include "api/core_v1.h"
#include "apiserver/admission/objects.h"
#include "apiserver/admission/plugins.h"

static struct status *mutate(struct admission_request *admission)
{
    if (!admission_is_about(admission, &core_v1_node_kind)) {
        return NULL;
    }
    struct core_v1_node *node = admission->object;

    LIST_EACH(taint, &node->spec.taints) {
        if (str_is(taint->key, "node.kubernetes.io/not-ready") && str_is(taint->effect, "NoSchedule")) {
            return NULL;
        }
    }
    *LIST_APPEND(admission->request->arena, &node->spec.taints) =
        (struct core_v1_taint){.key = STR("node.kubernetes.io/not-ready"), .effect = STR("NoSchedule")};
    return NULL;
}

const struct admission_plugin taint_nodes_by_condition_plugin = {
    .name = "TaintNodesByCondition",
    .operations = ADMIT_CREATE,
    .mutate = mutate,
};
