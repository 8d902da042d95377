#include "kubelet/node_agent.h"

#include "api/coordination_v1.h"
#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "kubelet/eviction.h"
#include "kubelet/node_status.h"
#include "kubelet/status_patch.h"
#include "schema/copy.h"
#include "schema/timestamp.h"

#include <stdlib.h>
#include <string.h>

enum { IMAGE_NAMES_MAX = 5, REGISTER_TRIES_SECONDS_MAX = 7 };

struct node_agent {
    struct kubelet *kubelet;
    struct informer *informer; /* of this one Node */
    struct cond changed;
    bool is_wanted, is_registered, was_reported;
    bool pressure[3];
    int64_t reported_at; /* env_mono */
    struct arena *arena; /* of `reported` and `lease` */
    struct core_v1_node_status *reported; /* as the API has it after our last write */
    struct arena *lease_arena;
    struct coordination_v1_lease *lease; /* as the API has it after our last write; NULL: not known */
    struct str pod_cidr; /* that the runtime has been told */
};

static void on_node_change(void *arg, const void *old, const void *new)
{
    (void)old, (void)new;
    node_agent_wake(arg);
}

struct node_agent *node_agent_new(struct kubelet *kubelet)
{
    struct node_agent *agent = MEM_NEW(struct node_agent);

    agent->kubelet = kubelet;
    cond_init(&agent->changed);
    if (kubelet->client != NULL) {
        struct client_list_options selectors = {
            .field_selector = arena_printf(kubelet->arena, "metadata.name=%.*s", STR_ARG(kubelet->node_name))};

        agent->informer = informer_new(kubelet->client, &core_v1_node_kind, STR(""), &selectors);
        informer_on_change(agent->informer, on_node_change, agent);
    }
    return agent;
}

void node_agent_free(struct node_agent *agent)
{
    if (agent == NULL) {
        return;
    }
    if (agent->informer != NULL) {
        informer_free(agent->informer);
    }
    arena_free(agent->arena);
    arena_free(agent->lease_arena);
    free(agent);
}

void node_agent_wake(struct node_agent *agent)
{
    agent->is_wanted = true;
    cond_broadcast(&agent->changed);
}

const struct core_v1_node *node_agent_node(const struct node_agent *agent)
{
    return agent->informer == NULL ? NULL : informer_find(agent->informer, STR(""), agent->kubelet->node_name);
}

void node_agent_set_pressure(struct node_agent *agent, const bool pressure[3])
{
    if (memcmp(agent->pressure, pressure, sizeof(agent->pressure)) != 0) {
        memcpy(agent->pressure, pressure, sizeof(agent->pressure));
        node_agent_wake(agent);
    }
}

/* The largest first, as stock lists them. */
static int by_size(const void *a, const void *b)
{
    const struct core_v1_container_image *x = a, *y = b;

    return x->size_bytes > y->size_bytes ? -1 : x->size_bytes < y->size_bytes;
}

static void list_images(struct kubelet *kubelet, struct arena *arena, struct node_status_input *input)
{
    struct cri_v1_list_images_request request = {0};
    struct cri_v1_list_images_response *response;
    struct status *error = cri_list_images(kubelet->cri, &request, arena, &response);
    int64_t images_max = kubelet->options.node_status_max_images;

    if (error != NULL) {
        status_free(error);
        return;
    }
    LIST_EACH (image, &response->images) {
        struct core_v1_container_image item = {.size_bytes = (int64_t)image->size};

        LIST_EACH (digest, &image->repo_digests) {
            *LIST_ADD(arena, &item.names) = *digest;
        }
        LIST_EACH (tag, &image->repo_tags) {
            *LIST_ADD(arena, &item.names) = *tag;
        }
        item.names.len = MIN(item.names.len, (size_t)IMAGE_NAMES_MAX);
        *LIST_ADD(arena, &input->images) = item;
    }
    if (input->images.len > 0) {
        qsort(input->images.items, input->images.len, sizeof(*input->images.items), by_size);
    }
    if (images_max >= 0) {
        input->images.len = MIN(input->images.len, (size_t)images_max);
    }
}

