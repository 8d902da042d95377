/* Rows of access control, certificates, admission, flow control and what else the API server itself uses. */
#include "api/admissionregistration_v1.h"
#include "api/age.h"
#include "api/apiregistration_v1.h"
#include "api/certificates_v1.h"
#include "api/coordination_v1.h"
#include "api/flowcontrol_v1.h"
#include "api/node_v1.h"
#include "api/rbac_v1.h"
#include "api/scheduling_v1.h"
#include "api/storagemigration_v1.h"
#include "api/table_rows.h"
#include "base/buf.h"

static const struct str none = STR_INIT("<none>");
static const struct str unset = STR_INIT("<unset>");

static void binding_row(struct cells *cells, const void *object, const struct rbac_v1_role_ref *role,
                        const struct rbac_v1_subject *subjects, size_t count)
{
    struct str_list users = {0}, groups = {0}, accounts = {0};

    for (size_t i = 0; i < count; i++) {
        if (str_is(subjects[i].kind, "ServiceAccount")) {
            *LIST_ADD(cells->arena, &accounts) =
                arena_printf(cells->arena, "%.*s/%.*s", STR_ARG(subjects[i].namespace), STR_ARG(subjects[i].name));
        } else if (str_is(subjects[i].kind, "User")) {
            *LIST_ADD(cells->arena, &users) = subjects[i].name;
        } else if (str_is(subjects[i].kind, "Group")) {
            *LIST_ADD(cells->arena, &groups) = subjects[i].name;
        }
    }
    cell_name(cells, object);
    cell_printf(cells, "%.*s/%.*s", STR_ARG(role->kind), STR_ARG(role->name));
    cell_object_age(cells, object);
    cell_str(cells, join_strings(cells->arena, &users, ", "));
    cell_str(cells, join_strings(cells->arena, &groups, ", "));
    cell_str(cells, join_strings(cells->arena, &accounts, ", "));
}

void row_role_binding(struct cells *cells, const void *object)
{
    const struct rbac_v1_role_binding *binding = object;

    binding_row(cells, object, &binding->role_ref, binding->subjects.items, binding->subjects.len);
}

void row_cluster_role_binding(struct cells *cells, const void *object)
{
    const struct rbac_v1_cluster_role_binding *binding = object;

    binding_row(cells, object, &binding->role_ref, binding->subjects.items, binding->subjects.len);
}

void row_csr(struct cells *cells, const void *object)
{
    const struct certificates_v1_certificate_signing_request *request = object;
    bool approved = false, denied = false, failed = false;

    LIST_EACH(condition, &request->status.conditions) {
        approved = approved || str_is(condition->type, "Approved");
        denied = denied || str_is(condition->type, "Denied");
        failed = failed || str_is(condition->type, "Failed");
    }
    cell_name(cells, object);
    cell_object_age(cells, object);
    cell_str_or(cells, request->spec.signer_name, none);
    cell_str(cells, request->spec.username);
    cell_str(cells, request->spec.expiration_seconds == NULL
                        ? none
                        : human_duration(cells->arena, (int64_t)*request->spec.expiration_seconds * 1000000000));
    cell_printf(cells, "%s%s%s", denied ? "Denied" : approved ? "Approved" : "Pending", failed ? ",Failed" : "",
                request->status.certificate.n > 0 ? ",Issued" : "");
}

void row_cluster_trust_bundle(struct cells *cells, const void *object)
{
    cell_name(cells, object);
    cell_str_or(cells, ((const struct certificates_v1_cluster_trust_bundle *)object)->spec.signer_name, none);
}

void row_pod_certificate_request(struct cells *cells, const void *object)
{
    const struct certificates_v1_pod_certificate_request *request = object;
    struct str state = STR("Pending");

    LIST_EACH(condition, &request->status.conditions) {
        if (str_is(condition->type, "Issued") || str_is(condition->type, "Denied") ||
            str_is(condition->type, "Failed")) {
            state = condition->type;
        }
    }
    cell_name(cells, object);
    cell_str(cells, request->spec.pod_name);
    cell_str(cells, request->spec.service_account_name);
    cell_str(cells, request->spec.node_name);
    cell_str(cells, request->spec.signer_name);
    cell_str(cells, state);
    cell_labels(cells, &request->spec.unverified_user_annotations);
}

