#include "kubelet/security_config.h"

#include "schema/map_of.h"

#include <string.h>

static int32_t namespace_mode(bool is_host)
{
    return is_host ? CRI_V1_NAMESPACE_MODE_NODE : CRI_V1_NAMESPACE_MODE_POD;
}

static struct cri_v1_namespace_option *namespaces(struct arena *arena, const struct core_v1_pod *pod,
                                                  struct str target_id)
{
    struct cri_v1_namespace_option *options = ARENA_NEW(arena, struct cri_v1_namespace_option);
    bool shares_pid = pod->spec.share_process_namespace != NULL && *pod->spec.share_process_namespace;

    options->network = namespace_mode(pod->spec.host_network);
    options->ipc = namespace_mode(pod->spec.host_ipc);
    options->pid = pod->spec.host_pid ? CRI_V1_NAMESPACE_MODE_NODE
                   : shares_pid       ? CRI_V1_NAMESPACE_MODE_POD
                                      : CRI_V1_NAMESPACE_MODE_CONTAINER;
    if (target_id.n > 0 && options->pid == CRI_V1_NAMESPACE_MODE_CONTAINER) {
        options->pid = CRI_V1_NAMESPACE_MODE_TARGET;
        options->target_id = target_id;
    }
    return options;
}

static struct cri_v1_int64_value *number(struct arena *arena, const int64_t *value)
{
    if (value == NULL) {
        return NULL;
    }
    struct cri_v1_int64_value *copy = ARENA_NEW(arena, struct cri_v1_int64_value);

    copy->value = *value;
    return copy;
}

static struct cri_v1_se_linux_option *selinux(struct arena *arena, const struct core_v1_se_linux_options *options)
{
    if (options == NULL) {
        return NULL;
    }
    struct cri_v1_se_linux_option *copy = ARENA_NEW(arena, struct cri_v1_se_linux_option);

    *copy = (struct cri_v1_se_linux_option){
        .user = options->user, .role = options->role, .type = options->type, .level = options->level};
    return copy;
}

static int32_t profile_of(struct str type)
{
    return str_is(type, "RuntimeDefault") ? CRI_V1_SECURITY_PROFILE_PROFILE_TYPE_RUNTIME_DEFAULT
           : str_is(type, "Localhost")    ? CRI_V1_SECURITY_PROFILE_PROFILE_TYPE_LOCALHOST
                                          : CRI_V1_SECURITY_PROFILE_PROFILE_TYPE_UNCONFINED;
}

/* Unconfined when nothing is said, as in stock without --seccomp-default. */
static struct cri_v1_security_profile *seccomp(struct arena *arena, const struct core_v1_seccomp_profile *profile,
                                               struct str root)
{
    struct cri_v1_security_profile *made = ARENA_NEW(arena, struct cri_v1_security_profile);

    made->profile_type = CRI_V1_SECURITY_PROFILE_PROFILE_TYPE_UNCONFINED;
    if (profile != NULL) {
        made->profile_type = profile_of(profile->type);
        if (str_is(profile->type, "Localhost") && profile->localhost_profile != NULL) {
            made->localhost_ref = arena_printf(arena, "%.*s/%.*s", STR_ARG(root), STR_ARG(*profile->localhost_profile));
        }
    }
    return made;
}

static struct cri_v1_security_profile *apparmor(struct arena *arena, const struct core_v1_app_armor_profile *profile)
{
    if (profile == NULL) {
        return NULL;
    }
    struct cri_v1_security_profile *made = ARENA_NEW(arena, struct cri_v1_security_profile);

    made->profile_type = profile_of(profile->type);
    if (profile->localhost_profile != NULL) {
        made->localhost_ref = *profile->localhost_profile;
    }
    return made;
}

static bool is_true(const bool *value)
{
    return value != NULL && *value;
}

/* The supplemental groups of the pod and its fsGroup. */
#define ADD_GROUPS(arena, context, to)                         \
    do {                                                       \
        LIST_EACH (group_, &(context)->supplemental_groups) {  \
            *LIST_ADD(arena, &(to)->supplemental_groups) = *group_; \
        }                                                      \
        if ((context)->fs_group != NULL) {                     \
            *LIST_ADD(arena, &(to)->supplemental_groups) = *(context)->fs_group; \
        }                                                      \
        (to)->supplemental_groups_policy =                     \
            (context)->supplemental_groups_policy != NULL &&   \
                    str_is(*(context)->supplemental_groups_policy, "Strict") \
                ? CRI_V1_SUPPLEMENTAL_GROUPS_POLICY_STRICT     \
                : CRI_V1_SUPPLEMENTAL_GROUPS_POLICY_MERGE;     \
    } while (0)

struct status *sandbox_security_make(struct arena *arena, const struct sandbox_facts *facts,
                                     struct cri_v1_pod_sandbox_config *config)
{
    const struct core_v1_pod *pod = facts->pod;
    const struct core_v1_pod_security_context *context = pod->spec.security_context;
    struct cri_v1_linux_sandbox_security_context *security =
        ARENA_NEW(arena, struct cri_v1_linux_sandbox_security_context);

