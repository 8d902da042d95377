#include "base/buf.h"
#include "base/file.h"
#include "runtime/images/digest.h"
#include "runtime/images/rooted.h"
#include "runtime/images/snapshot_parts.h"
#include "runtime/images/tree_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { DEPTH_MAX = 256, CHAIN_MAX = 256 };

static void closep(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
}

static bool is_container_id(struct str id)
{
    for (size_t i = 0; i < id.n; i++) {
        char c = id.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
              (c == '.' && i > 0))) {
            return false;
        }
    }
    return id.n > 0 && id.n <= 200;
}

struct status *container_chain(const struct snapshots *snapshots, struct arena *arena, struct str container_id,
                               struct str *ret_chain_id)
{
    struct str path = snapshots_path(snapshots, arena, "containers", container_id), text;

    TRY(file_read(arena, arena_printf(arena, "%s/chain", path.p).p, CHAIN_MAX, &text));
    text = str_trim(text);
    if (str_is(text, "-")) {
        text = (struct str){0};
    } else if (!digest_is_valid(text)) {
        return status_new(STATUS_NOT_FOUND, "%s/chain is broken", path.p);
    }
    *ret_chain_id = text;
    return NULL;
}

/* The chain file comes first: from then on a collection keeps the layers. */
static struct status *make_container(struct snapshots *snapshots, struct arena *arena, struct str path,
                                     struct str chain_id)
{
    struct str chain = arena_printf(arena, "%s/chain", path.p), fresh = arena_printf(arena, "%s/chain.new", path.p);
    struct str text = chain_id.n > 0 ? chain_id : STR("-");

    if (mkdir(path.p, 0700) != 0 && errno != EEXIST) {
        return status_errno(errno, "making %s", path.p);
    }
    /* Containers end when the machine does, so what is in the page cache is enough. */
    OWNED(closep) int fd = open(fresh.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n || rename(fresh.p, chain.p) != 0) {
        return status_errno(errno, "writing %s", chain.p);
    }
    return NULL;
}

/* The root directory that a container sees is that of `upper`; it looks like the image's. */
static struct status *make_upper(struct str upper, struct str work, const char *top)
{
    struct stat like = {.st_mode = 0755};

    if (top != NULL && stat(top, &like) != 0) {
        return status_errno(errno, "looking at %s", top);
    }
    if ((mkdir(work.p, 0700) != 0 && errno != EEXIST)) {
        return status_errno(errno, "making %s", work.p);
    }
    if (mkdir(upper.p, 0700) != 0) {
        return errno == EEXIST ? NULL : status_errno(errno, "making %s", upper.p);
    }
    return chown(upper.p, like.st_uid, like.st_gid) != 0 || chmod(upper.p, like.st_mode & 07777) != 0
               ? status_errno(errno, "making %s", upper.p)
               : NULL;
}

/* The whole image for this container alone; what an earlier try left unfinished goes first. */
static struct status *copy_root(struct arena *arena, const char *top, struct str upper)
{
    struct str fresh = arena_printf(arena, "%s.new", upper.p);

    if (file_exists(upper.p)) {
        return NULL;
    }
    if (rooted_remove(AT_FDCWD, fresh.p) != 0 || mkdir(fresh.p, 0700) != 0) {
        return status_errno(errno, "making %s", fresh.p);
    }
    TRY(tree_copy(top, fresh.p, TREE_COPY_DATA));
    return rename(fresh.p, upper.p) != 0 ? status_errno(errno, "making %s", upper.p) : NULL;
}

static struct status *prepare(struct snapshots *snapshots, struct str container_id, struct str chain_id,
                              struct arena *arena, struct snapshot_mount *ret)
{
    struct str path = snapshots_path(snapshots, arena, "containers", container_id), made_on;
    struct status *failure = container_chain(snapshots, arena, container_id, &made_on);
    struct str_list layers;

    if (failure == NULL && !str_eq(made_on, chain_id)) {
        return status_new(STATUS_ALREADY_EXISTS, "container %.*s was made on another image", STR_ARG(container_id));
    }
    TRY(chain_layers(snapshots, arena, chain_id, &layers));
    if (status_free_if(&failure, STATUS_NOT_FOUND)) {
        TRY(make_container(snapshots, arena, path, chain_id));
    }
    TRY(failure);
    *ret = (struct snapshot_mount){
        .directory = snapshots_path(snapshots, arena, "layers", STR("")),
        .layers = layers.items,
        .layer_count = layers.len,
        .upper = arena_printf(arena, "%s/upper", path.p),
        .work = arena_printf(arena, "%s/work", path.p),
    };
    const char *top = layers.len > 0 ? snapshots_path(snapshots, arena, "layers", layers.items[0]).p : NULL;

    if (snapshots->is_flat && top != NULL) {
        ret->layer_count = 0;
        return copy_root(arena, top, ret->upper);
    }
    return make_upper(ret->upper, ret->work, top);
}

struct status *snapshots_prepare(struct snapshots *snapshots, struct str container_id, struct str chain_id,
                                 struct arena *arena, struct snapshot_mount *ret)
{
    OWNED(closep) int hold = -1;

