/* Reading logs on the real file system and event loop: tails, following, rotation. */
#include "test.h"

#include "base/buf.h"
#include "base/env.h"
#include "kubelet/log_reader.h"
#include "kubelet/log_rotation.h"
#include "net/event_loop.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct reader {
    char directory[32], path[64];
    struct buf out;
    bool is_over;
    struct status *error;
    struct log_request request;
    bool has_ended;
};

static struct status *take(void *arg, struct str text)
{
    struct reader *reader = arg;

    buf_add_str(&reader->out, text);
    return NULL;
}

static bool is_over(void *arg)
{
    return ((struct reader *)arg)->is_over;
}

static void add_line(struct reader *reader, const char *text)
{
    int fd = open(reader->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    char line[128];
    int size = snprintf(line, sizeof(line), "2026-01-02T03:04:05.000000006Z stdout F %s\n", text);

    CHECK(fd >= 0);
    CHECK_INT(write(fd, line, (size_t)size), size);
    close(fd);
}

static void begin(struct reader *reader)
{
    snprintf(reader->directory, sizeof(reader->directory), "/tmp/c8s-log-XXXXXX");
    CHECK(mkdtemp(reader->directory) != NULL);
    snprintf(reader->path, sizeof(reader->path), "%s/0.log", reader->directory);
    reader->request = (struct log_request){
        .path = reader->path,
        .tail_lines = -1,
        .filter = {.limit_bytes = -1, .want_stdout = true, .want_stderr = true},
    };
}

static void end(struct reader *reader)
{
    char old[80];

    snprintf(old, sizeof(old), "%s.old", reader->path);
    unlink(old);
    unlink(reader->path);
    CHECK_INT(rmdir(reader->directory), 0);
    buf_done(&reader->out);
}

static void read_task(void *arg)
{
    struct reader *reader = arg;
    struct log_sink sink = {take, is_over, reader};

    reader->error = log_read(&reader->request, &sink);
    reader->has_ended = true;
}

static void whole(void *arg)
{
    struct reader reader = {0};

    (void)arg;
    begin(&reader);
    for (int i = 0; i < 5000; i++) {
        char text[16];

        snprintf(text, sizeof(text), "line %04d", i);
        add_line(&reader, text);
    }
    read_task(&reader);
    CHECK_OK(reader.error);
    CHECK_INT(reader.out.n, 5000 * 10);
    CHECK(str_has_prefix(buf_str(&reader.out), STR("line 0000\nline 0001\n")));
    buf_clear(&reader.out);
    reader.request.tail_lines = 2;
    read_task(&reader);
    CHECK_OK(reader.error);
    CHECK_STR(buf_str(&reader.out), "line 4998\nline 4999\n");
    buf_clear(&reader.out);
    reader.request.tail_lines = 4000; /* more than the first look at the end holds */
    read_task(&reader);
    CHECK_OK(reader.error);
    CHECK_INT(reader.out.n, 4000 * 10);
    buf_clear(&reader.out);
    reader.request.tail_lines = 0;
    read_task(&reader);
    CHECK_OK(reader.error);
    CHECK_INT(reader.out.n, 0);
    reader.request.path = "/nonexistent/0.log";
    read_task(&reader);
    CHECK_ERROR(reader.error, "failed to try resolving symlinks in path \"/nonexistent/0.log\"");
    end(&reader);
}

static void wait_for(struct reader *reader, const char *text)
{
    for (int i = 0; i < 500 && !str_is(buf_str(&reader->out), text); i++) {
        CHECK(task_sleep(10 * ENV_MS));
    }
    CHECK_STR(buf_str(&reader->out), text);
}

static void followed(void *arg)
{
    struct reader reader = {0};
    char old[80];

    (void)arg;
    begin(&reader);
    snprintf(old, sizeof(old), "%s.old", reader.path);
    add_line(&reader, "a");
    reader.request.follow = true;
    task_spawn("reader", read_task, &reader);
    wait_for(&reader, "a\n");
    add_line(&reader, "b");
    wait_for(&reader, "a\nb\n");
    CHECK_INT(rename(reader.path, old), 0); /* rotation */
    add_line(&reader, "c");
    wait_for(&reader, "a\nb\nc\n");
    CHECK(!reader.has_ended);
    add_line(&reader, "d");
    reader.is_over = true;
    for (int i = 0; i < 500 && !reader.has_ended; i++) {
        CHECK(task_sleep(10 * ENV_MS));
    }
    CHECK(reader.has_ended);
    CHECK_OK(reader.error);
    CHECK_STR(buf_str(&reader.out), "a\nb\nc\nd\n");
    end(&reader);
}

static void on_loop(task_fn *fn)
{
    struct env *env = event_loop_new();

    event_loop_run_task(env, "test", fn, NULL);
    event_loop_free(env);
}

TEST("kubelet/log_reader/sends all of a log, or its end")
{
    on_loop(whole);
}

TEST("kubelet/log_reader/follows a log into the file that replaces it, to the container's end")
{
    on_loop(followed);
}

TEST("kubelet/log_rotation/the oldest parts go")
{
    static struct str items[] = {STR_INIT("0.log"),
                                 STR_INIT("0.log.20260101-000000"),
                                 STR_INIT("0.log.20260102-000000"),
                                 STR_INIT("0.log.20260103-000000"),
                                 STR_INIT("10.log"),
                                 STR_INIT("10.log.20260101-000000")};
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct host_names names = {items, COUNT_OF(items)}, old = {0};

    log_rotation_decide(arena, &names, STR("0.log"), 5, &old);
    CHECK_INT(old.len, 0);
    log_rotation_decide(arena, &names, STR("0.log"), 3, &old);
    CHECK_INT(old.len, 1);
    CHECK_STR(old.items[0], "0.log.20260101-000000");
    old.len = 0;
    old.items = NULL;
    log_rotation_decide(arena, &names, STR("10.log"), 1, &old);
    CHECK_INT(old.len, 1);
    CHECK_STR(old.items[0], "10.log.20260101-000000");
}
