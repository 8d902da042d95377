#include "kubelet/image_manager.h"

#include "base/env.h"
#include "base/mem.h"
#include "base/trace.h"
#include "cri/grpc.h"
#include "kubelet/object_cache.h"
#include "schema/image_reference.h"
#include "schema/map_of.h"
#include "schema/timestamp.h"

#include <stdlib.h>

struct image_manager {
    struct kubelet *kubelet;
    struct backoff backoff; /* by "UID_IMAGE" */
    struct map last_errors; /* by the same key: "ErrImagePull: TEXT", on the heap */
    struct task_lock pulling; /* one pull at a time when they are serialized */
};

struct image_manager *image_manager_new(struct kubelet *kubelet)
{
    struct image_manager *manager = MEM_NEW(struct image_manager);

    manager->kubelet = kubelet;
    manager->backoff.initial = 10 * ENV_SECOND;
    manager->backoff.max = 300 * ENV_SECOND;
    task_lock_init(&manager->pulling);
    return manager;
}

void image_manager_free(struct image_manager *manager)
{
    size_t at = 0;

    if (manager == NULL) {
        return;
    }
    for (struct map_entry *e; (e = map_next(&manager->last_errors, &at)) != NULL;) {
        free(e->value);
    }
    map_done(&manager->last_errors);
    backoff_done(&manager->backoff);
    free(manager);
}

/* One look at a container's image. */
struct look {
    struct image_manager *manager;
    const struct core_v1_pod *pod;
    enum plan_kind kind;
    const struct core_v1_container *container;
    struct arena *arena;
    struct start_problem *problem;
};

static bool fail(struct look *look, const char *reason, struct str message)
{
    *look->problem = (struct start_problem){str_of(reason), message};
    return false;
}

/* The same, told as an event too. */
static bool fail_with_event(struct look *look, const char *event, const char *reason, struct str message)
{
    container_event(look->manager->kubelet, look->pod, look->kind, look->container->name, "Warning", event, "%.*s",
                    STR_ARG(message));
    return fail(look, reason, message);
}

static struct status *inspect(struct look *look, struct str image, struct str *ret_id, uint64_t *ret_size)
{
    struct cri_v1_image_spec spec = {.image = image, .user_specified_image = look->container->image};
    struct cri_v1_image_status_request request = {.image = &spec};
    struct cri_v1_image_status_response *response;

    *ret_id = STR("");
    TRY(cri_image_status(look->manager->kubelet->cri, &request, look->arena, &response));
    if (response->image != NULL) {
        *ret_id = response->image->id;
        *ret_size = response->image->size;
    }
    return NULL;
}

static struct status *pull_with(struct look *look, struct str image, const struct docker_credential *credential,
                                const struct cri_v1_pod_sandbox_config *sandbox, struct str *ret_id)
{
    struct cri_v1_image_spec spec = {.image = image, .user_specified_image = look->container->image};
    struct cri_v1_auth_config auth = {0};
    struct cri_v1_pull_image_request request = {
        .image = &spec, .sandbox_config = (struct cri_v1_pod_sandbox_config *)sandbox};
    struct cri_v1_pull_image_response *response;

    if (credential != NULL) {
        auth = (struct cri_v1_auth_config){.username = credential->username,
                                           .password = credential->password,
                                           .server_address = credential->registry,
                                           .identity_token = credential->identity_token};
        request.auth = &auth;
    }
    TRY(cri_pull_image(look->manager->kubelet->cri, &request, look->arena, &response));
    *ret_id = response->image_ref;
    return NULL;
}

/* Tries each credential that fits, or none at all; the last error counts. */
static struct status *pull(struct look *look, struct str image, const struct docker_config *credentials,
                           const struct cri_v1_pod_sandbox_config *sandbox, struct str *ret_id)
{
    struct docker_config fitting = {0};
    struct status *error = NULL;

    docker_config_find(credentials, look->arena, image, &fitting);
    if (fitting.len == 0) {
        return pull_with(look, image, NULL, sandbox, ret_id);
    }
    LIST_EACH (credential, &fitting) {
        status_free(error);
        error = pull_with(look, image, credential, sandbox, ret_id);
        if (error == NULL) {
            return NULL;
        }
    }
    return error;
}