static void make_status(struct node_agent *agent, struct arena *arena, const struct core_v1_node_status *old,
                        struct core_v1_node_status *ret)
{
    struct node_status_input input = {.kubelet = agent->kubelet, .old = old, .now = env_wall()};

    memcpy(input.pressure, agent->pressure, sizeof(input.pressure));
    list_images(agent->kubelet, arena, &input);
    node_status_make(arena, &input, ret);
}

static void keep_reported(struct node_agent *agent, const struct core_v1_node_status *status)
{
    struct arena *arena = arena_new();
    struct core_v1_node_status *copy = schema_copy(arena, &core_v1_node_status_type, status);

    arena_free(agent->arena);
    agent->arena = arena;
    agent->reported = copy;
    agent->reported_at = env_mono();
}

static struct status *reconcile(struct node_agent *agent, const struct core_v1_node *wanted, struct arena *arena)
{
    struct kubelet *kubelet = agent->kubelet;
    void *found;

    TRY(client_get(kubelet->client, &core_v1_node_kind, STR(""), kubelet->node_name, arena, &found));
    struct core_v1_node *node = found;

    if (node_object_reconcile(arena, wanted, node)) {
        TRY(client_update(kubelet->client, &core_v1_node_kind, STR(""), node, NULL, arena, &found));
        node = found;
    }
    keep_reported(agent, &node->status);
    return NULL;
}

static struct status *register_node(struct node_agent *agent)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct kubelet *kubelet = agent->kubelet;
    struct core_v1_node node;
    void *made;

    node_object_make(arena, kubelet, &node);
    make_status(agent, arena, NULL, &node.status);
    struct status *error = client_create(kubelet->client, &core_v1_node_kind, &node, NULL, arena, &made);

    if (error == NULL) {
        keep_reported(agent, &((struct core_v1_node *)made)->status);
        log_info("registered node %.*s", STR_ARG(kubelet->node_name));
        return NULL;
    }
    if (!status_free_if(&error, STATUS_ALREADY_EXISTS)) {
        return error;
    }
    return reconcile(agent, &node, arena);
}

/* Events of the conditions that became other than they were. */
static void tell_conditions(struct node_agent *agent, const struct core_v1_node_status *before,
                            const struct core_v1_node_status *after)
{
    static const struct {
        const char *type, *on_true, *on_false;
    } rows[] = {
        {"MemoryPressure", "NodeHasInsufficientMemory", "NodeHasSufficientMemory"},
        {"DiskPressure", "NodeHasDiskPressure", "NodeHasNoDiskPressure"},
        {"PIDPressure", "NodeHasInsufficientPID", "NodeHasSufficientPID"},
        {"Ready", "NodeReady", "NodeNotReady"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct core_v1_node_condition *old = node_condition_find(before, str_of(rows[i].type));
        const struct core_v1_node_condition *new = node_condition_find(after, str_of(rows[i].type));

        if (new != NULL && (old == NULL || !str_eq(old->status, new->status))) {
            const char *reason = str_is(new->status, "True") ? rows[i].on_true : rows[i].on_false;

            node_event(agent->kubelet, "Normal", reason, "Node %.*s status is now: %s",
                       STR_ARG(agent->kubelet->node_name), reason);
        }
    }
}

static struct status *patch_status(struct node_agent *agent, const struct core_v1_node_status *wanted,
                                   struct arena *arena)
{
    OWNED(buf_done) struct buf patch = {0};
    struct kubelet *kubelet = agent->kubelet;
    void *answer;

    buf_add_str(&patch, STR("{\"status\":"));
    if (!status_patch(&core_v1_node_status_type, agent->reported, wanted, &patch)) {
        return NULL;
    }
    buf_add_char(&patch, '}');
    TRY(client_patch(kubelet->client, &core_v1_node_kind, STR(""), kubelet->node_name, STR("status"),
                     CLIENT_PATCH_STRATEGIC, buf_str(&patch), NULL, arena, &answer));
    keep_reported(agent, &((struct core_v1_node *)answer)->status);
    return NULL;
}

static struct status *report(struct node_agent *agent)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct core_v1_node_status wanted;
    const struct core_v1_node *in_cache = node_agent_node(agent);

    if (in_cache != NULL) {
        /* Others write conditions, and a person may have spoilt ours. */
        int64_t reported_at = agent->reported_at;

        keep_reported(agent, &in_cache->status);
        agent->reported_at = reported_at;
    }
    struct core_v1_node_status *before = schema_copy(arena, &core_v1_node_status_type, agent->reported);

    make_status(agent, arena, before, &wanted);
    bool is_due = env_mono() - agent->reported_at >= agent->kubelet->options.node_status_report_frequency;

    if (!is_due && agent->was_reported && !node_status_differs(arena, before, &wanted)) {
        return NULL;
    }
    TRY(patch_status(agent, &wanted, arena));
    tell_conditions(agent, agent->was_reported ? before : NULL, &wanted);
    agent->was_reported = true;
    agent->reported_at = env_mono();
    return NULL;
}

