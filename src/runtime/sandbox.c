#include "runtime/sandbox.h"

#include "base/env.h"
#include "base/file.h"
#include "base/log.h"
#include "base/trace.h"
#include "runtime/oci_runtimes.h"
#include "runtime/pod_container.h"
#include "runtime/sandbox_plan.h"
#include "runtime/shim/spawner.h"
#include "schema/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define NETWORK_TIMEOUT (220 * ENV_SECOND) /* within the kubelet's four minutes for RunPodSandbox */

enum { PAUSE_CPU_SHARES = 2, HOST_FILE_BYTES = 1 << 20 };

static void trace(const struct sandbox *sandbox, enum trace_step step, int64_t start, const struct status *status,
                  struct str detail)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct cri_v1_pod_sandbox_metadata *pod = sandbox->record.config->metadata;

    trace_emit(&(struct trace_span){
        .step = step, .outcome = status != NULL ? TRACE_FAILED : TRACE_OK, .start = start, .end = env_wall(),
        .uid = pod->uid,
        .object = arena_printf(arena, "pods/%.*s/%.*s", STR_ARG(pod->namespace), STR_ARG(pod->name)),
        .detail = status != NULL ? status->message : detail});
}

static struct status *check_config(const struct cri_v1_pod_sandbox_config *config)
{
    if (config == NULL || config->metadata == NULL || config->metadata->name.n == 0 ||
        config->metadata->namespace.n == 0 || config->metadata->uid.n == 0) {
        return status_new(STATUS_INVALID, "sandbox config must have metadata with name, namespace and uid");
    }
    return NULL;
}

/* The kubelet raises the attempt for each new sandbox of a pod: the same once more is a mistake. */
static struct status *check_unique(const struct runtime *runtime, const struct cri_v1_pod_sandbox_metadata *wanted)
{
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&runtime->sandboxes, &at)) != NULL;) {
        const struct sandbox *sandbox = entry->value;
        const struct cri_v1_pod_sandbox_metadata *have = sandbox->record.config->metadata;

        if (str_eq(have->uid, wanted->uid) && str_eq(have->name, wanted->name) &&
            str_eq(have->namespace, wanted->namespace) && have->attempt == wanted->attempt) {
            return status_new(STATUS_ALREADY_EXISTS,
                              "failed to reserve sandbox name \"%.*s_%.*s_%.*s_%u\": name is reserved for \"%.*s\"",
                              STR_ARG(wanted->name), STR_ARG(wanted->namespace), STR_ARG(wanted->uid), wanted->attempt,
                              STR_ARG(sandbox->record.id));
        }
    }
    return NULL;
}

static struct status *write_text(struct sandbox *sandbox, const char *name, struct str text)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str path = arena_printf(arena, "%.*s/%s", STR_ARG(sandbox->directory), name);
    int fd = open(path.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    if (fd < 0) {
        return status_errno(errno, "writing %s", path.p);
    }
    ssize_t n = write(fd, text.p, text.n);
    int error = n < 0 ? errno : ENOSPC;

    fchmod(fd, 0644); /* whatever the umask */
    close(fd);
    return n != (ssize_t)text.n ? status_errno(error, "writing %s", path.p) : NULL;
}

static struct str read_host(struct arena *arena, const char *path)
{
    struct str text = STR("");
    struct status *status = file_read(arena, path, HOST_FILE_BYTES, &text);

    status_free(status);
    return text;
}

static struct status *write_files(struct sandbox *sandbox)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct cri_v1_pod_sandbox_config *config = sandbox->record.config;
    struct str hostname = config->hostname.n > 0 ? config->hostname : sandbox->runtime->hostname;

    chmod(sandbox->directory.p, 0711); /* containers that are not root read what is bound into them */
    TRY(write_text(sandbox, "resolv.conf",
                   sandbox_resolv_conf(arena, config->dns_config, read_host(arena, "/etc/resolv.conf"))));
    TRY(write_text(sandbox, "hosts", read_host(arena, "/etc/hosts")));
    return write_text(sandbox, "hostname", arena_printf(arena, "%.*s\n", STR_ARG(hostname)));
}

