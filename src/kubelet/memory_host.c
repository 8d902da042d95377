/* A machine in memory: a map from paths to files, enough of a file system for the kubelet's own files. */
#include "kubelet/host.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct file {
    enum host_file_type type;
    uint32_t mode;
    struct buf content; /* of a file, or the target of a symlink */
};

struct memory_host {
    struct host host;
    struct map files;   /* path -> struct file */
    struct map cgroups; /* name -> struct host_cgroup_limits */
    struct host_usage usage;
    struct host_fs_usage fs_usage;
    bool is_full;
};

static struct memory_host *of(struct host *host)
{
    return CONTAINER_OF(host, struct memory_host, host);
}

static void file_free(struct file *file)
{
    if (file != NULL) {
        buf_done(&file->content);
        free(file);
    }
}

/* Replaces every symlink in the path but perhaps the last part. */
static struct str resolve(struct memory_host *memory, struct arena *arena, struct str path, bool follow, int depth)
{
    struct buf done = {0};
    struct str rest = str_from(path, 1);

    for (struct str part; str_next(&rest, '/', &part);) {
        if (part.n == 0) {
            continue;
        }
        size_t parent = done.n;

        buf_add_char(&done, '/');
        buf_add_str(&done, part);
        struct file *file = map_find(&memory->files, buf_str(&done));

        if (file != NULL && file->type == HOST_SYMLINK && (follow || rest.p != NULL) && depth < 32) {
            struct str target = buf_str(&file->content);
            struct str whole =
                target.n > 0 && target.p[0] == '/'
                    ? arena_printf(arena, "%.*s%s%.*s", STR_ARG(target), rest.p != NULL ? "/" : "", STR_ARG(rest))
                    : arena_printf(arena, "%.*s/%.*s%s%.*s", (int)parent, done.p, STR_ARG(target),
                                   rest.p != NULL ? "/" : "", STR_ARG(rest));

            buf_done(&done);
            return resolve(memory, arena, whole, follow, depth + 1);
        }
    }
    struct str found = done.n > 0 ? arena_str(arena, buf_str(&done)) : STR("/");

    buf_done(&done);
    return found;
}

static struct file *find(struct memory_host *memory, struct arena *arena, const char *path, bool follow,
                         struct str *ret_path)
{
    struct str resolved = resolve(memory, arena, str_of(path), follow, 0);

    if (ret_path != NULL) {
        *ret_path = resolved;
    }
    return map_find(&memory->files, resolved);
}

static struct file *put(struct memory_host *memory, struct str path, enum host_file_type type, uint32_t mode)
{
    struct file *file = MEM_NEW(struct file);

    file->type = type;
    file->mode = mode;
    file_free(map_set(&memory->files, path, file));
    return file;
}

static struct status *memory_stat(struct host *host, const char *path, bool follow, struct host_stat *ret)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct file *file = find(of(host), arena, path, follow, NULL);

    *ret = file == NULL
               ? (struct host_stat){.type = strcmp(path, "/") == 0 ? HOST_DIRECTORY : HOST_NONE}
               : (struct host_stat){.type = file->type, .mode = file->mode, .size = (int64_t)file->content.n};
    return NULL;
}

static struct status *full(const struct memory_host *memory, const char *path)
{
    return memory->is_full ? status_new(STATUS_INTERNAL_ERROR, "write %s: No space left on device", path) : NULL;
}

static struct status *memory_make_directory(struct host *host, const char *path, uint32_t mode)
{
    struct memory_host *memory = of(host);
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str resolved = resolve(memory, arena, str_of(path), true, 0);

    for (size_t i = 1; i <= resolved.n; i++) {
        if (i < resolved.n && resolved.p[i] != '/') {
            continue;
        }
        struct file *file = map_find(&memory->files, str_sub(resolved, 0, i));

        if (file == NULL) {
            TRY(full(memory, path));
            file = put(memory, str_sub(resolved, 0, i), HOST_DIRECTORY, 0755);
        }
        if (file->type != HOST_DIRECTORY) {
            return status_new(STATUS_INTERNAL_ERROR, "mkdir %s: Not a directory", path);
        }
        if (i == resolved.n) {
            file->mode = mode;
        }
    }
    return NULL;
}

static struct status *memory_read(struct host *host, const char *path, size_t max, struct arena *arena,
                                  struct str *ret)
{
    struct file *file = find(of(host), arena, path, true, NULL);

    if (file == NULL || file->type != HOST_FILE) {
        return status_new(STATUS_NOT_FOUND, "open %s: No such file or directory", path);
    }
    *ret = arena_str(arena, str_sub(buf_str(&file->content), 0, max));
    return NULL;
}

