/* What containers are given and denied. */
#include "test.h"

#include "node.h"

#include "base/env.h"
#include "base/file.h"
#include "base/task.h"

#include <sys/stat.h>

static struct cri_v1_linux_container_security_context *security(struct cri_v1_container_config *config)
{
    return config->linux_->security_context;
}

static struct cri_v1_int64_value *number(struct node *node, int64_t value)
{
    struct cri_v1_int64_value *boxed = ARENA_NEW(node->arena, struct cri_v1_int64_value);

    boxed->value = value;
    return boxed;
}

/* Runs one container to its end and returns its log. */
static struct str run_to_end(struct node *node, struct str pod, const struct cri_v1_pod_sandbox_config *pod_config,
                             const struct cri_v1_container_config *config)
{
    struct str container = node_create(node, pod, pod_config, config);

    node_start(node, container);
    return node_log(node, node_wait_exited(node, container));
}

static void confined(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *pod_config = node_pod(node);
    struct str pod = node_run_pod(node, pod_config);
    struct cri_v1_container_config *config = node_container(
        node, "main", "grep -E '^(CapEff|CapBnd|Seccomp|NoNewPrivs):' /proc/self/status; id; echo $HOME; "
                      "mount -t tmpfs x /tmp 2>&1; unshare -m true 2>&1; touch /here 2>&1; cat /proc/keys 2>&1 | wc -c; "
                      "(echo 1 > /proc/sys/kernel/sysrq) 2>&1; dd if=/dev/mem of=/dev/null count=1 2>&1 | head -1; "
                      "cat /proc/1/cgroup | head -1; echo $(ls /dev)");
    struct str masked[] = {STR("/proc/keys"), STR("/proc/kcore")}, read_only[] = {STR("/proc/sys")};

    security(config)->run_as_user = number(node, 33);
    security(config)->readonly_rootfs = true;
    security(config)->no_new_privs = true;
    security(config)->masked_paths = (struct str_list){masked, 2};
    security(config)->readonly_paths = (struct str_list){read_only, 1};
    struct str log = run_to_end(node, pod, pod_config, config);

    CHECK(str_contains(log, STR("CapEff:\t0000000000000000\n")));
    CHECK(str_contains(log, STR("CapBnd:\t00000000a80425fb\n")));
    CHECK(str_contains(log, STR("Seccomp:\t2\n")));
    CHECK(str_contains(log, STR("NoNewPrivs:\t1\n")));
    CHECK(str_contains(log, STR("uid=33(web) gid=33(web) groups=33(web),50(staff)\nstdout F /var/www\n")));
    CHECK(str_contains(log, STR("mount: permission denied")));
    CHECK(str_contains(log, STR("unshare: unshare(0x20000): Operation not permitted")));
    CHECK(str_contains(log, STR("touch: /here: Read-only file system")));
    CHECK(str_contains(log, STR("stdout F 0\n")));
    CHECK(str_contains(log, STR("Read-only file system")));
    CHECK(str_contains(log, STR("dd: can't open '/dev/mem'")));
    CHECK(str_contains(log, STR("stdout F core fd full mqueue null ptmx pts random shm stderr stdin stdout tty urandom zero")));
    node_remove_pod(node, pod);
}

/* Root in a container may make device nodes, but not use those that it was not given. */
static void given_devices(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *pod_config = node_pod(node);
    struct cri_v1_container_config *config = node_container(
        node, "main", "mknod /mem c 1 1 && mknod /disk b 7 0 && mknod /null c 1 3 && head -c1 /mem 2>&1; head -c1 /disk 2>&1;"
                      "echo x > /null && echo null; echo x > /dev/null && head -c1 /dev/zero | wc -c; head -c1 /dev/given | "
                      "wc -c; head -c1 /dev/kmsg 2>&1");
    struct cri_v1_device device = {STR("/dev/given"), STR("/dev/random"), STR("rwm")};

    config->devices.items = &device;
    config->devices.len = 1;
    struct str pod = node_run_pod(node, pod_config);

    CHECK_STR(run_to_end(node, pod, pod_config, config),
              "stdout F head: /mem: Operation not permitted\nstdout F head: /disk: Operation not permitted\n"
              "stdout F null\nstdout F 1\nstdout F 1\nstdout F head: /dev/kmsg: No such file or directory\n");
    node_remove_pod(node, pod);
}

