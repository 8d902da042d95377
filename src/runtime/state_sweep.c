#include "base/log.h"
#include "runtime/images/rooted.h"
#include "runtime/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

/* What a worker looks at and removes; the maps do not change while it does, as nothing is served yet. */
struct sweep {
    struct runtime *runtime;
    size_t count;
};

static void complain(const char *what, int error)
{
    log_warn("removing %s, which is left of something: %s", what, strerror(error));
}

/* Calls fn with each entry of the directory that is no key of `known`. */
static void each_unknown(struct sweep *sweep, struct str directory, const struct map *known,
                         void (*fn)(struct sweep *sweep, const char *path))
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    DIR *entries = opendir(arena_cstr(arena, directory));
    struct str_list paths = {0};

    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        if (entry->d_name[0] != '.' && map_find(known, str_of(entry->d_name)) == NULL) {
            *LIST_ADD(arena, &paths) = arena_printf(arena, "%.*s/%s", STR_ARG(directory), entry->d_name);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
    LIST_EACH(path, &paths) {
        fn(sweep, path->p);
        sweep->count++;
    }
}

static void remove_directory(struct sweep *sweep, const char *path)
{
    (void)sweep;
    if (rooted_remove(AT_FDCWD, path) != 0) {
        complain(path, errno);
    }
}

static void remove_network(struct sweep *sweep, const char *path)
{
    (void)sweep;
    umount2(path, MNT_DETACH); /* EINVAL when nothing is mounted any more */
    if (unlink(path) != 0 && errno != ENOENT) {
        complain(path, errno);
    }
}

static void discard_layers(struct sweep *sweep)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct snapshots *snapshots = image_store_snapshots(sweep->runtime->images);
    struct str_list names = {0};
    struct status *status = snapshots_containers(snapshots, arena, &names);

    LIST_EACH(name, &names) {
        if (status == NULL && map_find(&sweep->runtime->containers, *name) == NULL) {
            status = snapshots_discard(snapshots, *name);
            sweep->count++;
        }
    }
    if (status != NULL) {
        log_warn("%.*s", STR_ARG(status->message));
        status_free(status);
    }
}

static void work(void *arg)
{
    struct sweep *sweep = arg;
    struct runtime *runtime = sweep->runtime;
    OWNED(arena_freep) struct arena *arena = arena_new();

    each_unknown(sweep, arena_printf(arena, "%.*s/containers", STR_ARG(runtime->root)), &runtime->containers,
                 remove_directory);
    each_unknown(sweep, arena_printf(arena, "%.*s/sandboxes", STR_ARG(runtime->root)), &runtime->sandboxes,
                 remove_directory);
    each_unknown(sweep, runtime->netns_directory, &runtime->sandboxes, remove_network);
    discard_layers(sweep);
}

void state_sweep(struct runtime *runtime)
{
    struct sweep sweep = {.runtime = runtime};

    task_offload(work, &sweep);
    if (sweep.count > 0) {
        log_info("removed what was left of %zu things that no record knows", sweep.count);
    }
}