static struct status *memory_read_tail(struct host *host, const char *path, size_t max, struct arena *arena,
                                       struct str *ret)
{
    struct str all;

    TRY(memory_read(host, path, SIZE_MAX, arena, &all));
    *ret = all.n > max ? str_from(all, all.n - max) : all;
    return NULL;
}

static struct status *parent_exists(struct memory_host *memory, struct str path)
{
    size_t slash = str_last_index(path, '/');
    struct file *parent = slash == 0 ? NULL : map_find(&memory->files, str_sub(path, 0, slash));

    if (slash != 0 && (parent == NULL || parent->type != HOST_DIRECTORY)) {
        return status_new(STATUS_NOT_FOUND, "open %.*s: No such file or directory", STR_ARG(path));
    }
    return NULL;
}

static struct status *memory_write(struct host *host, const char *path, struct str bytes, uint32_t mode)
{
    struct memory_host *memory = of(host);
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str resolved;

    find(memory, arena, path, false, &resolved);
    TRY(full(memory, path));
    TRY(parent_exists(memory, resolved));
    buf_add_str(&put(memory, resolved, HOST_FILE, mode)->content, bytes);
    return NULL;
}

static struct status *memory_symlink(struct host *host, const char *target, const char *path)
{
    struct memory_host *memory = of(host);
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str resolved;

    find(memory, arena, path, false, &resolved);
    TRY(full(memory, path));
    TRY(parent_exists(memory, resolved));
    buf_add_str(&put(memory, resolved, HOST_SYMLINK, 0777)->content, str_of(target));
    return NULL;
}

static struct status *memory_read_link(struct host *host, const char *path, struct arena *arena, struct str *ret)
{
    struct file *file = find(of(host), arena, path, false, NULL);

    if (file == NULL || file->type != HOST_SYMLINK) {
        return status_new(STATUS_NOT_FOUND, "readlink %s: No such file or directory", path);
    }
    *ret = arena_str(arena, buf_str(&file->content));
    return NULL;
}

static bool is_below(struct str path, struct str top)
{
    return str_has_prefix(path, top) && (path.n == top.n || path.p[top.n] == '/');
}

static struct status *memory_rename(struct host *host, const char *from, const char *to)
{
    struct memory_host *memory = of(host);
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str source, target;
    struct {
        struct str *items;
        size_t len;
    } moved = {0};

    if (find(memory, arena, from, false, &source) == NULL) {
        return status_new(STATUS_NOT_FOUND, "rename %s: No such file or directory", from);
    }
    find(memory, arena, to, false, &target);
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&memory->files, &at)) != NULL;) {
        if (is_below(entry->key, source)) {
            *LIST_ADD(arena, &moved) = arena_str(arena, entry->key);
        }
    }
    LIST_EACH (path, &moved) {
        struct file *file = map_remove(&memory->files, *path);
        struct str there =
            arena_printf(arena, "%.*s%.*s", STR_ARG(target), STR_ARG(str_from(*path, source.n)));

        file_free(map_set(&memory->files, there, file));
    }
    return NULL;
}

static struct status *memory_remove(struct host *host, const char *path)
{
    struct memory_host *memory = of(host);
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str top;
    size_t at = 0;

    if (find(memory, arena, path, false, &top) == NULL) {
        return NULL;
    }
    for (struct map_entry *entry; (entry = map_next(&memory->files, &at)) != NULL;) {
        if (is_below(entry->key, top)) {
            file_free(map_remove(&memory->files, entry->key));
        }
    }
    return NULL;
}

static int compare_names(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static struct status *list_keys(const struct map *map, struct str top, struct arena *arena, struct host_names *ret)
{
    struct host_names names = {0};
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(map, &at)) != NULL;) {
        if (is_below(entry->key, top) && entry->key.n > top.n + 1 &&
            str_index(str_from(entry->key, top.n + 1), '/') == SIZE_MAX) {
            *LIST_ADD(arena, &names) = arena_str(arena, str_from(entry->key, top.n + 1));
        }
    }
    if (names.len > 1) {
        qsort(names.items, names.len, sizeof(*names.items), compare_names);
    }
    *ret = names;
    return NULL;
}

static struct status *memory_list(struct host *host, const char *path, struct arena *arena, struct host_names *ret)
{
    struct str top;

    find(of(host), arena, path, true, &top);
    return list_keys(&of(host)->files, top, arena, ret);
}

static struct status *memory_set_mode(struct host *host, const char *path, uint32_t mode)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct file *file = find(of(host), arena, path, true, NULL);

    if (file == NULL) {
        return status_new(STATUS_NOT_FOUND, "chmod %s: No such file or directory", path);
    }
    file->mode = mode;
    return NULL;
}

static struct status *memory_set_group(struct host *host, const char *path, int64_t group, bool read_only)
{
    return NULL;
}

