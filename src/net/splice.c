#include "base/mem.h"
#include "base/task.h"
#include "net/stream.h"

#include <stdlib.h>

enum { PIECE_BYTES = 32 << 10 };

struct splice {
    struct stream *from, *to;
    struct cond *ended;
    bool *has_ended;
};

static void copy_run(void *arg)
{
    struct splice *splice = arg;
    char *piece = mem_zalloc(PIECE_BYTES);
    struct status *status = NULL;
    size_t got = 1;

    while (status == NULL && got > 0) {
        status = stream_read(splice->from, piece, PIECE_BYTES, TASK_FOREVER, &got);
        if (status == NULL && got > 0) {
            status = stream_write(splice->to, piece, got, TASK_FOREVER);
        }
    }
    status_free(status);
    free(piece);
    *splice->has_ended = true;
    cond_broadcast(splice->ended);
}

void stream_splice(struct stream *a, struct stream *b)
{
    struct task_group group;
    struct cond ended;
    bool has_ended = false;
    struct splice there = {a, b, &ended, &has_ended}, back = {b, a, &ended, &has_ended};

    task_group_init(&group);
    cond_init(&ended);
    task_group_spawn(&group, "splice", copy_run, &there);
    task_group_spawn(&group, "splice", copy_run, &back);
    while (!has_ended && cond_wait(&ended, TASK_FOREVER)) {
    }
    task_group_cancel(&group);
    stream_close(a);
    stream_close(b);
}