/* Runtimes may put one of the kubelet's own reasons into the error. */
static const char *reason_of_pull(struct str message)
{
    static const char *const known[] = {"RegistryUnavailable", "SignatureValidationFailed"};

    for (size_t i = 0; i < COUNT_OF(known); i++) {
        if (str_contains(message, str_of(known[i]))) {
            return known[i];
        }
    }
    return "ErrImagePull";
}

static bool pull_failed(struct look *look, struct str key, struct status *error, int64_t started)
{
    struct image_manager *manager = look->manager;
    struct str text = grpc_error_text(look->arena, error);
    struct str image = look->container->image;
    const char *reason = reason_of_pull(error->message);

    if (status_is(error, STATUS_CANCELLED)) {
        status_free(error);
        return fail(look, "ErrImagePull", STR("context canceled"));
    }
    status_free(error);
    container_event(manager->kubelet, look->pod, look->kind, look->container->name, "Warning", "Failed",
                    "Failed to pull image \"%.*s\": %.*s", STR_ARG(image), STR_ARG(text));
    backoff_step(&manager->backoff, key, env_mono());
    free(map_set(&manager->last_errors, key,
                 mem_strdup(arena_printf(look->arena, "%s: %.*s", reason, STR_ARG(text)).p)));
    kubelet_trace_pod(look->pod, TRACE_IMAGE, TRACE_FAILED, started, "%.*s: %.*s", STR_ARG(image), STR_ARG(text));
    return fail(look, reason, text);
}

static bool pull_now(struct look *look, struct str image, const struct docker_config *credentials,
                     const struct cri_v1_pod_sandbox_config *sandbox, struct str key, struct str *ret_image)
{
    struct image_manager *manager = look->manager;
    struct kubelet *kubelet = manager->kubelet;
    int64_t started = env_wall(), waited_from = env_mono();
    struct str name = look->container->name;

    container_event(kubelet, look->pod, look->kind, name, "Normal", "Pulling", "Pulling image \"%.*s\"",
                    STR_ARG(look->container->image));
    if (kubelet->options.serialize_image_pulls && !task_lock_acquire(&manager->pulling)) {
        return fail(look, "ErrImagePull", STR("context canceled"));
    }
    int64_t pull_from = env_mono();
    struct status *error = pull(look, image, credentials, sandbox, ret_image);
    int64_t done = env_mono();

    if (kubelet->options.serialize_image_pulls) {
        task_lock_release(&manager->pulling);
    }
    if (error != NULL) {
        return pull_failed(look, key, error, started);
    }
    uint64_t size = 0;
    struct str id;

    status_free(inspect(look, image, &id, &size));
    /* Stock cuts the durations to milliseconds. */
    struct str own = duration_format(look->arena, (done - pull_from) / ENV_MS * ENV_MS);
    struct str all = duration_format(look->arena, (done - waited_from) / ENV_MS * ENV_MS);

    container_event(kubelet, look->pod, look->kind, name, "Normal", "Pulled",
                    "Successfully pulled image \"%.*s\" in %.*s (%.*s including waiting). Image size: %llu bytes.",
                    STR_ARG(look->container->image), STR_ARG(own), STR_ARG(all), (unsigned long long)size);
    backoff_forget(&manager->backoff, key);
    free(map_remove(&manager->last_errors, key));
    kubelet_trace_pod(look->pod, TRACE_IMAGE, TRACE_OK, started, "pulled %.*s in %.*s", STR_ARG(look->container->image),
                      STR_ARG(own));
    return true;
}

bool image_manager_ensure(struct image_manager *manager, const struct core_v1_pod *pod, enum plan_kind kind,
                          const struct core_v1_container *container, const struct docker_config *credentials,
                          const struct cri_v1_pod_sandbox_config *sandbox, struct arena *arena, struct str *ret_image,
                          struct start_problem *ret_problem)
{
    struct look look = {manager, pod, kind, container, arena, ret_problem};
    struct str image, id, policy = container->image_pull_policy;
    uint64_t size;
    int64_t started = env_wall();
    struct status *error = image_reference_with_tag(arena, container->image, &image);