void row_lease(struct cells *cells, const void *object)
{
    cell_name(cells, object);
    cell_ptr_or(cells, ((const struct coordination_v1_lease *)object)->spec.holder_identity, STR(""));
    cell_object_age(cells, object);
}

void row_priority_class(struct cells *cells, const void *object)
{
    const struct scheduling_v1_priority_class *class = object;

    cell_name(cells, object);
    cell_int(cells, class->value);
    cell_bool(cells, class->global_default);
    cell_object_age(cells, object);
    cell_ptr_or(cells, class->preemption_policy, STR(""));
}

void row_runtime_class(struct cells *cells, const void *object)
{
    cell_name(cells, object);
    cell_str(cells, ((const struct node_v1_runtime_class *)object)->handler);
    cell_object_age(cells, object);
}

void row_validating_webhooks(struct cells *cells, const void *object)
{
    const struct admissionregistration_v1_validating_webhook_configuration *configuration = object;

    cell_name(cells, object);
    cell_int(cells, (int64_t)configuration->webhooks.len);
    cell_object_age(cells, object);
}

void row_mutating_webhooks(struct cells *cells, const void *object)
{
    const struct admissionregistration_v1_mutating_webhook_configuration *configuration = object;

    cell_name(cells, object);
    cell_int(cells, (int64_t)configuration->webhooks.len);
    cell_object_age(cells, object);
}

static void policy_row(struct cells *cells, const void *object, size_t count,
                       const struct admissionregistration_v1_param_kind *kind)
{
    cell_name(cells, object);
    cell_int(cells, (int64_t)count);
    if (kind != NULL) {
        cell_printf(cells, "%.*s/%.*s", STR_ARG(kind->api_version), STR_ARG(kind->kind));
    } else {
        cell_str(cells, unset);
    }
    cell_object_age(cells, object);
}

void row_validating_policy(struct cells *cells, const void *object)
{
    const struct admissionregistration_v1_validating_admission_policy *policy = object;

    policy_row(cells, object, policy->spec.validations.len, policy->spec.param_kind);
}

void row_mutating_policy(struct cells *cells, const void *object)
{
    const struct admissionregistration_v1_mutating_admission_policy *policy = object;

    policy_row(cells, object, policy->spec.mutations.len, policy->spec.param_kind);
}

/* A label selector as Go prints the struct, which is what stock shows here. */
static struct str go_selector(struct arena *arena, const struct meta_v1_label_selector *selector)
{
    OWNED(buf_done) struct buf out = {0};

    buf_printf(&out, "&LabelSelector{MatchLabels:map[string]string{");
    LIST_EACH(label, &selector->match_labels) {
        buf_printf(&out, "%.*s: %.*s,", STR_ARG(label->key), STR_ARG(label->value));
    }
    buf_printf(&out, "},MatchExpressions:[]LabelSelectorRequirement{");
    LIST_EACH(expression, &selector->match_expressions) {
        buf_printf(&out, "LabelSelectorRequirement{Key:%.*s,Operator:%.*s,Values:[%.*s],},", STR_ARG(expression->key),
                   STR_ARG(expression->operator), STR_ARG(join_strings(arena, &expression->values, " ")));
    }
    buf_printf(&out, "},}");
    return arena_str(arena, buf_str(&out));
}

static void policy_binding_row(struct cells *cells, const void *object, struct str policy,
                               const struct admissionregistration_v1_param_ref *ref)
{
    cell_name(cells, object);
    cell_str(cells, policy);
    if (ref != NULL && ref->name.n > 0) {
        cell_printf(cells, "%.*s%s%.*s", STR_ARG(ref->namespace), ref->namespace.n > 0 ? "/" : "", STR_ARG(ref->name));
    } else {
        cell_str(cells, ref != NULL && ref->selector != NULL ? go_selector(cells->arena, ref->selector) : unset);
    }
    cell_object_age(cells, object);
}

