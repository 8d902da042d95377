/* The baseline level: nothing by which a pod is known to get out of its containers. */
#include "apiserver/admission/pod_security_parts.h"

#include "apiserver/user.h"
#include "schema/map_of.h"

#include <stdlib.h>

static bool is_one_of(struct str text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_is(text, list[i])) {
            return true;
        }
    }
    return false;
}

static bool is_bad_profile(struct str type)
{
    return !str_is(type, "RuntimeDefault") && !str_is(type, "Localhost");
}

static bool is_bad_annotation(struct str value)
{
    return value.n != 0 && !str_is(value, "runtime/default") && !str_has_prefix(value, STR("localhost/"));
}

static void app_armor(const struct pod_security_pod *pod)
{
    static const char prefix[] = "container.apparmor.security.beta.kubernetes.io/";
    struct str_list containers = {0}, values = {0}, annotations = {0};
    const struct core_v1_app_armor_profile *profile = pod->context->app_armor_profile;
    bool is_pod = profile != NULL && is_bad_profile(profile->type);

    if (is_pod) {
        pod_security_add_once(pod->arena, &values, profile->type);
    }
    LIST_EACH(container, &pod->containers) {
        profile = pod_security_context(*container)->app_armor_profile;
        if (profile != NULL && is_bad_profile(profile->type)) {
            *LIST_ADD(pod->arena, &containers) = (*container)->name;
            pod_security_add_once(pod->arena, &values, profile->type);
        }
    }
    LIST_EACH(entry, &pod->meta->annotations) {
        if (str_has_prefix(entry->key, str_of(prefix)) && is_bad_annotation(entry->value)) {
            *LIST_ADD(pod->arena, &annotations) = arena_printf(pod->arena, "annotation %.*s=\"%.*s\"",
                                                               STR_ARG(entry->key), STR_ARG(entry->value));
        }
    }
    if (values.len == 0 && annotations.len == 0) {
        return;
    }
    const char *reason =
        values.len + annotations.len == 1 ? "forbidden AppArmor profile" : "forbidden AppArmor profiles";

    if (values.len == 0) {
        pod_security_violate(pod, reason, "%.*s", STR_ARG(str_list_join(pod->arena, &annotations, ", ")));
        return;
    }
    pod_security_sort(&values);
    pod_security_violate(pod, reason, "%.*s must not set AppArmor profile type to %.*s%s%.*s",
                         STR_ARG(pod_security_setters(pod->arena, is_pod, &containers)),
                         STR_ARG(pod_security_quoted(pod->arena, &values)), annotations.len == 0 ? "" : ", ",
                         STR_ARG(str_list_join(pod->arena, &annotations, ", ")));
}

static void capabilities(const struct pod_security_pod *pod)
{
    static const char *const fine[] = {"AUDIT_WRITE", "CHOWN",  "DAC_OVERRIDE",     "FOWNER",  "FSETID",
                                       "KILL",        "MKNOD",  "NET_BIND_SERVICE", "SETFCAP", "SETGID",
                                       "SETPCAP",     "SETUID", "SYS_CHROOT"};
    struct str_list containers = {0}, bad = {0};

    LIST_EACH(container, &pod->containers) {
        const struct core_v1_capabilities *set = pod_security_context(*container)->capabilities;
        bool is_bad = false;

        for (size_t i = 0; set != NULL && i < set->add.len; i++) {
            if (!is_one_of(set->add.items[i], fine, COUNT_OF(fine))) {
                pod_security_add_once(pod->arena, &bad, set->add.items[i]);
                is_bad = true;
            }
        }
        if (is_bad) {
            *LIST_ADD(pod->arena, &containers) = (*container)->name;
        }
    }
    if (containers.len != 0) {
        pod_security_sort(&bad);
        pod_security_violate(pod, "non-default capabilities",
                             "%.*s must not include %.*s in securityContext.capabilities.add",
                             STR_ARG(pod_security_named(pod->arena, &containers)),
                             STR_ARG(pod_security_quoted(pod->arena, &bad)));
    }
}

static void host_namespaces(const struct pod_security_pod *pod)
{
    struct str_list used = {0};

    if (pod->spec->host_network) {
        *LIST_ADD(pod->arena, &used) = STR("hostNetwork=true");
    }
    if (pod->spec->host_pid) {
        *LIST_ADD(pod->arena, &used) = STR("hostPID=true");
    }
    if (pod->spec->host_ipc) {
        *LIST_ADD(pod->arena, &used) = STR("hostIPC=true");
    }
    if (used.len != 0) {
        pod_security_violate(pod, "host namespaces", "%.*s", STR_ARG(str_list_join(pod->arena, &used, ", ")));
    }
}

