#include "api/validation/pod.h"

#include <limits.h>

static void check_id(struct status *to, const struct path *at, const int64_t *id)
{
    if (id != NULL && !name_is_user_id(*id, NULL)) {
        check_invalid_int(to, at, *id, "must be between 0 and 2147483647, inclusive");
    }
}

static void check_seccomp(struct status *to, const struct path *at, const struct core_v1_seccomp_profile *profile)
{
    static const char *const types[] = {"Localhost", "RuntimeDefault", "Unconfined", NULL};

    if (profile == NULL) {
        return;
    }
    if (profile->type.n == 0) {
        check_required(to, AT(at, "type"), "type is required when seccompProfile is set");
    } else {
        check_one_of(to, AT(at, "type"), profile->type, types);
    }
    if (!str_is(profile->type, "Localhost")) {
        if (profile->localhost_profile != NULL) {
            check_invalid_struct(to, AT(at, "localhostProfile"), &core_v1_seccomp_profile_type, profile,
                                 "can only be set when seccomp type is Localhost");
        }
    } else if (profile->localhost_profile == NULL) {
        check_required(to, AT(at, "localhostProfile"), "must be set when seccomp type is Localhost");
    } else {
        check_local_path(to, AT(at, "localhostProfile"), *profile->localhost_profile, false);
    }
}

static void check_app_armor(struct status *to, const struct path *at, const struct core_v1_app_armor_profile *profile)
{
    static const char *const types[] = {"Localhost", "RuntimeDefault", "Unconfined", NULL};

    if (profile == NULL) {
        return;
    }
    if (profile->type.n == 0) {
        check_required(to, AT(at, "type"), "type is required when appArmorProfile is set");
    } else if (str_is(profile->type, "Localhost")) {
        if (profile->localhost_profile == NULL || str_trim(*profile->localhost_profile).n == 0) {
            check_required(to, AT(at, "localhostProfile"), "must be set when AppArmor type is Localhost");
        } else if (str_trim(*profile->localhost_profile).n != profile->localhost_profile->n) {
            check_invalid_str(to, AT(at, "localhostProfile"), *profile->localhost_profile,
                              "must not be padded with whitespace");
        }
    } else if (check_one_of(to, AT(at, "type"), profile->type, types) && profile->localhost_profile != NULL) {
        check_invalid_str(to, AT(at, "localhostProfile"), *profile->localhost_profile,
                          "can only be set when AppArmor type is Localhost");
    }
}

static void check_windows_options(struct status *to, const struct path *at,
                                  const struct core_v1_windows_security_context_options *options)
{
    enum { SPEC_MAX = 64 * 1024 };

    if (options == NULL) {
        return;
    }
    if (options->gmsa_credential_spec_name != NULL) {
        check_name(to, AT(at, "gmsaCredentialSpecName"), *options->gmsa_credential_spec_name,
                   name_is_dns1123_subdomain);
    }
    if (options->gmsa_credential_spec != NULL) {
        if (options->gmsa_credential_spec->n == 0) {
            check_invalid_str(to, AT(at, "gmsaCredentialSpec"), *options->gmsa_credential_spec,
                              "gmsaCredentialSpec cannot be an empty string");
        } else if (options->gmsa_credential_spec->n > SPEC_MAX) {
            check_invalid_str(to, AT(at, "gmsaCredentialSpec"), *options->gmsa_credential_spec,
                              "gmsaCredentialSpec size must be under 64 KiB");
        }
    }
    if (options->run_as_user_name != NULL && options->run_as_user_name->n == 0) {
        check_invalid_str(to, AT(at, "runAsUserName"), *options->run_as_user_name,
                          "runAsUserName cannot be an empty string");
    }
}

static bool adds_sys_admin(const struct core_v1_capabilities *capabilities)
{
    if (capabilities != NULL) {
        LIST_EACH(capability, &capabilities->add) {
            if (str_is(*capability, "CAP_SYS_ADMIN")) {
                return true;
            }
        }
    }
    return false;
}

