/* Refuses pods that choose users and SELinux labels themselves. Stock has dropped it; it is asked only when enabled. */
#include "api/core_v1.h"
#include "apiserver/admission/objects.h"
#include "apiserver/admission/plugins.h"
#include "apiserver/resource.h"

static struct status *check_pod(const struct admission_request *admission,
                                const struct core_v1_pod_security_context *context)
{
    if (context == NULL) {
        return NULL;
    }
    if (context->supplemental_groups.len != 0) {
        return admission_forbidden(admission, "pod.Spec.SecurityContext.SupplementalGroups is forbidden");
    }
    if (context->se_linux_options != NULL) {
        return admission_forbidden(admission, "pod.Spec.SecurityContext.SELinuxOptions is forbidden");
    }
    if (context->run_as_user != NULL) {
        return admission_forbidden(admission, "pod.Spec.SecurityContext.RunAsUser is forbidden");
    }
    if (context->fs_group != NULL) {
        return admission_forbidden(admission, "pod.Spec.SecurityContext.FSGroup is forbidden");
    }
    return NULL;
}

static struct status *check_container(const struct admission_request *admission,
                                      const struct core_v1_security_context *context)
{
    if (context == NULL) {
        return NULL;
    }
    if (context->se_linux_options != NULL) {
        return admission_forbidden(admission, "SecurityContext.SELinuxOptions is forbidden");
    }
    if (context->run_as_user != NULL) {
        return admission_forbidden(admission, "SecurityContext.RunAsUser is forbidden");
    }
    return NULL;
}

static struct status *validate(struct admission_request *admission)
{
    const struct core_v1_pod *pod = admission->object;

    if (admission->resource->kind != &core_v1_pod_kind ||
        (admission->subresource.n != 0 && !str_is(admission->subresource, "ephemeralcontainers"))) {
        return NULL;
    }
    TRY(check_pod(admission, pod->spec.security_context));
    LIST_EACH(container, &pod->spec.init_containers) {
        TRY(check_container(admission, container->security_context));
    }
    LIST_EACH(container, &pod->spec.containers) {
        TRY(check_container(admission, container->security_context));
    }
    LIST_EACH(container, &pod->spec.ephemeral_containers) {
        TRY(check_container(admission, container->ephemeral_container_common.security_context));
    }
    return NULL;
}

const struct admission_plugin security_context_deny_plugin = {
    .name = "SecurityContextDeny",
    .operations = ADMIT_CREATE | ADMIT_UPDATE,
    .is_optional = true,
    .validate = validate,
};
