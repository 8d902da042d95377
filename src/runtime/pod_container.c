#include "runtime/pod_container.h"

#include "base/env.h"
#include "base/file.h"
#include "base/log.h"
#include "base/trace.h"
#include "runtime/cgroup_devices.h"
#include "runtime/container_plan.h"
#include "runtime/devices.h"
#include "runtime/filter.h"
#include "runtime/oci_runtimes.h"
#include "schema/copy.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

/* How long the kernel may take to end what was sent SIGKILL. */
#define KILL_TIMEOUT (60 * ENV_SECOND)

enum { START_ERROR_CODE = 128 };

static void trace(const struct container *container, enum trace_step step, int64_t start, const struct status *status)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct cri_v1_pod_sandbox_metadata *pod = container->sandbox->record.config->metadata;

    trace_emit(&(struct trace_span){
        .step = step, .outcome = status != NULL ? TRACE_FAILED : TRACE_OK, .start = start, .end = env_wall(),
        .uid = pod->uid, .child = container->record.config->metadata->name,
        .object = arena_printf(arena, "pods/%.*s/%.*s", STR_ARG(pod->namespace), STR_ARG(pod->name)),
        .detail = status != NULL ? status->message : container->record.id});
}

static void log_and_free(const struct container *container, const char *doing, struct status *status)
{
    if (status != NULL) {
        log_warn("container %.*s: %s: %.*s", STR_ARG(container->record.id), doing, STR_ARG(status->message));
        status_free(status);
    }
}

/* What blocks, done by a worker. */
struct disk_work {
    struct snapshots *snapshots;
    struct str id, chain_id;
    struct arena *arena;
    const struct shim_container_plan *plan;
    struct snapshot_mount mount;
    struct devices devices;
    const struct cri_v1_container_config *config;
    bool is_privileged;
    struct status *status;
};

/* As in stock's runtimes a directory of the host that is missing is made. */
static struct status *make_sources(struct disk_work *work)
{
    LIST_EACH(mount, &work->config->mounts) {
        const char *path = arena_cstr(work->arena, mount->host_path);

        if (mount->host_path.n > 0 && mount->host_path.p[0] == '/' && !file_exists(path)) {
            TRY(file_make_directories(path, 0755));
        }
    }
    return NULL;
}

static void prepare(void *arg)
{
    struct disk_work *work = arg;

    work->status = devices_find(work->arena, work->config, work->is_privileged, &work->devices);
    if (work->status == NULL) {
        work->status = make_sources(work);
    }
    if (work->status == NULL) {
        work->status = snapshots_prepare(work->snapshots, work->id, work->chain_id, work->arena, &work->mount);
    }
}

static void discard(void *arg)
{
    struct disk_work *work = arg;

    work->status = work->plan != NULL ? cgroup_remove(&work->plan->cgroups) : NULL;
    if (work->status == NULL) {
        work->status = snapshots_discard(work->snapshots, work->id);
    }
}

static struct status *check_config(const struct cri_v1_container_config *config)
{
    if (config == NULL || config->metadata == NULL || config->metadata->name.n == 0) {
        return status_new(STATUS_INVALID, "container config must have metadata with a name");
    }
    if (config->image == NULL || config->image->image.n == 0) {
        return status_new(STATUS_INVALID, "container config must have an image");
    }
    return NULL;
}

static struct status *check_unique(const struct sandbox *sandbox, const struct cri_v1_container_metadata *wanted)
{
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&sandbox->runtime->containers, &at)) != NULL;) {
        const struct container *container = entry->value;
        const struct cri_v1_container_metadata *have = container->record.config->metadata;

        if (container->sandbox == sandbox && str_eq(have->name, wanted->name) && have->attempt == wanted->attempt) {
            return status_new(STATUS_ALREADY_EXISTS,
                              "failed to reserve container name \"%.*s_%u\": name is reserved for \"%.*s\"",
                              STR_ARG(wanted->name), wanted->attempt, STR_ARG(container->record.id));
        }
    }
    return NULL;
}

/* The pod's word, then the image's. */
static int32_t stop_signal_of(const struct cri_v1_container_config *config, const struct image *image)
{
    int number = config->stop_signal != 0 ? container_signal_of(config->stop_signal)
                                          : container_signal_parse(image->config.stop_signal);

    return number > 0 ? number : SIGTERM;
}

