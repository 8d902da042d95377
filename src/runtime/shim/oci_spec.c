#include "runtime/shim/oci.h"

#include "runtime/capability.h"
#include "schema/value.h"

#include <sys/mount.h>
#include <sys/stat.h>

static void set_text(struct arena *arena, struct value *object, const char *key, struct str text)
{
    value_set(arena, object, str_of(key), value_string(arena, text));
}

static void set_int(struct arena *arena, struct value *object, const char *key, int64_t number)
{
    value_set(arena, object, str_of(key), value_int(arena, number));
}

static void set_bool(struct arena *arena, struct value *object, const char *key, bool boolean)
{
    value_set(arena, object, str_of(key), value_bool(arena, boolean));
}

static struct value *texts(struct arena *arena, const struct str_list *list)
{
    struct value *array = value_array(arena);

    LIST_EACH(text, list) {
        value_add(arena, array, value_string(arena, *text));
    }
    return array;
}

static struct value *capabilities(struct arena *arena, uint64_t bits)
{
    struct value *array = value_array(arena);
    const char *name;

    for (unsigned i = 0; (name = capability_name(i)) != NULL; i++) {
        if (bits >> i & 1) {
            value_add(arena, array, value_string(arena, str_of(name)));
        }
    }
    return array;
}

static struct value *process_value(struct arena *arena, const struct shim_process_plan *plan,
                                   const struct user_identity *who, int oom_score_adj)
{
    struct value *process = value_object(arena), *user = value_object(arena), *groups = value_array(arena);
    struct value *sets = value_object(arena);
    struct str_list env = {0};
    bool has_home = false;

    LIST_EACH(assignment, &plan->env) {
        *LIST_ADD(arena, &env) = *assignment;
        has_home |= str_has_prefix(*assignment, STR("HOME="));
    }
    if (!has_home) {
        *LIST_ADD(arena, &env) = arena_printf(arena, "HOME=%.*s", STR_ARG(who->home));
    }
    set_int(arena, user, "uid", who->uid);
    set_int(arena, user, "gid", who->gid);
    for (size_t i = 0; i < who->group_count; i++) {
        value_add(arena, groups, value_int(arena, who->groups[i]));
    }
    value_set(arena, user, STR("additionalGids"), groups);
    value_set(arena, process, STR("user"), user);
    value_set(arena, process, STR("args"), texts(arena, &plan->args));
    value_set(arena, process, STR("env"), texts(arena, &env));
    set_text(arena, process, "cwd", plan->cwd);
    value_set(arena, sets, STR("bounding"), capabilities(arena, plan->caps_bounding));
    value_set(arena, sets, STR("effective"), capabilities(arena, plan->caps_effective));
    value_set(arena, sets, STR("permitted"), capabilities(arena, plan->caps_permitted));
    value_set(arena, sets, STR("inheritable"), capabilities(arena, plan->caps_inheritable));
    value_set(arena, sets, STR("ambient"), capabilities(arena, plan->caps_ambient));
    value_set(arena, process, STR("capabilities"), sets);
    set_bool(arena, process, "noNewPrivileges", plan->is_no_new_privileges);
    set_int(arena, process, "oomScoreAdj", oom_score_adj);
    set_bool(arena, process, "terminal", plan->is_tty);
    if (plan->rows > 0) {
        struct value *size = value_object(arena);

        set_int(arena, size, "height", plan->rows);
        set_int(arena, size, "width", plan->columns);
        value_set(arena, process, STR("consoleSize"), size);
    }
    if (plan->apparmor.n > 0) {
        set_text(arena, process, "apparmorProfile", plan->apparmor);
    }
    return process;
}