TEST("container/devices it was not given can't be opened")
{
    node_run(given_devices);
}

TEST("container/an ordinary one is confined")
{
    node_run(confined);
}

static void privileged(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *pod_config = node_pod(node);
    struct cri_v1_container_config *config = node_container(
        node, "main", "grep -E '^(Seccomp|CapEff):' /proc/self/status; mount -t tmpfs x /tmp && echo mounted; "
                      "[ -w /sys/fs/cgroup ] && echo writable; hostname; ls -d /proc/1/root/sbin/init /proc/2 2>&1 | head -1; "
                      "[ -e /dev/kmsg ] && echo devices");

    pod_config->linux_->security_context->privileged = true;
    pod_config->linux_->security_context->namespace_options->network = CRI_V1_NAMESPACE_MODE_NODE;
    pod_config->linux_->security_context->namespace_options->ipc = CRI_V1_NAMESPACE_MODE_NODE;
    security(config)->privileged = true;
    security(config)->namespace_options->pid = CRI_V1_NAMESPACE_MODE_NODE;
    security(config)->namespace_options->network = CRI_V1_NAMESPACE_MODE_NODE;
    struct str pod = node_run_pod(node, pod_config);

    CHECK_STR(node_pod_status(node, pod)->network->ip, "");
    struct str log = run_to_end(node, pod, pod_config, config);

    CHECK(str_contains(log, STR("Seccomp:\t0\n")));
    CHECK(!str_contains(log, STR("CapEff:\t00000000a80425fb\n")));
    CHECK(str_contains(log, STR("stdout F mounted\nstdout F writable\n")));
    CHECK(str_contains(log, STR("devices")));
    node_remove_pod(node, pod);
}

TEST("container/a privileged one in the host's namespaces")
{
    node_run(privileged);
}

static void shared(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *pod_config = node_pod(node);
    struct cri_v1_container_config *first = node_container(node, "first", "touch /dev/shm/common; exec sleep 1000");
    struct cri_v1_container_config *second =
        node_container(node, "second", "ls /dev/shm; ps -o comm | sort | uniq | tr '\\n' ' '; nc -l -p 99 </dev/null & "
                                       "sleep 0.2; netstat -ltn | grep -c :99");

    pod_config->linux_->security_context->namespace_options->pid = CRI_V1_NAMESPACE_MODE_POD;
    security(first)->namespace_options->pid = CRI_V1_NAMESPACE_MODE_POD;
    security(second)->namespace_options->pid = CRI_V1_NAMESPACE_MODE_POD;
    struct str pod = node_run_pod(node, pod_config), runs = node_create(node, pod, pod_config, first);

    node_start(node, runs);
    task_sleep(200 * ENV_MS);
    struct str log = run_to_end(node, pod, pod_config, second);

    CHECK(str_contains(log, STR("stdout F common\n")));
    CHECK(str_contains(log, STR("sleep")));
    CHECK(str_contains(log, STR("c8s-pause")));
    node_remove_pod(node, pod);
}

TEST("container/those of a pod share memory and processes")
{
    node_run(shared);
}

static void fails(struct node *node, struct str container, const char *message)
{
    struct cri_v1_start_container_request request = {.container_id = container};
    struct cri_v1_start_container_response answer = {0};

    CHECK_ERROR(node_try(node, &cri_v1_runtime_service_start_container_rpc, &request, &answer), message);
    struct cri_v1_container_status *status = node_status(node, container);

    CHECK_INT(status->state, CRI_V1_CONTAINER_STATE_CONTAINER_EXITED);
    CHECK_INT(status->exit_code, 128);
    CHECK_STR(status->reason, "StartError");
    CHECK(str_contains(status->message, str_of(message)));
}

