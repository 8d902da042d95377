/* What a client sends to a server: HTTP/1.1, or HTTP/2 after its preface. */
#include "base/env.h"
#include "base/task.h"
#include "base/virtual_env.h"
#include "net/pipe.h"
#include "net/http_server.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *data;
    size_t size;
};

static void serve(struct http_exchange *exchange, void *arg)
{
    struct http_headers headers = {0};
    struct str body;
    struct status *status = http_read_all(exchange, 1 << 16, &body);

    (void)arg;
    if (status == NULL) {
        http_header_add(exchange->arena, &headers, STR("x-path"), exchange->path);
        status = http_respond(exchange, 200, &headers, body);
    }
    status_free(status);
}

static void feed(void *arg)
{
    struct input *input = arg;
    struct stream *ours, *theirs;
    struct http_server *server = http_server_new(serve, NULL);

    pipe_new(4 << 20, &ours, &theirs);
    status_free(stream_write(theirs, input->data, input->size, TASK_FOREVER));
    stream_shut(theirs);
    http_server_serve(server, ours, false, STR("127.0.0.1:1"));
    task_sleep(ENV_SECOND);
    stream_close(theirs);
    http_server_free(server);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct env *env = virtual_env_new(1);
    struct env *before = env_enter(env);
    struct input input = {data, size};

    task_spawn("fuzz", feed, &input);
    virtual_env_run(env);
    env_enter(before);
    virtual_env_free(env);
    return 0;
}
