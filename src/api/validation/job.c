#include "api/batch_v1.h"
#include "api/validation/cron.h"
#include "api/validation/kinds.h"
#include "api/validation/meta.h"
#include "api/validation/pod.h"
#include "api/validation/workloads.h"
#include "base/buf.h"
#include "schema/copy.h"
#include "schema/selectors.h"

#include <stdio.h>

enum { FAILURE_RULES_MAX = 20, SUCCESS_RULES_MAX = 20, EXIT_CODES_MAX = 255, CONDITIONS_MAX = 20 };
enum { MANAGED_BY_MAX = 63 };

static bool is_indexed(const struct batch_v1_job_spec *spec)
{
    return spec->completion_mode != NULL && str_is(*spec->completion_mode, "Indexed");
}

static void check_count(struct status *to, const struct path *at, const int32_t *count)
{
    if (count != NULL) {
        check_non_negative(to, at, *count);
    }
}

static void check_index_limits(struct status *to, const struct path *at, const struct batch_v1_job_spec *spec)
{
    check_count(to, AT(at, "backoffLimitPerIndex"), spec->backoff_limit_per_index);
    if (spec->max_failed_indexes != NULL) {
        check_non_negative(to, AT(at, "maxFailedIndexes"), *spec->max_failed_indexes);
        if (spec->backoff_limit_per_index == NULL) {
            check_required(to, AT(at, "backoffLimitPerIndex"), "when maxFailedIndexes is specified");
        }
        if (spec->completions != NULL && *spec->max_failed_indexes > *spec->completions) {
            check_invalid_int(to, AT(at, "maxFailedIndexes"), *spec->max_failed_indexes,
                              "must be less than or equal to completions");
        }
    }
    if (is_indexed(spec)) {
        return;
    }
    if (spec->backoff_limit_per_index != NULL) {
        check_invalid_int(to, AT(at, "backoffLimitPerIndex"), *spec->backoff_limit_per_index,
                          "requires indexed completion mode");
    }
    if (spec->max_failed_indexes != NULL) {
        check_invalid_int(to, AT(at, "maxFailedIndexes"), *spec->max_failed_indexes,
                          "requires indexed completion mode");
    }
}

/* "acme.io/foo" */
static bool is_domain_path(struct str text)
{
    size_t slash = str_index(text, '/');

    return slash != SIZE_MAX && slash + 1 < text.n && name_is_dns1123_subdomain(str_sub(text, 0, slash), NULL) &&
           name_is_path_segment(str_from(text, slash + 1), NULL);
}

static struct str dump_numbers(struct arena *arena, const int32_t *numbers, size_t len)
{
    OWNED(buf_done) struct buf out = {0};

    buf_add_char(&out, '[');
    for (size_t i = 0; i < len; i++) {
        buf_printf(&out, "%s%d", i == 0 ? "" : ",", numbers[i]);
    }
    buf_add_char(&out, ']');
    return arena_str(arena, buf_str(&out));
}

static void check_exit_codes(struct status *to, const struct path *at,
                             const struct batch_v1_pod_failure_policy_on_exit_codes_requirement *codes,
                             const struct core_v1_pod_spec *pod)
{
    static const char *const operators[] = {"In", "NotIn", NULL};
    const struct path *values = AT(at, "values");
    struct str text = dump_numbers(to->arena, codes->values.items, codes->values.len);
    bool is_ordered = true;

    check_one_of(to, AT(at, "operator"), codes->operator, operators);
    if (codes->container_name != NULL && !pod_has_container(pod, *codes->container_name)) {
        check_invalid_str(to, AT(at, "containerName"), *codes->container_name,
                          "must be one of the container or initContainer names in the pod template");
    }
    if (codes->values.len == 0) {
        check_invalid_json(to, values, text, "at least one value is required");
    } else if (codes->values.len > EXIT_CODES_MAX) {
        check_too_many(to, values, codes->values.len, EXIT_CODES_MAX);
        return;
    }
    for (size_t i = 0; i < codes->values.len; i++) {
        if (str_is(codes->operator, "In") && codes->values.items[i] == 0) {
            check_invalid_int(to, ITEM(values, i), 0, "must not be 0 for the In operator");
        }
        for (size_t k = 0; k < i; k++) {
            if (codes->values.items[k] == codes->values.items[i]) {
                check_duplicate_json(to, ITEM(values, i), arena_printf(to->arena, "%d", codes->values.items[i]));
                break;
            }
        }
        is_ordered &= i == 0 || codes->values.items[i - 1] <= codes->values.items[i];
    }
    if (!is_ordered) {
        check_invalid_json(to, values, text, "must be ordered");
    }
}

