#include "kubelet/pod_sync.h"

#include "base/buf.h"
#include "base/env.h"
#include "base/trace.h"
#include "cri/grpc.h"
#include "kubelet/container_kill.h"
#include "kubelet/hosts_file.h"
#include "kubelet/pod_cgroups.h"
#include "kubelet/pod_dns.h"
#include "kubelet/probes.h"
#include "kubelet/runtime_fetch.h"
#include "kubelet/status_manager.h"

struct pass {
    struct pod_starting start;
    struct pod_plan plan;
    struct pod_ref *pod;
    struct pod_sync_memory *memory;
    start_result *result;
    void *arg;
    struct str_list failures; /* what could not be started and why, in stock's words */
};

static struct status *make_directories(struct kubelet *kubelet, const struct core_v1_pod *pod, struct arena *arena)
{
    const char *root = pod_directory(kubelet, arena, pod->metadata.uid);
    int64_t from = env_wall();
    struct status *error = host_make_directory(kubelet->host, root, 0750);
    static const char *const parts[] = {"volumes", "plugins"};

    for (size_t i = 0; error == NULL && i < COUNT_OF(parts); i++) {
        error = host_make_directory(kubelet->host, arena_printf(arena, "%s/%s", root, parts[i]).p, 0750);
    }
    kubelet_trace_pod(pod, TRACE_POD_DIRECTORIES, error == NULL ? TRACE_OK : TRACE_FAILED, from, "%s", root);
    return error;
}

/* Everything a new sandbox is told. */
static struct status *configure_sandbox(struct pass *pass, struct cri_v1_pod_sandbox_config **ret)
{
    struct pod_starting *start = &pass->start;
    struct kubelet *kubelet = start->kubelet;
    struct sandbox_facts facts = {
        .pod = start->pod,
        .attempt = pass->plan.attempt,
        .hostname = start->hostname,
        .log_directory = str_of(pod_log_directory(kubelet, start->arena, start->pod)),
        .cgroup_parent = pod_cgroup_parent(kubelet, start->arena, start->pod),
        .seccomp_root = arena_printf(start->arena, "%.*s/seccomp", STR_ARG(kubelet->options.root_dir)),
    };

    if (start->pod->spec.host_network) {
        facts.hostname = STR("");
    } else if (start->pod->spec.set_hostname_as_fqdn != NULL && *start->pod->spec.set_hostname_as_fqdn &&
               start->domain.n > 0) {
        facts.hostname =
            arena_printf(start->arena, "%.*s.%.*s", STR_ARG(start->hostname), STR_ARG(start->domain));
    }
    TRY(pod_dns_make(kubelet, start->pod, start->arena, &facts));
    return sandbox_config_make(start->arena, &facts, ret);
}

static struct status *create_sandbox(struct pass *pass)
{
    struct pod_starting *start = &pass->start;
    struct kubelet *kubelet = start->kubelet;
    struct cri_v1_run_pod_sandbox_request request = {
        .config = (struct cri_v1_pod_sandbox_config *)start->sandbox,
        .runtime_handler = pod_runtime_handler(kubelet, start->pod, start->arena)};
    struct cri_v1_run_pod_sandbox_response *response;
    int64_t from = env_wall();
    struct status *error = host_make_directory(kubelet->host, start->sandbox->log_directory.p, 0755);

    if (error == NULL) {
        error = cri_run_pod_sandbox(kubelet->cri, &request, start->arena, &response);
    }
    if (error != NULL) {
        struct str text = grpc_error_text(start->arena, error);

        if (!status_is(error, STATUS_CANCELLED)) {
            pod_event(kubelet, start->pod, "Warning", "FailedCreatePodSandBox", "Failed to create pod sandbox: %.*s",
                      STR_ARG(text));
            kubelet_trace_pod(start->pod, TRACE_CRI_CALL, TRACE_FAILED, from, "RunPodSandbox: %.*s", STR_ARG(text));
        }
        return status_while(error, "failed to \"CreatePodSandbox\" for \"%.*s\"",
                            STR_ARG(pod_format(start->arena, start->pod)));
    }
    kubelet_trace_pod(start->pod, TRACE_CRI_CALL, TRACE_OK, from, "RunPodSandbox: %.*s",
                      STR_ARG(response->pod_sandbox_id));
    start->sandbox_id = response->pod_sandbox_id;
    return NULL;
}

