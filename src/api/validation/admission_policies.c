/* Admission policies and their bindings. What their expressions mean is CEL, which isn't looked into here. */
#include "api/admissionregistration_v1.h"

#include "api/validation/admission.h"
#include "api/validation/kinds.h"
#include "api/validation/meta.h"

static const char *const failure_policies[] = {"Fail", "Ignore", NULL};

enum { AUDIT_ANNOTATIONS_MAX = 20, AUDIT_EXPRESSION_MAX = 5 * 1024 };

static bool is_blank(struct str text)
{
    return str_trim(text).n == 0;
}

/* "v1", "apps/v1". */
static void check_group_version(struct status *to, const struct path *at, struct str text)
{
    struct str group, version;

    if (!str_cut(text, '/', &group, &version)) {
        version = group;
        group = (struct str){0};
    }
    if (str_index(version, '/') != SIZE_MAX) {
        check_invalid_str(to, at, text, "unexpected GroupVersion string: %.*s", STR_ARG(text));
        return;
    }
    if (group.n != 0) {
        check_name(to, at, group, name_is_dns1123_subdomain);
    }
    if (version.n == 0) {
        check_invalid_str(to, at, text, "version must be specified");
    } else {
        check_name(to, at, version, name_is_dns1035_label);
    }
}

static void check_param_kind(struct status *to, const struct path *at, const struct admissionregistration_v1_param_kind *kind)
{
    struct name_errors errors = {0};

    if (check_present(to, AT(at, "apiVersion"), kind->api_version)) {
        check_group_version(to, AT(at, "apiVersion"), kind->api_version);
    }
    if (check_present(to, AT(at, "kind"), kind->kind) &&
        !name_is_dns1035_label(lower_case(to->arena, kind->kind), &errors)) {
        check_invalid_str(to, AT(at, "kind"), kind->kind, "may have mixed case, but should otherwise match: %.*s",
                          STR_ARG(errors.items[0]));
    }
}

static void check_named_rule(struct status *to, const struct path *at,
                             const struct admissionregistration_v1_named_rule_with_operations *rule)
{
    OWNED(seen_done) struct seen names = {0};

    LIST_EACH(name, &rule->resource_names) {
        const struct path *one = ITEM(AT(at, "resourceNames"), INDEX_OF(name, &rule->resource_names));

        check_name(to, one, *name, name_is_path_segment);
        if (seen_before(&names, *name)) {
            check_duplicate(to, one, *name);
        }
    }
    check_admission_rule(to, at, &rule->rule_with_operations);
}

static void check_match_resources(struct status *to, const struct path *at,
                                  const struct admissionregistration_v1_match_resources *match)
{
    static const char *const policies[] = {"Equivalent", "Exact", NULL};

    if (match->match_policy == NULL) {
        check_required(to, AT(at, "matchPolicy"), "%s", "");
    } else {
        check_one_of(to, AT(at, "matchPolicy"), *match->match_policy, policies);
    }
    check_label_selector(to, AT(at, "namespaceSelector"), match->namespace_selector);
    check_label_selector(to, AT(at, "objectSelector"), match->object_selector);
    LIST_EACH(rule, &match->resource_rules) {
        check_named_rule(to, ITEM(AT(at, "resourceRules"), INDEX_OF(rule, &match->resource_rules)), rule);
    }
    LIST_EACH(rule, &match->exclude_resource_rules) {
        check_named_rule(to, ITEM(AT(at, "excludeResourceRules"), INDEX_OF(rule, &match->exclude_resource_rules)),
                         rule);
    }
}

static void check_variables(struct status *to, const struct path *at,
                            const struct admissionregistration_v1_variable *variables, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (variables[i].name.n == 0) {
            check_required(to, AT(ITEM(at, i), "name"), "name is not specified");
        } else if (!name_is_c_identifier(variables[i].name, NULL)) {
            check_invalid_str(to, AT(ITEM(at, i), "name"), variables[i].name, "must be a valid CEL identifier");
        }
        if (is_blank(variables[i].expression)) {
            check_required(to, AT(ITEM(at, i), "expression"), "expression is not specified");
        }
    }
}

/* What policies of both kinds have before what they do. */
struct policy_head {
    const struct str *failure_policy;
    const struct admissionregistration_v1_param_kind *param_kind;
    const struct admissionregistration_v1_match_resources *match;
    const struct admissionregistration_v1_match_condition *conditions;
    size_t condition_count;
    const struct admissionregistration_v1_variable *variables;
    size_t variable_count;
};