static struct status *plan(struct container *container, struct image *image)
{
    struct runtime *runtime = container->runtime;
    struct shim_container_record *record = &container->record;
    struct disk_work work = {.snapshots = image_store_snapshots(runtime->images), .id = record->id,
                             .chain_id = image->chain_id, .arena = container->arena, .config = record->config,
                             .is_privileged = container_plan_is_privileged(record->config)};
    struct str hostname = container->sandbox->record.config->hostname;
    struct container_facts facts = {
        .id = record->id, .sandbox = container->sandbox->record.config, .image = &image->config,
        .snapshot = &work.mount, .machine = &runtime->machine, .directory = container->directory,
        .sandbox_directory = container->sandbox->directory, .has_apparmor = runtime->has_apparmor,
        .hostname = hostname.n > 0 ? hostname : runtime->hostname};
    struct shim_container_plan made;
    uint64_t capabilities;

    TRY(container_plan_capabilities(record->config, &capabilities));
    TRY(filter_find(runtime, record->config, capabilities, &facts.seccomp, &facts.seccomp_flags));
    TRY(oci_runtime_find(container->arena, runtime->oci_runtimes, container->sandbox->record.runtime_handler,
                         &facts.oci_runtime));
    if (facts.oci_runtime.n > 0) {
        TRY(filter_profile(container->arena, record->config, capabilities, &facts.seccomp_json));
    }
    task_offload(prepare, &work);
    TRY(work.status);
    facts.devices.items = work.devices.items;
    facts.devices.len = work.devices.len;
    TRY(container_plan_make(container->arena, record->config, &facts, &made));
    /* The image's own text goes when nobody uses the image any more. */
    record->plan = schema_copy(container->arena, &shim_container_plan_type, &made);
    record->log_path = record->plan->log_path;
    return NULL;
}

static struct status *build(struct container *container, const struct cri_v1_container_config *config)
{
    struct shim_container_record *record = &container->record;
    OWNED(image_unrefp) struct image *image = NULL;
    int64_t start = env_wall();

    TRY(image_store_find(container->runtime->images, config->image->image, &image));
    record->image_id = arena_str(container->arena, image->id);
    record->image_ref = arena_str(container->arena, image->digests.len > 0 ? image->digests.items[0] : image->id);
    record->stop_signal = stop_signal_of(config, image);
    struct status *status = plan(container, image);

    trace(container, TRACE_CONTAINER_CONFIG, start, status);
    if (status == NULL) {
        status = container_save(container);
        trace(container, TRACE_CONTAINER_CREATED, start, status);
    }
    return status;
}

struct status *pod_container_create(struct sandbox *sandbox, const struct cri_v1_container_config *config,
                                struct str *ret_id, struct arena *arena)
{
    OWNED(container_unrefp) struct container *container = NULL;

    TRY(check_config(config));
    TRY(check_unique(sandbox, config->metadata));
    if (sandbox->pause_pid == 0 || sandbox->is_removed) {
        return status_new(STATUS_INVALID, "sandbox \"%.*s\" is not running", STR_ARG(sandbox->record.id));
    }
    TRY(container_new(sandbox->runtime, sandbox, state_new_id(arena), &container));
    task_lock_acquire(&container->lock);
    container->record.config = schema_copy(container->arena, &cri_v1_container_config_type, config);
    container->record.created_at = env_wall();
    container->record.state = CRI_V1_CONTAINER_STATE_CONTAINER_CREATED;
    struct status *status = build(container, container->record.config);

    task_lock_release(&container->lock);
    if (status != NULL) {
        log_and_free(container, "undoing what failed", pod_container_remove(container));
        return status;
    }
    *ret_id = arena_str(arena, container->record.id);
    state_tell(sandbox, container, CRI_V1_CONTAINER_EVENT_TYPE_CONTAINER_CREATED_EVENT);
    return NULL;
}

static struct status *charge(struct container *container)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct shim_container_plan *made = container->record.plan;
    bool is_v2 = container->runtime->machine.is_v2;
    struct cgroup_settings settings;
    struct device_rules rules;

    TRY(cgroup_make(&made->cgroups));
    container_plan_settings(arena, container->record.config, made, is_v2, &settings);
    TRY(cgroup_apply(&made->cgroups, &settings));
    if (!is_v2 || container_plan_is_privileged(container->record.config)) {
        return NULL;
    }
    cgroup_devices_plan(arena, made, &rules);
    return cgroup_devices_attach(&made->cgroups, &rules);
}