    if (!is_container_id(container_id)) {
        return status_new(STATUS_BAD_REQUEST, "invalid container ID \"%.*s\"", STR_ARG(container_id));
    }
    TRY(snapshots_hold(snapshots, &hold));
    return prepare(snapshots, container_id, chain_id, arena, ret);
}

struct status *snapshots_discard(struct snapshots *snapshots, struct str container_id)
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    if (!is_container_id(container_id)) {
        return status_new(STATUS_BAD_REQUEST, "invalid container ID \"%.*s\"", STR_ARG(container_id));
    }
    struct str path = snapshots_path(snapshots, arena, "containers", container_id);

    return rooted_remove(AT_FDCWD, path.p) != 0 ? status_errno(errno, "removing %s", path.p) : NULL;
}

/* Files with several names count once, as long as all their names are below. */
static void add_usage(int at, const char *name, int depth, int64_t *bytes, int64_t *inodes)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);

    if (directory == NULL) {
        if (fd >= 0) {
            close(fd);
        }
        return; /* it went away meanwhile */
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        struct stat found;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(fd, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        *inodes += 1;
        *bytes += found.st_blocks * 512 / (S_ISDIR(found.st_mode) || found.st_nlink == 0 ? 1 : (int64_t)found.st_nlink);
        if (S_ISDIR(found.st_mode) && depth < DEPTH_MAX) {
            add_usage(fd, entry->d_name, depth + 1, bytes, inodes);
        }
    }
    closedir(directory);
}

struct status *snapshots_container_usage(struct snapshots *snapshots, struct str container_id, int64_t *ret_bytes,
                                         int64_t *ret_inodes)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str path = snapshots_path(snapshots, arena, "containers", container_id);
    struct str upper = arena_printf(arena, "%s/upper", path.p);

    if (!is_container_id(container_id) || !file_exists(upper.p)) {
        return status_new(STATUS_NOT_FOUND, "container %.*s has no layer of its own", STR_ARG(container_id));
    }
    *ret_bytes = 4096;
    *ret_inodes = 1; /* the root */
    add_usage(AT_FDCWD, upper.p, 0, ret_bytes, ret_inodes);
    return NULL;
}

struct status *snapshots_containers(struct snapshots *snapshots, struct arena *arena, struct str_list *ret)
{
    return directory_names(arena, snapshots_path(snapshots, arena, "containers", STR("")), ret);
}

/* Layers are named by way of an open directory, so that the options of very many fit in the kernel's one page. */
struct status *snapshot_mount(const struct snapshot_mount *wanted, const char *target)
{
    OWNED(buf_done) struct buf options = {0};

    if (wanted->layer_count == 0) {
        return mount(wanted->upper.p, target, NULL, MS_BIND, NULL) != 0
                   ? status_errno(errno, "binding %s to %s", wanted->upper.p, target)
                   : NULL;
    }
    OWNED(closep) int directory = open(wanted->directory.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (directory < 0) {
        return status_errno(errno, "opening %s", wanted->directory.p);
    }
    for (size_t i = 0; i < wanted->layer_count; i++) {
        buf_printf(&options, "%s/proc/self/fd/%d/%.*s", i > 0 ? ":" : "lowerdir=", directory,
                   STR_ARG(wanted->layers[i]));
    }
    buf_printf(&options, ",upperdir=%s,workdir=%s", wanted->upper.p, wanted->work.p);
    return mount("overlay", target, "overlay", 0, buf_cstr(&options)) != 0
               ? status_errno(errno, "mounting overlayfs of %zu layers on %s", wanted->layer_count, target)
               : NULL;
}

static bool try_overlay(struct arena *arena, const char *probe)
{
    static const char *const parts[] = {"lower", "upper", "work"};
    OWNED(closep) int fs = fsopen("overlay", FSOPEN_CLOEXEC);
    bool is_fine = fs >= 0;

    for (size_t i = 0; i < COUNT_OF(parts) && is_fine; i++) {
        struct str path = arena_printf(arena, "%s/%s", probe, parts[i]);

        is_fine = mkdir(path.p, 0700) == 0 &&
                  fsconfig(fs, FSCONFIG_SET_STRING, arena_printf(arena, "%sdir", parts[i]).p, path.p, 0) == 0;
    }
    return is_fine && mknod(arena_printf(arena, "%s/lower/gone", probe).p, S_IFCHR, 0) == 0 &&
           setxattr(arena_printf(arena, "%s/lower", probe).p, "trusted.overlay.opaque", "y", 1, 0) == 0 &&
           fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0; /* made, but never put anywhere */
}

bool snapshots_can_overlay(const char *directory)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str probe = arena_printf(arena, "%s/probe", directory);

    if (rooted_remove(AT_FDCWD, probe.p) != 0 || mkdir(probe.p, 0700) != 0) {
        return true; /* another trouble, that shows by itself */
    }
    bool is_fine = try_overlay(arena, probe.p);

    rooted_remove(AT_FDCWD, probe.p);
    return is_fine;
}
