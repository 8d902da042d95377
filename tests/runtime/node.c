#include "node.h"

#include "test.h"

#include "base/buf.h"
#include "base/env.h"
#include "base/file.h"
#include "net/event_loop.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL_TIMEOUT (60 * ENV_SECOND)
#define CLEAN_UP "find /sys/fs/cgroup -depth -path '*c8s-runtime-test*' -type d -exec rmdir {} + ; rm -rf " NODE_ROOT

/* c8s of the same build as this program. */
static const char *program(void)
{
    static char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

    CHECK(n > 0);
    path[n] = '\0';
    for (int up = 0; up < 3; up++) {
        *strrchr(path, '/') = '\0';
    }
    strcat(path, "/c8s");
    return path;
}

void node_shell(const char *command)
{
    if (system(command) != 0) {
        test_fail(__FILE__, __LINE__, "%s", command);
    }
}

static void exec_runtime(void)
{
    const char *const argv[] = {program(), "cri", "--root=" NODE_ROOT "/root", "--state=" NODE_ROOT "/run",
                                "--socket=" NODE_ROOT "/run/cri.sock", "--cni-conf-dir=" NODE_ROOT "/net.d",
                                "--cni-bin-dir=" NODE_ROOT "/cni", "--cluster-cidr=10.42.0.0/16",
                                "--pod-cidr=10.42.1.0/24", NULL};

    execv(argv[0], (char *const *)(uintptr_t)argv);
    perror(argv[0]);
    _exit(127);
}

void node_start_runtime(struct node *node)
{
    struct cri_v1_version_request request = {0};
    struct cri_v1_version_response answer = {0};
    int64_t deadline = env_mono() + 20 * ENV_SECOND;
    struct status *status;

    node->runtime = fork();
    CHECK(node->runtime >= 0);
    if (node->runtime == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        exec_runtime();
    }
    while ((status = node_try(node, &cri_v1_runtime_service_version_rpc, &request, &answer)) != NULL) {
        if (env_mono() > deadline || waitpid(node->runtime, NULL, WNOHANG) != 0) {
            test_fail(__FILE__, __LINE__, "the runtime does not come: %.*s", STR_ARG(status->message));
        }
        status_free(status);
        task_sleep(10 * ENV_MS);
    }
    CHECK_STR(answer.runtime_name, "c8s");
}

static void end_runtime(struct node *node, int number, int wanted_signal)
{
    int status = 0;

    kill(node->runtime, number);
    CHECK(waitpid(node->runtime, &status, 0) == node->runtime);
    if (wanted_signal == 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
        test_fail(__FILE__, __LINE__, "the runtime ended with status %x", (unsigned)status);
    }
}

void node_kill_runtime(struct node *node)
{
    end_runtime(node, SIGKILL, SIGKILL);
}

static void make_node(void)
{
    OWNED(buf_done) struct buf command = {0};

    node_shell("mkdir -p " NODE_ROOT "/run " NODE_ROOT "/logs && ip link set lo up && "
               "tests/runtime/busybox-image " NODE_ROOT "/busybox.tar");
    buf_printf(&command, "%s images --root " NODE_ROOT "/root import " NODE_ROOT "/busybox.tar >/dev/null", program());
    node_shell(buf_cstr(&command));
}

struct play {
    void (*fn)(void *node);
    struct node node;
};

static void check_nothing_left(struct node *node)
{
    struct cri_v1_list_pod_sandbox_request request = {0};
    struct cri_v1_list_pod_sandbox_response answer = {0};

    node_call(node, &cri_v1_runtime_service_list_pod_sandbox_rpc, &request, &answer);
    LIST_EACH(sandbox, &answer.items) {
        node_remove_pod(node, sandbox->id);
    }
    node_shell("for d in sandboxes containers; do [ -z \"$(ls -A " NODE_ROOT "/root/$d)\" ] || exit 1; done");
    node_shell("[ -z \"$(ls -A " NODE_ROOT "/root/images/containers)\" ]");
    node_shell("! grep -q " NODE_ROOT " /proc/mounts");
    node_shell("[ -z \"$(find /sys/fs/cgroup -path '*c8s-runtime-test/pod-*/*' -type d)\" ]");
    node_shell("! ip -o link | grep -q veth");
}

static void play(void *arg)
{
    struct play *play = arg;

    CHECK_OK(grpc_client_new(STR(NODE_ROOT "/run/cri.sock"), &play->node.client));
    node_start_runtime(&play->node);
    play->fn(&play->node);
    check_nothing_left(&play->node);
    grpc_client_free(play->node.client);
    end_runtime(&play->node, SIGTERM, 0);
}

