/* What a Job says about how its pods fail, and when it has succeeded enough. */
#include "controller/job_parts.h"
#include "schema/map_of.h"

static bool has_value(const struct batch_v1_pod_failure_policy_on_exit_codes_requirement *rule, int32_t code)
{
    LIST_EACH(value, &rule->values)
    {
        if (*value == code) {
            return true;
        }
    }
    return false;
}

/* The first container that ended with such a code; 0 is no failure. */
static const struct core_v1_container_status *
match_container(const struct batch_v1_pod_failure_policy_on_exit_codes_requirement *rule,
                const struct core_v1_container_status *statuses, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct core_v1_container_state_terminated *end = statuses[i].state.terminated;
        bool wanted = rule->container_name == NULL || str_eq(*rule->container_name, statuses[i].name);

        if (wanted && end != NULL && end->exit_code != 0 &&
            has_value(rule, end->exit_code) == str_is(rule->operator, "In")) {
            return &statuses[i];
        }
    }
    return NULL;
}

static const struct core_v1_container_status *
match_exit(const struct batch_v1_pod_failure_policy_on_exit_codes_requirement *rule, const struct core_v1_pod *pod)
{
    const struct core_v1_container_status *found = match_container(
        rule, pod->status.container_statuses.items, pod->status.container_statuses.len);

    return found != NULL ? found
                         : match_container(rule, pod->status.init_container_statuses.items,
                                           pod->status.init_container_statuses.len);
}

static const struct core_v1_pod_condition *match_condition(const struct batch_v1_pod_failure_policy_rule *rule,
                                                           const struct core_v1_pod *pod)
{
    LIST_EACH(pattern, &rule->on_pod_conditions)
    {
        LIST_EACH(condition, &pod->status.conditions)
        {
            if (str_eq(condition->type, pattern->type) && str_eq(condition->status, pattern->status)) {
                return condition;
            }
        }
    }
    return NULL;
}

struct str job_policy_for(struct job_pass *pass, const struct core_v1_pod *pod, struct str *ret_message)
{
    const struct batch_v1_pod_failure_policy *policy = pass->job->spec.pod_failure_policy;
    size_t index = 0;

    if (policy == NULL || !str_is(pod->status.phase, "Failed")) {
        return STR("Count");
    }
    LIST_EACH(rule, &policy->rules)
    {
        const struct core_v1_container_status *container =
            rule->on_exit_codes != NULL ? match_exit(rule->on_exit_codes, pod) : NULL;
        const struct core_v1_pod_condition *condition = match_condition(rule, pod);

        if (container != NULL) {
            *ret_message = arena_printf(
                pass->plan->arena,
                "Container %.*s for pod %.*s/%.*s failed with exit code %d matching %.*s rule at index %zu",
                STR_ARG(container->name), STR_ARG(pod->metadata.namespace), STR_ARG(pod->metadata.name),
                container->state.terminated->exit_code, STR_ARG(rule->action), index);
            return rule->action;
        }
        if (condition != NULL) {
            *ret_message =
                arena_printf(pass->plan->arena, "Pod %.*s/%.*s has condition %.*s matching %.*s rule at index %zu",
                             STR_ARG(pod->metadata.namespace), STR_ARG(pod->metadata.name),
                             STR_ARG(condition->type), STR_ARG(rule->action), index);
            return rule->action;
        }
        index++;
    }
    return STR("Count");
}

static bool rule_is_met(const struct job_pass *pass, const struct batch_v1_success_policy_rule *rule)
{
    struct job_indexes wanted = {pass->done.has, pass->done.size};
    int32_t have = 0, all = 0;

    if (rule->succeeded_indexes != NULL) {
        wanted = job_indexes_parse(pass->plan->arena, *rule->succeeded_indexes, pass->done.size);
    }
    for (int32_t i = 0; i < pass->done.size; i++) {
        all += wanted.has[i];
        have += wanted.has[i] && pass->done.has[i];
    }
    return rule->succeeded_count != NULL ? have >= *rule->succeeded_count
                                         : rule->succeeded_indexes != NULL && have == all;
}

int job_policy_success(const struct job_pass *pass)
{
    const struct batch_v1_success_policy *policy = pass->job->spec.success_policy;

    for (size_t i = 0; pass->is_indexed && policy != NULL && i < policy->rules.len; i++) {
        if (rule_is_met(pass, &policy->rules.items[i])) {
            return (int)i;
        }
    }
    return -1;
}

int32_t job_failures_of(const struct job_pass *pass, int32_t index)
{
    int32_t failures = 0;

    LIST_EACH(pod, &pass->pods)
    {
        int64_t before = 0;

        if (job_index_of(*pod) == index && str_is((*pod)->status.phase, "Failed")) {
            str_to_i64(str_map_get(&(*pod)->metadata.annotations, STR(JOB_INDEX_FAILURES)), &before);
            failures = MAX(failures, (int32_t)MIN(before, INT32_MAX - 1) + 1);
        }
    }
    return failures;
}

void job_fail_indexes(struct job_pass *pass)
{
    const int32_t *limit = pass->job->spec.backoff_limit_per_index;

    if (!pass->is_indexed || limit == NULL) {
        return;
    }
    pass->given_up = job_indexes_parse(pass->plan->arena,
                                       pass->status.failed_indexes != NULL ? *pass->status.failed_indexes : STR(""),
                                       pass->done.size);
    LIST_EACH(pod, &pass->pods)
    {
        int32_t index = job_index_of(*pod);
        struct str message;

        if (index >= 0 && index < pass->done.size && !pass->done.has[index] &&
            (job_failures_of(pass, index) > *limit || str_is(job_policy_for(pass, *pod, &message), "FailIndex"))) {
            pass->given_up.has[index] = true;
        }
    }
    struct str *text = ARENA_NEW(pass->plan->arena, struct str);

    *text = job_indexes_format(pass->plan->arena, &pass->given_up);
    pass->status.failed_indexes = text;
}
