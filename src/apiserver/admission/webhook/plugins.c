/* MutatingAdmissionWebhook and ValidatingAdmissionWebhook: servers elsewhere change and refuse what comes in. */
#include "api/core_v1.h"
#include "apiserver/admission/objects.h"
#include "apiserver/admission/plugins.h"
#include "apiserver/admission/webhook/hook.h"
#include "apiserver/encode.h"
#include "apiserver/errors.h"
#include "apiserver/registry/object_meta.h"
#include "apiserver/registry/rules.h"
#include "apiserver/resource.h"
#include "base/log.h"
#include "base/task.h"
#include "schema/copy.h"
#include "schema/json.h"
#include "schema/map_of.h"
#include "schema/object.h"
#include "schema/patch.h"

#include <string.h>

/* Nobody locks himself out by a webhook that refuses changes of webhooks. */
static bool is_exempt(const struct kind *kind)
{
    return str_is(kind->group, "admissionregistration.k8s.io");
}

static struct str operation_name(enum admission_operation operation)
{
    return operation == ADMIT_CREATE   ? STR("CREATE")
           : operation == ADMIT_UPDATE ? STR("UPDATE")
           : operation == ADMIT_DELETE ? STR("DELETE")
                                       : STR("CONNECT");
}

static const struct str_map *labels_of(const struct admission_request *admission, const void *object)
{
    bool has_labels = (admission->kind->type->flags & TYPE_OBJECT) != 0;

    return object != NULL && has_labels ? &((const struct object *)object)->metadata.labels : NULL;
}

static struct status *find_subject(const struct admission_request *admission, struct hook_subject *ret)
{
    const struct kind *kind = admission->resource->kind;
    const void *namespace = NULL;
    struct status *status = NULL;

    *ret = (struct hook_subject){.operation = operation_name(admission->operation),
                                 .group = kind->group,
                                 .version = kind->version,
                                 .resource = kind->plural,
                                 .subresource = admission->subresource,
                                 .is_namespaced = kind->namespaced,
                                 .labels = labels_of(admission, admission->object),
                                 .old_labels = labels_of(admission, admission->old_object)};
    if (kind == &core_v1_namespace_kind) {
        ret->namespace_labels = ret->labels != NULL ? ret->labels : ret->old_labels;
        return NULL;
    }
    if (kind->namespaced) {
        status = admission_find(admission, "", "v1", "namespaces", (struct str){0}, admission->namespace, &namespace);
    }
    if (status_free_if(&status, STATUS_NOT_FOUND) || namespace == NULL) {
        return status;
    }
    ret->namespace_labels = &((const struct object *)namespace)->metadata.labels;
    return NULL;
}

/* Adds the hook when it is to be asked. */
static struct status *consider(const struct admission_request *admission, const struct hook_subject *subject,
                               const struct hook *hook, struct hooks *ret)
{
    bool matches;
    struct status *status = hook_matches(admission->request->arena, hook, subject, &matches);

    if (status != NULL) {
        struct str why = arena_str(admission->request->arena, status->message);

        status_free(status);
        return error_internal("failed calling webhook \"%.*s\": %.*s", STR_ARG(hook->name), STR_ARG(why));
    }
    if (matches) {
        *LIST_ADD(admission->request->arena, ret) = *hook;
    }
    return NULL;
}

/* All that are to be asked, by the names of their configurations. */
static struct status *find_hooks(const struct admission_request *admission, bool are_mutating, struct hooks *ret)
{
    OWNED(admission_walk_done) struct admission_walk walk = {0};
    struct arena *arena = admission->request->arena;
    struct hook_subject subject;
    const void *at;

    *ret = (struct hooks){0};
    TRY(admission_walk_begin(&walk, admission, "admissionregistration.k8s.io", "v1",
                             are_mutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations",
                             (struct str){0}));
    TRY(admission_walk_next(&walk, &at));
    if (at == NULL) {
        return NULL;
    }
    TRY(find_subject(admission, &subject));
    while (at != NULL) {
        if (are_mutating) {
            const struct admissionregistration_v1_mutating_webhook_configuration *configuration =
                schema_copy(arena, &admissionregistration_v1_mutating_webhook_configuration_type, at);

            LIST_EACH(webhook, &configuration->webhooks) {
                struct hook hook = hook_of_mutating(webhook);

                TRY(consider(admission, &subject, &hook, ret));
            }
        } else {
            const struct admissionregistration_v1_validating_webhook_configuration *configuration =
                schema_copy(arena, &admissionregistration_v1_validating_webhook_configuration_type, at);

            LIST_EACH(webhook, &configuration->webhooks) {
                struct hook hook = hook_of_validating(webhook);

                TRY(consider(admission, &subject, &hook, ret));
            }
        }
        TRY(admission_walk_next(&walk, &at));
    }
    return NULL;
}

/* A failure to get an answer, as the hook's policy wants it: NULL when it does not count. Takes the status. */
static struct status *failure_of(const struct admission_request *admission, const struct hook *hook,
                                 struct status *status)
{
    if (status == NULL || status_is(status, STATUS_CANCELLED)) {
        return status;
    }
    struct str why = arena_str(admission->request->arena, status->message);

    status_free(status);
    if (hook->ignores_failure) {
        log_warn("Failed calling webhook, failing open %.*s: %.*s", STR_ARG(hook->name), STR_ARG(why));
        return NULL;
    }
    return error_internal("failed calling webhook \"%.*s\": %.*s", STR_ARG(hook->name), STR_ARG(why));
}

