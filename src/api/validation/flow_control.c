#include "api/flowcontrol_v1.h"

#include "api/validation/check.h"
#include "api/validation/kinds.h"
#include "base/buf.h"

enum { PRECEDENCE_MAX = 10000, QUEUES_MAX = 10 * 1000 * 1000 };

static const char *const verbs[] = {"create", "delete", "deletecollection", "get",   "list",
                                    "patch",  "proxy",  "update",           "watch", NULL};

static bool has_wildcard(const struct str_list *list)
{
    LIST_EACH(item, list) {
        if (str_is(*item, "*")) {
            return true;
        }
    }
    return false;
}

/* Not empty, and "*" stands alone; true when that leaves single values to be looked at. */
static bool check_list(struct status *to, const struct path *at, const struct str_list *list, const char *missing,
                       const char *what)
{
    if (list->len == 0) {
        check_required(to, at, "%s", missing);
    } else if (list->len > 1 && has_wildcard(list)) {
        check_invalid_json(to, at, dump_strings(to->arena, list), "if '*' is present, must not specify other %s", what);
    }
    return list->len > 0 && !has_wildcard(list);
}

/* The whole list is the value that isn't supported. */
static void check_verbs(struct status *to, const struct path *at, const struct str_list *list)
{
    OWNED(buf_done) struct buf supported = {0};
    bool all_known = true;

    if (!check_list(to, at, list, "verbs must contain at least one value", "verbs")) {
        return;
    }
    LIST_EACH(verb, list) {
        all_known &= is_one_of(*verb, verbs);
    }
    if (all_known) {
        return;
    }
    for (size_t i = 0; verbs[i] != NULL; i++) {
        buf_printf(&supported, "%s\"%s\"", i == 0 ? "" : ", ", verbs[i]);
    }
    status_add_cause(to, STR("FieldValueNotSupported"), path_text(to->arena, at),
                     "Unsupported value: %.*s: supported values: %.*s", STR_ARG(dump_strings(to->arena, list)),
                     STR_ARG(buf_str(&supported)));
}

static void check_subject(struct status *to, const struct path *at, const struct flowcontrol_v1_subject *subject)
{
    static const char *const kinds[] = {"Group", "ServiceAccount", "User", NULL};

    if (str_is(subject->kind, "ServiceAccount")) {
        if (subject->service_account == NULL) {
            check_required(to, AT(at, "serviceAccount"),
                           "serviceAccount is required when subject kind is 'ServiceAccount'");
        } else {
            check_present(to, AT(AT(at, "serviceAccount"), "name"), subject->service_account->name);
            check_present(to, AT(AT(at, "serviceAccount"), "namespace"), subject->service_account->namespace);
        }
    } else if (str_is(subject->kind, "User")) {
        if (subject->user == NULL) {
            check_required(to, AT(at, "user"), "user is required when subject kind is 'User'");
        } else {
            check_present(to, AT(AT(at, "user"), "name"), subject->user->name);
        }
    } else if (str_is(subject->kind, "Group")) {
        if (subject->group == NULL) {
            check_required(to, AT(at, "group"), "group is required when subject kind is 'Group'");
        } else {
            check_present(to, AT(AT(at, "group"), "name"), subject->group->name);
        }
    } else {
        check_unsupported(to, AT(at, "kind"), subject->kind, kinds);
    }
}

static void check_resource_rule(struct status *to, const struct path *at,
                                const struct flowcontrol_v1_resource_policy_rule *rule)
{
    check_verbs(to, AT(at, "verbs"), &rule->verbs);
    check_list(to, AT(at, "apiGroups"), &rule->api_groups, "resource rules must supply at least one api group",
               "api groups");
    check_list(to, AT(at, "resources"), &rule->resources, "resource rules must supply at least one resource",
               "resources");
    if (rule->namespaces.len == 0 && rule->cluster_scope) {
        return;
    }
    if (check_list(to, AT(at, "namespaces"), &rule->namespaces,
                   "resource rules that are not cluster scoped must supply at least one namespace", "namespaces")) {
        LIST_EACH(namespace, &rule->namespaces) {
            check_name(to, ITEM(AT(at, "namespaces"), INDEX_OF(namespace, &rule->namespaces)), *namespace,
                       name_is_dns1123_label);
        }
    }
}