static struct status *memory_mount_tmpfs(struct host *host, const char *path, int64_t size)
{
    return NULL;
}

static struct status *memory_mount_bind(struct host *host, const char *source, const char *path)
{
    return NULL;
}

static struct status *memory_unmount(struct host *host, const char *path)
{
    return NULL;
}

static struct status *memory_cgroup_apply(struct host *host, const char *name, const struct host_cgroup_limits *limits)
{
    struct memory_host *memory = of(host);
    struct str all = str_of(name);

    for (size_t i = 1; i <= all.n; i++) {
        if ((i == all.n || all.p[i] == '/') && map_find(&memory->cgroups, str_sub(all, 0, i)) == NULL) {
            map_set(&memory->cgroups, str_sub(all, 0, i), MEM_NEW(struct host_cgroup_limits));
        }
    }
    *(struct host_cgroup_limits *)map_find(&memory->cgroups, all) = *limits;
    return NULL;
}

static struct status *memory_cgroup_remove(struct host *host, const char *name)
{
    struct memory_host *memory = of(host);
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&memory->cgroups, &at)) != NULL;) {
        if (is_below(entry->key, str_of(name))) {
            free(map_remove(&memory->cgroups, entry->key));
        }
    }
    return NULL;
}

static struct status *memory_cgroup_list(struct host *host, const char *name, struct arena *arena,
                                         struct host_names *ret)
{
    return list_keys(&of(host)->cgroups, str_of(name), arena, ret);
}

static struct status *memory_facts(struct host *host, struct arena *arena, struct host_facts *ret)
{
    *ret = (struct host_facts){
        .cpus = 4,
        .memory_bytes = of(host)->usage.memory_capacity,
        .hostname = STR("memory"),
        .machine_id = STR("00000000000000000000000000000001"),
        .system_uuid = STR("00000000-0000-0000-0000-000000000001"),
        .boot_id = STR("00000000-0000-0000-0000-000000000002"),
        .kernel_version = STR("6.1.0"),
        .os_image = STR("memory"),
        .operating_system = STR("linux"),
        .architecture = STR("amd64"),
        .address = STR("10.0.0.1"),
        .is_cgroup_v2 = true,
    };
    return NULL;
}

static struct status *memory_usage(struct host *host, struct host_usage *ret)
{
    *ret = of(host)->usage;
    return NULL;
}

static struct status *memory_fs_usage(struct host *host, const char *path, struct host_fs_usage *ret)
{
    *ret = of(host)->fs_usage;
    return NULL;
}

static void memory_free(struct host *host)
{
    struct memory_host *memory = of(host);
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&memory->files, &at)) != NULL;) {
        file_free(entry->value);
    }
    at = 0;
    for (struct map_entry *entry; (entry = map_next(&memory->cgroups, &at)) != NULL;) {
        free(entry->value);
    }
    map_done(&memory->files);
    map_done(&memory->cgroups);
    free(memory);
}

static const struct host_ops memory_ops = {
    .stat = memory_stat,
    .make_directory = memory_make_directory,
    .read = memory_read,
    .read_tail = memory_read_tail,
    .write = memory_write,
    .symlink = memory_symlink,
    .read_link = memory_read_link,
    .rename = memory_rename,
    .remove = memory_remove,
    .list = memory_list,
    .set_mode = memory_set_mode,
    .set_group = memory_set_group,
    .mount_tmpfs = memory_mount_tmpfs,
    .mount_bind = memory_mount_bind,
    .unmount = memory_unmount,
    .cgroup_apply = memory_cgroup_apply,
    .cgroup_remove = memory_cgroup_remove,
    .cgroup_list = memory_cgroup_list,
    .facts = memory_facts,
    .usage = memory_usage,
    .fs_usage = memory_fs_usage,
    .free = memory_free,
};

struct host *memory_host_new(void)
{
    struct memory_host *memory = MEM_NEW(struct memory_host);

    memory->host.ops = &memory_ops;
    memory->usage = (struct host_usage){
        .memory_capacity = INT64_C(8) << 30, .memory_available = INT64_C(6) << 30, .pids_max = 32768, .pids = 100};
    memory->fs_usage = (struct host_fs_usage){
        .capacity = INT64_C(100) << 30, .available = INT64_C(80) << 30, .inodes = 1000000, .inodes_free = 900000};
    return &memory->host;
}

void memory_host_set_usage(struct host *host, const struct host_usage *usage)
{
    of(host)->usage = *usage;
}

void memory_host_set_fs_usage(struct host *host, const struct host_fs_usage *usage)
{
    of(host)->fs_usage = *usage;
}

void memory_host_set_full(struct host *host, bool is_full)
{
    of(host)->is_full = is_full;
}