void check_container_security(struct status *to, const struct path *at, const struct core_v1_security_context *context,
                              bool host_users)
{
    static const char *const mounts[] = {"Default", "Unmasked", NULL};

    if (context == NULL) {
        return;
    }
    check_id(to, AT(at, "runAsUser"), context->run_as_user);
    check_id(to, AT(at, "runAsGroup"), context->run_as_group);
    if (context->proc_mount != NULL && check_one_of(to, AT(at, "procMount"), *context->proc_mount, mounts) &&
        host_users && str_is(*context->proc_mount, "Unmasked")) {
        check_invalid_str(to, AT(at, "procMount"), *context->proc_mount, "`hostUsers` must be false to use `Unmasked`");
    }
    check_seccomp(to, AT(at, "seccompProfile"), context->seccomp_profile);
    if (context->allow_privilege_escalation != NULL && !*context->allow_privilege_escalation) {
        if (context->privileged != NULL && *context->privileged) {
            check_invalid_struct(to, at, &core_v1_security_context_type, context,
                                 "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
        }
        if (adds_sys_admin(context->capabilities)) {
            check_invalid_struct(to, at, &core_v1_security_context_type, context,
                                 "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN");
        }
    }
    check_windows_options(to, AT(at, "windowsOptions"), context->windows_options);
    check_app_armor(to, AT(at, "appArmorProfile"), context->app_armor_profile);
}

/* In the host's network a container's port is the host's. */
static void check_host_network(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec)
{
    if (!spec->host_network) {
        return;
    }
    LIST_EACH(container, &spec->containers) {
        const struct path *ports = AT(ITEM(at, INDEX_OF(container, &spec->containers)), "ports");

        LIST_EACH(port, &container->ports) {
            if (port->host_port != port->container_port) {
                check_invalid_int(to, AT(ITEM(ports, INDEX_OF(port, &container->ports)), "hostPort"), port->host_port,
                                  "must match `containerPort` when `hostNetwork` is true");
            }
        }
    }
}

/* "kernel.shm_rmid_forced", and with slashes in the place of dots. */
static bool is_sysctl(struct str name)
{
    bool was_separator = true;

    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

        if (c == '.' || c == '/' || c == '-' || c == '_') {
            if (was_separator) {
                return false;
            }
            was_separator = true;
        } else if (is_word) {
            was_separator = false;
        } else {
            return false;
        }
    }
    return name.n != 0 && !was_separator;
}

static void check_sysctls(struct status *to, const struct path *at, const struct core_v1_pod_security_context *context)
{
    enum { SYSCTL_NAME_MAX = 253 };
    OWNED(seen_done) struct seen names = {0};

    LIST_EACH(sysctl, &context->sysctls) {
        const struct path *one = AT(ITEM(at, INDEX_OF(sysctl, &context->sysctls)), "name");

        if (sysctl->name.n == 0) {
            check_required(to, one, "%s", "");
        } else if (sysctl->name.n > SYSCTL_NAME_MAX || !is_sysctl(sysctl->name)) {
            check_invalid_str(to, one, sysctl->name,
                              "must have at most %d characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*"
                              "[a-z0-9]([-_a-z0-9]*[a-z0-9])?$",
                              SYSCTL_NAME_MAX);
        }
        if (seen_before(&names, sysctl->name)) {
            check_duplicate(to, one, sysctl->name);
        }
    }
}

void check_pod_security(struct status *to, const struct path *spec_at, const struct core_v1_pod_spec *spec)
{
    static const char *const change_policies[] = {"OnRootMismatch", "Always", NULL};
    static const char *const group_policies[] = {"Merge", "Strict", NULL};
    static const char *const label_policies[] = {"Recursive", "MountOption", NULL};
    const struct core_v1_pod_security_context *context = spec->security_context;
    const struct path *at = AT(spec_at, "securityContext");

    check_host_network(to, AT(spec_at, "containers"), spec);
    if (spec->share_process_namespace != NULL && *spec->share_process_namespace && spec->host_pid) {
        check_invalid_bool(to, AT(spec_at, "shareProcessNamespace"), true,
                           "ShareProcessNamespace and HostPID cannot both be enabled");
    }
    if (context == NULL) {
        return;
    }
    check_id(to, AT(at, "fsGroup"), context->fs_group);
    check_id(to, AT(at, "runAsUser"), context->run_as_user);
    check_id(to, AT(at, "runAsGroup"), context->run_as_group);
    LIST_EACH(group, &context->supplemental_groups) {
        check_id(to, ITEM(AT(at, "supplementalGroups"), INDEX_OF(group, &context->supplemental_groups)), group);
    }
    check_sysctls(to, AT(at, "sysctls"), context);
    if (context->fs_group_change_policy != NULL) {
        check_one_of(to, AT(at, "fsGroupChangePolicy"), *context->fs_group_change_policy, change_policies);
    }
    check_seccomp(to, AT(at, "seccompProfile"), context->seccomp_profile);
    check_windows_options(to, AT(at, "windowsOptions"), context->windows_options);
    check_app_armor(to, AT(at, "appArmorProfile"), context->app_armor_profile);
    if (context->supplemental_groups_policy != NULL) {
        check_one_of(to, AT(at, "supplementalGroupsPolicy"), *context->supplemental_groups_policy, group_policies);
    }
    if (context->se_linux_change_policy != NULL) {
        check_one_of(to, AT(at, "seLinuxChangePolicy"), *context->se_linux_change_policy, label_policies);
    }
}

