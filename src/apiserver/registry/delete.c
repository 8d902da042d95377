#include "api/batch_v1.h"
#include "api/core_v1.h"
#include "apiserver/admission/admission.h"
#include "apiserver/decode.h"
#include "apiserver/errors.h"
#include "apiserver/registry/grace.h"
#include "apiserver/registry/registry.h"
#include "apiserver/registry/strategy.h"
#include "apiserver/registry/write_trace.h"
#include "apiserver/respond.h"
#include "apiserver/server.h"
#include "schema/copy.h"
#include "schema/json.h"
#include "schema/json_lexer.h"
#include "schema/protobuf.h"

struct status *registry_convert_delete_options(const struct meta_v1_delete_options *from, struct delete_options *ret)
{
    struct delete_options o = {.grace_period_seconds = from->grace_period_seconds,
                               .orphan_dependents = from->orphan_dependents,
                               .dry_run = from->dry_run.len != 0};

    if (from->propagation_policy != NULL) {
        o.propagation_policy = *from->propagation_policy;
    }
    if (from->preconditions != NULL) {
        o.has_uid = from->preconditions->uid != NULL;
        o.uid = o.has_uid ? *from->preconditions->uid : (struct str){0};
        o.has_resource_version = from->preconditions->resource_version != NULL;
        o.resource_version = o.has_resource_version ? *from->preconditions->resource_version : (struct str){0};
    }
    TRY(query_delete_options_check(&o, from->dry_run.items, from->dry_run.len));
    *ret = o;
    return NULL;
}

struct status *registry_delete_options(struct request *request, struct str body, struct delete_options *ret)
{
    void *decoded;

    if (body.n == 0) {
        return query_delete_options(request->arena, request->exchange->query, ret);
    }
    TRY(decode_object(request, body, &meta_v1_delete_options_kind, FIELD_VALIDATION_IGNORE, &decoded));
    return registry_convert_delete_options(decoded, ret);
}

static struct status *check_preconditions(const struct delete_op *op, const struct object *object)
{
    const struct kind *kind = op->resource->stored;
    const struct meta_v1_object_meta *meta = &object->metadata;
    bool is_namespace = kind == &core_v1_namespace_kind;

    if (is_namespace && op->options.has_uid && !str_eq(op->options.uid, meta->uid)) {
        return error_conflict(kind->group, kind->plural, meta->name,
                              "Precondition failed: UID in precondition: %.*s, UID in object meta: %.*s",
                              STR_ARG(op->options.uid), STR_ARG(meta->uid));
    }
    if (op->options.has_uid && !str_eq(op->options.uid, meta->uid)) {
        return error_conflict(kind->group, kind->kind, meta->name,
                              "the UID in the precondition (%.*s) does not match the UID in record (%.*s). The object "
                              "might have been deleted and then recreated",
                              STR_ARG(op->options.uid), STR_ARG(meta->uid));
    }
    if (op->options.has_resource_version && !str_eq(op->options.resource_version, meta->resource_version)) {
        return error_conflict(kind->group, kind->kind, meta->name,
                              "the ResourceVersion in the precondition (%.*s) does not match the ResourceVersion in "
                              "record (%.*s). The object might have been modified",
                              STR_ARG(op->options.resource_version), STR_ARG(meta->resource_version));
    }
    return NULL;
}

static struct status *admit(struct delete_op *op, const struct object *object, enum admission_phase phase)
{
    struct admission_request admission = {.request = op->request,
                                          .operation = ADMIT_DELETE,
                                          .resource = op->resource,
                                          .kind = op->resource->kind,
                                          .namespace = op->namespace,
                                          .name = op->name,
                                          .old_object = object,
                                          .delete_options = &op->options,
                                          .dry_run = op->options.dry_run};

    return admission_run(&admission, phase);
}

static struct status *carry_out(struct delete_op *op, const struct kept *kept, struct object *object,
                                enum grace_verdict verdict)
{
    struct request *request = op->request;
    struct store *store = request->server->store;
    struct store_object written = {0};

    op->object = object;
    op->is_gone = verdict == GRACE_DELETE_NOW || verdict == GRACE_LAST_UPDATE;
    if (op->options.dry_run || verdict == GRACE_ALREADY) {
        return NULL;
    }
    int64_t revision = kept->revision;

    if (verdict != GRACE_DELETE_NOW) {
        TRY(storage_update(store, op->resource, request->arena, kept, object, &written));
        revision = written.mod_revision;
    }
    if (op->is_gone) {
        struct kept gone = {.object = object, .revision = revision};

        TRY(storage_delete(store, op->resource, request->arena, &gone, &written));
        if (op->resource->strategy->finish != NULL) {
            op->resource->strategy->finish(request, NULL, object, true);
        }
    }
    registry_trace_write(request, &written);
    return NULL;
}

struct status *registry_remove(struct delete_op *op)
{
    struct request *request = op->request;

    TRY(admit(op, NULL, ADMIT_MUTATE));
    for (;;) {
        struct kept kept;

        TRY(storage_get(request->server->store, op->resource, request->arena, op->namespace, op->name, &kept));
        TRY(check_preconditions(op, kept.object));
        TRY(admit(op, kept.object, ADMIT_VALIDATE));
        struct object *object = schema_copy_shallow(request->arena, op->resource->kind->type, kept.object);

        request->uid = object->metadata.uid;
        enum grace_verdict verdict = grace_decide(request->arena, op->resource, &op->options, env_wall(), object);
        struct status *status = carry_out(op, &kept, object, verdict);

        if (!status_free_if(&status, STATUS_CONFLICT)) {
            return status;
        }
        if (task_is_cancelled()) {
            return status_new(STATUS_CANCELLED, "the client has gone");
        }
    }
}

static struct status *respond_success(struct request *request, int code, const struct object *object)
{
    const struct kind *kind = request->resource->kind;
    struct meta_v1_status *status = ARENA_NEW(request->arena, struct meta_v1_status);

    status->status = STR("Success");
    status->details = ARENA_NEW(request->arena, struct meta_v1_status_details);
    status->details->name = object->metadata.name;
    status->details->group = kind->group;
    status->details->kind = kind->plural;
    status->details->uid = object->metadata.uid;
    return respond_plain(request, code, &meta_v1_status_kind, status);
}

static void warn_of_orphans(struct request *request, const struct delete_options *options)
{
    if (request->resource->kind == &batch_v1_job_kind && options->propagation_policy.n == 0 &&
        options->orphan_dependents == NULL) {
        request_warn(request, "child pods are preserved by default when jobs are deleted; set "
                              "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress "
                              "this warning");
    }
}

struct status *registry_delete(struct request *request)
{
    struct delete_op op = {.request = request,
                           .resource = request->resource,
                           .namespace = request->info.namespace,
                           .name = request->info.name};
    struct str body;

    TRY(decode_read_body(request, &body));
    TRY(registry_delete_options(request, body, &op.options));
    warn_of_orphans(request, &op.options);
    TRY(registry_remove(&op));
    bool cascades = op.options.orphan_dependents != NULL && !*op.options.orphan_dependents;
    int code = !op.is_gone && cascades ? 202 : 200;

    if (op.is_gone && (request->resource->strategy->flags & STRATEGY_RETURNS_DELETED) == 0) {
        return respond_success(request, code, op.object);
    }
    return respond_object(request, code, request->resource->kind, op.object);
}
