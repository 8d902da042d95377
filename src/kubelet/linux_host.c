#include "kubelet/host.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/task.h"
#include "kubelet/linux_cgroup.h"
#include "kubelet/linux_facts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { TMPFS_MAGIC_NUMBER = 0x01021994, TREE_DEPTH_MAX = 256 };

static enum host_file_type type_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return HOST_FILE;
    case S_IFDIR:
        return HOST_DIRECTORY;
    case S_IFLNK:
        return HOST_SYMLINK;
    case S_IFSOCK:
        return HOST_SOCKET;
    case S_IFCHR:
        return HOST_CHAR_DEVICE;
    case S_IFBLK:
        return HOST_BLOCK_DEVICE;
    default:
        return HOST_OTHER;
    }
}

static struct status *linux_stat(struct host *host, const char *path, bool follow, struct host_stat *ret)
{
    struct stat st;

    if ((follow ? stat(path, &st) : lstat(path, &st)) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) {
            *ret = (struct host_stat){0};
            return NULL;
        }
        return status_errno(errno, "stat %s", path);
    }
    *ret = (struct host_stat){.type = type_of(st.st_mode), .mode = st.st_mode & 07777, .size = st.st_size};
    return NULL;
}

static struct status *linux_make_directory(struct host *host, const char *path, uint32_t mode)
{
    char copy[4096];

    if (strlen(path) >= sizeof(copy)) {
        return status_new(STATUS_INTERNAL_ERROR, "path too long: %s", path);
    }
    strcpy(copy, path);
    for (char *slash = strchr(copy + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0755) != 0 && errno != EEXIST) {
            return status_errno(errno, "mkdir %s", copy);
        }
        *slash = '/';
    }
    if (mkdir(path, mode) != 0 && errno != EEXIST) {
        return status_errno(errno, "mkdir %s", path);
    }
    /* The umask has cut the mode. */
    return chmod(path, mode) == 0 ? NULL : status_errno(errno, "chmod %s", path);
}

static struct status *read_part(const char *path, size_t max, bool from_end, struct arena *arena, struct str *ret)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) {
        return status_errno(errno, "open %s", path);
    }
    struct stat st;
    off_t from = 0;

    if (from_end && fstat(fd, &st) == 0 && st.st_size > (off_t)max) {
        from = st.st_size - (off_t)max;
    }
    struct buf bytes = {0};
    struct status *error = NULL;

    while (bytes.n < max) {
        size_t room = MIN(max - bytes.n, (size_t)65536);
        ssize_t got = pread(fd, buf_reserve(&bytes, room), room, from + (off_t)bytes.n);

        if (got < 0) {
            error = status_errno(errno, "read %s", path);
            break;
        }
        if (got == 0) {
            break;
        }
        bytes.n += (size_t)got;
    }
    close(fd);
    if (error == NULL) {
        *ret = arena_str(arena, buf_str(&bytes));
    }
    buf_done(&bytes);
    return error;
}

static struct status *linux_read(struct host *host, const char *path, size_t max, struct arena *arena, struct str *ret)
{
    return read_part(path, max, false, arena, ret);
}

static struct status *linux_read_tail(struct host *host, const char *path, size_t max, struct arena *arena,
                                      struct str *ret)
{
    return read_part(path, max, true, arena, ret);
}

static struct status *write_all(int fd, struct str bytes, const char *path)
{
    while (bytes.n > 0) {
        ssize_t written = write(fd, bytes.p, bytes.n);

        if (written < 0) {
            return status_errno(errno, "write %s", path);
        }
        bytes = str_from(bytes, (size_t)written);
    }
    return NULL;
}

static struct status *linux_write(struct host *host, const char *path, struct str bytes, uint32_t mode)
{
    char temporary[4096];

    if (snprintf(temporary, sizeof(temporary), "%s.c8s-new", path) >= (int)sizeof(temporary)) {
        return status_new(STATUS_INTERNAL_ERROR, "path too long: %s", path);
    }
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

