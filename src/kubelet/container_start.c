#include "kubelet/container_start.h"

#include "base/env.h"
#include "base/log.h"
#include "base/trace.h"
#include "kubelet/container_kill.h"
#include "kubelet/container_mounts.h"
#include "kubelet/hooks.h"
#include "kubelet/object_cache.h"
#include "schema/copy.h"
#include "schema/timestamp.h"

/* One start. */
struct start {
    struct pod_starting *all;
    enum plan_kind kind;
    const struct core_v1_container *container;
    int32_t restart_count;
    struct start_problem *problem;
};

static bool fail(struct start *start, const char *event, const char *reason, struct str message)
{
    container_event(start->all->kubelet, start->all->pod, start->kind, start->container->name, "Warning", event,
                    "Error: %.*s", STR_ARG(message));
    *start->problem = (struct start_problem){str_of(reason), message};
    return false;
}

static struct str take_text(struct arena *arena, struct status *error)
{
    struct str text = arena_str(arena, error->message);

    status_free(error);
    return text;
}

static struct str backoff_key(struct arena *arena, const struct core_v1_pod *pod,
                              const struct core_v1_container *container)
{
    return arena_printf(arena, "%.*s_%.*s_%.*s_%.*s_%llx", STR_ARG(pod->metadata.name),
                        STR_ARG(pod->metadata.namespace), STR_ARG(pod->metadata.uid), STR_ARG(container->name),
                        (unsigned long long)container_hash(container));
}

bool container_is_backing_off(struct pod_starting *starting, enum plan_kind kind,
                              const struct core_v1_container *container, struct start_problem *ret_problem)
{
    const struct core_v1_pod *pod = starting->pod;
    struct arena *arena = starting->arena;
    struct backoff *backoff = &starting->kubelet->crash_backoff;
    const struct runtime_container *ended = NULL;

    /* The last one that has ended, also when there is one that runs and is being replaced. */
    for (size_t i = 0; i < starting->runtime->containers.len && ended == NULL; i++) {
        const struct runtime_container *one = &starting->runtime->containers.items[i];

        ended = str_eq(one->name, container->name) && one->state == RUNTIME_EXITED ? one : NULL;
    }
    if (ended == NULL) {
        return false;
    }
    struct str key = backoff_key(arena, pod, container);
    int64_t at = ended->finished_at;

    if (!backoff_is_waiting(backoff, key, at, env_wall())) {
        backoff_step(backoff, key, at);
        return false;
    }
    struct str name = pod_format(arena, pod);
    struct str delay = duration_format(arena, backoff_delay(backoff, key));

    container_event(starting->kubelet, pod, kind, container->name, "Warning", "BackOff",
                    "Back-off restarting failed container %.*s in pod %.*s", STR_ARG(container->name), STR_ARG(name));
    *ret_problem = (struct start_problem){
        STR("CrashLoopBackOff"), arena_printf(arena, "back-off %.*s restarting failed container=%.*s pod=%.*s",
                                              STR_ARG(delay), STR_ARG(container->name), STR_ARG(name))};
    return true;
}

static struct status *secret_of(void *arg, struct str name, struct arena *arena, const struct core_v1_secret **ret)
{
    struct pod_starting *all = arg;

    return object_cache_secret(all->kubelet->objects, all->pod->metadata.uid, all->pod->metadata.namespace, name, arena,
                               ret);
}

static struct status *config_map_of(void *arg, struct str name, struct arena *arena,
                                    const struct core_v1_config_map **ret)
{
    struct pod_starting *all = arg;

    return object_cache_config_map(all->kubelet->objects, all->pod->metadata.uid, all->pod->metadata.namespace, name,
                                   arena, ret);
}

static struct str join_ips(struct arena *arena, const struct str_list *ips)
{
    struct str text = STR("");

    LIST_EACH (ip, ips) {
        text = text.n > 0 ? arena_printf(arena, "%.*s,%.*s", STR_ARG(text), STR_ARG(*ip)) : *ip;
    }
    return text;
}

struct services {
    const struct core_v1_service **items;
    size_t len;
};

/* Copies of the services the pod may be told of: what the informer has may change while we wait for Secrets. */
static struct services services_for(struct pod_starting *all)
{
    struct services services = {0};

    if (all->kubelet->services == NULL) {
        return services;
    }
    struct object_pointers known = informer_all(all->kubelet->services, all->arena);