/* The addresses of the sandbox that containers are started in. */
static struct status *find_addresses(struct pass *pass)
{
    struct pod_starting *start = &pass->start;
    struct cri_v1_pod_sandbox_status_request request = {.pod_sandbox_id = start->sandbox_id};
    struct cri_v1_pod_sandbox_status_response *response;

    if (start->pod->spec.host_network) {
        if (start->kubelet->node_ip.n > 0) {
            *LIST_ADD(start->arena, &start->pod_ips) = start->kubelet->node_ip;
        }
        return NULL;
    }
    TRY(cri_pod_sandbox_status(start->kubelet->cri, &request, start->arena, &response));
    if (response->status != NULL && response->status->network != NULL && response->status->network->ip.n > 0) {
        *LIST_ADD(start->arena, &start->pod_ips) = response->status->network->ip;
        LIST_EACH (more, &response->status->network->additional_ips) {
            *LIST_ADD(start->arena, &start->pod_ips) = more->ip;
        }
    }
    return NULL;
}

static struct status *do_kills(struct pass *pass)
{
    struct pod_starting *start = &pass->start;

    LIST_EACH (kill, &pass->plan.kills) {
        const struct core_v1_container *spec =
            pod_find_container(start->arena, start->pod, kill->container->name, NULL);
        const struct core_v1_probe *probe = spec == NULL                       ? NULL
                                            : kill->reason == KILL_LIVENESS_PROBE ? spec->liveness_probe
                                            : kill->reason == KILL_STARTUP_PROBE  ? spec->startup_probe
                                                                                  : NULL;
        struct container_kill how = {
            .container = kill->container,
            .message = kill->message,
            .grace_seconds = probe != NULL && probe->termination_grace_period_seconds != NULL
                                 ? *probe->termination_grace_period_seconds
                                 : pod_grace_seconds(start->pod),
        };

        TRY(container_kill(start->kubelet, start->pod, &how));
    }
    return NULL;
}

/* Volumes are there, init containers have run, sidecars are up: the containers' turn comes. */
static void tell_initialised(struct pass *pass)
{
    const struct core_v1_pod *pod = pass->start.pod;

    LIST_EACH (item, &pass->plan.starts) {
        if (item->kind == PLAN_REGULAR && !pass->memory->is_initialised) {
            pass->memory->is_initialised = true;
            kubelet_trace_pod(pod, TRACE_RESOURCES_INITIALISED, TRACE_OK, pass->memory->initialising_since,
                              "%zu volumes, %zu init containers", pass->start.volumes.len,
                              (size_t)pod->spec.init_containers.len);
        }
    }
}

static struct status *failures_of(const struct pass *pass)
{
    OWNED(buf_done) struct buf text = {0};

    if (pass->failures.len == 0) {
        return NULL;
    }
    LIST_EACH (failure, &pass->failures) {
        buf_printf(&text, "%s%.*s", text.n > 0 ? ", " : "", STR_ARG(*failure));
    }
    return pass->failures.len == 1 ? status_new(STATUS_UNKNOWN, "%s", buf_cstr(&text))
                                   : status_new(STATUS_UNKNOWN, "[%s]", buf_cstr(&text));
}

static void do_starts(struct pass *pass)
{
    tell_initialised(pass);
    LIST_EACH (item, &pass->plan.starts) {
        const struct core_v1_container *container =
            pod_container_at(pass->start.arena, pass->start.pod, item->kind, item->index);
        struct start_problem problem = {0};
        bool is_started = container_start(&pass->start, item->kind, item->index, &problem);

        if (task_is_cancelled()) {
            *LIST_ADD(pass->start.arena, &pass->failures) = STR("context canceled");
            return;
        }
        pass->result(pass->arg, container->name, &problem);
        if (!is_started) {
            *LIST_ADD(pass->start.arena, &pass->failures) =
                arena_printf(pass->start.arena, "failed to \"StartContainer\" for \"%.*s\" with %.*s: \"%.*s\"",
                             STR_ARG(container->name), STR_ARG(problem.reason), STR_ARG(problem.message));
            if (item->kind == PLAN_INIT) {
                return; /* what comes after it has to wait */
            }
        }
    }
}

