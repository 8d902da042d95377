#include "runtime/container_plan.h"

#include "runtime/capability.h"
#include "runtime/cgroup_devices.h"
#include "runtime/container_mounts.h"
#include "runtime/sandbox_plan.h"

#include <string.h>
#include <sys/stat.h>

#define DEFAULT_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static const struct shim_device usual_devices[] = {
    {.path = STR_INIT("/dev/null"), .mode = S_IFCHR | 0666, .major = 1, .minor = 3},
    {.path = STR_INIT("/dev/zero"), .mode = S_IFCHR | 0666, .major = 1, .minor = 5},
    {.path = STR_INIT("/dev/full"), .mode = S_IFCHR | 0666, .major = 1, .minor = 7},
    {.path = STR_INIT("/dev/random"), .mode = S_IFCHR | 0666, .major = 1, .minor = 8},
    {.path = STR_INIT("/dev/urandom"), .mode = S_IFCHR | 0666, .major = 1, .minor = 9},
    {.path = STR_INIT("/dev/tty"), .mode = S_IFCHR | 0666, .major = 5, .minor = 0},
};

static const struct cri_v1_linux_container_security_context *security_of(const struct cri_v1_container_config *config)
{
    static const struct cri_v1_linux_container_security_context none;

    return config->linux_ != NULL && config->linux_->security_context != NULL ? config->linux_->security_context : &none;
}

bool container_plan_is_privileged(const struct cri_v1_container_config *config)
{
    return security_of(config)->privileged;
}

struct status *container_plan_capabilities(const struct cri_v1_container_config *config, uint64_t *ret)
{
    const struct cri_v1_linux_container_security_context *security = security_of(config);

    *ret = security->privileged ? CAPABILITIES_ALL : capabilities_default();
    if (security->privileged || security->capabilities == NULL) {
        return NULL;
    }
    return capabilities_apply(*ret, &security->capabilities->add_capabilities,
                              &security->capabilities->drop_capabilities, ret);
}

static struct str name_of(struct str assignment)
{
    struct str name, value;

    str_cut(assignment, '=', &name, &value);
    return name;
}

/* "NAME=value" in place of one of that name, else at the end. */
static void set_env(struct arena *arena, struct str_list *env, struct str assignment)
{
    LIST_EACH(have, env) {
        if (str_eq(name_of(*have), name_of(assignment))) {
            *have = assignment;
            return;
        }
    }
    *LIST_ADD(arena, env) = assignment;
}

static void plan_env(struct arena *arena, const struct cri_v1_container_config *config,
                     const struct container_facts *facts, struct shim_process_plan *process)
{
    set_env(arena, &process->env, STR(DEFAULT_PATH));
    set_env(arena, &process->env, arena_printf(arena, "HOSTNAME=%.*s", STR_ARG(facts->hostname)));
    if (config->tty) {
        set_env(arena, &process->env, STR("TERM=xterm"));
    }
    LIST_EACH(assignment, &facts->image->env) {
        set_env(arena, &process->env, *assignment);
    }
    LIST_EACH(variable, &config->envs) {
        set_env(arena, &process->env,
                arena_printf(arena, "%.*s=%.*s", STR_ARG(variable->key), STR_ARG(variable->value)));
    }
}

static void add_all(struct arena *arena, struct str_list *into, const struct str_list *from)
{
    LIST_EACH(item, from) {
        *LIST_ADD(arena, into) = *item;
    }
}

/* The pod's command takes the place of the image's entrypoint, and then its args that of the image's cmd. */
static struct status *plan_args(struct arena *arena, const struct cri_v1_container_config *config,
                                const struct image_config *image, struct str_list *ret)
{
    bool has_command = config->command.len > 0;

    add_all(arena, ret, has_command ? &config->command : &image->entrypoint);
    add_all(arena, ret, has_command || config->args.len > 0 ? &config->args : &image->cmd);
    return ret->len == 0 || (ret->len == 1 && ret->items[0].n == 0) ? status_new(STATUS_INVALID, "no command specified")
                                                                     : NULL;
}

