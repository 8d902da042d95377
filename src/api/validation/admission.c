/* Configurations of admission webhooks. What their conditions mean is CEL, which isn't looked into here. */
#include "api/admissionregistration_v1.h"

#include "api/validation/admission.h"
#include "api/validation/kinds.h"
#include "api/validation/meta.h"
#include "api/validation/webhook.h"

#include <string.h>

enum { WEBHOOK_SECONDS_MAX = 30 };

/* A list that must not be empty, and in which "*" stands alone. */
static void check_wildcard(struct status *to, const struct path *at, const struct str_list *list, const char *what)
{
    if (list->len == 0) {
        check_required(to, at, "%s", "");
    }
    if (list->len > 1 && has_string(list, STR("*"))) {
        check_invalid_json(to, at, dump_strings(to->arena, list), "if '*' is present, must not specify other %s", what);
    }
}

/* "pods", "pods/status", "pods" with all of its subresources, and so on. */
static void check_resources(struct status *to, const struct path *at, const struct str_list *resources)
{
    struct str text = dump_strings(to->arena, resources);
    bool has_plain = false;

    if (resources->len == 0) {
        check_required(to, at, "%s", "");
    }
    LIST_EACH(resource, resources) {
        if (resource->n == 0) {
            check_required(to, ITEM(at, INDEX_OF(resource, resources)), "%s", "");
        }
        has_plain |= !str_is(*resource, "*") && str_index(*resource, '/') == SIZE_MAX;
    }
    if (resources->len > 1 && has_string(resources, STR("*/*"))) {
        check_invalid_json(to, at, text, "if '*/*' is present, must not specify other resources");
    }
    if (has_string(resources, STR("*")) && has_plain) {
        check_invalid_json(to, at, text, "if '*' is present, must not specify other resources without subresources");
    }
}

void check_admission_rule(struct status *to, const struct path *at,
                          const struct admissionregistration_v1_rule_with_operations *rule)
{
    static const char *const operations[] = {"*", "CONNECT", "CREATE", "DELETE", "UPDATE", NULL};
    static const char *const scopes[] = {"*", "Cluster", "Namespaced", NULL};
    const struct str_list *list = (const struct str_list *)&rule->operations;

    if (list->len == 0) {
        check_required(to, AT(at, "operations"), "%s", "");
    }
    if (list->len > 1 && has_string(list, STR("*"))) {
        check_invalid_json(to, AT(at, "operations"), dump_strings(to->arena, list),
                           "if '*' is present, must not specify other operations");
    }
    LIST_EACH(operation, list) {
        check_one_of(to, ITEM(AT(at, "operations"), INDEX_OF(operation, list)), *operation, operations);
    }
    check_wildcard(to, AT(at, "apiGroups"), &rule->rule.api_groups, "API groups");
    check_wildcard(to, AT(at, "apiVersions"), &rule->rule.api_versions, "API versions");
    LIST_EACH(version, &rule->rule.api_versions) {
        check_present(to, ITEM(AT(at, "apiVersions"), INDEX_OF(version, &rule->rule.api_versions)), *version);
    }
    check_resources(to, AT(at, "resources"), &rule->rule.resources);
    if (rule->rule.scope != NULL) {
        check_one_of(to, AT(at, "scope"), *rule->rule.scope, scopes);
    }
}

static void check_webhook_name(struct status *to, const struct path *at, struct str name)
{
    size_t dots = 0;

    if (!check_present(to, at, name) || !check_name(to, at, name, name_is_dns1123_subdomain)) {
        return;
    }
    for (size_t i = 0; i < name.n; i++) {
        dots += name.p[i] == '.';
    }
    if (dots < 2) {
        check_invalid_str(to, at, name, "should be a domain with at least three segments separated by dots");
    }
}

static void check_versions(struct status *to, const struct path *at, const struct str_list *versions)
{
    if (versions->len == 0) {
        check_required(to, at, "must specify one of v1, v1beta1");
        return;
    }
    OWNED(seen_done) struct seen seen = {0};

    for (size_t i = 0; i < versions->len; i++) {
        check_name(to, ITEM(at, i), versions->items[i], name_is_dns1035_label);
        if (seen_before(&seen, versions->items[i])) {
            check_duplicate(to, ITEM(at, i), versions->items[i]);
        }
    }
    if (!has_string(versions, STR("v1")) && !has_string(versions, STR("v1beta1"))) {
        check_invalid_json(to, at, dump_strings(to->arena, versions), "must include at least one of v1, v1beta1");
    }
}

static void check_client(struct status *to, const struct path *at,
                         const struct admissionregistration_v1_webhook_client_config *client)
{
    const struct admissionregistration_v1_service_reference *service = client->service;

    if ((client->url == NULL) == (service == NULL)) {
        check_required(to, at, "exactly one of url or service is required");
    } else if (client->url != NULL) {
        check_webhook_url(to, AT(at, "url"), *client->url);
    } else {
        check_webhook_service(
            to, AT(at, "service"),
            &(const struct webhook_service){service->namespace, service->name, service->path, service->port});
    }
}