static struct status *ask_for_answer(const struct admission_request *admission, const struct hook *hook,
                                     const struct admission_v1_admission_response **ret)
{
    struct arena *arena = admission->request->arena;
    struct str uid = object_meta_new_uid(arena), answer;

    if (hook->has_conditions) {
        return status_new(STATUS_BAD_REQUEST, "matchConditions can't be evaluated by this server");
    }
    TRY(hook_call(admission, hook, hook_question(admission, uid), &answer));
    return hook_answer(arena, answer, uid, ret);
}

/* *ret is NULL when there is no answer and none is needed. */
static struct status *ask(const struct admission_request *admission, const struct hook *hook,
                          const struct admission_v1_admission_response **ret)
{
    *ret = NULL;
    if (admission->dry_run && hook->has_side_effects) {
        return error_bad_request("admission webhook \"%.*s\" does not support dry run", STR_ARG(hook->name));
    }
    TRY(failure_of(admission, hook, ask_for_answer(admission, hook, ret)));
    if (*ret == NULL) {
        return NULL;
    }
    LIST_EACH(warning, &(*ret)->warnings) {
        request_warn(admission->request, "%.*s", STR_ARG(*warning));
    }
    return (*ret)->allowed ? NULL : hook_refusal(hook->name, *ret);
}

/* The object as the patch makes it, in its old place. */
static struct status *apply_patch(struct admission_request *admission, struct str patch, bool *ret_changed)
{
    struct arena *arena = admission->request->arena;
    const struct kind *kind = admission->kind;
    OWNED(buf_done) struct buf item = {0};
    OWNED(buf_done) struct buf typed = {0};
    struct value *document, *operations, *patched;

    encode_item(MEDIA_JSON, kind->type, admission->object, &item);
    encode_typed(MEDIA_JSON, kind->api_version, kind->kind, buf_str(&item), &typed);
    TRY(value_read_json(arena, arena_str(arena, buf_str(&typed)), &document, NULL));
    TRY(value_read_json(arena, patch, &operations, NULL));
    TRY(patch_json(arena, document, operations, &patched));
    if (value_equal(document, patched)) {
        return NULL;
    }
    void *object = arena_alloc(arena, kind->type->size);

    TRY(json_decode(arena, kind->type, value_json(arena, patched), object, NULL));
    ((struct object *)object)->type_meta = (struct meta_v1_type_meta){0};
    rules_default(arena, kind, object);
    memcpy(admission->object, object, kind->type->size);
    *ret_changed = true;
    return NULL;
}

static struct status *mutate_by(struct admission_request *admission, const struct hook *hook, bool *ret_changed)
{
    const struct admission_v1_admission_response *response;

    TRY(ask(admission, hook, &response));
    if (response == NULL || response->patch.n == 0 || admission->object == NULL) {
        return NULL;
    }
    return failure_of(admission, hook, apply_patch(admission, response->patch, ret_changed));
}

/* Those that wish it are asked again when a later one has changed the object. */
static struct status *mutate(struct admission_request *admission)
{
    struct hooks hooks;
    size_t last_change = 0;

    if (is_exempt(admission->resource->kind)) {
        return NULL;
    }
    TRY(find_hooks(admission, true, &hooks));
    for (size_t i = 0; i < hooks.len; i++) {
        bool changed = false;

        TRY(mutate_by(admission, &hooks.items[i], &changed));
        last_change = changed ? i : last_change;
        admission->was_changed = admission->was_changed || changed;
    }
    for (size_t i = 0; i < last_change; i++) {
        bool changed = false;

        if (hooks.items[i].may_be_reinvoked) {
            TRY(mutate_by(admission, &hooks.items[i], &changed));
        }
    }
    return NULL;
}

/* One of those that are asked at once. */
struct asking {
    const struct admission_request *admission;
    const struct hook *hook;
    struct status *status;
};

static void ask_one(void *arg)
{
    struct asking *asking = arg;
    const struct admission_v1_admission_response *response;

    asking->status = ask(asking->admission, asking->hook, &response);
}

static struct status *validate(struct admission_request *admission)
{
    struct arena *arena = admission->request->arena;
    struct status *status = NULL;
    struct task_group group;
    struct hooks hooks;

    if (is_exempt(admission->resource->kind)) {
        return NULL;
    }
    TRY(find_hooks(admission, false, &hooks));
    struct asking *all = ARENA_ARRAY(arena, struct asking, hooks.len);

    task_group_init(&group);
    for (size_t i = 0; i < hooks.len; i++) {
        all[i] = (struct asking){.admission = admission, .hook = &hooks.items[i]};
        task_group_spawn(&group, "webhook", ask_one, &all[i]);
    }
    task_group_wait(&group);
    for (size_t i = 0; i < hooks.len; i++) {
        if (status == NULL) {
            status = all[i].status;
        } else {
            status_free(all[i].status);
        }
    }
    return status;
}

const struct admission_plugin mutating_webhook_plugin = {
    .name = "MutatingAdmissionWebhook",
    .operations = ADMIT_CREATE | ADMIT_UPDATE | ADMIT_DELETE | ADMIT_CONNECT,
    .mutate = mutate,
};

const struct admission_plugin validating_webhook_plugin = {
    .name = "ValidatingAdmissionWebhook",
    .operations = ADMIT_CREATE | ADMIT_UPDATE | ADMIT_DELETE | ADMIT_CONNECT,
    .validate = validate,
};
