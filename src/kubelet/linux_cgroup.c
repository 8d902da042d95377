#include "kubelet/linux_cgroup.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char root[] = "/sys/fs/cgroup";

bool linux_cgroup_is_v2(void)
{
    return access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;
}

int64_t linux_cgroup_weight(int64_t shares)
{
    if (shares < 2) {
        shares = 2;
    } else if (shares > 262144) {
        shares = 262144;
    }
    return 1 + (shares - 2) * 9999 / 262142;
}

static struct status *write_value(const char *directory, const char *file, struct str value)
{
    char path[1024];

    if (snprintf(path, sizeof(path), "%s/%s", directory, file) >= (int)sizeof(path)) {
        return status_new(STATUS_INTERNAL_ERROR, "cgroup path too long: %s", directory);
    }
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0) {
        return status_errno(errno, "open %s", path);
    }
    ssize_t written = write(fd, value.p, value.n);
    int error = errno;

    close(fd);
    return written == (ssize_t)value.n ? NULL
                                       : status_errno(error, "write %.*s to %s", STR_ARG(value), path);
}

static struct status *write_number(const char *directory, const char *file, int64_t value)
{
    char text[32];

    snprintf(text, sizeof(text), "%lld", (long long)value);
    return write_value(directory, file, str_of(text));
}

/* mkdir -p below a hierarchy's root; `made` is called for each level that exists or was made, top down. */
static struct status *make_levels(const char *hierarchy, const char *name,
                                  struct status *(*made)(const char *parent))
{
    char path[1024];
    size_t base = strlen(hierarchy);

    if (snprintf(path, sizeof(path), "%s%s", hierarchy, name) >= (int)sizeof(path)) {
        return status_new(STATUS_INTERNAL_ERROR, "cgroup path too long: %s", name);
    }
    for (char *at = path + base; at != NULL;) {
        char *slash = strchr(at + 1, '/');

        if (made != NULL) {
            *at = '\0';
            struct status *error = made(path);
            *at = '/';
            TRY(error);
        }
        if (slash != NULL) {
            *slash = '\0';
        }
        if (mkdir(path, 0755) != 0 && errno != EEXIST) {
            return status_errno(errno, "create cgroup %s", path);
        }
        if (slash != NULL) {
            *slash = '/';
        }
        at = slash;
    }
    return NULL;
}

/* Lets the children of a v2 cgroup have the controllers that limits need; one that the machine lacks is skipped. */
static struct status *enable_controllers(const char *parent)
{
    static const char *const controllers[] = {"+cpu", "+memory", "+pids", "+cpuset", "+io", "+hugetlb"};

    for (size_t i = 0; i < COUNT_OF(controllers); i++) {
        status_free(write_value(parent, "cgroup.subtree_control", str_of(controllers[i])));
    }
    return NULL;
}

static struct status *apply_v2(const char *name, const struct host_cgroup_limits *limits)
{
    char directory[1024];
    char text[64];

    TRY(make_levels(root, name, enable_controllers));
    snprintf(directory, sizeof(directory), "%s%s", root, name);
    if (limits->cpu_shares > 0) {
        TRY(write_number(directory, "cpu.weight", linux_cgroup_weight(limits->cpu_shares)));
    }
    if (limits->cpu_quota_us != 0) {
        int64_t period = limits->cpu_period_us > 0 ? limits->cpu_period_us : 100000;

        if (limits->cpu_quota_us < 0) {
            snprintf(text, sizeof(text), "max %lld", (long long)period);
        } else {
            snprintf(text, sizeof(text), "%lld %lld", (long long)limits->cpu_quota_us, (long long)period);
        }
        TRY(write_value(directory, "cpu.max", str_of(text)));
    }
    if (limits->memory_bytes != 0) {
        TRY(limits->memory_bytes < 0 ? write_value(directory, "memory.max", STR("max"))
                                     : write_number(directory, "memory.max", limits->memory_bytes));
    }
    if (limits->pids != 0) {
        TRY(limits->pids < 0 ? write_value(directory, "pids.max", STR("max"))
                             : write_number(directory, "pids.max", limits->pids));
    }
    return NULL;
}

/* The place of a v1 controller, which may be mounted together with another. */
static bool find_controller(const char *const *names, char *path, size_t size)
{
    for (; *names != NULL; names++) {
        snprintf(path, size, "%s/%s", root, *names);
        if (access(path, F_OK) == 0) {
            return true;
        }
    }
    return false;
}

static struct status *apply_v1(const char *name, const struct host_cgroup_limits *limits)
{
    static const char *const cpu[] = {"cpu", "cpu,cpuacct", "cpuacct,cpu", NULL};
    static const char *const memory[] = {"memory", NULL};
    static const char *const pids[] = {"pids", NULL};
    char hierarchy[512];
    char directory[1536];

