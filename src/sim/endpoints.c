#include "sim/endpoints.h"

#include "api/core_v1.h"
#include "api/discovery_v1.h"
#include "api/kinds.h"
#include "schema/map_of.h"
#include "sim/ownership.h"

#include <stdio.h>

static bool is_of(const struct object *slice, struct str service)
{
    return str_eq(str_map_get(&slice->metadata.labels, STR("kubernetes.io/service-name")), service);
}

static size_t ready_pods(const struct history *history, struct str app)
{
    size_t at = 0, count = 0;

    for (const struct history_object *object; (object = history_next(history, &at)) != NULL;) {
        const struct core_v1_pod *pod = (const void *)object->object;

        count += object->kind == &core_v1_pod_kind && str_eq(str_map_get(&pod->metadata.labels, STR("app")), app) &&
                 pod_counts(pod) && pod_counts_ready(pod);
    }
    return count;
}

/* Counts the endpoints that traffic goes to; false when one's pod is not ready, or gone. */
static bool count_ready(const struct history *history, const struct discovery_v1_endpoint_slice *slice, size_t *count,
                        struct str *ret_wrong)
{
    LIST_EACH(endpoint, &slice->endpoints)
    {
        if (endpoint->conditions.ready == NULL || !*endpoint->conditions.ready || endpoint->target_ref == NULL) {
            continue;
        }
        const struct core_v1_pod *pod =
            (const void *)object_by_uid(history, &core_v1_pod_kind, endpoint->target_ref->uid);

        if (pod == NULL || !pod_counts(pod) || !pod_counts_ready(pod)) {
            *ret_wrong = endpoint->target_ref->name;
            return false;
        }
        ++*count;
    }
    return true;
}

bool endpoints_right(const struct history *history, const struct object *service, char *why, size_t why_size)
{
    struct str name = service->metadata.name, wrong = {0};
    size_t at = 0, count = 0, ready = ready_pods(history, name);

    for (const struct history_object *object; (object = history_next(history, &at)) != NULL;) {
        if (object->kind == &discovery_v1_endpoint_slice_kind && is_of(object->object, name) &&
            !count_ready(history, (const void *)object->object, &count, &wrong)) {
            snprintf(why, why_size, "service %.*s sends to %.*s, which is not ready", STR_ARG(name), STR_ARG(wrong));
            return false;
        }
    }
    if (count != ready) {
        snprintf(why, why_size, "service %.*s sends to %zu pods, of %zu that are ready", STR_ARG(name), count, ready);
        return false;
    }
    return true;
}