static void host_paths(const struct pod_security_pod *pod)
{
    struct str_list volumes = {0};

    LIST_EACH(volume, &pod->spec->volumes) {
        if (volume->volume_source.host_path != NULL) {
            *LIST_ADD(pod->arena, &volumes) = volume->name;
        }
    }
    if (volumes.len != 0) {
        pod_security_violate(pod, "hostPath volumes", "%s %.*s", volumes.len == 1 ? "volume" : "volumes",
                             STR_ARG(pod_security_quoted(pod->arena, &volumes)));
    }
}

static void host_ports(const struct pod_security_pod *pod)
{
    struct str_list containers = {0}, ports = {0};

    LIST_EACH(container, &pod->containers) {
        bool is_bad = false;

        LIST_EACH(port, &(*container)->ports) {
            if (port->host_port != 0) {
                pod_security_add_once(pod->arena, &ports, arena_printf(pod->arena, "%d", (int)port->host_port));
                is_bad = true;
            }
        }
        if (is_bad) {
            *LIST_ADD(pod->arena, &containers) = (*container)->name;
        }
    }
    if (containers.len != 0) {
        const char *word = ports.len == 1 ? "hostPort" : "hostPorts";

        pod_security_sort(&ports);
        pod_security_violate(pod, word, "%.*s %s %s %.*s", STR_ARG(pod_security_named(pod->arena, &containers)),
                             containers.len == 1 ? "uses" : "use", word,
                             STR_ARG(str_list_join(pod->arena, &ports, ", ")));
    }
}

static void privileged(const struct pod_security_pod *pod)
{
    struct str_list containers = {0};

    LIST_EACH(container, &pod->containers) {
        const bool *set = pod_security_context(*container)->privileged;

        if (set != NULL && *set) {
            *LIST_ADD(pod->arena, &containers) = (*container)->name;
        }
    }
    if (containers.len != 0) {
        pod_security_violate(pod, "privileged", "%.*s must not set securityContext.privileged=true",
                             STR_ARG(pod_security_named(pod->arena, &containers)));
    }
}

static void proc_mount(const struct pod_security_pod *pod)
{
    struct str_list containers = {0}, values = {0};

    LIST_EACH(container, &pod->containers) {
        const struct str *set = pod_security_context(*container)->proc_mount;

        if (set != NULL && !str_is(*set, "Default")) {
            *LIST_ADD(pod->arena, &containers) = (*container)->name;
            pod_security_add_once(pod->arena, &values, *set);
        }
    }
    if (containers.len != 0) {
        pod_security_sort(&values);
        pod_security_violate(pod, "procMount", "%.*s must not set securityContext.procMount to %.*s",
                             STR_ARG(pod_security_named(pod->arena, &containers)),
                             STR_ARG(pod_security_quoted(pod->arena, &values)));
    }
}

/* What is wrong with options of SELinux, over all who set some. */
struct se_linux {
    struct str_list types;
    bool has_user, has_role;
};

static bool look_at_se_linux(struct arena *arena, const struct core_v1_se_linux_options *options,
                             struct se_linux *found)
{
    static const char *const fine[] = {"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"};

    if (options == NULL) {
        return false;
    }
    bool is_bad = options->user.n != 0 || options->role.n != 0;

    if (!is_one_of(options->type, fine, COUNT_OF(fine))) {
        pod_security_add_once(arena, &found->types, options->type);
        is_bad = true;
    }
    found->has_user = found->has_user || options->user.n != 0;
    found->has_role = found->has_role || options->role.n != 0;
    return is_bad;
}

