/* The whole kubelet without an API server, on a runtime and a machine in memory and a virtual clock. */
#include "test.h"

#include "api/pod_condition.h"
#include "base/env.h"
#include "kubelet/context.h"
#include "kubelet/memory_cri.h"
#include "kubelet/pod_workers.h"
#include "kubelet/runtime_fetch.h"
#include "kubelet/status_manager.h"
#include "schema/json.h"
#include "schema/map_of.h"

struct world {
    struct cri *cri;
    struct host *host;
    struct kubelet *kubelet;
};

static void begin_kubelet(struct world *world)
{
    struct kubelet_options options;

    kubelet_options_default(&options);
    options.node_name = STR("node1");
    options.node_ip = STR("10.0.0.1");
    options.resolv_conf = STR("");
    world->kubelet = kubelet_new(&options, NULL, world->cri, world->host);
    CHECK_OK(kubelet_start(world->kubelet));
}

static void end_kubelet(struct world *world)
{
    kubelet_stop(world->kubelet);
    kubelet_free(world->kubelet);
    world->kubelet = NULL;
}

static void begin(struct world *world)
{
    world->cri = memory_cri_new();
    world->host = memory_host_new();
    memory_cri_add_image(world->cri, STR("busybox:latest"));
    begin_kubelet(world);
}

static void end(struct world *world)
{
    end_kubelet(world);
    cri_free(world->cri);
    host_free(world->host);
}

/* A pod with UID and name "p", and this spec. */
static void give(struct world *world, const char *metadata, const char *spec)
{
    struct arena *arena = arena_new();
    struct core_v1_pod *pod = ARENA_NEW(arena, struct core_v1_pod);
    struct str text = arena_printf(arena,
                                   "{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\",\"uid\":\"p\"%s},"
                                   "\"spec\":{\"nodeName\":\"node1\",%s}}",
                                   metadata, spec);

    CHECK_OK(json_decode(arena, &core_v1_pod_type, text, pod, NULL));
    struct pod_ref *ref = pod_ref_of_arena(arena, pod);

    pod_workers_update(world->kubelet->workers, ref);
    pod_unref(ref);
}

#define CONTAINER(name) "{\"name\":\"" name "\",\"image\":\"busybox\",\"imagePullPolicy\":\"IfNotPresent\"}"

static const struct core_v1_pod_status *status_of(struct world *world)
{
    const struct core_v1_pod_status *status = status_manager_find(world->kubelet->statuses, STR("p"));

    CHECK(status != NULL);
    return status;
}

static int32_t state_of(struct world *world, const char *name)
{
    struct memory_container container;

    return memory_cri_find(world->cri, STR("p"), str_of(name), &container) ? container.state : -1;
}

static bool runs(struct world *world, const char *name)
{
    return state_of(world, name) == CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING;
}

static bool is_ready(const struct core_v1_pod_status *status)
{
    LIST_EACH (condition, &status->conditions) {
        if (str_is(condition->type, "Ready")) {
            return str_is(condition->status, "True");
        }
    }
    return false;
}

static struct str waiting_reason(struct world *world)
{
    const struct core_v1_pod_status *status = status_of(world);

    CHECK(status->container_statuses.len == 1);
    return status->container_statuses.items[0].state.waiting != NULL
               ? status->container_statuses.items[0].state.waiting->reason
               : STR("");
}

static void wait_ms(int64_t milliseconds)
{
    CHECK(task_sleep(milliseconds * ENV_MS));
}

