#include "runtime/plan.h"

static const struct wire_field mount_fields[] = {
    WIRE_FIELD(plan_mount, 1, WIRE_U64, kind),
    WIRE_FIELD(plan_mount, 2, WIRE_TEXT, source),
    WIRE_FIELD(plan_mount, 3, WIRE_TEXT, target),
    WIRE_FIELD(plan_mount, 4, WIRE_TEXT, options),
    WIRE_FIELD(plan_mount, 5, WIRE_U64, flags),
    WIRE_FIELD(plan_mount, 6, WIRE_U64, propagation),
    WIRE_FIELD(plan_mount, 7, WIRE_U64, is_recursive_read_only),
};
static const struct wire_type mount_type = WIRE_TYPE(plan_mount, mount_fields);

static const struct wire_field device_fields[] = {
    WIRE_FIELD(plan_device, 1, WIRE_TEXT, path), WIRE_FIELD(plan_device, 2, WIRE_U64, mode),
    WIRE_FIELD(plan_device, 3, WIRE_U64, major), WIRE_FIELD(plan_device, 4, WIRE_U64, minor),
    WIRE_FIELD(plan_device, 5, WIRE_U64, uid),   WIRE_FIELD(plan_device, 6, WIRE_U64, gid),
};
static const struct wire_type device_type = WIRE_TYPE(plan_device, device_fields);

static const struct wire_field rlimit_fields[] = {
    WIRE_FIELD(plan_rlimit, 1, WIRE_U64, resource),
    WIRE_FIELD(plan_rlimit, 2, WIRE_U64, soft),
    WIRE_FIELD(plan_rlimit, 3, WIRE_U64, hard),
};
static const struct wire_type rlimit_type = WIRE_TYPE(plan_rlimit, rlimit_fields);

static const struct wire_field id_map_fields[] = {
    WIRE_FIELD(plan_id_map, 1, WIRE_U64, inside),
    WIRE_FIELD(plan_id_map, 2, WIRE_U64, outside),
    WIRE_FIELD(plan_id_map, 3, WIRE_U64, count),
};
static const struct wire_type id_map_type = WIRE_TYPE(plan_id_map, id_map_fields);

static const struct wire_field sysctl_fields[] = {
    WIRE_FIELD(plan_sysctl, 1, WIRE_TEXT, name),
    WIRE_FIELD(plan_sysctl, 2, WIRE_TEXT, value),
};
static const struct wire_type sysctl_type = WIRE_TYPE(plan_sysctl, sysctl_fields);

static const struct wire_field cgroup_fields[] = {
    WIRE_FIELD(plan_cgroup, 1, WIRE_TEXT, directory),
    WIRE_FIELD(plan_cgroup, 2, WIRE_TEXT, controller),
};
static const struct wire_type cgroup_type = WIRE_TYPE(plan_cgroup, cgroup_fields);

static const struct wire_field sandbox_fields[] = {
    WIRE_FIELD(sandbox_plan, 1, WIRE_TEXT, hostname),
    WIRE_FIELD(sandbox_plan, 2, WIRE_U64, namespaces),
    WIRE_FIELD_OF(sandbox_plan, 3, sysctls, sysctl_type),
    WIRE_FIELD_OF(sandbox_plan, 4, cgroups, cgroup_type),
    WIRE_FIELD(sandbox_plan, 5, WIRE_U64, shm_bytes),
    WIRE_FIELD(sandbox_plan, 6, WIRE_U64, oom_score_adj),
    WIRE_FIELD_OF(sandbox_plan, 7, uid_maps, id_map_type),
    WIRE_FIELD_OF(sandbox_plan, 8, gid_maps, id_map_type),
};
const struct wire_type sandbox_plan_type = WIRE_TYPE(sandbox_plan, sandbox_fields);

