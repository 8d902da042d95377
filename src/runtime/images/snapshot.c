#include "runtime/images/snapshot.h"

#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "runtime/images/digest.h"
#include "runtime/images/rooted.h"
#include "runtime/images/snapshot_parts.h"
#include "runtime/images/tree_copy.h"
#include "runtime/images/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORD_MAX = 1024, LAYER_NUMBER_TRIES = 1000 };

struct str snapshots_path(const struct snapshots *snapshots, struct arena *arena, const char *part, struct str name)
{
    return arena_printf(arena, "%s/%s%s%.*s", snapshots->directory, part, name.n > 0 ? "/" : "", STR_ARG(name));
}

/* Once for all: when the first layer is yet to come. */
static struct status *choose_form(struct arena *arena, const char *directory)
{
    if (file_exists(arena_printf(arena, "%s/layers", directory).p) || snapshots_can_overlay(directory)) {
        return NULL;
    }
    log_warn("no overlayfs in %s: containers get copies of their images", directory);
    return file_write(arena_printf(arena, "%s/flat", directory).p, STR("\n"), 0600);
}

struct status *snapshots_open(struct str directory, struct snapshots **ret)
{
    static const char *const parts[] = {"layers", "chains", "containers", "trash"};
    OWNED(arena_freep) struct arena *arena = arena_new();
    char *wanted = arena_cstr(arena, directory), resolved[PATH_MAX];

    TRY(file_make_directories(wanted, 0700));
    if (realpath(wanted, resolved) == NULL) {
        return status_errno(errno, "resolving %s", wanted);
    }
    if (strpbrk(resolved, ",:\\") != NULL) {
        return status_new(STATUS_BAD_REQUEST, "%s: overlayfs can't take a path with \",\", \":\" or \"\\\"", resolved);
    }
    TRY(choose_form(arena, resolved));
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        TRY(file_make_directories(arena_printf(arena, "%s/%s", resolved, parts[i]).p, 0700));
    }
    *ret = MEM_NEW(struct snapshots);
    (*ret)->directory = mem_strdup(resolved);
    (*ret)->is_flat = file_exists(arena_printf(arena, "%s/flat", resolved).p);
    return NULL;
}

void snapshots_close(struct snapshots *snapshots)
{
    if (snapshots != NULL) {
        free(snapshots->directory);
        free(snapshots);
    }
}

struct str snapshots_directory(const struct snapshots *snapshots)
{
    return str_of(snapshots->directory);
}

struct str snapshot_chain_id(struct arena *arena, struct str parent, struct str diff_id)
{
    if (parent.n == 0) {
        return diff_id;
    }
    return digest_of(arena, arena_printf(arena, "%.*s %.*s", STR_ARG(parent), STR_ARG(diff_id)));
}

struct str chain_file_name(struct arena *arena, struct str chain_id)
{
    struct str algorithm = digest_algorithm(chain_id), hex = digest_hex(chain_id);

    return arena_printf(arena, "%.*s-%.*s", STR_ARG(algorithm), STR_ARG(hex));
}

static struct status *chain_not_found(struct str chain_id)
{
    return status_new(STATUS_NOT_FOUND, "layer %.*s is not there", STR_ARG(chain_id));
}

static bool decode_record(struct str text, struct chain_record *ret)
{
    struct str number, bytes, inodes, rest = str_trim(text);

    *ret = (struct chain_record){0};
    return str_cut(rest, ' ', &number, &rest) && str_cut(rest, ' ', &bytes, &rest) &&
           str_cut(rest, ' ', &inodes, &ret->parent) && str_to_i64(number, &ret->layer) && ret->layer > 0 &&
           str_to_i64(bytes, &ret->bytes) && str_to_i64(inodes, &ret->inodes) &&
           (str_is(ret->parent, "-") || digest_is_valid(ret->parent));
}

struct status *chain_read(const struct snapshots *snapshots, struct arena *arena, struct str chain_id,
                          struct chain_record *ret)
{
    struct str text;

    if (!digest_is_valid(chain_id)) {
        return chain_not_found(chain_id);
    }
    struct str path = snapshots_path(snapshots, arena, "chains", chain_file_name(arena, chain_id));
    struct status *failure = file_read(arena, path.p, RECORD_MAX, &text);

    if (status_free_if(&failure, STATUS_NOT_FOUND)) {
        return chain_not_found(chain_id);
    }
    TRY(failure);
    /* What a power cut left of a record is no record: the layer is unpacked anew. */
    if (!decode_record(text, ret) ||
        !file_exists(arena_printf(arena, "%s/layers/%lld", snapshots->directory, (long long)ret->layer).p)) {
        return chain_not_found(chain_id);
    }
    if (str_is(ret->parent, "-")) {
        ret->parent = (struct str){0};
    }
    return NULL;
}

