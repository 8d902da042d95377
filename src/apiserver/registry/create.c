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

/* How often another generated name is tried when one is taken. */
enum { GENERATE_NAME_TRIES = 8 };

void registry_trace_write(struct request *request, const struct store_object *written)
{
    if (written->commit_end == 0) {
        return;
    }
    request_trace(request, &(struct trace_span){.step = TRACE_STORAGE_WRITE, .start = written->commit_start,
                                                .end = written->commit_end,
                                                .detail = arena_printf(request->arena, "revision %lld",
                                                                       (long long)written->mod_revision)});
    request_trace(request, &(struct trace_span){.step = TRACE_COMMITTED, .start = written->commit_start,
                                                .end = written->commit_end,
                                                .detail = arena_printf(request->arena, "revision %lld is durable",
                                                                       (long long)written->mod_revision)});
}

/* BeforeCreate: what the server fills, then validation. */
static struct status *prepare(struct request *request, const struct resource *resource, struct object *object)
{
    const struct strategy *strategy = resource->strategy;
    int64_t start = env_wall();

    object_meta_create(request->arena, resource, object);
    if ((strategy->flags & STRATEGY_KEEPS_STATUS) == 0 && resource->kind->has_status) {
        object_field_clear(resource->kind, object, STR("status"));
    }
    pod_spec_drop_disabled(resource->kind, object);
    if (strategy->create != NULL) {
        strategy->create(request, object);
    }
    request->uid = object->metadata.uid;
    request->info.name = object->metadata.name;
    struct status *status = rules_validate_create(request->arena, resource, object);

    request_trace(request, &(struct trace_span){.step = TRACE_VALIDATION, .start = start,
                                                .outcome = status == NULL ? TRACE_OK : TRACE_FAILED,
                                                .detail = status == NULL ? STR("valid") : status->message});
    return status;
}

static struct status *write_new(struct request *request, const struct resource *resource,
                                const struct write_options *options, struct object *object)
{
    struct store *store = request->server->store;
    struct store_object written = {0};

    if (options->dry_run) {
        struct kept kept;

        storage_normalise(resource, object);
        struct status *status = storage_get(store, resource, request->arena, object->metadata.namespace,
                                            object->metadata.name, &kept);

        if (status == NULL) {
            return error_already_exists(resource->kind->group, resource->kind->plural, object->metadata.name);
        }
        return status_free_if(&status, STATUS_NOT_FOUND) ? NULL : status;
    }
    TRY(storage_create(store, resource, request->arena, object, &written));
    registry_trace_write(request, &written);
    return NULL;
}

static struct status *create_once(struct request *request, const struct resource *resource,
                                  const struct write_options *options, struct object *object)
{
    const struct strategy *strategy = resource->strategy;
    struct admission_request admission = {.request = request,
                                          .operation = ADMIT_CREATE,
                                          .resource = resource,
                                          .kind = resource->kind,
                                          .namespace = object->metadata.namespace,
                                          .name = object->metadata.name,
                                          .object = object,
                                          .dry_run = options->dry_run};

    TRY(admission_run(&admission, ADMIT_MUTATE));
    TRY(prepare(request, resource, object));
    admission.name = object->metadata.name;
    TRY(admission_run(&admission, ADMIT_VALIDATE));
    struct status *status = strategy->allocate != NULL ? strategy->allocate(request, options, object, NULL) : NULL;

    status = status != NULL ? status : write_new(request, resource, options, object);
    if (strategy->finish != NULL) {
        strategy->finish(request, object, NULL, status == NULL && !options->dry_run);
    }
    return status;
}

struct status *registry_store_new(struct request *request, const struct resource *resource,
                                  const struct write_options *options, struct object *object)
{
    const struct type *type = resource->kind->type;
    bool is_generated = object->metadata.name.n == 0 && object->metadata.generate_name.n != 0;

    if (!is_generated) {
        return create_once(request, resource, options, object);
    }
    struct object *wanted = schema_copy_shallow(request->arena, type, object);

    for (int i = 1;; i++) {
        struct status *status = create_once(request, resource, options, object);

        if (i == GENERATE_NAME_TRIES || !status_free_if(&status, STATUS_ALREADY_EXISTS)) {
            return status;
        }
        memcpy(object, schema_copy_shallow(request->arena, type, wanted), type->size);
    }
}

/* A collection's POST names no object; a namespaced kind needs a namespace. */
struct status *registry_create(struct request *request)
{
    const struct resource *resource = request->resource;
    struct write_options options;
    struct str body;
    void *decoded;
    int64_t start = env_wall();

    TRY(query_write_options(request->arena, request->exchange->query, WRITE_CREATE, &options));
    TRY(decode_read_body(request, &body));
    struct status *status = decode_object(request, body, resource->kind, options.field_validation, &decoded);

    request_trace(request, &(struct trace_span){.step = TRACE_DECODE_OBJECT, .start = start,
                                                .outcome = status == NULL ? TRACE_OK : TRACE_FAILED,
                                                .detail = status == NULL ? resource->kind->kind : status->message});
    TRY(status);
    struct object *object = decoded;

    rules_default(request->arena, resource->kind, object);
    TRY(object_meta_set_namespace(resource->kind, object, request->info.namespace));
    object_meta_dedupe_owners(request, object);
    struct managed_write managed = {.arena = request->arena,
                                    .kind = resource->kind,
                                    .manager = request_field_manager(request, options.field_manager)};

    managed_fields_update(&managed, NULL, object);
    TRY(registry_store_new(request, resource, &options, object));
    return respond_object(request, 201, resource->kind, object);
}
