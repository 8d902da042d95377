#include "kubelet/host.h"

void host_free(struct host *host)
{
    if (host != NULL) {
        host->ops->free(host);
    }
}

struct status *host_stat(struct host *host, const char *path, bool follow, struct host_stat *ret)
{
    return host->ops->stat(host, path, follow, ret);
}

struct status *host_make_directory(struct host *host, const char *path, uint32_t mode)
{
    return host->ops->make_directory(host, path, mode);
}

struct status *host_read(struct host *host, const char *path, size_t max, struct arena *arena, struct str *ret)
{
    return host->ops->read(host, path, max, arena, ret);
}

struct status *host_read_tail(struct host *host, const char *path, size_t max, struct arena *arena, struct str *ret)
{
    return host->ops->read_tail(host, path, max, arena, ret);
}

struct status *host_write(struct host *host, const char *path, struct str bytes, uint32_t mode)
{
    return host->ops->write(host, path, bytes, mode);
}

struct status *host_symlink(struct host *host, const char *target, const char *path)
{
    return host->ops->symlink(host, target, path);
}

struct status *host_read_link(struct host *host, const char *path, struct arena *arena, struct str *ret)
{
    return host->ops->read_link(host, path, arena, ret);
}

struct status *host_rename(struct host *host, const char *from, const char *to)
{
    return host->ops->rename(host, from, to);
}

struct status *host_remove(struct host *host, const char *path)
{
    return host->ops->remove(host, path);
}

struct status *host_list(struct host *host, const char *path, struct arena *arena, struct host_names *ret)
{
    return host->ops->list(host, path, arena, ret);
}

struct status *host_set_mode(struct host *host, const char *path, uint32_t mode)
{
    return host->ops->set_mode(host, path, mode);
}

struct status *host_set_group(struct host *host, const char *path, int64_t group, bool read_only)
{
    return host->ops->set_group(host, path, group, read_only);
}

struct status *host_mount_tmpfs(struct host *host, const char *path, int64_t size)
{
    return host->ops->mount_tmpfs(host, path, size);
}

struct status *host_mount_bind(struct host *host, const char *source, const char *path)
{
    return host->ops->mount_bind(host, source, path);
}

struct status *host_unmount(struct host *host, const char *path)
{
    return host->ops->unmount(host, path);
}

struct status *host_cgroup_apply(struct host *host, const char *name, const struct host_cgroup_limits *limits)
{
    return host->ops->cgroup_apply(host, name, limits);
}

struct status *host_cgroup_remove(struct host *host, const char *name)
{
    return host->ops->cgroup_remove(host, name);
}

struct status *host_cgroup_list(struct host *host, const char *name, struct arena *arena, struct host_names *ret)
{
    return host->ops->cgroup_list(host, name, arena, ret);
}

struct status *host_facts(struct host *host, struct arena *arena, struct host_facts *ret)
{
    return host->ops->facts(host, arena, ret);
}

struct status *host_usage(struct host *host, struct host_usage *ret)
{
    return host->ops->usage(host, ret);
}

struct status *host_fs_usage(struct host *host, const char *path, struct host_fs_usage *ret)
{
    return host->ops->fs_usage(host, path, ret);
}
