#include "api/validation/workloads.h"

#include "api/apps_v1.h"
#include "api/validation/kinds.h"
#include "api/validation/meta.h"
#include "api/validation/pod.h"
#include "api/validation/storage.h"
#include "schema/copy.h"
#include "schema/selectors.h"

static bool selector_works(struct arena *arena, const struct meta_v1_label_selector *selector,
                           struct label_selector *ret)
{
    struct status *status = label_selector_of(arena, selector, ret);

    if (status != NULL) {
        status_free(status);
        return false;
    }
    return true;
}

bool template_matches(const struct meta_v1_label_selector *selector, const struct str_map *labels)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct label_selector parsed;

    return selector_works(arena, selector, &parsed) && label_selector_matches_map(&parsed, labels);
}

void check_template_labels(struct status *to, const struct path *at, const struct str_map *labels)
{
    check_invalid_json(to, AT(AT(at, "metadata"), "labels"), dump_labels(to->arena, labels),
                       "`selector` does not match template `labels`");
}

void check_replaced_template(struct status *to, const struct path *at,
                             const struct core_v1_pod_template_spec *template,
                             const struct meta_v1_label_selector *selector, const char *kind)
{
    static const char *const policies[] = {"Always", NULL};
    const struct path *spec = AT(at, "spec");

    if ((selector == NULL || !selector_is_empty(selector)) && !template_matches(selector, &template->metadata.labels)) {
        check_template_labels(to, at, &template->metadata.labels);
    }
    check_pod_template(to, at, template);
    check_one_of(to, AT(spec, "restartPolicy"), template->spec.restart_policy, policies);
    if (template->spec.active_deadline_seconds != NULL) {
        check_forbidden(to, AT(spec, "activeDeadlineSeconds"), "activeDeadlineSeconds in %s is not Supported", kind);
    }
}

void check_int_or_percent(struct status *to, const struct path *at, const struct int_or_string *value)
{
    struct name_errors errors = {0};

    if (!value->is_string) {
        check_non_negative(to, at, value->number);
    } else if (!name_is_percent(value->text, &errors)) {
        for (size_t i = 0; i < errors.len; i++) {
            check_invalid_str(to, at, value->text, "%.*s", STR_ARG(errors.items[i]));
        }
    }
}

/* Of "25%"; false when it is no percentage. */
static bool percent_of(const struct int_or_string *value, int64_t *ret)
{
    return value->is_string && name_is_percent(value->text, NULL) &&
           str_to_i64(str_sub(value->text, 0, value->text.n - 1), ret);
}

void check_at_most_all(struct status *to, const struct path *at, const struct int_or_string *value)
{
    int64_t percent;

    if (percent_of(value, &percent) && percent > 100) {
        check_invalid_str(to, at, value->text, "must not be greater than 100%%");
    }
}

bool int_or_percent_is_zero(const struct int_or_string *value)
{
    int64_t percent;

    return value == NULL || (value->is_string ? percent_of(value, &percent) && percent == 0 : value->number == 0);
}

/* A selector must be there and select something; true when it can be used. */
static bool check_selector(struct status *to, const struct path *at, const struct meta_v1_label_selector *selector,
                           const char *kind, const char *unusable)
{
    struct label_selector parsed;

    if (selector == NULL) {
        check_required(to, at, "%s", "");
        return true;
    }
    check_label_selector(to, at, selector);
    if (selector_is_empty(selector)) {
        check_invalid_struct(to, at, &meta_v1_label_selector_type, selector, "empty selector is invalid for %s", kind);
    }
    if (!selector_works(to->arena, selector, &parsed)) {
        check_invalid_struct(to, at, &meta_v1_label_selector_type, selector, "%s", unusable);
        return false;
    }
    return true;
}

static void check_rolling_update(struct status *to, const struct path *at,
                                 const struct apps_v1_rolling_update_deployment *update)
{
    if (update->max_unavailable != NULL) {
        check_int_or_percent(to, AT(at, "maxUnavailable"), update->max_unavailable);
    }
    if (update->max_surge != NULL) {
        check_int_or_percent(to, AT(at, "maxSurge"), update->max_surge);
    }
    if (update->max_unavailable != NULL && int_or_percent_is_zero(update->max_unavailable) &&
        int_or_percent_is_zero(update->max_surge)) {
        check_invalid_int_or_string(to, AT(at, "maxUnavailable"), update->max_unavailable,
                                    "may not be 0 when `maxSurge` is 0");
    }
    if (update->max_unavailable != NULL) {
        check_at_most_all(to, AT(at, "maxUnavailable"), update->max_unavailable);
    }
}

