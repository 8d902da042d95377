/* What a client sends on a SPDY connection. */
#include "base/env.h"
#include "base/task.h"
#include "base/virtual_env.h"
#include "net/pipe.h"
#include "net/spdy.h"

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
    struct spdy_stream *stream;
    struct status *status = NULL;
    char bytes[256];
    size_t got;

    pipe_new(4 << 20, &ours, &theirs);
    status_free(stream_write(theirs, input->data, input->size, TASK_FOREVER));
    stream_shut(theirs);
    struct spdy *spdy = spdy_new(ours);

    while (status == NULL) {
        status = spdy_accept(spdy, TASK_FOREVER, &stream);
        if (status == NULL) {
            status_free(spdy_stream_write(stream, STR("hello")));
            status_free(stream_read(spdy_stream_input(stream), bytes, sizeof(bytes), env_mono() + ENV_MS, &got));
        }
    }
    status_free(status);
    spdy_free(spdy);
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
