#include "runtime/images/unpack.h"

#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "runtime/images/layered.h"
#include "runtime/images/rooted.h"
#include "runtime/images/tar_reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* Times of directories are set last: making what is in them changes them. */
struct directory_time {
    struct str path;
    struct timespec mtime;
};

struct unpack {
    const struct unpack_options *options;
    int root;
    int *lowers;
    struct arena *arena;
    VEC(struct directory_time) times;
    struct map own; /* paths that this layer has itself; only when it is unpacked flat */
    struct unpack_result result;
    int64_t entries;
    /* the entry at hand */
    const struct tar_entry *entry;
    char path[PATH_MAX]; /* clean */
    const char *name;    /* last component; "" for the root */
    int parent;
};

enum unpack_name unpack_classify(const char *name, const char **ret_name)
{
    if (strncmp(name, ".wh.", 4) != 0) {
        return UNPACK_PLAIN;
    }
    if (strcmp(name, ".wh..wh..opq") == 0) {
        return UNPACK_OPAQUE;
    }
    if (strncmp(name, ".wh..wh.", 8) == 0 || name[4] == '\0' || strcmp(name + 4, ".") == 0 ||
        strcmp(name + 4, "..") == 0) {
        return UNPACK_RESERVED;
    }
    *ret_name = name + 4;
    return UNPACK_WHITEOUT;
}

/* A failed system call; a full disk is said as such by errno's text. */
static struct status *failed(const struct unpack *unpack, const char *what)
{
    int error = errno;

    if (error == EEXIST || error == ENOTDIR || error == ENOENT || error == ELOOP || error == ENAMETOOLONG) {
        return status_new(STATUS_BAD_REQUEST, "%s %s: %s", what, unpack->entry->path, strerrordesc_np(error));
    }
    return status_errno(error, "%s %s", what, unpack->entry->path);
}

static struct rooted_owner owner_below(void *arg, const char *path)
{
    struct unpack *unpack = arg;

    for (size_t i = 0; i < unpack->options->lower_count; i++) {
        struct stat found;
        int fd = rooted_open(unpack->lowers[i], path, O_PATH | O_DIRECTORY);

        if (fd >= 0) {
            int result = fstat(fd, &found);

            close(fd);
            if (result == 0) {
                return (struct rooted_owner){found.st_mode & 07777, found.st_uid, found.st_gid};
            }
        }
    }
    return (struct rooted_owner){0755, 0, 0};
}

static struct status *open_parent(struct unpack *unpack)
{
    char *slash = strrchr(unpack->path, '/');
    char parent[PATH_MAX] = "", seen[PATH_MAX];

    unpack->name = slash != NULL ? slash + 1 : unpack->path;
    if (slash != NULL) {
        memcpy(parent, unpack->path, (size_t)(slash - unpack->path));
    }
    unpack->parent = rooted_open(unpack->root, parent, O_PATH | O_DIRECTORY);
    if (unpack->parent >= 0) {
        return NULL;
    }
    if (!layered_follow(unpack->root, unpack->lowers, unpack->options->lower_count, parent, seen)) {
        errno = ELOOP;
        return failed(unpack, "making the directory of");
    }
    unpack->parent = rooted_make_directory(unpack->root, seen, owner_below, unpack, &unpack->result.inodes);
    return unpack->parent < 0 ? failed(unpack, "making the directory of") : NULL;
}