static struct status *plan_user(struct arena *arena, const struct cri_v1_container_config *config,
                                const struct image_config *image, struct shim_process_plan *process)
{
    const struct cri_v1_linux_container_security_context *security = security_of(config);

    process->user = security->run_as_username.n > 0 ? security->run_as_username : image->user;
    if (security->run_as_user != NULL) {
        process->has_uid = true;
        process->uid = (uint32_t)security->run_as_user->value;
    }
    if (security->run_as_group != NULL) {
        if (security->run_as_user == NULL && security->run_as_username.n == 0) {
            return status_new(STATUS_INVALID, "user group is specified without user");
        }
        process->has_gid = true;
        process->gid = (uint32_t)security->run_as_group->value;
    }
    LIST_EACH(group, &security->supplemental_groups) {
        *LIST_ADD(arena, &process->groups) = (uint32_t)*group;
    }
    process->is_strict_groups = security->supplemental_groups_policy == CRI_V1_SUPPLEMENTAL_GROUPS_POLICY_STRICT;
    return NULL;
}

static struct status *plan_apparmor(const struct cri_v1_container_config *config, const struct container_facts *facts,
                                    struct shim_process_plan *process)
{
    const struct cri_v1_linux_container_security_context *security = security_of(config);
    bool is_local = security->apparmor != NULL &&
                    security->apparmor->profile_type == CRI_V1_SECURITY_PROFILE_PROFILE_TYPE_LOCALHOST;

    if (!is_local || security->privileged) {
        return NULL;
    }
    if (!facts->has_apparmor) {
        return status_new(STATUS_INVALID, "apparmor is not supported on this machine (profile %.*s is asked for)",
                          STR_ARG(security->apparmor->localhost_ref));
    }
    process->apparmor = str_has_prefix(security->apparmor->localhost_ref, STR("localhost/"))
                            ? str_from(security->apparmor->localhost_ref, strlen("localhost/"))
                            : security->apparmor->localhost_ref;
    return NULL;
}

static struct status *plan_process(struct arena *arena, const struct cri_v1_container_config *config,
                                   const struct container_facts *facts, struct shim_process_plan *process)
{
    const struct cri_v1_linux_container_security_context *security = security_of(config);
    uint64_t capabilities;

    TRY(plan_args(arena, config, facts->image, &process->args));
    plan_env(arena, config, facts, process);
    process->cwd = config->working_dir.n > 0          ? config->working_dir
                   : facts->image->working_dir.n > 0 ? facts->image->working_dir
                                                     : STR("/");
    if (process->cwd.p[0] != '/') {
        process->cwd = arena_printf(arena, "/%.*s", STR_ARG(process->cwd));
    }
    TRY(plan_user(arena, config, facts->image, process));
    TRY(plan_apparmor(config, facts, process));
    TRY(container_plan_capabilities(config, &capabilities));
    process->caps_bounding = process->caps_effective = process->caps_permitted = capabilities;
    if (security->capabilities != NULL && security->capabilities->add_ambient_capabilities.len > 0) {
        static const struct str_list none;
        uint64_t ambient;

        TRY(capabilities_apply(0, &security->capabilities->add_ambient_capabilities, &none, &ambient));
        process->caps_ambient = ambient & capabilities;
        process->caps_inheritable = process->caps_ambient;
    }
    process->is_no_new_privileges = security->no_new_privs && !security->privileged;
    process->seccomp = facts->seccomp;
    process->seccomp_flags = facts->seccomp_flags;
    process->oom_score_adj = config->linux_ != NULL && config->linux_->resources != NULL
                                 ? (int32_t)config->linux_->resources->oom_score_adj
                                 : 0;
    process->is_tty = config->tty;
    return NULL;
}

static void plan_devices(struct arena *arena, const struct container_facts *facts, struct shim_container_plan *plan)
{
    for (size_t i = 0; i < COUNT_OF(usual_devices); i++) {
        *LIST_ADD(arena, &plan->devices) = usual_devices[i];
    }
    LIST_EACH(device, &facts->devices) {
        bool is_usual = false;

        for (size_t i = 0; i < COUNT_OF(usual_devices); i++) {
            is_usual |= str_eq(usual_devices[i].path, device->path);
        }
        if (!is_usual) {
            *LIST_ADD(arena, &plan->devices) = *device;
        }
    }
}