void node_run(void (*fn)(void *node))
{
    struct play one = {.fn = fn, .node = {.arena = arena_new()}};

    node_shell(CLEAN_UP); /* what a failed run may have left */
    make_node();
    struct env *env = event_loop_new();

    event_loop_run_task(env, "test", play, &one);
    event_loop_free(env);
    arena_free(one.node.arena);
    node_shell(CLEAN_UP);
}

struct status *node_try(struct node *node, const struct rpc *rpc, const void *request, void *response)
{
    return grpc_call(node->client, node->arena, rpc, request, response, env_mono() + CALL_TIMEOUT);
}

void node_call(struct node *node, const struct rpc *rpc, const void *request, void *response)
{
    struct status *status = node_try(node, rpc, request, response);

    if (status != NULL) {
        test_fail(__FILE__, __LINE__, "%.*s: %.*s", STR_ARG(rpc->path), STR_ARG(status->message));
    }
}

struct cri_v1_pod_sandbox_config *node_pod(struct node *node)
{
    struct cri_v1_pod_sandbox_config *config = ARENA_NEW(node->arena, struct cri_v1_pod_sandbox_config);
    unsigned number = ++node->pod_count;

    config->metadata = ARENA_NEW(node->arena, struct cri_v1_pod_sandbox_metadata);
    config->metadata->name = arena_printf(node->arena, "pod-%u", number);
    config->metadata->uid = arena_printf(node->arena, "uid-%u", number);
    config->metadata->namespace = STR("default");
    config->hostname = config->metadata->name;
    config->log_directory = arena_printf(node->arena, NODE_ROOT "/logs/%u", number);
    CHECK_OK(file_make_directories(config->log_directory.p, 0755));
    config->linux_ = ARENA_NEW(node->arena, struct cri_v1_linux_pod_sandbox_config);
    config->linux_->cgroup_parent = arena_printf(node->arena, "/c8s-runtime-test/pod-%u", number);
    config->linux_->security_context = ARENA_NEW(node->arena, struct cri_v1_linux_sandbox_security_context);
    config->linux_->security_context->namespace_options = ARENA_NEW(node->arena, struct cri_v1_namespace_option);
    config->linux_->security_context->namespace_options->pid = CRI_V1_NAMESPACE_MODE_CONTAINER;
    return config;
}

pid_t node_find_process(const char *name)
{
    char command[128];
    int pid = 0;

    snprintf(command, sizeof(command), "grep -L '^State:.Z' $(grep -l '^Name:.%s$' /proc/[0-9]*/status) </dev/null", name);
    FILE *found = popen(command, "r");

    CHECK(found != NULL);
    if (fscanf(found, "/proc/%d/status", &pid) != 1) {
        pid = 0;
    }
    pclose(found);
    return pid;
}

struct str node_run_pod(struct node *node, const struct cri_v1_pod_sandbox_config *config)
{
    return node_run_pod_by(node, config, STR(""));
}

struct str node_run_pod_by(struct node *node, const struct cri_v1_pod_sandbox_config *config, struct str handler)
{
    struct cri_v1_run_pod_sandbox_request request = {.config = (struct cri_v1_pod_sandbox_config *)(uintptr_t)config,
                                                     .runtime_handler = handler};
    struct cri_v1_run_pod_sandbox_response answer = {0};

    node_call(node, &cri_v1_runtime_service_run_pod_sandbox_rpc, &request, &answer);
    return answer.pod_sandbox_id;
}

struct cri_v1_container_config *node_container(struct node *node, const char *name, const char *script)
{
    struct cri_v1_container_config *config = ARENA_NEW(node->arena, struct cri_v1_container_config);

    config->metadata = ARENA_NEW(node->arena, struct cri_v1_container_metadata);
    config->metadata->name = str_of(name);
    config->image = ARENA_NEW(node->arena, struct cri_v1_image_spec);
    config->image->image = STR("docker.io/library/busybox:latest");
    *LIST_ADD(node->arena, &config->command) = STR("sh");
    *LIST_ADD(node->arena, &config->args) = STR("-c");
    *LIST_ADD(node->arena, &config->args) = str_of(script);
    config->log_path = arena_printf(node->arena, "%s.log", name);
    config->linux_ = ARENA_NEW(node->arena, struct cri_v1_linux_container_config);
    config->linux_->security_context = ARENA_NEW(node->arena, struct cri_v1_linux_container_security_context);
    config->linux_->security_context->namespace_options = ARENA_NEW(node->arena, struct cri_v1_namespace_option);
    config->linux_->security_context->namespace_options->pid = CRI_V1_NAMESPACE_MODE_CONTAINER;
    config->linux_->security_context->seccomp = ARENA_NEW(node->arena, struct cri_v1_security_profile);
    return config;
}

