#include "runtime/shim/rootfs.h"

#include "base/buf.h"
#include "base/mem.h"
#include "runtime/shim/kernel.h"
#include "runtime/shim/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* How often the kernel may be asked again when something was renamed or mounted elsewhere while it followed "..". */
enum { OPEN_TRIES = 10000 };

/* RESOLVE_IN_ROOT takes what `root` refers to as the root; AT_FDCWD is the working directory. */
static int open_at(int root, const char *path, int flags)
{
    struct kernel_open_how how = {.flags = (unsigned)flags | O_CLOEXEC,
                                  .mode = flags & O_CREAT ? 0644 : 0,
                                  .resolve = KERNEL_RESOLVE_IN_ROOT | KERNEL_RESOLVE_NO_MAGICLINKS};

    int fd, tries = 0;

    do {
        fd = kernel_openat2(root, path, &how);
    } while (fd < 0 && errno == EAGAIN && ++tries < OPEN_TRIES);
    return fd;
}

/* Below the container's root, where the working directory is whenever this is called. */
static int open_below(const char *path, int flags)
{
    return open_at(AT_FDCWD, path, flags);
}

/* The directory that holds the last name of the path; its length without that name goes to *ret_cut. */
static bool parent_of(const char *path, char *ret_parent, size_t size, const char **ret_name)
{
    const char *slash = strrchr(path, '/');

    if (slash == NULL || slash[1] == '\0' || (size_t)(slash - path) >= size) {
        errno = EINVAL;
        return false;
    }
    memcpy(ret_parent, path, (size_t)(slash - path));
    ret_parent[slash - path] = '\0';
    if (slash == path) {
        snprintf(ret_parent, size, "/");
    }
    *ret_name = slash + 1;
    return true;
}

/* A path without doubled or trailing slashes. */
static bool clean_path(const char *path, char *clean, size_t size)
{
    size_t n = 0;

    for (const char *at = path; *at != '\0'; at++) {
        if (*at == '/' && (at[1] == '/' || at[1] == '\0')) {
            continue;
        }
        if (n + 1 >= size) {
            errno = ENAMETOOLONG;
            return false;
        }
        clean[n++] = *at;
    }
    clean[n] = '\0';
    return true;
}

static bool make_directory(const char *path, int depth)
{
    char parent[PATH_MAX];
    const char *name;
    int fd = open_below(path, O_PATH | O_DIRECTORY);

    if (fd >= 0) {
        close(fd);
        return true;
    }
    if (errno != ENOENT || depth > 64 || !parent_of(path, parent, sizeof(parent), &name) ||
        !make_directory(parent, depth + 1)) {
        return false;
    }
    int at = open_below(parent, O_PATH | O_DIRECTORY);

    if (at < 0) {
        return false;
    }
    bool made = mkdirat(at, name, 0755) == 0 || errno == EEXIST;
    int error = errno;

    close(at);
    errno = error;
    return made;
}

bool rootfs_make_directory(const char *path)
{
    char clean[PATH_MAX];

    return clean_path(path, clean, sizeof(clean)) && (clean[0] == '\0' || make_directory(clean, 0));
}

/* What to mount on: made as a directory or an empty file when it isn't there. -1 and errno. */
static int open_target(const char *path, bool is_directory)
{
    char clean[PATH_MAX], parent[PATH_MAX];
    const char *name;

    if (!clean_path(path, clean, sizeof(clean))) {
        return -1;
    }
    int fd = open_below(clean, O_PATH);

    if (fd >= 0 || errno != ENOENT) {
        return fd;
    }
    if (is_directory) {
        return make_directory(clean, 0) ? open_below(clean, O_PATH) : -1;
    }
    if (!parent_of(clean, parent, sizeof(parent), &name) || !make_directory(parent, 0)) {
        return -1;
    }
    fd = open_below(clean, O_WRONLY | O_CREAT | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        return -1;
    }
    close(fd);
    return open_below(clean, O_PATH);
}

struct str rootfs_read(struct arena *arena, const char *root, const char *path, size_t max)
{
    struct stat stat;
    int at = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = at < 0 ? -1 : open_at(at, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);

    if (at >= 0) {
        close(at);
    }

    if (fd < 0) {
        return STR("");
    }
    if (fstat(fd, &stat) != 0 || !S_ISREG(stat.st_mode) || (size_t)stat.st_size > max) {
        close(fd);
        return STR("");
    }
    struct str text = {arena_alloc(arena, (size_t)stat.st_size + 1), 0};

    for (ssize_t n; text.n < (size_t)stat.st_size &&
                    (n = read(fd, (char *)text.p + text.n, (size_t)stat.st_size - text.n)) > 0;) {
        text.n += (size_t)n;
    }
    close(fd);
    return text;
}

