#include "cri/remote_command.h"

#include "base/env.h"
#include "base/task.h"
#include "net/event_loop.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/websocket.h"
#include "test.h"

#include <string.h>
#include <unistd.h>

/* A command that says its terminal's size, gives back what it reads, and ends with code 3. */
static void runs_command(struct http_exchange *exchange, void *arg)
{
    static const struct remote_wants wants = {.stdin = true, .stdout = true, .tty = true};
    struct remote_command *command;
    struct status *status = remote_command_accept(exchange, &wants, &command);
    uint16_t width, height;
    char bytes[64];
    size_t size;

    (void)arg;
    if (status != NULL) {
        CHECK_OK(http_respond(exchange, 400, NULL, status->message));
        status_free(status);
        return;
    }
    CHECK_OK(remote_command_size(command, &width, &height));
    CHECK_OK(remote_command_write(command, REMOTE_STDOUT, arena_printf(exchange->arena, "%dx%d\n", width, height)));
    do {
        status = stream_read(remote_command_input(command), bytes, sizeof(bytes), TASK_FOREVER, &size);
        if (status == NULL) {
            status = remote_command_write(command, REMOTE_STDOUT, (struct str){bytes, size});
        }
        CHECK_OK(remote_command_write(command, REMOTE_STDERR, STR("nobody asked for this")));
    } while (status == NULL && size > 0);
    status_free(status); /* the client may go whenever it likes */
    remote_command_end(command, remote_command_exit_status(exchange->arena, 3), STR("command terminated"));
}

struct world {
    struct http_server *server;
    struct http_client *client;
    struct str address;
    struct arena *arena;
};

static void world_begin(struct world *world)
{
    struct listener *listener;

    world->arena = arena_new();
    world->address = arena_printf(world->arena, "unix:@c8s-remote-test-%d", (int)getpid());
    world->server = http_server_new(runs_command, NULL);
    CHECK_OK(listener_open(world->address, 0600, &listener));
    http_server_listen(world->server, listener, NULL);
    world->client = http_client_new(&(struct http_client_options){.address = world->address});
}

static void world_end(struct world *world)
{
    http_client_free(world->client);
    http_server_free(world->server);
    arena_free(world->arena);
}

static void check_message(struct websocket *socket, const char *wanted, size_t size)
{
    OWNED(buf_done) struct buf message = {0};
    enum websocket_kind kind;
    bool more;

    CHECK_OK(websocket_read(socket, &message, &kind, &more));
    CHECK(more);
    if (message.n != size || memcmp(message.p, wanted, size) != 0) {
        test_fail(__FILE__, __LINE__, "got %.*s", (int)message.n, message.p);
    }
}

#define CHECK_MESSAGE(socket, text) check_message((socket), text, sizeof(text) - 1)

static void over_version_five(void *arg)
{
    static const char *const protocols[] = {"v5.channel.k8s.io", NULL};
    const struct http_request request = {.method = STR("GET"), .target = STR("/exec")};
    struct world world;
    struct websocket *socket;
    OWNED(buf_done) struct buf message = {0};
    enum websocket_kind kind;
    bool more;

    (void)arg;
    world_begin(&world);
    CHECK_OK(websocket_dial(world.client, &request, protocols, &socket));
    CHECK_MESSAGE(socket, "\1");
    CHECK_OK(websocket_write(socket, WEBSOCKET_BINARY, STR("\4"), STR("{\"Width\":80,\"Height\":24}\n")));
    CHECK_MESSAGE(socket, "\1"
                          "80x24\n");
    CHECK_OK(websocket_write(socket, WEBSOCKET_BINARY, STR(""), (struct str){"\0hello", 6}));
    CHECK_MESSAGE(socket, "\1hello");
    CHECK_OK(websocket_write(socket, WEBSOCKET_BINARY, STR(""), STR("\x09what is that")));
    CHECK_OK(websocket_write(socket, WEBSOCKET_BINARY, STR(""), (struct str){"\xff\0", 2})); /* stdin has ended */
    CHECK_MESSAGE(socket, "\1");
    CHECK_MESSAGE(socket, "\3{\"metadata\":{},\"status\":\"Failure\",\"message\":\"command terminated with non-zero exit code: "
                          "exit status 3\",\"reason\":\"NonZeroExitCode\",\"details\":{\"causes\":[{\"reason\":\"ExitCode\","
                          "\"message\":\"3\"}]}}");
    CHECK_OK(websocket_read(socket, &message, &kind, &more));
    CHECK(!more);
    websocket_close(socket, WEBSOCKET_NORMAL, STR(""));
    world_end(&world);
}

static void on_loop(task_fn *fn)
{
    struct env *env = event_loop_new();

    event_loop_run_task(env, "test", fn, NULL);
    event_loop_free(env);
}

TEST("cri/remote_command/runs over WebSocket, version 5")
{
    on_loop(over_version_five);
}

static void over_base64(void *arg)
{
    static const char *const protocols[] = {"base64.channel.k8s.io", NULL};
    const struct http_request request = {.method = STR("GET"), .target = STR("/exec")};
    struct world world;
    struct websocket *socket;

    (void)arg;
    world_begin(&world);
    CHECK_OK(websocket_dial(world.client, &request, protocols, &socket));
    CHECK_MESSAGE(socket, "1");
    CHECK_OK(websocket_write(socket, WEBSOCKET_TEXT, STR("4"), STR("eyJXaWR0aCI6MSwiSGVpZ2h0IjoyfQ==")));
    CHECK_MESSAGE(socket, "1MXgyCg==");
    CHECK_OK(websocket_write(socket, WEBSOCKET_TEXT, STR("0"), STR("!!!"))); /* no base64: nothing comes of it */
    CHECK_OK(websocket_write(socket, WEBSOCKET_TEXT, STR("0"), STR("aGk=")));
    CHECK_MESSAGE(socket, "1aGk=");
    websocket_close(socket, WEBSOCKET_NORMAL, STR(""));
    world_end(&world);
}

TEST("cri/remote_command/runs over WebSocket with base64, and ends when the client goes")
{
    on_loop(over_base64);
}

static void without_upgrade(void *arg)
{
    const struct http_request request = {.method = STR("GET"), .target = STR("/exec")};
    struct world world;
    struct http_response *response;
    struct str body;

    (void)arg;
    world_begin(&world);
    CHECK_OK(http_do(world.client, &request, &response));
    CHECK_INT(response->code, 400);
    CHECK_OK(http_response_read_all(response, world.arena, 1000, &body));
    CHECK_STR(body, "unable to upgrade: missing upgrade headers in request");
    http_response_close(response);
    world_end(&world);
}

TEST("cri/remote_command/refuses a request that asks for no upgrade")
{
    on_loop(without_upgrade);
}

TEST("cri/remote_command/tells success and failure as stock does")
{
    struct arena *arena = arena_new();

    CHECK_STR(remote_command_exit_status(arena, 0), "{\"metadata\":{},\"status\":\"Success\"}");
    CHECK(str_contains(remote_command_failure_status(arena, STR("no such file")),
                       STR("\"message\":\"Internal error occurred: no such file\"")));
    arena_free(arena);
}
