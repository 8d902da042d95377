#include "runtime/images/tar_reader.h"

#include "runtime/images/lazy_library.h"

#include "base/limits.h"
#include "base/mem.h"
#include "runtime/images/digest.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Loaded when first used. */
#define ARCHIVE_FUNCTIONS(X) \
    X(archive_entry_filetype) X(archive_entry_gid) X(archive_entry_hardlink) X(archive_entry_hardlink_utf8)      \
    X(archive_entry_mtime) X(archive_entry_mtime_nsec) X(archive_entry_pathname) X(archive_entry_pathname_utf8)  \
    X(archive_entry_perm) X(archive_entry_rdevmajor) X(archive_entry_rdevminor) X(archive_entry_size)            \
    X(archive_entry_symlink) X(archive_entry_symlink_utf8) X(archive_entry_uid) X(archive_entry_xattr_next)      \
    X(archive_entry_xattr_reset) X(archive_error_string) X(archive_read_data_block) X(archive_read_free)         \
    X(archive_read_new) X(archive_read_next_header) X(archive_read_open) X(archive_read_open_fd)                 \
    X(archive_read_open_memory) X(archive_read_support_filter_gzip) X(archive_read_support_filter_zstd)          \
    X(archive_read_support_format_empty) X(archive_read_support_format_raw) X(archive_read_support_format_tar)   \
    X(archive_set_error)

static struct {
    ARCHIVE_FUNCTIONS(LAZY_POINTER)
} library;
static const char *const library_names[] = {ARCHIVE_FUNCTIONS(LAZY_NAME)};

enum { BLOCK_BYTES = 128 << 10, XATTRS_MAX = 1024, XATTR_BYTES_MAX = 64 << 10 };

/* Two archives in a row: one that only decompresses, whose output is hashed, and the tar archive that reads it. */
struct tar_reader {
    struct archive *decompressor;
    struct archive *tar;
    struct digester *digester;
    int64_t bytes_left;
    const atomic_bool *is_cancelled;
    struct status *failure; /* why the stream under the tar archive broke */
    bool is_drained;
    struct tar_entry entry;
    VEC(struct tar_xattr) xattrs;
};

static la_ssize_t stream_fail(struct tar_reader *reader, struct archive *archive, struct status *failure)
{
    library.archive_set_error(archive, EIO, "%.*s", STR_ARG(failure->message));
    if (reader->failure == NULL) {
        reader->failure = failure;
    } else {
        status_free(failure);
    }
    return -1;
}

/* The next block of the uncompressed stream; 0 at its end. */
static la_ssize_t stream_read(struct archive *archive, void *arg, const void **ret_bytes)
{
    struct tar_reader *reader = arg;
    size_t size = 0;
    la_int64_t offset;

    if (reader->is_cancelled != NULL && atomic_load_explicit(reader->is_cancelled, memory_order_relaxed)) {
        return stream_fail(reader, archive, status_new(STATUS_CANCELLED, "cancelled"));
    }
    int result = reader->is_drained ? ARCHIVE_EOF
                                    : library.archive_read_data_block(reader->decompressor, ret_bytes, &size, &offset);

    if (result == ARCHIVE_EOF) {
        reader->is_drained = true;
        return 0;
    }
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) {
        return stream_fail(reader, archive, status_new(STATUS_BAD_REQUEST, "decompressing: %s",
                                                       library.archive_error_string(reader->decompressor)));
    }
    if ((int64_t)size > reader->bytes_left) {
        return stream_fail(reader, archive, status_new(STATUS_REQUEST_ENTITY_TOO_LARGE, "too large uncompressed"));
    }
    reader->bytes_left -= (int64_t)size;
    digester_add(reader->digester, *ret_bytes, size);
    return (la_ssize_t)size;
}

static struct status *open_failed(struct tar_reader *reader, struct archive *archive, const char *what)
{
    struct status *failure = reader->failure != NULL
                                 ? TAKE(reader->failure)
                                 : status_new(STATUS_BAD_REQUEST, "%s: %s", what, library.archive_error_string(archive));

    tar_reader_free(reader);
    return failure;
}

static struct tar_reader *reader_new(int64_t bytes_max, const atomic_bool *is_cancelled)
{
    struct tar_reader *reader = MEM_NEW(struct tar_reader);