static void check_linux(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec)
{
    static const char *const message = "windows options cannot be set for a linux pod";

    if (spec->security_context != NULL && spec->security_context->windows_options != NULL) {
        check_forbidden(to, AT(AT(at, "securityContext"), "windowsOptions"), "%s", message);
    }
    LIST_EACH(container, &spec->containers) {
        if (container->security_context != NULL && container->security_context->windows_options != NULL) {
            const struct path *one = ITEM(AT(at, "containers"), INDEX_OF(container, &spec->containers));

            check_forbidden(to, AT(AT(one, "securityContext"), "windowsOptions"), "%s", message);
        }
    }
}

struct refusal {
    const char *field;
    bool is_set;
};

static void refuse_on_windows(struct status *to, const struct path *at, const struct refusal *refusals, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (refusals[i].is_set) {
            check_forbidden(to, AT(at, refusals[i].field), "cannot be set for a windows pod");
        }
    }
}

static void check_windows_container(struct status *to, const struct path *at,
                                    const struct core_v1_security_context *context)
{
    if (context == NULL) {
        return;
    }
    const struct refusal refusals[] = {
        {"appArmorProfile", context->app_armor_profile != NULL},
        {"seLinuxOptions", context->se_linux_options != NULL},
        {"seccompProfile", context->seccomp_profile != NULL},
        {"capabilities", context->capabilities != NULL},
        {"readOnlyRootFilesystem", context->read_only_root_filesystem != NULL},
        {"privileged", context->privileged != NULL},
        {"allowPrivilegeEscalation", context->allow_privilege_escalation != NULL},
        {"procMount", context->proc_mount != NULL},
        {"runAsUser", context->run_as_user != NULL},
        {"runAsGroup", context->run_as_group != NULL},
    };

    refuse_on_windows(to, at, refusals, COUNT_OF(refusals));
}

static void check_windows(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec)
{
    static const struct core_v1_pod_security_context nothing;
    const struct core_v1_pod_security_context *context = spec->security_context != NULL ? spec->security_context
                                                                                        : &nothing;
    const struct refusal first[] = {
        {"appArmorProfile", context->app_armor_profile != NULL},
        {"seLinuxOptions", context->se_linux_options != NULL},
    };
    const struct refusal of_spec[] = {
        {"hostUsers", spec->host_users != NULL},
        {"hostPID", spec->host_pid},
        {"hostIPC", spec->host_ipc},
    };
    const struct refusal then[] = {
        {"seccompProfile", context->seccomp_profile != NULL},
        {"fsGroup", context->fs_group != NULL},
        {"fsGroupChangePolicy", context->fs_group_change_policy != NULL},
        {"sysctls", context->sysctls.len > 0},
    };
    const struct refusal share[] = {{"shareProcessNamespace", spec->share_process_namespace != NULL}};
    const struct refusal last[] = {
        {"runAsUser", context->run_as_user != NULL},
        {"runAsGroup", context->run_as_group != NULL},
        {"supplementalGroups", context->supplemental_groups.items != NULL},
        {"supplementalGroupsPolicy", context->supplemental_groups_policy != NULL},
    };

    refuse_on_windows(to, AT(at, "securityContext"), first, COUNT_OF(first));
    refuse_on_windows(to, at, of_spec, COUNT_OF(of_spec));
    refuse_on_windows(to, AT(at, "securityContext"), then, COUNT_OF(then));
    refuse_on_windows(to, at, share, COUNT_OF(share));
    refuse_on_windows(to, AT(at, "securityContext"), last, COUNT_OF(last));
    LIST_EACH(container, &spec->containers) {
        const struct path *one = ITEM(AT(at, "containers"), INDEX_OF(container, &spec->containers));

        check_windows_container(to, AT(one, "securityContext"), container->security_context);
    }
}

void check_os(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec)
{
    static const char *const systems[] = {"linux", "windows", NULL};

    if (spec->os == NULL || !check_present(to, AT(AT(at, "os"), "name"), spec->os->name) ||
        !check_one_of(to, AT(at, "os"), spec->os->name, systems)) {
        return;
    }
    if (str_is(spec->os->name, "windows")) {
        check_windows(to, at, spec);
    } else {
        check_linux(to, at, spec);
    }
}

static bool is_host_process(const struct core_v1_windows_security_context_options *options, bool otherwise)
{
    return options != NULL && options->host_process != NULL ? *options->host_process : otherwise;
}

void check_host_processes(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec)
{
    size_t count = 0;
    bool pod = spec->security_context != NULL && is_host_process(spec->security_context->windows_options, false);

    LIST_EACH(container, &spec->containers) {
        count += container->security_context == NULL
                     ? pod
                     : is_host_process(container->security_context->windows_options, pod);
    }
    if (count > 0 && count < spec->containers.len) {
        check_invalid_str(to, at, STR(""),
                          "If pod contains any hostProcess containers then all containers must be HostProcess "
                          "containers");
    }
    if (count > 0 && !spec->host_network) {
        check_invalid_bool(to, AT(at, "hostNetwork"), false,
                           "hostNetwork must be true if pod contains any hostProcess containers");
    }
}
