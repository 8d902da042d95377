#include "runtime/state.h"

#include "base/env.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "runtime/images/rooted.h"
#include "schema/copy.h"
#include "schema/protobuf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ID_BYTES = 32 };

struct str state_new_id(struct arena *arena)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[ID_BYTES];
    char *text = arena_alloc(arena, 2 * ID_BYTES + 1);

    env_random(bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    return (struct str){text, 2 * ID_BYTES};
}

static struct status *make_directory(const char *path)
{
    return mkdir(path, 0700) != 0 && errno != EEXIST ? status_errno(errno, "making %s", path) : NULL;
}

static struct sandbox *make_sandbox(struct runtime *runtime, struct str id)
{
    struct sandbox *sandbox = MEM_NEW(struct sandbox);

    sandbox->runtime = runtime;
    sandbox->refs = 1;
    sandbox->arena = arena_new();
    sandbox->record.id = arena_str(sandbox->arena, id);
    sandbox->directory = arena_printf(sandbox->arena, "%.*s/sandboxes/%.*s", STR_ARG(runtime->root), STR_ARG(id));
    task_lock_init(&sandbox->lock);
    list_init(&sandbox->execs);
    return sandbox;
}

struct status *sandbox_new(struct runtime *runtime, struct str id, struct sandbox **ret)
{
    struct sandbox *sandbox = make_sandbox(runtime, id);
    struct status *status = make_directory(sandbox->directory.p);

    if (status != NULL) {
        sandbox_unref(sandbox);
        return status;
    }
    map_set(&runtime->sandboxes, sandbox->record.id, sandbox);
    sandbox->refs++;
    *ret = sandbox;
    return NULL;
}

static struct container *make_container(struct runtime *runtime, struct str id)
{
    struct container *container = MEM_NEW(struct container);

    container->runtime = runtime;
    container->refs = 1;
    container->arena = arena_new();
    container->record.id = arena_str(container->arena, id);
    container->directory = arena_printf(container->arena, "%.*s/containers/%.*s", STR_ARG(runtime->root), STR_ARG(id));
    task_lock_init(&container->lock);
    cond_init(&container->ended);
    return container;
}

struct status *container_new(struct runtime *runtime, struct sandbox *sandbox, struct str id, struct container **ret)
{
    struct container *container = make_container(runtime, id);
    struct str root = arena_printf(container->arena, "%.*s/root", STR_ARG(container->directory));
    struct status *status = make_directory(container->directory.p);

    if (status == NULL) {
        status = make_directory(root.p);
    }
    if (status != NULL) {
        container_unref(container);
        return status;
    }
    container->sandbox = sandbox;
    sandbox->refs++;
    container->record.sandbox_id = arena_str(container->arena, sandbox->record.id);
    map_set(&runtime->containers, container->record.id, container);
    container->refs++;
    *ret = container;
    return NULL;
}

/* The value whose key is, or alone begins with, `id`. */
static void *find(const struct map *map, struct str id)
{
    void *found = map_find(map, id);
    size_t at = 0, matches = 0;

    if (found != NULL || id.n == 0) {
        return found;
    }
    for (struct map_entry *entry; (entry = map_next(map, &at)) != NULL;) {
        if (str_has_prefix(entry->key, id)) {
            found = entry->value;
            matches++;
        }
    }
    return matches == 1 ? found : NULL;
}

struct status *sandbox_get(struct runtime *runtime, struct str id, struct sandbox **ret)
{
    struct sandbox *sandbox = find(&runtime->sandboxes, id);

    if (sandbox == NULL) {
        return status_new(STATUS_NOT_FOUND, "an error occurred when try to find sandbox: \"%.*s\": not found",
                          STR_ARG(id));
    }
    sandbox->refs++;
    *ret = sandbox;
    return NULL;
}

struct status *container_get(struct runtime *runtime, struct str id, struct container **ret)
{
    struct container *container = find(&runtime->containers, id);

    if (container == NULL) {
        return status_new(STATUS_NOT_FOUND, "an error occurred when try to find container \"%.*s\": not found",
                          STR_ARG(id));
    }
    container->refs++;
    *ret = container;
    return NULL;
}

void sandbox_unref(struct sandbox *sandbox)
{
    if (sandbox == NULL || --sandbox->refs > 0) {
        return;
    }
    shim_client_close(sandbox->shim);
    arena_free(sandbox->arena);
    free(sandbox);
}

