/* Pods whose RuntimeClass asks for an OCI runtime: Debian's runc. */
#include "test.h"

#include "node.h"

#include "base/env.h"
#include "base/task.h"

#include <signal.h>

#define RUNC STR("runc")

/* Whom runc made has runc's state in its directory, and for its life a process that watches it. */
#define STATE_OF "ls " NODE_ROOT "/root/containers/*/oci/*/state.json >/dev/null 2>&1"

static void stop(struct node *node, struct str container, int64_t grace)
{
    struct cri_v1_stop_container_request request = {.container_id = container, .timeout = grace};
    struct cri_v1_stop_container_response answer = {0};

    node_call(node, &cri_v1_runtime_service_stop_container_rpc, &request, &answer);
}

static void lives(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *pod_config = node_pod(node);
    struct str pod = node_run_pod_by(node, pod_config, RUNC);
    struct str main = node_create(node, pod, pod_config,
                                  node_container(node, "main", "trap 'echo told; exit 5' TERM; echo ready $(hostname) $$; "
                                                               "while :; do sleep 0.05; done"));
    struct str quick = node_create(node, pod, pod_config, node_container(node, "quick", "echo out; echo err >&2; exit 7"));

    node_start(node, main);
    CHECK_STR(node_wait_log(node, main, STR("ready")), "stdout F ready pod-1 1\n");
    node_shell(STATE_OF);
    CHECK(node_find_process("c8s-oci") > 0);
    CHECK_INT(node_status(node, main)->state, CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING);
    struct cri_v1_exec_sync_response inside =
        node_exec(node, main, "ip -o -4 addr show eth0 | grep -c 10.42.1; echo $$ > /dev/shm/kept; grep Seccomp: /proc/self/status");

    CHECK_STR(inside.stdout, "1\nSeccomp:\t2\n");
    node_start(node, quick);
    struct cri_v1_container_status *status = node_wait_exited(node, quick);

    CHECK_INT(status->exit_code, 7);
    CHECK_STR(node_log(node, status), "stdout F out\nstderr F err\n");
    stop(node, main, 20);
    status = node_status(node, main);
    CHECK_INT(status->exit_code, 5);
    CHECK(str_has_suffix(node_log(node, status), STR("stdout F told\n")));
    node_shell("! " STATE_OF); /* runc has been told to forget it */
    CHECK(node_find_process("c8s-oci") == 0);
    struct str next = node_create(node, pod, pod_config, node_container(node, "next", "ls /dev/shm; exec sleep 1000"));

    node_start(node, next);
    node_wait_log(node, next, STR("stdout F kept\n"));
    stop(node, next, 0);
    CHECK_INT(node_status(node, next)->exit_code, 137);
    node_remove_pod(node, pod);
}

TEST("oci/a pod made by runc runs, logs, is looked into and stopped")
{
    node_run(lives);
}

static void confined(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *pod_config = node_pod(node);
    struct cri_v1_container_config *config = node_container(
        node, "main", "grep -E '^(CapEff|CapBnd|Seccomp|NoNewPrivs):' /proc/self/status; id; echo $HOME; pwd;"
                      "touch /here 2>&1; cat /proc/keys 2>&1 | wc -c; grep -c '^proc /proc/sys proc ro' /proc/mounts; "
                      "cat /data/file; echo x > /data/file; cat /proc/1/cgroup | head -1");
    struct str masked[] = {STR("/proc/keys")}, read_only[] = {STR("/proc/sys")};
    struct cri_v1_mount mount = {.container_path = STR("/data"), .host_path = STR(NODE_ROOT "/data"), .readonly = true};
    struct cri_v1_linux_container_security_context *security = config->linux_->security_context;

    node_shell("mkdir -p " NODE_ROOT "/data && echo from-host > " NODE_ROOT "/data/file");
    security->run_as_user = ARENA_NEW(node->arena, struct cri_v1_int64_value);
    security->run_as_user->value = 33;
    security->readonly_rootfs = true;
    security->no_new_privs = true;
    security->masked_paths = (struct str_list){masked, 1};
    security->readonly_paths = (struct str_list){read_only, 1};
    config->mounts.items = &mount;
    config->mounts.len = 1;
    config->linux_->resources = ARENA_NEW(node->arena, struct cri_v1_linux_container_resources);
    config->linux_->resources->oom_score_adj = -997; /* as near as this machine allows */
    struct str pod = node_run_pod_by(node, pod_config, RUNC), container = node_create(node, pod, pod_config, config);

    node_start(node, container);
    struct str log = node_log(node, node_wait_exited(node, container));

    CHECK(str_contains(log, STR("CapEff:\t0000000000000000\n")));
    CHECK(str_contains(log, STR("CapBnd:\t00000000a80425fb\n")));
    CHECK(str_contains(log, STR("Seccomp:\t2\n")));
    CHECK(str_contains(log, STR("NoNewPrivs:\t1\n")));
    CHECK(str_contains(log, STR("uid=33(web) gid=33(web) groups=33(web),50(staff)\nstdout F /var/www\nstdout F /\n")));
    CHECK(str_contains(log, STR("touch: /here: Read-only file system")));
    CHECK(str_contains(log, STR("stdout F 0\nstdout F 1\nstdout F from-host\n")));
    CHECK(str_contains(log, STR("can't create /data/file: Read-only file system")));
    node_remove_pod(node, pod);
}

