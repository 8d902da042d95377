#include "apiserver/admission/admission.h"
#include "apiserver/decode.h"
#include "apiserver/errors.h"
#include "apiserver/registry/kinds.h"
#include "apiserver/registry/managed_fields.h"
#include "apiserver/registry/object_meta.h"
#include "apiserver/registry/registry.h"
#include "apiserver/registry/rules.h"
#include "apiserver/registry/strategy.h"
#include "apiserver/registry/write_trace.h"
#include "apiserver/respond.h"
#include "apiserver/server.h"
#include "base/env.h"
#include "base/trace.h"
#include "schema/copy.h"

#include <string.h>

bool registry_should_be_gone(const struct resource *resource, const struct object *object)
{
    const struct meta_v1_object_meta *meta = &object->metadata;

    if (meta->deletion_timestamp == NULL || meta->finalizers.len != 0 ||
        (meta->deletion_grace_period_seconds != NULL && *meta->deletion_grace_period_seconds > 0)) {
        return false;
    }
    return resource->strategy->holds == NULL || !resource->strategy->holds(object);
}

/* The version the client looked at must be the one that is there. *ret_is_fixed: it said which. */
static struct status *check_version(struct change_op *op, const struct kept *kept, struct object *object,
                                    bool *ret_is_fixed)
{
    const struct kind *kind = op->resource->kind;
    struct str version = object->metadata.resource_version;
    int64_t wanted = 0;

    if (version.n != 0 && !str_is(version, "0")) {
        struct status *status = resource_version_parse(version, &wanted);

        if (status != NULL) {
            status_free(status);
            return status_new(STATUS_UNKNOWN, "strconv.ParseUint: parsing \"%.*s\": invalid syntax", STR_ARG(version));
        }
    }
    *ret_is_fixed = wanted != 0 && !(op->keeps_version && wanted == kept->revision);
    if (wanted == 0 && (op->resource->strategy->flags & STRATEGY_NEEDS_VERSION) != 0) {
        struct status *errors = error_invalid_start();

        error_invalid_value(errors, STR("metadata.resourceVersion"), STR("0"), "must be specified for an update");
        return error_invalid_finish(errors, kind->group, kind->plural, op->name);
    }
    if (wanted != 0 && wanted != kept->revision) {
        return error_conflict(kind->group, kind->plural, op->name, OPTIMISTIC_LOCK_MESSAGE);
    }
    return NULL;
}

static struct status *check_uid(struct change_op *op, const struct kept *kept, const struct object *object)
{
    const struct kind *kind = op->resource->kind;
    struct str uid = object->metadata.uid, own = kept->object->metadata.uid;

    if (uid.n == 0 || str_eq(uid, own) || op->keeps_version || op->applies) {
        return NULL; /* patches are told by validation */
    }
    struct str key = resource_key(op->request->arena, op->resource, op->namespace, op->name);

    return error_conflict(kind->group, kind->plural, op->name,
                          "StorageError: invalid object, Code: 4, Key: %.*s%.*s, ResourceVersion: 0, "
                          "AdditionalErrorMsg: Precondition failed: UID in precondition: %.*s, UID in object meta: %.*s",
                          STR_ARG(op->resource->prefix), STR_ARG(key), STR_ARG(uid), STR_ARG(own));
}

/* An update of the status subresource leaves alone what the object itself is updated with. */
static void keep_all_but_status(const struct resource *resource, struct object *object, const struct object *old,
                                struct str subresource)
{
    const struct type *type = resource->kind->type;