static void check_url_rule(struct status *to, const struct path *at,
                           const struct flowcontrol_v1_non_resource_policy_rule *rule)
{
    const struct path *urls = AT(at, "nonResourceURLs");

    check_verbs(to, AT(at, "verbs"), &rule->verbs);
    if (!check_list(to, urls, &rule->non_resource_urls, "nonResourceURLs must contain at least one value",
                    "non-resource URLs")) {
        return;
    }
    LIST_EACH(url, &rule->non_resource_urls) {
        const struct path *one = ITEM(urls, INDEX_OF(url, &rule->non_resource_urls));
        size_t star = str_index(*url, '*');

        if (url->n == 0) {
            check_invalid_str(to, one, *url, "must not be empty");
        } else if (!str_has_prefix(*url, STR("/"))) {
            check_invalid_str(to, one, *url, "must start with slash");
        } else if (str_index(*url, ' ') != SIZE_MAX) {
            check_invalid_str(to, one, *url, "must not contain white-space");
        } else if (str_contains(*url, STR("//"))) {
            check_invalid_str(to, one, *url, "must not contain double slash");
        } else if (star != SIZE_MAX && star + 1 != url->n) {
            check_invalid_str(to, one, *url, "wildcard can only do suffix matching");
        }
    }
}

static void check_policy(struct status *to, const struct path *at,
                         const struct flowcontrol_v1_policy_rules_with_subjects *rule)
{
    if (rule->subjects.len == 0) {
        check_required(to, AT(at, "subjects"), "subjects must contain at least one value");
    }
    LIST_EACH(subject, &rule->subjects) {
        check_subject(to, ITEM(AT(at, "subjects"), INDEX_OF(subject, &rule->subjects)), subject);
    }
    if (rule->resource_rules.len + rule->non_resource_rules.len == 0) {
        check_required(to, at, "at least one of resourceRules and nonResourceRules has to be non-empty");
    }
    LIST_EACH(resource, &rule->resource_rules) {
        check_resource_rule(to, ITEM(AT(at, "resourceRules"), INDEX_OF(resource, &rule->resource_rules)), resource);
    }
    LIST_EACH(url, &rule->non_resource_rules) {
        check_url_rule(to, ITEM(AT(at, "nonResourceRules"), INDEX_OF(url, &rule->non_resource_rules)), url);
    }
}

void validate_flow_schema(struct status *to, const void *object)
{
    const struct flowcontrol_v1_flow_schema *schema = object;
    const struct flowcontrol_v1_flow_schema_spec *spec = &schema->spec;
    const struct path *at = AT(NULL, "spec"), *precedence = AT(at, "matchingPrecedence");
    const struct path *level = AT(AT(at, "priorityLevelConfiguration"), "name");

    if (spec->matching_precedence <= 0) {
        check_invalid_int(to, precedence, spec->matching_precedence, "must be a positive value");
    }
    if (spec->matching_precedence > PRECEDENCE_MAX) {
        check_invalid_int(to, precedence, spec->matching_precedence, "must not be greater than %d", PRECEDENCE_MAX);
    }
    if (spec->matching_precedence == 1 && !str_is(schema->metadata.name, "exempt")) {
        check_invalid_int(to, precedence, spec->matching_precedence,
                          "only the schema named 'exempt' may have matchingPrecedence 1");
    }
    if (spec->distinguisher_method != NULL && !str_is(spec->distinguisher_method->type, "ByNamespace") &&
        !str_is(spec->distinguisher_method->type, "ByUser")) {
        struct str value =
            dump_struct(to->arena, &flowcontrol_v1_flow_distinguisher_method_type, spec->distinguisher_method);

        status_add_cause(to, STR("FieldValueNotSupported"),
                         path_text(to->arena, AT(AT(at, "distinguisherMethod"), "type")),
                         "Unsupported value: %.*s: supported values: \"ByNamespace\", \"ByUser\"", STR_ARG(value));
    }
    if (spec->priority_level_configuration.name.n == 0) {
        check_required(to, level, "must reference a priority level");
    } else {
        check_name(to, level, spec->priority_level_configuration.name, name_is_dns1123_subdomain);
    }
    LIST_EACH(rule, &spec->rules) {
        check_policy(to, ITEM(AT(at, "rules"), INDEX_OF(rule, &spec->rules)), rule);
    }
}

void validate_flow_schema_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_flow_schema(to, object);
}

