#include "runtime/images/blob_fetch.h"

#include "base/env.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/task.h"
#include "runtime/images/digest.h"
#include "runtime/images/image_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 5, OPEN_TRIES = 10, READ_BYTES = 256 << 10 };

#define RETRY_DELAY (200 * ENV_MS)

struct blobs {
    struct arena *arena;
    struct str directory;
    struct map by_digest;
};

struct blob {
    struct blobs *blobs;
    struct arena *arena;
    struct str digest, path;
    int holders;
    int fd; /* locked against other processes; -1 before the first fetch */
    bool is_coming, is_whole;
    struct cond changed;
};

struct blobs *blobs_new(struct str directory)
{
    struct blobs *blobs = MEM_NEW(struct blobs);

    blobs->arena = arena_new();
    blobs->directory = arena_str(blobs->arena, directory);
    return blobs;
}

void blobs_free(struct blobs *blobs)
{
    if (blobs != NULL) {
        map_done(&blobs->by_digest);
        arena_free(blobs->arena);
        free(blobs);
    }
}

struct str blob_path(const struct blob *blob)
{
    return blob->path;
}

static struct blob *blob_hold(struct blobs *blobs, struct str digest)
{
    struct blob *blob = map_find(&blobs->by_digest, digest);

    if (blob == NULL) {
        blob = MEM_NEW(struct blob);
        blob->blobs = blobs;
        blob->arena = arena_new();
        blob->digest = arena_str(blob->arena, digest);
        blob->path = image_ingest_path(blob->arena, blobs->directory, digest);
        blob->fd = -1;
        cond_init(&blob->changed);
        map_set(&blobs->by_digest, digest, blob);
    }
    blob->holders++;
    return blob;
}

void blob_drop(struct blob *blob)
{
    if (blob == NULL || --blob->holders > 0) {
        return;
    }
    if (blob->is_whole) {
        unlink(blob->path.p); /* else the next pull goes on from what there is */
    }
    if (blob->fd >= 0) {
        close(blob->fd);
    }
    map_remove(&blob->blobs->by_digest, blob->digest);
    arena_free(blob->arena);
    free(blob);
}

/* Opens and locks the file. When another process is fetching the same blob, ours gets a file of its own. */
static struct status *open_file(struct blob *blob)
{
    for (int try = 0; try < OPEN_TRIES; try++) {
        struct stat found;
        int fd = open(blob->path.p, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

        if (fd < 0) {
            return status_errno(errno, "opening %s", blob->path.p);
        }
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            blob->path = arena_printf(blob->arena, "%s.%d", blob->path.p, getpid());
        } else if (fstat(fd, &found) == 0 && found.st_nlink > 0) {
            blob->fd = fd;
            return NULL;
        }
        close(fd); /* the other process had done with it just now */
    }
    return status_new(STATUS_CONFLICT, "%s is used by others", blob->path.p);
}

/* What a worker does with the file. */
struct verification {
    const struct blob *blob;
    struct arena *arena;
    struct str digest; /* what it has */
    struct status *failure;
};

static void verify_work(void *arg)
{
    struct verification *verification = arg;
    struct digester *digester = digester_new(digest_algorithm(verification->blob->digest));
    char *bytes = mem_zalloc(READ_BYTES);
    int64_t offset = 0;
    ssize_t n;

    while ((n = pread(verification->blob->fd, bytes, READ_BYTES, offset)) > 0 || (n < 0 && errno == EINTR)) {
        digester_add(digester, bytes, n > 0 ? (size_t)n : 0);
        offset += n > 0 ? n : 0;
    }
    if (n < 0) {
        verification->failure = status_errno(errno, "reading %s", verification->blob->path.p);
    }
    verification->digest = digester_text(digester, verification->arena);
    digester_free(digester);
    free(bytes);
}

