#include "kubelet/volumes/atomic_writer.h"

#include "base/env.h"

#include <string.h>
#include <time.h>

static struct status *check_path(struct str path)
{
    if (path.n == 0 || path.p[0] == '/' || path.n > 1024) {
        return status_new(STATUS_INVALID, "invalid path: must be relative path: %.*s", STR_ARG(path));
    }
    bool is_first = true;

    for (struct str rest = path, part; str_next(&rest, '/', &part); is_first = false) {
        if (str_is(part, "..") || (is_first && str_has_prefix(part, STR("..")))) {
            return status_new(STATUS_INVALID, "invalid path: must not contain '..': %.*s", STR_ARG(path));
        }
    }
    return NULL;
}

/* All files below `top`, relative to it. */
static struct status *walk(struct host *host, const char *top, struct str below, struct arena *arena, int depth,
                           struct host_names *ret)
{
    struct host_names names;
    const char *path = arena_printf(arena, "%s/%.*s", top, STR_ARG(below)).p;

    if (depth > 32) {
        return NULL;
    }
    TRY(host_list(host, path, arena, &names));
    LIST_EACH (name, &names) {
        struct str relative = below.n > 0 ? arena_printf(arena, "%.*s/%.*s", STR_ARG(below), STR_ARG(*name)) : *name;
        struct host_stat st;

        TRY(host_stat(host, arena_printf(arena, "%s/%.*s", top, STR_ARG(relative)).p, false, &st));
        if (st.type == HOST_DIRECTORY) {
            TRY(walk(host, top, relative, arena, depth + 1, ret));
        } else {
            *LIST_ADD(arena, ret) = relative;
        }
    }
    return NULL;
}

static const struct volume_file *find(const struct volume_files *files, struct str path)
{
    LIST_EACH (file, files) {
        if (str_eq(file->path, path)) {
            return file;
        }
    }
    return NULL;
}

/* Whether what is published under `current` is exactly `files`. */
static bool is_same(struct host *host, const char *current, const struct volume_files *files, struct arena *arena,
                    const struct host_names *published)
{
    if (published->len != files->len) {
        return false;
    }
    LIST_EACH (name, published) {
        const struct volume_file *file = find(files, *name);
        struct str content;

        if (file == NULL) {
            return false;
        }
        struct status *error = host_read(host, arena_printf(arena, "%s/%.*s", current, STR_ARG(*name)).p,
                                         file->content.n + 1, arena, &content);

        if (error != NULL || !str_eq(content, file->content)) {
            status_free(error);
            return false;
        }
    }
    return true;
}

static struct str new_directory_name(struct arena *arena)
{
    int64_t now = env_wall();
    time_t seconds = (time_t)(now / ENV_SECOND);
    struct tm tm;
    char text[32];

    gmtime_r(&seconds, &tm);
    strftime(text, sizeof(text), "..%Y_%m_%d_%H_%M_%S", &tm);
    return arena_printf(arena, "%s.%010llu", text,
                        (unsigned long long)(now % ENV_SECOND + (int64_t)env_random_below(1000000000)));
}

static struct status *write_files(struct host *host, const char *directory, const struct volume_files *files,
                                  struct arena *arena)
{
    TRY(host_make_directory(host, directory, 0755));
    LIST_EACH (file, files) {
        const char *path = arena_printf(arena, "%s/%.*s", directory, STR_ARG(file->path)).p;
        size_t slash = str_last_index(file->path, '/');

        if (slash != SIZE_MAX) {
            TRY(host_make_directory(
                host, arena_printf(arena, "%s/%.*s", directory, STR_ARG(str_sub(file->path, 0, slash))).p, 0755));
        }
        TRY(host_write(host, path, file->content, file->mode));
    }
    return NULL;
}

static struct str first_part(struct str path)
{
    struct str first, rest;

    str_cut(path, '/', &first, &rest);
    return first;
}

/* Links NAME -> ..data/NAME for each first part of a path, and removes the links whose files are gone. */
static struct status *link_names(struct host *host, const char *directory, const struct volume_files *files,
                                 struct arena *arena)
{
    struct host_names names;

    LIST_EACH (file, files) {
        struct str name = first_part(file->path);
        const char *path = arena_printf(arena, "%s/%.*s", directory, STR_ARG(name)).p;
        struct host_stat st;

        TRY(host_stat(host, path, false, &st));
        if (st.type != HOST_SYMLINK) {
            TRY(host_symlink(host, arena_printf(arena, "..data/%.*s", STR_ARG(name)).p, path));
        }
    }
    TRY(host_list(host, directory, arena, &names));
    LIST_EACH (name, &names) {
        bool is_wanted = str_has_prefix(*name, STR(".."));

        LIST_EACH (file, files) {
            is_wanted = is_wanted || str_eq(first_part(file->path), *name);
        }
        if (!is_wanted) {
            TRY(host_remove(host, arena_printf(arena, "%s/%.*s", directory, STR_ARG(*name)).p));
        }
    }
    return NULL;
}

struct status *atomic_write(struct host *host, const char *directory, const struct volume_files *files, int64_t group,
                            bool *ret_changed)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const char *data = arena_printf(arena, "%s/..data", directory).p;
    struct str old = STR("");
    struct host_names published = {0};

    LIST_EACH (file, files) {
        TRY(check_path(file->path));
    }
    struct status *error = host_read_link(host, data, arena, &old);

    if (error != NULL && !status_free_if(&error, STATUS_NOT_FOUND)) {
        return error;
    }
    if (old.n > 0) {
        TRY(walk(host, data, STR(""), arena, 0, &published));
        if (is_same(host, data, files, arena, &published)) {
            if (ret_changed != NULL) {
                *ret_changed = false;
            }
            return link_names(host, directory, files, arena);
        }
    }
    struct str fresh = new_directory_name(arena);
    const char *target = arena_printf(arena, "%s/%.*s", directory, STR_ARG(fresh)).p;

    error = write_files(host, target, files, arena);
    if (error == NULL && group >= 0) {
        error = host_set_group(host, target, group, true);
    }
    if (error == NULL) {
        error = host_symlink(host, fresh.p, data);
    }
    if (error != NULL) {
        status_free(host_remove(host, target));
        return error;
    }
    TRY(link_names(host, directory, files, arena));
    if (ret_changed != NULL) {
        *ret_changed = true;
    }
    return old.n > 0 ? host_remove(host, arena_printf(arena, "%s/%.*s", directory, STR_ARG(old)).p) : NULL;
}