void rootfs_take_shared_memory(struct rootfs *rootfs, int pause)
{
    int own = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);

    if (own < 0 || setns(pause, KERNEL_CLONE_NEWNS) != 0) {
        report_fail(rootfs->report, errno, "namespaces", "joining the sandbox's mount namespace");
    }
    rootfs->shm = kernel_open_tree(AT_FDCWD, "/shm", KERNEL_OPEN_TREE_CLONE | KERNEL_OPEN_TREE_CLOEXEC);
    if (rootfs->shm < 0) {
        report_fail(rootfs->report, errno, "mount", "taking the sandbox's /dev/shm");
    }
    if (setns(own, KERNEL_CLONE_NEWNS) != 0) {
        report_fail(rootfs->report, errno, "namespaces", "coming back from the sandbox's mount namespace");
    }
    close(own);
}

/* Kubernetes' read-only and propagation of one volume, on the detached tree. */
static void set_attributes(struct rootfs *rootfs, const struct shim_mount *mount, int tree)
{
    struct kernel_mount_attr attr = {0};
    unsigned depth = mount->is_recursive_read_only ? KERNEL_AT_RECURSIVE : 0;

    attr.attr_set = (mount->flags & MS_RDONLY ? KERNEL_MOUNT_ATTR_RDONLY : 0) |
                    (mount->flags & MS_NOSUID ? KERNEL_MOUNT_ATTR_NOSUID : 0) |
                    (mount->flags & MS_NODEV ? KERNEL_MOUNT_ATTR_NODEV : 0) |
                    (mount->flags & MS_NOEXEC ? KERNEL_MOUNT_ATTR_NOEXEC : 0);
    if (attr.attr_set != 0 && kernel_mount_setattr(tree, depth, &attr) != 0) {
        report_fail(rootfs->report, errno, "mount", "setting the flags of mount %s", mount->target.p);
    }
    attr = (struct kernel_mount_attr){.propagation = mount->propagation == PLAN_SLAVE ? MS_SLAVE : MS_PRIVATE};
    if (mount->propagation != PLAN_SHARED && kernel_mount_setattr(tree, KERNEL_AT_RECURSIVE, &attr) != 0) {
        report_fail(rootfs->report, errno, "mount", "setting the propagation of mount %s", mount->target.p);
    }
}

static int copy_tree(struct rootfs *rootfs, const char *source)
{
    int tree = kernel_open_tree(AT_FDCWD, source,
                                KERNEL_OPEN_TREE_CLONE | KERNEL_OPEN_TREE_CLOEXEC | KERNEL_AT_RECURSIVE);

    if (tree < 0) {
        report_fail(rootfs->report, errno, "mount", "mount source %s", source);
    }
    return tree;
}

void rootfs_gather(struct rootfs *rootfs, int pause)
{
    const struct shim_container_plan *plan = rootfs->plan;
    bool wants_shm = false;

    LIST_EACH(mount, &plan->mounts) {
        wants_shm |= mount->kind == PLAN_MOUNT_SHM;
    }
    rootfs->shm = -1;
    if (wants_shm) {
        rootfs_take_shared_memory(rootfs, pause);
    }
    if (unshare(KERNEL_CLONE_NEWNS) != 0) {
        report_fail(rootfs->report, errno, "namespaces", "making a mount namespace");
    }
    rootfs->trees = mem_zalloc_array(plan->mounts.len, sizeof(int));
    for (size_t i = 0; i < plan->mounts.len; i++) {
        const struct shim_mount *mount = &plan->mounts.items[i];

        rootfs->trees[i] = -1;
        if (mount->kind == PLAN_MOUNT_BIND) {
            rootfs->trees[i] = copy_tree(rootfs, mount->source.p);
            set_attributes(rootfs, mount, rootfs->trees[i]);
        }
    }
    rootfs->cgroups = mem_zalloc_array(plan->cgroups.entries.len, sizeof(int));
    for (size_t i = 0; i < plan->cgroups.entries.len; i++) {
        bool is_v1 = plan->cgroups.entries.items[i].controller.n > 0;

        rootfs->cgroups[i] = is_v1 ? copy_tree(rootfs, plan->cgroups.entries.items[i].directory.p) : -1;
    }
    if (mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
        report_fail(rootfs->report, errno, "mount", "making the host's mounts private");
    }
}

