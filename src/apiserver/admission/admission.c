#include "apiserver/admission/admission.h"

#include "api/warnings.h"
#include "apiserver/admission/plugins.h"
#include "apiserver/authz/escalation.h"
#include "apiserver/errors.h"
#include "apiserver/resource.h"
#include "apiserver/server.h"
#include "base/env.h"
#include "base/trace.h"
#include "schema/object.h"

const struct admission_plugin *const admission_plugins[] = {
    &namespace_lifecycle_plugin,
    &security_context_deny_plugin,
    &limit_ranger_plugin,
    &service_account_plugin,
    &node_restriction_plugin,
    &taint_nodes_by_condition_plugin,
    &always_pull_images_plugin,
    &pod_security_plugin,
    &priority_plugin,
    &default_toleration_seconds_plugin,
    &default_storage_class_plugin,
    &storage_object_in_use_protection_plugin,
    &persistent_volume_claim_resize_plugin,
    &runtime_class_plugin,
    &certificate_approval_plugin,
    &certificate_signing_plugin,
    &certificate_subject_restriction_plugin,
    &default_ingress_class_plugin,
    &deny_service_external_ips_plugin,
    &mutating_webhook_plugin,
    &validating_webhook_plugin,
    &resource_quota_plugin,
    NULL,
};

/* Stock's names of plugins that are not in the table above. They may be disabled, which changes nothing; whoever
 * enables one is told that it is not there. */
static const char *const absent_plugins[] = {
    "AlwaysAdmit", "AlwaysDeny", "ClusterTrustBundleAttest", "EventRateLimit", "ExtendedResourceToleration",
    "ImagePolicyWebhook", "LimitPodHardAntiAffinityTopology", "MutatingAdmissionPolicy", "NamespaceAutoProvision",
    "NamespaceExists", "NodeDeclaredFeatureValidator", "OwnerReferencesPermissionEnforcement", "PodNodeSelector",
    "PodTolerationRestriction", "PodTopologyLabels", "ValidatingAdmissionPolicy",
};

static bool names(const struct flag_strings *list, const char *name)
{
    LIST_EACH(item, list) {
        if (str_is(*item, name)) {
            return true;
        }
    }
    return false;
}

static bool is_enabled(const struct apiserver_options *options, const struct admission_plugin *plugin)
{
    return plugin->is_optional ? names(&options->enable_admission_plugins, plugin->name)
                               : !names(&options->disable_admission_plugins, plugin->name);
}

static void trace_plugin(struct admission_request *admission, const char *name, int64_t start,
                         const struct status *status)
{
    request_trace(admission->request,
                  &(struct trace_span){.step = TRACE_ADMISSION,
                                       .start = start,
                                       .child = str_of(name),
                                       .outcome = status == NULL ? TRACE_OK : TRACE_FAILED,
                                       .detail = status == NULL ? STR("admitted") : status->message});
}

/* The object has been found valid. */
static void tell_warnings(struct admission_request *admission)
{
    struct request *request = admission->request;
    struct str_list texts = {0};

    if (admission->subresource.n != 0 || admission->object == NULL) {
        return;
    }
    api_warnings(request->arena, admission->resource->kind, admission->object, admission->old_object, &texts);
    LIST_EACH(text, &texts) {
        request_warn(request, "%.*s", STR_ARG(*text));
    }
}

static struct status *run_plugin(struct admission_request *admission, enum admission_phase phase,
                                 const struct admission_plugin *plugin)
{
    struct status *(*ask)(struct admission_request *) = phase == ADMIT_MUTATE ? plugin->mutate : plugin->validate;

    if (ask == NULL || (plugin->operations & admission->operation) == 0 ||
        !is_enabled(admission->request->server->options, plugin)) {
        return NULL;
    }
    int64_t start = env_wall();
    struct status *status = ask(admission);

    trace_plugin(admission, plugin->name, start, status);
    return status;
}

struct status *admission_run(struct admission_request *admission, enum admission_phase phase)
{
    /* no plugins, so that no flag can turn them off */
    if (phase == ADMIT_MUTATE) {
        TRY(escalation_check(admission));
    } else {
        tell_warnings(admission);
    }
    admission->was_changed = false;
    for (size_t i = 0; admission_plugins[i] != NULL; i++) {
        TRY(run_plugin(admission, phase, admission_plugins[i]));
    }
    /* what a webhook has put in is filled up like the rest */
    for (size_t i = 0; admission->was_changed && admission_plugins[i] != NULL; i++) {
        if (admission_plugins[i] != &mutating_webhook_plugin) {
            TRY(run_plugin(admission, phase, admission_plugins[i]));
        }
    }
    return NULL;
}

struct status *admission_forbidden(const struct admission_request *admission, const char *format, ...)
{
    const struct kind *kind = admission->resource->kind;
    struct str name = admission->name;
    va_list args;

    if (name.n == 0 && admission->object != NULL) {
        const struct meta_v1_object_meta *meta = &((const struct object *)admission->object)->metadata;

        name = meta->name.n != 0 ? meta->name : meta->generate_name;
    }
    va_start(args, format);
    struct str why = arena_vprintf(admission->request->arena, format, args);

    va_end(args);
    return error_forbidden(kind->group, kind->plural, name, "%.*s", STR_ARG(why));
}

static bool is_there(struct str name)
{
    for (size_t i = 0; admission_plugins[i] != NULL; i++) {
        if (str_is(name, admission_plugins[i]->name)) {
            return true;
        }
    }
    return false;
}

static struct status *check_name(struct str name, const char *flag, bool is_wanted)
{
    bool is_known = is_there(name);

    for (size_t i = 0; i < COUNT_OF(absent_plugins) && !is_known; i++) {
        if (str_is(name, absent_plugins[i])) {
            if (is_wanted) {
                return status_new(STATUS_BAD_REQUEST, "--%s: plugin \"%.*s\" is not part of this server", flag,
                                  STR_ARG(name));
            }
            is_known = true;
        }
    }
    return is_known ? NULL
                    : status_new(STATUS_BAD_REQUEST, "%s plugin \"%.*s\" is unknown", flag, STR_ARG(name));
}

struct status *admission_check_flags(const struct apiserver_options *options)
{
    LIST_EACH(name, &options->enable_admission_plugins) {
        TRY(check_name(*name, "enable-admission-plugins", true));
        LIST_EACH(other, &options->disable_admission_plugins) {
            if (str_eq(*name, *other)) {
                return status_new(STATUS_BAD_REQUEST,
                                  "[%.*s] in enable-admission-plugins and disable-admission-plugins overlapped",
                                  STR_ARG(*name));
            }
        }
    }
    LIST_EACH(name, &options->disable_admission_plugins) {
        TRY(check_name(*name, "disable-admission-plugins", false));
    }
    return NULL;
}

static struct status *admission_open(struct apiserver *server)
{
    return admission_check_flags(server->options);
}

const struct apiserver_extension admission_extension = {.name = "admission", .open = admission_open};