static struct status *launch(struct container *container)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct shim_container_record *record = &container->record;
    struct shim_call call = {.verb = SHIM_START, .id = record->id, .plan_type = &shim_container_plan_type,
                             .plan = record->plan};
    struct shim_reply reply = {0};

    if (container->sandbox->shim == NULL) {
        return status_new(STATUS_INVALID, "sandbox container \"%.*s\" is not running",
                          STR_ARG(container->sandbox->record.id));
    }
    TRY(charge(container));
    TRY(shim_client_call(container->sandbox->shim, arena, &call, &reply, NULL));
    /* It may have ended already, and its end may have been told. */
    if (record->state == CRI_V1_CONTAINER_STATE_CONTAINER_CREATED && reply.processes.len > 0) {
        container->process = *(struct shim_process *)schema_copy(container->arena, &shim_process_type,
                                                                 &reply.processes.items[0]);
        record->process = &container->process;
        record->state = CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING;
        state_tell(container->sandbox, container, CRI_V1_CONTAINER_EVENT_TYPE_CONTAINER_STARTED_EVENT);
    }
    return container_save(container);
}

static void fail_start(struct container *container, const struct status *status)
{
    struct shim_process process = {.state = SHIM_ENDED, .exit_code = START_ERROR_CODE, .finished_at = env_wall()};

    container->record.reason = STR("StartError");
    container->record.message = arena_str(container->arena, status->message);
    container_set_ended(container, &process);
}

struct status *pod_container_start(struct container *container)
{
    int64_t start = env_wall();
    struct status *status;

    task_lock_acquire(&container->lock);
    if (container->is_removed || container->record.state != CRI_V1_CONTAINER_STATE_CONTAINER_CREATED) {
        status = status_new(STATUS_INVALID, "container \"%.*s\" is not in created state",
                            STR_ARG(container->record.id));
    } else {
        status = launch(container);
        if (status != NULL) {
            status = status_while(status, "failed to start container \"%.*s\"", STR_ARG(container->record.id));
            fail_start(container, status);
        }
        trace(container, TRACE_CONTAINER_STARTED, start, status);
    }
    task_lock_release(&container->lock);
    return status;
}

int pod_container_stop_signal(const struct container *container)
{
    return container->record.stop_signal > 0 ? container->record.stop_signal : SIGTERM;
}

static bool is_running(const struct container *container)
{
    return container->record.state == CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING;
}

static struct status *send_signal(struct container *container, int number)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct shim_call call = {.verb = SHIM_SIGNAL, .id = container->record.id, .value = (uint64_t)number};
    struct shim_reply reply = {0};

    if (container->sandbox->shim == NULL) {
        return NULL;
    }
    struct status *status = shim_client_call(container->sandbox->shim, arena, &call, &reply, NULL);

    return status_free_if(&status, STATUS_NOT_FOUND) ? NULL : status; /* it has ended: the event is on its way */
}

static void wait_ended(struct container *container, int64_t deadline)
{
    while (is_running(container) && cond_wait(&container->ended, deadline)) {
    }
}

/* Not under the lock: a second stop with a shorter grace must not wait for the first. */
struct status *pod_container_stop(struct container *container, int64_t grace_seconds)
{
    if (!is_running(container)) {
        return NULL;
    }
    if (grace_seconds > 0) {
        TRY(send_signal(container, pod_container_stop_signal(container)));
        wait_ended(container, env_mono() + MIN(grace_seconds, (int64_t)1 << 30) * ENV_SECOND);
    }
    if (is_running(container)) {
        TRY(send_signal(container, SIGKILL));
        wait_ended(container, env_mono() + KILL_TIMEOUT);
    }
    return is_running(container) ? status_new(STATUS_TIMEOUT, "container \"%.*s\" does not end though it was killed",
                                              STR_ARG(container->record.id))
                                 : NULL;
}

