#include "runtime/container_mounts.h"

#include "runtime/sandbox_plan.h"

#include <stdlib.h>
#include <sys/mount.h>

#define NO_SUID_DEV_EXEC (MS_NOSUID | MS_NODEV | MS_NOEXEC)

static void add(struct arena *arena, struct shim_container_plan *plan, struct shim_mount mount)
{
    *LIST_ADD(arena, &plan->mounts) = mount;
}

static void add_fs(struct arena *arena, struct shim_container_plan *plan, const char *type, const char *target,
                   uint64_t flags, const char *options)
{
    add(arena, plan, (struct shim_mount){.kind = PLAN_MOUNT_FS, .source = str_of(type), .target = str_of(target),
                                         .flags = flags, .options = str_of(options)});
}

static bool has_mount(const struct cri_v1_container_config *config, const char *target)
{
    LIST_EACH(mount, &config->mounts) {
        struct str path = mount->container_path;

        while (path.n > 1 && str_has_suffix(path, STR("/"))) {
            path.n--;
        }
        if (str_is(path, target)) {
            return true;
        }
    }
    return false;
}

/* What every container has, as far as its pod does not put something of its own there. */
static void add_usual(struct arena *arena, const struct cri_v1_container_config *config,
                      const struct container_facts *facts, struct shim_container_plan *plan)
{
    uint64_t read_only = container_plan_is_privileged(config) ? 0 : MS_RDONLY;

    add_fs(arena, plan, "proc", "/proc", NO_SUID_DEV_EXEC, "");
    add_fs(arena, plan, "tmpfs", "/dev", MS_NOSUID | MS_STRICTATIME, "mode=755,size=65536k");
    add_fs(arena, plan, "devpts", "/dev/pts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620,gid=5");
    add_fs(arena, plan, "mqueue", "/dev/mqueue", NO_SUID_DEV_EXEC, "");
    add_fs(arena, plan, "sysfs", "/sys", NO_SUID_DEV_EXEC | read_only, "");
    if (facts->machine->hierarchies.len > 0) {
        add(arena, plan, (struct shim_mount){.kind = PLAN_MOUNT_CGROUP, .target = STR("/sys/fs/cgroup"),
                                             .flags = NO_SUID_DEV_EXEC | read_only});
    }
    if (!has_mount(config, "/dev/shm")) {
        if (sandbox_sharing_of(facts->sandbox).has_host_ipc) {
            add(arena, plan, (struct shim_mount){.kind = PLAN_MOUNT_BIND, .source = STR("/dev/shm"),
                                                 .target = STR("/dev/shm"), .flags = NO_SUID_DEV_EXEC});
        } else {
            add(arena, plan, (struct shim_mount){.kind = PLAN_MOUNT_SHM, .target = STR("/dev/shm")});
        }
    }
}

/* The pod's own /etc/hosts, /etc/hostname and /etc/resolv.conf. */
static void add_shared_files(struct arena *arena, const struct cri_v1_container_config *config,
                             const struct container_facts *facts, struct shim_container_plan *plan)
{
    static const char *const names[] = {"hostname", "hosts", "resolv.conf"};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct str target = arena_printf(arena, "/etc/%s", names[i]);

        if (!has_mount(config, target.p)) {
            add(arena, plan, (struct shim_mount){
                                 .kind = PLAN_MOUNT_BIND, .target = target,
                                 .source = arena_printf(arena, "%.*s/%s", STR_ARG(facts->sandbox_directory), names[i]),
                                 .flags = plan->is_root_read_only ? MS_RDONLY : 0});
        }
    }
}

static uint64_t propagation_of(int32_t cri)
{
    return cri == CRI_V1_MOUNT_PROPAGATION_PROPAGATION_BIDIRECTIONAL         ? PLAN_SHARED
           : cri == CRI_V1_MOUNT_PROPAGATION_PROPAGATION_HOST_TO_CONTAINER ? PLAN_SLAVE
                                                                           : PLAN_PRIVATE;
}

static uint64_t flags_of(const struct cri_v1_mount *mount)
{
    uint64_t flags = mount->readonly ? MS_RDONLY : 0;

    LIST_EACH(option, &mount->mount_options) {
        flags |= str_is(*option, "nosuid") ? MS_NOSUID
                 : str_is(*option, "nodev") ? MS_NODEV
                 : str_is(*option, "noexec") ? MS_NOEXEC
                                             : 0;
    }
    return flags;
}

static int depth(struct str path)
{
    int parts = 0;

    for (struct str rest = path, part; str_next(&rest, '/', &part);) {
        parts += part.n > 0 && !str_is(part, ".");
    }
    return parts;
}

/* Those nearer to the root first, so that none hides another; else in the pod's order. */
static void sort_by_depth(struct shim_mount *mounts, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct shim_mount mount = mounts[i];
        size_t at = i;

        for (; at > 0 && depth(mounts[at - 1].target) > depth(mount.target); at--) {
            mounts[at] = mounts[at - 1];
        }
        mounts[at] = mount;
    }
}

static struct status *add_volumes(struct arena *arena, const struct cri_v1_container_config *config,
                                  struct shim_container_plan *plan)
{
    size_t first = plan->mounts.len;

    LIST_EACH(mount, &config->mounts) {
        if (mount->container_path.n == 0 || mount->container_path.p[0] != '/') {
            return status_new(STATUS_INVALID, "mount path \"%.*s\" is not absolute", STR_ARG(mount->container_path));
        }
        if (mount->uid_mappings.len > 0 || mount->gid_mappings.len > 0) {
            return status_new(STATUS_INVALID, "ID mapped mounts are not supported (%.*s)",
                              STR_ARG(mount->container_path));
        }
        if (mount->image != NULL && mount->image->image.n > 0) {
            return status_new(STATUS_INVALID, "image volumes are not supported (%.*s)", STR_ARG(mount->container_path));
        }
        if (mount->host_path.n == 0 || mount->host_path.p[0] != '/') {
            return status_new(STATUS_INVALID, "mount of %.*s has no absolute path on the host",
                              STR_ARG(mount->container_path));
        }
        if (mount->recursive_read_only && !mount->readonly) {
            return status_new(STATUS_INVALID, "recursive_read_only conflicts with readonly == false (%.*s)",
                              STR_ARG(mount->container_path));
        }
        if (mount->recursive_read_only && mount->propagation != CRI_V1_MOUNT_PROPAGATION_PROPAGATION_PRIVATE) {
            return status_new(STATUS_INVALID, "recursive_read_only requires private propagation (%.*s)",
                              STR_ARG(mount->container_path));
        }
        add(arena, plan, (struct shim_mount){.kind = PLAN_MOUNT_BIND, .source = mount->host_path,
                                             .target = mount->container_path, .flags = flags_of(mount),
                                             .propagation = (uint32_t)propagation_of(mount->propagation),
                                             .is_recursive_read_only = mount->recursive_read_only});
    }
    sort_by_depth(plan->mounts.items + first, plan->mounts.len - first);
    return NULL;
}

struct status *container_mounts_plan(struct arena *arena, const struct cri_v1_container_config *config,
                                     const struct container_facts *facts, struct shim_container_plan *plan)
{
    add_usual(arena, config, facts, plan);
    add_shared_files(arena, config, facts, plan);
    return add_volumes(arena, config, plan);
}
