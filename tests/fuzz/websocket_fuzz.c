/* What a client sends on a WebSocket whose handshake is done. */
#include "base/task.h"
#include "base/virtual_env.h"
#include "net/pipe.h"
#include "net/websocket.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *data;
    size_t size;
};

static void feed(void *arg)
{
    struct input *input = arg;
    struct stream *ours, *theirs;
    OWNED(buf_done) struct buf message = {0};
    enum websocket_kind kind;
    bool more = true;

    pipe_new(4 << 20, &ours, &theirs);
    status_free(stream_write(theirs, input->data, input->size, TASK_FOREVER));
    stream_shut(theirs);
    struct websocket *socket = websocket_over(ours, false);

    while (more) {
        struct status *status = websocket_read(socket, &message, &kind, &more);

        more = status == NULL && more;
        status_free(status);
    }
    websocket_close(socket, WEBSOCKET_NORMAL, STR(""));
    stream_close(theirs);
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