void sandbox_unrefp(struct sandbox **sandbox)
{
    sandbox_unref(*sandbox);
}

void container_unref(struct container *container)
{
    if (container == NULL || --container->refs > 0) {
        return;
    }
    sandbox_unref(container->sandbox);
    arena_free(container->arena);
    free(container);
}

void container_unrefp(struct container **container)
{
    container_unref(*container);
}

static struct status *save(struct str directory, const struct type *type, const void *record)
{
    OWNED(buf_done) struct buf bytes = {0}, path = {0};

    buf_printf(&path, "%.*s/record", STR_ARG(directory));
    protobuf_encode(type, record, &bytes);
    return file_write_unsynced(buf_cstr(&path), buf_str(&bytes), 0600);
}

struct status *sandbox_save(const struct sandbox *sandbox)
{
    return save(sandbox->directory, &shim_sandbox_record_type, &sandbox->record);
}

struct status *container_save(const struct container *container)
{
    return save(container->directory, &shim_container_record_type, &container->record);
}

static void remove_tree(void *arg)
{
    const char *path = arg;

    if (rooted_remove(AT_FDCWD, path) != 0) {
        log_warn("removing %s: %s", path, strerror(errno));
    }
}

void sandbox_forget(struct sandbox *sandbox)
{
    sandbox->is_removed = true;
    task_offload(remove_tree, (void *)(uintptr_t)sandbox->directory.p);
    if (map_remove(&sandbox->runtime->sandboxes, sandbox->record.id) != NULL) {
        sandbox_unref(sandbox);
    }
}

void container_forget(struct container *container)
{
    container->is_removed = true;
    task_offload(remove_tree, (void *)(uintptr_t)container->directory.p);
    if (map_remove(&container->runtime->containers, container->record.id) != NULL) {
        container_unref(container);
    }
}

void state_tell(struct sandbox *sandbox, struct container *container, int32_t type)
{
    struct runtime *runtime = sandbox->runtime;

    if (runtime->on_event != NULL) {
        runtime->on_event(runtime->on_event_arg, sandbox, container, type);
    }
}

void container_set_ended(struct container *container, const struct shim_process *process)
{
    struct shim_container_record *record = &container->record;

    container->process = *process;
    container->process.id = container->process.exec = STR("");
    container->process.groups.items = NULL;
    container->process.groups.len = 0;
    LIST_EACH(group, &process->groups) {
        *LIST_ADD(container->arena, &container->process.groups) = *group;
    }
    record->process = &container->process;
    record->state = CRI_V1_CONTAINER_STATE_CONTAINER_EXITED;
    if (record->reason.n == 0) {
        record->reason = process->is_oom_killed      ? STR("OOMKilled")
                         : process->exit_code == 0 ? STR("Completed")
                                                   : STR("Error");
    }
    struct status *status = container_save(container);

    if (status != NULL) {
        log_warn("container %.*s: %.*s", STR_ARG(record->id), STR_ARG(status->message));
        status_free(status);
    }
    cond_broadcast(&container->ended);
    state_tell(container->sandbox, container, CRI_V1_CONTAINER_EVENT_TYPE_CONTAINER_STOPPED_EVENT);
}

void sandbox_set_not_ready(struct sandbox *sandbox)
{
    sandbox->pause_pid = 0;
    if (sandbox->record.state == CRI_V1_POD_SANDBOX_STATE_SANDBOX_NOTREADY || sandbox->is_removed) {
        return;
    }
    sandbox->record.state = CRI_V1_POD_SANDBOX_STATE_SANDBOX_NOTREADY;
    struct status *status = sandbox_save(sandbox);

    if (status != NULL) {
        log_warn("sandbox %.*s: %.*s", STR_ARG(sandbox->record.id), STR_ARG(status->message));
        status_free(status);
    }
    state_tell(sandbox, NULL, CRI_V1_CONTAINER_EVENT_TYPE_CONTAINER_STOPPED_EVENT);
}

static void end_exec(struct sandbox *sandbox, const struct shim_process *process)
{
    LINK_EACH(at, &sandbox->execs) {
        struct exec_wait *wait = CONTAINER_OF(at, struct exec_wait, link);

        if (str_eq(wait->exec, process->exec) && !wait->is_done) {
            wait->process = *process;
            wait->process.id = wait->process.exec = STR("");
            wait->process.groups.len = 0;
            wait->is_done = true;
            cond_broadcast(wait->changed);
        }
    }
}

