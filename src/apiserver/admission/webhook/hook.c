#include "apiserver/admission/webhook/hook.h"

#include "apiserver/user.h"
#include "schema/selectors.h"

enum { DEFAULT_TIMEOUT_SECONDS = 10 };

static bool is_text(const struct str *text, const char *wanted)
{
    return text != NULL && str_is(*text, wanted);
}

static bool has_side_effects(const struct str *side_effects)
{
    return !is_text(side_effects, "None") && !is_text(side_effects, "NoneOnDryRun");
}

/* Both sorts have the same members but one. */
#define HOOK_OF(webhook, reinvoked)                                                                       \
    (struct hook)                                                                                         \
    {                                                                                                     \
        .name = (webhook)->name, .client = &(webhook)->client_config,                                     \
        .rules = {(webhook)->rules.items, (webhook)->rules.len},                                          \
        .ignores_failure = is_text((webhook)->failure_policy, "Ignore"),                                  \
        .has_side_effects = has_side_effects((webhook)->side_effects), .may_be_reinvoked = (reinvoked),   \
        .has_conditions = (webhook)->match_conditions.len != 0,                                           \
        .namespace_selector = (webhook)->namespace_selector,                                              \
        .object_selector = (webhook)->object_selector,                                                    \
        .timeout_seconds = (webhook)->timeout_seconds != NULL ? *(webhook)->timeout_seconds               \
                                                              : DEFAULT_TIMEOUT_SECONDS,                  \
    }

struct hook hook_of_mutating(const struct admissionregistration_v1_mutating_webhook *webhook)
{
    return HOOK_OF(webhook, is_text(webhook->reinvocation_policy, "IfNeeded"));
}

struct hook hook_of_validating(const struct admissionregistration_v1_validating_webhook *webhook)
{
    return HOOK_OF(webhook, false);
}

static bool has_or_star(const struct str_list *list, struct str text)
{
    return str_list_has(list, STR("*")) || str_list_has(list, text);
}

/* A resource or a star, alone or with a subresource or a star. */
static bool matches_resource(const struct str_list *resources, const struct hook_subject *subject)
{
    LIST_EACH(item, resources) {
        struct str resource, sub;
        bool has_sub = str_cut(*item, '/', &resource, &sub);
        bool fits = str_is(resource, "*") || str_eq(resource, subject->resource);

        if (fits && (has_sub ? str_is(sub, "*") || str_eq(sub, subject->subresource) : subject->subresource.n == 0)) {
            return true;
        }
    }
    return false;
}

static bool matches_scope(const struct str *scope, const struct hook_subject *subject)
{
    if (scope == NULL || str_is(*scope, "*")) {
        return true;
    }
    return str_is(*scope, "Namespaced") == subject->is_namespaced;
}

static bool matches_rules(const struct hook_rules *rules, const struct hook_subject *subject)
{
    LIST_EACH(rule, rules) {
        if (has_or_star(&rule->operations, subject->operation) && has_or_star(&rule->rule.api_groups, subject->group) &&
            has_or_star(&rule->rule.api_versions, subject->version) &&
            matches_resource(&rule->rule.resources, subject) && matches_scope(rule->rule.scope, subject)) {
            return true;
        }
    }
    return false;
}

static struct status *matches_labels(struct arena *arena, const struct meta_v1_label_selector *selector,
                                     const struct str_map *labels, const struct str_map *old_labels, bool *ret)
{
    struct label_selector parsed;

    *ret = true;
    if (selector == NULL) {
        return NULL;
    }
    TRY(label_selector_of(arena, selector, &parsed));
    if (label_selector_is_empty(&parsed)) {
        return NULL;
    }
    *ret = (labels != NULL && label_selector_matches_map(&parsed, labels)) ||
           (old_labels != NULL && label_selector_matches_map(&parsed, old_labels));
    return NULL;
}

struct status *hook_matches(struct arena *arena, const struct hook *hook, const struct hook_subject *subject, bool *ret)
{
    *ret = matches_rules(&hook->rules, subject);
    if (*ret && subject->namespace_labels != NULL) {
        TRY(matches_labels(arena, hook->namespace_selector, subject->namespace_labels, NULL, ret));
    }
    if (*ret) {
        TRY(matches_labels(arena, hook->object_selector, subject->labels, subject->old_labels, ret));
    }
    return NULL;
}