    reader->bytes_left = bytes_max;
    reader->is_cancelled = is_cancelled;
    reader->digester = digester_new(STR("sha256"));
    reader->decompressor = library.archive_read_new();
    reader->tar = library.archive_read_new();
    if (reader->decompressor == NULL || reader->tar == NULL ||
        library.archive_read_support_format_raw(reader->decompressor) != ARCHIVE_OK ||
        library.archive_read_support_format_empty(reader->decompressor) != ARCHIVE_OK ||
        library.archive_read_support_filter_gzip(reader->decompressor) != ARCHIVE_OK ||
        library.archive_read_support_filter_zstd(reader->decompressor) != ARCHIVE_OK ||
        library.archive_read_support_format_tar(reader->tar) != ARCHIVE_OK ||
        library.archive_read_support_format_empty(reader->tar) != ARCHIVE_OK) {
        mem_die("libarchive lacks tar, gzip or zstd");
    }
    return reader;
}

/* `opened` is what opening the decompressor gave. */
static struct status *reader_start(struct tar_reader *reader, int opened, struct tar_reader **ret)
{
    struct archive_entry *whole;

    if (opened != ARCHIVE_OK) {
        return open_failed(reader, reader->decompressor, "reading the archive");
    }
    int result = library.archive_read_next_header(reader->decompressor, &whole);

    if (result == ARCHIVE_EOF) {
        reader->is_drained = true; /* no byte at all */
    } else if (result != ARCHIVE_OK && result != ARCHIVE_WARN) {
        return open_failed(reader, reader->decompressor, "reading the archive");
    }
    if (library.archive_read_open(reader->tar, reader, NULL, stream_read, NULL) != ARCHIVE_OK) {
        return open_failed(reader, reader->tar, "not a tar archive");
    }
    *ret = reader;
    return NULL;
}

struct status *tar_reader_open(int fd, int64_t bytes_max, const atomic_bool *is_cancelled, struct tar_reader **ret)
{
    TRY(lazy_library_load("libarchive.so.13", library_names, COUNT_OF(library_names), &library));
    struct tar_reader *reader = reader_new(bytes_max, is_cancelled);

    return reader_start(reader, library.archive_read_open_fd(reader->decompressor, fd, BLOCK_BYTES), ret);
}

struct status *tar_reader_open_memory(struct str bytes, int64_t bytes_max, struct tar_reader **ret)
{
    TRY(lazy_library_load("libarchive.so.13", library_names, COUNT_OF(library_names), &library));
    struct tar_reader *reader = reader_new(bytes_max, NULL);

    return reader_start(reader, library.archive_read_open_memory(reader->decompressor, bytes.p, bytes.n), ret);
}

static enum tar_type type_of(struct archive_entry *entry)
{
    if (library.archive_entry_hardlink(entry) != NULL || library.archive_entry_hardlink_utf8(entry) != NULL) {
        return TAR_HARDLINK;
    }
    switch (library.archive_entry_filetype(entry)) {
    case AE_IFREG: return TAR_FILE;
    case AE_IFDIR: return TAR_DIRECTORY;
    case AE_IFLNK: return TAR_SYMLINK;
    case AE_IFCHR: return TAR_CHARACTER;
    case AE_IFBLK: return TAR_BLOCK;
    case AE_IFIFO: return TAR_FIFO;
    default: return TAR_OTHER;
    }
}

static struct status *read_xattrs(struct tar_reader *reader, struct archive_entry *entry)
{
    struct tar_xattr xattr;

    reader->xattrs.len = 0;
    library.archive_entry_xattr_reset(entry);
    while (library.archive_entry_xattr_next(entry, &xattr.name, &xattr.value, &xattr.size) == ARCHIVE_OK) {
        if (reader->xattrs.len >= XATTRS_MAX || xattr.size > XATTR_BYTES_MAX) {
            return status_new(STATUS_REQUEST_ENTITY_TOO_LARGE, "too many or too large extended attributes");
        }
        *VEC_ADD(&reader->xattrs) = xattr;
    }
    return NULL;
}

/* libarchive keeps what pax headers say as UTF-8 and what others say as raw bytes; in the C locale each is only to be
 * had in its own form. */