/* O_PATH fds take no extended attributes, so directories are opened for reading. */
static struct status *make_opaque(struct unpack *unpack, const char *name)
{
    int fd = openat(unpack->parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct status *failure = NULL;

    if (fd < 0 || fsetxattr(fd, "trusted.overlay.opaque", "y", 1, 0) != 0) {
        failure = failed(unpack, "making opaque");
    }
    if (fd >= 0) {
        close(fd);
    }
    return failure;
}

/* Whether the layer has something of that path itself, or below it. */
static bool is_own(const struct unpack *unpack, struct str path)
{
    return map_find(&unpack->own, path) != NULL;
}

static void remember_own(struct unpack *unpack)
{
    static char marked;
    struct str path = str_of(unpack->path);

    if (unpack->options->is_flat) {
        for (; path.n > 0 && !is_own(unpack, path); path = str_sub(path, 0, str_last_index(path, '/'))) {
            map_set(&unpack->own, path, &marked);
            if (str_index(path, '/') == SIZE_MAX) {
                break;
            }
        }
    }
}

/* Removes what lower layers have in directory `name` of `at` (clean path `directory`), whatever the order of entries in
 * this one. */
static struct status *purge(struct unpack *unpack, int at, const char *name, struct str directory)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *names = fd < 0 ? NULL : fdopendir(fd);
    struct status *failure = NULL;

    if (names == NULL) {
        failure = failed(unpack, "making opaque");
        if (fd >= 0) {
            close(fd);
        }
        return failure;
    }
    for (struct dirent *entry; failure == NULL && (entry = readdir(names)) != NULL;) {
        struct str path = arena_printf(arena, "%.*s%s%s", STR_ARG(directory), directory.n > 0 ? "/" : "",
                                       entry->d_name);

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        if (!is_own(unpack, path)) {
            failure = rooted_remove(fd, entry->d_name) != 0 ? failed(unpack, "removing below") : NULL;
        } else if (entry->d_type == DT_DIR) {
            failure = purge(unpack, fd, entry->d_name, path);
        }
    }
    closedir(names);
    return failure;
}

/* Whiteouts where the layers below lie in the same directory. */
static struct status *take_away(struct unpack *unpack, const char *gone)
{
    size_t parent = strlen(unpack->path) - strlen(unpack->name);
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str path = arena_printf(arena, "%.*s%s", (int)parent, unpack->path, gone);
    struct stat there;

    if (!is_own(unpack, path)) {
        return rooted_remove(unpack->parent, gone) != 0 ? failed(unpack, "removing what is gone by") : NULL;
    }
    bool is_directory = fstatat(unpack->parent, gone, &there, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(there.st_mode);

    return is_directory ? purge(unpack, unpack->parent, gone, path) : NULL;
}

static struct status *make_whiteout(struct unpack *unpack, const char *gone)
{
    struct stat there;

    if (unpack->options->is_flat) {
        return take_away(unpack, gone);
    }
    if (mknodat(unpack->parent, gone, S_IFCHR, makedev(0, 0)) == 0) {
        unpack->result.inodes++;
        return NULL;
    }
    if (errno != EEXIST || fstatat(unpack->parent, gone, &there, AT_SYMLINK_NOFOLLOW) != 0) {
        return failed(unpack, "making the whiteout");
    }
    /* The layer has something of that name itself: what is gone is what lies below it. */
    return S_ISDIR(there.st_mode) ? make_opaque(unpack, gone) : NULL;
}

/* The directory that an opaque marker lies in. */
static struct status *hide_below(struct unpack *unpack)
{
    size_t length = (size_t)(unpack->name - unpack->path);

    if (!unpack->options->is_flat) {
        return make_opaque(unpack, ".");
    }
    return purge(unpack, unpack->parent, ".", (struct str){unpack->path, length > 0 ? length - 1 : 0});
}

/* Clears the place for the entry. *ret_keeps: a directory is there and stays; *ret_hides: a whiteout was there. */
static struct status *clear_place(struct unpack *unpack, bool *ret_keeps, bool *ret_hides)
{
    struct stat there;

    *ret_keeps = *ret_hides = false;
    if (fstatat(unpack->parent, unpack->name, &there, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? NULL : failed(unpack, "looking for");
    }
    if (S_ISDIR(there.st_mode) && unpack->entry->type == TAR_DIRECTORY) {
        *ret_keeps = true;
        return NULL;
    }
    *ret_hides = S_ISCHR(there.st_mode) && there.st_rdev == makedev(0, 0);
    return rooted_remove(unpack->parent, unpack->name) != 0 ? failed(unpack, "replacing") : NULL;
}

static struct status *write_data(struct unpack *unpack, struct tar_reader *reader, int fd)
{
    int64_t end = 0;