static struct status *charge(struct sandbox *sandbox)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cgroup_settings settings;

    TRY(cgroup_make(&sandbox->record.cgroups));
    cgroup_settings_plan(arena, sandbox->runtime->machine.is_v2,
                         &(struct cri_v1_linux_container_resources){.cpu_shares = PAUSE_CPU_SHARES}, &settings);
    return cgroup_apply(&sandbox->record.cgroups, &settings);
}

/* The files and cgroups are made while the spawner forks. */
static struct status *make_shim(struct sandbox *sandbox)
{
    TRY(spawner_ask(sandbox->runtime->spawner, sandbox->directory.p));
    struct status *status = write_files(sandbox);

    if (status == NULL) {
        status = charge(sandbox);
    }
    struct status *answer = spawner_answer(sandbox->runtime->spawner, sandbox->directory.p);

    if (status == NULL) {
        return answer;
    }
    if (answer == NULL) {
        answer = sandbox_connect(sandbox); /* so that it is told to go */
    }
    status_free(answer);
    return status;
}

static struct status *start_pause(struct sandbox *sandbox, const struct shim_sandbox_plan *plan)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct shim_call call = {.verb = SHIM_SANDBOX, .plan_type = &shim_sandbox_plan_type, .plan = plan};
    struct shim_reply reply = {0};

    TRY(make_shim(sandbox));
    TRY(sandbox_connect(sandbox));
    TRY(shim_client_call(sandbox->shim, arena, &call, &reply, NULL));
    if (reply.processes.len == 0) {
        return status_new(STATUS_INTERNAL_ERROR, "the shim did not say which process holds the sandbox");
    }
    sandbox->pause_pid = reply.processes.items[0].pid;
    return NULL;
}

/* Its name outlives the pause process: CNI needs it to take the network away. */
static struct status *pin_network(struct sandbox *sandbox)
{
    char from[64];
    const char *path = sandbox->record.netns_path.p;

    snprintf(from, sizeof(from), "/proc/%u/ns/net", sandbox->pause_pid);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0444);

    if (fd < 0) {
        return status_errno(errno, "making %s", path);
    }
    close(fd);
    return mount(from, path, NULL, MS_BIND, NULL) != 0 ? status_errno(errno, "binding %s to %s", from, path) : NULL;
}

static void unpin_network(struct sandbox *sandbox)
{
    const char *path = sandbox->record.netns_path.p;

    if (sandbox->record.netns_path.n == 0) {
        return;
    }
    if (umount2(path, MNT_DETACH) != 0 && errno != EINVAL && errno != ENOENT) {
        log_warn("unmounting %s: %s", path, strerror(errno));
    }
    if (unlink(path) != 0 && errno != ENOENT) {
        log_warn("removing %s: %s", path, strerror(errno));
    }
}

static struct str protocol_name(int32_t protocol)
{
    return protocol == CRI_V1_PROTOCOL_UDP ? STR("udp") : protocol == CRI_V1_PROTOCOL_SCTP ? STR("sctp") : STR("tcp");
}

static void attachment_of(struct arena *arena, const struct sandbox *sandbox, struct cni_attachment *ret)
{
    const struct cri_v1_pod_sandbox_config *config = sandbox->record.config;

    *ret = (struct cni_attachment){
        .container_id = sandbox->record.id, .netns = sandbox->record.netns_path, .interface = STR("eth0"),
        .pod_namespace = config->metadata->namespace, .pod_name = config->metadata->name,
        .pod_uid = config->metadata->uid,
    };
    LIST_EACH(port, &config->port_mappings) {
        if (port->host_port > 0) {
            *LIST_ADD(arena, &ret->port_mappings) = (struct cni_port_mapping){
                port->host_ip, port->host_port, port->container_port, protocol_name(port->protocol)};
        }
    }
    if (config->dns_config != NULL) {
        ret->dns = (struct cni_dns){config->dns_config->servers, config->dns_config->searches,
                                    config->dns_config->options, STR("")};
    }
}

