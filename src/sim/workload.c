#include "sim/workload.h"

#include "api/apps_v1.h"
#include "api/core_v1.h"
#include "api/kinds.h"
#include "base/env.h"
#include "schema/int_or_string.h"
#include "schema/map_of.h"
#include "schema/quantity.h"
#include "sim/checker.h"

#define PAUSE_MAX (8 * ENV_SECOND)

enum { REPLICAS_MAX = 9 };

struct user {
    struct sim *sim;
    struct client *client;
    struct arena *arena;
    const struct kind *deployments, *pods;
};

static int32_t below(uint32_t bound)
{
    return (int32_t)env_random_below(bound);
}

static struct str pick_name(struct user *user)
{
    return arena_printf(user->arena, "app-%d", below(WORKLOAD_NAMES));
}

/* So much that the largest workload fits, if nothing is given away twice; one of the names needs more than the others. */
static void request_cpu(struct user *user, struct str name, struct core_v1_container *container)
{
    int64_t milli = SIM_NODE_CPUS * 1000 * (int64_t)user->sim->node_count / (str_is(name, "app-0") ? 25 : 128);

    quantity_map_set(user->arena, &container->resources.requests, CORE_V1_RESOURCE_CPU,
                     quantity_of_milli(user->arena, milli, QUANTITY_DECIMAL_SI));
}

static struct status *make_named(struct user *user, struct str name)
{
    struct apps_v1_deployment deployment = {0};
    struct meta_v1_label_selector selector = {0};
    struct apps_v1_rolling_update_deployment rolling = {0};
    struct int_or_string surge, unavailable;
    int32_t replicas = below(REPLICAS_MAX + 1);

    surge = int_or_string_of(below(3));
    unavailable = int_or_string_of(surge.number == 0 ? 1 + below(2) : below(3));
    deployment.metadata.name = name;
    deployment.metadata.namespace = STR("default");
    deployment.spec.replicas = &replicas;
    str_map_set(user->arena, &selector.match_labels, STR("app"), name);
    deployment.spec.selector = &selector;
    deployment.spec.template.metadata.labels = selector.match_labels;
    struct core_v1_container *container = LIST_ADD(user->arena, &deployment.spec.template.spec.containers);

    container->name = STR("main");
    container->image = STR("nginx:1");
    request_cpu(user, name, container);
    if (below(4) == 0) {
        deployment.spec.strategy.type = STR("Recreate");
    } else {
        rolling.max_surge = &surge;
        rolling.max_unavailable = &unavailable;
        deployment.spec.strategy.type = STR("RollingUpdate");
        deployment.spec.strategy.rolling_update = &rolling;
    }
    return client_create(user->client, user->deployments, &deployment, NULL, user->arena, NULL);
}

static struct status *make(struct user *user)
{
    return make_named(user, pick_name(user));
}

static struct status *patch(struct user *user, enum client_patch_type type, struct str text)
{
    return client_patch(user->client, user->deployments, STR("default"), pick_name(user), STR(""), type, text, NULL,
                        user->arena, NULL);
}

static struct status *scale(struct user *user)
{
    return patch(user, CLIENT_PATCH_MERGE,
                 arena_printf(user->arena, "{\"spec\":{\"replicas\":%d}}", below(REPLICAS_MAX + 1)));
}

static struct status *change_image(struct user *user)
{
    return patch(user, CLIENT_PATCH_STRATEGIC,
                 arena_printf(user->arena, "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":"
                              "\"nginx:%d\"}]}}}}", 1 + below(4)));
}

static struct status *delete_deployment(struct user *user)
{
    static const char *const ways[] = {"Background", "Foreground"};
    const struct client_delete_options options = {.propagation = str_of(ways[below(2)])};

    return client_delete(user->client, user->deployments, STR("default"), pick_name(user), &options);
}

/* The new one comes while what the old one had is still there. */
static struct status *replace(struct user *user)
{
    struct str name = pick_name(user);

    TRY(client_delete(user->client, user->deployments, STR("default"), name, NULL));
    return make_named(user, name);
}