    for (size_t i = 0; i < type->field_count && str_is(subresource, "status"); i++) {
        const struct field *field = &type->fields[i];

        if (field == type->rest) {
            memcpy((char *)object + field->offset, (const char *)old + field->offset, field_size(field));
        } else if (field->name.n != 0 && !str_is(field->name, "metadata") && !str_is(field->name, "status")) {
            object_field_take(resource->kind, object, old, field->name);
        }
    }
    if (str_is(subresource, "status") && (resource->strategy->flags & STRATEGY_STATUS_KEEPS_LABELS) != 0) {
        object->metadata.labels = old->metadata.labels;
    }
    if (str_is(subresource, "status") && (resource->strategy->flags & STRATEGY_STATUS_KEEPS_META) != 0) {
        __typeof__(object->metadata.managed_fields) owners = object->metadata.managed_fields;
        struct str version = object->metadata.resource_version;

        object->metadata = old->metadata;
        object->metadata.managed_fields = owners;
        object->metadata.resource_version = version;
    }
}

/* BeforeUpdate: what an update can't change, and validation. */
static struct status *prepare(struct change_op *op, struct object *object, const struct object *old)
{
    const struct resource *resource = op->resource;
    const struct strategy *strategy = resource->strategy;
    int64_t start = env_wall();

    object_meta_update(object, old);
    if (object->metadata.resource_version.n == 0 || str_is(object->metadata.resource_version, "0")) {
        object->metadata.resource_version = old->metadata.resource_version; /* whichever is the newest */
    }
    if (op->subresource.n != 0) {
        keep_all_but_status(resource, object, old, op->subresource);
        if (strategy->update_subresource != NULL) {
            strategy->update_subresource(op->request, op->subresource, object, old);
        }
    } else {
        if (resource->kind->has_status) {
            object_field_take(resource->kind, object, old, STR("status"));
        }
        pod_spec_drop_disabled(resource->kind, object);
        if (strategy->update != NULL) {
            strategy->update(op->request, object, old);
        }
    }
    object_meta_count_generation(resource, object, old);
    struct status *status = rules_validate_update(op->request->arena, resource, op->subresource, object, old);

    request_trace(op->request, &(struct trace_span){.step = TRACE_VALIDATION, .start = start,
                                                    .outcome = status == NULL ? TRACE_OK : TRACE_FAILED,
                                                    .detail = status == NULL ? STR("valid") : status->message});
    return status;
}

static struct status *admit(struct change_op *op, enum admission_phase phase, struct object *object,
                            const struct object *old)
{
    struct admission_request admission = {.request = op->request,
                                          .operation = ADMIT_UPDATE,
                                          .resource = op->resource,
                                          .subresource = op->subresource,
                                          .kind = op->resource->kind,
                                          .namespace = op->namespace,
                                          .name = op->name,
                                          .object = object,
                                          .old_object = old,
                                          .dry_run = op->options->dry_run};

    return op->is_internal ? NULL : admission_run(&admission, phase);
}

static struct status *write(struct change_op *op, const struct kept *kept, struct object *object)
{
    struct request *request = op->request;
    struct store *store = request->server->store;
    struct store_object written = {0};

    if (op->options->dry_run) {
        storage_normalise(op->resource, object);
        return NULL;
    }
    if (registry_should_be_gone(op->resource, object)) {
        /* the last that held it let go: it isn't written once more, but removed */
        struct str version = kept->object->metadata.resource_version;

        TRY(storage_delete(store, op->resource, request->arena, kept, &written));
        object->metadata.resource_version = version;
    } else {
        TRY(storage_update(store, op->resource, request->arena, kept, object, &written));
    }
    registry_trace_write(request, &written);
    return NULL;
}

static struct status *allocate_and_write(struct change_op *op, const struct kept *kept, struct object *object)
{
    const struct strategy *strategy = op->resource->strategy;
    bool allocates = strategy->allocate != NULL && op->subresource.n == 0;
    struct status *status =
        allocates ? strategy->allocate(op->request, op->options, object, kept->object) : NULL;

    status = status != NULL ? status : write(op, kept, object);
    if (strategy->finish != NULL && op->subresource.n == 0) {
        strategy->finish(op->request, object, kept->object, status == NULL && !op->options->dry_run);
    }
    return status;
}

