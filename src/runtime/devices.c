#include "runtime/devices.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { DEPTH_MAX = 8, DEVICES_MAX = 16384 };

static void add(struct arena *arena, struct devices *into, struct str path, const struct stat *stat)
{
    *LIST_ADD(arena, into) = (struct shim_device){
        .path = path, .mode = stat->st_mode, .major = major(stat->st_rdev), .minor = minor(stat->st_rdev),
        .uid = stat->st_uid, .gid = stat->st_gid};
}

static bool is_device(const struct stat *stat)
{
    return S_ISCHR(stat->st_mode) || S_ISBLK(stat->st_mode);
}

/* What a container has one of its own of. */
static bool is_own(const char *name)
{
    static const char *const names[] = {"pts", "shm", "fd", "mqueue", "console", ".lxc", ".lxd-mounts", ".udev"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void add_below(struct arena *arena, const char *host, const char *inside, int depth, struct devices *into)
{
    DIR *directory = depth < DEPTH_MAX ? opendir(host) : NULL;
    char from[PATH_MAX], to[PATH_MAX];
    struct stat stat;

    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || is_own(entry->d_name) ||
            (size_t)snprintf(from, sizeof(from), "%s/%s", host, entry->d_name) >= sizeof(from) ||
            (size_t)snprintf(to, sizeof(to), "%s/%s", inside, entry->d_name) >= sizeof(to) || lstat(from, &stat) != 0) {
            continue;
        }
        if (S_ISDIR(stat.st_mode)) {
            add_below(arena, from, to, depth + 1, into);
        } else if (is_device(&stat) && into->len < DEVICES_MAX) {
            add(arena, into, arena_str(arena, str_of(to)), &stat);
        }
    }
    if (directory != NULL) {
        closedir(directory);
    }
}

struct status *devices_find(struct arena *arena, const struct cri_v1_container_config *config, bool is_privileged,
                            struct devices *ret)
{
    *ret = (struct devices){0};
    if (config->cdi_devices.len > 0) {
        return status_new(STATUS_INVALID, "CDI devices are not supported (%.*s)",
                          STR_ARG(config->cdi_devices.items[0].name));
    }
    if (is_privileged) {
        add_below(arena, "/dev", "/dev", 0, ret);
        return NULL;
    }
    LIST_EACH(device, &config->devices) {
        const char *host = arena_cstr(arena, device->host_path);
        struct stat found;

        if (stat(host, &found) != 0) {
            return status_new(STATUS_INVALID, "device %s: %s", host, strerror(errno));
        }
        if (S_ISDIR(found.st_mode)) {
            add_below(arena, host, arena_cstr(arena, device->container_path), 0, ret);
        } else if (is_device(&found)) {
            add(arena, ret, device->container_path, &found);
        } else {
            return status_new(STATUS_INVALID, "%s is no device", host);
        }
    }
    return NULL;
}
