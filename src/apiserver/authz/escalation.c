#include "apiserver/authz/escalation.h"

#include "apiserver/authz/authorize.h"
#include "apiserver/errors.h"
#include "apiserver/resource.h"
#include "apiserver/server.h"
#include "schema/copy.h"

#define GROUP STR("rbac.authorization.k8s.io")

/* What somebody is about to grant, and what he has. */
struct grant {
    const struct admission_request *admission;
    struct rbac_view *view;
    struct str namespace; /* empty: everywhere */
};

static struct status *is_allowed(const struct admission_request *admission, const char *verb, struct str resource,
                                 struct str namespace, struct str name, bool *ret)
{
    struct request *request = admission->request;
    struct authz_attributes attributes = {.user = request->user,
                                          .verb = str_of(verb),
                                          .is_resource = true,
                                          .group = GROUP,
                                          .version = STR("v1"),
                                          .namespace = namespace,
                                          .resource = resource,
                                          .name = name};
    struct authz_decision decision = {0};

    TRY(authorize(request->server, &attributes, request->arena, &decision));
    *ret = decision.verdict == AUTHZ_ALLOW;
    return NULL;
}

static struct status *confirm(const struct grant *grant, const struct rbac_rules *wanted)
{
    struct request *request = grant->admission->request;
    struct rbac_rules held = rbac_rules_of(&grant->view->source, request->user, grant->namespace, request->arena);
    bool covered;
    struct str missing = rbac_missing(&held, wanted, request->user, request->arena, &covered);

    return covered ? NULL : admission_forbidden(grant->admission, "%.*s", STR_ARG(missing));
}

/* A role that gathers others may come to hold anything. */
static struct status *confirm_everything(const struct grant *grant)
{
    static struct str all[] = {STR_INIT("*")};
    const struct str_list star = {all, 1};
    const struct rbac_v1_policy_rule resources = {.verbs = star, .api_groups = star, .resources = star};
    const struct rbac_v1_policy_rule urls = {.verbs = star, .non_resource_urls = star};
    const struct rbac_v1_policy_rule *both[] = {&resources, &urls};
    const struct rbac_rules wanted = {.items = both, .len = 2};
    struct status *status = confirm(grant, &wanted);

    if (status == NULL) {
        return NULL;
    }
    status_free(status);
    return admission_forbidden(grant->admission, "must have cluster-admin privileges to use the aggregationRule");
}

static bool same_rules(const struct kind *kind, const void *a, const void *b)
{
    const struct field *field = type_field(kind->type, STR("rules"));

    return schema_field_equal(field, (const char *)a + field->offset, (const char *)b + field->offset);
}

static struct status *check_role(const struct grant *grant)
{
    const struct admission_request *admission = grant->admission;
    const struct kind *kind = admission->resource->kind;
    struct arena *arena = admission->request->arena;
    struct rbac_rules wanted = {0};
    bool allowed = false;

    TRY(is_allowed(admission, "escalate", kind->plural, grant->namespace, admission->name, &allowed));
    if (allowed) {
        return NULL;
    }
    if (kind == &rbac_v1_cluster_role_kind) {
        const struct rbac_v1_cluster_role *role = admission->object;

        if (role->aggregation_rule != NULL && role->aggregation_rule->cluster_role_selectors.len != 0) {
            TRY(confirm_everything(grant));
        }
        LIST_EACH(rule, &role->rules) {
            *LIST_ADD(arena, &wanted) = rule;
        }
    } else {
        const struct rbac_v1_role *role = admission->object;

        LIST_EACH(rule, &role->rules) {
            *LIST_ADD(arena, &wanted) = rule;
        }
    }
    if (admission->old_object != NULL && same_rules(kind, admission->object, admission->old_object)) {
        return NULL;
    }
    return confirm(grant, &wanted);
}

static const struct rbac_v1_role_ref *role_ref_of(const struct kind *kind, const void *binding)
{
    return kind == &rbac_v1_cluster_role_binding_kind
               ? &((const struct rbac_v1_cluster_role_binding *)binding)->role_ref
               : &((const struct rbac_v1_role_binding *)binding)->role_ref;
}

/* The same role for the same subjects: only metadata changes. */
static bool grants_the_same(const struct kind *kind, const void *a, const void *b)
{
    const struct field *subjects = type_field(kind->type, STR("subjects"));

    return b != NULL && schema_equal(&rbac_v1_role_ref_type, role_ref_of(kind, a), role_ref_of(kind, b)) &&
           schema_field_equal(subjects, (const char *)a + subjects->offset, (const char *)b + subjects->offset);
}

static struct status *check_binding(const struct grant *grant)
{
    const struct admission_request *admission = grant->admission;
    const struct kind *kind = admission->resource->kind;
    const struct rbac_v1_role_ref *ref = role_ref_of(kind, admission->object);
    struct str roles = str_is(ref->kind, "ClusterRole") ? STR("clusterroles") : STR("roles");
    struct rbac_rules wanted;
    bool allowed = false;

    if (grants_the_same(kind, admission->object, admission->old_object)) {
        return NULL;
    }
    TRY(is_allowed(admission, "bind", roles, grant->namespace, ref->name, &allowed));
    if (allowed) {
        return NULL;
    }
    struct status *status =
        rbac_rules_of_ref(&grant->view->source, ref, grant->namespace, admission->request->arena, &wanted);

    if (status_free_if(&status, STATUS_NOT_FOUND)) {
        return error_not_found(GROUP, kind->plural, ref->name);
    }
    TRY(status);
    return confirm(grant, &wanted);
}

struct status *escalation_check(const struct admission_request *admission)
{
    const struct kind *kind = admission->resource->kind;
    bool is_role = kind == &rbac_v1_role_kind || kind == &rbac_v1_cluster_role_kind;
    bool is_binding = kind == &rbac_v1_role_binding_kind || kind == &rbac_v1_cluster_role_binding_kind;
    bool writes = admission->operation == ADMIT_CREATE || admission->operation == ADMIT_UPDATE;
    OWNED(rbac_view_done) struct rbac_view view = {0};

    if (!writes || (!is_role && !is_binding) || user_has_group(admission->request->user, GROUP_MASTERS)) {
        return NULL;
    }
    TRY(rbac_view_open(admission->request->server, &view));
    struct grant grant = {.admission = admission,
                          .view = &view,
                          .namespace = kind->namespaced ? admission->namespace : (struct str){0}};

    return is_role ? check_role(&grant) : check_binding(&grant);
}