static void track(struct change_op *op, const struct object *old, struct object *object)
{
    struct managed_write managed = {.arena = op->request->arena,
                                    .kind = op->resource->kind,
                                    .subresource = op->subresource,
                                    .manager = request_field_manager(op->request, op->options->field_manager)};

    if (!op->applies && !op->is_internal) {
        managed_fields_update(&managed, old, object);
    }
}

/* One try; *ret_again says that another writer was faster and the client didn't insist on a version. */
static struct status *change_once(struct change_op *op, const struct kept *kept, bool *ret_again)
{
    const struct resource *resource = op->resource;
    struct object *object;
    bool is_fixed = false;

    TRY(op->make(op, kept->object, &object));
    TRY(check_uid(op, kept, object));
    object_meta_dedupe_owners(op->request, object);
    track(op, kept->object, object);
    TRY(admit(op, ADMIT_MUTATE, object, kept->object));
    TRY(check_version(op, kept, object, &is_fixed));
    op->request->uid = kept->object->metadata.uid;
    TRY(prepare(op, object, kept->object));
    TRY(admit(op, ADMIT_VALIDATE, object, kept->object));
    struct status *status = allocate_and_write(op, kept, object);

    if (status_is(status, STATUS_CONFLICT)) {
        status_free(status);
        if (is_fixed) {
            return error_conflict(resource->kind->group, resource->kind->plural, op->name, OPTIMISTIC_LOCK_MESSAGE);
        }
        *ret_again = true;
        return NULL;
    }
    op->object = object;
    return status;
}

static struct status *create_instead(struct change_op *op, struct status *missing)
{
    struct object *object;

    bool may = op->applies || (op->resource->strategy->flags & STRATEGY_CREATE_ON_UPDATE) != 0;

    if (!op->creates || op->subresource.n != 0 || !may) {
        return missing;
    }
    status_free(missing);
    TRY(op->make(op, NULL, &object));
    track(op, NULL, object);
    TRY(registry_store_new(op->request, op->resource, op->options, object));
    op->object = object;
    op->created = true;
    return NULL;
}

struct status *registry_change(struct change_op *op)
{
    for (bool again = true; again;) {
        struct kept kept;
        struct status *status = storage_get(op->request->server->store, op->resource, op->request->arena, op->namespace,
                                            op->name, &kept);

        if (status_is(status, STATUS_NOT_FOUND)) {
            return create_instead(op, status);
        }
        TRY(status);
        again = false;
        TRY(change_once(op, &kept, &again));
        if (task_is_cancelled()) {
            return status_new(STATUS_CANCELLED, "the client has gone");
        }
    }
    return NULL;
}

/* PUT: the object as sent, anew for each try since preparing changes it. */
static struct status *make_replacement(struct change_op *op, const struct object *current, struct object **ret)
{
    *ret = schema_copy_shallow(op->request->arena, op->resource->kind->type, op->arg);
    return NULL;
}

struct status *registry_update(struct request *request)
{
    const struct resource *resource = request->resource;
    struct write_options options;
    struct str body;
    void *decoded;
    int64_t start = env_wall();

    TRY(query_write_options(request->arena, request->exchange->query, WRITE_UPDATE, &options));
    TRY(decode_read_body(request, &body));
    TRY(decode_object(request, body, resource->kind, options.field_validation, &decoded));
    request_trace(request, &(struct trace_span){.step = TRACE_DECODE_OBJECT, .start = start,
                                                .detail = resource->kind->kind});
    rules_default(request->arena, resource->kind, decoded);
    TRY(object_meta_set_namespace(resource->kind, decoded, request->info.namespace));
    TRY(object_meta_check_name(decoded, request->info.name));
    struct change_op op = {.request = request,
                           .resource = resource,
                           .subresource = request->info.subresource,
                           .namespace = request->info.namespace,
                           .name = request->info.name,
                           .options = &options,
                           .make = make_replacement,
                           .arg = decoded,
                           .creates = true};

    TRY(registry_change(&op));
    return respond_object(request, op.created ? 201 : 200, resource->kind, op.object);
}