static struct status *forget_in_shim(struct container *container)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct shim_call call = {.verb = SHIM_FORGET, .id = container->record.id};
    struct shim_reply reply = {0};

    if (container->sandbox->shim == NULL) {
        return NULL;
    }
    struct status *status = shim_client_call(container->sandbox->shim, arena, &call, &reply, NULL);

    return status_free_if(&status, STATUS_SERVICE_UNAVAILABLE) ? NULL : status;
}

static struct status *remove_locked(struct container *container)
{
    struct disk_work work = {.snapshots = image_store_snapshots(container->runtime->images),
                             .id = container->record.id, .plan = container->record.plan};

    TRY(pod_container_stop(container, 0));
    TRY(forget_in_shim(container));
    oci_runtime_forget(container->record.plan);
    task_offload(discard, &work);
    TRY(work.status);
    container_forget(container);
    return NULL;
}

struct status *pod_container_remove(struct container *container)
{
    struct status *status = NULL;

    task_lock_acquire(&container->lock);
    bool was_there = !container->is_removed;

    if (was_there) {
        status = remove_locked(container);
    }
    task_lock_release(&container->lock);
    if (status == NULL && was_there) {
        state_tell(container->sandbox, container, CRI_V1_CONTAINER_EVENT_TYPE_CONTAINER_DELETED_EVENT);
    }
    return status;
}

static void merge(struct cri_v1_linux_container_resources *into, const struct cri_v1_linux_container_resources *from)
{
    into->cpu_period = from->cpu_period != 0 ? from->cpu_period : into->cpu_period;
    into->cpu_quota = from->cpu_quota != 0 ? from->cpu_quota : into->cpu_quota;
    into->cpu_shares = from->cpu_shares != 0 ? from->cpu_shares : into->cpu_shares;
    into->memory_limit_in_bytes =
        from->memory_limit_in_bytes != 0 ? from->memory_limit_in_bytes : into->memory_limit_in_bytes;
    into->memory_swap_limit_in_bytes =
        from->memory_swap_limit_in_bytes != 0 ? from->memory_swap_limit_in_bytes : into->memory_swap_limit_in_bytes;
    into->cpuset_cpus = from->cpuset_cpus.n > 0 ? from->cpuset_cpus : into->cpuset_cpus;
    into->cpuset_mems = from->cpuset_mems.n > 0 ? from->cpuset_mems : into->cpuset_mems;
    if (from->hugepage_limits.len > 0) {
        into->hugepage_limits.items = from->hugepage_limits.items;
        into->hugepage_limits.len = from->hugepage_limits.len;
    }
    if (from->unified.len > 0) {
        into->unified = from->unified;
    }
}

static struct status *update_locked(struct container *container,
                                    const struct cri_v1_linux_container_resources *resources)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cri_v1_container_config *config = container->record.config;
    struct cgroup_settings settings;

    if (container->is_removed || container->record.state == CRI_V1_CONTAINER_STATE_CONTAINER_EXITED) {
        return status_new(STATUS_INVALID, "failed to update resources: container \"%.*s\" is not created or running",
                          STR_ARG(container->record.id));
    }
    if (is_running(container)) {
        cgroup_settings_plan(arena, container->runtime->machine.is_v2, resources, &settings);
        TRY(cgroup_apply(&container->record.plan->cgroups, &settings));
    }
    if (config->linux_ == NULL) {
        config->linux_ = ARENA_NEW(container->arena, struct cri_v1_linux_container_config);
    }
    if (config->linux_->resources == NULL) {
        config->linux_->resources = ARENA_NEW(container->arena, struct cri_v1_linux_container_resources);
    }
    merge(config->linux_->resources,
          schema_copy(container->arena, &cri_v1_linux_container_resources_type, resources));
    return container_save(container);
}

struct status *pod_container_update(struct container *container, const struct cri_v1_linux_container_resources *resources)
{
    task_lock_acquire(&container->lock);
    struct status *status = update_locked(container, resources);

    task_lock_release(&container->lock);
    return status;
}

struct status *pod_container_reopen_log(struct container *container)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct shim_call call = {.verb = SHIM_REOPEN, .id = container->record.id};
    struct shim_reply reply = {0};

    if (!is_running(container) || container->sandbox->shim == NULL) {
        return status_new(STATUS_INVALID, "container \"%.*s\" is not running", STR_ARG(container->record.id));
    }
    return shim_client_call(container->sandbox->shim, arena, &call, &reply, NULL);
}