    for (;;) {
        const void *bytes;
        size_t size;
        int64_t offset;

        TRY(tar_reader_data(reader, &bytes, &size, &offset));
        if (size == 0) {
            break;
        }
        if (offset < 0 || offset > unpack->entry->size || (int64_t)size > unpack->entry->size - offset) {
            return status_new(STATUS_BAD_REQUEST, "%s: data past the end of the file", unpack->entry->path);
        }
        unpack->result.bytes += ((int64_t)size + PAGE - 1) / PAGE * PAGE;
        end = offset + (int64_t)size;
        for (size_t done = 0; done < size;) {
            ssize_t written = pwrite(fd, (const char *)bytes + done, size - done, offset + (int64_t)done);

            if (written < 0 && errno != EINTR) {
                return failed(unpack, "writing");
            }
            done += written > 0 ? (size_t)written : 0;
        }
    }
    if (end != unpack->entry->size && ftruncate(fd, unpack->entry->size) != 0) {
        return failed(unpack, "writing");
    }
    return NULL;
}

static bool is_kept_xattr(const char *name)
{
    /* overlayfs' own marks are ours to set: a layer must not redirect or hide what it does not hold. */
    return strncmp(name, "trusted.overlay.", 16) != 0 && strncmp(name, "user.overlay.", 13) != 0;
}

/* Attributes that this file system or our privileges do not allow are left out, as stock's containerd does for those of
 * the trusted and user namespaces; a file capability that can't be set is an error. */
static struct status *set_xattrs(struct unpack *unpack, int fd)
{
    for (size_t i = 0; i < unpack->entry->xattr_count; i++) {
        const struct tar_xattr *xattr = &unpack->entry->xattrs[i];

        if (!is_kept_xattr(xattr->name) || fsetxattr(fd, xattr->name, xattr->value, xattr->size, 0) == 0) {
            continue;
        }
        if ((errno == ENOTSUP || errno == EPERM) && strcmp(xattr->name, "security.capability") != 0) {
            continue;
        }
        return failed(unpack, "setting an extended attribute of");
    }
    return NULL;
}

static struct timespec entry_time(const struct tar_entry *entry)
{
    bool is_sane = entry->mtime_nanoseconds >= 0 && entry->mtime_nanoseconds < 1000000000;

    return (struct timespec){.tv_sec = entry->mtime_seconds, .tv_nsec = is_sane ? entry->mtime_nanoseconds : 0};
}

/* Owner, mode, attributes and time of an open file or directory. Changing the owner clears capabilities and setuid, so
 * it comes first. */
static struct status *set_attributes(struct unpack *unpack, int fd)
{
    const struct tar_entry *entry = unpack->entry;

    if (fchown(fd, entry->uid, entry->gid) != 0 || fchmod(fd, entry->mode & 07777) != 0) {
        return failed(unpack, "setting owner and mode of");
    }
    TRY(set_xattrs(unpack, fd));
    struct timespec times[2] = {entry_time(entry), entry_time(entry)};

    return futimens(fd, times) != 0 ? failed(unpack, "setting the time of") : NULL;
}

static struct status *make_file(struct unpack *unpack, struct tar_reader *reader)
{
    int fd = openat(unpack->parent, unpack->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0) {
        return failed(unpack, "making");
    }
    struct status *failure = write_data(unpack, reader, fd);

    if (failure == NULL) {
        failure = set_attributes(unpack, fd);
    }
    close(fd);
    return failure;
}

static struct status *make_directory(struct unpack *unpack, bool is_there, bool is_opaque)
{
    const char *name = unpack->name[0] == '\0' ? "." : unpack->name;

    if (!is_there && mkdirat(unpack->parent, name, 0700) != 0) {
        return failed(unpack, "making");
    }
    int fd = openat(unpack->parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0) {
        return failed(unpack, "opening");
    }
    struct status *failure = set_attributes(unpack, fd);

