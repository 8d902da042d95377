/* Keeps a namespace within its ResourceQuotas: what an object costs is booked in the quota's status before the
 * object is stored. The quota controller sets the bounds there, and gives back what objects no longer cost. */
#include "apiserver/admission/objects.h"
#include "apiserver/admission/plugins.h"
#include "api/quota_usage.h"
#include "apiserver/registry/registry.h"
#include "apiserver/resource.h"
#include "apiserver/server.h"
#include "apiserver/user.h"
#include "schema/copy.h"
#include "schema/map_of.h"
#include "schema/quantity.h"

/* The quotas that count the object. */
struct quotas {
    struct core_v1_resource_quota **items;
    size_t len;
};

static bool is_handled(const struct admission_request *admission)
{
    const struct kind *kind = admission->resource->kind;
    bool changes = kind == &core_v1_service_kind || kind == &core_v1_persistent_volume_claim_kind;

    if (!kind->namespaced || admission->namespace.n == 0 || !resource_is_stored(admission->resource)) {
        return false;
    }
    if (admission->subresource.n != 0) {
        return kind == &core_v1_pod_kind && admission->operation == ADMIT_UPDATE &&
               str_is(admission->subresource, "resize");
    }
    return admission->operation == ADMIT_CREATE || (admission->operation == ADMIT_UPDATE && changes);
}

/* The bounds of the quota that objects of the kind count against. */
static struct str_list bounds_of(struct arena *arena, const struct core_v1_resource_quota *quota,
                                 const struct kind *kind)
{
    struct str_list names = {0};

    LIST_EACH(entry, &quota->status.hard) {
        if (quota_name_concerns(kind, entry->key)) {
            *LIST_ADD(arena, &names) = entry->key;
        }
    }
    return names;
}

static struct status *find_quotas(struct admission_request *admission, struct quotas *ret)
{
    OWNED(admission_walk_done) struct admission_walk walk = {0};
    struct arena *arena = admission->request->arena;
    const void *at;

    *ret = (struct quotas){0};
    TRY(admission_walk_begin(&walk, admission, "", "v1", "resourcequotas", admission->namespace));
    for (;;) {
        TRY(admission_walk_next(&walk, &at));
        const struct core_v1_resource_quota *quota = at;

        if (quota == NULL) {
            return NULL;
        }
        if (bounds_of(arena, quota, admission->resource->kind).len != 0 &&
            quota_scopes_match(&quota->spec, admission->resource->kind, admission->object)) {
            *LIST_ADD(arena, ret) = schema_copy(arena, &core_v1_resource_quota_type, quota);
        }
    }
}

static struct status *check_constraints(struct admission_request *admission, const struct core_v1_resource_quota *quota)
{
    struct arena *arena = admission->request->arena;
    struct str_list bounds = bounds_of(arena, quota, admission->resource->kind), unknown = {0};
    struct str wrong = quota_constraints(arena, &bounds, admission->resource->kind, admission->object);

    if (wrong.n != 0) {
        return admission_forbidden(admission, "failed quota: %.*s: %.*s", STR_ARG(quota->metadata.name),
                                   STR_ARG(wrong));
    }
    LIST_EACH(name, &bounds) {
        if (quantity_map_get(&quota->status.used, *name) == NULL) {
            *LIST_ADD(arena, &unknown) = *name;
        }
    }
    return unknown.len == 0 ? NULL
                            : admission_forbidden(admission, "status unknown for quota: %.*s, resources: %.*s",
                                                  STR_ARG(quota->metadata.name),
                                                  STR_ARG(str_list_join(arena, &unknown, ",")));
}

/* What the request adds, without what stays as it is. */
static struct quantity_map delta_of(struct admission_request *admission)
{
    struct arena *arena = admission->request->arena;
    const struct kind *kind = admission->resource->kind;
    struct quantity_map usage = quota_usage(arena, kind, admission->object), delta = {0}, old = {0};

    if (admission->operation == ADMIT_UPDATE && admission->old_object != NULL) {
        old = quota_usage(arena, kind, admission->old_object);
    }
    LIST_EACH(entry, &usage) {
        const struct quantity *before = quantity_map_get(&old, entry->key);
        struct quantity more = before == NULL ? entry->value : quantity_sub(arena, entry->value, *before);

        if (!quantity_is_zero(more)) {
            quantity_map_set(arena, &delta, entry->key, more);
        }
    }
    LIST_EACH(entry, &old) {
        if (quantity_map_get(&usage, entry->key) == NULL && !quantity_is_zero(entry->value)) {
            quantity_map_set(
                arena, &delta, entry->key,
                quantity_sub(arena, quantity_of(arena, 0, quantity_format_of(entry->value)), entry->value));
        }
    }
    return delta;
}