/* A runtime that makes its network's configuration itself needs to know the node's addresses for pods. */
static void tell_pod_cidr(struct node_agent *agent)
{
    const struct core_v1_node *node = node_agent_node(agent);
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str cidr = node == NULL ? STR("") : arena_str(arena, node->spec.pod_cidr);

    if (cidr.n == 0 || str_eq(cidr, agent->pod_cidr)) {
        return;
    }
    struct cri_v1_network_config network = {.pod_cidr = cidr};
    struct cri_v1_runtime_config config = {.network_config = &network};
    struct cri_v1_update_runtime_config_request request = {.runtime_config = &config};
    struct cri_v1_update_runtime_config_response *response;
    struct status *error = cri_update_runtime_config(agent->kubelet->cri, &request, arena, &response);

    if (error == NULL || status_is(error, STATUS_METHOD_NOT_ALLOWED)) {
        agent->pod_cidr = arena_str(agent->kubelet->arena, cidr);
    } else {
        log_warn("telling the runtime the pod CIDR %.*s: %.*s", STR_ARG(cidr), STR_ARG(error->message));
    }
    status_free(error);
}

static void complain(const char *what, struct status *error)
{
    if (error != NULL && !status_is(error, STATUS_CANCELLED)) {
        log_warn("%s: %.*s", what, STR_ARG(error->message));
    }
    status_free(error);
}

static bool register_until_done(struct node_agent *agent)
{
    int64_t delay = 100 * ENV_MS;

    while (!agent->is_registered) {
        struct status *error = register_node(agent);

        agent->is_registered = error == NULL;
        if (error != NULL) {
            complain("registering the node", error);
            if (!task_sleep(delay)) {
                return false;
            }
            delay = MIN(delay * 2, REGISTER_TRIES_SECONDS_MAX * ENV_SECOND);
        }
    }
    return true;
}

static void status_task(void *arg)
{
    struct node_agent *agent = arg;
    struct kubelet *kubelet = agent->kubelet;

    if (kubelet->options.register_node && !register_until_done(agent)) {
        return;
    }
    informer_start(agent->informer);
    if (!informer_wait_synced(agent->informer)) {
        return;
    }
    node_event(kubelet, "Normal", "Starting", "Starting kubelet.");
    node_event(kubelet, "Normal", "NodeAllocatableEnforced", "Updated Node Allocatable limit across pods");
    while (!task_is_cancelled()) {
        agent->is_wanted = false;
        struct status *error = agent->reported == NULL && node_agent_node(agent) == NULL ? NULL : report(agent);

        if (status_is(error, STATUS_NOT_FOUND) && kubelet->options.register_node) {
            agent->is_registered = false; /* somebody deleted it */
            status_free(TAKE(error));
            register_until_done(agent);
            continue;
        }
        complain("reporting the node's status", error);
        tell_pod_cidr(agent);
        if (!agent->is_wanted || error != NULL) {
            cond_wait(&agent->changed, env_mono() + kubelet->options.node_status_update_frequency);
        }
    }
}