static void check_percent(struct status *to, const struct path *at, const int32_t *percent)
{
    if (percent != NULL && (*percent < 0 || *percent > 100)) {
        check_invalid_int(to, at, *percent, "must be between 0 and 100, inclusive");
    }
}

static void check_shares(struct status *to, const struct path *at, const int32_t *shares)
{
    if (shares != NULL && *shares < 0) {
        check_invalid_int(to, at, *shares, "must be a non-negative integer");
    }
}

static void check_queuing(struct status *to, const struct path *at,
                          const struct flowcontrol_v1_queuing_configuration *queuing)
{
    if (queuing->queue_length_limit <= 0) {
        check_invalid_int(to, AT(at, "queueLengthLimit"), queuing->queue_length_limit, "must be positive");
    }
    if (queuing->queues <= 0) {
        check_invalid_int(to, AT(at, "queues"), queuing->queues, "must be positive");
    } else if (queuing->queues > QUEUES_MAX) {
        check_invalid_int(to, AT(at, "queues"), queuing->queues, "must not be greater than %d", QUEUES_MAX);
    }
    if (queuing->hand_size <= 0) {
        check_invalid_int(to, AT(at, "handSize"), queuing->hand_size, "must be positive");
    } else if (queuing->hand_size > queuing->queues) {
        check_invalid_int(to, AT(at, "handSize"), queuing->hand_size, "should not be greater than queues (%d)",
                          queuing->queues);
    }
}

/* A member of a union that is set, or not, against what the type says. */
static void check_member(struct status *to, const struct path *at, bool is_set, bool is_wanted)
{
    if (is_set && !is_wanted) {
        check_forbidden(to, at, "%s", "");
    } else if (!is_set && is_wanted) {
        check_required(to, at, "%s", "");
    }
}

static void check_limited(struct status *to, const struct path *at,
                          const struct flowcontrol_v1_limited_priority_level_configuration *limited)
{
    static const char *const types[] = {"Queue", "Reject", NULL};
    const struct flowcontrol_v1_limit_response *response = &limited->limit_response;
    const struct path *response_at = AT(at, "limitResponse"), *queuing = AT(response_at, "queuing");

    check_shares(to, AT(at, "nominalConcurrencyShares"), limited->nominal_concurrency_shares);
    if (check_one_of(to, AT(response_at, "type"), response->type, types)) {
        check_member(to, queuing, response->queuing != NULL, str_is(response->type, "Queue"));
    }
    if (response->queuing != NULL && str_is(response->type, "Queue")) {
        check_queuing(to, queuing, response->queuing);
    }
    check_percent(to, AT(at, "lendablePercent"), limited->lendable_percent);
    if (limited->borrowing_limit_percent != NULL && *limited->borrowing_limit_percent < 0) {
        check_invalid_int(to, AT(at, "borrowingLimitPercent"), *limited->borrowing_limit_percent,
                          "if specified, must be a non-negative integer");
    }
}

void validate_priority_level(struct status *to, const void *object)
{
    static const char *const types[] = {"Exempt", "Limited", NULL};
    const struct flowcontrol_v1_priority_level_configuration *level = object;
    const struct flowcontrol_v1_priority_level_configuration_spec *spec = &level->spec;
    const struct path *at = AT(NULL, "spec");
    bool is_exempt = str_is(spec->type, "Exempt");

    if (is_exempt != str_is(level->metadata.name, "exempt")) {
        check_invalid_str(to, AT(at, "type"), spec->type, "must be 'Exempt' if and only if `name` is 'exempt'");
    }
    check_one_of(to, AT(at, "type"), spec->type, types);
    if (spec->exempt != NULL) {
        if (!is_exempt) {
            check_forbidden(to, AT(at, "exempt"), "%s", "");
        }
        check_shares(to, AT(AT(at, "exempt"), "nominalConcurrencyShares"), spec->exempt->nominal_concurrency_shares);
        check_percent(to, AT(AT(at, "exempt"), "lendablePercent"), spec->exempt->lendable_percent);
    }
    check_member(to, AT(at, "limited"), spec->limited != NULL, str_is(spec->type, "Limited"));
    if (spec->limited != NULL && str_is(spec->type, "Limited")) {
        check_limited(to, AT(at, "limited"), spec->limited);
    }
}

void validate_priority_level_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_priority_level(to, object);
}