    close(fd);
    *VEC_ADD(&unpack->times) = (struct directory_time){
        .path = arena_str(unpack->arena, str_of(unpack->path)), .mtime = entry_time(unpack->entry)};
    return failure != NULL || !is_opaque ? failure : make_opaque(unpack, name);
}

static struct status *make_hardlink(struct unpack *unpack)
{
    char target[PATH_MAX], parent_path[PATH_MAX] = "", seen[PATH_MAX];

    if (!rooted_clean(unpack->entry->link, target)) {
        errno = ENAMETOOLONG;
        return failed(unpack, "linking");
    }
    char *slash = strrchr(target, '/');

    if (slash != NULL) {
        memcpy(parent_path, target, (size_t)(slash - target));
    }
    bool is_followed =
        layered_follow(unpack->root, unpack->lowers, unpack->options->lower_count, parent_path, seen);
    int parent = rooted_open(unpack->root, is_followed ? seen : parent_path, O_PATH | O_DIRECTORY);
    int result = parent < 0 ? -1
                            : linkat(parent, slash != NULL ? slash + 1 : target, unpack->parent, unpack->name, 0);
    int error = errno;

    if (parent >= 0) {
        close(parent);
    }
    if (result != 0) {
        return status_new(error == ENOSPC ? STATUS_INTERNAL_ERROR : STATUS_BAD_REQUEST, "linking %s to %s: %s",
                          unpack->entry->path, unpack->entry->link, strerrordesc_np(error));
    }
    return NULL;
}

/* Symbolic links, devices and pipes: made by name, and their attributes set by name, without following it. */
static struct status *make_special(struct unpack *unpack)
{
    const struct tar_entry *entry = unpack->entry;
    static const mode_t kinds[] = {[TAR_CHARACTER] = S_IFCHR, [TAR_BLOCK] = S_IFBLK, [TAR_FIFO] = S_IFIFO};
    int result = entry->type == TAR_SYMLINK ? symlinkat(entry->link, unpack->parent, unpack->name)
                                            : mknodat(unpack->parent, unpack->name, kinds[entry->type] | 0600,
                                                      makedev(entry->device_major, entry->device_minor));

    if (result != 0) {
        return failed(unpack, "making");
    }
    struct timespec times[2] = {entry_time(entry), entry_time(entry)};

    if (fchownat(unpack->parent, unpack->name, entry->uid, entry->gid, AT_SYMLINK_NOFOLLOW) != 0 ||
        (entry->type != TAR_SYMLINK && fchmodat(unpack->parent, unpack->name, entry->mode & 07777, 0) != 0) ||
        utimensat(unpack->parent, unpack->name, times, AT_SYMLINK_NOFOLLOW) != 0) {
        return failed(unpack, "setting owner and mode of");
    }
    return NULL;
}

static struct status *make_entry(struct unpack *unpack, struct tar_reader *reader)
{
    bool keeps = false, hides = false;

    if (unpack->name[0] != '\0') {
        TRY(clear_place(unpack, &keeps, &hides));
    } else if (unpack->entry->type != TAR_DIRECTORY) {
        return status_new(STATUS_BAD_REQUEST, "%s: the root is not a directory", unpack->entry->path);
    }
    unpack->result.inodes += !keeps;
    switch (unpack->entry->type) {
    case TAR_FILE: return make_file(unpack, reader);
    case TAR_DIRECTORY: return make_directory(unpack, keeps || unpack->name[0] == '\0', hides);
    case TAR_HARDLINK: return make_hardlink(unpack);
    default: return make_special(unpack);
    }
}

static struct status *unpack_entry(struct unpack *unpack, struct tar_reader *reader)
{
    const char *gone = NULL;
    const struct unpack_options *options = unpack->options;
    int64_t bytes_max = options->bytes_max > 0 ? options->bytes_max : LIMIT_IMAGE_LAYER_BYTES;

