#include "runtime/images/rooted.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LINKS_MAX = 40, DEPTH_MAX = 2048 };

/* Appends the cleaned components of `path` to those in `out`. */
static bool clean_onto(const char *path, char *out)
{
    size_t length = strlen(out);

    while (*path != '\0') {
        size_t part = strcspn(path, "/");

        if (part == 2 && path[0] == '.' && path[1] == '.') {
            while (length > 0 && out[--length] != '/') {
            }
        } else if (part > 0 && !(part == 1 && path[0] == '.')) {
            if (length + part + 2 > PATH_MAX) {
                return false;
            }
            if (length > 0) {
                out[length++] = '/';
            }
            memcpy(out + length, path, part);
            length += part;
        }
        out[length] = '\0';
        path += part;
        path += *path == '/';
    }
    return true;
}

bool rooted_clean(const char *path, char *out)
{
    out[0] = '\0';
    return clean_onto(path, out);
}

int rooted_open(int root, const char *path, int flags)
{
    struct open_how how = {
        .flags = (uint64_t)flags | O_CLOEXEC,
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
    };
    long fd;

    /* EAGAIN: something was renamed while the kernel looked; that is ours to try again. */
    do {
        fd = syscall(SYS_openat2, root, path[0] == '\0' ? "." : path, &how, sizeof(how));
    } while (fd < 0 && (errno == EAGAIN || errno == EINTR));
    return (int)fd;
}

/* Makes the last component of the clean path in its parent, which is there. -1 with ELOOP when a symbolic link that
 * leads nowhere is in the way: *target gets its clean target. */
static int make_one(int root, const char *path, rooted_owner_fn *owner, void *arg, char *target)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    char parent_path[PATH_MAX];

    memcpy(parent_path, path, (size_t)(name - path));
    parent_path[name - path] = '\0';
    int parent = rooted_open(root, parent_path, O_PATH | O_DIRECTORY);

    if (parent < 0) {
        return -1;
    }
    struct rooted_owner wanted = owner != NULL ? owner(arg, path) : (struct rooted_owner){0755, 0, 0};
    int result = mkdirat(parent, name, 0700);

    if (result == 0) {
        /* Just made and nobody else works here, so the name is still the directory. */
        if (fchownat(parent, name, wanted.uid, wanted.gid, AT_SYMLINK_NOFOLLOW) != 0 ||
            fchmodat(parent, name, wanted.mode, 0) != 0) {
            result = -1;
        }
    } else if (errno == EEXIST) {
        char link[PATH_MAX];
        ssize_t length = readlinkat(parent, name, link, sizeof(link) - 1);

        if (length <= 0) {
            errno = ENOTDIR;
        } else {
            link[length] = '\0';
            strcpy(target, link[0] == '/' ? "" : parent_path);
            errno = clean_onto(link, target) ? ELOOP : ENAMETOOLONG;
        }
    }
    int error = errno;

    close(parent);
    errno = error;
    return result;
}

/* `links` counts symbolic links followed so far. */
static int make_directory(int root, const char *path, rooted_owner_fn *owner, void *arg, int64_t *made_count, int links)
{
    int fd = rooted_open(root, path, O_PATH | O_DIRECTORY);

    if (fd >= 0 || errno != ENOENT) {
        return fd;
    }
    char part[PATH_MAX], target[PATH_MAX];

    for (const char *end = path; end != NULL && *end != '\0';) {
        end = strchr(end + 1, '/');
        size_t length = end != NULL ? (size_t)(end - path) : strlen(path);

        memcpy(part, path, length);
        part[length] = '\0';
        fd = rooted_open(root, part, O_PATH | O_DIRECTORY);
        if (fd >= 0) {
            close(fd);
            continue;
        }
        if (errno != ENOENT) {
            return -1;
        }
        if (make_one(root, part, owner, arg, target) == 0) {
            ++*made_count;
            continue;
        }
        if (errno != ELOOP || links >= LINKS_MAX || !clean_onto(end != NULL ? end : "", target)) {
            return -1;
        }
        return make_directory(root, target, owner, arg, made_count, links + 1);
    }
    return rooted_open(root, path, O_PATH | O_DIRECTORY);
}

int rooted_make_directory(int root, const char *path, rooted_owner_fn *owner, void *arg, int64_t *made_count)
{
    return make_directory(root, path, owner, arg, made_count, 0);
}

static bool is_dot(const char *name)
{
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static int remove_below(int at, const char *name, int depth)
{
    if (unlinkat(at, name, 0) == 0 || errno == ENOENT) {
        return 0;
    }
    if (errno != EISDIR && errno != EPERM) {
        return -1;
    }
    if (depth >= DEPTH_MAX) {
        errno = ELOOP;
        return -1;
    }
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;

    if (directory == NULL) {
        return -1;
    }
    int result = 0;

    for (struct dirent *entry; result == 0 && (entry = readdir(directory)) != NULL;) {
        if (!is_dot(entry->d_name)) {
            result = remove_below(fd, entry->d_name, depth + 1);
        }
    }
    int error = errno;

    closedir(directory);
    if (result == 0) {
        return unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : -1;
    }
    errno = error;
    return result;
}

int rooted_remove(int at, const char *name)
{
    return remove_below(at, name, 0);
}
