#include "runtime/cgroup.h"

#include "base/buf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { READ_BYTES = 64 << 10, REMOVE_TRIES = 200, DEPTH_MAX = 16 };

static bool list_has(struct str list, struct str wanted)
{
    for (struct str rest = list, item; str_next(&rest, ',', &item);) {
        if (str_eq(item, wanted)) {
            return true;
        }
    }
    return false;
}

static struct status *read_file(struct arena *arena, const char *path, struct str *ret)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct str text = {arena_alloc(arena, READ_BYTES), 0};

    if (fd < 0) {
        return status_errno(errno, "%s", path);
    }
    for (ssize_t n; text.n < READ_BYTES && (n = read(fd, (char *)text.p + text.n, READ_BYTES - text.n)) > 0;) {
        text.n += (size_t)n;
    }
    close(fd);
    *ret = text;
    return NULL;
}

static struct status *write_file(const char *path, struct str value)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0) {
        return status_errno(errno, "%s", path);
    }
    ssize_t n = write(fd, value.p, value.n);
    int error = errno;

    close(fd);
    return n < 0 ? status_errno(error, "writing \"%.*s\" to %s", STR_ARG(value), path) : NULL;
}

static struct str controllers_of(struct arena *arena, struct str options)
{
    static const char known[] = "cpu,cpuacct,cpuset,memory,devices,freezer,blkio,pids,hugetlb,net_cls,net_prio,perf_event";
    struct buf list = {0};

    for (struct str rest = options, item; str_next(&rest, ',', &item);) {
        if (list_has(str_of(known), item)) {
            buf_printf(&list, "%s%.*s", list.n > 0 ? "," : "", STR_ARG(item));
        }
    }
    struct str copy = arena_str(arena, buf_str(&list));

    buf_done(&list);
    return copy;
}

/* "31 23 0:28 / /sys/fs/cgroup/memory rw,relatime shared:4 - cgroup cgroup rw,memory" */
void cgroup_machine_parse(struct arena *arena, struct str mountinfo, struct cgroup_machine *ret)
{
    struct str v2 = STR("");

    memset(ret, 0, sizeof(*ret));
    for (struct str rest = mountinfo, line; str_next(&rest, '\n', &line);) {
        size_t dash = str_find(line, STR(" - "));
        struct str fields[5] = {0}, type, device, options, tail = line;

        if (dash == SIZE_MAX) {
            continue;
        }
        for (size_t i = 0; i < COUNT_OF(fields); i++) {
            str_cut(tail, ' ', &fields[i], &tail);
        }
        str_cut(str_from(line, dash + 3), ' ', &type, &tail);
        str_cut(tail, ' ', &device, &options);
        if (str_is(type, "cgroup2") && v2.n == 0) {
            v2 = arena_str(arena, fields[4]);
        } else if (str_is(type, "cgroup")) {
            struct str controllers = controllers_of(arena, options);

            if (controllers.n > 0) {
                *LIST_ADD(arena, &ret->hierarchies) =
                    (struct cgroup_hierarchy){controllers, arena_str(arena, fields[4])};
            }
        }
    }
    if (ret->hierarchies.len == 0 && v2.n > 0) {
        ret->is_v2 = true;
        *LIST_ADD(arena, &ret->hierarchies) = (struct cgroup_hierarchy){STR(""), v2};
    }
}

struct status *cgroup_machine_read(struct arena *arena, struct cgroup_machine *ret)
{
    OWNED(arena_freep) struct arena *temporary = arena_new();
    struct str text = STR("");

    TRY(read_file(temporary, "/proc/self/mountinfo", &text));
    cgroup_machine_parse(arena, text, ret);
    return NULL;
}

void cgroup_place(struct arena *arena, const struct cgroup_machine *machine, struct str path, struct shim_cgroups *ret)
{
    memset(ret, 0, sizeof(*ret));
    LIST_EACH(hierarchy, &machine->hierarchies) {
        *LIST_ADD(arena, &ret->entries) = (struct shim_cgroup){
            arena_printf(arena, "%.*s%s%.*s", STR_ARG(hierarchy->mount_point), str_has_prefix(path, STR("/")) ? "" : "/",
                         STR_ARG(path)),
            hierarchy->controllers};
    }
}

/* Has cpusets made in the directory begin with its processors and memory, which costs far less than to write them. */
static void share_cpuset(const char *directory)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/cgroup.clone_children", directory);
    status_free(write_file(path, STR("1"))); /* else inherit_cpuset() does it */
}

/* A cpuset can't be entered before it has processors and memory: those of the one above. */
static struct status *inherit_cpuset(const char *directory)
{
    static const char *const files[] = {"cpuset.cpus", "cpuset.mems"};
    OWNED(arena_freep) struct arena *arena = arena_new();
    char path[PATH_MAX];

    for (size_t i = 0; i < COUNT_OF(files); i++) {
        struct str own = STR(""), above = STR("");

        snprintf(path, sizeof(path), "%s/%s", directory, files[i]);
        TRY(read_file(arena, path, &own));
        if (str_trim(own).n > 0) {
            continue;
        }
        snprintf(path, sizeof(path), "%s/../%s", directory, files[i]);
        TRY(read_file(arena, path, &above));
        snprintf(path, sizeof(path), "%s/%s", directory, files[i]);
        TRY(write_file(path, str_trim(above)));
    }
    return NULL;
}