    if (find_controller(cpu, hierarchy, sizeof(hierarchy))) {
        TRY(make_levels(hierarchy, name, NULL));
        snprintf(directory, sizeof(directory), "%s%s", hierarchy, name);
        if (limits->cpu_shares > 0) {
            TRY(write_number(directory, "cpu.shares", limits->cpu_shares));
        }
        if (limits->cpu_period_us > 0) {
            TRY(write_number(directory, "cpu.cfs_period_us", limits->cpu_period_us));
        }
        if (limits->cpu_quota_us != 0) {
            TRY(write_number(directory, "cpu.cfs_quota_us", limits->cpu_quota_us));
        }
    }
    if (find_controller(memory, hierarchy, sizeof(hierarchy))) {
        TRY(make_levels(hierarchy, name, NULL));
        snprintf(directory, sizeof(directory), "%s%s", hierarchy, name);
        if (limits->memory_bytes != 0) {
            TRY(write_number(directory, "memory.limit_in_bytes", limits->memory_bytes));
        }
    }
    if (find_controller(pids, hierarchy, sizeof(hierarchy))) {
        TRY(make_levels(hierarchy, name, NULL));
        snprintf(directory, sizeof(directory), "%s%s", hierarchy, name);
        if (limits->pids != 0) {
            TRY(limits->pids < 0 ? write_value(directory, "pids.max", STR("max"))
                                 : write_number(directory, "pids.max", limits->pids));
        }
    }
    return NULL;
}

struct status *linux_cgroup_apply(const char *name, const struct host_cgroup_limits *limits)
{
    return linux_cgroup_is_v2() ? apply_v2(name, limits) : apply_v1(name, limits);
}

static void kill_members(const char *directory)
{
    char path[1024];

    if (snprintf(path, sizeof(path), "%s/cgroup.procs", directory) >= (int)sizeof(path)) {
        return;
    }
    FILE *file = fopen(path, "re");

    if (file == NULL) {
        return;
    }
    for (long pid; fscanf(file, "%ld", &pid) == 1;) {
        if (pid > 1) {
            kill((pid_t)pid, SIGKILL);
        }
    }
    fclose(file);
}

/* Depth first; cgroup directories hold files that cannot and need not be removed. */
static struct status *remove_tree(const char *directory, int depth)
{
    DIR *listing = opendir(directory);

    if (listing == NULL) {
        return errno == ENOENT ? NULL : status_errno(errno, "open cgroup %s", directory);
    }
    struct status *error = NULL;

    for (struct dirent *entry; error == NULL && depth < 16 && (entry = readdir(listing)) != NULL;) {
        char path[1024];

        if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
            snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name) >= (int)sizeof(path)) {
            continue;
        }
        error = remove_tree(path, depth + 1);
    }
    closedir(listing);
    TRY(error);
    kill_members(directory);
    if (rmdir(directory) != 0 && errno != ENOENT) {
        return status_errno(errno, "remove cgroup %s", directory);
    }
    return NULL;
}

/* Calls fn for that cgroup in every hierarchy. */
static struct status *each_hierarchy(const char *name, struct status *(*fn)(const char *directory, void *arg),
                                     void *arg)
{
    char path[1024];

    if (linux_cgroup_is_v2()) {
        snprintf(path, sizeof(path), "%s%s", root, name);
        return fn(path, arg);
    }
    DIR *listing = opendir(root);

    if (listing == NULL) {
        return errno == ENOENT ? NULL : status_errno(errno, "open %s", root);
    }
    struct status *error = NULL;

    for (struct dirent *entry; error == NULL && (entry = readdir(listing)) != NULL;) {
        if (entry->d_name[0] != '.' && entry->d_type == DT_DIR &&
            snprintf(path, sizeof(path), "%s/%s%s", root, entry->d_name, name) < (int)sizeof(path)) {
            error = fn(path, arg);
        }
    }
    closedir(listing);
    return error;
}

static struct status *remove_one(const char *directory, void *arg)
{
    return remove_tree(directory, 0);
}

struct status *linux_cgroup_remove(const char *name)
{
    return each_hierarchy(name, remove_one, NULL);
}

struct listing {
    struct arena *arena;
    struct host_names *names;
};

static struct status *list_one(const char *directory, void *arg)
{
    struct listing *into = arg;
    DIR *listing = opendir(directory);

    if (listing == NULL) {
        return NULL;
    }
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        bool is_known = entry->d_type != DT_DIR || entry->d_name[0] == '.';

        LIST_EACH (name, into->names) {
            is_known = is_known || str_is(*name, entry->d_name);
        }
        if (!is_known) {
            *LIST_ADD(into->arena, into->names) = arena_str(into->arena, str_of(entry->d_name));
        }
    }
    closedir(listing);
    return NULL;
}

struct status *linux_cgroup_list(const char *name, struct arena *arena, struct host_names *ret)
{
    struct host_names names = {0};
    struct listing into = {.arena = arena, .names = &names};

    TRY(each_hierarchy(name, list_one, &into));
    *ret = names;
    return NULL;
}