static void check_head(struct status *to, const struct path *at, const struct policy_head *head)
{
    const struct path *match = AT(at, "matchConstraints");

    if (head->failure_policy == NULL) {
        check_required(to, AT(at, "failurePolicy"), "%s", "");
    } else {
        check_one_of(to, AT(at, "failurePolicy"), *head->failure_policy, failure_policies);
    }
    if (head->param_kind != NULL) {
        check_param_kind(to, AT(at, "paramKind"), head->param_kind);
    }
    if (head->match == NULL) {
        check_required(to, match, "%s", "");
    } else {
        check_match_resources(to, match, head->match);
        if (head->match->resource_rules.len == 0) {
            check_required(to, AT(match, "resourceRules"), "%s", "");
        }
    }
    check_match_conditions(to, AT(at, "matchConditions"), head->conditions, head->condition_count);
    check_variables(to, AT(at, "variables"), head->variables, head->variable_count);
}

static void check_validation(struct status *to, const struct path *at,
                             const struct admissionregistration_v1_validation *validation)
{
    static const char *const reasons[] = {"Forbidden", "Invalid", "RequestEntityTooLarge", NULL};
    struct str message = str_trim(validation->message);

    if (is_blank(validation->expression)) {
        check_required(to, AT(at, "expression"), "expression is not specified");
    }
    if (validation->message_expression.n != 0 && is_blank(validation->message_expression)) {
        check_invalid_str(to, AT(at, "messageExpression"), validation->message_expression,
                          "must be non-empty if specified");
    }
    if (validation->message.n != 0 && message.n == 0) {
        check_invalid_str(to, AT(at, "message"), validation->message, "must be non-empty if specified");
    } else if (str_index(message, '\n') != SIZE_MAX) {
        check_invalid_str(to, AT(at, "message"), validation->message, "must not contain line breaks");
    }
    if (validation->reason != NULL) {
        check_one_of(to, AT(at, "reason"), *validation->reason, reasons);
    }
}

static void check_audit_annotations(struct status *to, const struct path *at, struct str name,
                                    const struct admissionregistration_v1_validating_admission_policy_spec *spec)
{
    OWNED(seen_done) struct seen keys = {0};

    if (spec->audit_annotations.len > AUDIT_ANNOTATIONS_MAX) {
        check_invalid_json(to, at,
                           dump_field(to->arena, &admissionregistration_v1_validating_admission_policy_spec_type,
                                      "auditAnnotations", spec),
                           "must not have more than %d auditAnnotations", AUDIT_ANNOTATIONS_MAX);
    }
    LIST_EACH(annotation, &spec->audit_annotations) {
        const struct path *one = ITEM(at, INDEX_OF(annotation, &spec->audit_annotations));

        if (name.n != 0) {
            check_name(to, AT(one, "key"),
                       arena_printf(to->arena, "%.*s/%.*s", STR_ARG(name), STR_ARG(annotation->key)), name_is_qualified);
        }
        if (is_blank(annotation->value_expression)) {
            check_required(to, AT(one, "valueExpression"), "valueExpression is not specified");
        } else if (str_trim(annotation->value_expression).n > AUDIT_EXPRESSION_MAX) {
            check_required(to, AT(one, "valueExpression"), "must not exceed %d bytes in length", AUDIT_EXPRESSION_MAX);
        }
        if (seen_before(&keys, annotation->key)) {
            check_duplicate(to, AT(one, "key"), annotation->key);
        }
    }
}

void validate_validating_policy(struct status *to, const void *object)
{
    static const char *const nothing = "validations or auditAnnotations must contain at least one item";
    const struct admissionregistration_v1_validating_admission_policy *policy = object;
    const struct admissionregistration_v1_validating_admission_policy_spec *spec = &policy->spec;
    const struct path *at = AT(NULL, "spec");

    check_head(to, at,
               &(const struct policy_head){spec->failure_policy, spec->param_kind, spec->match_constraints,
                                           spec->match_conditions.items, spec->match_conditions.len,
                                           spec->variables.items, spec->variables.len});
    if (spec->validations.len == 0 && spec->audit_annotations.len == 0) {
        check_required(to, AT(at, "validations"), "%s", nothing);
        check_required(to, AT(at, "auditAnnotations"), "%s", nothing);
        return;
    }
    LIST_EACH(validation, &spec->validations) {
        check_validation(to, ITEM(AT(at, "validations"), INDEX_OF(validation, &spec->validations)), validation);
    }
    check_audit_annotations(to, AT(at, "auditAnnotations"), policy->metadata.name, spec);
}

void validate_validating_policy_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_validating_policy(to, object);
}

static void check_mutation(struct status *to, const struct path *at,
                           const struct admissionregistration_v1_mutation *mutation)
{
    static const char *const types[] = {"ApplyConfiguration", "JSONPatch", NULL};
    bool is_patch = str_is(mutation->patch_type, "JSONPatch");
    const char *field = is_patch ? "jsonPatch" : "applyConfiguration";
    const struct str *expression = is_patch ? (mutation->json_patch != NULL ? &mutation->json_patch->expression : NULL)
                                   : mutation->apply_configuration != NULL ? &mutation->apply_configuration->expression
                                                                           : NULL;

    if (!check_present(to, AT(at, "patchType"), mutation->patch_type) ||
        !check_one_of(to, AT(at, "patchType"), mutation->patch_type, types)) {
        return;
    }
    if (expression == NULL) {
        check_required(to, AT(at, field), "must be specified when patchType is %.*s", STR_ARG(mutation->patch_type));
    } else if (is_blank(*expression)) {
        check_required(to, AT(AT(at, field), "expression"), "%s", "");
    }
}