/* Lets what is below `directory` have all controllers. Those that the machine keeps from us we do without. */
static void delegate(const char *directory)
{
    static const char *const controllers[] = {"+cpu", "+cpuset", "+memory", "+io", "+pids", "+hugetlb"};
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/cgroup.subtree_control", directory);
    for (size_t i = 0; i < COUNT_OF(controllers); i++) {
        struct status *status = write_file(path, str_of(controllers[i]));

        status_free(status);
    }
}

static bool is_cgroup(const char *directory)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/cgroup.procs", directory);
    return access(path, F_OK) == 0;
}

static struct status *make_directory(const struct shim_cgroup *cgroup, const char *directory, int depth)
{
    char parent[PATH_MAX];
    char *slash;

    if (is_cgroup(directory)) {
        return NULL;
    }
    snprintf(parent, sizeof(parent), "%s", directory);
    slash = strrchr(parent, '/');
    if (slash == NULL || slash == parent || depth > DEPTH_MAX) {
        return status_new(STATUS_INTERNAL_ERROR, "%.*s is in no cgroup hierarchy", STR_ARG(cgroup->directory));
    }
    *slash = '\0';
    if (slash[1] == '\0') {
        return make_directory(cgroup, parent, depth + 1);
    }
    TRY(make_directory(cgroup, parent, depth + 1));
    bool is_cpuset = list_has(cgroup->controller, STR("cpuset"));

    if (cgroup->controller.n == 0) {
        delegate(parent);
    } else if (is_cpuset && depth == 0) {
        share_cpuset(parent);
    }
    if (mkdir(directory, 0755) != 0 && errno != EEXIST) {
        return status_errno(errno, "making cgroup %s", directory);
    }
    return is_cpuset ? inherit_cpuset(directory) : NULL;
}

struct status *cgroup_make(const struct shim_cgroups *cgroups)
{
    LIST_EACH(cgroup, &cgroups->entries) {
        TRY(make_directory(cgroup, cgroup->directory.p, 0));
    }
    return NULL;
}

static const struct shim_cgroup *find(const struct shim_cgroups *cgroups, struct str controller)
{
    LIST_EACH(cgroup, &cgroups->entries) {
        if (controller.n == 0 ? cgroup->controller.n == 0 : list_has(cgroup->controller, controller)) {
            return cgroup;
        }
    }
    return NULL;
}

struct status *cgroup_apply(const struct shim_cgroups *cgroups, const struct cgroup_settings *settings)
{
    char path[PATH_MAX];

    LIST_EACH(setting, settings) {
        const struct shim_cgroup *cgroup = find(cgroups, setting->controller);

        if (cgroup == NULL) {
            continue; /* a machine without this controller: nothing to limit with */
        }
        snprintf(path, sizeof(path), "%s/%.*s", cgroup->directory.p, STR_ARG(setting->file));
        if (setting->is_optional && access(path, F_OK) != 0) {
            continue;
        }
        TRY(write_file(path, setting->value));
    }
    return NULL;
}

struct str cgroup_read(struct arena *arena, const struct shim_cgroups *cgroups, const char *controller,
                       const char *file)
{
    const struct shim_cgroup *cgroup = find(cgroups, str_of(controller));
    struct str text = STR("");
    char path[PATH_MAX];

    if (cgroup == NULL) {
        return text;
    }
    snprintf(path, sizeof(path), "%s/%s", cgroup->directory.p, file);
    struct status *status = read_file(arena, path, &text);

    status_free(status);
    return str_trim(text);
}

static void kill_members(const char *directory)
{
    char path[PATH_MAX], line[32];

    snprintf(path, sizeof(path), "%s/cgroup.procs", directory);
    FILE *file = fopen(path, "re");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        long pid = strtol(line, NULL, 10);

        if (pid > 1) {
            kill((pid_t)pid, SIGKILL);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

/* What a container made below comes first. */
static void remove_below(const char *directory, int depth)
{
    char path[PATH_MAX];
    DIR *entries = depth < DEPTH_MAX ? opendir(directory) : NULL;

    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            (size_t)snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name) < sizeof(path)) {
            remove_below(path, depth + 1);
            kill_members(path);
            rmdir(path);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
}

static struct status *remove_one(const char *directory)
{
    struct timespec pause = {.tv_nsec = 5000000};

    for (int i = 0; rmdir(directory) != 0 && errno != ENOENT; i++) {
        if (errno != EBUSY && errno != ENOTEMPTY) {
            return status_errno(errno, "removing cgroup %s", directory);
        }
        if (i >= REMOVE_TRIES) {
            return status_new(STATUS_INTERNAL_ERROR, "cgroup %s is still in use", directory);
        }
        remove_below(directory, 0);
        kill_members(directory);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

struct status *cgroup_remove(const struct shim_cgroups *cgroups)
{
    struct status *first = NULL;

    LIST_EACH(cgroup, &cgroups->entries) {
        struct status *status = remove_one(cgroup->directory.p);

        if (first == NULL) {
            first = status;
        } else {
            status_free(status);
        }
    }
    return first;
}