static const char *bytes_or_utf8(const char *bytes, const char *utf8)
{
    return bytes != NULL ? bytes : utf8;
}

static struct status *read_entry(struct tar_reader *reader, struct archive_entry *entry)
{
    struct tar_entry *to = &reader->entry;

    *to = (struct tar_entry){
        .type = type_of(entry),
        .path = bytes_or_utf8(library.archive_entry_pathname(entry), library.archive_entry_pathname_utf8(entry)),
        .mode = library.archive_entry_perm(entry),
        .size = library.archive_entry_size(entry),
        .mtime_seconds = library.archive_entry_mtime(entry),
        .mtime_nanoseconds = library.archive_entry_mtime_nsec(entry),
        .device_major = (uint32_t)library.archive_entry_rdevmajor(entry),
        .device_minor = (uint32_t)library.archive_entry_rdevminor(entry),
    };
    int64_t uid = library.archive_entry_uid(entry), gid = library.archive_entry_gid(entry);

    if (to->path == NULL) {
        return status_new(STATUS_BAD_REQUEST, "an entry without a name");
    }
    if (uid < 0 || uid >= UINT32_MAX || gid < 0 || gid >= UINT32_MAX) {
        return status_new(STATUS_BAD_REQUEST, "%s: no such owner: %lld:%lld", to->path, (long long)uid, (long long)gid);
    }
    to->uid = (uint32_t)uid;
    to->gid = (uint32_t)gid;
    if (to->type == TAR_HARDLINK) {
        to->link = bytes_or_utf8(library.archive_entry_hardlink(entry), library.archive_entry_hardlink_utf8(entry));
    } else if (to->type == TAR_SYMLINK) {
        to->link = bytes_or_utf8(library.archive_entry_symlink(entry), library.archive_entry_symlink_utf8(entry));
        if (to->link == NULL) {
            return status_new(STATUS_BAD_REQUEST, "%s: a symbolic link without a target", to->path);
        }
    }
    TRY(read_xattrs(reader, entry));
    to->xattrs = reader->xattrs.items;
    to->xattr_count = reader->xattrs.len;
    return NULL;
}

static struct status *tar_failed(struct tar_reader *reader)
{
    if (reader->failure != NULL) {
        return TAKE(reader->failure);
    }
    return status_new(STATUS_BAD_REQUEST, "reading tar: %s", library.archive_error_string(reader->tar));
}

struct status *tar_reader_next(struct tar_reader *reader, const struct tar_entry **ret)
{
    struct archive_entry *entry;
    int result = library.archive_read_next_header(reader->tar, &entry);

    if (result == ARCHIVE_EOF) {
        *ret = NULL;
        return NULL;
    }
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) {
        return tar_failed(reader);
    }
    TRY(read_entry(reader, entry));
    *ret = &reader->entry;
    return NULL;
}

struct status *tar_reader_data(struct tar_reader *reader, const void **ret_bytes, size_t *ret_size, int64_t *ret_offset)
{
    const void *bytes;
    size_t size;
    la_int64_t offset;
    int result;

    do {
        size = 0;
        result = library.archive_read_data_block(reader->tar, &bytes, &size, &offset);
    } while (result == ARCHIVE_OK && size == 0);
    if (result == ARCHIVE_EOF) {
        *ret_size = 0;
        return NULL;
    }
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) {
        return tar_failed(reader);
    }
    *ret_bytes = bytes;
    *ret_size = size;
    *ret_offset = offset;
    return NULL;
}

struct status *tar_reader_finish(struct tar_reader *reader, struct arena *arena, struct str *ret_diff_id)
{
    const void *bytes;
    la_ssize_t size;

    while ((size = stream_read(reader->tar, reader, &bytes)) > 0) {
    }
    if (size < 0) {
        return tar_failed(reader);
    }
    *ret_diff_id = digester_text(reader->digester, arena);
    return NULL;
}

void tar_reader_free(struct tar_reader *reader)
{
    if (reader != NULL) {
        library.archive_read_free(reader->tar);
        library.archive_read_free(reader->decompressor);
        digester_free(reader->digester);
        status_free(reader->failure);
        free(reader->xattrs.items);
        free(reader);
    }
}

void tar_reader_freep(struct tar_reader **reader)
{
    tar_reader_free(*reader);
}