struct str node_create(struct node *node, struct str pod, const struct cri_v1_pod_sandbox_config *pod_config,
                       const struct cri_v1_container_config *config)
{
    struct cri_v1_create_container_request request = {
        .pod_sandbox_id = pod, .config = (struct cri_v1_container_config *)(uintptr_t)config,
        .sandbox_config = (struct cri_v1_pod_sandbox_config *)(uintptr_t)pod_config};
    struct cri_v1_create_container_response answer = {0};

    node_call(node, &cri_v1_runtime_service_create_container_rpc, &request, &answer);
    return answer.container_id;
}

void node_start(struct node *node, struct str container)
{
    struct cri_v1_start_container_request request = {.container_id = container};
    struct cri_v1_start_container_response answer = {0};

    node_call(node, &cri_v1_runtime_service_start_container_rpc, &request, &answer);
}

struct cri_v1_container_status *node_status(struct node *node, struct str container)
{
    struct cri_v1_container_status_request request = {.container_id = container};
    struct cri_v1_container_status_response answer = {0};

    node_call(node, &cri_v1_runtime_service_container_status_rpc, &request, &answer);
    CHECK(answer.status != NULL);
    return answer.status;
}

struct cri_v1_container_status *node_wait_exited(struct node *node, struct str container)
{
    int64_t deadline = env_mono() + 20 * ENV_SECOND;

    for (;;) {
        struct cri_v1_container_status *status = node_status(node, container);

        if (status->state == CRI_V1_CONTAINER_STATE_CONTAINER_EXITED) {
            return status;
        }
        if (env_mono() > deadline) {
            test_fail(__FILE__, __LINE__, "container %.*s does not end", STR_ARG(container));
        }
        task_sleep(10 * ENV_MS);
    }
}

struct cri_v1_pod_sandbox_status *node_pod_status(struct node *node, struct str pod)
{
    struct cri_v1_pod_sandbox_status_request request = {.pod_sandbox_id = pod};
    struct cri_v1_pod_sandbox_status_response answer = {0};

    node_call(node, &cri_v1_runtime_service_pod_sandbox_status_rpc, &request, &answer);
    CHECK(answer.status != NULL);
    return answer.status;
}

struct cri_v1_exec_sync_response node_exec(struct node *node, struct str container, const char *script)
{
    struct str cmd[] = {STR("sh"), STR("-c"), str_of(script)};
    struct cri_v1_exec_sync_request request = {.container_id = container, .cmd = {cmd, 3}, .timeout = 20};
    struct cri_v1_exec_sync_response answer = {0};

    node_call(node, &cri_v1_runtime_service_exec_sync_rpc, &request, &answer);
    return answer;
}

struct str node_wait_log(struct node *node, struct str container, struct str text)
{
    struct cri_v1_container_status *status = node_status(node, container);
    int64_t deadline = env_mono() + 20 * ENV_SECOND;

    for (;;) {
        struct str log = node_log(node, status);

        if (str_contains(log, text)) {
            return log;
        }
        if (env_mono() > deadline) {
            test_fail(__FILE__, __LINE__, "the log never says \"%.*s\":\n%.*s", STR_ARG(text), STR_ARG(log));
        }
        task_sleep(10 * ENV_MS);
    }
}

struct str node_log(struct node *node, const struct cri_v1_container_status *status)
{
    OWNED(buf_done) struct buf bare = {0};
    struct str text = STR("");

    CHECK_OK(file_read(node->arena, arena_cstr(node->arena, status->log_path), 1 << 20, &text));
    for (struct str line; str_next(&text, '\n', &line);) {
        if (line.n > 0) {
            buf_printf(&bare, "%.*s\n", STR_ARG(str_from(line, str_index(line, ' ') + 1)));
        }
    }
    return arena_str(node->arena, buf_str(&bare));
}

void node_remove_pod(struct node *node, struct str pod)
{
    struct cri_v1_stop_pod_sandbox_request stop = {.pod_sandbox_id = pod};
    struct cri_v1_stop_pod_sandbox_response stopped = {0};
    struct cri_v1_remove_pod_sandbox_request remove = {.pod_sandbox_id = pod};
    struct cri_v1_remove_pod_sandbox_response removed = {0};

    node_call(node, &cri_v1_runtime_service_stop_pod_sandbox_rpc, &stop, &stopped);
    node_call(node, &cri_v1_runtime_service_remove_pod_sandbox_rpc, &remove, &removed);
}