static const struct wire_field process_fields[] = {
    WIRE_FIELD(process_plan, 1, WIRE_TEXTS, args),
    WIRE_FIELD(process_plan, 2, WIRE_TEXTS, env),
    WIRE_FIELD(process_plan, 3, WIRE_TEXT, cwd),
    WIRE_FIELD(process_plan, 4, WIRE_TEXT, user),
    WIRE_FIELD(process_plan, 5, WIRE_U64, has_uid),
    WIRE_FIELD(process_plan, 6, WIRE_U64, uid),
    WIRE_FIELD(process_plan, 7, WIRE_U64, has_gid),
    WIRE_FIELD(process_plan, 8, WIRE_U64, gid),
    WIRE_FIELD(process_plan, 9, WIRE_U64S, groups),
    WIRE_FIELD(process_plan, 10, WIRE_U64, is_strict_groups),
    WIRE_FIELD(process_plan, 11, WIRE_U64, caps_bounding),
    WIRE_FIELD(process_plan, 12, WIRE_U64, caps_effective),
    WIRE_FIELD(process_plan, 13, WIRE_U64, caps_inheritable),
    WIRE_FIELD(process_plan, 14, WIRE_U64, caps_permitted),
    WIRE_FIELD(process_plan, 15, WIRE_U64, caps_ambient),
    WIRE_FIELD(process_plan, 16, WIRE_U64, is_no_new_privileges),
    WIRE_FIELD(process_plan, 17, WIRE_TEXT, seccomp),
    WIRE_FIELD(process_plan, 18, WIRE_U64, seccomp_flags),
    WIRE_FIELD(process_plan, 19, WIRE_TEXT, apparmor),
    WIRE_FIELD(process_plan, 20, WIRE_U64, oom_score_adj),
    WIRE_FIELD_OF(process_plan, 21, rlimits, rlimit_type),
    WIRE_FIELD(process_plan, 22, WIRE_U64, is_tty),
    WIRE_FIELD(process_plan, 23, WIRE_U64, rows),
    WIRE_FIELD(process_plan, 24, WIRE_U64, columns),
};
static const struct wire_type process_type = WIRE_TYPE(process_plan, process_fields);

static const struct wire_field container_fields[] = {
    WIRE_FIELD_OF(container_plan, 1, process, process_type),
    WIRE_FIELD_OF(container_plan, 2, cgroups, cgroup_type),
    WIRE_FIELD(container_plan, 3, WIRE_U64, shares_network),
    WIRE_FIELD(container_plan, 4, WIRE_U64, shares_ipc),
    WIRE_FIELD(container_plan, 5, WIRE_U64, shares_uts),
    WIRE_FIELD(container_plan, 6, WIRE_U64, pid_namespace),
    WIRE_FIELD(container_plan, 7, WIRE_TEXT, pid_target),
    WIRE_FIELD(container_plan, 8, WIRE_U64, is_cgroup_private),
    WIRE_FIELD(container_plan, 9, WIRE_TEXT, rootfs),
    WIRE_FIELD(container_plan, 10, WIRE_TEXTS, layers),
    WIRE_FIELD(container_plan, 11, WIRE_TEXT, layers_directory),
    WIRE_FIELD(container_plan, 12, WIRE_TEXT, upper),
    WIRE_FIELD(container_plan, 13, WIRE_TEXT, work),
    WIRE_FIELD(container_plan, 14, WIRE_U64, is_root_read_only),
    WIRE_FIELD_OF(container_plan, 15, mounts, mount_type),
    WIRE_FIELD_OF(container_plan, 16, devices, device_type),
    WIRE_FIELD(container_plan, 17, WIRE_TEXTS, masked_paths),
    WIRE_FIELD(container_plan, 18, WIRE_TEXTS, read_only_paths),
    WIRE_FIELD(container_plan, 19, WIRE_TEXT, log_path),
    WIRE_FIELD(container_plan, 20, WIRE_U64, has_stdin),
    WIRE_FIELD(container_plan, 21, WIRE_U64, is_stdin_once),
    WIRE_FIELD(container_plan, 22, WIRE_TEXT, exit_path),
    WIRE_FIELD(container_plan, 23, WIRE_TEXTS, oci_create),
    WIRE_FIELD(container_plan, 24, WIRE_TEXTS, oci_start),
    WIRE_FIELD(container_plan, 25, WIRE_TEXT, oci_pid_path),
};
const struct wire_type container_plan_type = WIRE_TYPE(container_plan, container_fields);

static const struct wire_field exec_fields[] = {
    WIRE_FIELD_OF(exec_plan, 1, process, process_type),
    WIRE_FIELD_OF(exec_plan, 2, cgroups, cgroup_type),
};
const struct wire_type exec_plan_type = WIRE_TYPE(exec_plan, exec_fields);
