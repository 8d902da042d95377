#include "net_test.h"

#include "net/process.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static struct process_output output;

static struct status *run(struct arena *arena, const char *script, struct str input, size_t max, int64_t timeout)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    struct process_options options = {.argv = argv, .cwd = "/"};

    return process_run(&options, input, max, env_mono() + timeout, arena, &output);
}

static void runs(void *arg)
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    (void)arg;
    CHECK_OK(run(arena, "pwd; cat; echo bad >&2; exit 3", STR("in"), 100, 30 * ENV_SECOND));
    CHECK_INT(output.end.code, 3);
    CHECK_STR(output.out, "/\nin");
    CHECK_STR(output.err, "bad\n");
    CHECK(!output.is_cut);
    CHECK_OK(run(arena, "head -c 1000000 /dev/zero; kill -TERM $$", STR(""), 10, 30 * ENV_SECOND));
    CHECK_INT(output.out.n, 10);
    CHECK(output.is_cut);
    CHECK_INT(output.end.signal, SIGTERM);
    CHECK_INT(output.end.code, 128 + SIGTERM);
    CHECK_ERROR(run(arena, "sleep 100", STR(""), 10, 20 * ENV_MS), "running sh: timed out");
    /* What a grandchild holds open does not hold us. */
    CHECK_OK(run(arena, "sleep 2 & echo done", STR(""), 10, 30 * ENV_SECOND));
    CHECK_STR(output.out, "done\n");
}

TEST("net/process/runs a program, bounded in output and time")
{
    run_on_loop(runs, NULL);
}

static void starts(void *arg)
{
    const char *argv[] = {"sh", "-c", "trap 'exit 7' TERM; echo $A >&3; read line; exit 9", NULL};
    const char *env[] = {"A=b", NULL};
    int input[2], result[2];
    char text[16] = {0};
    struct process *process;
    struct process_end end;

    (void)arg;
    CHECK_INT(pipe(input), 0);
    CHECK_INT(pipe(result), 0);
    int fds[] = {input[0], -1, -1, result[1]};
    struct process_options options = {.argv = argv, .env = env, .fds = fds, .fd_count = 4};

    CHECK_OK(process_start(&options, &process));
    CHECK_OK(task_wait_fd(result[0], ENV_READABLE, TASK_FOREVER));
    CHECK_INT(read(result[0], text, sizeof(text)), 2);
    CHECK_STR(str_of(text), "b\n");
    CHECK_ERROR(process_wait(process, env_mono() + 5 * ENV_MS, &end), "timed out");
    process_signal(process, SIGTERM);
    CHECK_OK(process_wait(process, TASK_FOREVER, &end));
    CHECK_INT(end.code, 7);
    process_free(process);
}

TEST("net/process/starts a child with descriptors and environment of its own")
{
    run_on_loop(starts, NULL);
}

static void fails_to_start(void *arg)
{
    const char *nothing[] = {"c8s-no-such-program", NULL}, *no_file[] = {"/no/such/file", NULL};
    const char *shell[] = {"sh", NULL};
    struct process *process;

    (void)arg;
    CHECK_ERROR(process_start(&(struct process_options){.argv = nothing}, &process), "executable file not found in $PATH");
    CHECK_ERROR(process_start(&(struct process_options){.argv = no_file}, &process), "exec: No such file");
    CHECK_ERROR(process_start(&(struct process_options){.argv = shell, .cwd = "/no/such"}, &process), "chdir: No such file");
}

TEST("net/process/says why a child could not be started")
{
    run_on_loop(fails_to_start, NULL);
}