static struct status *attach_network(struct sandbox *sandbox)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cni_attachment attachment;
    struct cni_result result = {0};
    int64_t start = env_wall();

    TRY(pin_network(sandbox));
    attachment_of(arena, sandbox, &attachment);
    struct status *status =
        cni_add(&sandbox->runtime->network, &attachment, env_mono() + NETWORK_TIMEOUT, arena, &result);

    if (status != NULL) {
        status = status_while(status, "failed to setup network for sandbox \"%.*s\"", STR_ARG(sandbox->record.id));
        trace(sandbox, TRACE_NETWORK, start, status, STR(""));
        return status;
    }
    LIST_EACH(address, &result.addresses) {
        if (cni_address_is_pod(&result, address)) {
            *LIST_ADD(sandbox->arena, &sandbox->record.ips) = ip_format(sandbox->arena, &address->address.ip);
        }
    }
    trace(sandbox, TRACE_NETWORK, start, NULL, sandbox->record.netns_path);
    if (sandbox->record.ips.len == 0) {
        return status_new(STATUS_INTERNAL_ERROR, "failed to find network info for sandbox \"%.*s\"",
                          STR_ARG(sandbox->record.id));
    }
    trace(sandbox, TRACE_POD_IP, start, NULL, sandbox->record.ips.items[0]);
    return NULL;
}

static struct status *build(struct sandbox *sandbox)
{
    struct runtime *runtime = sandbox->runtime;
    struct shim_sandbox_plan plan;
    int64_t start = env_wall();

    TRY(sandbox_plan_make(sandbox->arena, sandbox->record.config, sandbox->record.id, &runtime->machine,
                          runtime->hostname, &plan));
    sandbox->record.cgroups = plan.cgroups;
    if (plan.namespaces & CLONE_NEWNET) {
        sandbox->record.netns_path = arena_printf(sandbox->arena, "%.*s/%.*s", STR_ARG(runtime->netns_directory),
                                                  STR_ARG(sandbox->record.id));
        sandbox->record.is_network_up = true; /* as far as anyone who finds the record knows */
    }
    TRY(sandbox_save(sandbox));
    struct status *status = start_pause(sandbox, &plan);

    trace(sandbox, TRACE_SANDBOX, start, status, sandbox->record.id);
    if (status == NULL && sandbox->record.netns_path.n > 0) {
        status = attach_network(sandbox);
    }
    return status;
}

struct status *sandbox_run(struct runtime *runtime, const struct cri_v1_pod_sandbox_config *config,
                           struct str runtime_handler, struct str *ret_id, struct arena *arena)
{
    OWNED(sandbox_unrefp) struct sandbox *sandbox = NULL;
    struct str program;

    TRY(check_config(config));
    TRY(check_unique(runtime, config->metadata));
    TRY(oci_runtime_find(arena, runtime->oci_runtimes, runtime_handler, &program));
    TRY(sandbox_new(runtime, state_new_id(arena), &sandbox));
    task_lock_acquire(&sandbox->lock);
    sandbox->record.config = schema_copy(sandbox->arena, &cri_v1_pod_sandbox_config_type, config);
    sandbox->record.runtime_handler = arena_str(sandbox->arena, runtime_handler);
    sandbox->record.created_at = env_wall();
    sandbox->record.state = CRI_V1_POD_SANDBOX_STATE_SANDBOX_NOTREADY;
    struct status *status = build(sandbox);

    if (status == NULL && sandbox->pause_pid == 0) {
        status = status_new(STATUS_INTERNAL_ERROR, "the sandbox ended while it was being made");
    }
    if (status == NULL) {
        sandbox->record.state = CRI_V1_POD_SANDBOX_STATE_SANDBOX_READY;
        status = sandbox_save(sandbox);
    }
    task_lock_release(&sandbox->lock);
    if (status != NULL) {
        struct status *undone = sandbox_remove(sandbox);

        if (undone != NULL) {
            log_warn("sandbox %.*s, which failed, is left: %.*s", STR_ARG(sandbox->record.id),
                     STR_ARG(undone->message));
            status_free(undone);
        }
        return status;
    }
    *ret_id = arena_str(arena, sandbox->record.id);
    state_tell(sandbox, NULL, CRI_V1_CONTAINER_EVENT_TYPE_CONTAINER_CREATED_EVENT);
    state_tell(sandbox, NULL, CRI_V1_CONTAINER_EVENT_TYPE_CONTAINER_STARTED_EVENT);
    return NULL;
}

