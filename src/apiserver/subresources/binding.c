/* A pod gets its node: what the scheduler asks for. */
#include "apiserver/subresources/handlers.h"

#include "api/core_v1.h"
#include "apiserver/admission/admission.h"
#include "apiserver/decode.h"
#include "apiserver/errors.h"
#include "apiserver/registry/registry.h"
#include "apiserver/respond.h"
#include "apiserver/server.h"
#include "base/env.h"
#include "base/planted.h"
#include "base/trace.h"
#include "schema/copy.h"
#include "schema/map_of.h"
#include "schema/timestamp.h"

/* Stock answers these with 500 and the field's error alone. */
static struct status *check_binding(const struct core_v1_binding *binding)
{
    struct str kind = binding->target.kind;

    if (kind.n != 0 && !str_is(kind, "Node")) {
        return status_new(STATUS_UNKNOWN, "target.kind: Unsupported value: \"%.*s\": supported values: \"Node\", \"<empty>\"",
                          STR_ARG(kind));
    }
    if (binding->target.name.n == 0) {
        return status_new(STATUS_UNKNOWN, "target.name: Required value");
    }
    return NULL;
}

static struct status *conflict(struct str pod, const char *why)
{
    return error_conflict((struct str){0}, STR("pods/binding"), pod, "pod %.*s %s", STR_ARG(pod), why);
}

static struct status *check_pod(const struct core_v1_binding *binding, const struct core_v1_pod *pod)
{
    struct str name = pod->metadata.name;

    if (binding->metadata.uid.n != 0 && !str_eq(binding->metadata.uid, pod->metadata.uid)) {
        return error_conflict((struct str){0}, STR("pods/binding"), name,
                              "Precondition failed: UID in precondition: %.*s, UID in object meta: %.*s",
                              STR_ARG(binding->metadata.uid), STR_ARG(pod->metadata.uid));
    }
    if (pod->metadata.deletion_timestamp != NULL) {
        return conflict(name, "is being deleted, cannot be assigned to a host");
    }
    if (pod->spec.node_name.n != 0 && !planted(BINDING_OVERWRITES)) {
        return error_conflict((struct str){0}, STR("pods/binding"), name,
                              "pod %.*s is already assigned to node \"%.*s\"", STR_ARG(name),
                              STR_ARG(pod->spec.node_name));
    }
    if (pod->spec.scheduling_gates.len != 0) {
        return conflict(name, "has non-empty .spec.schedulingGates");
    }
    return NULL;
}

static void take_over(struct arena *arena, struct str_map *into, const struct str_map *from)
{
    if (from->len == 0) {
        return;
    }
    *into = str_map_copy(arena, into);
    LIST_EACH(entry, from) {
        str_map_set(arena, into, entry->key, entry->value);
    }
}

static void set_scheduled(struct arena *arena, struct core_v1_pod *pod)
{
    struct core_v1_pod_condition *place = NULL;

    LIST_EACH(condition, &pod->status.conditions) {
        if (str_is(condition->type, "PodScheduled")) {
            place = condition;
        }
    }
    if (place == NULL) {
        place = LIST_ADD(arena, &pod->status.conditions);
    }
    *place = (struct core_v1_pod_condition){.type = STR("PodScheduled"),
                                            .status = STR("True"),
                                            .observed_generation = place->observed_generation,
                                            .last_transition_time = timestamp_now()};
}

static struct status *make_bound(struct change_op *op, const struct object *current, struct object **ret)
{
    struct arena *arena = op->request->arena;
    const struct core_v1_binding *binding = op->arg;
    struct core_v1_pod *pod = schema_copy(arena, &core_v1_pod_type, current);

    TRY(check_pod(binding, pod));
    pod->spec.node_name = binding->target.name;
    take_over(arena, &pod->metadata.annotations, &binding->metadata.annotations);
    take_over(arena, &pod->metadata.labels, &binding->metadata.labels);
    set_scheduled(arena, pod);
    *ret = (struct object *)pod;
    return NULL;
}

static struct status *admit(struct request *request, struct core_v1_binding *binding,
                            const struct write_options *options)
{
    struct admission_request admission = {.request = request,
                                          .operation = ADMIT_CREATE,
                                          .resource = apiserver_resource(request->server, "", "v1", "pods"),
                                          .subresource = STR("binding"),
                                          .kind = &core_v1_binding_kind,
                                          .namespace = request->info.namespace,
                                          .name = binding->metadata.name,
                                          .object = binding,
                                          .dry_run = options->dry_run};

    TRY(admission_run(&admission, ADMIT_MUTATE));
    return admission_run(&admission, ADMIT_VALIDATE);
}

static struct status *bind(struct request *request, struct core_v1_binding *binding,
                           const struct write_options *options)
{
    int64_t start = env_wall();
    struct change_op op = {.request = request,
                           .resource = apiserver_resource(request->server, "", "v1", "pods"),
                           .subresource = STR("binding"),
                           .namespace = request->info.namespace,
                           .name = binding->metadata.name,
                           .options = options,
                           .make = make_bound,
                           .arg = binding,
                           .keeps_version = true,
                           .is_internal = true};
    struct status *status = registry_change(&op);

    request_trace(request, &(struct trace_span){.step = TRACE_POD_BOUND, .start = start,
                                                .outcome = status == NULL ? TRACE_OK : TRACE_FAILED,
                                                .detail = status == NULL ? binding->target.name : status->message});
    return status;
}

static struct status *read_binding(struct request *request, const struct write_options *options,
                                   struct core_v1_binding **ret)
{
    struct str body;
    void *decoded;

    TRY(decode_read_body(request, &body));
    TRY(decode_object(request, body, &core_v1_binding_kind, options->field_validation, &decoded));
    struct core_v1_binding *binding = decoded;

    if (request->info.name.n != 0 && !str_eq(binding->metadata.name, request->info.name)) {
        return error_bad_request("name in URL does not match name in Binding object");
    }
    TRY(check_binding(binding));
    *ret = binding;
    return NULL;
}

struct status *binding_create(struct request *request)
{
    struct write_options options;
    struct core_v1_binding *binding = NULL;
    int64_t start = env_wall();

    if (!str_is(request->info.verb, "create")) {
        return error_method_not_allowed();
    }
    TRY(query_write_options(request->arena, request->exchange->query, WRITE_CREATE, &options));
    struct status *status = read_binding(request, &options, &binding);

    request_trace(request, &(struct trace_span){.step = TRACE_BINDING_DECODED, .start = start,
                                                .outcome = status == NULL ? TRACE_OK : TRACE_FAILED,
                                                .detail = status == NULL ? binding->target.name : status->message});
    TRY(status);
    TRY(admit(request, binding, &options));
    TRY(bind(request, binding, &options));
    return respond_created(request);
}