TEST("oci/a container made by runc is confined as asked")
{
    node_run(confined);
}

static void terminal(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *pod_config = node_pod(node);
    struct cri_v1_container_config *config = node_container(node, "main", "tty; test -t 0 && test -t 1 && echo terminal");
    struct str pod = node_run_pod_by(node, pod_config, RUNC);

    config->tty = true;
    struct str container = node_create(node, pod, pod_config, config);

    node_start(node, container);
    struct cri_v1_container_status *status = node_wait_exited(node, container);

    CHECK_INT(status->exit_code, 0);
    CHECK_STR(node_log(node, status), "stdout F /dev/pts/0\r\nstdout F terminal\r\n");
    node_remove_pod(node, pod);
}

TEST("oci/runc hands over a terminal")
{
    node_run(terminal);
}

static void stays(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *config = node_pod(node);
    struct str pod = node_run_pod_by(node, config, RUNC);
    struct str runs = node_create(node, pod, config, node_container(node, "runs", "exec sleep 1000"));
    struct str ends = node_create(node, pod, config, node_container(node, "ends", "sleep 0.3; exit 9"));

    node_start(node, runs);
    node_start(node, ends);
    node_kill_runtime(node);
    task_sleep(600 * ENV_MS); /* nobody sees it end */
    node_start_runtime(node);
    CHECK_INT(node_status(node, ends)->exit_code, 9);
    CHECK_INT(node_status(node, runs)->state, CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING);
    CHECK_STR(node_exec(node, runs, "hostname").stdout, "pod-1\n");
    struct str after = node_create(node, pod, config, node_container(node, "after", "exit 3"));

    node_start(node, after);
    CHECK_INT(node_wait_exited(node, after)->exit_code, 3);
    kill(node_find_process("c8s-oci"), SIGKILL);
    CHECK_INT(node_wait_exited(node, runs)->exit_code, 137);
    node_remove_pod(node, pod);
    CHECK(node_find_process("sleep") == 0);
}

TEST("oci/containers made by runc go on when the runtime is killed, and end with their watcher")
{
    node_run(stays);
}

static void without_shim(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *config = node_pod(node);
    struct str pod = node_run_pod_by(node, config, RUNC);
    struct str main = node_create(node, pod, config, node_container(node, "main", "exec sleep 1000"));

    node_start(node, main);
    kill(node_find_process("c8s-shim"), SIGKILL);
    CHECK_STR(node_wait_exited(node, main)->reason, "Unknown");
    for (int i = 0; node_find_process("sleep") != 0; i++) {
        CHECK(i < 500);
        task_sleep(10 * ENV_MS);
    }
    node_remove_pod(node, pod);
}

TEST("oci/containers made by runc end with their shim")
{
    node_run(without_shim);
}

static void refused(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *config = node_pod(node);
    struct cri_v1_run_pod_sandbox_request run = {.config = config, .runtime_handler = STR("absent")};
    struct cri_v1_run_pod_sandbox_response answer = {0};
    struct str words[] = {STR("/no/such")};

    CHECK_ERROR(node_try(node, &cri_v1_runtime_service_run_pod_sandbox_rpc, &run, &answer),
                "no runtime for \"absent\" is configured");
    struct str pod = node_run_pod_by(node, config, RUNC);
    struct cri_v1_container_config *broken = node_container(node, "broken", "");

    broken->args.len = 0;
    broken->command = (struct str_list){words, 1};
    struct str container = node_create(node, pod, config, broken);
    struct cri_v1_start_container_request start = {.container_id = container};
    struct cri_v1_start_container_response started = {0};

    CHECK_ERROR(node_try(node, &cri_v1_runtime_service_start_container_rpc, &start, &started),
                "no such file or directory");
    CHECK_STR(node_status(node, container)->reason, "StartError");
    node_shell("! " STATE_OF);
    node_remove_pod(node, pod);
}

TEST("oci/a handler that is not there, and a program that is not there, are told of")
{
    node_run(refused);
}