static void mount_layers(struct rootfs *rootfs)
{
    const struct shim_container_plan *plan = rootfs->plan;
    OWNED(buf_done) struct buf options = {0};

    buf_printf(&options, "lowerdir=");
    LIST_EACH(layer, &plan->layers) {
        buf_printf(&options, "%s%.*s", layer == plan->layers.items ? "" : ":", STR_ARG(*layer));
    }
    if (plan->upper.n > 0) {
        buf_printf(&options, ",upperdir=%s,workdir=%s", plan->upper.p, plan->work.p);
    }
    if (options.n >= 4096) {
        report_fail(rootfs->report, 0, "rootfs", "the image has too many layers to mount (%zu)", plan->layers.len);
    }
    /* Relative lowerdirs keep the options within the kernel's one page. */
    if (plan->layers_directory.n > 0 && chdir(plan->layers_directory.p) != 0) {
        report_fail(rootfs->report, errno, "rootfs", "layers in %s", plan->layers_directory.p);
    }
    if (mount("overlay", plan->rootfs.p, "overlay", 0, buf_cstr(&options)) != 0) {
        report_fail(rootfs->report, errno, "rootfs", "mounting overlay on %s with %s", plan->rootfs.p, options.p);
    }
}

void rootfs_mount(struct rootfs *rootfs)
{
    const char *root = rootfs->plan->rootfs.p;

    if (rootfs->plan->layers.len > 0) {
        mount_layers(rootfs);
    } else if (mount(root, root, NULL, MS_BIND | MS_REC, NULL) != 0) {
        report_fail(rootfs->report, errno, "rootfs", "root directory %s", root);
    }
}

void rootfs_enter(struct rootfs *rootfs)
{
    const char *root = rootfs->plan->rootfs.p;

    rootfs_mount(rootfs);
    /* The old root is mounted over the new one for a moment, then falls away with all of the host. */
    if (chdir(root) != 0 || kernel_pivot_root(".", ".") != 0 || umount2(".", MNT_DETACH) != 0 || chdir("/") != 0) {
        report_fail(rootfs->report, errno, "rootfs", "changing the root to %s", root);
    }
}

static bool is_directory_fd(int fd)
{
    struct stat stat;

    return fstat(fd, &stat) == 0 && S_ISDIR(stat.st_mode);
}

static void attach(struct rootfs *rootfs, int tree, const char *target)
{
    int to = open_target(target, is_directory_fd(tree));

    if (to < 0 || kernel_move_mount(tree, to) != 0) {
        report_fail(rootfs->report, errno, "mount", "mounting on %s", target);
    }
    close(to);
    close(tree);
}

static void mount_new(struct rootfs *rootfs, const char *type, const char *target, unsigned long flags,
                      const char *options)
{
    int to = open_target(target, true);

    /* By the working directory, which is the one way to name a place to mount(2) without its path being followed. */
    if (to < 0 || fchdir(to) != 0 || mount(type, ".", type, flags, options[0] ? options : NULL) != 0) {
        report_fail(rootfs->report, errno, "mount", "mounting %s on %s", type, target);
    }
    close(to);
    if (chdir("/") != 0) {
        report_fail(rootfs->report, errno, "mount", "chdir /");
    }
}

static void mount_cgroups(struct rootfs *rootfs, const struct shim_mount *mount)
{
    const struct shim_container_plan *plan = rootfs->plan;
    struct kernel_mount_attr attr = {.attr_set = mount->flags & MS_RDONLY ? KERNEL_MOUNT_ATTR_RDONLY : 0};
    char path[PATH_MAX];
    unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    bool is_v2 = plan->cgroups.entries.len == 0 || plan->cgroups.entries.items[0].controller.n == 0;

    if (is_v2) {
        mount_new(rootfs, "cgroup2", mount->target.p, flags | (mount->flags & MS_RDONLY), "");
        return;
    }
    mount_new(rootfs, "tmpfs", mount->target.p, flags, "mode=755,size=64k");
    for (size_t i = 0; i < plan->cgroups.entries.len; i++) {
        snprintf(path, sizeof(path), "%s/%s", mount->target.p, plan->cgroups.entries.items[i].controller.p);
        attr.attr_set |= KERNEL_MOUNT_ATTR_NOSUID | KERNEL_MOUNT_ATTR_NODEV | KERNEL_MOUNT_ATTR_NOEXEC;
        if (kernel_mount_setattr(rootfs->cgroups[i], 0, &attr) != 0) {
            report_fail(rootfs->report, errno, "mount", "setting the flags of %s", path);
        }
        attach(rootfs, rootfs->cgroups[i], path);
    }
}

