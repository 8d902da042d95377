/* Keeps pods and claims within the LimitRanges of their namespace. */
#include "api/core_v1.h"
#include "apiserver/admission/limit_rules.h"
#include "apiserver/admission/objects.h"
#include "apiserver/admission/plugins.h"
#include "apiserver/resource.h"
#include "schema/copy.h"
#include "schema/object.h"

/* Amounts of a pod that runs change by resizing alone. */
static bool is_about_pod(const struct admission_request *admission)
{
    bool is_create = admission->operation == ADMIT_CREATE && admission->subresource.n == 0;

    return admission->resource->kind == &core_v1_pod_kind &&
           (is_create || (admission->operation == ADMIT_UPDATE && str_is(admission->subresource, "resize")));
}

static bool is_about_claim(const struct admission_request *admission)
{
    return admission_is_about(admission, &core_v1_persistent_volume_claim_kind);
}

static bool is_going(const struct admission_request *admission)
{
    const struct object *old = admission->old_object;

    return old != NULL && old->metadata.deletion_timestamp != NULL;
}

typedef struct status *limit_fn(struct admission_request *admission, const struct core_v1_limit_range *range);

static struct status *each_range(struct admission_request *admission, limit_fn *fn)
{
    OWNED(admission_walk_done) struct admission_walk walk = {0};
    const void *range;

    TRY(admission_walk_begin(&walk, admission, "", "v1", "limitranges", admission->namespace));
    for (;;) {
        TRY(admission_walk_next(&walk, &range));
        if (range == NULL) {
            return NULL;
        }
        TRY(fn(admission, range));
    }
}

static struct status *fill(struct admission_request *admission, const struct core_v1_limit_range *range)
{
    struct arena *arena = admission->request->arena;

    /* what is filled in outlives the walk */
    limit_range_fill(arena, schema_copy(arena, &core_v1_limit_range_type, range), admission->object);
    return NULL;
}

static struct status *check(struct admission_request *admission, const struct core_v1_limit_range *range)
{
    struct arena *arena = admission->request->arena;
    struct str wrong = is_about_claim(admission) ? limit_range_check_claim(arena, range, admission->object)
                                                 : limit_range_check_pod(arena, range, admission->object);

    return wrong.n == 0 ? NULL : admission_forbidden(admission, "%.*s", STR_ARG(wrong));
}

static struct status *mutate(struct admission_request *admission)
{
    return is_about_pod(admission) && !is_going(admission) ? each_range(admission, fill) : NULL;
}

static struct status *validate(struct admission_request *admission)
{
    bool concerns = is_about_pod(admission) || is_about_claim(admission);

    return concerns && !is_going(admission) ? each_range(admission, check) : NULL;
}

const struct admission_plugin limit_ranger_plugin = {
    .name = "LimitRanger",
    .operations = ADMIT_CREATE | ADMIT_UPDATE,
    .mutate = mutate,
    .validate = validate,
};