void row_validating_binding(struct cells *cells, const void *object)
{
    const struct admissionregistration_v1_validating_admission_policy_binding *binding = object;

    policy_binding_row(cells, object, binding->spec.policy_name, binding->spec.param_ref);
}

void row_mutating_binding(struct cells *cells, const void *object)
{
    const struct admissionregistration_v1_mutating_admission_policy_binding *binding = object;

    policy_binding_row(cells, object, binding->spec.policy_name, binding->spec.param_ref);
}

void row_flow_schema(struct cells *cells, const void *object)
{
    const struct flowcontrol_v1_flow_schema *schema = object;
    struct str dangling = STR("?");

    LIST_EACH(condition, &schema->status.conditions) {
        if (str_is(condition->type, "Dangling")) {
            dangling = condition->status;
            break;
        }
    }
    cell_name(cells, object);
    cell_str_or(cells, schema->spec.priority_level_configuration.name, none);
    cell_int(cells, schema->spec.matching_precedence);
    cell_str(cells, schema->spec.distinguisher_method != NULL ? schema->spec.distinguisher_method->type : none);
    cell_object_age(cells, object);
    cell_str(cells, dangling);
}

void row_priority_level(struct cells *cells, const void *object)
{
    const struct flowcontrol_v1_priority_level_configuration *level = object;
    const struct flowcontrol_v1_limited_priority_level_configuration *limited = level->spec.limited;
    const struct flowcontrol_v1_queuing_configuration *queuing =
        limited != NULL ? limited->limit_response.queuing : NULL;

    cell_name(cells, object);
    cell_str(cells, level->spec.type);
    if (limited != NULL) {
        cell_int(cells, number_or(limited->nominal_concurrency_shares, 0));
    } else {
        cell_str(cells, none);
    }
    if (queuing != NULL) {
        cell_int(cells, queuing->queues);
        cell_int(cells, queuing->hand_size);
        cell_int(cells, queuing->queue_length_limit);
    } else {
        cell_str(cells, none);
        cell_str(cells, none);
        cell_str(cells, none);
    }
    cell_object_age(cells, object);
}

void row_api_service(struct cells *cells, const void *object)
{
    const struct apiregistration_v1_api_service *service = object;
    const struct apiregistration_v1_service_reference *reference = service->spec.service;
    const struct apiregistration_v1_api_service_condition *available = NULL;

    LIST_EACH(condition, &service->status.conditions) {
        available = str_is(condition->type, "Available") ? condition : available;
    }
    cell_name(cells, object);
    if (reference != NULL) {
        cell_printf(cells, "%.*s/%.*s", STR_ARG(reference->namespace), STR_ARG(reference->name));
    } else {
        cell_str(cells, STR("Local"));
    }
    if (available != NULL && !str_is(available->status, "True") && available->reason.n > 0) {
        cell_printf(cells, "%.*s (%.*s)", STR_ARG(available->status), STR_ARG(available->reason));
    } else {
        cell_str(cells, available != NULL ? available->status : STR("Unknown"));
    }
    cell_object_age(cells, object);
}

void row_storage_version_migration(struct cells *cells, const void *object)
{
    const struct storagemigration_v1_storage_version_migration *migration = object;
    const struct meta_v1_group_resource *resource = &migration->spec.resource;
    struct str status = STR("Unknown");

    LIST_EACH(condition, &migration->status.conditions) {
        if (str_is(condition->status, "True") &&
            (str_is(condition->type, "Running") || str_is(condition->type, "Succeeded") ||
             str_is(condition->type, "Failed"))) {
            status = condition->type;
        }
    }
    cell_name(cells, object);
    cell_printf(cells, "%.*s%s%.*s", STR_ARG(resource->resource), resource->group.n > 0 ? "." : "",
                STR_ARG(resource->group));
    cell_str(cells, status);
}
