#include "runtime/images/image_archive.h"

#include "base/file.h"
#include "base/limits.h"
#include "runtime/images/digest.h"
#include "runtime/images/rooted.h"
#include "runtime/images/tar_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { FILES_MAX = 16384, LINKS_MAX = 8 };

static void digesterp(struct digester **digester)
{
    digester_free(*digester);
}

static void closep(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
}

static struct status *write_all(int fd, const char *bytes, size_t size, const char *path)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);

        if (n < 0 && errno != EINTR) {
            return status_errno(errno, "writing %s", path);
        }
        bytes += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return NULL;
}

static struct status *save_file(struct image_archive *archive, struct tar_reader *reader, struct archive_file *file)
{
    bool is_long = str_has_prefix(file->path, STR("blobs/sha512/"));
    OWNED(digesterp) struct digester *digester = digester_new(is_long ? STR("sha512") : STR("sha256"));

    file->disk = arena_printf(archive->arena, "%.*s/%zu", STR_ARG(archive->directory), archive->files.used);
    OWNED(closep) int fd = open(file->disk.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0) {
        return status_errno(errno, "making %s", file->disk.p);
    }
    for (;;) {
        const void *bytes;
        size_t size;
        int64_t offset;

        TRY(tar_reader_data(reader, &bytes, &size, &offset));
        if (size == 0) {
            break;
        }
        if (offset != file->size) {
            return status_new(STATUS_BAD_REQUEST, "%s: a file with holes", file->path.p);
        }
        digester_add(digester, bytes, size);
        file->size += (int64_t)size;
        TRY(write_all(fd, bytes, size, file->disk.p));
    }
    file->digest = digester_text(digester, archive->arena);
    return NULL;
}

/* A symbolic link leads from where it lies, a hard link from the archive's root. */
static bool clean_link(struct image_archive *archive, const struct tar_entry *entry, const char *clean,
                       struct archive_file *file)
{
    char target[PATH_MAX];
    const char *slash = strrchr(clean, '/');
    int parent = slash != NULL && entry->type == TAR_SYMLINK ? (int)(slash - clean) : 0;
    struct str whole = arena_printf(archive->arena, "%.*s/%s", parent, clean, entry->link);

    if (!rooted_clean(whole.p, target)) {
        return false;
    }
    file->link = arena_str(archive->arena, str_of(target));
    return true;
}

static struct status *take_entry(struct image_archive *archive, struct tar_reader *reader,
                                 const struct tar_entry *entry)
{
    struct archive_file *file = ARENA_NEW(archive->arena, struct archive_file);
    char clean[PATH_MAX];

    if (archive->files.used >= FILES_MAX) {
        return status_new(STATUS_REQUEST_ENTITY_TOO_LARGE, "more than %d files in an image archive", FILES_MAX);
    }
    if (!rooted_clean(entry->path, clean)) {
        return status_new(STATUS_BAD_REQUEST, "%.64s...: path too long", entry->path);
    }
    file->path = arena_str(archive->arena, str_of(clean));
    if (entry->type == TAR_FILE) {
        TRY(save_file(archive, reader, file));
    } else if ((entry->type != TAR_SYMLINK && entry->type != TAR_HARDLINK) ||
               !clean_link(archive, entry, clean, file)) {
        return NULL;
    }
    map_set(&archive->files, file->path, file);
    return NULL;
}

struct status *image_archive_read(int fd, struct str directory, struct image_archive *ret)
{
    OWNED(tar_reader_freep) struct tar_reader *reader = NULL;
    struct image_archive archive = {.arena = arena_new()};
    const struct tar_entry *entry;

    archive.directory = arena_str(archive.arena, directory);
    rooted_remove(AT_FDCWD, archive.directory.p); /* of a process of the same number that was killed */
    struct status *failure = file_make_directories(archive.directory.p, 0700);

    if (failure == NULL) {
        failure = tar_reader_open(fd, LIMIT_IMAGE_BLOB_BYTES, NULL, &reader);
    }
    while (failure == NULL) {
        failure = tar_reader_next(reader, &entry);
        if (failure != NULL || entry == NULL) {
            break;
        }
        failure = take_entry(&archive, reader, entry);
    }
    if (failure != NULL) {
        image_archive_done(&archive);
        return failure;
    }
    *ret = archive;
    return NULL;
}

void image_archive_done(struct image_archive *archive)
{
    rooted_remove(AT_FDCWD, archive->directory.p); /* what stays is removed by the next collection */
    map_done(&archive->files);
    arena_free(archive->arena);
}

const struct archive_file *image_archive_find(const struct image_archive *archive, struct str path)
{
    char clean[PATH_MAX];
    const struct archive_file *file = NULL;

    if (rooted_clean(arena_cstr(archive->arena, path), clean)) {
        file = map_find(&archive->files, str_of(clean));
    }
    for (int hops = 0; file != NULL && file->link.n > 0; hops++) {
        file = hops < LINKS_MAX ? map_find(&archive->files, file->link) : NULL;
    }
    return file;
}

struct status *image_archive_text(const struct image_archive *archive, struct str path, struct str *ret)
{
    const struct archive_file *file = image_archive_find(archive, path);

    if (file == NULL) {
        return status_new(STATUS_NOT_FOUND, "%.*s is not in the archive", STR_ARG(path));
    }
    return file_read(archive->arena, file->disk.p, LIMIT_IMAGE_METADATA_BYTES, ret);
}