static struct status *plan_namespaces(const struct cri_v1_container_config *config,
                                      const struct container_facts *facts, struct shim_container_plan *plan)
{
    const struct cri_v1_namespace_option *options = security_of(config)->namespace_options;
    struct sandbox_sharing sharing = sandbox_sharing_of(facts->sandbox);

    plan->shares_network = plan->shares_uts = !sharing.has_host_network;
    plan->shares_ipc = !sharing.has_host_ipc;
    switch (options != NULL ? options->pid : CRI_V1_NAMESPACE_MODE_POD) {
    case CRI_V1_NAMESPACE_MODE_CONTAINER:
        plan->pid_namespace = PLAN_PID_OWN;
        break;
    case CRI_V1_NAMESPACE_MODE_NODE:
        plan->pid_namespace = PLAN_PID_HOST;
        break;
    case CRI_V1_NAMESPACE_MODE_TARGET:
        plan->pid_namespace = PLAN_PID_TARGET;
        plan->pid_target = options->target_id;
        break;
    default:
        if (!sharing.is_pid_shared) {
            return status_new(STATUS_INVALID, "the pod does not share its process namespace");
        }
        plan->pid_namespace = PLAN_PID_SANDBOX;
    }
    return NULL;
}

static void plan_root(struct arena *arena, const struct container_facts *facts, struct shim_container_plan *plan)
{
    const struct snapshot_mount *snapshot = facts->snapshot;

    if (snapshot->layer_count == 0) {
        plan->rootfs = snapshot->upper;
        return;
    }
    plan->rootfs = arena_printf(arena, "%.*s/root", STR_ARG(facts->directory));
    plan->layers = (struct str_list){snapshot->layers, snapshot->layer_count};
    plan->layers_directory = snapshot->directory;
    plan->upper = snapshot->upper;
    plan->work = snapshot->work;
}

struct status *container_plan_make(struct arena *arena, const struct cri_v1_container_config *config,
                                   const struct container_facts *facts, struct shim_container_plan *ret)
{
    const struct cri_v1_linux_container_security_context *security = security_of(config);
    struct shim_container_plan plan = {
        .is_root_read_only = security->readonly_rootfs,
        .is_cgroup_private = !security->privileged,
        .has_stdin = config->stdin,
        .is_stdin_once = config->stdin_once,
        .exit_path = arena_printf(arena, "%.*s/exit", STR_ARG(facts->directory)),
    };

    TRY(plan_process(arena, config, facts, &plan.process));
    TRY(plan_namespaces(config, facts, &plan));
    TRY(container_mounts_plan(arena, config, facts, &plan));
    plan_root(arena, facts, &plan);
    plan_devices(arena, facts, &plan);
    if (!security->privileged) {
        plan.masked_paths = security->masked_paths;
        plan.read_only_paths = security->readonly_paths;
    }
    if (config->log_path.n > 0 && facts->sandbox->log_directory.n > 0) {
        plan.log_path = arena_printf(arena, "%.*s/%.*s", STR_ARG(facts->sandbox->log_directory),
                                     STR_ARG(config->log_path));
    }
    plan.cgroup_path = sandbox_cgroup_path(arena, facts->sandbox, facts->id);
    cgroup_place(arena, facts->machine, plan.cgroup_path, &plan.cgroups);
    if (facts->oci_runtime.n > 0) {
        plan.oci_runtime = facts->oci_runtime;
        plan.oci_root = arena_printf(arena, "%.*s/oci", STR_ARG(facts->directory));
        plan.bundle = facts->directory;
        plan.seccomp_json = facts->seccomp_json;
    }
    *ret = plan;
    return NULL;
}

void container_plan_exec(struct arena *arena, const struct shim_container_plan *container,
                         const struct str_list *command, bool is_tty, struct shim_exec_plan *ret)
{
    *ret = (struct shim_exec_plan){.process = container->process, .cgroups = container->cgroups};
    ret->process.args = *command;
    ret->process.is_tty = is_tty;
    ret->process.rlimits.len = 0;
    if (is_tty) {
        struct str_list env = {0};

        add_all(arena, &env, &container->process.env);
        set_env(arena, &env, STR("TERM=xterm"));
        ret->process.env = env;
    }
}

void container_plan_settings(struct arena *arena, const struct cri_v1_container_config *config,
                             const struct shim_container_plan *plan, bool is_v2, struct cgroup_settings *ret)
{
    cgroup_settings_plan(arena, is_v2, config->linux_ != NULL ? config->linux_->resources : NULL, ret);
    if (!is_v2 && !container_plan_is_privileged(config)) {
        struct device_rules rules;

        cgroup_devices_plan(arena, plan, &rules);
        cgroup_devices_settings(arena, &rules, ret);
    }
}