    LIST_EACH (item, &known) {
        const struct core_v1_service *service = *item;

        if (str_eq(service->metadata.namespace, all->pod->metadata.namespace) ||
            str_is(service->metadata.namespace, "default")) {
            *LIST_ADD(all->arena, &services) = schema_copy(all->arena, &core_v1_service_type, service);
        }
    }
    return services;
}

static struct status *make_env(struct start *start, struct env_vars *ret)
{
    struct pod_starting *all = start->all;
    struct kubelet *kubelet = all->kubelet;
    struct downward_facts facts = {
        .pod = all->pod,
        .host_ip = kubelet->node_ip,
        .pod_ip = all->pod_ips.len > 0 ? all->pod_ips.items[0] : STR(""),
        .pod_ips = join_ips(all->arena, &all->pod_ips),
        .allocatable = &kubelet->allocatable,
    };
    struct env_sources sources = {.secret = secret_of, .config_map = config_map_of, .arg = all};

    struct services services = services_for(all);

    sources.services = services.items;
    sources.service_count = services.len;
    return env_vars_make(all->arena, &facts, start->container, &sources, ret);
}

/* The user the image says it runs as, which runAsNonRoot is held against. */
static struct status *look_at_image(struct start *start, struct str image, struct container_facts *facts)
{
    struct cri_v1_image_spec spec = {.image = image};
    struct cri_v1_image_status_request request = {.image = &spec};
    struct cri_v1_image_status_response *response;

    TRY(cri_image_status(start->all->kubelet->cri, &request, start->all->arena, &response));
    if (response->image == NULL) {
        return NULL;
    }
    facts->image_user = response->image->username;
    if (response->image->uid != NULL) {
        facts->has_image_uid = true;
        facts->image_uid = response->image->uid->value;
    } else if (facts->image_user.n == 0) {
        facts->has_image_uid = true; /* root, when the image says nothing */
    }
    return NULL;
}

static struct str target_of(struct start *start)
{
    struct pod_starting *all = start->all;

    if (start->kind == PLAN_EPHEMERAL) {
        LIST_EACH (ephemeral, &all->pod->spec.ephemeral_containers) {
            if (str_eq(ephemeral->ephemeral_container_common.name, start->container->name)) {
                const struct runtime_container *target =
                    runtime_pod_find(all->runtime, ephemeral->target_container_name);

                return target != NULL ? target->id : STR("");
            }
        }
    }
    return STR("");
}

static struct status *make_config(struct start *start, struct str image, struct cri_v1_container_config **ret)
{
    struct pod_starting *all = start->all;
    struct kubelet *kubelet = all->kubelet;
    struct env_vars env;
    struct container_facts facts = {
        .pod = all->pod,
        .container = start->container,
        .kind = start->kind,
        .restart_count = start->restart_count,
        .image = image,
        .env = &env,
        .seccomp_root = arena_printf(all->arena, "%.*s/seccomp", STR_ARG(kubelet->options.root_dir)),
        .target_id = target_of(start),
        .memory_capacity = kubelet->facts.memory_bytes,
        .cpu_cfs_quota = kubelet->options.cpu_cfs_quota,
        .cpu_cfs_quota_period = kubelet->options.cpu_cfs_quota_period,
    };

    TRY(make_env(start, &env));
    TRY(container_mounts_make(all, start->container, &env, &facts.mounts));
    TRY(look_at_image(start, image, &facts));
    TRY(host_make_directory(kubelet->host,
                            arena_printf(all->arena, "%s/%.*s", pod_log_directory(kubelet, all->arena, all->pod),
                                         STR_ARG(start->container->name))
                                .p,
                            0755));
    return container_config_make(all->arena, &facts, ret);
}

/* FluentD and others look for logs in /var/log/containers. */
static void link_log(struct start *start, struct str id)
{
    struct pod_starting *all = start->all;
    struct kubelet *kubelet = all->kubelet;
    const struct core_v1_pod *pod = all->pod;

    if (kubelet->options.container_logs_dir.n == 0) {
        return;
    }
    struct str link = arena_printf(all->arena, "%.*s/%.*s_%.*s_%.*s-%.*s.log",
                                   STR_ARG(kubelet->options.container_logs_dir), STR_ARG(pod->metadata.name),
                                   STR_ARG(pod->metadata.namespace), STR_ARG(start->container->name), STR_ARG(id));
    struct str target =
        arena_printf(all->arena, "%s/%.*s", pod_log_directory(kubelet, all->arena, pod),
                     STR_ARG(container_log_name(all->arena, start->container->name, start->restart_count)));

    status_free(host_symlink(kubelet->host, target.p, link.p));
}

