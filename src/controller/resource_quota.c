/* ResourceQuota -> its status: the bounds, and what the namespace's objects cost. Admission books what is made; here is
 * given back what is gone, and everything counted anew when the bounds change and every few minutes. */
#include "controller/controllers.h"

#include "api/apps_v1.h"
#include "api/batch_v1.h"
#include "api/core_v1.h"
#include "api/networking_v1.h"
#include "api/pod_amounts.h"
#include "api/quota_usage.h"
#include "base/env.h"
#include "controller/pod_util.h"
#include "schema/copy.h"
#include "schema/map_of.h"
#include "schema/object.h"
#include "schema/quantity.h"

#define RESYNC (300 * ENV_SECOND)

static const struct kind *const counted[] = {
    &core_v1_pod_kind,        &core_v1_service_kind,     &core_v1_persistent_volume_claim_kind,
    &core_v1_secret_kind,     &core_v1_config_map_kind,  &core_v1_replication_controller_kind,
    &apps_v1_deployment_kind, &apps_v1_replica_set_kind, &apps_v1_stateful_set_kind,
    &apps_v1_daemon_set_kind, &batch_v1_job_kind,        &batch_v1_cron_job_kind,
    &networking_v1_ingress_kind,
};

static bool same_amounts(const struct quantity_map *a, const struct quantity_map *b)
{
    return schema_field_equal(type_field(&core_v1_resource_quota_status_type, STR("hard")), a, b);
}

static bool any_concerns(const struct kind *kind, const struct quantity_map *hard)
{
    LIST_EACH(entry, hard)
    {
        if (quota_name_concerns(kind, entry->key)) {
            return true;
        }
    }
    return false;
}

static void count_kind(const struct world *world, const struct core_v1_resource_quota *quota, const struct kind *kind,
                       struct quantity_map *used)
{
    struct object_pointers objects = world_in_namespace(world, kind, quota->metadata.namespace);

    for (size_t i = 0; i < objects.len; i++) {
        if (quota_scopes_match(&quota->spec, kind, objects.items[i])) {
            struct quantity_map usage = quota_usage(world->arena, kind, objects.items[i]);

            amounts_add(world->arena, used, &usage);
        }
    }
}

/* Of each bound what is used; of what is not counted here what was booked. */
static struct quantity_map used_of(const struct world *world, const struct core_v1_resource_quota *quota)
{
    struct quantity_map counts = {0}, used = {0};

    for (size_t i = 0; i < COUNT_OF(counted); i++) {
        if (any_concerns(counted[i], &quota->spec.hard)) {
            count_kind(world, quota, counted[i], &counts);
        }
    }
    if (any_concerns(&core_v1_resource_quota_kind, &quota->spec.hard)) {
        count_kind(world, quota, &core_v1_resource_quota_kind, &counts);
    }
    LIST_EACH(entry, &quota->spec.hard)
    {
        const struct quantity *amount = quantity_map_get(&counts, entry->key);
        const struct quantity *booked = quantity_map_get(&quota->status.used, entry->key);
        bool is_counted = any_concerns(&core_v1_resource_quota_kind, &(struct quantity_map){entry, 1});

        for (size_t i = 0; i < COUNT_OF(counted); i++) {
            is_counted = is_counted || quota_name_concerns(counted[i], entry->key);
        }
        quantity_map_set(world->arena, &used, entry->key,
                         amount != NULL                     ? *amount
                         : !is_counted && booked != NULL ? *booked
                                                            : quantity_of(world->arena, 0, QUANTITY_DECIMAL_SI));
    }
    return used;
}

static struct status *resource_quota_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct core_v1_resource_quota *quota = world_find(world, &core_v1_resource_quota_kind, key);

    if (quota == NULL || quota->metadata.deletion_timestamp != NULL) {
        return NULL;
    }
    struct core_v1_resource_quota *changed = schema_copy(plan->arena, &core_v1_resource_quota_type, quota);

    changed->status.hard = changed->spec.hard;
    changed->status.used = used_of(world, quota);
    if (!schema_equal(&core_v1_resource_quota_status_type, &changed->status, &quota->status)) {
        plan_update_status(plan, &core_v1_resource_quota_kind, changed);
    }
    plan_requeue_after(plan, RESYNC);
    return NULL;
}

/* New bounds. What admission books is not counted after it: the object it is for may not be seen yet. */
static void map_quota(const struct world *world, const void *object, struct str_list *ret)
{
    const struct core_v1_resource_quota *quota = object;

    if (!same_amounts(&quota->spec.hard, &quota->status.hard)) {
        *LIST_ADD(world->arena, ret) = world_key(world->arena, quota->metadata.namespace, quota->metadata.name);
    }
}

static void add_quotas(const struct world *world, struct str namespace, struct str_list *ret)
{
    struct object_pointers quotas = world_in_namespace(world, &core_v1_resource_quota_kind, namespace);

    for (size_t i = 0; i < quotas.len; i++) {
        const struct object *quota = quotas.items[i];

        *LIST_ADD(world->arena, ret) = world_key(world->arena, namespace, quota->metadata.name);
    }
}

static void map_gone(const struct world *world, const void *object, struct str_list *ret)
{
    if (world->gone) {
        add_quotas(world, ((const struct object *)object)->metadata.namespace, ret);
    }
}

static void map_pod(const struct world *world, const void *object, struct str_list *ret)
{
    if (world->gone || pod_is_finished(object)) {
        add_quotas(world, ((const struct object *)object)->metadata.namespace, ret);
    }
}

const struct controller resource_quota_controller = {
    .name = "resourcequota-controller",
    .account = "resourcequota-controller",
    .kind = &core_v1_resource_quota_kind,
    .map = map_quota,
    .watches = {{&core_v1_pod_kind, map_pod},
                {&core_v1_service_kind, map_gone},
                {&core_v1_persistent_volume_claim_kind, map_gone},
                {&core_v1_secret_kind, map_gone},
                {&core_v1_config_map_kind, map_gone},
                {&core_v1_replication_controller_kind, map_gone},
                {&apps_v1_deployment_kind, map_gone},
                {&apps_v1_replica_set_kind, map_gone},
                {&apps_v1_stateful_set_kind, map_gone},
                {&apps_v1_daemon_set_kind, map_gone},
                {&batch_v1_job_kind, map_gone},
                {&batch_v1_cron_job_kind, map_gone},
                {&networking_v1_ingress_kind, map_gone}},
    .plan = resource_quota_plan,
};