static void in_order(void *arg)
{
    struct world world;

    (void)arg;
    begin(&world);
    give(&world, "",
         "\"initContainers\":[" CONTAINER("first") ",{\"name\":\"side\",\"image\":\"busybox\",\"imagePullPolicy\":"
         "\"IfNotPresent\",\"restartPolicy\":\"Always\"}],\"containers\":[" CONTAINER("main") "]");
    wait_ms(100);
    CHECK(runs(&world, "first"));
    CHECK_INT(state_of(&world, "side"), -1);
    CHECK_INT(state_of(&world, "main"), -1);
    CHECK_STR(status_of(&world)->phase, "Pending");
    CHECK(memory_cri_exit(world.cri, STR("p"), STR("first"), 0));
    wait_ms(100);
    CHECK(runs(&world, "side"));
    CHECK(runs(&world, "main"));
    CHECK_STR(status_of(&world)->phase, "Running");
    CHECK(is_ready(status_of(&world)));
    CHECK(status_of(&world)->pod_ip.n > 0);
    CHECK_STR(status_of(&world)->host_ip, "10.0.0.1");
    CHECK_INT(memory_cri_sandboxes(world.cri), 1);
    end(&world);
}

TEST("kubelet/pod_workers/start init containers, sidecars and containers in order")
{
    test_run_task(in_order, NULL);
}

static void crashing(void *arg)
{
    struct world world;

    (void)arg;
    begin(&world);
    give(&world, "", "\"containers\":[" CONTAINER("c") "]");
    wait_ms(100);
    CHECK(memory_cri_exit(world.cri, STR("p"), STR("c"), 3));
    wait_ms(100);
    CHECK(runs(&world, "c")); /* the first time at once */
    CHECK_INT(status_of(&world)->container_statuses.items[0].restart_count, 1);
    CHECK(memory_cri_exit(world.cri, STR("p"), STR("c"), 3));
    wait_ms(5000);
    CHECK(!runs(&world, "c"));
    CHECK_STR(waiting_reason(&world), "CrashLoopBackOff");
    CHECK_STR(status_of(&world)->phase, "Running");
    CHECK_INT(status_of(&world)->container_statuses.items[0].last_state.terminated->exit_code, 3);
    wait_ms(15000);
    CHECK(runs(&world, "c"));
    CHECK_INT(status_of(&world)->container_statuses.items[0].restart_count, 2);
    CHECK(memory_cri_containers(world.cri) <= 3); /* of the dead only the newest are kept */
    end(&world);
}

TEST("kubelet/pod_workers/start a crashing container again, ever later")
{
    test_run_task(crashing, NULL);
}

static void job(void *arg)
{
    struct world world;

    (void)arg;
    begin(&world);
    give(&world, "", "\"restartPolicy\":\"Never\",\"containers\":[" CONTAINER("a") "," CONTAINER("b") "]");
    wait_ms(100);
    CHECK(memory_cri_exit(world.cri, STR("p"), STR("a"), 0));
    wait_ms(100);
    CHECK_STR(status_of(&world)->phase, "Running");
    CHECK(memory_cri_exit(world.cri, STR("p"), STR("b"), 0));
    wait_ms(100);
    CHECK_STR(status_of(&world)->phase, "Succeeded");
    CHECK(status_of(&world)->pod_ip.n > 0);
    CHECK_INT(memory_cri_containers(world.cri), 2); /* for their logs */
    CHECK_INT(memory_cri_running(world.cri), 0);
    pod_workers_remove(world.kubelet->workers, STR("p"));
    wait_ms(100);
    CHECK_INT(memory_cri_containers(world.cri), 0);
    CHECK_INT(memory_cri_sandboxes(world.cri), 0);
    CHECK(!pod_workers_has(world.kubelet->workers, STR("p")));
    end(&world);
}

TEST("kubelet/pod_workers/end a pod whose containers are done, and keep its logs until it is deleted")
{
    test_run_task(job, NULL);
}