static void add_options(struct arena *arena, struct value *options, const struct shim_mount *mount)
{
    static const struct { uint64_t flag; const char *name; } flags[] = {
        {MS_RDONLY, "ro"}, {MS_NOSUID, "nosuid"}, {MS_NODEV, "nodev"}, {MS_NOEXEC, "noexec"},
        {MS_STRICTATIME, "strictatime"},
    };
    static const char *const propagations[] = {"rprivate", "rslave", "rshared"};

    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        if (mount->flags & flags[i].flag) {
            value_add(arena, options, value_string(arena, str_of(flags[i].name)));
        }
    }
    for (struct str rest = mount->options, option; str_next(&rest, ',', &option);) {
        value_add(arena, options, value_string(arena, option));
    }
    if (mount->kind == PLAN_MOUNT_BIND) {
        value_add(arena, options, value_string(arena, STR("rbind")));
        value_add(arena, options, value_string(arena, str_of(propagations[MIN(mount->propagation, 2u)])));
        if (mount->is_recursive_read_only) {
            value_add(arena, options, value_string(arena, STR("rro")));
        }
    }
}

static struct value *mount_value(struct arena *arena, const struct shim_mount *mount, struct str bundle)
{
    struct value *value = value_object(arena), *options = value_array(arena);

    set_text(arena, value, "destination", mount->target);
    switch ((enum plan_mount_kind)mount->kind) {
    case PLAN_MOUNT_FS:
        set_text(arena, value, "type", mount->source);
        set_text(arena, value, "source", mount->source);
        break;
    case PLAN_MOUNT_BIND:
        set_text(arena, value, "type", STR("bind"));
        set_text(arena, value, "source", mount->source);
        break;
    case PLAN_MOUNT_SHM:
        set_text(arena, value, "type", STR("bind"));
        set_text(arena, value, "source", arena_printf(arena, "%.*s/shm", STR_ARG(bundle)));
        value_add(arena, options, value_string(arena, STR("rbind")));
        break;
    case PLAN_MOUNT_CGROUP:
        set_text(arena, value, "type", STR("cgroup"));
        set_text(arena, value, "source", STR("cgroup"));
        break;
    }
    add_options(arena, options, mount);
    value_set(arena, value, STR("options"), options);
    return value;
}

static void add_namespace(struct arena *arena, struct value *namespaces, const char *type, const char *file, int pid)
{
    struct value *namespace = value_object(arena);

    set_text(arena, namespace, "type", str_of(type));
    if (pid > 0) {
        set_text(arena, namespace, "path", arena_printf(arena, "/proc/%d/ns/%s", pid, file));
    }
    value_add(arena, namespaces, namespace);
}

static struct value *namespaces_value(struct arena *arena, const struct shim_container_plan *plan,
                                      const struct oci_facts *facts)
{
    struct value *namespaces = value_array(arena);

    add_namespace(arena, namespaces, "mount", "mnt", 0);
    if (plan->shares_network) {
        add_namespace(arena, namespaces, "network", "net", facts->pause);
    }
    if (plan->shares_ipc) {
        add_namespace(arena, namespaces, "ipc", "ipc", facts->pause);
    }
    if (plan->shares_uts) {
        add_namespace(arena, namespaces, "uts", "uts", facts->pause);
    }
    if (plan->pid_namespace == PLAN_PID_OWN) {
        add_namespace(arena, namespaces, "pid", "pid", 0);
    } else if (plan->pid_namespace == PLAN_PID_SANDBOX) {
        add_namespace(arena, namespaces, "pid", "pid", facts->pause);
    } else if (plan->pid_namespace == PLAN_PID_TARGET) {
        add_namespace(arena, namespaces, "pid", "pid", facts->target);
    }
    if (plan->is_cgroup_private) {
        add_namespace(arena, namespaces, "cgroup", "cgroup", 0);
    }
    return namespaces;
}

