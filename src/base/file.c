#include "base/file.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void closep(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
}

struct status *file_read(struct arena *arena, const char *path, size_t max, struct str *ret_content)
{
    OWNED(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t size = 0, room = 4096;
    char *content = arena_alloc(arena, room + 1);

    if (fd < 0) {
        return status_errno(errno, "opening %s", path);
    }
    for (;;) {
        ssize_t n = read(fd, content + size, room - size);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return status_errno(errno, "reading %s", path);
        }
        if (n == 0) {
            break;
        }
        size += (size_t)n;
        if (size > max) {
            return status_new(STATUS_REQUEST_ENTITY_TOO_LARGE, "%s is larger than %zu bytes", path, max);
        }
        if (size == room) {
            char *larger = arena_alloc(arena, mem_mul(room, 2) + 1);

            memcpy(larger, content, size);
            content = larger;
            room *= 2;
        }
    }
    *ret_content = (struct str){content, size};
    return NULL;
}

static struct status *write_all(int fd, const char *path, struct str content)
{
    while (content.n > 0) {
        ssize_t n = write(fd, content.p, content.n);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return status_errno(errno, "writing %s", path);
        }
        content = str_from(content, (size_t)n);
    }
    return NULL;
}

static struct status *sync_directory(const char *path)
{
    char directory[4096];
    const char *slash = strrchr(path, '/');
    size_t n = slash != NULL ? (size_t)(slash - path) : 0;

    if (n >= sizeof(directory)) {
        return status_errno(ENAMETOOLONG, "syncing the directory of %s", path);
    }
    memcpy(directory, path, n);
    directory[n] = '\0';
    OWNED(closep) int fd = open(n > 0 ? directory : slash ? "/" : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return fd >= 0 && fsync(fd) == 0 ? NULL : status_errno(errno, "syncing the directory of %s", path);
}

/* The content in PATH.tmp, and what is to be renamed. */
static struct status *write_beside(const char *path, struct str content, mode_t mode, bool is_synced,
                                   char temporary[4096])
{
    if ((size_t)snprintf(temporary, 4096, "%s.tmp", path) >= 4096) {
        return status_errno(ENAMETOOLONG, "writing %s", path);
    }
    unlink(temporary); /* one left by a crash may have another mode */
    OWNED(closep) int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);

    if (fd < 0) {
        return status_errno(errno, "creating %s", temporary);
    }
    struct status *status = write_all(fd, temporary, content);

    if (status == NULL && is_synced && fsync(fd) != 0) {
        status = status_errno(errno, "syncing %s", temporary);
    }
    if (status != NULL) {
        unlink(temporary);
    }
    return status;
}

struct status *file_write(const char *path, struct str content, mode_t mode)
{
    char temporary[4096];

    TRY(write_beside(path, content, mode, true, temporary));
    if (rename(temporary, path) != 0) {
        struct status *status = status_errno(errno, "renaming %s", temporary);

        unlink(temporary);
        return status;
    }
    return sync_directory(path);
}

struct status *file_write_unsynced(const char *path, struct str content, mode_t mode)
{
    char temporary[4096];

    TRY(write_beside(path, content, mode, false, temporary));
    /* Renaming over a file makes file systems write the new one out first; readers look for PATH.tmp as well. */
    unlink(path);
    return rename(temporary, path) != 0 ? status_errno(errno, "renaming %s", temporary) : NULL;
}

struct status *file_read_unsynced(struct arena *arena, const char *path, size_t max, struct str *ret_content)
{
    char temporary[4096];
    struct status *status = file_read(arena, path, max, ret_content);

    if (!status_is(status, STATUS_NOT_FOUND) ||
        (size_t)snprintf(temporary, sizeof(temporary), "%s.tmp", path) >= sizeof(temporary)) {
        return status;
    }
    struct status *other = file_read(arena, temporary, max, ret_content);

    if (other != NULL) {
        status_free(other);
        return status;
    }
    status_free(status);
    return NULL;
}

struct status *file_make_directories(const char *path, mode_t mode)
{
    char *copy = mem_strdup(path);

    for (char *at = copy + 1; *at != '\0'; at++) {
        if (*at == '/') {
            *at = '\0';
            mkdir(copy, mode); /* the last one tells */
            *at = '/';
        }
    }
    int failed = mkdir(copy, mode) != 0 && errno != EEXIST ? errno : 0;

    free(copy);
    return failed ? status_errno(failed, "creating directory %s", path) : NULL;
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}
