/* The number of replicas alone, in one form for all kinds that have it. */
#include "apiserver/subresources/handlers.h"

#include "api/apps_v1.h"
#include "api/autoscaling_v1.h"
#include "api/core_v1.h"
#include "apiserver/decode.h"
#include "apiserver/errors.h"
#include "apiserver/registry/object_meta.h"
#include "apiserver/registry/registry.h"
#include "apiserver/registry/storage.h"
#include "apiserver/respond.h"
#include "apiserver/server.h"
#include "apiserver/subresources/custom_scale.h"
#include "schema/copy.h"
#include "schema/field_set.h"
#include "schema/selectors.h"

#include <stdio.h>

/* Where a kind keeps what a scale shows. */
struct scaled {
    int32_t **replicas;
    int32_t current;
    const struct meta_v1_label_selector *selector;
    const struct str_map *labels; /* instead of a selector */
};

static struct scaled scaled_of(const struct kind *kind, void *object)
{
    if (kind == &apps_v1_deployment_kind) {
        struct apps_v1_deployment *o = object;

        return (struct scaled){&o->spec.replicas, o->status.replicas, o->spec.selector, NULL};
    }
    if (kind == &apps_v1_replica_set_kind) {
        struct apps_v1_replica_set *o = object;

        return (struct scaled){&o->spec.replicas, o->status.replicas, o->spec.selector, NULL};
    }
    if (kind == &apps_v1_stateful_set_kind) {
        struct apps_v1_stateful_set *o = object;

        return (struct scaled){&o->spec.replicas, o->status.replicas, o->spec.selector, NULL};
    }
    struct core_v1_replication_controller *o = object;

    return (struct scaled){&o->spec.replicas, o->status.replicas, NULL, &o->spec.selector};
}

static struct status *scale_of(struct arena *arena, const struct kind *kind, void *object,
                               struct autoscaling_v1_scale **ret)
{
    struct autoscaling_v1_scale *scale = ARENA_NEW(arena, struct autoscaling_v1_scale);
    const struct meta_v1_object_meta *meta = &((struct object *)object)->metadata;
    struct label_selector selector = {0};

    scale->metadata.name = meta->name;
    scale->metadata.namespace = meta->namespace;
    scale->metadata.uid = meta->uid;
    scale->metadata.resource_version = meta->resource_version;
    scale->metadata.creation_timestamp = meta->creation_timestamp;
    *ret = scale;
    if (kind->custom != NULL) {
        return custom_scale_read(arena, kind, object, scale);
    }
    struct scaled scaled = scaled_of(kind, object);

    scale->spec.replicas = *scaled.replicas != NULL ? **scaled.replicas : 1;
    scale->status.replicas = scaled.current;
    if (scaled.labels != NULL) {
        selector = label_selector_of_map(arena, scaled.labels);
    } else {
        TRY(label_selector_of(arena, scaled.selector, &selector));
    }
    scale->status.selector = label_selector_format(arena, &selector);
    return NULL;
}

/* What makes the scale wanted from the one that is there. */
struct scale_op {
    struct patch_op *patch;                   /* NULL: `wanted` is it */
    const struct autoscaling_v1_scale *wanted;
};

static struct status *check_scale(const struct autoscaling_v1_scale *scale)
{
    struct status *errors = error_invalid_start();

    if (scale->spec.replicas < 0) {
        char text[16];

        snprintf(text, sizeof text, "%d", scale->spec.replicas);
        error_invalid_value(errors, STR("spec.replicas"), str_of(text), "must be greater than or equal to 0");
    }
    return error_invalid_finish(errors, STR("autoscaling"), STR("Scale"), scale->metadata.name);
}

/* Who set the number, as the scale's owners. Errors quote them. */
static void take_owners(struct arena *arena, const struct meta_v1_object_meta *from, struct meta_v1_object_meta *to)
{
    LIST_EACH(entry, &from->managed_fields) {
        const struct field_set *set = NULL;
        struct status *status =
            entry->fields_v1 == NULL ? NULL : field_set_read(arena, entry->fields_v1->json, &set);
        bool owns = field_set_below(field_set_below(set, STR("f:spec")), STR("f:replicas")) != NULL;

        status_free(status);
        if (owns) {
            struct meta_v1_managed_fields_entry *owner = LIST_ADD(arena, &to->managed_fields);

            *owner = *entry;
            owner->api_version = autoscaling_v1_scale_kind.api_version;
            owner->subresource = (struct str){0};
            owner->fields_v1 = ARENA_NEW(arena, struct raw_json);
            owner->fields_v1->json = STR("{\"f:spec\":{\"f:replicas\":{}}}");
        }
    }
}

