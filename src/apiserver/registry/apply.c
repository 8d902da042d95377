/* PATCH with an apply configuration: server-side apply. */
#include "apiserver/authz/authorize.h"
#include "apiserver/decode.h"
#include "apiserver/errors.h"
#include "apiserver/registry/managed_fields.h"
#include "apiserver/registry/object_meta.h"
#include "apiserver/registry/registry.h"
#include "apiserver/registry/rules.h"
#include "apiserver/respond.h"
#include "base/env.h"
#include "schema/field_typed.h"
#include "schema/yaml.h"

struct apply {
    struct managed_write write;
    const struct value *configuration;
    const struct write_options *options;
};

static struct status *check_configuration(struct request *request, const struct kind *kind,
                                          const struct value *configuration)
{
    struct str api_version = value_str_at(configuration, "apiVersion");

    if (!value_is(configuration, VALUE_OBJECT)) {
        return error_bad_request("error decoding YAML: the configuration is no object");
    }
    if (api_version.n == 0 || value_str_at(configuration, "kind").n == 0) {
        return error_bad_request("error decoding YAML: Object 'Kind' is missing in the configuration");
    }
    if (!str_eq(api_version, kind->api_version)) {
        return error_bad_request("Incorrect version specified in apply patch. Specified patch version: %.*s, expected: "
                                 "%.*s",
                                 STR_ARG(api_version), STR_ARG(kind->api_version));
    }
    if (value_find_path(configuration, "metadata.managedFields") != NULL) {
        return error_bad_request("metadata.managedFields must be nil");
    }
    struct status *wrong = field_typed_check(request->arena, kind->type, configuration);

    if (wrong != NULL) {
        struct str namespace = value_str_at(configuration, "metadata.namespace");
        struct str name = value_str_at(configuration, "metadata.name");
        struct status *error =
            status_new(STATUS_UNKNOWN, "failed to create typed patch object (%.*s/%.*s; %s%.*s, Kind=%.*s): %.*s",
                       STR_ARG(namespace), STR_ARG(name), kind->group.n == 0 ? "/" : "", STR_ARG(kind->api_version),
                       STR_ARG(kind->kind), STR_ARG(wrong->message));

        status_free(wrong);
        return error;
    }
    return NULL;
}

/* An apply that creates is a create to authorizers as well. */
static struct status *may_create(struct request *request)
{
    struct authz_attributes attributes = authorize_attributes(request);
    struct authz_decision decision;

    attributes.verb = STR("create");
    TRY(authorize(request->server, &attributes, request->arena, &decision));
    return decision.verdict == AUTHZ_ALLOW ? NULL : authz_forbidden(&attributes, decision.reason, request->arena);
}

static struct status *make_applied(struct change_op *op, const struct object *current, struct object **ret)
{
    struct request *request = op->request;
    const struct apply *apply = op->arg;
    const struct kind *kind = op->resource->kind;
    struct value *tree;
    OWNED(buf_done) struct buf text = {0};
    void *object;

    if (current == NULL) {
        TRY(may_create(request));
    }
    TRY(managed_fields_apply(&apply->write, current, apply->configuration, apply->options->force, &tree));
    value_write_json(&text, tree, 0);
    TRY(decode_json(request, arena_str(request->arena, buf_str(&text)), kind, apply->options->field_validation, &object));
    rules_default(request->arena, kind, object);
    TRY(object_meta_set_namespace(kind, object, request->info.namespace));
    if (((struct object *)object)->metadata.name.n == 0) {
        ((struct object *)object)->metadata.name = op->name;
    }
    TRY(object_meta_check_name(object, op->name));
    *ret = object;
    return NULL;
}

struct status *registry_apply_configuration(struct request *request, const struct value *configuration,
                                            const struct write_options *options, struct change_op *op)
{
    struct apply *apply = ARENA_NEW(request->arena, struct apply);

    *apply = (struct apply){.write = {.arena = request->arena,
                                      .kind = request->resource->kind,
                                      .subresource = request->info.subresource,
                                      .manager = options->field_manager},
                            .configuration = configuration,
                            .options = options};
    *op = (struct change_op){.request = request,
                             .resource = request->resource,
                             .subresource = request->info.subresource,
                             .namespace = request->info.namespace,
                             .name = request->info.name,
                             .options = options,
                             .make = make_applied,
                             .arg = apply,
                             .creates = true,
                             .applies = true,
                             .keeps_version = value_str_at(configuration, "metadata.resourceVersion").n == 0};
    return registry_change(op);
}

struct status *registry_read_configuration(struct request *request, const struct kind *kind,
                                           struct write_options *ret_options, struct value **ret)
{
    struct value *configuration = NULL;
    struct str body;

    TRY(query_write_options(request->arena, request->exchange->query, WRITE_APPLY, ret_options));
    TRY(decode_read_body(request, &body));
    struct status *status = yaml_read(request->arena, body, false, &configuration);

    if (status != NULL) {
        struct status *error = error_bad_request("error decoding YAML: %.*s", STR_ARG(status->message));

        status_free(status);
        return error;
    }
    TRY(check_configuration(request, kind, configuration));
    *ret = configuration;
    return NULL;
}

struct status *registry_apply(struct request *request)
{
    const struct kind *kind = request->resource->kind;
    struct write_options options;
    struct value *configuration;
    struct change_op op;
    int64_t start = env_wall();

    TRY(registry_read_configuration(request, kind, &options, &configuration));
    request_trace(request, &(struct trace_span){.step = TRACE_DECODE_OBJECT, .start = start, .detail = kind->kind});
    TRY(registry_apply_configuration(request, configuration, &options, &op));
    return respond_object(request, op.created ? 201 : 200, kind, op.object);
}
