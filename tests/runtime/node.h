/* A container runtime of its own for a test: `c8s cri` on a unix socket, in the namespaces that tests/runtime/run made,
 * with a busybox image, and a client of it. Its calls fail the test when what they do fails. */
#ifndef TESTS_RUNTIME_NODE_H
#define TESTS_RUNTIME_NODE_H

#include "cri/grpc.h"
#include "schema/cri_v1.h"

#include <sys/types.h>

#define NODE_ROOT "/tmp/cri-test"

struct node {
    struct arena *arena;
    struct grpc_client *client;
    pid_t runtime;
    unsigned pod_count;
};

/* Runs fn(node) in a task, with a node made before and removed after, and checks that nothing is left of it. */
void node_run(void (*fn)(void *node));

void node_shell(const char *command);
void node_start_runtime(struct node *node);
/* SIGKILL: nobody says good-bye. */
void node_kill_runtime(struct node *node);

/* The process that has `name` as its short one, in this test's namespace, unless it has ended; 0: there is none. */
pid_t node_find_process(const char *name);

/* A call that must succeed; the response is in the node's arena. */
void node_call(struct node *node, const struct rpc *rpc, const void *request, void *response);
struct status *node_try(struct node *node, const struct rpc *rpc, const void *request, void *response);

/* A pod's configuration with all namespaces of its own. */
struct cri_v1_pod_sandbox_config *node_pod(struct node *node);
struct str node_run_pod(struct node *node, const struct cri_v1_pod_sandbox_config *config);
/* By a RuntimeClass' handler. */
struct str node_run_pod_by(struct node *node, const struct cri_v1_pod_sandbox_config *config, struct str handler);
/* A container's that runs `script` in a shell, with its log at container.log of the pod's log directory. */
struct cri_v1_container_config *node_container(struct node *node, const char *name, const char *script);
struct str node_create(struct node *node, struct str pod, const struct cri_v1_pod_sandbox_config *pod_config,
                       const struct cri_v1_container_config *config);
void node_start(struct node *node, struct str container);
struct cri_v1_container_status *node_status(struct node *node, struct str container);
/* Waits until it has ended. */
struct cri_v1_container_status *node_wait_exited(struct node *node, struct str container);
struct cri_v1_pod_sandbox_status *node_pod_status(struct node *node, struct str pod);
struct cri_v1_exec_sync_response node_exec(struct node *node, struct str container, const char *script);
/* The log without times: "stdout F text\n". */
struct str node_log(struct node *node, const struct cri_v1_container_status *status);
/* Waits until the log has the text. */
struct str node_wait_log(struct node *node, struct str container, struct str text);
void node_remove_pod(struct node *node, struct str pod);

#endif