static void refused(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *pod_config = node_pod(node);
    struct str pod = node_run_pod(node, pod_config);
    struct cri_v1_container_config *config = node_container(node, "no-program", "");
    struct str words[] = {STR("/no/such"), STR("nothing"), STR("/etc/passwd")};

    config->args.len = 0;
    config->command = (struct str_list){words, 1};
    fails(node, node_create(node, pod, pod_config, config), "exec: \"/no/such\": stat /no/such: no such file or directory");
    config->metadata->name = STR("not-in-path");
    config->command.items = words + 1;
    fails(node, node_create(node, pod, pod_config, config), "exec: \"nothing\": executable file not found in $PATH");
    config->metadata->name = STR("no-exec");
    config->command.items = words + 2;
    fails(node, node_create(node, pod, pod_config, config), "exec: \"/etc/passwd\": permission denied");
    config = node_container(node, "no-user", "true");
    security(config)->run_as_username = STR("nobody-here");
    fails(node, node_create(node, pod, pod_config, config), "unable to find user nobody-here: no matching entries in passwd file");
    config = node_container(node, "no-image", "true");
    config->image->image = STR("docker.io/library/absent:latest");
    struct cri_v1_create_container_request request = {.pod_sandbox_id = pod, .config = config, .sandbox_config = pod_config};
    struct cri_v1_create_container_response answer = {0};
    struct status *status = node_try(node, &cri_v1_runtime_service_create_container_rpc, &request, &answer);

    CHECK(status_is(status, STATUS_NOT_FOUND));
    status_free(status);
    node_remove_pod(node, pod);
}

TEST("container/what can't be started says why")
{
    node_run(refused);
}

static void limited(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *pod_config = node_pod(node);
    struct str pod = node_run_pod(node, pod_config);
    struct cri_v1_container_config *config =
        node_container(node, "main", "echo started; head -c 100m /dev/zero | tail -c 90m | wc -c");

    config->linux_->resources = ARENA_NEW(node->arena, struct cri_v1_linux_container_resources);
    config->linux_->resources->memory_limit_in_bytes = 16 << 20;
    config->linux_->resources->oom_score_adj = 1000;
    struct str container = node_create(node, pod, pod_config, config);

    node_start(node, container);
    struct cri_v1_container_status *status = node_wait_exited(node, container);

    CHECK_STR(status->reason, "OOMKilled");
    config = node_container(node, "heeds", "trap 'echo told; exit 5' TERM; echo ready; while :; do sleep 0.05; done");
    container = node_create(node, pod, pod_config, config);
    node_start(node, container);
    node_wait_log(node, container, STR("ready"));
    struct cri_v1_stop_container_request stop = {.container_id = container, .timeout = 20};
    struct cri_v1_stop_container_response stopped = {0};

    node_call(node, &cri_v1_runtime_service_stop_container_rpc, &stop, &stopped);
    status = node_status(node, container);
    CHECK_INT(status->exit_code, 5);
    CHECK_STR(node_log(node, status), "stdout F ready\nstdout F told\n");
    node_remove_pod(node, pod);
}

TEST("container/limits hold and signals are heeded")
{
    node_run(limited);
}

static void mounted(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *pod_config = node_pod(node);
    struct cri_v1_container_config *config =
        node_container(node, "main", "cat /data/file; (echo x > /data/file) 2>&1; echo y > /rw/made; cat /etc/resolv.conf; "
                                     "cat /etc/hosts; ls -d /rw/new");
    struct cri_v1_mount mounts[] = {
        {.container_path = STR("/rw/new/deep"), .host_path = STR(NODE_ROOT "/missing/dir")},
        {.container_path = STR("/data"), .host_path = STR(NODE_ROOT "/data"), .readonly = true},
        {.container_path = STR("/rw"), .host_path = STR(NODE_ROOT "/rw")},
        {.container_path = STR("/etc/hosts"), .host_path = STR(NODE_ROOT "/data/file")},
    };
    struct str servers[] = {STR("10.43.0.10")}, searches[] = {STR("default.svc.cluster.local"), STR("svc.cluster.local")};
    struct str options[] = {STR("ndots:5")};

    node_shell("mkdir -p " NODE_ROOT "/data " NODE_ROOT "/rw && echo from-host > " NODE_ROOT "/data/file");
    config->mounts.items = mounts;
    config->mounts.len = COUNT_OF(mounts);
    pod_config->dns_config = ARENA_NEW(node->arena, struct cri_v1_dns_config);
    *pod_config->dns_config = (struct cri_v1_dns_config){{servers, 1}, {searches, 2}, {options, 1}};
    struct str pod = node_run_pod(node, pod_config), log = run_to_end(node, pod, pod_config, config);

    CHECK(str_contains(log, STR("stdout F from-host\n")));
    CHECK(str_contains(log, STR("can't create /data/file: Read-only file system\n")));
    CHECK(str_contains(log, STR("stdout F search default.svc.cluster.local svc.cluster.local\n"
                                "stdout F nameserver 10.43.0.10\nstdout F options ndots:5\nstdout F from-host\n"
                                "stdout F /rw/new\n")));
    CHECK(file_exists(NODE_ROOT "/rw/made"));
    CHECK(file_exists(NODE_ROOT "/missing/dir"));
    node_remove_pod(node, pod);
}

