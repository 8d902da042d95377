/* Holds the pods of a namespace to the level that its labels name: refuses those beyond "enforce", and warns of
 * those beyond "warn". */
#include "api/apps_v1.h"
#include "api/batch_v1.h"
#include "apiserver/admission/objects.h"
#include "apiserver/admission/plugins.h"
#include "apiserver/admission/pod_security_checks.h"
#include "apiserver/errors.h"
#include "apiserver/resource.h"
#include "apiserver/user.h"
#include "schema/copy.h"
#include "schema/map_of.h"
#include "schema/object.h"

#include <limits.h>

#define LABEL "pod-security.kubernetes.io/"

/* Of the pods there are, so many are looked at when a namespace's level changes. */
enum { EXISTING_PODS_MAX = 3000, LATEST_MINOR = 37 };

static const char *const level_names[] = {"privileged", "baseline", "restricted"};

struct policy {
    enum pod_security_level level;
    int minor; /* INT_MAX: the latest */
};

static bool parse_level(struct str text, enum pod_security_level *ret)
{
    for (size_t i = 0; i < COUNT_OF(level_names); i++) {
        if (str_is(text, level_names[i])) {
            *ret = (enum pod_security_level)i;
            return true;
        }
    }
    return false;
}

/* "latest", or "v1." and a number that this version knows of. */
static bool parse_version(struct str text, int *ret)
{
    int64_t minor;

    *ret = INT_MAX;
    if (str_is(text, "latest")) {
        return true;
    }
    if (!str_has_prefix(text, STR("v1.")) || !str_to_i64(str_from(text, 3), &minor) || minor < 0 || minor > INT_MAX ||
        (text.n > 4 && text.p[3] == '0')) {
        return false;
    }
    *ret = minor >= LATEST_MINOR ? INT_MAX : (int)minor;
    return true;
}

/* What is wrong with a label goes to `errors` (NULL: nobody wants to know) and counts as the strictest. */
static bool read_policy(struct arena *arena, const struct str_map *labels, const char *mode, struct policy *ret,
                        struct status *errors)
{
    struct str level_key = arena_printf(arena, LABEL "%s", mode),
               version_key = arena_printf(arena, LABEL "%s-version", mode);
    struct str level = str_map_get(labels, level_key), version = str_map_get(labels, version_key);

    *ret = (struct policy){POD_SECURITY_PRIVILEGED, INT_MAX};
    if (level.p != NULL && !parse_level(level, &ret->level)) {
        ret->level = POD_SECURITY_RESTRICTED;
        if (errors != NULL) {
            error_invalid_value(errors, arena_printf(arena, "metadata.labels[%.*s]", STR_ARG(level_key)),
                                arena_printf(arena, "\"%.*s\"", STR_ARG(level)),
                                "must be one of privileged, baseline, restricted");
        }
    }
    if (version.p != NULL && !parse_version(version, &ret->minor) && errors != NULL) {
        error_invalid_value(errors, arena_printf(arena, "metadata.labels[%.*s]", STR_ARG(version_key)),
                            arena_printf(arena, "\"%.*s\"", STR_ARG(version)), "must be \"latest\" or \"v1.x\"");
    }
    return level.p != NULL;
}

static struct str policy_text(struct arena *arena, struct policy policy)
{
    return policy.minor == INT_MAX ? arena_printf(arena, "%s:latest", level_names[policy.level])
                                   : arena_printf(arena, "%s:v1.%d", level_names[policy.level], policy.minor);
}

static struct str reasons_text(struct arena *arena, const struct pod_security_violations *violations, bool with_details)
{
    struct str_list parts = {0};

    LIST_EACH(violation, violations) {
        *LIST_ADD(arena, &parts) =
            with_details ? arena_printf(arena, "%.*s (%.*s)", STR_ARG(violation->reason), STR_ARG(violation->detail))
                         : violation->reason;
    }
    return str_list_join(arena, &parts, ", ");
}

static struct status *find_labels(struct admission_request *admission, const struct str_map **ret)
{
    const void *object;

    TRY(admission_find(admission, "", "v1", "namespaces", (struct str){0}, admission->namespace, &object));
    *ret = &((const struct object *)object)->metadata.labels;
    return NULL;
}