static void deleting(void *arg)
{
    static const char spec[] = "\"terminationGracePeriodSeconds\":30,\"containers\":[" CONTAINER("c") "]";
    struct world world;
    struct memory_container container;

    (void)arg;
    begin(&world);
    memory_cri_set_stop_delay(world.cri, 60 * ENV_SECOND);
    give(&world, "", spec);
    wait_ms(100);
    give(&world, ",\"deletionTimestamp\":\"2030-01-01T00:00:00Z\",\"deletionGracePeriodSeconds\":30", spec);
    wait_ms(5000);
    CHECK(runs(&world, "c"));
    CHECK(memory_cri_find(world.cri, STR("p"), STR("c"), &container));
    CHECK_INT(container.stop_timeout, 30);
    /* Somebody cannot wait. */
    give(&world, ",\"deletionTimestamp\":\"2030-01-01T00:00:00Z\",\"deletionGracePeriodSeconds\":3", spec);
    wait_ms(3500);
    CHECK_INT(memory_cri_running(world.cri), 0);
    CHECK_INT(memory_cri_containers(world.cri), 0);
    CHECK_STR(status_of(&world)->phase, "Failed"); /* it was killed: 137 */
    CHECK_INT(status_of(&world)->container_statuses.items[0].state.terminated->exit_code, 137);
    pod_workers_remove(world.kubelet->workers, STR("p"));
    wait_ms(100);
    CHECK(!pod_workers_has(world.kubelet->workers, STR("p")));
    end(&world);
}

TEST("kubelet/pod_workers/stop a deleted pod in its grace period, or sooner when that is made shorter")
{
    test_run_task(deleting, NULL);
}

static void restarting(void *arg)
{
    static const char spec[] = "\"containers\":[" CONTAINER("c") "]";
    struct world world;
    struct memory_container before, after;

    (void)arg;
    begin(&world);
    give(&world, "", spec);
    wait_ms(100);
    CHECK(memory_cri_find(world.cri, STR("p"), STR("c"), &before));
    struct str id = before.id;

    end_kubelet(&world);
    wait_ms(60000);
    CHECK(runs(&world, "c"));
    begin_kubelet(&world);
    give(&world, "", spec);
    wait_ms(1000);
    CHECK(memory_cri_find(world.cri, STR("p"), STR("c"), &after));
    CHECK(str_eq(after.id, id));
    CHECK_INT(memory_cri_containers(world.cri), 1);
    CHECK(is_ready(status_of(&world)));
    end_kubelet(&world);
    begin_kubelet(&world); /* now without the pod: it was deleted while nobody looked */
    wait_ms(60000);
    CHECK_INT(memory_cri_containers(world.cri), 0);
    CHECK_INT(memory_cri_sandboxes(world.cri), 0);
    end(&world);
}

TEST("kubelet/pod_workers/leave containers running over a restart, and remove those of pods that vanished")
{
    test_run_task(restarting, NULL);
}

static void no_image(void *arg)
{
    struct world world;

    (void)arg;
    begin(&world);
    give(&world, "", "\"containers\":[{\"name\":\"c\",\"image\":\"other\",\"imagePullPolicy\":\"IfNotPresent\"}]");
    wait_ms(100);
    CHECK_STR(waiting_reason(&world), "ErrImagePull");
    wait_ms(5000);
    CHECK_STR(waiting_reason(&world), "ImagePullBackOff");
    CHECK_STR(status_of(&world)->phase, "Pending");
    memory_cri_add_image(world.cri, STR("other:latest"));
    wait_ms(30000);
    CHECK(runs(&world, "c"));
    CHECK(is_ready(status_of(&world)));
    end(&world);
}

TEST("kubelet/pod_workers/wait for an image that cannot be pulled yet")
{
    test_run_task(no_image, NULL);
}

