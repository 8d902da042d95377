/* Exec and attach at the other end of a WebSocket, as the kubelet passes it on. */
#include "test.h"

#include "node.h"

#include "base/env.h"
#include "base/task.h"
#include "net/http_client.h"
#include "net/websocket.h"

/* What came on each channel until the server closed. */
struct heard {
    struct http_client *client;
    struct buf channels[8];
};

static struct websocket *dial(struct heard *heard, struct str url)
{
    static const char *const protocols[] = {"v5.channel.k8s.io", NULL};
    struct str address, path, after_scheme = str_from(url, sizeof("http://") - 1);
    size_t slash = str_index(after_scheme, '/');
    struct websocket *socket;

    address = str_sub(after_scheme, 0, slash);
    path = str_from(after_scheme, slash);
    *heard = (struct heard){.client = http_client_new(&(struct http_client_options){.address = address})};
    CHECK_OK(websocket_dial(heard->client, &(struct http_request){.method = STR("GET"), .target = path}, protocols,
                            &socket));
    return socket;
}

static struct str on(struct heard *heard, int channel)
{
    return buf_str(&heard->channels[channel]);
}

/* One message; false at the end. */
static bool hear(struct websocket *socket, struct heard *heard)
{
    OWNED(buf_done) struct buf message = {0};
    enum websocket_kind kind;
    bool more = false;

    CHECK_OK(websocket_read(socket, &message, &kind, &more));
    if (more && message.n > 0) {
        CHECK((unsigned char)message.p[0] < COUNT_OF(heard->channels));
        buf_add(&heard->channels[(int)message.p[0]], message.p + 1, message.n - 1);
    }
    return more;
}

static void hear_all(struct websocket *socket, struct heard *heard)
{
    while (hear(socket, heard)) {
    }
}

static void forget(struct websocket *socket, struct heard *heard)
{
    websocket_close(socket, WEBSOCKET_NORMAL, STR(""));
    http_client_free(heard->client);
    for (size_t i = 0; i < COUNT_OF(heard->channels); i++) {
        buf_done(&heard->channels[i]);
    }
}

static struct str exec_url(struct node *node, struct str container, const char *script, bool is_tty)
{
    struct str cmd[] = {STR("sh"), STR("-c"), str_of(script)};
    struct cri_v1_exec_request request = {.container_id = container, .cmd = {cmd, 3}, .stdin = true, .stdout = true,
                                          .stderr = !is_tty, .tty = is_tty};
    struct cri_v1_exec_response answer = {0};

    node_call(node, &cri_v1_runtime_service_exec_rpc, &request, &answer);
    return answer.url;
}

static void with_pipes(struct node *node, struct str container)
{
    struct heard heard;
    struct websocket *socket = dial(&heard, exec_url(node, container, "cat; echo bad >&2; exit 3", false));

    CHECK_OK(websocket_write(socket, WEBSOCKET_BINARY, (struct str){"\0", 1}, STR("one\n")));
    while (!str_is(on(&heard, 1), "one\n")) {
        CHECK(hear(socket, &heard));
    }
    CHECK_OK(websocket_write(socket, WEBSOCKET_BINARY, (struct str){"\377\0", 2}, STR(""))); /* the end of stdin */
    hear_all(socket, &heard);
    CHECK_STR(on(&heard, 1), "one\n");
    CHECK_STR(on(&heard, 2), "bad\n");
    CHECK(str_contains(on(&heard, 3), STR("\"ExitCode\",\"message\":\"3\"")));
    forget(socket, &heard);
}

static void with_terminal(struct node *node, struct str container)
{
    struct heard heard;
    struct websocket *socket = dial(&heard, exec_url(node, container, "tty; read a; stty size; echo got $a", true));

    CHECK_OK(websocket_write(socket, WEBSOCKET_BINARY, (struct str){"\4", 1}, STR("{\"Width\":91,\"Height\":23}")));
    task_sleep(200 * ENV_MS);
    CHECK_OK(websocket_write(socket, WEBSOCKET_BINARY, (struct str){"\0", 1}, STR("word\n")));
    hear_all(socket, &heard);
    CHECK(str_contains(on(&heard, 1), STR("/dev/pts/0\r\n")));
    CHECK(str_contains(on(&heard, 1), STR("23 91\r\n")));
    CHECK(str_contains(on(&heard, 1), STR("got word\r\n")));
    CHECK(str_contains(on(&heard, 3), STR("Success")));
    forget(socket, &heard);
}

/* A client that goes away takes its command with it. */
static void gone(struct node *node, struct str container)
{
    struct heard heard;
    struct websocket *socket = dial(&heard, exec_url(node, container, "echo here; exec sleep 4321", false));
    struct cri_v1_exec_sync_response seen;

    while (!str_is(on(&heard, 1), "here\n")) {
        CHECK(hear(socket, &heard));
    }
    forget(socket, &heard);
    for (int i = 0; i < 200; i++) {
        seen = node_exec(node, container, "ps | grep -c '[s]leep 4321'");
        if (str_is(seen.stdout, "0\n")) {
            return;
        }
        task_sleep(10 * ENV_MS);
    }
    test_fail(__FILE__, __LINE__, "the command goes on without its client");
}

static void attach(struct node *node, struct str container)
{
    struct cri_v1_attach_request request = {.container_id = container, .stdin = true, .stdout = true, .stderr = true};
    struct cri_v1_attach_response answer = {0};
    struct heard heard;

    node_call(node, &cri_v1_runtime_service_attach_rpc, &request, &answer);
    struct websocket *socket = dial(&heard, answer.url);

    CHECK_OK(websocket_write(socket, WEBSOCKET_BINARY, (struct str){"\0", 1}, STR("spoken\n")));
    hear_all(socket, &heard);
    CHECK_STR(on(&heard, 1), "heard spoken\n");
    forget(socket, &heard);
}

static void streams(void *arg)
{
    struct node *node = arg;
    struct cri_v1_pod_sandbox_config *config = node_pod(node);
    struct str pod = node_run_pod(node, config);
    struct cri_v1_container_config *wanted = node_container(node, "main", "read line; echo heard $line");

    wanted->stdin = true;
    struct str container = node_create(node, pod, config, wanted);

    node_start(node, container);
    with_pipes(node, container);
    with_terminal(node, container);
    gone(node, container);
    attach(node, container);
    CHECK_INT(node_wait_exited(node, container)->exit_code, 0);
    CHECK_STR(node_log(node, node_status(node, container)), "stdout F heard spoken\n");
    node_remove_pod(node, pod);
}

TEST("stream/exec and attach over WebSocket")
{
    node_run(streams);
}