/* Pods of the mode "warn"; without a label of its own it is as strict as "enforce". */
static void warn(struct admission_request *admission, const struct str_map *labels,
                 const struct meta_v1_object_meta *meta, const struct core_v1_pod_spec *spec)
{
    struct arena *arena = admission->request->arena;
    struct pod_security_violations violations;
    struct policy policy;

    if (!read_policy(arena, labels, "warn", &policy, NULL)) {
        read_policy(arena, labels, "enforce", &policy, NULL);
    }
    pod_security_check(arena, policy.level, policy.minor, meta, spec, &violations);
    if (violations.len != 0) {
        request_warn(admission->request, "would violate PodSecurity \"%.*s\": %.*s",
                     STR_ARG(policy_text(arena, policy)), STR_ARG(reasons_text(arena, &violations, true)));
    }
}

/* Updates that change nothing of what counts are let through, so that pods made before the label can end. */
static bool changes_what_counts(const struct admission_request *admission)
{
    const struct core_v1_pod *pod = admission->object, *old = admission->old_object;
    struct core_v1_pod_spec a, b;

    if (admission->operation != ADMIT_UPDATE || old == NULL) {
        return true;
    }
    a = pod->spec;
    b = old->spec;
    a.tolerations.len = b.tolerations.len = 0;
    a.active_deadline_seconds = b.active_deadline_seconds = NULL;
    a.termination_grace_period_seconds = b.termination_grace_period_seconds = NULL;
    return !schema_equal(&core_v1_pod_spec_type, &a, &b) ||
           !str_map_equal(&pod->metadata.annotations, &old->metadata.annotations);
}

static struct status *check_pod(struct admission_request *admission)
{
    const struct core_v1_pod *pod = admission->object;
    struct arena *arena = admission->request->arena;
    bool is_whole = admission->subresource.n == 0, is_ephemeral = str_is(admission->subresource, "ephemeralcontainers");
    struct pod_security_violations violations;
    const struct str_map *labels;
    struct policy policy;

    if ((!is_whole && !is_ephemeral) || !changes_what_counts(admission)) {
        return NULL;
    }
    TRY(find_labels(admission, &labels));
    read_policy(arena, labels, "enforce", &policy, NULL);
    pod_security_check(arena, policy.level, policy.minor, &pod->metadata, &pod->spec, &violations);
    if (violations.len != 0) {
        return admission_forbidden(admission, "violates PodSecurity \"%.*s\": %.*s",
                                   STR_ARG(policy_text(arena, policy)),
                                   STR_ARG(reasons_text(arena, &violations, true)));
    }
    warn(admission, labels, &pod->metadata, &pod->spec);
    return NULL;
}

/* The template by which the object makes pods; NULL: it makes none. */
static const struct core_v1_pod_template_spec *template_of(const struct kind *kind, const void *object)
{
    if (kind == &apps_v1_deployment_kind) {
        return &((const struct apps_v1_deployment *)object)->spec.template;
    }
    if (kind == &apps_v1_replica_set_kind) {
        return &((const struct apps_v1_replica_set *)object)->spec.template;
    }
    if (kind == &apps_v1_stateful_set_kind) {
        return &((const struct apps_v1_stateful_set *)object)->spec.template;
    }
    if (kind == &apps_v1_daemon_set_kind) {
        return &((const struct apps_v1_daemon_set *)object)->spec.template;
    }
    if (kind == &batch_v1_job_kind) {
        return &((const struct batch_v1_job *)object)->spec.template;
    }
    if (kind == &batch_v1_cron_job_kind) {
        return &((const struct batch_v1_cron_job *)object)->spec.job_template.spec.template;
    }
    if (kind == &core_v1_replication_controller_kind) {
        return ((const struct core_v1_replication_controller *)object)->spec.template;
    }
    return kind == &core_v1_pod_template_kind ? &((const struct core_v1_pod_template *)object)->template : NULL;
}

static struct status *check_template(struct admission_request *admission)
{
    const struct core_v1_pod_template_spec *template = template_of(admission->resource->kind, admission->object);
    const struct str_map *labels;

