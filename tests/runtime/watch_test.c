/* What is told of pods without being done to them: events and use. */
#include "test.h"

#include "node.h"

#include "base/env.h"
#include "base/task.h"

static void next(struct node *node, struct grpc_stream *events, struct cri_v1_container_event_response *ret)
{
    bool more = false;

    *ret = (struct cri_v1_container_event_response){0};
    CHECK_OK(grpc_stream_next(events, node->arena, ret, &more));
    CHECK(more);
}

static void told(void *arg)
{
    struct node *node = arg;
    struct cri_v1_get_events_request request = {0};
    struct cri_v1_container_event_response event;
    struct grpc_stream *events;
    struct cri_v1_pod_sandbox_config *config = node_pod(node);

    CHECK_OK(grpc_stream_open(node->client, &cri_v1_runtime_service_get_container_events_rpc, &request, &events));
    task_sleep(100 * ENV_MS); /* it has been taken note of */
    struct str pod = node_run_pod(node, config);
    struct str container = node_create(node, pod, config, node_container(node, "main", "exit 3"));

    node_start(node, container);
    static const int32_t expected[] = {
        CRI_V1_CONTAINER_EVENT_TYPE_CONTAINER_CREATED_EVENT, CRI_V1_CONTAINER_EVENT_TYPE_CONTAINER_STARTED_EVENT,
        CRI_V1_CONTAINER_EVENT_TYPE_CONTAINER_CREATED_EVENT, CRI_V1_CONTAINER_EVENT_TYPE_CONTAINER_STARTED_EVENT,
        CRI_V1_CONTAINER_EVENT_TYPE_CONTAINER_STOPPED_EVENT};

    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        next(node, events, &event);
        CHECK_INT(event.container_event_type, expected[i]);
        CHECK_STR(event.container_id, arena_cstr(node->arena, i < 2 ? pod : container));
        CHECK_STR(event.pod_sandbox_status->metadata->name, "pod-1");
    }
    CHECK_INT(event.containers_statuses.len, 1);
    CHECK_INT(event.containers_statuses.items[0].exit_code, 3);
    grpc_stream_close(events);
    node_remove_pod(node, pod);
}

TEST("watch/events come in order")
{
    node_run(told);
}

static void used(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *config = node_pod(node);
    struct str pod = node_run_pod(node, config);
    struct cri_v1_container_config *wanted =
        node_container(node, "main", "head -c 3m /dev/zero > /written; ping -c1 10.42.1.1 >/dev/null; echo done; "
                                     "while :; do :; done");

    wanted->linux_->resources = ARENA_NEW(node->arena, struct cri_v1_linux_container_resources);
    wanted->linux_->resources->memory_limit_in_bytes = 64 << 20;
    struct str container = node_create(node, pod, config, wanted);
    struct cri_v1_list_container_stats_request request = {0};
    struct cri_v1_list_container_stats_response first = {0}, second = {0};
    struct cri_v1_pod_sandbox_stats_request pod_request = {.pod_sandbox_id = pod};
    struct cri_v1_pod_sandbox_stats_response pod_stats = {0};

    node_start(node, container);
    node_wait_log(node, container, STR("done"));
    node_call(node, &cri_v1_runtime_service_list_container_stats_rpc, &request, &first);
    task_sleep(300 * ENV_MS);
    node_call(node, &cri_v1_runtime_service_list_container_stats_rpc, &request, &second);
    CHECK_INT(second.stats.len, 1);
    struct cri_v1_container_stats *stats = &second.stats.items[0];

    CHECK_STR(stats->attributes->metadata->name, "main");
    CHECK(stats->cpu->usage_core_nano_seconds->value > first.stats.items[0].cpu->usage_core_nano_seconds->value);
    CHECK(stats->cpu->usage_nano_cores->value > 1000000); /* it does nothing but compute */
    CHECK(stats->memory->working_set_bytes->value > 0);
    CHECK(stats->memory->available_bytes->value <= 64 << 20);
    CHECK(stats->writable_layer->used_bytes->value >= 3 << 20);
    node_call(node, &cri_v1_runtime_service_pod_sandbox_stats_rpc, &pod_request, &pod_stats);
    CHECK(pod_stats.stats->linux_->cpu->usage_core_nano_seconds->value >=
          stats->cpu->usage_core_nano_seconds->value);
    CHECK_STR(pod_stats.stats->linux_->network->default_interface->name, "eth0");
    CHECK(pod_stats.stats->linux_->network->default_interface->tx_bytes->value > 0);
    CHECK(pod_stats.stats->linux_->process->process_count->value >= 2);
    CHECK_INT(pod_stats.stats->linux_->containers.len, 1);
    node_remove_pod(node, pod);
}

TEST("watch/use of processor, memory, network and disk")
{
    node_run(used);
}