void validate_mutating_policy(struct status *to, const void *object)
{
    static const char *const policies[] = {"IfNeeded", "Never", NULL};
    const struct admissionregistration_v1_mutating_admission_policy_spec *spec =
        &((const struct admissionregistration_v1_mutating_admission_policy *)object)->spec;
    const struct path *at = AT(NULL, "spec");

    check_head(to, at,
               &(const struct policy_head){spec->failure_policy, spec->param_kind, spec->match_constraints,
                                           spec->match_conditions.items, spec->match_conditions.len,
                                           spec->variables.items, spec->variables.len});
    if (spec->mutations.len == 0) {
        check_required(to, AT(at, "mutations"), "mutations must contain at least one item");
    }
    LIST_EACH(mutation, &spec->mutations) {
        check_mutation(to, ITEM(AT(at, "mutations"), INDEX_OF(mutation, &spec->mutations)), mutation);
    }
    if (check_present(to, AT(at, "reinvocationPolicy"), spec->reinvocation_policy)) {
        check_one_of(to, AT(at, "reinvocationPolicy"), spec->reinvocation_policy, policies);
    }
}

void validate_mutating_policy_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_mutating_policy(to, object);
}

static void check_param_ref(struct status *to, const struct path *at, const struct admissionregistration_v1_param_ref *ref)
{
    static const char *const actions[] = {"Allow", "Deny", NULL};

    if (ref->name.n != 0) {
        check_name(to, AT(at, "name"), ref->name, name_is_path_segment);
        if (ref->selector != NULL) {
            check_forbidden(to, AT(at, "name"), "name and selector are mutually exclusive");
        }
    }
    if (ref->selector != NULL) {
        check_label_selector(to, AT(at, "selector"), ref->selector);
        if (ref->name.n != 0) {
            check_forbidden(to, AT(at, "selector"), "name and selector are mutually exclusive");
        }
    }
    if (ref->name.n == 0 && ref->selector == NULL) {
        check_required(to, at, "one of name or selector must be specified");
    }
    if (ref->parameter_not_found_action == NULL || ref->parameter_not_found_action->n == 0) {
        check_required(to, AT(at, "parameterNotFoundAction"), "%s", "");
    } else {
        check_one_of(to, AT(at, "parameterNotFoundAction"), *ref->parameter_not_found_action, actions);
    }
}

static void check_binding(struct status *to, const struct path *at, struct str policy,
                          const struct admissionregistration_v1_param_ref *ref,
                          const struct admissionregistration_v1_match_resources *match)
{
    if (check_present(to, AT(at, "policyName"), policy)) {
        check_name(to, AT(at, "policyName"), policy, name_is_dns1123_subdomain);
    }
    if (ref != NULL) {
        check_param_ref(to, AT(at, "paramRef"), ref);
    }
    if (match != NULL) {
        check_match_resources(to, AT(at, "matchResources"), match);
    }
}

void validate_validating_binding(struct status *to, const void *object)
{
    static const char *const actions[] = {"Audit", "Deny", "Warn", NULL};
    const struct admissionregistration_v1_validating_admission_policy_binding_spec *spec =
        &((const struct admissionregistration_v1_validating_admission_policy_binding *)object)->spec;
    const struct path *at = AT(NULL, "spec"), *list = AT(at, "validationActions");
    const struct str_list *wanted = (const struct str_list *)&spec->validation_actions;
    OWNED(seen_done) struct seen seen = {0};

    check_binding(to, at, spec->policy_name, spec->param_ref, spec->match_resources);
    if (wanted->len == 0) {
        check_required(to, list, "%s", "");
    }
    LIST_EACH(action, wanted) {
        check_one_of(to, ITEM(list, INDEX_OF(action, wanted)), *action, actions);
        if (seen_before(&seen, *action)) {
            check_duplicate(to, ITEM(list, INDEX_OF(action, wanted)), *action);
        }
    }
    if (has_string(wanted, STR("Deny")) && has_string(wanted, STR("Warn"))) {
        check_invalid_json(to, list, dump_strings(to->arena, wanted),
                           "must not contain both Deny and Warn (repeating the same validation failure information in "
                           "the API response and headers serves no purpose)");
    }
}

void validate_validating_binding_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_validating_binding(to, object);
}

void validate_mutating_binding(struct status *to, const void *object)
{
    const struct admissionregistration_v1_mutating_admission_policy_binding_spec *spec =
        &((const struct admissionregistration_v1_mutating_admission_policy_binding *)object)->spec;

    check_binding(to, AT(NULL, "spec"), spec->policy_name, spec->param_ref, spec->match_resources);
}

void validate_mutating_binding_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_mutating_binding(to, object);
}
