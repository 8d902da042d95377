/* The restricted level: what is good practice for a pod that needs nothing special. */
#include "apiserver/admission/pod_security_parts.h"

#include "apiserver/user.h"

#include <stddef.h>

static bool is_windows(const struct pod_security_pod *pod)
{
    return pod->minor >= 25 && pod->spec->os != NULL && str_is(pod->spec->os->name, "windows");
}

static void privilege_escalation(const struct pod_security_pod *pod)
{
    struct str_list containers = {0};

    LIST_EACH(container, &pod->containers) {
        const bool *set = pod_security_context(*container)->allow_privilege_escalation;

        if (set == NULL || *set) {
            *LIST_ADD(pod->arena, &containers) = (*container)->name;
        }
    }
    if (containers.len != 0 && !is_windows(pod)) {
        pod_security_violate(pod, "allowPrivilegeEscalation != false",
                             "%.*s must set securityContext.allowPrivilegeEscalation=false",
                             STR_ARG(pod_security_named(pod->arena, &containers)));
    }
}

static void capabilities(const struct pod_security_pod *pod)
{
    struct str_list keepers = {0}, adders = {0}, added = {0}, details = {0};

    if (is_windows(pod)) {
        return;
    }
    LIST_EACH(container, &pod->containers) {
        const struct core_v1_capabilities *set = pod_security_context(*container)->capabilities;
        bool adds = false;

        if (set == NULL || !str_list_has(&set->drop, STR("ALL"))) {
            *LIST_ADD(pod->arena, &keepers) = (*container)->name;
        }
        for (size_t i = 0; set != NULL && i < set->add.len; i++) {
            if (!str_is(set->add.items[i], "NET_BIND_SERVICE")) {
                pod_security_add_once(pod->arena, &added, set->add.items[i]);
                adds = true;
            }
        }
        if (adds) {
            *LIST_ADD(pod->arena, &adders) = (*container)->name;
        }
    }
    if (keepers.len != 0) {
        *LIST_ADD(pod->arena, &details) =
            arena_printf(pod->arena, "%.*s must set securityContext.capabilities.drop=[\"ALL\"]",
                         STR_ARG(pod_security_named(pod->arena, &keepers)));
    }
    if (adders.len != 0) {
        pod_security_sort(&added);
        *LIST_ADD(pod->arena, &details) =
            arena_printf(pod->arena, "%.*s must not include %.*s in securityContext.capabilities.add",
                         STR_ARG(pod_security_named(pod->arena, &adders)),
                         STR_ARG(pod_security_quoted(pod->arena, &added)));
    }
    if (details.len != 0) {
        pod_security_violate(pod, "unrestricted capabilities", "%.*s",
                             STR_ARG(str_list_join(pod->arena, &details, "; ")));
    }
}

/* The JSON name of what the volume is; empty when it is a fine one. */
static struct str restricted_type(const struct core_v1_volume_source *source)
{
    static const char *const fine[] = {"configMap", "csi",       "downwardAPI", "emptyDir", "ephemeral",
                                       "persistentVolumeClaim", "projected", "secret", "image"};
    const struct type *type = &core_v1_volume_source_type;

    for (size_t i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];
        void *const *place = (void *const *)((const char *)source + field->offset);

        if (*place == NULL) {
            continue;
        }
        for (size_t k = 0; k < COUNT_OF(fine); k++) {
            if (str_is(field->name, fine[k])) {
                return (struct str){0};
            }
        }
        return field->name;
    }
    return STR("unknown");
}

static void volume_types(const struct pod_security_pod *pod)
{
    struct str_list volumes = {0}, types = {0};

    LIST_EACH(volume, &pod->spec->volumes) {
        struct str type = restricted_type(&volume->volume_source);

        if (type.n != 0) {
            *LIST_ADD(pod->arena, &volumes) = volume->name;
            pod_security_add_once(pod->arena, &types, type);
        }
    }
    if (volumes.len != 0) {
        pod_security_sort(&types);
        pod_security_violate(pod, "restricted volume types", "%s %.*s %s restricted volume %s %.*s",
                             volumes.len == 1 ? "volume" : "volumes",
                             STR_ARG(pod_security_quoted(pod->arena, &volumes)), volumes.len == 1 ? "uses" : "use",
                             types.len == 1 ? "type" : "types", STR_ARG(pod_security_quoted(pod->arena, &types)));
    }
}

