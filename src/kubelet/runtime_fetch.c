#include "kubelet/runtime_fetch.h"

#include "kubelet/container_log.h"
#include "schema/map_of.h"

/* Bytes of a termination message, and lines and bytes of a log that stands in for it (stock's). */
enum { MESSAGE_BYTES_MAX = 4096, FALLBACK_LINES = 80, FALLBACK_BYTES = 2048 };

static enum runtime_state state_of(int32_t state)
{
    return state == CRI_V1_CONTAINER_STATE_CONTAINER_CREATED   ? RUNTIME_CREATED
           : state == CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING ? RUNTIME_RUNNING
           : state == CRI_V1_CONTAINER_STATE_CONTAINER_EXITED  ? RUNTIME_EXITED
                                                               : RUNTIME_UNKNOWN;
}

static int64_t number_of(const struct str_map *map, struct str key, int64_t otherwise)
{
    int64_t number;

    return str_to_i64(str_map_get(map, key), &number) ? number : otherwise;
}

/* The hash is written in hexadecimal. */
static uint64_t hash_of(const struct str_map *annotations)
{
    struct str text = str_map_get(annotations, ANNOTATION_HASH);
    uint64_t hash = 0;

    for (size_t i = 0; i < text.n && i < 16; i++) {
        char c = text.p[i];

        hash = hash * 16 + (uint64_t)(c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0);
    }
    return hash;
}

static struct str log_tail(struct kubelet *kubelet, struct arena *arena, struct str path)
{
    struct str text;
    struct buf out = {0};
    struct container_log_writer writer = {
        .filter = {.limit_bytes = -1, .want_stdout = true, .want_stderr = true}};
    struct status *error = host_read_tail(kubelet->host, arena_cstr(arena, path), 65536, arena, &text);
    bool complete;

    if (error != NULL) {
        status_free(error);
        return STR("");
    }
    text = str_from(text, container_log_tail(text, FALLBACK_LINES, &complete));
    while (text.n > 0) {
        size_t end = str_index(text, '\n');
        struct str line = end == SIZE_MAX ? text : str_sub(text, 0, end + 1);

        container_log_write(&writer, line, &out);
        text = str_from(text, line.n);
    }
    struct str tail = buf_str(&out);

    tail = arena_str(arena, tail.n > FALLBACK_BYTES ? str_from(tail, tail.n - FALLBACK_BYTES) : tail);
    buf_done(&out);
    return tail;
}

/* What the container wrote before it ended, else what the runtime says. */
static struct str message_of(struct kubelet *kubelet, struct arena *arena, const struct cri_v1_container_status *status)
{
    struct str path = str_map_get(&status->annotations, ANNOTATION_MESSAGE_PATH);
    struct str message = STR("");

    LIST_EACH (mount, &status->mounts) {
        if (path.n > 0 && str_eq(mount->container_path, path)) {
            status_free(host_read(kubelet->host, arena_cstr(arena, mount->host_path), MESSAGE_BYTES_MAX, arena,
                                  &message));
            break;
        }
    }
    if (message.n == 0 && status->exit_code != 0 &&
        str_is(str_map_get(&status->annotations, ANNOTATION_MESSAGE_POLICY), "FallbackToLogsOnError")) {
        message = log_tail(kubelet, arena, status->log_path);
    }
    return message.n > 0 ? message : status->message;
}

static void take_user(struct arena *arena, const struct cri_v1_container_user *user, struct runtime_container *ret)
{
    if (user == NULL || user->linux_ == NULL) {
        return;
    }
    ret->has_user = true;
    ret->uid = user->linux_->uid;
    ret->gid = user->linux_->gid;
    LIST_EACH (group, &user->linux_->supplemental_groups) {
        *LIST_ADD(arena, &ret->groups) = *group;
    }
}

static void take_container(struct kubelet *kubelet, struct arena *arena, const struct cri_v1_container_status *status,
                           struct str sandbox_id, struct runtime_container *ret)
{
    *ret = (struct runtime_container){
        .id = status->id,
        .name = str_map_get(&status->labels, LABEL_CONTAINER_NAME),
        .sandbox_id = sandbox_id,
        .image = status->image != NULL ? status->image->image : STR(""),
        .image_ref = status->image_ref,
        .reason = status->reason,
        .log_path = status->log_path,
        .state = state_of(status->state),
        .created_at = status->created_at,
        .started_at = status->started_at,
        .finished_at = status->finished_at,
        .exit_code = status->exit_code,
        .restart_count = (int32_t)number_of(&status->annotations, ANNOTATION_RESTART_COUNT,
                                            status->metadata != NULL ? status->metadata->attempt : 0),
        .hash = hash_of(&status->annotations),
        .grace_seconds = number_of(&status->annotations, ANNOTATION_GRACE, -1),
    };
    if (ret->name.n == 0 && status->metadata != NULL) {
        ret->name = status->metadata->name;
    }
    if (ret->state == RUNTIME_EXITED) {
        ret->message = message_of(kubelet, arena, status);
    }
    take_user(arena, status->user, ret);
    if (status->resources != NULL && status->resources->linux_ != NULL) {
        ret->has_resources = true;
        ret->cpu_shares = status->resources->linux_->cpu_shares;
        ret->cpu_quota = status->resources->linux_->cpu_quota;
        ret->cpu_period = status->resources->linux_->cpu_period;
        ret->memory_limit = status->resources->linux_->memory_limit_in_bytes;
    }
}