    if (fd < 0) {
        return status_errno(errno, "create %s", temporary);
    }
    struct status *error = write_all(fd, bytes, path);

    if (error == NULL && fchmod(fd, mode) != 0) {
        error = status_errno(errno, "chmod %s", temporary);
    }
    if (close(fd) != 0 && error == NULL) {
        error = status_errno(errno, "close %s", temporary);
    }
    if (error == NULL && rename(temporary, path) != 0) {
        error = status_errno(errno, "rename %s to %s", temporary, path);
    }
    if (error != NULL) {
        unlink(temporary);
    }
    return error;
}

static struct status *linux_symlink(struct host *host, const char *target, const char *path)
{
    char temporary[4096];

    if (snprintf(temporary, sizeof(temporary), "%s_tmp", path) >= (int)sizeof(temporary)) {
        return status_new(STATUS_INTERNAL_ERROR, "path too long: %s", path);
    }
    unlink(temporary);
    if (symlink(target, temporary) != 0) {
        return status_errno(errno, "symlink %s", temporary);
    }
    if (rename(temporary, path) != 0) {
        struct status *error = status_errno(errno, "rename %s to %s", temporary, path);

        unlink(temporary);
        return error;
    }
    return NULL;
}

static struct status *linux_read_link(struct host *host, const char *path, struct arena *arena, struct str *ret)
{
    char target[4096];
    ssize_t size = readlink(path, target, sizeof(target));

    if (size < 0) {
        return status_errno(errno, "readlink %s", path);
    }
    *ret = arena_str(arena, (struct str){target, (size_t)size});
    return NULL;
}

static struct status *linux_rename(struct host *host, const char *from, const char *to)
{
    return rename(from, to) == 0 ? NULL : status_errno(errno, "rename %s to %s", from, to);
}

/* Removes what the directory fd holds; takes fd. */
static int remove_below(int fd, dev_t device, int depth)
{
    DIR *listing = depth < TREE_DEPTH_MAX ? fdopendir(fd) : NULL;
    int error = 0;

    if (listing == NULL) {
        close(fd);
        return depth < TREE_DEPTH_MAX ? errno : ELOOP;
    }
    for (struct dirent *entry; error == 0 && (entry = readdir(listing)) != NULL;) {
        struct stat st;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
            error = errno == ENOENT ? 0 : errno;
        } else if (!S_ISDIR(st.st_mode)) {
            error = unlinkat(fd, entry->d_name, 0) == 0 ? 0 : errno;
        } else if (st.st_dev != device) {
            error = EBUSY;
        } else {
            int below = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

            error = below < 0 ? errno : remove_below(below, device, depth + 1);
            if (error == 0 && unlinkat(fd, entry->d_name, AT_REMOVEDIR) != 0) {
                error = errno;
            }
        }
    }
    closedir(listing);
    return error;
}

struct removal {
    const char *path;
    int error;
};