    if (error != NULL) {
        struct str message = arena_printf(arena, "Failed to apply default image tag \"%.*s\": %.*s",
                                          STR_ARG(container->image), STR_ARG(error->message));

        status_free(error);
        return fail_with_event(&look, "InspectFailed", "InvalidImageName", message);
    }
    error = inspect(&look, image, &id, &size);
    if (error != NULL) {
        struct str message = arena_printf(arena, "Failed to inspect image \"%.*s\": %.*s", STR_ARG(container->image),
                                          STR_ARG(grpc_error_text(arena, error)));

        status_free(error);
        return fail_with_event(&look, "InspectFailed", "ImageInspectError", message);
    }
    if (id.n > 0 && !str_is(policy, "Always")) {
        container_event(manager->kubelet, pod, kind, container->name, "Normal", "Pulled",
                        "Container image \"%.*s\" already present on machine and can be accessed by the pod",
                        STR_ARG(container->image));
        kubelet_trace_pod(pod, TRACE_IMAGE, TRACE_OK, started, "%.*s is present", STR_ARG(container->image));
        *ret_image = id;
        return true;
    }
    if (str_is(policy, "Never")) {
        return fail_with_event(&look, "ErrImageNeverPull", "ErrImageNeverPull",
                               arena_printf(arena, "Container image \"%.*s\" is not present with pull policy of Never",
                                            STR_ARG(container->image)));
    }
    struct str key = arena_printf(arena, "%.*s_%.*s", STR_ARG(pod->metadata.uid), STR_ARG(container->image));

    if (backoff_is_waiting_since_step(&manager->backoff, key, env_mono())) {
        struct str message = arena_printf(arena, "Back-off pulling image \"%.*s\"", STR_ARG(container->image));

        container_event(manager->kubelet, pod, kind, container->name, "Normal", "BackOff", "%.*s", STR_ARG(message));
        const char *last = map_find(&manager->last_errors, key);

        return fail(&look, "ImagePullBackOff",
                    last == NULL ? message : arena_printf(arena, "%.*s: %s", STR_ARG(message), last));
    }
    return pull_now(&look, image, credentials, sandbox, key, ret_image);
}

void image_pull_secrets(struct kubelet *kubelet, const struct core_v1_pod *pod, struct arena *arena,
                        struct docker_config *ret)
{
    int64_t start = env_wall();
    size_t found = 0;

    *ret = (struct docker_config){0};
    if (pod->spec.image_pull_secrets.len == 0) {
        kubelet_trace_pod(pod, TRACE_PULL_SECRETS, TRACE_SKIPPED, start, "no imagePullSecrets: public images");
        return;
    }
    LIST_EACH (reference, &pod->spec.image_pull_secrets) {
        const struct core_v1_secret *secret;
        struct status *error = object_cache_secret(kubelet->objects, pod->metadata.uid, pod->metadata.namespace,
                                                   reference->name, arena, &secret);

        if (error == NULL) {
            bool is_old = str_is(secret->type, "kubernetes.io/dockercfg");
            struct str json = str_map_get(&secret->data, is_old ? STR(".dockercfg") : STR(".dockerconfigjson"));

            error = docker_config_add(ret, arena, json, is_old);
            found += error == NULL;
        }
        if (error != NULL) {
            pod_event(kubelet, pod, "Warning", "FailedToRetrieveImagePullSecret",
                      "Unable to retrieve some image pull secrets (%.*s); attempting to pull the image may not "
                      "succeed.",
                      STR_ARG(reference->name));
            status_free(error);
        }
    }
    kubelet_trace_pod(pod, TRACE_PULL_SECRETS, found > 0 ? TRACE_OK : TRACE_FAILED, start, "%zu of %zu read", found,
                      (size_t)pod->spec.image_pull_secrets.len);
}