void check_match_conditions(struct status *to, const struct path *at,
                            const struct admissionregistration_v1_match_condition *conditions, size_t len)
{
    enum { CONDITIONS_MAX = 64 };
    OWNED(seen_done) struct seen names = {0};

    if (len > CONDITIONS_MAX) {
        check_too_many(to, at, len, CONDITIONS_MAX);
    }
    for (size_t i = 0; i < len; i++) {
        if (str_trim(conditions[i].expression).n == 0) {
            check_required(to, AT(ITEM(at, i), "expression"), "%s", "");
        }
        if (check_present(to, AT(ITEM(at, i), "name"), conditions[i].name)) {
            check_name(to, AT(ITEM(at, i), "name"), conditions[i].name, name_is_qualified);
        }
        if (conditions[i].name.n != 0 && seen_before(&names, conditions[i].name)) {
            check_duplicate(to, AT(ITEM(at, i), "name"), conditions[i].name);
        }
    }
}

/* The members both kinds of webhooks have. */
static void check_webhook(struct status *to, const struct path *at,
                          const struct admissionregistration_v1_validating_webhook *webhook)
{
    static const char *const failures[] = {"Fail", "Ignore", NULL};
    static const char *const matches[] = {"Equivalent", "Exact", NULL};
    static const char *const effects[] = {"None", "NoneOnDryRun", NULL};

    check_webhook_name(to, AT(at, "name"), webhook->name);
    LIST_EACH(rule, &webhook->rules) {
        check_admission_rule(to, ITEM(AT(at, "rules"), INDEX_OF(rule, &webhook->rules)), rule);
    }
    if (webhook->failure_policy != NULL) {
        check_one_of(to, AT(at, "failurePolicy"), *webhook->failure_policy, failures);
    }
    if (webhook->match_policy != NULL) {
        check_one_of(to, AT(at, "matchPolicy"), *webhook->match_policy, matches);
    }
    if (webhook->side_effects == NULL) {
        check_required(to, AT(at, "sideEffects"), "must specify one of None, NoneOnDryRun");
    } else {
        check_one_of(to, AT(at, "sideEffects"), *webhook->side_effects, effects);
    }
    if (webhook->timeout_seconds != NULL &&
        (*webhook->timeout_seconds < 1 || *webhook->timeout_seconds > WEBHOOK_SECONDS_MAX)) {
        check_invalid_int(to, AT(at, "timeoutSeconds"), *webhook->timeout_seconds,
                          "the timeout value must be between 1 and 30 seconds");
    }
    check_label_selector(to, AT(at, "namespaceSelector"), webhook->namespace_selector);
    check_label_selector(to, AT(at, "objectSelector"), webhook->object_selector);
    check_client(to, AT(at, "clientConfig"), &webhook->client_config);
    check_match_conditions(to, AT(at, "matchConditions"), webhook->match_conditions.items,
                           webhook->match_conditions.len);
}

/* Names are unique among the webhooks of a configuration. */
static void check_unique(struct status *to, const struct path *at, struct str name, struct seen *names)
{
    if (seen_before(names, name)) {
        check_duplicate(to, AT(at, "name"), name);
    }
}

void validate_validating_webhooks(struct status *to, const void *object)
{
    const struct admissionregistration_v1_validating_webhook_configuration *configuration = object;
    OWNED(seen_done) struct seen names = {0};

    LIST_EACH(webhook, &configuration->webhooks) {
        const struct path *one = ITEM(AT(NULL, "webhooks"), INDEX_OF(webhook, &configuration->webhooks));

        check_webhook(to, one, webhook);
        check_versions(to, AT(one, "admissionReviewVersions"), &webhook->admission_review_versions);
        check_unique(to, one, webhook->name, &names);
    }
}

void validate_validating_webhooks_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_validating_webhooks(to, object);
}

static void check_mutating(struct status *to, const struct path *at,
                           const struct admissionregistration_v1_mutating_webhook *webhook)
{
    static const char *const policies[] = {"IfNeeded", "Never", NULL};
    struct admissionregistration_v1_validating_webhook same = {
        .name = webhook->name,
        .client_config = webhook->client_config,
        .failure_policy = webhook->failure_policy,
        .match_policy = webhook->match_policy,
        .namespace_selector = webhook->namespace_selector,
        .object_selector = webhook->object_selector,
        .side_effects = webhook->side_effects,
        .timeout_seconds = webhook->timeout_seconds,
    };

    same.rules.items = webhook->rules.items;
    same.rules.len = webhook->rules.len;
    same.match_conditions.items = webhook->match_conditions.items;
    same.match_conditions.len = webhook->match_conditions.len;
    check_webhook(to, at, &same);
    if (webhook->reinvocation_policy != NULL) {
        check_one_of(to, AT(at, "reinvocationPolicy"), *webhook->reinvocation_policy, policies);
    }
}

void validate_mutating_webhooks(struct status *to, const void *object)
{
    const struct admissionregistration_v1_mutating_webhook_configuration *configuration = object;
    OWNED(seen_done) struct seen names = {0};

    LIST_EACH(webhook, &configuration->webhooks) {
        const struct path *one = ITEM(AT(NULL, "webhooks"), INDEX_OF(webhook, &configuration->webhooks));

        check_mutating(to, one, webhook);
        check_versions(to, AT(one, "admissionReviewVersions"), &webhook->admission_review_versions);
        check_unique(to, one, webhook->name, &names);
    }
}

void validate_mutating_webhooks_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_mutating_webhooks(to, object);
}
