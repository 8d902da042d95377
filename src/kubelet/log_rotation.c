#include "kubelet/log_rotation.h"

#include "base/env.h"
#include "base/log.h"
#include "kubelet/runtime_fetch.h"
#include "schema/timestamp.h"

#define PERIOD (10 * ENV_SECOND) /* stock's containerLogMonitorInterval */

enum { STAMP_TEXT = 32 };

/* "0.log.20260102-150405" is an older part of "0.log". */
static bool is_part(struct str name, struct str log)
{
    return name.n > log.n + 1 && str_has_prefix(name, log) && name.p[log.n] == '.';
}

void log_rotation_decide(struct arena *arena, const struct host_names *names, struct str log, int64_t keep,
                         struct host_names *ret)
{
    int64_t parts = 0, surplus;

    LIST_EACH (name, names) {
        parts += is_part(*name, log);
    }
    surplus = parts - MAX(keep - 1, 0);
    LIST_EACH (name, names) { /* the oldest come first */
        if (surplus > 0 && is_part(*name, log)) {
            *LIST_ADD(arena, ret) = *name;
            surplus--;
        }
    }
}

static struct str stamp(struct arena *arena)
{
    /* "2026-01-02T15:04:05Z" without what does not belong into a file's name. */
    struct timestamp now = timestamp_of_nanos(env_wall());

    now.nanos = 0;
    struct str text = timestamp_format(arena, now);
    char *out = arena_alloc(arena, STAMP_TEXT);
    size_t at = 0;

    for (size_t i = 0; i < text.n && at + 1 < STAMP_TEXT; i++) {
        if (text.p[i] >= '0' && text.p[i] <= '9') {
            out[at++] = text.p[i];
        } else if (text.p[i] == 'T') {
            out[at++] = '-';
        }
    }
    return (struct str){out, at};
}

static struct status *remove_old(struct kubelet *kubelet, struct arena *arena, struct str path)
{
    size_t slash = str_last_index(path, '/');
    struct str directory = str_sub(path, 0, slash);
    struct host_names names = {0}, old = {0};

    TRY(host_list(kubelet->host, arena_cstr(arena, directory), arena, &names));
    log_rotation_decide(arena, &names, str_from(path, slash + 1), kubelet->options.log_max_files, &old);
    LIST_EACH (name, &old) {
        TRY(host_remove(kubelet->host, arena_printf(arena, "%.*s/%.*s", STR_ARG(directory), STR_ARG(*name)).p));
    }
    return NULL;
}

static struct status *rotate(struct kubelet *kubelet, struct arena *arena, struct str id, struct str path)
{
    const char *from = arena_cstr(arena, path);
    struct str mark = stamp(arena);
    const char *to = arena_printf(arena, "%.*s.%.*s", STR_ARG(path), STR_ARG(mark)).p;
    struct cri_v1_reopen_container_log_request request = {.container_id = id};
    struct cri_v1_reopen_container_log_response *response;

    TRY(host_rename(kubelet->host, from, to));
    struct status *error = cri_reopen_container_log(kubelet->cri, &request, arena, &response);

    if (error != NULL) {
        /* The container still writes to the old file: it had better be found. */
        status_free(host_rename(kubelet->host, to, from));
        return error;
    }
    return remove_old(kubelet, arena, path);
}

static struct status *look_at(struct kubelet *kubelet, const struct runtime_item *container)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cri_v1_container_status_request request = {.container_id = container->id};
    struct cri_v1_container_status_response *response;
    struct host_stat stat;

    TRY(cri_container_status(kubelet->cri, &request, arena, &response));
    if (response->status == NULL || str_last_index(response->status->log_path, '/') == SIZE_MAX) {
        return NULL;
    }
    TRY(host_stat(kubelet->host, arena_cstr(arena, response->status->log_path), true, &stat));
    if (stat.type != HOST_FILE || stat.size < kubelet->options.log_max_bytes) {
        return NULL;
    }
    return rotate(kubelet, arena, container->id, response->status->log_path);
}

static struct status *look(struct kubelet *kubelet)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct runtime_items sandboxes, containers;

    TRY(runtime_list(kubelet, arena, &sandboxes, &containers));
    LIST_EACH (container, &containers) {
        struct status *error = container->state == RUNTIME_RUNNING ? look_at(kubelet, container) : NULL;

        if (error != NULL && !status_is(error, STATUS_CANCELLED) && !status_is(error, STATUS_NOT_FOUND)) {
            log_warn("rotating the log of container %.*s: %.*s", STR_ARG(container->id), STR_ARG(error->message));
        }
        status_free(error);
    }
    return NULL;
}

static void rotation_task(void *arg)
{
    struct kubelet *kubelet = arg;

    while (task_sleep(PERIOD)) {
        status_free(look(kubelet));
    }
}

void log_rotation_start(struct kubelet *kubelet)
{
    if (kubelet->options.log_max_bytes > 0) {
        task_group_spawn(&kubelet->tasks, "log-rotation", rotation_task, kubelet);
    }
}
