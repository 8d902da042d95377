#include "api/pod_condition.h"

const struct core_v1_pod_condition *pod_condition_find(const struct core_v1_pod_status *status, struct str type)
{
    LIST_EACH(condition, &status->conditions)
    {
        if (str_eq(condition->type, type)) {
            return condition;
        }
    }
    return NULL;
}