static void make_devices(struct rootfs *rootfs)
{
    static const struct { const char *to, *from; } links[] = {
        {"/proc/self/fd", "/dev/fd"},      {"/proc/self/fd/0", "/dev/stdin"}, {"/proc/self/fd/1", "/dev/stdout"},
        {"/proc/self/fd/2", "/dev/stderr"}, {"pts/ptmx", "/dev/ptmx"},        {"/proc/kcore", "/dev/core"},
    };
    mode_t mask = umask(0);

    LIST_EACH(device, &rootfs->plan->devices) {
        char parent[PATH_MAX], clean[PATH_MAX];
        const char *name;

        if (!clean_path(device->path.p, clean, sizeof(clean)) ||
            !parent_of(clean, parent, sizeof(parent), &name) || !make_directory(parent, 0)) {
            report_fail(rootfs->report, errno, "devices", "device %s", device->path.p);
        }
        int at = open_below(parent, O_PATH | O_DIRECTORY);

        if (at < 0 || mknodat(at, name, (mode_t)device->mode,
                              makedev((unsigned)device->major, (unsigned)device->minor)) != 0 ||
            fchownat(at, name, (uid_t)device->uid, (gid_t)device->gid, AT_SYMLINK_NOFOLLOW) != 0) {
            report_fail(rootfs->report, errno, "devices", "device %s", device->path.p);
        }
        close(at);
    }
    umask(mask);
    for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
        if (symlink(links[i].to, links[i].from) != 0 && errno != EEXIST) {
            report_fail(rootfs->report, errno, "devices", "link %s", links[i].from);
        }
    }
}

static void mask_path(struct rootfs *rootfs, const char *path)
{
    int fd = open_below(path, O_PATH);

    if (fd < 0) {
        return; /* this kernel has no such file */
    }
    bool is_directory = is_directory_fd(fd);

    close(fd);
    if (is_directory) {
        mount_new(rootfs, "tmpfs", path, MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=0k,nr_inodes=2");
        return;
    }
    attach(rootfs, copy_tree(rootfs, "/dev/null"), path);
}

static void protect_path(struct rootfs *rootfs, const char *path)
{
    struct kernel_mount_attr attr = {.attr_set = KERNEL_MOUNT_ATTR_RDONLY};
    int at = open_below(path, O_PATH);

    if (at < 0) {
        return;
    }
    int tree = kernel_open_tree(at, "", KERNEL_OPEN_TREE_CLONE | KERNEL_OPEN_TREE_CLOEXEC | KERNEL_AT_RECURSIVE |
                                            KERNEL_AT_EMPTY_PATH);

    if (tree < 0 || kernel_mount_setattr(tree, KERNEL_AT_RECURSIVE, &attr) != 0 || kernel_move_mount(tree, at) != 0) {
        report_fail(rootfs->report, errno, "mount", "making %s read-only", path);
    }
    close(tree);
    close(at);
}

void rootfs_populate(struct rootfs *rootfs)
{
    const struct shim_container_plan *plan = rootfs->plan;
    bool has_dev = false;

    for (size_t i = 0; i < plan->mounts.len; i++) {
        const struct shim_mount *mount = &plan->mounts.items[i];

        switch ((enum plan_mount_kind)mount->kind) {
        case PLAN_MOUNT_BIND:
            attach(rootfs, rootfs->trees[i], mount->target.p);
            break;
        case PLAN_MOUNT_FS:
            mount_new(rootfs, mount->source.p, mount->target.p, mount->flags, mount->options.n ? mount->options.p : "");
            break;
        case PLAN_MOUNT_SHM:
            attach(rootfs, rootfs->shm, mount->target.p);
            break;
        case PLAN_MOUNT_CGROUP:
            mount_cgroups(rootfs, mount);
            break;
        }
        if (!has_dev && str_is(mount->target, "/dev")) {
            has_dev = true;
            make_devices(rootfs);
        }
    }
    LIST_EACH(path, &plan->masked_paths) {
        mask_path(rootfs, path->p);
    }
    LIST_EACH(path, &plan->read_only_paths) {
        protect_path(rootfs, path->p);
    }
}

void rootfs_seal(struct rootfs *rootfs, int terminal)
{
    if (terminal >= 0) {
        int tree = kernel_open_tree(terminal, "", KERNEL_OPEN_TREE_CLONE | KERNEL_OPEN_TREE_CLOEXEC |
                                                      KERNEL_AT_EMPTY_PATH);

        if (tree < 0) {
            report_fail(rootfs->report, errno, "tty", "the terminal for /dev/console");
        }
        attach(rootfs, tree, "/dev/console");
    }
    if (rootfs->plan->is_root_read_only) {
        struct kernel_mount_attr attr = {.attr_set = KERNEL_MOUNT_ATTR_RDONLY};
        int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

        if (root < 0 || kernel_mount_setattr(root, 0, &attr) != 0) {
            report_fail(rootfs->report, errno, "rootfs", "making the root read-only");
        }
        close(root);
    }
    for (size_t i = 0; i < rootfs->plan->cgroups.entries.len; i++) {
        if (rootfs->cgroups[i] >= 0) {
            close(rootfs->cgroups[i]); /* still open when no cgroup mount was asked for; EBADF does not matter */
        }
    }
}