static struct status *verify(struct blob *blob)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct verification verification = {.blob = blob, .arena = arena};

    task_offload(verify_work, &verification);
    TRY(verification.failure);
    if (str_eq(verification.digest, blob->digest)) {
        return NULL;
    }
    if (ftruncate(blob->fd, 0) != 0) {
        unlink(blob->path.p);
    }
    return status_new(STATUS_UNKNOWN, "failed commit on ref \"layer-%.*s\": unexpected commit digest %.*s, expected "
                                      "%.*s: failed precondition",
                      STR_ARG(blob->digest), STR_ARG(verification.digest), STR_ARG(blob->digest));
}

static int64_t size_of(const struct blob *blob)
{
    struct stat found;

    return fstat(blob->fd, &found) == 0 ? found.st_size : 0;
}

static bool is_worth_retrying(const struct status *failure)
{
    return failure->reason == STATUS_SERVICE_UNAVAILABLE || failure->reason == STATUS_TOO_MANY_REQUESTS;
}

static struct status *short_of(const struct descriptor *wanted, int64_t got)
{
    return status_new(STATUS_SERVICE_UNAVAILABLE, "failed size validation: %lld != %lld: failed precondition",
                      (long long)got, (long long)wanted->size);
}

/* As long as more of it comes, a transfer that breaks is not given up. */
static struct status *download(struct blob *blob, struct registry *registry, const struct descriptor *wanted,
                               atomic_llong *received)
{
    for (int try = 1;;) {
        int64_t before = size_of(blob);

        if (before > wanted->size && ftruncate(blob->fd, 0) == 0) {
            before = 0;
        }
        struct status *failure =
            before == wanted->size ? NULL : registry_download(registry, wanted, blob->fd, before, received);

        if (failure == NULL && size_of(blob) == wanted->size) {
            return NULL;
        }
        failure = failure != NULL ? failure : short_of(wanted, size_of(blob));
        try = size_of(blob) > before ? 1 : try + 1;
        if (!is_worth_retrying(failure) || try > TRIES) {
            return failure;
        }
        if (!task_sleep(RETRY_DELAY << (try - 1))) {
            return failure;
        }
        status_free(failure);
    }
}

static struct status *download_and_verify(struct blob *blob, struct registry *registry,
                                          const struct descriptor *wanted, atomic_llong *received)
{
    struct status *failure = download(blob, registry, wanted, received);
    bool is_useless = status_is(failure, STATUS_INTERNAL_ERROR) || status_is(failure, STATUS_REQUEST_ENTITY_TOO_LARGE);

    if (is_useless && ftruncate(blob->fd, 0) != 0) {
        unlink(blob->path.p); /* the disk may be full: what can't be finished must not fill it */
    }
    return failure != NULL ? failure : verify(blob);
}

static struct status *fetch(struct blob *blob, struct registry *registry, const struct descriptor *wanted,
                            atomic_llong *received)
{
    if (blob->fd < 0) {
        TRY(open_file(blob));
    }
    bool is_resumed = size_of(blob) > 0;
    struct status *failure = download_and_verify(blob, registry, wanted, received);

    if (is_resumed && size_of(blob) == 0 && !status_is(failure, STATUS_CANCELLED)) {
        status_free(failure); /* what was there before may have been at fault: all anew */
        failure = download_and_verify(blob, registry, wanted, received);
    }
    return failure;
}

struct status *blobs_fetch(struct blobs *blobs, struct registry *registry, const struct descriptor *wanted,
                           atomic_llong *received, struct blob **ret)
{
    struct blob *blob = blob_hold(blobs, wanted->digest);
    struct status *failure = NULL;

    while (blob->is_coming && !task_is_cancelled()) {
        cond_wait(&blob->changed, TASK_FOREVER);
    }
    if (task_is_cancelled()) {
        failure = status_new(STATUS_CANCELLED, "context canceled");
    } else if (!blob->is_whole) {
        blob->is_coming = true;
        failure = fetch(blob, registry, wanted, received);
        blob->is_coming = false;
        blob->is_whole = failure == NULL;
        cond_broadcast(&blob->changed);
    }
    if (failure != NULL) {
        blob_drop(blob);
        return failure;
    }
    *ret = blob;
    return NULL;
}