struct status *chain_layers(const struct snapshots *snapshots, struct arena *arena, struct str chain_id,
                            struct str_list *ret)
{
    *ret = (struct str_list){0};
    while (chain_id.n > 0) {
        struct chain_record record;

        if (ret->len >= LIMIT_IMAGE_LAYERS) {
            return status_new(STATUS_BAD_REQUEST, "more than %d layers", LIMIT_IMAGE_LAYERS);
        }
        TRY(chain_read(snapshots, arena, chain_id, &record));
        *LIST_ADD(arena, ret) = arena_printf(arena, "%lld", (long long)record.layer);
        chain_id = snapshots->is_flat ? STR("") : record.parent;
    }
    return NULL;
}

bool snapshots_has(const struct snapshots *snapshots, struct str chain_id)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str_list layers;
    struct status *failure = chain_layers(snapshots, arena, chain_id, &layers);

    if (failure != NULL) {
        status_free(failure);
        return false;
    }
    return true;
}

static int by_bytes(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

struct status *directory_names(struct arena *arena, struct str path, struct str_list *ret)
{
    DIR *directory = opendir(path.p);

    *ret = (struct str_list){0};
    if (directory == NULL) {
        return errno == ENOENT ? NULL : status_errno(errno, "reading %s", path.p);
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            *LIST_ADD(arena, ret) = arena_str(arena, str_of(entry->d_name));
        }
    }
    closedir(directory);
    if (ret->len > 0) {
        qsort(ret->items, ret->len, sizeof(*ret->items), by_bytes);
    }
    return NULL;
}

/* The highest number that any layer has or had: a record of a layer that was lost must not lead to another one. */
static struct status *highest_layer(const struct snapshots *snapshots, struct arena *arena, int64_t *ret)
{
    struct str_list names;
    struct chain_record record;
    int64_t highest = 0, number;
    struct str text;

    TRY(directory_names(arena, snapshots_path(snapshots, arena, "layers", STR("")), &names));
    LIST_EACH(name, &names)
    {
        highest = str_to_i64(*name, &number) ? MAX(highest, number) : highest;
    }
    TRY(directory_names(arena, snapshots_path(snapshots, arena, "chains", STR("")), &names));
    LIST_EACH(name, &names)
    {
        struct status *failure = file_read(arena, snapshots_path(snapshots, arena, "chains", *name).p, RECORD_MAX, &text);

        highest = failure == NULL && decode_record(text, &record) ? MAX(highest, record.layer) : highest;
        status_free_if(&failure, STATUS_NOT_FOUND);
        TRY(failure);
    }
    *ret = highest;
    return NULL;
}

/* Makes layers/N for the first number after all others, looking like the parent's root. */
static struct status *make_layer(const struct snapshots *snapshots, struct arena *arena, struct str parent_layer,
                                 int64_t *ret_number, struct str *ret_path)
{
    struct stat parent = {.st_mode = 0755};
    int64_t number;

    TRY(highest_layer(snapshots, arena, &number));
    if (parent_layer.n > 0 && stat(snapshots_path(snapshots, arena, "layers", parent_layer).p, &parent) != 0) {
        return status_errno(errno, "looking at layer %.*s", STR_ARG(parent_layer));
    }
    for (int try = 0; try < LAYER_NUMBER_TRIES; try++) {
        struct str path = arena_printf(arena, "%s/layers/%lld", snapshots->directory, (long long)++number);

        if (mkdir(path.p, 0700) == 0) {
            *ret_number = number;
            *ret_path = path;
            return chmod(path.p, parent.st_mode & 07777) != 0 || chown(path.p, parent.st_uid, parent.st_gid) != 0
                       ? status_errno(errno, "making %s", path.p)
                       : NULL;
        }
        if (errno != EEXIST) {
            return status_errno(errno, "making %s", path.p);
        }
    }
    return status_new(STATUS_CONFLICT, "no free number for a layer");
}

static struct status *sync_path(const char *path, int sync(int fd))
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = fd < 0 ? -1 : sync(fd), error = errno;

    if (fd >= 0) {
        close(fd);
    }
    return result != 0 ? status_errno(error, "syncing %s", path) : NULL;
}