/* One of the pods; NULL when there is none. */
static struct status *pick_pod(struct user *user, const struct core_v1_pod **ret)
{
    void *list;

    TRY(client_list(user->client, user->pods, STR("default"), NULL, user->arena, &list));
    const struct core_v1_pod_list *pods = list;

    *ret = pods->items.len > 0 ? &pods->items.items[below((uint32_t)pods->items.len)] : NULL;
    return NULL;
}

/* Another scheduler, which comes late: what has a node is to keep it. */
static struct status *bind_again(struct user *user)
{
    const struct core_v1_pod *pod;
    struct core_v1_binding binding = {0};

    TRY(pick_pod(user, &pod));
    if (pod == NULL || pod->spec.node_name.n == 0) {
        return NULL;
    }
    binding.metadata.name = pod->metadata.name;
    binding.target.kind = STR("Node");
    binding.target.name = arena_printf(user->arena, "node-%d", below((uint32_t)user->sim->node_count));
    return client_create_sub(user->client, user->pods, STR("default"), pod->metadata.name, STR("binding"),
                             &core_v1_binding_kind, &binding, user->arena, NULL);
}

static struct status *delete_pod(struct user *user)
{
    const struct core_v1_pod *pod;

    TRY(pick_pod(user, &pod));
    if (pod == NULL) {
        return NULL;
    }
    checker_expect_deletion(user->sim->checker, pod->metadata.uid);
    return client_delete(user->client, user->pods, STR("default"), pod->metadata.name, NULL);
}

static struct status *act(struct user *user)
{
    int32_t what = below(21);

    return what < 6    ? make(user)
           : what < 11 ? scale(user)
           : what < 15 ? change_image(user)
           : what < 17 ? delete_pod(user)
           : what < 19 ? replace(user)
           : what < 20 ? bind_again(user)
                       : delete_deployment(user);
}

static struct status *make_service(struct user *user, struct str name)
{
    struct core_v1_service service = {0};
    struct core_v1_service_port port = {.port = 80};

    service.metadata.namespace = STR("default");
    service.metadata.name = name;
    str_map_set(user->arena, &service.spec.selector, STR("app"), name);
    service.spec.ports.items = &port;
    service.spec.ports.len = 1;
    return client_create(user->client, &core_v1_service_kind, &service, NULL, user->arena, NULL);
}

/* Less than all Deployments want at most while they roll, more than they want in the end. */
static struct status *make_quota(struct user *user)
{
    struct core_v1_resource_quota quota = {0};

    quota.metadata.namespace = STR("default");
    quota.metadata.name = STR("pods");
    quantity_map_set(user->arena, &quota.spec.hard, CORE_V1_RESOURCE_PODS,
                     quantity_of(user->arena, WORKLOAD_PODS_MAX, QUANTITY_DECIMAL_SI));
    return client_create(user->client, &core_v1_resource_quota_kind, &quota, NULL, user->arena, NULL);
}

/* The quota, then a Service for each Deployment there may be; each until it is there. */
static void prepare(struct user *user, int64_t until)
{
    for (int32_t i = -1; i < WORKLOAD_NAMES && env_mono() < until;) {
        OWNED(status_freep) struct status *status =
            i < 0 ? make_quota(user) : make_service(user, arena_printf(user->arena, "app-%d", i));

        i += status == NULL || status_is(status, STATUS_ALREADY_EXISTS);
        arena_reset(user->arena);
        if (!task_sleep(100 * ENV_MS)) {
            return;
        }
    }
}

void workload_run(struct sim *sim, int64_t until)
{
    struct user user = {
        .sim = sim,
        .client = sim_client(sim, "user"),
        .arena = arena_new(),
        .deployments = kind_find_resource(STR("apps"), STR("v1"), STR("deployments")),
        .pods = kind_find_resource(STR(""), STR("v1"), STR("pods")),
    };

    prepare(&user, until);
    while (env_mono() < until && task_sleep((int64_t)env_random_below(PAUSE_MAX))) {
        status_free(act(&user));
        arena_reset(user.arena);
    }
    arena_free(user.arena);
    client_free(user.client);
}
