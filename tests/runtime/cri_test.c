/* Real pods by CRI: sandbox, network, containers, logs, commands, and what is left when all is over: nothing. */
#include "test.h"

#include "node.h"

#include "base/env.h"
#include "base/task.h"

static void one_pod(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *config = node_pod(node);
    struct str pod = node_run_pod(node, config);
    struct cri_v1_pod_sandbox_status *status = node_pod_status(node, pod);
    struct str container = node_create(
        node, pod, config,
        node_container(node, "main", "echo hello $(hostname) $FROM_IMAGE; echo oops >&2; cat /etc/hostname; ip -4 -o "
                                     "addr show eth0 | awk '{print $4}'; ping -c1 -W2 10.42.1.1 | grep -c ' 0% packet'; "
                                     "exec sleep 1000"));

    CHECK_INT(status->state, CRI_V1_POD_SANDBOX_STATE_SANDBOX_READY);
    CHECK(str_has_prefix(status->network->ip, STR("10.42.1.")));
    CHECK_INT(node_status(node, container)->state, CRI_V1_CONTAINER_STATE_CONTAINER_CREATED);
    node_start(node, container);
    CHECK_INT(node_status(node, container)->state, CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING);
    struct cri_v1_exec_sync_response ran = node_exec(node, container, "echo out; echo err >&2; exit 7");

    CHECK_STR(ran.stdout, "out\n");
    CHECK_STR(ran.stderr, "err\n");
    CHECK_INT(ran.exit_code, 7);
    struct str log = node_wait_log(node, container, STR("stdout F 1\n"));

    CHECK(str_contains(log, STR("stdout F hello pod-1 yes\n")));
    CHECK(str_contains(log, STR("stderr F oops\n")));
    /* Line by line: where stderr's falls between those of stdout is open. */
    CHECK(str_contains(log, STR("stdout F pod-1\n")));
    CHECK(str_contains(log, arena_printf(node->arena, "stdout F %.*s/32\n", STR_ARG(status->network->ip))));
    struct cri_v1_stop_container_request stop = {.container_id = container, .timeout = 1};
    struct cri_v1_stop_container_response stopped = {0};

    node_call(node, &cri_v1_runtime_service_stop_container_rpc, &stop, &stopped);
    CHECK_INT(node_status(node, container)->state, CRI_V1_CONTAINER_STATE_CONTAINER_EXITED);
    CHECK_INT(node_status(node, container)->exit_code, 137); /* sleep as PID 1 does not heed SIGTERM */
    node_remove_pod(node, pod);
}

TEST("cri/a pod runs, has an address, and leaves nothing behind")
{
    node_run(one_pod);
}

/* Our own plugin is run without exec; anybody else's program, as this script is one, is executed. */
static void foreign(void *arg)
{
    struct node *node = arg;
    struct str own = node_run_pod(node, node_pod(node));

    node_shell("[ -L " NODE_ROOT "/cni/c8s-cni ] && mkdir " NODE_ROOT "/real && mv " NODE_ROOT "/cni/c8s-cni " NODE_ROOT
               "/real/ && printf '#!/bin/sh\\necho $CNI_COMMAND $CNI_IFNAME >> " NODE_ROOT "/called\\nexec " NODE_ROOT
               "/real/c8s-cni\\n' > " NODE_ROOT "/cni/c8s-cni && chmod +x " NODE_ROOT "/cni/c8s-cni");
    struct str other = node_run_pod(node, node_pod(node));

    CHECK(node_pod_status(node, other)->network->ip.n > 0);
    node_remove_pod(node, other);
    node_remove_pod(node, own);
    node_shell("[ \"$(cat " NODE_ROOT "/called | tr '\\n' ' ')\" = 'ADD eth0 DEL eth0 DEL eth0 ' ]");
}

TEST("cri/network plugins of others are executed")
{
    node_run(foreign);
}