static struct status *make_scaled(struct change_op *op, const struct object *current, struct object **ret)
{
    struct arena *arena = op->request->arena;
    const struct kind *kind = op->resource->kind;
    const struct scale_op *wish = op->arg;
    struct object *object = schema_copy_shallow(arena, kind->type, current);
    const struct autoscaling_v1_scale *wanted = wish->wanted;

    if (wish->patch != NULL) {
        struct autoscaling_v1_scale *now;
        void *patched;

        TRY(scale_of(arena, kind, object, &now));
        take_owners(arena, &current->metadata, &now->metadata);
        TRY(registry_apply_patch(op->request, wish->patch, now, &patched));
        wanted = patched;
        TRY(object_meta_check_name(patched, op->name));
    }
    if (kind->custom != NULL) {
        custom_scale_write(arena, kind, object, wanted->spec.replicas); /* whose validation says what may be */
    } else {
        TRY(check_scale(wanted));
        struct scaled scaled = scaled_of(kind, object);

        *scaled.replicas = ARENA_NEW(arena, int32_t);
        **scaled.replicas = wanted->spec.replicas;
    }
    if (wanted->metadata.resource_version.n != 0) {
        object->metadata.resource_version = wanted->metadata.resource_version;
    }
    if (wanted->metadata.uid.n != 0) {
        object->metadata.uid = wanted->metadata.uid;
    }
    *ret = object;
    return NULL;
}

/* An apply to the scale is one to the number in the object. */
static struct status *scale_apply(struct request *request)
{
    struct arena *arena = request->arena;
    struct write_options options;
    struct value *wanted = NULL, *configuration = value_object(arena), *spec = value_object(arena);
    struct change_op op;
    struct autoscaling_v1_scale *scale;

    TRY(registry_read_configuration(request, &autoscaling_v1_scale_kind, &options, &wanted));
    struct value *replicas = value_find_path(wanted, "spec.replicas");

    value_set(arena, configuration, STR("spec"), spec);
    if (replicas != NULL) {
        value_set(arena, spec, STR("replicas"), replicas);
    }
    TRY(registry_apply_configuration(request, configuration, &options, &op));
    TRY(scale_of(arena, request->resource->kind, op.object, &scale));
    return respond_object(request, 200, &autoscaling_v1_scale_kind, scale);
}

static struct status *scale_write(struct request *request, bool is_patch)
{
    struct write_options options;
    struct scale_op wish = {0};
    struct autoscaling_v1_scale *scale;
    enum patch_type type;

    if (is_patch) {
        TRY(negotiate_patch(request_header(request, "content-type"), true, &type));
        if (type == PATCH_APPLY) {
            return scale_apply(request);
        }
    }
    TRY(query_write_options(request->arena, request->exchange->query, is_patch ? WRITE_PATCH : WRITE_UPDATE, &options));
    if (is_patch) {
        TRY(registry_read_patch(request, &options, &autoscaling_v1_scale_kind, &wish.patch));
    } else {
        struct str body;
        void *decoded;

        TRY(decode_read_body(request, &body));
        TRY(decode_object(request, body, &autoscaling_v1_scale_kind, options.field_validation, &decoded));
        TRY(object_meta_set_namespace(request->resource->kind, decoded, request->info.namespace));
        TRY(object_meta_check_name(decoded, request->info.name));
        wish.wanted = decoded;
    }
    struct change_op op = {.request = request,
                           .resource = request->resource,
                           .subresource = STR("scale"),
                           .namespace = request->info.namespace,
                           .name = request->info.name,
                           .options = &options,
                           .make = make_scaled,
                           .arg = &wish,
                           .keeps_version = is_patch || wish.wanted->metadata.resource_version.n == 0};

    TRY(registry_change(&op));
    TRY(scale_of(request->arena, request->resource->kind, op.object, &scale));
    return respond_object(request, 200, &autoscaling_v1_scale_kind, scale);
}

struct status *scale_serve(struct request *request)
{
    struct kept kept;
    struct autoscaling_v1_scale *scale;

    if (str_is(request->info.verb, "update") || str_is(request->info.verb, "patch")) {
        return scale_write(request, str_is(request->info.verb, "patch"));
    }
    if (!str_is(request->info.verb, "get")) {
        return error_method_not_allowed();
    }
    TRY(storage_get(request->server->store, request->resource, request->arena, request->info.namespace,
                    request->info.name, &kept));
    TRY(scale_of(request->arena, request->resource->kind, kept.object, &scale));
    return respond_object(request, 200, &autoscaling_v1_scale_kind, scale);
}
