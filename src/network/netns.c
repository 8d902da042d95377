#include "network/netns.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef NSFS_MAGIC
#define NSFS_MAGIC 0x6e736673
#endif

static struct status *enter(const char *path, struct status *(*fn)(void *arg), void *arg, int own)
{
    int other = open(path, O_RDONLY | O_CLOEXEC);

    if (other < 0) {
        return status_errno(errno, "failed to open netns \"%s\"", path);
    }
    if (setns(other, CLONE_NEWNET) < 0) {
        struct status *bad = errno == EINVAL ? status_new(STATUS_NOT_FOUND, "\"%s\" is no network namespace", path)
                                             : status_errno(errno, "entering netns \"%s\"", path);

        close(other);
        return bad;
    }
    close(other);
    struct status *result = fn(arg);

    if (setns(own, CLONE_NEWNET) < 0) {
        mem_die("a thread can't go back to its network namespace"); /* it would do harm in the wrong one */
    }
    return result;
}

struct status *netns_do(const char *path, struct status *(*fn)(void *arg), void *arg)
{
    int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

    if (own < 0) {
        return status_errno(errno, "opening the own network namespace");
    }
    struct status *result = enter(path, fn, arg, own);

    close(own);
    return result;
}

bool netns_exists(const char *path)
{
    struct statfs about;

    return statfs(path, &about) == 0 && about.f_type == NSFS_MAGIC;
}

bool netns_is_own(const char *path)
{
    struct stat own, other;

    return stat("/proc/thread-self/ns/net", &own) == 0 && stat(path, &other) == 0 && own.st_dev == other.st_dev &&
           own.st_ino == other.st_ino;
}
