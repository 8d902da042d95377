/* kubectl create quota | poddisruptionbudget | priorityclass. */
#include "api/core_v1.h"
#include "api/policy_v1.h"
#include "api/scheduling_v1.h"
#include "kubectl/create.h"
#include "kubectl/report.h"
#include "kubectl/trace.h"
#include "schema/int_or_string.h"
#include "schema/map_of.h"
#include "schema/quantity.h"

struct quota_options {
    struct str hard, scopes;
};

static struct status *quota_run(struct kubectl *k, void *arg)
{
    const struct quota_options *options = arg;
    struct core_v1_resource_quota *quota = ARENA_NEW(k->arena, struct core_v1_resource_quota);
    struct str rest = options->hard, pair, name, text, scope;
    int64_t start = trace_now();

    TRY(create_name(k, &quota->metadata.name));
    while (rest.n > 0 && str_next(&rest, ',', &pair)) {
        struct quantity amount;

        if (!str_cut(pair, '=', &name, &text) || name.n == 0) {
            return error_local("Invalid argument syntax %.*s, expected <resource>=<value>", STR_ARG(pair));
        }
        struct status *status = quantity_parse(k->arena, text, &amount);

        if (status != NULL) {
            status->code = 0;
            return status;
        }
        quantity_map_set(k->arena, &quota->spec.hard, name, amount);
    }
    rest = options->scopes;
    while (rest.n > 0 && str_next(&rest, ',', &scope)) {
        *LIST_ADD(k->arena, &quota->spec.scopes) = scope;
    }
    return create_built(k, &core_v1_resource_quota_kind, quota, start);
}

static const struct flag quota_flags[] = {
    FLAG(STRING, struct quota_options, hard, "hard", 0, "RESOURCE=AMOUNT,... that may be used at most"),
    FLAG(STRING, struct quota_options, scopes, "scopes", 0, "which objects it counts"),
};

const struct command command_create_quota = {
    .name = "quota",
    .aliases = "resourcequota",
    .help = "Create a quota with the specified name",
    .usage = "NAME [--hard=key1=value1,key2=value2] [--scopes=Scope1,Scope2]",
    .uses = USES_OUTPUT | USES_WRITE,
    .flags = quota_flags,
    .flag_count = COUNT_OF(quota_flags),
    .options_size = sizeof(struct quota_options),
    .run = quota_run,
};

struct budget_options {
    struct str selector, min, max;
};

static struct int_or_string *count_of(struct kubectl *k, struct str text)
{
    struct int_or_string *count = ARENA_NEW(k->arena, struct int_or_string);
    int64_t number;

    *count = str_to_i64(text, &number) ? int_or_string_of((int32_t)number) : int_or_string_text(text);
    return count;
}

static struct status *budget_run(struct kubectl *k, void *arg)
{
    const struct budget_options *options = arg;
    struct policy_v1_pod_disruption_budget *budget = ARENA_NEW(k->arena, struct policy_v1_pod_disruption_budget);
    struct str rest = options->selector, pair, key, value;
    int64_t start = trace_now();

    TRY(create_name(k, &budget->metadata.name));
    if (options->selector.n == 0) {
        return error_local("a selector must be specified");
    }
    if (options->min.n == 0 && options->max.n == 0) {
        return error_local("one of min-available or max-unavailable must be specified");
    }
    if (options->min.n > 0 && options->max.n > 0) {
        return error_local("min-available and max-unavailable cannot be both specified");
    }
    budget->spec.selector = ARENA_NEW(k->arena, struct meta_v1_label_selector);
    while (str_next(&rest, ',', &pair)) {
        if (!str_cut(pair, '=', &key, &value)) {
            return error_local("invalid selector: %.*s", STR_ARG(options->selector));
        }
        str_map_set(k->arena, &budget->spec.selector->match_labels, key, value);
    }
    budget->spec.min_available = options->min.n > 0 ? count_of(k, options->min) : NULL;
    budget->spec.max_unavailable = options->max.n > 0 ? count_of(k, options->max) : NULL;
    return create_built(k, &policy_v1_pod_disruption_budget_kind, budget, start);
}

static const struct flag budget_flags[] = {
    FLAG(STRING, struct budget_options, selector, "selector", 0, "labels of the pods"),
    FLAG(STRING, struct budget_options, min, "min-available", 0, "how many must be there"),
    FLAG(STRING, struct budget_options, max, "max-unavailable", 0, "how many may be missing"),
};

const struct command command_create_poddisruptionbudget = {
    .name = "poddisruptionbudget",
    .aliases = "pdb",
    .help = "Create a pod disruption budget with the specified name",
    .usage = "NAME --selector=SELECTOR --min-available=N",
    .uses = USES_OUTPUT | USES_WRITE,
    .flags = budget_flags,
    .flag_count = COUNT_OF(budget_flags),
    .options_size = sizeof(struct budget_options),
    .run = budget_run,
};

struct priority_options {
    int64_t value;
    bool global_default;
    struct str description, preemption;
};

static struct status *priority_run(struct kubectl *k, void *arg)
{
    const struct priority_options *options = arg;
    struct scheduling_v1_priority_class *class = ARENA_NEW(k->arena, struct scheduling_v1_priority_class);
    int64_t start = trace_now();

    TRY(create_name(k, &class->metadata.name));
    class->value = (int32_t)options->value;
    class->global_default = options->global_default;
    class->description = options->description;
    class->preemption_policy = ARENA_NEW(k->arena, struct str);
    *class->preemption_policy = options->preemption.n > 0 ? options->preemption : STR("PreemptLowerPriority");
    return create_built(k, &scheduling_v1_priority_class_kind, class, start);
}

static const struct flag priority_flags[] = {
    FLAG(INT, struct priority_options, value, "value", 0, "the priority"),
    FLAG(BOOL, struct priority_options, global_default, "global-default", 0, "of pods that name no class"),
    FLAG(STRING, struct priority_options, description, "description", 0, "when to use it"),
    FLAG(STRING, struct priority_options, preemption, "preemption-policy", 0, "Never or PreemptLowerPriority"),
};

const struct command command_create_priorityclass = {
    .name = "priorityclass",
    .aliases = "pc",
    .help = "Create a priority class with the specified name",
    .usage = "NAME --value=VALUE --global-default=BOOL",
    .uses = USES_OUTPUT | USES_WRITE,
    .flags = priority_flags,
    .flag_count = COUNT_OF(priority_flags),
    .options_size = sizeof(struct priority_options),
    .run = priority_run,
};