/* One booking: in a quota's status, from what is there when it is written. */
struct booking {
    struct admission_request *admission;
    const struct quantity_map *delta;
};

/* The status with the cost added; FORBIDDEN when a bound is crossed. */
static struct status *book(const struct booking *booking, struct arena *arena, struct core_v1_resource_quota *quota)
{
    struct quantity_map *used = &quota->status.used, *hard = &quota->status.hard;
    struct quantity_map before = *used, grown = {0};
    struct str_list names = quota_names(arena, hard), exceeded = {0};
    struct quantity_map requested = quota_mask(arena, booking->delta, &names);

    LIST_EACH(entry, used) {
        quantity_map_set(arena, &grown, entry->key, entry->value);
    }
    LIST_EACH(entry, &requested) {
        const struct quantity *have = quantity_map_get(used, entry->key);
        struct quantity sum = have == NULL ? entry->value : quantity_add(arena, *have, entry->value);
        bool is_more = quantity_cmp(entry->value, quantity_of(arena, 0, QUANTITY_DECIMAL_SI)) > 0;

        quantity_map_set(arena, &grown, entry->key, sum);
        if (is_more && quantity_cmp(sum, *quantity_map_get(hard, entry->key)) > 0) {
            *LIST_ADD(arena, &exceeded) = entry->key;
        }
    }
    *used = grown;
    if (exceeded.len == 0) {
        return NULL;
    }
    struct quantity_map over = quota_mask(arena, &requested, &exceeded), full = quota_mask(arena, &before, &exceeded),
                        most = quota_mask(arena, hard, &exceeded);

    return admission_forbidden(booking->admission, "exceeded quota: %.*s, requested: %.*s, used: %.*s, limited: %.*s",
                               STR_ARG(quota->metadata.name), STR_ARG(quota_text(arena, &over)),
                               STR_ARG(quota_text(arena, &full)), STR_ARG(quota_text(arena, &most)));
}

static struct status *make_booked(struct change_op *op, const struct object *current, struct object **ret)
{
    struct arena *arena = op->request->arena;
    struct core_v1_resource_quota *quota = schema_copy_shallow(arena, &core_v1_resource_quota_type, current);

    TRY(book(op->arg, arena, quota));
    *ret = (struct object *)quota;
    return NULL;
}

static struct status *write_booking(struct booking *booking, const struct core_v1_resource_quota *quota)
{
    const struct write_options options = {.field_manager = STR("kube-apiserver")};
    struct request *request = booking->admission->request;
    const struct resource *resource = apiserver_resource(request->server, "", "v1", "resourcequotas");
    struct change_op op = {.request = request_internal(request->server, request->arena, resource, "update"),
                           .resource = resource,
                           .subresource = STR("status"),
                           .namespace = quota->metadata.namespace,
                           .name = quota->metadata.name,
                           .options = &options,
                           .make = make_booked,
                           .arg = booking,
                           .keeps_version = true,
                           .is_internal = true};
    struct status *status = registry_change(&op);

    /* a quota that has gone meanwhile bounds nothing */
    return status_is(status, STATUS_NOT_FOUND) && str_is(status->kind, "resourcequotas")
               ? (status_free(status), NULL)
               : status;
}

static struct status *validate(struct admission_request *admission)
{
    struct arena *arena = admission->request->arena;
    struct quotas quotas;

    if (!is_handled(admission)) {
        return NULL;
    }
    TRY(find_quotas(admission, &quotas));
    LIST_EACH(quota, &quotas) {
        TRY(check_constraints(admission, *quota));
    }
    if (quotas.len == 0) {
        return NULL;
    }
    struct quantity_map delta = delta_of(admission);
    struct booking booking = {.admission = admission, .delta = &delta};

    /* all are looked at before any is changed */
    LIST_EACH(quota, &quotas) {
        TRY(book(&booking, arena, schema_copy_shallow(arena, &core_v1_resource_quota_type, *quota)));
    }
    for (size_t i = 0; i < quotas.len && !admission->dry_run && delta.len != 0; i++) {
        TRY(write_booking(&booking, quotas.items[i]));
    }
    return NULL;
}

const struct admission_plugin resource_quota_plugin = {
    .name = "ResourceQuota",
    .operations = ADMIT_CREATE | ADMIT_UPDATE,
    .validate = validate,
};