static void check_failure_rule(struct status *to, const struct path *at,
                               const struct batch_v1_pod_failure_policy_rule *rule,
                               const struct batch_v1_job_spec *spec)
{
    static const char *const actions[] = {"Count", "FailIndex", "FailJob", "Ignore", NULL};
    static const char *const statuses[] = {"False", "True", "Unknown", NULL};

    if (str_is(rule->action, "FailIndex") && spec->backoff_limit_per_index == NULL) {
        check_invalid_str(to, AT(at, "action"), rule->action, "requires the backoffLimitPerIndex to be set");
    } else if (check_present(to, AT(at, "action"), rule->action)) {
        check_one_of(to, AT(at, "action"), rule->action, actions);
    }
    if (rule->on_exit_codes != NULL) {
        check_exit_codes(to, AT(at, "onExitCodes"), rule->on_exit_codes, &spec->template.spec);
    }
    LIST_EACH(pattern, &rule->on_pod_conditions) {
        const struct path *one = ITEM(AT(at, "onPodConditions"), INDEX_OF(pattern, &rule->on_pod_conditions));

        check_name(to, AT(one, "type"), pattern->type, name_is_qualified);
        if (check_present(to, AT(one, "status"), pattern->status)) {
            check_one_of(to, AT(one, "status"), pattern->status, statuses);
        }
    }
    if (rule->on_exit_codes == NULL && rule->on_pod_conditions.len == 0) {
        check_invalid_json(to, at, STR("specifying one of OnExitCodes and OnPodConditions is required"), "%s", "");
    } else if (rule->on_exit_codes != NULL && rule->on_pod_conditions.len > 0) {
        check_invalid_json(to, at, STR("specifying both OnExitCodes and OnPodConditions is not supported"), "%s", "");
    }
}

static void check_failure_policy(struct status *to, const struct path *at, const struct batch_v1_job_spec *spec)
{
    const struct path *rules = AT(AT(at, "podFailurePolicy"), "rules");

    if (spec->pod_failure_policy->rules.len > FAILURE_RULES_MAX) {
        check_too_many(to, rules, spec->pod_failure_policy->rules.len, FAILURE_RULES_MAX);
    }
    LIST_EACH(rule, &spec->pod_failure_policy->rules) {
        check_failure_rule(to, ITEM(rules, INDEX_OF(rule, &spec->pod_failure_policy->rules)), rule, spec);
    }
}

/* "0,2-4": ascending and below the completions. Stock's words for what is wrong; empty when nothing is. */
static struct str indexes_problem(struct arena *arena, struct str text, int64_t completions, int64_t *ret_count)
{
    int64_t last = -1;

    *ret_count = 0;
    for (struct str rest = text, part; str_next(&rest, ',', &part);) {
        struct str first, second;
        bool is_range = str_cut(part, '-', &first, &second);
        int64_t from, to;

        if (!str_to_i64(first, &from)) {
            return arena_printf(arena, "cannot convert string to integer for index: \"%.*s\"", STR_ARG(first));
        }
        if (from >= completions) {
            return arena_printf(arena, "too large index: \"%.*s\"", STR_ARG(first));
        }
        to = from;
        if (is_range && !str_to_i64(second, &to)) {
            return arena_printf(arena, "cannot convert string to integer for index: \"%.*s\"", STR_ARG(second));
        }
        if (to >= completions) {
            return arena_printf(arena, "too large index: \"%.*s\"", STR_ARG(second));
        }
        if (from <= last || to < from || (is_range && to == from)) {
            return arena_printf(arena, "non-increasing order, previous: %lld, current: %lld",
                                (long long)(from <= last ? last : from), (long long)(from <= last ? from : to));
        }
        *ret_count += to - from + 1;
        last = to;
    }
    return (struct str){0};
}

static void check_success_rule(struct status *to, const struct path *at,
                               const struct batch_v1_success_policy_rule *rule, const struct batch_v1_job_spec *spec)
{
    int64_t completions = spec->completions == NULL ? 0 : *spec->completions, count = 0;

    if (rule->succeeded_count == NULL && rule->succeeded_indexes == NULL) {
        check_required(to, at, "at least one of succeededCount or succeededIndexes must be specified");
    }
    if (rule->succeeded_indexes != NULL) {
        struct str problem = indexes_problem(to->arena, *rule->succeeded_indexes, completions, &count);

        if (problem.n != 0) {
            check_invalid_str(to, AT(at, "succeededIndexes"), *rule->succeeded_indexes,
                              "error parsing succeededIndexes: %.*s", STR_ARG(problem));
        }
    }
    if (rule->succeeded_count != NULL) {
        check_non_negative(to, AT(at, "succeededCount"), *rule->succeeded_count);
        if (*rule->succeeded_count > completions) {
            check_invalid_int(to, AT(at, "succeededCount"), *rule->succeeded_count,
                              "must be less than or equal to %lld (the number of specified completions)",
                              (long long)completions);
        }
    }
}