static void run_as_non_root(const struct pod_security_pod *pod)
{
    struct str_list setters = {0}, silent = {0};
    const bool *of_pod = pod->context->run_as_non_root;

    LIST_EACH(container, &pod->containers) {
        const bool *set = pod_security_context(*container)->run_as_non_root;

        if (set != NULL && !*set) {
            *LIST_ADD(pod->arena, &setters) = (*container)->name;
        } else if (set == NULL && (of_pod == NULL || !*of_pod)) {
            *LIST_ADD(pod->arena, &silent) = (*container)->name;
        }
    }
    bool is_pod = of_pod != NULL && !*of_pod;

    if (is_pod || setters.len != 0) {
        pod_security_violate(pod, "runAsNonRoot != true", "%.*s must not set securityContext.runAsNonRoot=false",
                             STR_ARG(pod_security_setters(pod->arena, is_pod, &setters)));
    } else if (silent.len != 0) {
        pod_security_violate(pod, "runAsNonRoot != true", "pod or %.*s must set securityContext.runAsNonRoot=true",
                             STR_ARG(pod_security_named(pod->arena, &silent)));
    }
}

static void run_as_user(const struct pod_security_pod *pod)
{
    struct str_list containers = {0};
    bool is_pod = pod->context->run_as_user != NULL && *pod->context->run_as_user == 0;

    LIST_EACH(container, &pod->containers) {
        const int64_t *set = pod_security_context(*container)->run_as_user;

        if (set != NULL && *set == 0) {
            *LIST_ADD(pod->arena, &containers) = (*container)->name;
        }
    }
    if (is_pod || containers.len != 0) {
        pod_security_violate(pod, "runAsUser=0", "%.*s must not set runAsUser=0",
                             STR_ARG(pod_security_setters(pod->arena, is_pod, &containers)));
    }
}

static bool is_fine_profile(struct str type)
{
    return str_is(type, "RuntimeDefault") || str_is(type, "Localhost");
}

static void seccomp(const struct pod_security_pod *pod)
{
    struct str_list setters = {0}, silent = {0}, values = {0};
    const struct core_v1_seccomp_profile *of_pod = pod->context->seccomp_profile;
    bool is_pod = of_pod != NULL && !is_fine_profile(of_pod->type);

    if (is_windows(pod)) {
        return;
    }
    if (is_pod) {
        pod_security_add_once(pod->arena, &values, of_pod->type);
    }
    LIST_EACH(container, &pod->containers) {
        const struct core_v1_seccomp_profile *set = pod_security_context(*container)->seccomp_profile;

        if (set != NULL && !is_fine_profile(set->type)) {
            *LIST_ADD(pod->arena, &setters) = (*container)->name;
            pod_security_add_once(pod->arena, &values, set->type);
        } else if (set == NULL && (of_pod == NULL || is_pod)) {
            *LIST_ADD(pod->arena, &silent) = (*container)->name;
        }
    }
    if (values.len != 0) {
        pod_security_sort(&values);
        pod_security_violate(pod, "seccompProfile", "%.*s must not set securityContext.seccompProfile.type to %.*s",
                             STR_ARG(pod_security_setters(pod->arena, is_pod, &setters)),
                             STR_ARG(pod_security_quoted(pod->arena, &values)));
    } else if (silent.len != 0) {
        pod_security_violate(pod, "seccompProfile",
                             "pod or %.*s must set securityContext.seccompProfile.type to \"RuntimeDefault\" or "
                             "\"Localhost\"",
                             STR_ARG(pod_security_named(pod->arena, &silent)));
    }
}

const struct pod_security_row pod_security_restricted[] = {
    {privilege_escalation, 8, false}, {capabilities, 22, false}, {volume_types, 0, false},
    {run_as_non_root, 0, false},      {run_as_user, 23, false},  {seccomp, 19, false},
    {NULL, 0, false},
};