static void take_sandbox(struct arena *arena, const struct cri_v1_pod_sandbox_status *status,
                         struct runtime_sandbox *ret)
{
    *ret = (struct runtime_sandbox){
        .id = status->id,
        .attempt = status->metadata != NULL ? status->metadata->attempt : 0,
        .is_ready = status->state == CRI_V1_POD_SANDBOX_STATE_SANDBOX_READY,
        .is_host_network = status->linux_ != NULL && status->linux_->namespaces != NULL &&
                           status->linux_->namespaces->options != NULL &&
                           status->linux_->namespaces->options->network == CRI_V1_NAMESPACE_MODE_NODE,
        .has_network = status->network != NULL,
        .created_at = status->created_at,
    };
    if (status->network != NULL && status->network->ip.n > 0) {
        *LIST_ADD(arena, &ret->ips) = status->network->ip;
        LIST_EACH (more, &status->network->additional_ips) {
            *LIST_ADD(arena, &ret->ips) = more->ip;
        }
    }
}

static struct status *fetch_sandboxes(struct kubelet *kubelet, struct str uid, struct arena *arena,
                                      struct runtime_pod *pod)
{
    struct cri_v1_pod_sandbox_filter filter = {0};
    struct cri_v1_list_pod_sandbox_request request = {.filter = &filter};
    struct cri_v1_list_pod_sandbox_response *listed;

    str_map_set(arena, &filter.label_selector, LABEL_POD_UID, uid);
    TRY(cri_list_pod_sandbox(kubelet->cri, &request, arena, &listed));
    LIST_EACH (sandbox, &listed->items) {
        struct cri_v1_pod_sandbox_status_request ask = {.pod_sandbox_id = sandbox->id};
        struct cri_v1_pod_sandbox_status_response *answer;
        struct status *error = cri_pod_sandbox_status(kubelet->cri, &ask, arena, &answer);

        if (error != NULL && !status_free_if(&error, STATUS_NOT_FOUND)) {
            return error;
        }
        if (error == NULL && answer->status != NULL) {
            take_sandbox(arena, answer->status, LIST_ADD(arena, &pod->sandboxes));
        }
    }
    return NULL;
}

static struct status *fetch_containers(struct kubelet *kubelet, struct str uid, struct arena *arena,
                                       struct runtime_pod *pod)
{
    struct cri_v1_container_filter filter = {0};
    struct cri_v1_list_containers_request request = {.filter = &filter};
    struct cri_v1_list_containers_response *listed;

    str_map_set(arena, &filter.label_selector, LABEL_POD_UID, uid);
    TRY(cri_list_containers(kubelet->cri, &request, arena, &listed));
    LIST_EACH (container, &listed->containers) {
        struct cri_v1_container_status_request ask = {.container_id = container->id};
        struct cri_v1_container_status_response *answer;
        struct status *error = cri_container_status(kubelet->cri, &ask, arena, &answer);

        if (error != NULL && !status_free_if(&error, STATUS_NOT_FOUND)) {
            return error;
        }
        if (error == NULL && answer->status != NULL) {
            take_container(kubelet, arena, answer->status, container->pod_sandbox_id,
                           LIST_ADD(arena, &pod->containers));
        }
    }
    return NULL;
}

struct status *runtime_pod_fetch(struct kubelet *kubelet, struct str uid, struct arena *arena, struct runtime_pod *ret)
{
    struct runtime_pod pod = {.uid = uid};

    TRY(fetch_sandboxes(kubelet, uid, arena, &pod));
    TRY(fetch_containers(kubelet, uid, arena, &pod));
    runtime_pod_sort(&pod);
    *ret = pod;
    return NULL;
}

static void name_item(const struct str_map *labels, struct runtime_item *item)
{
    item->pod_uid = str_map_get(labels, LABEL_POD_UID);
    item->pod_name = str_map_get(labels, LABEL_POD_NAME);
    item->pod_namespace = str_map_get(labels, LABEL_POD_NAMESPACE);
    item->name = str_map_get(labels, LABEL_CONTAINER_NAME);
}

struct status *runtime_list(struct kubelet *kubelet, struct arena *arena, struct runtime_items *ret_sandboxes,
                            struct runtime_items *ret_containers)
{
    struct cri_v1_list_pod_sandbox_request sandbox_request = {0};
    struct cri_v1_list_containers_request container_request = {0};
    struct cri_v1_list_pod_sandbox_response *sandboxes;
    struct cri_v1_list_containers_response *containers;
    struct runtime_items sandbox_items = {0}, container_items = {0};

    TRY(cri_list_pod_sandbox(kubelet->cri, &sandbox_request, arena, &sandboxes));
    TRY(cri_list_containers(kubelet->cri, &container_request, arena, &containers));
    LIST_EACH (sandbox, &sandboxes->items) {
        struct runtime_item item = {
            .id = sandbox->id,
            .state = sandbox->state == CRI_V1_POD_SANDBOX_STATE_SANDBOX_READY ? RUNTIME_RUNNING : RUNTIME_EXITED,
            .created_at = sandbox->created_at,
        };

        name_item(&sandbox->labels, &item);
        if (item.pod_uid.n > 0) {
            *LIST_ADD(arena, &sandbox_items) = item;
        }
    }
    LIST_EACH (container, &containers->containers) {
        struct runtime_item item = {
            .id = container->id,
            .sandbox_id = container->pod_sandbox_id,
            .image_ref = container->image_ref,
            .image = container->image != NULL ? container->image->image : STR(""),
            .state = state_of(container->state),
            .created_at = container->created_at,
            .grace_seconds = number_of(&container->annotations, ANNOTATION_GRACE, -1),
        };

        name_item(&container->labels, &item);
        if (item.pod_uid.n > 0) {
            *LIST_ADD(arena, &container_items) = item;
        }
    }
    *ret_sandboxes = sandbox_items;
    *ret_containers = container_items;
    return NULL;
}