static void unhealthy(void *arg)
{
    struct world world;

    (void)arg;
    begin(&world);
    give(&world, "",
         "\"containers\":[{\"name\":\"c\",\"image\":\"busybox\",\"imagePullPolicy\":\"IfNotPresent\",\"livenessProbe\":"
         "{\"exec\":{\"command\":[\"true\"]},\"periodSeconds\":1,\"failureThreshold\":3},\"readinessProbe\":{\"exec\":"
         "{\"command\":[\"true\"]},\"periodSeconds\":1,\"failureThreshold\":1}}]");
    wait_ms(2000);
    CHECK(is_ready(status_of(&world)));
    memory_cri_set_exec(world.cri, 1, STR("no"));
    wait_ms(1500);
    CHECK(!is_ready(status_of(&world)));
    CHECK_INT(status_of(&world)->container_statuses.items[0].restart_count, 0);
    wait_ms(2500);
    CHECK_INT(status_of(&world)->container_statuses.items[0].restart_count, 1);
    wait_ms(20000); /* once it is clear that it will not help, ever later */
    CHECK(status_of(&world)->container_statuses.items[0].restart_count >= 2);
    CHECK(status_of(&world)->container_statuses.items[0].restart_count <= 3);
    memory_cri_set_exec(world.cri, 0, STR(""));
    wait_ms(60000);
    CHECK(is_ready(status_of(&world)));
    end(&world);
}

TEST("kubelet/pod_workers/take an unready pod out, and start an unhealthy container again")
{
    test_run_task(unhealthy, NULL);
}

static void lost_runtime(void *arg)
{
    struct world world;

    (void)arg;
    begin(&world);
    memory_cri_set_serving(world.cri, false);
    give(&world, "", "\"containers\":[" CONTAINER("c") "]");
    wait_ms(20000);
    CHECK_INT(memory_cri_containers(world.cri), 0);
    CHECK(!world.kubelet->is_runtime_ready);
    memory_cri_set_serving(world.cri, true);
    wait_ms(15000);
    CHECK(world.kubelet->is_runtime_ready);
    CHECK(runs(&world, "c"));
    memory_cri_set_serving(world.cri, false);
    CHECK(memory_cri_exit(world.cri, STR("p"), STR("c"), 1)); /* while nobody is told */
    wait_ms(5000);
    memory_cri_set_serving(world.cri, true);
    wait_ms(15000);
    CHECK(runs(&world, "c"));
    CHECK_INT(status_of(&world)->container_statuses.items[0].restart_count, 1);
    end(&world);
}

TEST("kubelet/pod_workers/go on when a runtime that was away is back")
{
    test_run_task(lost_runtime, NULL);
}

static void no_events(void *arg)
{
    struct world world;

    (void)arg;
    world.cri = memory_cri_new();
    world.host = memory_host_new();
    memory_cri_add_image(world.cri, STR("busybox:latest"));
    memory_cri_set_events(world.cri, false);
    begin_kubelet(&world);
    give(&world, "", "\"containers\":[" CONTAINER("c") "]");
    wait_ms(3000);
    CHECK(runs(&world, "c"));
    CHECK(memory_cri_exit(world.cri, STR("p"), STR("c"), 1));
    wait_ms(1500);
    CHECK(runs(&world, "c"));
    CHECK_INT(status_of(&world)->container_statuses.items[0].restart_count, 1);
    end(&world);
}

TEST("kubelet/pod_workers/see a container end under a runtime that tells no events")
{
    test_run_task(no_events, NULL);
}

static void late(void *arg)
{
    struct world world;

    (void)arg;
    begin(&world);
    give(&world, "", "\"activeDeadlineSeconds\":10,\"containers\":[" CONTAINER("c") "]");
    wait_ms(5000);
    CHECK(runs(&world, "c"));
    wait_ms(10000);
    CHECK(!runs(&world, "c"));
    CHECK_STR(status_of(&world)->phase, "Failed");
    CHECK_STR(status_of(&world)->reason, "DeadlineExceeded");
    CHECK_STR(status_of(&world)->message, "Pod was active on the node longer than the specified deadline");
    end(&world);
}

TEST("kubelet/pod_workers/fail a pod that runs past its deadline")
{
    test_run_task(late, NULL);
}