/* *ret_is_first: false when somebody else unpacked the same layer meanwhile. */
static struct status *write_record(const struct snapshots *snapshots, struct arena *arena, struct str chain_id,
                                   const struct chain_record *record, bool *ret_is_first)
{
    struct str path = snapshots_path(snapshots, arena, "chains", chain_file_name(arena, chain_id));
    struct str own = arena_printf(arena, "%s/chains/new-%lld", snapshots->directory, (long long)record->layer);
    struct chain_record other;
    struct status *failure = file_write(
        own.p,
        arena_printf(arena, "%lld %lld %lld %.*s\n", (long long)record->layer, (long long)record->bytes,
                     (long long)record->inodes, STR_ARG(record->parent.n > 0 ? record->parent : STR("-"))),
        0600);

    *ret_is_first = true;
    if (failure == NULL && link(own.p, path.p) != 0) {
        if (errno != EEXIST) {
            failure = status_errno(errno, "writing %s", path.p);
        } else {
            struct status *missing = chain_read(snapshots, arena, chain_id, &other);

            *ret_is_first = missing != NULL; /* a record of a layer that is lost gives way */
            status_free(missing);
            if (*ret_is_first && rename(own.p, path.p) != 0) {
                failure = status_errno(errno, "writing %s", path.p);
            }
        }
    }
    unlink(own.p);
    return failure != NULL ? failure : sync_path(snapshots_path(snapshots, arena, "chains", STR("")).p, fsync);
}

static struct status *unpack_checked(const struct unpack_options *options, struct str diff_id, int fd,
                                     struct arena *arena, struct unpack_result *ret)
{
    if (options->is_flat && options->lower_count > 0) {
        struct unpack_options alone = *options;

        alone.lower_count = 0;
        TRY(tree_copy(options->lowers[0], options->directory, TREE_COPY_LINKS));
        TRY(unpack_layer(fd, &alone, arena, ret));
    } else {
        TRY(unpack_layer(fd, options, arena, ret));
    }
    if (!str_eq(ret->diff_id, diff_id)) {
        return status_new(STATUS_BAD_REQUEST, "wrong diff id calculated on extraction: got %.*s, want %.*s",
                          STR_ARG(ret->diff_id), STR_ARG(diff_id));
    }
    return sync_path(options->directory, syncfs); /* all of the layer is on disk before its record is */
}

struct status *snapshots_add(struct snapshots *snapshots, struct str parent, struct str diff_id, int fd,
                             const atomic_bool *is_cancelled)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str chain_id = snapshot_chain_id(arena, parent, diff_id), path = {0};
    struct str_list below;
    struct unpack_result result = {0};
    struct chain_record record = {.parent = parent};
    bool is_first = false;

    if (snapshots_has(snapshots, chain_id)) {
        return NULL;
    }
    TRY(chain_layers(snapshots, arena, parent, &below));
    const char **lowers = ARENA_ARRAY(arena, const char *, below.len);

    for (size_t i = 0; i < below.len; i++) {
        lowers[i] = snapshots_path(snapshots, arena, "layers", below.items[i]).p;
    }
    TRY(make_layer(snapshots, arena, below.len > 0 ? below.items[0] : STR(""), &record.layer, &path));
    struct unpack_options options = {
        .directory = path.p,
        .lowers = lowers,
        .lower_count = below.len,
        .is_cancelled = is_cancelled,
        .is_flat = snapshots->is_flat,
    };
    struct status *failure = unpack_checked(&options, diff_id, fd, arena, &result);

    record.bytes = result.bytes;
    record.inodes = result.inodes;
    if (failure == NULL) {
        failure = write_record(snapshots, arena, chain_id, &record, &is_first);
    }
    if (!is_first) {
        rooted_remove(AT_FDCWD, path.p); /* else the next collection does */
    }
    return failure;
}

static struct status *lock_with(struct snapshots *snapshots, int how, int *ret)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str path = snapshots_path(snapshots, arena, "lock", STR(""));
    int fd = open(path.p, O_RDWR | O_CREAT | O_CLOEXEC, 0600), result;

    if (fd < 0) {
        return status_errno(errno, "opening %s", path.p);
    }
    do {
        result = flock(fd, how);
    } while (result != 0 && errno == EINTR);
    if (result != 0) {
        int error = errno;

        close(fd);
        return error == EWOULDBLOCK ? status_new(STATUS_CONFLICT, "images are being added")
                                    : status_errno(error, "locking %s", path.p);
    }
    *ret = fd;
    return NULL;
}

struct status *snapshots_hold(struct snapshots *snapshots, int *ret_hold)
{
    return lock_with(snapshots, LOCK_SH, ret_hold);
}

struct status *snapshots_lock(struct snapshots *snapshots, int *ret_lock)
{
    return lock_with(snapshots, LOCK_EX | LOCK_NB, ret_lock);
}