    if (template == NULL || admission->subresource.n != 0) {
        return NULL;
    }
    TRY(find_labels(admission, &labels));
    warn(admission, labels, &template->metadata, &template->spec);
    return NULL;
}

/* --- namespaces --- */

/* Pods that break the new level for the same reasons. */
struct offenders {
    struct str reasons, first;
    size_t others;
};

static struct status *warn_of_pods(struct admission_request *admission, struct policy policy)
{
    OWNED(admission_walk_done) struct admission_walk walk = {0};
    struct arena *arena = admission->request->arena;
    struct {
        struct offenders *items;
        size_t len;
    } groups = {0};
    const void *at;

    TRY(admission_walk_begin(&walk, admission, "", "v1", "pods", admission->name));
    for (int i = 0; i < EXISTING_PODS_MAX; i++) {
        struct pod_security_violations violations;
        struct offenders *group = NULL;

        TRY(admission_walk_next(&walk, &at));
        const struct core_v1_pod *pod = at;

        if (pod == NULL) {
            break;
        }
        pod_security_check(arena, policy.level, policy.minor, &pod->metadata, &pod->spec, &violations);
        struct str reasons = reasons_text(arena, &violations, false);

        LIST_EACH(other, &groups) {
            group = str_eq(other->reasons, reasons) ? other : group;
        }
        if (group != NULL) {
            group->others++;
        } else if (violations.len != 0) {
            *LIST_ADD(arena, &groups) = (struct offenders){reasons, arena_str(arena, pod->metadata.name), 0};
        }
    }
    if (groups.len != 0) {
        request_warn(admission->request,
                     "existing pods in namespace \"%.*s\" violate the new PodSecurity enforce level \"%.*s\"",
                     STR_ARG(admission->name), STR_ARG(policy_text(arena, policy)));
    }
    LIST_EACH(group, &groups) {
        struct str more = group->others == 0   ? STR("")
                          : group->others == 1 ? STR(" (and 1 other pod)")
                                               : arena_printf(arena, " (and %zu other pods)", group->others);

        request_warn(admission->request, "%.*s%.*s: %.*s", STR_ARG(group->first), STR_ARG(more),
                     STR_ARG(group->reasons));
    }
    return NULL;
}

/* Namespaces that have had bad labels before may keep them. */
static struct status *check_namespace(struct admission_request *admission)
{
    static const char *const modes[] = {"enforce", "audit", "warn"};
    const struct core_v1_namespace *namespace = admission->object, *old = admission->old_object;
    struct arena *arena = admission->request->arena;
    struct status *errors = error_invalid_start();
    struct policy policy, before = {POD_SECURITY_PRIVILEGED, INT_MAX}, ignored;

    read_policy(arena, &namespace->metadata.labels, modes[0], &policy, errors);
    for (size_t i = 1; i < COUNT_OF(modes); i++) {
        read_policy(arena, &namespace->metadata.labels, modes[i], &ignored, errors);
    }
    struct status *status = error_invalid_finish(errors, (struct str){0}, STR("Namespace"), namespace->metadata.name);

    if (old == NULL) {
        return status;
    }
    if (status != NULL && !str_map_equal(&namespace->metadata.labels, &old->metadata.labels)) {
        return status;
    }
    status_free(status);
    read_policy(arena, &old->metadata.labels, modes[0], &before, NULL);
    bool is_stricter = policy.level > before.level || (policy.level == before.level && policy.minor != before.minor);

    return is_stricter && policy.level != POD_SECURITY_PRIVILEGED && admission->subresource.n == 0
               ? warn_of_pods(admission, policy)
               : NULL;
}

static struct status *validate(struct admission_request *admission)
{
    const struct kind *kind = admission->resource->kind;

    if (kind == &core_v1_namespace_kind) {
        return check_namespace(admission);
    }
    return kind == &core_v1_pod_kind ? check_pod(admission) : check_template(admission);
}

const struct admission_plugin pod_security_plugin = {
    .name = "PodSecurity",
    .operations = ADMIT_CREATE | ADMIT_UPDATE,
    .validate = validate,
};