    if (++unpack->entries > (options->entries_max > 0 ? options->entries_max : LIMIT_IMAGE_LAYER_ENTRIES)) {
        return status_new(STATUS_REQUEST_ENTITY_TOO_LARGE, "too many entries in the layer");
    }
    if (unpack->entry->type == TAR_OTHER) {
        return NULL; /* sockets and the like: nothing a layer can hold */
    }
    if (unpack->entry->size < 0 || unpack->entry->size > bytes_max - unpack->result.bytes) {
        return status_new(STATUS_REQUEST_ENTITY_TOO_LARGE, "%s: too large for a layer", unpack->entry->path);
    }
    if (!rooted_clean(unpack->entry->path, unpack->path)) {
        return status_new(STATUS_BAD_REQUEST, "%.64s...: path too long", unpack->entry->path);
    }
    TRY(open_parent(unpack));
    enum unpack_name kind = unpack_classify(unpack->name, &gone);

    if (kind == UNPACK_PLAIN) {
        remember_own(unpack);
    }
    struct status *failure = kind == UNPACK_OPAQUE     ? hide_below(unpack)
                             : kind == UNPACK_WHITEOUT ? make_whiteout(unpack, gone)
                             : kind == UNPACK_PLAIN    ? make_entry(unpack, reader)
                                                       : NULL;

    close(unpack->parent);
    return failure;
}

static void set_directory_times(struct unpack *unpack)
{
    for (size_t i = unpack->times.len; i-- > 0;) {
        int fd = rooted_open(unpack->root, unpack->times.items[i].path.p, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);

        if (fd >= 0) { /* it may have been replaced since */
            struct timespec times[2] = {unpack->times.items[i].mtime, unpack->times.items[i].mtime};

            (void)!futimens(fd, times);
            close(fd);
        }
    }
}

static struct status *open_directories(struct unpack *unpack)
{
    const struct unpack_options *options = unpack->options;

    unpack->root = open(options->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (unpack->root < 0) {
        return status_errno(errno, "open %s", options->directory);
    }
    unpack->lowers = ARENA_ARRAY(unpack->arena, int, options->lower_count);
    for (size_t i = 0; i < options->lower_count; i++) {
        unpack->lowers[i] = -1;
    }
    for (size_t i = 0; i < options->lower_count; i++) {
        unpack->lowers[i] = open(options->lowers[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (unpack->lowers[i] < 0) {
            return status_errno(errno, "open %s", options->lowers[i]);
        }
    }
    return NULL;
}

static void close_directories(struct unpack *unpack)
{
    for (size_t i = 0; unpack->lowers != NULL && i < unpack->options->lower_count; i++) {
        if (unpack->lowers[i] >= 0) {
            close(unpack->lowers[i]);
        }
    }
    if (unpack->root >= 0) {
        close(unpack->root);
    }
}

struct status *unpack_entries(struct tar_reader *reader, const struct unpack_options *options, struct unpack_result *ret)
{
    struct unpack unpack = {.options = options, .root = -1, .arena = arena_new()};
    struct status *failure = open_directories(&unpack);

    while (failure == NULL) {
        failure = tar_reader_next(reader, &unpack.entry);
        if (failure != NULL || unpack.entry == NULL) {
            break;
        }
        failure = unpack_entry(&unpack, reader);
    }
    if (failure == NULL) {
        set_directory_times(&unpack);
        *ret = unpack.result;
    }
    close_directories(&unpack);
    free(unpack.times.items);
    map_done(&unpack.own);
    arena_free(unpack.arena);
    return failure;
}

struct status *unpack_layer(int fd, const struct unpack_options *options, struct arena *arena,
                            struct unpack_result *ret)
{
    OWNED(tar_reader_freep) struct tar_reader *reader = NULL;
    struct unpack_result result = {0};
    int64_t bytes_max = options->bytes_max > 0 ? options->bytes_max : LIMIT_IMAGE_LAYER_BYTES;

    TRY(tar_reader_open(fd, bytes_max, options->is_cancelled, &reader));
    TRY(unpack_entries(reader, options, &result));
    TRY(tar_reader_finish(reader, arena, &result.diff_id));
    *ret = result;
    return NULL;
}