static void check_success_policy(struct status *to, const struct path *at, const struct batch_v1_job_spec *spec)
{
    const struct path *rules = AT(at, "rules");

    if (!is_indexed(spec)) {
        check_invalid_struct(to, at, &batch_v1_success_policy_type, spec->success_policy,
                             "requires indexed completion mode");
        return;
    }
    if (spec->success_policy->rules.len == 0) {
        check_required(to, rules, "at least one rules must be specified when the successPolicy is specified");
    } else if (spec->success_policy->rules.len > SUCCESS_RULES_MAX) {
        check_too_many(to, rules, spec->success_policy->rules.len, SUCCESS_RULES_MAX);
    }
    LIST_EACH(rule, &spec->success_policy->rules) {
        check_success_rule(to, ITEM(rules, INDEX_OF(rule, &spec->success_policy->rules)), rule, spec);
    }
}

static void check_replacement(struct status *to, const struct path *at, const struct batch_v1_job_spec *spec)
{
    static const char *const policies[] = {"Failed", "TerminatingOrFailed", NULL};
    static const char *const with_failure_policy[] = {"Failed", NULL};

    if (spec->pod_replacement_policy != NULL) {
        check_one_of(to, AT(at, "podReplacementPolicy"), *spec->pod_replacement_policy,
                     spec->pod_failure_policy != NULL ? with_failure_policy : policies);
    }
}

static void check_restart_policy(struct status *to, const struct path *at, const struct batch_v1_job_spec *spec)
{
    static const char *const policies[] = {"OnFailure", "Never", NULL};
    struct str policy = spec->template.spec.restart_policy;

    if (policy.n == 0 || str_is(policy, "Always")) {
        check_required(to, at, "valid values: \"OnFailure\", \"Never\"");
    } else if (check_one_of(to, at, policy, policies) && spec->pod_failure_policy != NULL && !str_is(policy, "Never")) {
        check_invalid_str(to, at, policy, "only \"Never\" is supported when podFailurePolicy is specified");
    }
}

/* What holds for a Job and for the template of a CronJob. */
static void check_job_spec(struct status *to, const struct path *at, const struct batch_v1_job_spec *spec)
{
    static const char *const modes[] = {"NonIndexed", "Indexed", NULL};

    check_count(to, AT(at, "parallelism"), spec->parallelism);
    check_count(to, AT(at, "completions"), spec->completions);
    if (spec->active_deadline_seconds != NULL) {
        check_non_negative(to, AT(at, "activeDeadlineSeconds"), *spec->active_deadline_seconds);
    }
    check_count(to, AT(at, "backoffLimit"), spec->backoff_limit);
    check_count(to, AT(at, "ttlSecondsAfterFinished"), spec->ttl_seconds_after_finished);
    check_index_limits(to, at, spec);
    if (spec->managed_by != NULL) {
        if (!is_domain_path(*spec->managed_by)) {
            check_invalid_str(to, AT(at, "managedBy"), *spec->managed_by,
                              "must be a domain-prefixed path (such as \"acme.io/foo\")");
        }
        if (spec->managed_by->n > MANAGED_BY_MAX) {
            check_too_long(to, AT(at, "managedBy"), MANAGED_BY_MAX);
        }
    }
    if (spec->completion_mode != NULL && check_one_of(to, AT(at, "completionMode"), *spec->completion_mode, modes) &&
        is_indexed(spec) && spec->completions == NULL) {
        check_required(to, AT(at, "completions"), "when completion mode is Indexed");
    }
    if (spec->pod_failure_policy != NULL) {
        check_failure_policy(to, at, spec);
    }
    if (spec->success_policy != NULL) {
        check_success_policy(to, AT(at, "successPolicy"), spec);
    }
    check_replacement(to, at, spec);
    check_pod_template(to, AT(at, "template"), &spec->template);
    check_restart_policy(to, AT(AT(AT(at, "template"), "spec"), "restartPolicy"), spec);
}

