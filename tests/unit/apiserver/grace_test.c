#include "api/core_v1.h"
#include "apiserver/registry/grace.h"
#include "apiserver/registry/strategy.h"
#include "base/env.h"
#include "test.h"

TEST("apiserver/grace/a deletion that was marked and then failed is finished by the next one")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct strategy strategy = {.flags = STRATEGY_GRACEFUL};
    const struct resource resource = {.kind = &core_v1_pod_kind, .stored = &core_v1_pod_kind, .strategy = &strategy};
    const struct delete_options options = {0};
    int64_t period = 30;
    struct core_v1_pod pod = {.spec = {.node_name = STR("n"), .termination_grace_period_seconds = &period}};
    struct object *object = (struct object *)&pod;

    CHECK_INT(grace_decide(arena, &resource, &options, 1000 * ENV_SECOND, object), GRACE_UPDATE);
    CHECK_INT(grace_decide(arena, &resource, &options, 1001 * ENV_SECOND, object), GRACE_ALREADY);
    int64_t none = 0;
    const struct delete_options now = {.grace_period_seconds = &none};

    CHECK_INT(grace_decide(arena, &resource, &now, 1002 * ENV_SECOND, object), GRACE_LAST_UPDATE);
    /* That was stored; removing the pod failed. */
    CHECK_INT(grace_decide(arena, &resource, &now, 1003 * ENV_SECOND, object), GRACE_DELETE_NOW);
    CHECK_INT(grace_decide(arena, &resource, &options, 1004 * ENV_SECOND, object), GRACE_DELETE_NOW);
}
