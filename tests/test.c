#include "test.h"

#include "base/virtual_env.h"

#include "base/task.h"

#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMEOUT_SECONDS = 120 };

static struct test *tests;
static struct test **tests_end = &tests;

void test_add(struct test *test)
{
    *tests_end = test;
    tests_end = &test->next;
}

NO_RETURN void test_fail(const char *file, int line, const char *format, ...)
{
    va_list args;

    fprintf(stderr, "  %s:%d: ", file, line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    fflush(stderr);
    _exit(1);
}

void test_check_str(const char *file, int line, struct str got, struct str wanted)
{
    if (!str_eq(got, wanted)) {
        test_fail(file, line, "got    \"%.*s\"\n  wanted \"%.*s\"", STR_ARG(got), STR_ARG(wanted));
    }
}

void test_check_int(const char *file, int line, long long got, long long wanted)
{
    if (got != wanted) {
        test_fail(file, line, "got %lld, wanted %lld", got, wanted);
    }
}

void test_check_ok(const char *file, int line, struct status *status)
{
    if (status != NULL) {
        test_fail(file, line, "unexpected error: %.*s", STR_ARG(status->message));
    }
}

void test_check_error(const char *file, int line, struct status *status, const char *text)
{
    if (status == NULL) {
        test_fail(file, line, "no error, wanted one with \"%s\"", text);
    }
    if (!str_contains(status->message, str_of(text))) {
        test_fail(file, line, "error is \"%.*s\",\n  wanted one with \"%s\"", STR_ARG(status->message), text);
    }
    status_free(status);
}

struct call {
    void (*fn)(void *arg);
    void *arg;
    bool ended;
};

static void call_run(void *arg)
{
    struct call *call = arg;

    call->fn(call->arg);
    call->ended = true;
}

void test_run_task(void (*fn)(void *arg), void *arg)
{
    struct env *env = virtual_env_new(1);
    struct env *before = env_enter(env);
    struct call call = {fn, arg, false};

    task_spawn("test", call_run, &call);
    virtual_env_run(env);
    if (!call.ended) {
        test_fail(__FILE__, __LINE__, "the test's task waits for something that never comes");
    }
    env_enter(before);
    virtual_env_free(env);
}

static bool run_one(const struct test *test)
{
    fflush(stdout);
    pid_t child = fork();

    if (child == 0) {
        const char *longer = getenv("TEST_TIMEOUT"); /* seconds, for machines that are no real ones */

        alarm(longer != NULL ? (unsigned)atoi(longer) : TIMEOUT_SECONDS);
        test->run();
        exit(0); /* not _exit: leak checking runs at exit */
    }
    int status = 0;

    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("fork");
        exit(2);
    }
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "  killed by signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
    return status == 0;
}

static bool wanted(const struct test *test, int count, char **patterns)
{
    for (int i = 0; i < count; i++) {
        if (fnmatch(patterns[i], test->name, 0) == 0) {
            return true;
        }
    }
    return count == 0;
}

int main(int argc, char **argv)
{
    int passed = 0, failed = 0;
    bool list = argc > 1 && strcmp(argv[1], "--list") == 0;

    for (struct test *test = tests; test != NULL; test = test->next) {
        if (list) {
            printf("%s\n", test->name);
        } else if (wanted(test, argc - 1, argv + 1)) {
            bool good = run_one(test);

            printf("%s %s\n", good ? "pass" : "FAIL", test->name);
            passed += good;
            failed += !good;
        }
    }
    if (!list) {
        printf("%d passed, %d failed\n", passed, failed);
    }
    return failed > 0;
}