static void remove_tree(void *arg)
{
    struct removal *removal = arg;
    struct stat st, parent;
    char above[4096];

    if (lstat(removal->path, &st) != 0) {
        removal->error = errno == ENOENT || errno == ENOTDIR ? 0 : errno;
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        removal->error = unlink(removal->path) == 0 ? 0 : errno;
        return;
    }
    /* A mount point itself is left alone too. */
    if (snprintf(above, sizeof(above), "%s/..", removal->path) < (int)sizeof(above) && lstat(above, &parent) == 0 &&
        parent.st_dev != st.st_dev) {
        removal->error = EBUSY;
        return;
    }
    int fd = open(removal->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    removal->error = fd < 0 ? errno : remove_below(fd, st.st_dev, 0);
    if (removal->error == 0 && rmdir(removal->path) != 0) {
        removal->error = errno;
    }
}

static void run_outside(task_fn *fn, void *arg)
{
    if (task_current() != NULL) {
        task_offload(fn, arg);
    } else {
        fn(arg);
    }
}

static struct status *linux_remove(struct host *host, const char *path)
{
    struct removal removal = {.path = path};

    run_outside(remove_tree, &removal);
    return removal.error == 0 ? NULL : status_errno(removal.error, "remove %s", path);
}

static int compare_names(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static struct status *linux_list(struct host *host, const char *path, struct arena *arena, struct host_names *ret)
{
    struct host_names names = {0};
    DIR *listing = opendir(path);

    if (listing == NULL && errno != ENOENT && errno != ENOTDIR) {
        return status_errno(errno, "list %s", path);
    }
    for (struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            *LIST_ADD(arena, &names) = arena_str(arena, str_of(entry->d_name));
        }
    }
    if (listing != NULL) {
        closedir(listing);
    }
    if (names.len > 1) {
        qsort(names.items, names.len, sizeof(*names.items), compare_names);
    }
    *ret = names;
    return NULL;
}

static struct status *linux_set_mode(struct host *host, const char *path, uint32_t mode)
{
    return chmod(path, mode) == 0 ? NULL : status_errno(errno, "chmod %s", path);
}

struct grouping {
    const char *path;
    gid_t group;
    bool read_only;
    int error;
};

static int group_one(int at, const char *name, const struct stat *st, const struct grouping *grouping)
{
    mode_t mode = st->st_mode & 07777;

    if (S_ISLNK(st->st_mode)) {
        return fchownat(at, name, (uid_t)-1, grouping->group, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
    }
    mode |= grouping->read_only ? 0440 : 0660;
    if (S_ISDIR(st->st_mode)) {
        mode |= S_ISGID | 0110;
    }
    if (fchownat(at, name, (uid_t)-1, grouping->group, AT_SYMLINK_NOFOLLOW) != 0 || fchmodat(at, name, mode, 0) != 0) {
        return errno;
    }
    return 0;
}

static int group_below(int fd, const struct grouping *grouping, int depth)
{
    DIR *listing = depth < TREE_DEPTH_MAX ? fdopendir(fd) : NULL;
    int error = 0;

    if (listing == NULL) {
        close(fd);
        return depth < TREE_DEPTH_MAX ? errno : ELOOP;
    }
    for (struct dirent *entry; error == 0 && (entry = readdir(listing)) != NULL;) {
        struct stat st;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        error = group_one(fd, entry->d_name, &st, grouping);
        if (error == 0 && S_ISDIR(st.st_mode)) {
            int below = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

            error = below < 0 ? errno : group_below(below, grouping, depth + 1);
        }
    }
    closedir(listing);
    return error;
}

static void group_tree(void *arg)
{
    struct grouping *grouping = arg;
    struct stat st;

    if (lstat(grouping->path, &st) != 0) {
        grouping->error = errno;
        return;
    }
    grouping->error = group_one(AT_FDCWD, grouping->path, &st, grouping);
    if (grouping->error == 0 && S_ISDIR(st.st_mode)) {
        int fd = open(grouping->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        grouping->error = fd < 0 ? errno : group_below(fd, grouping, 0);
    }
}

static struct status *linux_set_group(struct host *host, const char *path, int64_t group, bool read_only)
{
    struct grouping grouping = {.path = path, .group = (gid_t)group, .read_only = read_only};

    run_outside(group_tree, &grouping);
    return grouping.error == 0 ? NULL : status_errno(grouping.error, "set group %lld on %s", (long long)group, path);
}

static struct status *linux_mount_tmpfs(struct host *host, const char *path, int64_t size)
{
    struct stat at, above;
    struct statfs fs;
    char parent[4096];
    char options[64] = "";

    snprintf(parent, sizeof(parent), "%s/..", path);
    if (stat(path, &at) == 0 && stat(parent, &above) == 0 && at.st_dev != above.st_dev && statfs(path, &fs) == 0 &&
        fs.f_type == TMPFS_MAGIC_NUMBER) {
        return NULL;
    }
    if (size > 0) {
        snprintf(options, sizeof(options), "size=%lld", (long long)size);
    }
    return mount("tmpfs", path, "tmpfs", 0, options) == 0 ? NULL : status_errno(errno, "mount tmpfs on %s", path);
}

static struct status *linux_mount_bind(struct host *host, const char *source, const char *path)
{
    return mount(source, path, NULL, MS_BIND | MS_REC, NULL) == 0 ? NULL
                                                                  : status_errno(errno, "bind %s on %s", source, path);
}

static struct status *linux_unmount(struct host *host, const char *path)
{
    for (int i = 0; i < 64; i++) {
        if (umount2(path, UMOUNT_NOFOLLOW | MNT_DETACH) != 0) {
            return errno == EINVAL || errno == ENOENT ? NULL : status_errno(errno, "unmount %s", path);
        }
    }
    return status_new(STATUS_INTERNAL_ERROR, "unmount %s: still mounted after 64 times", path);
}

static struct status *linux_cgroup_apply_(struct host *host, const char *name, const struct host_cgroup_limits *limits)
{
    return linux_cgroup_apply(name, limits);
}

struct cgroup_removal {
    const char *name;
    struct status *error;
};

static void remove_cgroup(void *arg)
{
    struct cgroup_removal *removal = arg;

    removal->error = linux_cgroup_remove(removal->name);
}

static struct status *linux_cgroup_remove_(struct host *host, const char *name)
{
    struct cgroup_removal removal = {.name = name};

    run_outside(remove_cgroup, &removal);
    return removal.error;
}

static struct status *linux_cgroup_list_(struct host *host, const char *name, struct arena *arena,
                                         struct host_names *ret)
{
    return linux_cgroup_list(name, arena, ret);
}

static struct status *linux_facts_(struct host *host, struct arena *arena, struct host_facts *ret)
{
    return linux_facts(arena, ret);
}

static struct status *linux_usage_(struct host *host, struct host_usage *ret)
{
    return linux_usage(ret);
}

static struct status *linux_fs_usage(struct host *host, const char *path, struct host_fs_usage *ret)
{
    struct statvfs fs;

    if (statvfs(path, &fs) != 0) {
        return status_errno(errno, "statvfs %s", path);
    }
    *ret = (struct host_fs_usage){
        .capacity = (int64_t)fs.f_blocks * (int64_t)fs.f_frsize,
        .available = (int64_t)fs.f_bavail * (int64_t)fs.f_frsize,
        .inodes = (int64_t)fs.f_files,
        .inodes_free = (int64_t)fs.f_ffree,
    };
    return NULL;
}

static void linux_free(struct host *host)
{
    free(host);
}

static const struct host_ops linux_ops = {
    .stat = linux_stat,
    .make_directory = linux_make_directory,
    .read = linux_read,
    .read_tail = linux_read_tail,
    .write = linux_write,
    .symlink = linux_symlink,
    .read_link = linux_read_link,
    .rename = linux_rename,
    .remove = linux_remove,
    .list = linux_list,
    .set_mode = linux_set_mode,
    .set_group = linux_set_group,
    .mount_tmpfs = linux_mount_tmpfs,
    .mount_bind = linux_mount_bind,
    .unmount = linux_unmount,
    .cgroup_apply = linux_cgroup_apply_,
    .cgroup_remove = linux_cgroup_remove_,
    .cgroup_list = linux_cgroup_list_,
    .facts = linux_facts_,
    .usage = linux_usage_,
    .fs_usage = linux_fs_usage,
    .free = linux_free,
};

struct host *linux_host_new(void)
{
    struct host *host = MEM_NEW(struct host);

    host->ops = &linux_ops;
    return host;
}