TEST("container/volumes, hosts and name service")
{
    node_run(mounted);
}

static void rotated(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *pod_config = node_pod(node);
    struct str pod = node_run_pod(node, pod_config);
    struct str container = node_create(node, pod, pod_config,
                                       node_container(node, "main", "echo before; while [ ! -e /go ]; do sleep 0.02; "
                                                                    "done; echo after; exec sleep 1000"));
    struct cri_v1_reopen_container_log_request reopen = {.container_id = container};
    struct cri_v1_reopen_container_log_response reopened = {0};

    node_start(node, container);
    node_wait_log(node, container, STR("before"));
    node_shell("mv " NODE_ROOT "/logs/1/main.log " NODE_ROOT "/logs/1/main.log.old");
    node_call(node, &cri_v1_runtime_service_reopen_container_log_rpc, &reopen, &reopened);
    node_exec(node, container, "touch /go");
    CHECK_STR(node_wait_log(node, container, STR("after")), "stdout F after\n");
    node_remove_pod(node, pod);
}

TEST("container/its log can be moved away")
{
    node_run(rotated);
}

static void propagated(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *pod_config = node_pod(node);
    struct cri_v1_container_config *config = node_container(node, "main", "exec sleep 1000");
    struct cri_v1_mount mounts[] = {
        {.container_path = STR("/in"), .host_path = STR(NODE_ROOT "/shared"),
         .propagation = CRI_V1_MOUNT_PROPAGATION_PROPAGATION_HOST_TO_CONTAINER},
        {.container_path = STR("/both"), .host_path = STR(NODE_ROOT "/shared"),
         .propagation = CRI_V1_MOUNT_PROPAGATION_PROPAGATION_BIDIRECTIONAL},
        {.container_path = STR("/private"), .host_path = STR(NODE_ROOT "/shared")},
        {.container_path = STR("/read"), .host_path = STR(NODE_ROOT "/shared"), .readonly = true,
         .recursive_read_only = true},
    };

    node_shell("mkdir " NODE_ROOT "/shared && mount -t tmpfs s " NODE_ROOT "/shared && mount --make-shared " NODE_ROOT
               "/shared && mkdir " NODE_ROOT "/shared/early " NODE_ROOT "/shared/late " NODE_ROOT
               "/shared/inner && mount -t tmpfs e " NODE_ROOT "/shared/early");
    config->mounts.items = mounts;
    config->mounts.len = COUNT_OF(mounts);
    security(config)->privileged = true;
    pod_config->linux_->security_context->privileged = true;
    struct str pod = node_run_pod(node, pod_config), container = node_create(node, pod, pod_config, config);

    node_start(node, container);
    node_shell("mount -t tmpfs l " NODE_ROOT "/shared/late && touch " NODE_ROOT "/shared/late/seen");
    CHECK_STR(node_exec(node, container, "ls /in/late /both/late /private/late 2>&1").stdout,
              "/both/late:\nseen\n\n/in/late:\nseen\n\n/private/late:\n");
    CHECK_INT(node_exec(node, container, "mount -t tmpfs i /both/inner && touch /both/inner/back").exit_code, 0);
    node_shell("[ -e " NODE_ROOT "/shared/inner/back ]");
    CHECK(str_contains(node_exec(node, container, "touch /read/early/no").stderr, STR("Read-only file system")));
    node_remove_pod(node, pod);
    node_shell("umount -R " NODE_ROOT "/shared");
}

TEST("container/mounts go in, out, or neither")
{
    node_run(propagated);
}
