/* Services don't take addresses that belong to others; those they had may stay. Asked only when enabled. */
#include "api/core_v1.h"
#include "apiserver/admission/objects.h"
#include "apiserver/admission/plugins.h"
#include "apiserver/user.h"

static struct status *deny_external(struct admission_request *admission)
{
    static const struct str_list none = {0};
    const struct core_v1_service *service = admission->object, *old = admission->old_object;

    if (!admission_is_about(admission, &core_v1_service_kind)) {
        return NULL;
    }
    const struct str_list *before = old != NULL ? &old->spec.external_ips : &none;

    LIST_EACH(address, &service->spec.external_ips) {
        if (!str_list_has(before, *address)) {
            return admission_forbidden(admission, "Use of external IPs is denied by admission control.");
        }
    }
    return NULL;
}

const struct admission_plugin deny_service_external_ips_plugin = {
    .name = "DenyServiceExternalIPs",
    .operations = ADMIT_CREATE | ADMIT_UPDATE,
    .is_optional = true,
    .validate = deny_external,
};