static void new_sandbox(void *arg)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct world world;
    struct memory_container before, after;
    struct cri_v1_stop_pod_sandbox_response *response;

    (void)arg;
    begin(&world);
    give(&world, "", "\"containers\":[" CONTAINER("c") "]");
    wait_ms(100);
    CHECK(memory_cri_find(world.cri, STR("p"), STR("c"), &before));
    struct cri_v1_stop_pod_sandbox_request request = {.pod_sandbox_id = before.sandbox_id};

    CHECK_OK(cri_stop_pod_sandbox(world.cri, &request, arena, &response));
    wait_ms(15000);
    CHECK(runs(&world, "c"));
    CHECK(memory_cri_find(world.cri, STR("p"), STR("c"), &after));
    CHECK(!str_eq(after.sandbox_id, request.pod_sandbox_id));
    CHECK(is_ready(status_of(&world)));
    end(&world);
}

TEST("kubelet/pod_workers/make a new sandbox in the place of one that died")
{
    test_run_task(new_sandbox, NULL);
}

static void too_big(void *arg)
{
    struct world world;

    (void)arg;
    begin(&world);
    give(&world, "",
         "\"containers\":[{\"name\":\"c\",\"image\":\"busybox\",\"resources\":{\"requests\":{\"cpu\":\"1000\"}}}]");
    wait_ms(1000);
    CHECK_STR(status_of(&world)->phase, "Failed");
    CHECK_STR(status_of(&world)->reason, "OutOfcpu");
    CHECK(str_has_prefix(status_of(&world)->message,
                         STR("Pod was rejected: Node didn't have enough resource: cpu, requested: 1000000, used: 0, "
                             "capacity: ")));
    CHECK_INT(memory_cri_sandboxes(world.cri), 0);
    end(&world);
}

TEST("kubelet/pod_workers/reject a pod that does not fit")
{
    test_run_task(too_big, NULL);
}

static void full_disk(void *arg)
{
    struct world world;

    (void)arg;
    begin(&world);
    memory_host_set_full(world.host, true);
    give(&world, "", "\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}],\"containers\":[" CONTAINER("c") "]");
    wait_ms(20000);
    CHECK_INT(memory_cri_containers(world.cri), 0);
    CHECK_STR(status_of(&world)->phase, "Pending");
    memory_host_set_full(world.host, false);
    wait_ms(15000);
    CHECK(runs(&world, "c"));
    end(&world);
}

TEST("kubelet/pod_workers/start a pod once there is room on the disk again")
{
    test_run_task(full_disk, NULL);
}

static void low_memory(void *arg)
{
    struct world world;
    struct host_usage usage = {.memory_capacity = INT64_C(8) << 30, .memory_available = INT64_C(4) << 30,
                               .pids_max = 32768, .pids = 100};

    (void)arg;
    begin(&world);
    memory_host_set_usage(world.host, &usage);
    give(&world, "", "\"containers\":[" CONTAINER("c") "]");
    wait_ms(15000);
    CHECK(runs(&world, "c"));
    usage.memory_available = 50 << 20;
    memory_host_set_usage(world.host, &usage);
    wait_ms(15000);
    CHECK(!runs(&world, "c"));
    CHECK_STR(status_of(&world)->phase, "Failed");
    CHECK_STR(status_of(&world)->reason, "Evicted");
    CHECK_STR(status_of(&world)->message,
              "The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. ");
    end(&world);
}

TEST("kubelet/pod_workers/evict a pod when memory runs out")
{
    test_run_task(low_memory, NULL);
}

