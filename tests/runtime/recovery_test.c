/* The runtime is killed and started again, its shims are killed, pause processes end: what is told is what is. */
#include "test.h"

#include "node.h"

#include "base/env.h"
#include "base/task.h"

#include <signal.h>
#include <sys/wait.h>

static void stays(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *config = node_pod(node);
    struct str pod = node_run_pod(node, config), address = node_pod_status(node, pod)->network->ip;
    struct str runs = node_create(node, pod, config, node_container(node, "runs", "i=0; while :; do i=$((i+1)); echo $i; "
                                                                                  "sleep 0.05; done"));
    struct str ends = node_create(node, pod, config, node_container(node, "ends", "sleep 0.5; exit 9"));
    struct str created = node_create(node, pod, config, node_container(node, "created", "exit 4"));

    node_start(node, runs);
    node_start(node, ends);
    node_kill_runtime(node);
    task_sleep(900 * ENV_MS); /* nobody sees it end */
    node_start_runtime(node);
    struct cri_v1_container_status *status = node_status(node, ends);

    CHECK_INT(status->state, CRI_V1_CONTAINER_STATE_CONTAINER_EXITED);
    CHECK_INT(status->exit_code, 9);
    CHECK_STR(status->reason, "Error");
    CHECK(status->finished_at - status->started_at > 400 * ENV_MS);
    CHECK_INT(node_status(node, runs)->state, CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING);
    CHECK_INT(node_pod_status(node, pod)->state, CRI_V1_POD_SANDBOX_STATE_SANDBOX_READY);
    CHECK_STR(node_pod_status(node, pod)->network->ip, arena_cstr(node->arena, address));
    CHECK_STR(node_exec(node, runs, "hostname").stdout, "pod-1\n");
    node_wait_log(node, runs, STR("stdout F 20\n")); /* its log was written all the time */
    node_start(node, created);
    CHECK_INT(node_wait_exited(node, created)->exit_code, 4);
    node_remove_pod(node, pod);
}

TEST("recovery/containers go on when the runtime is killed")
{
    node_run(stays);
}

static void without_shim(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *config = node_pod(node);
    struct str pod = node_run_pod(node, config);
    struct str main = node_create(node, pod, config, node_container(node, "main", "exec sleep 1000"));

    node_start(node, main);
    pid_t shim = node_find_process("c8s-shim");

    CHECK(shim > 0);
    kill(shim, SIGKILL);
    struct cri_v1_container_status *status = node_wait_exited(node, main);

    CHECK_INT(status->exit_code, 255);
    CHECK_STR(status->reason, "Unknown");
    CHECK_INT(node_pod_status(node, pod)->state, CRI_V1_POD_SANDBOX_STATE_SANDBOX_NOTREADY);
    node_remove_pod(node, pod);
    CHECK(node_find_process("sleep") == 0);
    CHECK(node_find_process("c8s-pause") == 0);
}

TEST("recovery/a pod whose shim is killed has ended, and leaves nothing")
{
    node_run(without_shim);
}

static void without_spawner(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *config = node_pod(node);
    struct str pod = node_run_pod(node, config);
    int status;

    kill(node_find_process("c8s-spawner"), SIGKILL);
    CHECK(waitpid(node->runtime, &status, 0) == node->runtime); /* whoever watches it starts it anew */
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    node_start_runtime(node);
    CHECK_INT(node_pod_status(node, pod)->state, CRI_V1_POD_SANDBOX_STATE_SANDBOX_READY);
    node_remove_pod(node, pod);
    node_remove_pod(node, node_run_pod(node, node_pod(node)));
}

TEST("recovery/a runtime that has lost its spawner ends, to be started anew")
{
    node_run(without_spawner);
}

static void without_pause(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *config = node_pod(node);
    struct str pod = node_run_pod(node, config);
    struct str main = node_create(node, pod, config, node_container(node, "main", "exec sleep 1000"));

    node_start(node, main);
    kill(node_find_process("c8s-pause"), SIGKILL);
    for (int i = 0; node_pod_status(node, pod)->state == CRI_V1_POD_SANDBOX_STATE_SANDBOX_READY; i++) {
        CHECK(i < 500);
        task_sleep(10 * ENV_MS);
    }
    node_remove_pod(node, pod);
    CHECK(node_find_process("sleep") == 0);
}

TEST("recovery/a pod whose pause process is killed is not ready")
{
    node_run(without_pause);
}

static void swept(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *config = node_pod(node);
    struct str pod = node_run_pod(node, config);
    struct str main = node_create(node, pod, config, node_container(node, "main", "exec sleep 1000"));

    node_kill_runtime(node);
    node_shell("mkdir " NODE_ROOT "/root/containers/half && touch " NODE_ROOT "/root/containers/half/root && mkdir -p "
               NODE_ROOT "/root/sandboxes/half " NODE_ROOT "/root/images/containers/half/upper && touch " NODE_ROOT
               "/run/netns/half && mount --bind /proc/self/ns/net " NODE_ROOT "/run/netns/half");
    node_start_runtime(node);
    node_shell("[ -z \"$(find " NODE_ROOT " -name half)\" ]");
    node_start(node, main); /* what a record knows is still there */
    node_remove_pod(node, pod);
}

TEST("recovery/what was half made is removed")
{
    node_run(swept);
}