void validate_job(struct status *to, const void *object)
{
    const struct batch_v1_job_spec *spec = &((const struct batch_v1_job *)object)->spec;
    const struct path *at = AT(NULL, "spec");
    struct label_selector parsed;

    check_job_spec(to, at, spec);
    if (spec->selector == NULL) {
        check_required(to, AT(at, "selector"), "%s", "");
    } else {
        check_label_selector(to, AT(at, "selector"), spec->selector);
    }
    struct status *status = label_selector_of(to->arena, spec->selector, &parsed);

    if (status != NULL) {
        status_free(status);
    } else if (!label_selector_matches_map(&parsed, &spec->template.metadata.labels)) {
        check_template_labels(to, AT(at, "template"), &spec->template.metadata.labels);
    }
}

/* While a job is suspended and hasn't begun, where its pods may run can still change. */
static void check_same_template(struct status *to, const struct path *at, const struct batch_v1_job *job,
                                const struct batch_v1_job *old)
{
    const struct type *type = &core_v1_pod_template_spec_type;
    struct core_v1_pod_template_spec *same = schema_copy_shallow(to->arena, type, &job->spec.template);
    const struct core_v1_pod_template_spec *before = &old->spec.template;

    if (old->spec.suspend != NULL && *old->spec.suspend && old->status.start_time == NULL) {
        same->metadata.labels = before->metadata.labels;
        same->metadata.annotations = before->metadata.annotations;
        same->spec.affinity = before->spec.affinity;
        same->spec.node_selector = before->spec.node_selector;
        same->spec.tolerations = before->spec.tolerations;
        same->spec.scheduling_gates = before->spec.scheduling_gates;
        for (size_t i = 0; i < same->spec.containers.len && same->spec.containers.len == before->spec.containers.len;
             i++) {
            same->spec.containers.items[i].resources = before->spec.containers.items[i].resources;
        }
    }
    if (!schema_equal(type, same, before)) {
        check_invalid_struct(to, at, type, &job->spec.template, "field is immutable");
    }
}

static bool same_count(const int32_t *a, const int32_t *b)
{
    return a == NULL || b == NULL ? a == b : *a == *b;
}

static struct str count_text(struct arena *arena, const int32_t *count)
{
    return count == NULL ? STR("null") : arena_printf(arena, "%d", *count);
}

/* The completions of an indexed job may change together with its parallelism. */
static void check_same_completions(struct status *to, const struct path *at, const struct batch_v1_job_spec *spec,
                                   const struct batch_v1_job_spec *old)
{
    if (same_count(spec->completions, old->completions)) {
        return;
    }
    if (is_indexed(spec) && is_indexed(old) && spec->completions != NULL &&
        same_count(spec->completions, spec->parallelism)) {
        return;
    }
    check_invalid_json(to, at, count_text(to->arena, spec->completions), "field is immutable");
}

void validate_job_update(struct status *to, const void *object, const void *old_object)
{
    const struct batch_v1_job *job = object, *old = old_object;
    const struct batch_v1_job_spec *spec = &job->spec, *before = &old->spec;
    const struct path *at = AT(NULL, "spec");

    validate_job(to, object);
    check_same_completions(to, AT(at, "completions"), spec, before);
    check_immutable_struct(to, AT(at, "selector"), &meta_v1_label_selector_type, spec->selector, before->selector);
    check_same_template(to, AT(at, "template"), job, old);
    if (spec->completion_mode != NULL && before->completion_mode != NULL) {
        check_immutable_str(to, AT(at, "completionMode"), *spec->completion_mode, *before->completion_mode);
    }
    check_immutable_struct(to, AT(at, "podFailurePolicy"), &batch_v1_pod_failure_policy_type, spec->pod_failure_policy,
                           before->pod_failure_policy);
    if (!same_count(spec->backoff_limit_per_index, before->backoff_limit_per_index)) {
        check_invalid_json(to, AT(at, "backoffLimitPerIndex"), count_text(to->arena, spec->backoff_limit_per_index),
                           "field is immutable");
    }
    check_immutable_struct(to, AT(at, "successPolicy"), &batch_v1_success_policy_type, spec->success_policy,
                           before->success_policy);
}

void check_job_template(struct status *to, const struct path *at, const struct batch_v1_job_spec *spec)
{
    check_job_spec(to, at, spec);
    if (spec->manual_selector != NULL && *spec->manual_selector) {
        status_add_cause(to, STR("FieldValueNotSupported"), path_text(to->arena, AT(at, "manualSelector")),
                         "Unsupported value: true: supported values: \"nil\", \"false\"");
    }
}
