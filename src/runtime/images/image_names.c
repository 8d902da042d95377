#include "runtime/images/image_names.h"

#include "base/file.h"
#include "base/limits.h"
#include "runtime/images/digest.h"
#include "runtime/images/snapshot_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RECORD_MAX = 4096 };

struct status *image_names_make(struct str directory)
{
    static const char *const parts[] = {"names", "blobs", "ingest"};
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        TRY(file_make_directories(arena_printf(arena, "%.*s/%s", STR_ARG(directory), parts[i]).p, 0700));
    }
    return NULL;
}

/* Like file_write(), also for several writers of one file at once: whole files take turns. */
static struct status *write_whole(struct arena *arena, struct str path, struct str text)
{
    static atomic_uint serial;
    struct str fresh = arena_printf(arena, "%s.%d-%u.tmp", path.p, getpid(), atomic_fetch_add(&serial, 1));
    struct str parent = str_sub(path, 0, str_last_index(path, '/'));

    errno = 0; /* a write that ends early says nothing: the disk is full */
    int fd = open(fresh.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int directory = open(arena_cstr(arena, parent), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_written = fd >= 0 && directory >= 0 && write(fd, text.p, text.n) == (ssize_t)text.n && fsync(fd) == 0 &&
                      rename(fresh.p, path.p) == 0 && fsync(directory) == 0;
    struct status *failure = is_written ? NULL : status_errno(errno != 0 ? errno : ENOSPC, "writing %s", path.p);

    if (fd >= 0) {
        close(fd);
    }
    if (directory >= 0) {
        close(directory);
    }
    if (!is_written) {
        unlink(fresh.p);
    }
    return failure;
}

static bool decode_name(struct str text, struct image_name *ret)
{
    struct str flags, rest = str_trim(text);

    *ret = (struct image_name){0};
    if (!str_cut(rest, ' ', &ret->name, &rest) || !str_cut(rest, ' ', &ret->target, &rest) ||
        !str_cut(rest, ' ', &ret->manifest, &flags)) {
        return false;
    }
    ret->is_pinned = str_is(flags, "pinned");
    return ret->name.n > 0 && digest_is_valid(ret->target) && digest_is_valid(ret->manifest);
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct image_name *)a)->name, ((const struct image_name *)b)->name);
}

struct status *image_names_read(struct str directory, struct arena *arena, struct image_names *ret)
{
    struct str_list files;

    *ret = (struct image_names){0};
    TRY(directory_names(arena, arena_printf(arena, "%.*s/names", STR_ARG(directory)), &files));
    LIST_EACH(file, &files)
    {
        struct str path = arena_printf(arena, "%.*s/names/%.*s", STR_ARG(directory), STR_ARG(*file)), text;
        struct image_name name;
        struct status *failure =
            str_has_suffix(*file, STR(".tmp")) ? NULL : file_read(arena, path.p, RECORD_MAX, &text);

        if (str_has_suffix(*file, STR(".tmp")) || status_free_if(&failure, STATUS_NOT_FOUND)) {
            continue; /* being written, or removed meanwhile */
        }
        TRY(failure);
        if (decode_name(text, &name)) {
            *LIST_ADD(arena, ret) = name;
        }
    }
    if (ret->len > 0) {
        qsort(ret->items, ret->len, sizeof(*ret->items), by_name);
    }
    return NULL;
}

static struct str name_path(struct arena *arena, struct str directory, struct str name)
{
    return arena_printf(arena, "%.*s/names/%.*s", STR_ARG(directory), STR_ARG(digest_hex(digest_of(arena, name))));
}

struct status *image_names_put(struct str directory, const struct image_name *name)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str text = arena_printf(arena, "%.*s %.*s %.*s %s\n", STR_ARG(name->name), STR_ARG(name->target),
                                   STR_ARG(name->manifest), name->is_pinned ? "pinned" : "-");

    if (text.n > RECORD_MAX) {
        return status_new(STATUS_BAD_REQUEST, "image name is too long: %zu bytes", name->name.n);
    }
    return write_whole(arena, name_path(arena, directory, name->name), text);
}

struct status *image_names_remove(struct str directory, struct str name)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str path = name_path(arena, directory, name);

    return unlink(path.p) != 0 && errno != ENOENT ? status_errno(errno, "removing %s", path.p) : NULL;
}

static struct str blob_path(struct arena *arena, struct str directory, struct str digest)
{
    return arena_printf(arena, "%.*s/blobs/%.*s", STR_ARG(directory), STR_ARG(chain_file_name(arena, digest)));
}

struct str image_ingest_path(struct arena *arena, struct str directory, struct str digest)
{
    return arena_printf(arena, "%.*s/ingest/%.*s", STR_ARG(directory), STR_ARG(chain_file_name(arena, digest)));
}

static bool has_digest(struct arena *arena, struct str digest, struct str bytes)
{
    struct digester *digester = digester_new(digest_algorithm(digest));

    digester_add(digester, bytes.p, bytes.n);
    struct str got = digester_text(digester, arena);

    digester_free(digester);
    return str_eq(got, digest);
}

struct status *image_blob_put(struct str directory, struct str digest, struct str bytes)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str there;

    if (!has_digest(arena, digest, bytes)) {
        return status_new(STATUS_BAD_REQUEST, "unexpected digest of what should be %.*s", STR_ARG(digest));
    }
    struct status *missing = image_blob_read(directory, digest, arena, &there);

    if (missing == NULL) {
        return NULL;
    }
    status_free(missing); /* or damaged, or unreadable: writing it tells */
    return write_whole(arena, blob_path(arena, directory, digest), bytes);
}

struct status *image_blob_read(struct str directory, struct str digest, struct arena *arena, struct str *ret)
{
    struct str bytes;

    TRY(file_read(arena, blob_path(arena, directory, digest).p, LIMIT_IMAGE_METADATA_BYTES, &bytes));
    if (!has_digest(arena, digest, bytes)) {
        return status_new(STATUS_NOT_FOUND, "blob %.*s is damaged", STR_ARG(digest));
    }
    *ret = bytes;
    return NULL;
}