static void check_strategy(struct status *to, const struct path *at, const struct apps_v1_deployment_strategy *strategy)
{
    static const char *const types[] = {"Recreate", "RollingUpdate", NULL};

    if (str_is(strategy->type, "Recreate")) {
        if (strategy->rolling_update != NULL) {
            check_forbidden(to, AT(at, "rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'");
        }
    } else if (check_one_of(to, AT(at, "type"), strategy->type, types) && strategy->rolling_update != NULL) {
        check_rolling_update(to, AT(at, "rollingUpdate"), strategy->rolling_update);
    }
}

static void check_optional_count(struct status *to, const struct path *at, const int32_t *count)
{
    if (count != NULL) {
        check_non_negative(to, at, *count);
    }
}

void validate_deployment(struct status *to, const void *object)
{
    const struct apps_v1_deployment_spec *spec = &((const struct apps_v1_deployment *)object)->spec;
    const struct path *at = AT(NULL, "spec");

    check_optional_count(to, AT(at, "replicas"), spec->replicas);
    if (check_selector(to, AT(at, "selector"), spec->selector, "deployment", "invalid label selector")) {
        check_replaced_template(to, AT(at, "template"), &spec->template, spec->selector, "ReplicaSet");
    }
    check_strategy(to, AT(at, "strategy"), &spec->strategy);
    check_non_negative(to, AT(at, "minReadySeconds"), spec->min_ready_seconds);
    check_optional_count(to, AT(at, "revisionHistoryLimit"), spec->revision_history_limit);
    if (spec->progress_deadline_seconds != NULL) {
        check_non_negative(to, AT(at, "progressDeadlineSeconds"), *spec->progress_deadline_seconds);
        if (*spec->progress_deadline_seconds <= spec->min_ready_seconds) {
            check_invalid_int(to, AT(at, "progressDeadlineSeconds"), *spec->progress_deadline_seconds,
                              "must be greater than minReadySeconds");
        }
    }
}

static void check_immutable_selector(struct status *to, const struct meta_v1_label_selector *now,
                                     const struct meta_v1_label_selector *before)
{
    check_immutable_struct(to, AT(AT(NULL, "spec"), "selector"), &meta_v1_label_selector_type, now, before);
}

void validate_deployment_update(struct status *to, const void *object, const void *old)
{
    validate_deployment(to, object);
    check_immutable_selector(to, ((const struct apps_v1_deployment *)object)->spec.selector,
                             ((const struct apps_v1_deployment *)old)->spec.selector);
}

void validate_replica_set(struct status *to, const void *object)
{
    const struct apps_v1_replica_set_spec *spec = &((const struct apps_v1_replica_set *)object)->spec;
    const struct path *at = AT(NULL, "spec");

    check_optional_count(to, AT(at, "replicas"), spec->replicas);
    check_non_negative(to, AT(at, "minReadySeconds"), spec->min_ready_seconds);
    if (check_selector(to, AT(at, "selector"), spec->selector, "deployment", "invalid label selector")) {
        check_replaced_template(to, AT(at, "template"), &spec->template, spec->selector, "ReplicaSet");
    }
}

void validate_replica_set_update(struct status *to, const void *object, const void *old)
{
    validate_replica_set(to, object);
    check_immutable_selector(to, ((const struct apps_v1_replica_set *)object)->spec.selector,
                             ((const struct apps_v1_replica_set *)old)->spec.selector);
}

static void check_daemon_update(struct status *to, const struct path *at,
                                const struct apps_v1_daemon_set_update_strategy *strategy)
{
    static const char *const types[] = {"RollingUpdate", "OnDelete", NULL};
    const struct apps_v1_rolling_update_daemon_set *update = strategy->rolling_update;
    const struct path *rolling = AT(at, "rollingUpdate");

    if (!check_one_of(to, AT(at, "type"), strategy->type, types) || str_is(strategy->type, "OnDelete")) {
        return;
    }
    if (update == NULL) {
        check_required(to, rolling, "%s", "");
        return;
    }
    bool no_surge = int_or_percent_is_zero(update->max_surge);
    bool none_missing = int_or_percent_is_zero(update->max_unavailable);

    if (update->max_unavailable != NULL) {
        check_int_or_percent(to, AT(rolling, "maxUnavailable"), update->max_unavailable);
        check_at_most_all(to, AT(rolling, "maxUnavailable"), update->max_unavailable);
    }
    if (update->max_surge != NULL) {
        check_int_or_percent(to, AT(rolling, "maxSurge"), update->max_surge);
        check_at_most_all(to, AT(rolling, "maxSurge"), update->max_surge);
    }
    if (no_surge && none_missing) {
        check_required(to, AT(rolling, "maxUnavailable"), "cannot be 0 when maxSurge is 0");
    } else if (!no_surge && !none_missing) {
        check_invalid_int_or_string(to, AT(rolling, "maxSurge"), update->max_surge,
                                    "may not be set when maxUnavailable is non-zero");
    }
}

void validate_daemon_set(struct status *to, const void *object)
{
    static const char *const policies[] = {"Always", NULL};
    const struct apps_v1_daemon_set_spec *spec = &((const struct apps_v1_daemon_set *)object)->spec;
    const struct path *at = AT(NULL, "spec"), *template = AT(at, "template");
    struct label_selector parsed;

    check_label_selector(to, AT(at, "selector"), spec->selector);
    if (selector_works(to->arena, spec->selector, &parsed) &&
        !label_selector_matches_map(&parsed, &spec->template.metadata.labels)) {
        check_template_labels(to, template, &spec->template.metadata.labels);
    }
    if (spec->selector != NULL && selector_is_empty(spec->selector)) {
        check_invalid_struct(to, AT(at, "selector"), &meta_v1_label_selector_type, spec->selector,
                             "empty selector is invalid for daemonset");
    }
    check_pod_template(to, template, &spec->template);
    check_one_of(to, AT(AT(template, "spec"), "restartPolicy"), spec->template.spec.restart_policy, policies);
    if (spec->template.spec.active_deadline_seconds != NULL) {
        check_forbidden(to, AT(AT(template, "spec"), "activeDeadlineSeconds"),
                        "activeDeadlineSeconds in DaemonSet is not Supported");
    }
    check_non_negative(to, AT(at, "minReadySeconds"), spec->min_ready_seconds);
    check_daemon_update(to, AT(at, "updateStrategy"), &spec->update_strategy);
    check_optional_count(to, AT(at, "revisionHistoryLimit"), spec->revision_history_limit);
}

void validate_daemon_set_update(struct status *to, const void *object, const void *old)
{
    check_immutable_selector(to, ((const struct apps_v1_daemon_set *)object)->spec.selector,
                             ((const struct apps_v1_daemon_set *)old)->spec.selector);
    validate_daemon_set(to, object);
}

static void check_stateful_update(struct status *to, const struct path *at,
                                  const struct apps_v1_stateful_set_update_strategy *strategy)
{
    const struct apps_v1_rolling_update_stateful_set_strategy *update = strategy->rolling_update;
    const struct path *rolling = AT(at, "rollingUpdate");

    if (strategy->type.n == 0) {
        check_required(to, at, "%s", "");
    } else if (str_is(strategy->type, "OnDelete")) {
        if (update != NULL) {
            check_invalid_struct(to, rolling, &apps_v1_rolling_update_stateful_set_strategy_type, update,
                                 "only allowed for updateStrategy 'RollingUpdate'");
        }
    } else if (!str_is(strategy->type, "RollingUpdate")) {
        check_invalid_struct(to, at, &apps_v1_stateful_set_update_strategy_type, strategy,
                             "must be 'RollingUpdate' or 'OnDelete'");
    } else if (update != NULL) {
        check_optional_count(to, AT(rolling, "partition"), update->partition);
        if (update->max_unavailable != NULL) {
            check_int_or_percent(to, AT(rolling, "maxUnavailable"), update->max_unavailable);
            if (int_or_percent_is_zero(update->max_unavailable)) {
                check_invalid_int_or_string(to, AT(rolling, "maxUnavailable"), update->max_unavailable, "cannot be 0");
            }
            check_at_most_all(to, AT(rolling, "maxUnavailable"), update->max_unavailable);
        }
    }
}

static void check_retention(struct status *to, const struct path *at,
                            const struct apps_v1_stateful_set_persistent_volume_claim_retention_policy *policy)
{
    static const char *const policies[] = {"Retain", "Delete", NULL};

    if (policy != NULL) {
        check_one_of(to, AT(at, "whenDeleted"), policy->when_deleted, policies);
        check_one_of(to, AT(at, "whenScaled"), policy->when_scaled, policies);
    }
}

void validate_stateful_set(struct status *to, const void *object)
{
    const struct apps_v1_stateful_set_spec *spec = &((const struct apps_v1_stateful_set *)object)->spec;
    const struct path *at = AT(NULL, "spec");

    if (check_present(to, AT(at, "podManagementPolicy"), spec->pod_management_policy) &&
        !str_is(spec->pod_management_policy, "OrderedReady") && !str_is(spec->pod_management_policy, "Parallel")) {
        check_invalid_str(to, AT(at, "podManagementPolicy"), spec->pod_management_policy,
                          "must be 'OrderedReady' or 'Parallel'");
    }
    check_stateful_update(to, AT(at, "updateStrategy"), &spec->update_strategy);
    check_retention(to, AT(at, "persistentVolumeClaimRetentionPolicy"), spec->persistent_volume_claim_retention_policy);
    check_optional_count(to, AT(at, "replicas"), spec->replicas);
    check_non_negative(to, AT(at, "minReadySeconds"), spec->min_ready_seconds);
    if (spec->ordinals != NULL) {
        check_non_negative(to, AT(AT(at, "ordinals"), "start"), spec->ordinals->start);
    }
    if (check_selector(to, AT(at, "selector"), spec->selector, "statefulset", "")) {
        check_replaced_template(to, AT(at, "template"), &spec->template, spec->selector, "StatefulSet");
    }
    if (spec->service_name.n != 0) {
        check_name(to, AT(at, "serviceName"), spec->service_name, name_is_dns1123_label);
    }
    LIST_EACH(claim, &spec->volume_claim_templates) {
        const struct path *one = ITEM(AT(at, "volumeClaimTemplates"), INDEX_OF(claim, &spec->volume_claim_templates));

        check_claim_spec(to, AT(one, "spec"), &claim->spec);
    }
}

void validate_stateful_set_update(struct status *to, const void *object, const void *old_object)
{
    const struct apps_v1_stateful_set_spec *spec = &((const struct apps_v1_stateful_set *)object)->spec;
    const struct apps_v1_stateful_set_spec *old = &((const struct apps_v1_stateful_set *)old_object)->spec;
    const struct path *at = AT(NULL, "spec");
    const struct field *claims = type_field(&apps_v1_stateful_set_spec_type, STR("volumeClaimTemplates"));

    validate_stateful_set(to, object);
    check_immutable_str(to, AT(at, "serviceName"), spec->service_name, old->service_name);
    check_immutable_str(to, AT(at, "podManagementPolicy"), spec->pod_management_policy, old->pod_management_policy);
    check_immutable_selector(to, spec->selector, old->selector);
    if (!schema_field_equal(claims, (const char *)spec + claims->offset, (const char *)old + claims->offset)) {
        check_invalid_json(to, AT(at, "volumeClaimTemplates"),
                           dump_field(to->arena, &apps_v1_stateful_set_spec_type, "volumeClaimTemplates", spec),
                           "field is immutable");
    }
}

void validate_replication_controller(struct status *to, const void *object)
{
    const struct core_v1_replication_controller_spec *spec =
        &((const struct core_v1_replication_controller *)object)->spec;
    const struct path *at = AT(NULL, "spec");

    check_non_negative(to, AT(at, "minReadySeconds"), spec->min_ready_seconds);
    if (spec->selector.len == 0) {
        check_required(to, AT(at, "selector"), "%s", "");
    }
    check_optional_count(to, AT(at, "replicas"), spec->replicas);
    if (spec->template == NULL) {
        check_required(to, AT(at, "template"), "%s", "");
        return;
    }
    check_replaced_template(to, AT(at, "template"), spec->template,
                            &(const struct meta_v1_label_selector){.match_labels = spec->selector},
                            "ReplicationController");
}

void validate_replication_controller_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_replication_controller(to, object);
}
