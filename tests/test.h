/* A small test runner: each test runs in a child process of its own, so a crash fails that test alone.
 *
 *   TEST("base/str/cut finds the first separator") { CHECK(str_is(head, "a")); }
 *
 * A program is its tests and tests/test.c. `PROGRAM --list` names them, `PROGRAM 'PATTERN'...` runs those that match
 * (fnmatch). It ends with `N passed, N failed` and exits with 1 when a test failed. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include "base/attr.h"
#include "base/status.h"

#include <stdbool.h>

struct test {
    const char *name;
    void (*run)(void);
    struct test *next;
};

void test_add(struct test *test);
NO_RETURN void test_fail(const char *file, int line, const char *format, ...) PRINTF_LIKE(3, 4);
void test_check_str(const char *file, int line, struct str got, struct str wanted);
void test_check_int(const char *file, int line, long long got, long long wanted);
void test_check_ok(const char *file, int line, struct status *status);
/* The status must not be NULL and its message must contain the text. Frees it. */
void test_check_error(const char *file, int line, struct status *status, const char *text);
/* Runs fn(arg) as a task on a virtual clock that jumps to the next timer when nothing else is left to do, until the
 * task and all others have ended. Fails the test when tasks are left that nothing will wake. */
void test_run_task(void (*fn)(void *arg), void *arg);

#define TEST_JOIN_(a, b) a##b
#define TEST_NAME_(a, b) TEST_JOIN_(a, b)
#define TEST(title)                                                               \
    static void TEST_NAME_(test_body_, __LINE__)(void);                           \
    static struct test TEST_NAME_(test_row_, __LINE__) = {                        \
        .name = title, .run = TEST_NAME_(test_body_, __LINE__)};                  \
    __attribute__((constructor)) static void TEST_NAME_(test_add_, __LINE__)(void) \
    {                                                                             \
        test_add(&TEST_NAME_(test_row_, __LINE__));                               \
    }                                                                             \
    static void TEST_NAME_(test_body_, __LINE__)(void)

#define CHECK(condition)                                          \
    do {                                                          \
        if (!(condition)) {                                       \
            test_fail(__FILE__, __LINE__, "not so: %s", #condition); \
        }                                                         \
    } while (0)
#define CHECK_STR(got, wanted) test_check_str(__FILE__, __LINE__, (got), str_of(wanted))
#define CHECK_INT(got, wanted) test_check_int(__FILE__, __LINE__, (long long)(got), (long long)(wanted))
#define CHECK_OK(call) test_check_ok(__FILE__, __LINE__, (call))
#define CHECK_ERROR(call, text) test_check_error(__FILE__, __LINE__, (call), (text))

#endif
