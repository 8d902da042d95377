/* Roles and what binds them to subjects. */
#include "api/rbac_v1.h"

#include "api/validation/kinds.h"
#include "api/validation/meta.h"
#include "schema/copy.h"

static void check_rule(struct status *to, const struct path *at, const struct rbac_v1_policy_rule *rule,
                       bool is_namespaced)
{
    const struct path *urls = AT(at, "nonResourceURLs");

    if (rule->verbs.len == 0) {
        check_required(to, AT(at, "verbs"), "verbs must contain at least one value");
    }
    if (rule->non_resource_urls.len > 0) {
        struct str text = dump_strings(to->arena, &rule->non_resource_urls);

        if (is_namespaced) {
            check_invalid_json(to, urls, text, "namespaced rules cannot apply to non-resource URLs");
        }
        if (rule->api_groups.len + rule->resources.len + rule->resource_names.len > 0) {
            check_invalid_json(to, urls, text, "rules cannot apply to both regular resources and non-resource URLs");
        }
        return;
    }
    if (rule->api_groups.len == 0) {
        check_required(to, AT(at, "apiGroups"), "resource rules must supply at least one api group");
    }
    if (rule->resources.len == 0) {
        check_required(to, AT(at, "resources"), "resource rules must supply at least one resource");
    }
}

void validate_role(struct status *to, const void *object)
{
    const struct rbac_v1_role *role = object;

    LIST_EACH(rule, &role->rules) {
        check_rule(to, ITEM(AT(NULL, "rules"), INDEX_OF(rule, &role->rules)), rule, true);
    }
}

void validate_role_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_role(to, object);
}

void validate_cluster_role(struct status *to, const void *object)
{
    const struct rbac_v1_cluster_role *role = object;

    LIST_EACH(rule, &role->rules) {
        check_rule(to, ITEM(AT(NULL, "rules"), INDEX_OF(rule, &role->rules)), rule, false);
    }
    if (role->aggregation_rule == NULL) {
        return;
    }
    const struct path *selectors = AT(AT(NULL, "aggregationRule"), "clusterRoleSelectors");

    if (role->aggregation_rule->cluster_role_selectors.len == 0) {
        check_required(to, selectors, "at least one clusterRoleSelector required if aggregationRule is non-nil");
    }
    LIST_EACH(selector, &role->aggregation_rule->cluster_role_selectors) {
        check_label_selector(to, ITEM(selectors, INDEX_OF(selector, &role->aggregation_rule->cluster_role_selectors)),
                             selector);
    }
}

void validate_cluster_role_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_cluster_role(to, object);
}

static void check_subject(struct status *to, const struct path *at, const struct rbac_v1_subject *subject,
                          bool is_namespaced)
{
    static const char *const kinds[] = {"ServiceAccount", "User", "Group", NULL};
    static const char *const groups[] = {"rbac.authorization.k8s.io", NULL};
    static const char *const no_group[] = {"", NULL};

    check_present(to, AT(at, "name"), subject->name);
    if (str_is(subject->kind, "ServiceAccount")) {
        if (subject->name.n > 0) {
            check_name(to, AT(at, "name"), subject->name, name_is_dns1123_subdomain);
        }
        check_one_of(to, AT(at, "apiGroup"), subject->api_group, no_group);
        if (!is_namespaced) {
            check_present(to, AT(at, "namespace"), subject->namespace);
        }
    } else if (check_one_of(to, AT(at, "kind"), subject->kind, kinds)) {
        check_one_of(to, AT(at, "apiGroup"), subject->api_group, groups);
    }
}

static void check_role_ref(struct status *to, const struct rbac_v1_role_ref *ref, const char *const *kinds)
{
    static const char *const groups[] = {"rbac.authorization.k8s.io", NULL};
    const struct path *at = AT(NULL, "roleRef");

    check_one_of(to, AT(at, "apiGroup"), ref->api_group, groups);
    check_one_of(to, AT(at, "kind"), ref->kind, kinds);
    if (check_present(to, AT(at, "name"), ref->name)) {
        check_name(to, AT(at, "name"), ref->name, name_is_path_segment);
    }
}

static void check_same_role(struct status *to, const struct rbac_v1_role_ref *ref, const struct rbac_v1_role_ref *old)
{
    if (!schema_equal(&rbac_v1_role_ref_type, ref, old)) {
        check_invalid_struct(to, AT(NULL, "roleRef"), &rbac_v1_role_ref_type, ref, "cannot change roleRef");
    }
}

void validate_role_binding(struct status *to, const void *object)
{
    static const char *const kinds[] = {"Role", "ClusterRole", NULL};
    const struct rbac_v1_role_binding *binding = object;

    check_role_ref(to, &binding->role_ref, kinds);
    LIST_EACH(subject, &binding->subjects) {
        check_subject(to, ITEM(AT(NULL, "subjects"), INDEX_OF(subject, &binding->subjects)), subject, true);
    }
}

void validate_role_binding_update(struct status *to, const void *object, const void *old)
{
    validate_role_binding(to, object);
    check_same_role(to, &((const struct rbac_v1_role_binding *)object)->role_ref,
                    &((const struct rbac_v1_role_binding *)old)->role_ref);
}

void validate_cluster_role_binding(struct status *to, const void *object)
{
    static const char *const kinds[] = {"ClusterRole", NULL};
    const struct rbac_v1_cluster_role_binding *binding = object;

    check_role_ref(to, &binding->role_ref, kinds);
    LIST_EACH(subject, &binding->subjects) {
        check_subject(to, ITEM(AT(NULL, "subjects"), INDEX_OF(subject, &binding->subjects)), subject, false);
    }
}

void validate_cluster_role_binding_update(struct status *to, const void *object, const void *old)
{
    validate_cluster_role_binding(to, object);
    check_same_role(to, &((const struct rbac_v1_cluster_role_binding *)object)->role_ref,
                    &((const struct rbac_v1_cluster_role_binding *)old)->role_ref);
}