    config->linux_ = ARENA_NEW(arena, struct cri_v1_linux_pod_sandbox_config);
    config->linux_->cgroup_parent = facts->cgroup_parent;
    config->linux_->security_context = security;
    security->namespace_options = namespaces(arena, pod, STR(""));
    LIST_EACH (container, &pod->spec.containers) {
        security->privileged = security->privileged || (container->security_context != NULL &&
                                                        is_true(container->security_context->privileged));
    }
    LIST_EACH (container, &pod->spec.init_containers) {
        security->privileged = security->privileged || (container->security_context != NULL &&
                                                        is_true(container->security_context->privileged));
    }
    security->seccomp = ARENA_NEW(arena, struct cri_v1_security_profile);
    security->seccomp->profile_type = CRI_V1_SECURITY_PROFILE_PROFILE_TYPE_RUNTIME_DEFAULT;
    if (context != NULL) {
        security->run_as_user = number(arena, context->run_as_user);
        security->run_as_group = number(arena, context->run_as_group);
        security->selinux_options = selinux(arena, context->se_linux_options);
        ADD_GROUPS(arena, context, security);
        LIST_EACH (sysctl, &context->sysctls) {
            str_map_set(arena, &config->linux_->sysctls, sysctl->name, sysctl->value);
        }
        if (context->seccomp_profile != NULL) {
            security->seccomp = seccomp(arena, context->seccomp_profile, facts->seccomp_root);
        }
    }
    return NULL;
}

static const char *const masked[] = {"/proc/asound", "/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
                                     "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi",
                                     "/sys/firmware", "/sys/devices/virtual/powercap"};
static const char *const read_only[] = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"};

static void set_paths(struct arena *arena, const struct core_v1_security_context *own,
                      struct cri_v1_linux_container_security_context *to)
{
    if (own != NULL && own->proc_mount != NULL && str_is(*own->proc_mount, "Unmasked")) {
        return;
    }
    for (size_t i = 0; i < COUNT_OF(masked); i++) {
        *LIST_ADD(arena, &to->masked_paths) = str_of(masked[i]);
    }
    for (size_t i = 0; i < COUNT_OF(read_only); i++) {
        *LIST_ADD(arena, &to->readonly_paths) = str_of(read_only[i]);
    }
}

static void set_own(struct arena *arena, const struct core_v1_security_context *own,
                    struct cri_v1_linux_container_security_context *to)
{
    to->privileged = is_true(own->privileged);
    to->readonly_rootfs = is_true(own->read_only_root_filesystem);
    to->no_new_privs = own->allow_privilege_escalation != NULL && !*own->allow_privilege_escalation && !to->privileged;
    if (own->capabilities != NULL) {
        to->capabilities = ARENA_NEW(arena, struct cri_v1_capability);
        LIST_EACH (name, &own->capabilities->add) {
            *LIST_ADD(arena, &to->capabilities->add_capabilities) = *name;
        }
        LIST_EACH (name, &own->capabilities->drop) {
            *LIST_ADD(arena, &to->capabilities->drop_capabilities) = *name;
        }
    }
    if (own->se_linux_options != NULL) {
        to->selinux_options = selinux(arena, own->se_linux_options);
    }
}

/* The container's own setting goes before the pod's. */
#define EITHER(own, pod, field) \
    ((own) != NULL && (own)->field != NULL ? (own)->field : (pod) != NULL ? (pod)->field : NULL)

static struct status *check_non_root(struct arena *arena, const struct container_facts *facts, const bool *non_root,
                                     const int64_t *user)
{
    struct str pod = pod_format(arena, facts->pod), container = facts->container->name;

    if (!is_true(non_root)) {
        return NULL;
    }
    if (user != NULL) {
        return *user != 0 ? NULL
                          : status_new(STATUS_INVALID,
                                       "container's runAsUser breaks non-root policy (pod: \"%.*s\", container: %.*s)",
                                       STR_ARG(pod), STR_ARG(container));
    }
    if (facts->image_user.n > 0) {
        return status_new(STATUS_INVALID,
                          "container has runAsNonRoot and image has non-numeric user (%.*s), cannot verify user is "
                          "non-root (pod: \"%.*s\", container: %.*s)",
                          STR_ARG(facts->image_user), STR_ARG(pod), STR_ARG(container));
    }
    if (!facts->has_image_uid || facts->image_uid == 0) {
        return status_new(STATUS_INVALID,
                          "container has runAsNonRoot and image will run as root (pod: \"%.*s\", container: %.*s)",
                          STR_ARG(pod), STR_ARG(container));
    }
    return NULL;
}

struct status *container_security_make(struct arena *arena, const struct container_facts *facts,
                                       struct cri_v1_linux_container_security_context **ret)
{
    const struct core_v1_pod_security_context *of_pod = facts->pod->spec.security_context;
    const struct core_v1_security_context *own = facts->container->security_context;
    struct cri_v1_linux_container_security_context *to =
        ARENA_NEW(arena, struct cri_v1_linux_container_security_context);
    const int64_t *user = EITHER(own, of_pod, run_as_user);

    TRY(check_non_root(arena, facts, EITHER(own, of_pod, run_as_non_root), user));
    to->namespace_options = namespaces(arena, facts->pod, facts->target_id);
    to->seccomp = seccomp(arena, EITHER(own, of_pod, seccomp_profile), facts->seccomp_root);
    to->apparmor = apparmor(arena, EITHER(own, of_pod, app_armor_profile));
    to->run_as_user = number(arena, user);
    to->run_as_group = number(arena, EITHER(own, of_pod, run_as_group));
    if (user == NULL) {
        /* As the image says; the runtime cannot know what the kubelet has checked. */
        if (facts->has_image_uid) {
            to->run_as_user = number(arena, &facts->image_uid);
        }
        to->run_as_username = facts->image_user;
    }
    if (of_pod != NULL) {
        to->selinux_options = selinux(arena, of_pod->se_linux_options);
        ADD_GROUPS(arena, of_pod, to);
    }
    if (own != NULL) {
        set_own(arena, own, to);
    }
    set_paths(arena, own, to);
    *ret = to;
    return NULL;
}