static void on_exited(void *arg, const struct shim_process *process)
{
    struct sandbox *sandbox = arg;

    if (process->exec.n > 0) {
        end_exec(sandbox, process);
    } else if (process->id.n == 0) {
        sandbox_set_not_ready(sandbox);
    } else {
        struct container *container = map_find(&sandbox->runtime->containers, process->id);

        if (container == NULL || container->record.state == CRI_V1_CONTAINER_STATE_CONTAINER_EXITED) {
            return;
        }
        if (container->record.state == CRI_V1_CONTAINER_STATE_CONTAINER_CREATED) {
            /* It was quicker than its starter, who has yet to hear of the start. */
            state_tell(sandbox, container, CRI_V1_CONTAINER_EVENT_TYPE_CONTAINER_STARTED_EVENT);
        }
        container_set_ended(container, process);
    }
}

/* How it ended, by what the shim wrote down while it still lived. */
static void end_unseen(struct container *container)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct shim_process process = {0};
    struct str bytes = STR(""), path = arena_printf(arena, "%.*s/exit", STR_ARG(container->directory));
    struct status *status = file_read(arena, path.p, 1 << 16, &bytes);

    if (status == NULL) {
        status = protobuf_decode(arena, &shim_process_type, bytes, &process);
    }
    if (status != NULL) {
        status_free(status);
        process = container->process;
        process.state = SHIM_ENDED;
        process.exit_code = 255;
        process.finished_at = env_wall();
        container->record.reason = STR("Unknown");
    }
    container_set_ended(container, &process);
}

static void on_gone(void *arg)
{
    struct sandbox *sandbox = arg;
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&sandbox->runtime->containers, &at)) != NULL;) {
        struct container *container = entry->value;

        if (container->sandbox == sandbox && container->record.state == CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING) {
            end_unseen(container);
        }
    }
    LINK_EACH(link, &sandbox->execs) {
        struct exec_wait *wait = CONTAINER_OF(link, struct exec_wait, link);

        wait->process.exit_code = wait->is_done ? wait->process.exit_code : 137;
        wait->is_done = true;
        cond_broadcast(wait->changed);
    }
    sandbox_set_not_ready(sandbox);
}

static const struct shim_client_events shim_events = {on_exited, on_gone};

/* The shim's word goes before the record's. */
static void learn(struct sandbox *sandbox, const struct shim_reply *hello)
{
    size_t at = 0;

    LIST_EACH(process, &hello->processes) {
        if (process->exec.n == 0 && process->id.n == 0 && process->state == SHIM_RUNNING) {
            sandbox->pause_pid = process->pid;
        }
    }
    for (struct map_entry *entry; (entry = map_next(&sandbox->runtime->containers, &at)) != NULL;) {
        struct container *container = entry->value;
        const struct shim_process *found = NULL;

        if (container->sandbox != sandbox || container->record.state == CRI_V1_CONTAINER_STATE_CONTAINER_EXITED) {
            continue;
        }
        LIST_EACH(process, &hello->processes) {
            found = process->exec.n == 0 && str_eq(process->id, container->record.id) ? process : found;
        }
        if (found != NULL && found->state == SHIM_RUNNING) {
            container->record.state = CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING;
            container->process = *(struct shim_process *)schema_copy(container->arena, &shim_process_type, found);
            container->record.process = &container->process;
        } else if (found != NULL) {
            container_set_ended(container, found);
        } else if (container->record.state == CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING) {
            end_unseen(container);
        }
    }
}

struct status *sandbox_connect(struct sandbox *sandbox)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct shim_reply reply = {0};

    TRY(shim_client_open(sandbox->directory.p, &shim_events, sandbox, &sandbox->shim));
    struct status *status =
        shim_client_call(sandbox->shim, arena, &(struct shim_call){.verb = SHIM_HELLO}, &reply, NULL);

    if (status != NULL) {
        sandbox_disconnect(sandbox);
        return status;
    }
    learn(sandbox, &reply);
    return NULL;
}