static void unused_images(void *arg)
{
    struct world world;
    struct host_fs_usage fs = {.capacity = INT64_C(100) << 20, .available = INT64_C(90) << 20, .inodes = 1000,
                               .inodes_free = 900};

    (void)arg;
    begin(&world);
    memory_host_set_fs_usage(world.host, &fs);
    memory_cri_add_image(world.cri, STR("old:latest"));
    give(&world, "", "\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\",\"image\":\"old\"}]");
    wait_ms(1000);
    CHECK(memory_cri_exit(world.cri, STR("p"), STR("c"), 0));
    pod_workers_remove(world.kubelet->workers, STR("p"));
    wait_ms(400000);
    CHECK(memory_cri_has_image(world.cri, STR("old:latest"))); /* there is room for it */
    give(&world, "", "\"containers\":[" CONTAINER("c") "]");
    wait_ms(1000);
    fs.available = INT64_C(14) << 20; /* above what eviction wants, below what images may take */
    memory_host_set_fs_usage(world.host, &fs);
    world.kubelet->options.eviction.len = 0;
    wait_ms(400000);
    CHECK(!memory_cri_has_image(world.cri, STR("old:latest")));
    CHECK(memory_cri_has_image(world.cri, STR("busybox:latest"))); /* a container is made of it */
    CHECK(runs(&world, "c"));
    end(&world);
}

TEST("kubelet/pod_workers/remove images that nobody uses when the disk fills up")
{
    test_run_task(unused_images, NULL);
}

#define SIZED(requests, limits, policy)                                                                             \
    "\"containers\":[{\"name\":\"c\",\"image\":\"busybox\",\"imagePullPolicy\":\"IfNotPresent\",\"resizePolicy\":["  \
    policy "],\"resources\":{\"requests\":{" requests "},\"limits\":{" limits "}}}]"

static struct str limit_told(struct world *world)
{
    const struct core_v1_container_status *status = &status_of(world)->container_statuses.items[0];
    const struct quantity *limit = quantity_map_get(&status->resources->limits, STR("cpu"));

    return limit == NULL ? STR("") : limit->text;
}

static const struct core_v1_pod_condition *pending(struct world *world)
{
    return pod_condition_find(status_of(world), STR("PodResizePending"));
}

static void resizing(void *arg)
{
    struct world world;
    struct memory_container before, after;

    (void)arg;
    begin(&world);
    give(&world, "", SIZED("\"cpu\":\"100m\"", "\"cpu\":\"200m\"", ""));
    wait_ms(1000);
    CHECK_STR(limit_told(&world), "200m");
    CHECK(memory_cri_find(world.cri, STR("p"), STR("c"), &before));
    struct str id = before.id;

    give(&world, "", SIZED("\"cpu\":\"100m\"", "\"cpu\":\"400m\"", ""));
    wait_ms(1000);
    CHECK(memory_cri_find(world.cri, STR("p"), STR("c"), &after));
    CHECK(str_eq(after.id, id));
    CHECK_INT(after.config->linux_->resources->cpu_quota, 40000);
    CHECK_STR(limit_told(&world), "400m");
    /* More than the node has: the status tells what it still is. */
    give(&world, "", SIZED("\"cpu\":\"1000\"", "\"cpu\":\"1000\"", ""));
    wait_ms(1000);
    CHECK_STR(limit_told(&world), "400m");
    CHECK(pending(&world) != NULL);
    CHECK_STR(pending(&world)->reason, "Infeasible");
    CHECK(str_has_prefix(pending(&world)->message,
                         STR("Node didn't have enough capacity: cpu, requested: 1000000, capacity: ")));
    /* Taken back; and the other way of changing it. */
    give(&world, "",
         SIZED("\"cpu\":\"100m\"", "\"cpu\":\"300m\"",
               "{\"resourceName\":\"cpu\",\"restartPolicy\":\"RestartContainer\"}"));
    wait_ms(15000);
    CHECK(pending(&world) == NULL);
    CHECK(memory_cri_find(world.cri, STR("p"), STR("c"), &after));
    CHECK(!str_eq(after.id, id));
    CHECK_INT(after.config->linux_->resources->cpu_quota, 30000);
    CHECK_STR(limit_told(&world), "300m");
    CHECK_INT(status_of(&world)->container_statuses.items[0].restart_count, 1);
    end(&world);
}

TEST("kubelet/pod_workers/give a running container other resources, or tell why not")
{
    test_run_task(resizing, NULL);
}
