#include "runtime/images/tree_copy.h"

#include "base/arena.h"
#include "base/map.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { DEPTH_MAX = 1024, NAMES_MAX = 64 << 10, VALUE_MAX = 64 << 10 };

struct copy {
    struct arena *arena;
    enum tree_copy_mode mode;
    int root;          /* of the copy */
    struct map linked; /* path in the copy of files with several names, by device and inode */
    const char *path;  /* at hand, for errors */
};

static struct status *failed(const struct copy *copy, const char *what)
{
    return status_errno(errno, "%s %s", what, copy->path);
}

static struct status *copy_bytes(const struct copy *copy, int from, int to)
{
    ssize_t n;

    if (ioctl(to, FICLONE, from) == 0) {
        return NULL; /* the file system shares the blocks */
    }
    do {
        n = copy_file_range(from, NULL, to, NULL, (size_t)1 << 30, 0);
    } while (n > 0 || (n < 0 && errno == EINTR));
    return n < 0 ? failed(copy, "copying") : NULL;
}

static struct status *copy_xattrs(const struct copy *copy, int from, int to)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    char *names = arena_alloc(arena, NAMES_MAX), *value = arena_alloc(arena, VALUE_MAX);
    ssize_t size = flistxattr(from, names, NAMES_MAX);

    for (const char *name = names; size > 0 && name < names + size; name += strlen(name) + 1) {
        ssize_t length = fgetxattr(from, name, value, VALUE_MAX);

        if (length >= 0 && fsetxattr(to, name, value, (size_t)length, 0) != 0 && errno != ENOTSUP && errno != EPERM) {
            return failed(copy, "setting an extended attribute of");
        }
    }
    return NULL;
}

static struct status *copy_attributes(const struct copy *copy, int from, int to, const struct stat *like)
{
    struct timespec times[2] = {like->st_mtim, like->st_mtim};

    if (fchown(to, like->st_uid, like->st_gid) != 0 || fchmod(to, like->st_mode & 07777) != 0) {
        return failed(copy, "setting owner and mode of");
    }
    TRY(copy_xattrs(copy, from, to));
    return futimens(to, times) != 0 ? failed(copy, "setting the time of") : NULL;
}

static void close_both(int a, int b)
{
    if (a >= 0) {
        close(a);
    }
    if (b >= 0) {
        close(b);
    }
}

static struct status *copy_file(const struct copy *copy, int from_at, int to_at, const char *name,
                                const struct stat *like)
{
    int from = openat(from_at, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int to = openat(to_at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct status *failure = from < 0 || to < 0 ? failed(copy, "copying") : copy_bytes(copy, from, to);

    if (failure == NULL) {
        failure = copy_attributes(copy, from, to, like);
    }
    close_both(from, to);
    return failure;
}

/* Symbolic links, devices, pipes, sockets. */
static struct status *copy_special(const struct copy *copy, int from_at, int to_at, const char *name,
                                   const struct stat *like)
{
    char target[4096];
    struct timespec times[2] = {like->st_mtim, like->st_mtim};
    int result;

    if (S_ISLNK(like->st_mode)) {
        ssize_t n = readlinkat(from_at, name, target, sizeof(target) - 1);

        target[n > 0 ? n : 0] = '\0';
        result = n < 0 ? -1 : symlinkat(target, to_at, name);
    } else {
        result = mknodat(to_at, name, like->st_mode, like->st_rdev);
    }
    if (result != 0 || fchownat(to_at, name, like->st_uid, like->st_gid, AT_SYMLINK_NOFOLLOW) != 0 ||
        (!S_ISLNK(like->st_mode) && fchmodat(to_at, name, like->st_mode & 07777, 0) != 0) ||
        utimensat(to_at, name, times, AT_SYMLINK_NOFOLLOW) != 0) {
        return failed(copy, "copying");
    }
    return NULL;
}

static struct status *copy_entry(struct copy *copy, int from_at, int to_at, const char *name, struct str path,
                                 const struct stat *like)
{
    if (copy->mode == TREE_COPY_LINKS) {
        return linkat(from_at, name, to_at, name, 0) != 0 ? failed(copy, "linking") : NULL;
    }
    struct str key = arena_printf(copy->arena, "%llx:%llx", (long long)like->st_dev, (long long)like->st_ino);
    const char *first = like->st_nlink > 1 ? map_find(&copy->linked, key) : NULL;

    if (first != NULL) {
        return linkat(copy->root, first, to_at, name, 0) != 0 ? failed(copy, "linking") : NULL;
    }
    if (like->st_nlink > 1) {
        map_set(&copy->linked, key, arena_cstr(copy->arena, path));
    }
    return S_ISREG(like->st_mode) ? copy_file(copy, from_at, to_at, name, like)
                                  : copy_special(copy, from_at, to_at, name, like);
}

static struct status *copy_directory(struct copy *copy, int from, int to, struct str path, int depth);

static struct status *copy_below(struct copy *copy, int from_at, int to_at, const char *name, struct str path,
                                 int depth)
{
    int from = openat(from_at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), to = -1;

    if (from < 0 || mkdirat(to_at, name, 0700) != 0 ||
        (to = openat(to_at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0) {
        struct status *failure = failed(copy, "copying");

        close_both(from, to);
        return failure;
    }
    struct status *failure = copy_directory(copy, from, to, path, depth + 1);

    close_both(from, to);
    return failure;
}

static struct status *copy_names(struct copy *copy, DIR *names, int from, int to, struct str path, int depth)
{
    for (struct dirent *entry; (entry = readdir(names)) != NULL;) {
        const char *name = entry->d_name;
        struct stat like;

        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
            continue;
        }
        struct str below = arena_printf(copy->arena, "%.*s%s%s", STR_ARG(path), path.n > 0 ? "/" : "", name);

        copy->path = below.p;
        if (fstatat(from, name, &like, AT_SYMLINK_NOFOLLOW) != 0) {
            return failed(copy, "copying");
        }
        TRY(S_ISDIR(like.st_mode) ? copy_below(copy, from, to, name, below, depth)
                                  : copy_entry(copy, from, to, name, below, &like));
    }
    return NULL;
}

/* The directory's own attributes come last: filling it changes its time. */
static struct status *copy_directory(struct copy *copy, int from, int to, struct str path, int depth)
{
    struct stat like;
    int list = depth < DEPTH_MAX ? dup(from) : -1;
    DIR *names = list < 0 ? NULL : fdopendir(list);

    if (names == NULL) {
        errno = depth < DEPTH_MAX ? errno : ELOOP;
        close_both(list, -1);
        return failed(copy, "copying");
    }
    struct status *failure = copy_names(copy, names, from, to, path, depth);

    closedir(names);
    TRY(failure);
    copy->path = path.n > 0 ? path.p : "/";
    return fstat(from, &like) != 0 ? failed(copy, "copying") : copy_attributes(copy, from, to, &like);
}

struct status *tree_copy(const char *from, const char *to, enum tree_copy_mode mode)
{
    struct copy copy = {.arena = arena_new(), .mode = mode, .path = from};
    int source = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    copy.root = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct status *failure = source < 0 || copy.root < 0 ? failed(&copy, "copying")
                                                         : copy_directory(&copy, source, copy.root, STR(""), 0);

    close_both(source, copy.root);
    map_done(&copy.linked);
    arena_free(copy.arena);
    return failure;
}