static struct status *detach_network(struct sandbox *sandbox)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cni_attachment attachment;
    struct stat stat;

    if (!sandbox->record.is_network_up) {
        unpin_network(sandbox);
        return NULL;
    }
    attachment_of(arena, sandbox, &attachment);
    if (lstat(attachment.netns.p, &stat) != 0) {
        attachment.netns = STR(""); /* a machine that was started anew: the namespace went with the old one */
    }
    struct status *status = cni_del(&sandbox->runtime->network, &attachment, env_mono() + NETWORK_TIMEOUT);

    if (status != NULL) {
        return status_while(status, "failed to destroy network for sandbox \"%.*s\"", STR_ARG(sandbox->record.id));
    }
    unpin_network(sandbox);
    sandbox->record.is_network_up = false;
    return NULL;
}

static void remove_cgroups(void *arg)
{
    struct sandbox *sandbox = arg;
    struct status *status = cgroup_remove(&sandbox->record.cgroups);

    if (status != NULL) {
        log_warn("%.*s", STR_ARG(status->message));
        status_free(status);
    }
}

/* The containers of a sandbox, counted; the caller unrefs each. */
static struct container **containers_of(struct sandbox *sandbox, struct arena *arena, size_t *ret_count)
{
    struct map *all = &sandbox->runtime->containers;
    struct container **found = ARENA_ARRAY(arena, struct container *, all->count);
    size_t at = 0;

    *ret_count = 0;
    for (struct map_entry *entry; (entry = map_next(all, &at)) != NULL;) {
        struct container *container = entry->value;

        if (container->sandbox == sandbox) {
            container->refs++;
            found[(*ret_count)++] = container;
        }
    }
    return found;
}

/* fn for each container of the sandbox; the first error. */
static struct status *each_container(struct sandbox *sandbox, struct status *(*fn)(struct container *container))
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    size_t count;
    struct container **containers = containers_of(sandbox, arena, &count);
    struct status *first = NULL;

    for (size_t i = 0; i < count; i++) {
        struct status *status = fn(containers[i]);

        container_unref(containers[i]);
        if (first == NULL) {
            first = status;
        } else {
            status_free(status);
        }
    }
    return first;
}

static struct status *kill_container(struct container *container)
{
    return pod_container_stop(container, 0);
}

static struct status *quit_shim(struct sandbox *sandbox)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct shim_reply reply;

    if (sandbox->shim == NULL) {
        return NULL;
    }
    struct status *status =
        shim_client_call(sandbox->shim, arena, &(struct shim_call){.verb = SHIM_QUIT}, &reply, NULL);

    if (status != NULL && !status_is(status, STATUS_SERVICE_UNAVAILABLE)) {
        return status;
    }
    status_free(status); /* it is gone already */
    sandbox_disconnect(sandbox);
    return NULL;
}

static struct status *stop_locked(struct sandbox *sandbox)
{
    TRY(each_container(sandbox, kill_container));
    TRY(detach_network(sandbox));
    TRY(quit_shim(sandbox));
    sandbox_set_not_ready(sandbox);
    if (sandbox->record.cgroups.entries.len > 0) {
        task_offload(remove_cgroups, sandbox);
    }
    return NULL;
}

struct status *sandbox_stop(struct sandbox *sandbox)
{
    struct status *status = NULL;

    task_lock_acquire(&sandbox->lock);
    if (!sandbox->is_removed) {
        status = stop_locked(sandbox);
    }
    task_lock_release(&sandbox->lock);
    return status;
}

struct status *sandbox_remove(struct sandbox *sandbox)
{
    struct status *status = NULL;

    task_lock_acquire(&sandbox->lock);
    if (!sandbox->is_removed) {
        status = stop_locked(sandbox);
        if (status == NULL) {
            status = each_container(sandbox, pod_container_remove);
        }
        if (status == NULL) {
            sandbox_forget(sandbox);
            state_tell(sandbox, NULL, CRI_V1_CONTAINER_EVENT_TYPE_CONTAINER_DELETED_EVENT);
        }
    }
    task_lock_release(&sandbox->lock);
    return status;
}