static struct status *make_lease(struct node_agent *agent, struct arena *arena, struct coordination_v1_lease **ret)
{
    struct kubelet *kubelet = agent->kubelet;
    struct coordination_v1_lease *lease = ARENA_NEW(arena, struct coordination_v1_lease);
    void *found;
    struct status *error = client_get(kubelet->client, &coordination_v1_lease_kind, STR("kube-node-lease"),
                                      kubelet->node_name, arena, &found);

    if (error == NULL) {
        *ret = found;
        return NULL;
    }
    if (!status_free_if(&error, STATUS_NOT_FOUND)) {
        return error;
    }
    lease->metadata.name = kubelet->node_name;
    lease->metadata.namespace = STR("kube-node-lease");
    const struct core_v1_node *node = node_agent_node(agent);

    if (node != NULL) {
        *LIST_ADD(arena, &lease->metadata.owner_references) =
            (struct meta_v1_owner_reference){.api_version = STR("v1"),
                                             .kind = STR("Node"),
                                             .name = kubelet->node_name,
                                             .uid = arena_str(arena, node->metadata.uid)};
    }
    *ret = lease;
    return NULL;
}

/* An update of what we wrote last, without reading it first; after a conflict or a loss it is read again. */
static struct status *renew(struct node_agent *agent)
{
    struct kubelet *kubelet = agent->kubelet;
    struct arena *arena = arena_new();
    struct coordination_v1_lease *lease = NULL;
    struct timestamp now = timestamp_now_micro();
    int32_t seconds = (int32_t)kubelet->options.node_lease_seconds;
    void *answer;
    struct status *error = NULL;

    if (agent->lease != NULL) {
        lease = schema_copy(arena, &coordination_v1_lease_type, agent->lease);
    } else {
        error = make_lease(agent, arena, &lease);
    }
    if (error == NULL) {
        lease->spec.holder_identity = &kubelet->node_name;
        lease->spec.lease_duration_seconds = &seconds;
        lease->spec.renew_time = &now;
        error = lease->metadata.resource_version.n == 0
                    ? client_create(kubelet->client, &coordination_v1_lease_kind, lease, NULL, arena, &answer)
                    : client_update(kubelet->client, &coordination_v1_lease_kind, STR(""), lease, NULL, arena, &answer);
    }
    arena_free(agent->lease_arena);
    agent->lease_arena = NULL;
    agent->lease = NULL;
    if (error != NULL) {
        arena_free(arena);
        return error;
    }
    agent->lease_arena = arena;
    agent->lease = answer;
    return NULL;
}

static void lease_task(void *arg)
{
    struct node_agent *agent = arg;
    int64_t period = agent->kubelet->options.node_lease_seconds * ENV_SECOND / 4, retry = 200 * ENV_MS;

    if (!informer_wait_synced(agent->informer)) {
        return;
    }
    for (int64_t delay = period; !task_is_cancelled(); delay = period) {
        struct status *error = renew(agent);

        if (error == NULL) {
            retry = 200 * ENV_MS;
        } else {
            complain("renewing the node's lease", error);
            delay = retry;
            retry = MIN(retry * 2, 7 * ENV_SECOND);
        }
        task_sleep(delay);
    }
}

void node_agent_start(struct node_agent *agent)
{
    if (agent->informer != NULL) {
        task_group_spawn(&agent->kubelet->tasks, "node-status", status_task, agent);
        task_group_spawn(&agent->kubelet->tasks, "node-lease", lease_task, agent);
    }
}