static void se_linux(const struct pod_security_pod *pod)
{
    struct se_linux found = {0};
    struct str_list containers = {0}, wrong = {0};
    bool is_pod = look_at_se_linux(pod->arena, pod->context->se_linux_options, &found);

    LIST_EACH(container, &pod->containers) {
        if (look_at_se_linux(pod->arena, pod_security_context(*container)->se_linux_options, &found)) {
            *LIST_ADD(pod->arena, &containers) = (*container)->name;
        }
    }
    if (!is_pod && containers.len == 0) {
        return;
    }
    if (found.types.len != 0) {
        pod_security_sort(&found.types);
        *LIST_ADD(pod->arena, &wrong) = arena_printf(pod->arena, "%s %.*s", found.types.len == 1 ? "type" : "types",
                                                     STR_ARG(pod_security_quoted(pod->arena, &found.types)));
    }
    if (found.has_user) {
        *LIST_ADD(pod->arena, &wrong) = STR("user may not be set");
    }
    if (found.has_role) {
        *LIST_ADD(pod->arena, &wrong) = STR("role may not be set");
    }
    pod_security_violate(pod, "seLinuxOptions", "%.*s set forbidden securityContext.seLinuxOptions: %.*s",
                         STR_ARG(pod_security_setters(pod->arena, is_pod, &containers)),
                         STR_ARG(str_list_join(pod->arena, &wrong, "; ")));
}

static void seccomp(const struct pod_security_pod *pod)
{
    struct str_list containers = {0}, values = {0};
    const struct core_v1_seccomp_profile *profile = pod->context->seccomp_profile;
    bool is_pod = profile != NULL && is_bad_profile(profile->type);

    if (is_pod) {
        pod_security_add_once(pod->arena, &values, profile->type);
    }
    LIST_EACH(container, &pod->containers) {
        profile = pod_security_context(*container)->seccomp_profile;
        if (profile != NULL && is_bad_profile(profile->type)) {
            *LIST_ADD(pod->arena, &containers) = (*container)->name;
            pod_security_add_once(pod->arena, &values, profile->type);
        }
    }
    if (values.len != 0) {
        pod_security_sort(&values);
        pod_security_violate(pod, "seccompProfile", "%.*s must not set securityContext.seccompProfile.type to %.*s",
                             STR_ARG(pod_security_setters(pod->arena, is_pod, &containers)),
                             STR_ARG(pod_security_quoted(pod->arena, &values)));
    }
}

static void sysctls(const struct pod_security_pod *pod)
{
    static const struct {
        const char *name;
        int since;
    } fine[] = {{"kernel.shm_rmid_forced", 0},
                {"net.ipv4.ip_local_port_range", 0},
                {"net.ipv4.tcp_syncookies", 0},
                {"net.ipv4.ping_group_range", 0},
                {"net.ipv4.ip_unprivileged_port_start", 0},
                {"net.ipv4.ip_local_reserved_ports", 27},
                {"net.ipv4.tcp_keepalive_time", 29},
                {"net.ipv4.tcp_fin_timeout", 29},
                {"net.ipv4.tcp_keepalive_intvl", 29},
                {"net.ipv4.tcp_keepalive_probes", 29},
                {"net.ipv4.tcp_rmem", 32},
                {"net.ipv4.tcp_wmem", 32}};
    struct str_list bad = {0};

    LIST_EACH(sysctl, &pod->context->sysctls) {
        bool is_fine = false;

        for (size_t i = 0; i < COUNT_OF(fine); i++) {
            is_fine = is_fine || (str_is(sysctl->name, fine[i].name) && pod->minor >= fine[i].since);
        }
        if (!is_fine) {
            *LIST_ADD(pod->arena, &bad) = sysctl->name;
        }
    }
    if (bad.len != 0) {
        pod_security_violate(pod, "forbidden sysctls", "%.*s", STR_ARG(str_list_join(pod->arena, &bad, ", ")));
    }
}

static bool is_host_process(const struct core_v1_windows_security_context_options *options)
{
    return options != NULL && options->host_process != NULL && *options->host_process;
}

static void host_process(const struct pod_security_pod *pod)
{
    struct str_list containers = {0};
    bool is_pod = is_host_process(pod->context->windows_options);

    LIST_EACH(container, &pod->containers) {
        if (is_host_process(pod_security_context(*container)->windows_options)) {
            *LIST_ADD(pod->arena, &containers) = (*container)->name;
        }
    }
    if (is_pod || containers.len != 0) {
        pod_security_violate(pod, "hostProcess", "%.*s must not set securityContext.windowsOptions.hostProcess=true",
                             STR_ARG(pod_security_setters(pod->arena, is_pod, &containers)));
    }
}

const struct pod_security_row pod_security_baseline[] = {
    {app_armor, 0, false},  {capabilities, 0, true}, {host_namespaces, 0, false}, {host_paths, 0, false},
    {host_ports, 0, false}, {privileged, 0, false},  {proc_mount, 0, false},      {se_linux, 0, false},
    {seccomp, 19, true},    {sysctls, 0, false},     {host_process, 0, false},    {NULL, 0, false},
};