/* Devices beside those that every OCI container has, and leave to use them. */
static void set_devices(struct arena *arena, struct value *linux_value, const struct shim_container_plan *plan)
{
    struct value *devices = value_array(arena), *rules = value_array(arena), *rule = value_object(arena);
    struct value *resources = value_object(arena);
    bool is_privileged = plan->masked_paths.len == 0 && !plan->is_cgroup_private;

    set_bool(arena, rule, "allow", is_privileged);
    set_text(arena, rule, "access", STR("rwm"));
    value_add(arena, rules, rule);
    LIST_EACH(device, &plan->devices) {
        struct value *value = value_object(arena), *allowed = value_object(arena);
        struct str type = S_ISBLK(device->mode) ? STR("b") : STR("c");

        set_text(arena, value, "path", device->path);
        set_text(arena, value, "type", type);
        set_int(arena, value, "major", device->major);
        set_int(arena, value, "minor", device->minor);
        set_int(arena, value, "fileMode", device->mode & 07777);
        set_int(arena, value, "uid", device->uid);
        set_int(arena, value, "gid", device->gid);
        value_add(arena, devices, value);
        set_bool(arena, allowed, "allow", true);
        set_text(arena, allowed, "type", type);
        set_int(arena, allowed, "major", device->major);
        set_int(arena, allowed, "minor", device->minor);
        set_text(arena, allowed, "access", STR("rwm"));
        value_add(arena, rules, allowed);
    }
    value_set(arena, linux_value, STR("devices"), devices);
    value_set(arena, resources, STR("devices"), rules);
    value_set(arena, linux_value, STR("resources"), resources);
}

/* What the host mounts later is seen, or what the container mounts, only where the root's own propagation lets it. */
static const char *root_propagation(const struct shim_container_plan *plan)
{
    uint64_t most = PLAN_PRIVATE;

    LIST_EACH(mount, &plan->mounts) {
        most = mount->kind == PLAN_MOUNT_BIND ? MAX(most, (uint64_t)mount->propagation) : most;
    }
    return most == PLAN_SHARED ? "rshared" : "rslave";
}

static struct status *linux_value_of(struct arena *arena, const struct shim_container_plan *plan,
                                     const struct oci_facts *facts, struct value **ret)
{
    struct value *linux_value = value_object(arena), *seccomp = NULL;

    value_set(arena, linux_value, STR("namespaces"), namespaces_value(arena, plan, facts));
    set_text(arena, linux_value, "cgroupsPath", plan->cgroup_path);
    set_text(arena, linux_value, "rootfsPropagation", str_of(root_propagation(plan)));
    value_set(arena, linux_value, STR("maskedPaths"), texts(arena, &plan->masked_paths));
    value_set(arena, linux_value, STR("readonlyPaths"), texts(arena, &plan->read_only_paths));
    set_devices(arena, linux_value, plan);
    if (plan->seccomp_json.n > 0) {
        TRY(value_read_json(arena, plan->seccomp_json, &seccomp, NULL));
        value_set(arena, linux_value, STR("seccomp"), seccomp);
    }
    *ret = linux_value;
    return NULL;
}

struct status *oci_spec(struct arena *arena, const struct shim_container_plan *plan, const struct oci_facts *facts,
                        struct str *ret)
{
    struct value *spec = value_object(arena), *root = value_object(arena), *mounts = value_array(arena);
    struct value *linux_value;

    TRY(linux_value_of(arena, plan, facts, &linux_value));
    set_text(arena, spec, "ociVersion", STR("1.0.2"));
    value_set(arena, spec, STR("process"), process_value(arena, &plan->process, facts->who, facts->oom_score_adj));
    set_text(arena, root, "path", plan->rootfs);
    set_bool(arena, root, "readonly", plan->is_root_read_only);
    value_set(arena, spec, STR("root"), root);
    LIST_EACH(mount, &plan->mounts) {
        value_add(arena, mounts, mount_value(arena, mount, plan->bundle));
    }
    value_set(arena, spec, STR("mounts"), mounts);
    value_set(arena, spec, STR("linux"), linux_value);
    *ret = value_json(arena, spec);
    return NULL;
}