static bool has_probe(const struct core_v1_container *container)
{
    return container->startup_probe != NULL || container->readiness_probe != NULL || container->liveness_probe != NULL;
}

static bool run_post_start(struct start *start, struct str id)
{
    struct pod_starting *all = start->all;
    const struct core_v1_lifecycle *lifecycle = start->container->lifecycle;
    struct str ip = all->pod_ips.len > 0 ? all->pod_ips.items[0] : STR("");
    int64_t from = env_wall();

    if (lifecycle == NULL || lifecycle->post_start == NULL) {
        if (!has_probe(start->container)) {
            kubelet_trace_pod(all->pod, TRACE_HOOKS_AND_PROBES, TRACE_SKIPPED, from,
                              "%.*s has no postStart hook and no probes", STR_ARG(start->container->name));
        }
        return true;
    }
    struct status *error = hook_run(all->kubelet, start->container, lifecycle->post_start, id, ip, 0);

    if (error == NULL) {
        kubelet_trace_pod(all->pod, TRACE_HOOKS_AND_PROBES, TRACE_OK, from, "postStart of %.*s",
                          STR_ARG(start->container->name));
        return true;
    }
    struct str text = take_text(all->arena, error);

    log_info("postStart hook of container %.*s failed: %.*s", STR_ARG(start->container->name), STR_ARG(text));
    container_event(all->kubelet, all->pod, start->kind, start->container->name, "Warning", "FailedPostStartHook",
                    "PostStartHook failed");
    kubelet_trace_pod(all->pod, TRACE_HOOKS_AND_PROBES, TRACE_FAILED, from, "postStart of %.*s: %.*s",
                      STR_ARG(start->container->name), STR_ARG(text));
    const struct runtime_container running = {.id = id, .name = start->container->name, .state = RUNTIME_RUNNING};
    struct container_kill kill = {.container = &running,
                                  .message = STR("FailedPostStartHook"),
                                  .grace_seconds = pod_grace_seconds(all->pod)};

    status_free(container_kill(all->kubelet, all->pod, &kill));
    *start->problem = (struct start_problem){STR("PostStartHookError"), STR("PostStartHook failed")};
    return false;
}

static bool create_and_start(struct start *start, struct str image)
{
    struct pod_starting *all = start->all;
    struct kubelet *kubelet = all->kubelet;
    struct cri_v1_create_container_request create = {
        .pod_sandbox_id = all->sandbox_id, .sandbox_config = (struct cri_v1_pod_sandbox_config *)all->sandbox};
    struct cri_v1_create_container_response *created;
    struct cri_v1_start_container_response *started;
    struct status *error = make_config(start, image, &create.config);

    if (error != NULL) {
        return fail(start, "Failed", "CreateContainerConfigError", take_text(all->arena, error));
    }
    error = cri_create_container(kubelet->cri, &create, all->arena, &created);
    if (error != NULL) {
        return fail(start, "Failed", "CreateContainerError", take_text(all->arena, error));
    }
    container_event(kubelet, all->pod, start->kind, start->container->name, "Normal", "Created", "Container created");
    struct cri_v1_start_container_request request = {.container_id = created->container_id};

    error = cri_start_container(kubelet->cri, &request, all->arena, &started);
    if (error != NULL) {
        return fail(start, "Failed", "RunContainerError", take_text(all->arena, error));
    }
    container_event(kubelet, all->pod, start->kind, start->container->name, "Normal", "Started", "Container started");
    link_log(start, created->container_id);
    return run_post_start(start, created->container_id);
}

bool container_start(struct pod_starting *starting, enum plan_kind kind, size_t index,
                     struct start_problem *ret_problem)
{
    const struct core_v1_container *container =
        pod_container_at(starting->arena, starting->pod, kind, index);
    const struct runtime_container *before = runtime_pod_find(starting->runtime, container->name);
    struct start start = {.all = starting,
                          .kind = kind,
                          .container = container,
                          .restart_count = before != NULL ? before->restart_count + 1 : 0,
                          .problem = ret_problem};
    struct str image;

    *ret_problem = (struct start_problem){0};
    if (kind != PLAN_EPHEMERAL && container_is_backing_off(starting, kind, container, ret_problem)) {
        return false;
    }
    if (!image_manager_ensure(starting->kubelet->images, starting->pod, kind, container, &starting->credentials,
                              starting->sandbox, starting->arena, &image, ret_problem)) {
        container_event(starting->kubelet, starting->pod, kind, container->name, "Warning", "Failed", "Error: %.*s",
                        STR_ARG(ret_problem->reason));
        return false;
    }
    return create_and_start(&start, image);
}