/* Kills the pod when its sandbox is to be replaced, and says so the first time. */
static struct status *replace_pod(struct pass *pass)
{
    struct pod_starting *start = &pass->start;

    if (pass->plan.create_sandbox && start->runtime->sandboxes.len > 0) {
        pod_event(start->kubelet, start->pod, "Normal", "SandboxChanged",
                  "Pod sandbox changed, it will be killed and re-created.");
    }
    return pod_kill(start->kubelet, start->pod, start->runtime, -1);
}

static struct status *network_is_ready(struct kubelet *kubelet, const struct core_v1_pod *pod)
{
    if (kubelet->is_network_ready || pod->spec.host_network) {
        return NULL;
    }
    pod_event(kubelet, pod, "Warning", "NetworkNotReady", "network is not ready: %.*s",
              STR_ARG(kubelet->network_problem));
    return status_new(STATUS_SERVICE_UNAVAILABLE, "network is not ready: %.*s", STR_ARG(kubelet->network_problem));
}

/* What is only done when something is to be started. */
static struct status *prepare(struct pass *pass)
{
    struct pod_starting *start = &pass->start;
    struct kubelet *kubelet = start->kubelet;

    TRY(network_is_ready(kubelet, start->pod));
    TRY(pod_cgroup_make(kubelet, start->pod));
    TRY(make_directories(kubelet, start->pod, start->arena));
    if (pass->memory->initialising_since == 0) {
        pass->memory->initialising_since = env_wall();
    }
    struct status *error = volumes_set_up(kubelet, start->pod, start->arena, &start->volumes);

    if (error != NULL && !status_is(error, STATUS_CANCELLED)) {
        kubelet_trace_pod(start->pod, TRACE_RESOURCES_INITIALISED, TRACE_FAILED, pass->memory->initialising_since,
                          "%.*s", STR_ARG(error->message));
    }
    TRY(error);
    image_pull_secrets(kubelet, start->pod, start->arena, &start->credentials);
    probe_manager_add(kubelet->probes, pass->pod);
    return pod_hostname(start->arena, start->pod, kubelet->options.cluster_domain, &start->hostname, &start->domain);
}

struct status *pod_sync(struct kubelet *kubelet, struct pod_ref *pod, const struct runtime_pod *runtime,
                        struct pod_sync_memory *memory, start_result *result, void *arg, bool *ret_has_acted)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct pass pass = {.start = {.kubelet = kubelet, .pod = pod->pod, .arena = arena, .runtime = runtime},
                        .pod = pod,
                        .memory = memory,
                        .result = result,
                        .arg = arg};
    struct plan_pod plan = plan_pod_of(arena, pod->pod);

    *ret_has_acted = false;
    pod_plan(arena, &plan, runtime, probe_manager_result, kubelet->probes, &pass.plan);
    if (pass.plan.starts.len == 0 && pass.plan.kills.len == 0 && !pass.plan.kill_pod && !pass.plan.create_sandbox) {
        /* Nothing but files that may have changed. */
        probe_manager_add(kubelet->probes, pod);
        return volumes_set_up(kubelet, pod->pod, arena, &pass.start.volumes);
    }
    *ret_has_acted = true;
    if (pass.plan.kill_pod) {
        TRY(replace_pod(&pass));
    }
    TRY(do_kills(&pass));
    if (!pass.plan.create_sandbox && pass.plan.starts.len == 0) {
        return NULL;
    }
    TRY(prepare(&pass));
    struct cri_v1_pod_sandbox_config *sandbox;

    TRY(configure_sandbox(&pass, &sandbox));
    pass.start.sandbox = sandbox;
    pass.start.sandbox_id = pass.plan.sandbox_id;
    if (pass.plan.create_sandbox) {
        TRY(create_sandbox(&pass));
    }
    TRY(find_addresses(&pass));
    do_starts(&pass);
    return failures_of(&pass);
}