void sandbox_disconnect(struct sandbox *sandbox)
{
    shim_client_close(sandbox->shim);
    sandbox->shim = NULL;
}

static struct status *read_record(struct arena *arena, struct str directory, const struct type *type, void *record)
{
    struct str bytes = STR(""), path = arena_printf(arena, "%.*s/record", STR_ARG(directory));

    TRY(file_read_unsynced(arena, path.p, 16 << 20, &bytes));
    TRY(protobuf_decode(arena, type, bytes, record));
    schema_own(arena, type, record);
    return NULL;
}

static struct status *load_sandbox(struct runtime *runtime, struct str id)
{
    struct sandbox *sandbox = make_sandbox(runtime, id);
    struct shim_sandbox_record record = {0};
    struct status *status = read_record(sandbox->arena, sandbox->directory, &shim_sandbox_record_type, &record);

    if (status != NULL || record.config == NULL || record.config->metadata == NULL) {
        sandbox_unref(sandbox);
        return status != NULL ? status : status_new(STATUS_INVALID, "its record says nothing");
    }
    sandbox->record = record;
    map_set(&runtime->sandboxes, sandbox->record.id, sandbox);
    return NULL;
}

static struct status *load_container(struct runtime *runtime, struct str id)
{
    struct container *container = make_container(runtime, id);
    struct shim_container_record record = {0};
    struct status *status = read_record(container->arena, container->directory, &shim_container_record_type, &record);
    struct sandbox *sandbox = status == NULL ? map_find(&runtime->sandboxes, record.sandbox_id) : NULL;

    if (status != NULL || sandbox == NULL || record.config == NULL || record.plan == NULL) {
        container_unref(container);
        return status != NULL ? status : status_new(STATUS_INVALID, "its sandbox is gone");
    }
    container->record = record;
    if (record.process != NULL) {
        container->process = *record.process;
        container->record.process = &container->process;
    }
    container->sandbox = sandbox;
    sandbox->refs++;
    map_set(&runtime->containers, container->record.id, container);
    return NULL;
}

static struct status *list_directory(struct arena *arena, const char *path, struct str_list *ret)
{
    DIR *directory = opendir(path);

    if (directory == NULL) {
        return status_errno(errno, "reading %s", path);
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] != '.') {
            *LIST_ADD(arena, ret) = arena_str(arena, str_of(entry->d_name));
        }
    }
    closedir(directory);
    return NULL;
}

static struct status *load_all(struct runtime *runtime, const char *kind,
                               struct status *(*load)(struct runtime *runtime, struct str id))
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str directory = arena_printf(arena, "%.*s/%s", STR_ARG(runtime->root), kind);
    struct str_list names = {0};

    TRY(file_make_directories(directory.p, 0711));
    TRY(list_directory(arena, directory.p, &names));
    LIST_EACH(name, &names) {
        struct status *status = load(runtime, *name);

        if (status != NULL) {
            log_warn("%s %.*s is not known any more: %.*s", kind, STR_ARG(*name), STR_ARG(status->message));
            status_free(status);
        }
    }
    return NULL;
}

struct status *state_recover(struct runtime *runtime)
{
    size_t at = 0;

    TRY(load_all(runtime, "sandboxes", load_sandbox));
    TRY(load_all(runtime, "containers", load_container));
    for (struct map_entry *entry; (entry = map_next(&runtime->sandboxes, &at)) != NULL;) {
        struct sandbox *sandbox = entry->value;
        struct status *status = sandbox_connect(sandbox);

        if (status != NULL && !status_is(status, STATUS_NOT_FOUND)) {
            log_warn("sandbox %.*s: %.*s", STR_ARG(sandbox->record.id), STR_ARG(status->message));
        }
        status_free(status);
        if (sandbox->pause_pid == 0) {
            on_gone(sandbox);
        }
    }
    return NULL;
}

void state_leave(struct runtime *runtime)
{
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&runtime->containers, &at)) != NULL;) {
        container_unref(entry->value);
    }
    at = 0;
    for (struct map_entry *entry; (entry = map_next(&runtime->sandboxes, &at)) != NULL;) {
        struct sandbox *sandbox = entry->value;

        sandbox_disconnect(sandbox);
        sandbox_unref(sandbox);
    }
    map_done(&runtime->containers);
    map_done(&runtime->sandboxes);
    map_done(&runtime->filters);
}
