#include "runtime/seccomp.h"

#include "runtime/capability.h"
#include "test.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs `probe` in a process under the filter; its exit code. */
static int under(const struct seccomp_profile *profile, int (*probe)(void))
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str filter;
    int status = 0;

    CHECK_OK(seccomp_filter_make(profile, arena, &filter));
    CHECK(filter.n > 0 && filter.n % sizeof(struct sock_filter) == 0);
    struct sock_fprog program = {(unsigned short)(filter.n / sizeof(struct sock_filter)),
                                 (struct sock_filter *)(uintptr_t)filter.p};
    pid_t child = fork();

    if (child == 0) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
            syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) {
            _exit(100);
        }
        _exit(probe());
    }
    CHECK(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int ordinary(void)
{
    struct stat found;

    return stat("/", &found) == 0 && getpid() > 0 ? 0 : 1;
}

static int namespaces(void)
{
    return syscall(SYS_unshare, CLONE_NEWUSER) == 0 ? 1 : errno == EPERM ? 0 : 2;
}

static int newest_clone(void)
{
    return syscall(SYS_clone3, NULL, 0) == 0 ? 1 : errno == ENOSYS ? 0 : 2;
}

static int keys(void)
{
    return syscall(SYS_keyctl, 0, 0, 0, 0, 0) >= 0 ? 1 : errno == EPERM ? 0 : 2;
}

TEST("runtime/seccomp/RuntimeDefault lets ordinary calls through, and no others")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct seccomp_profile profile;

    seccomp_profile_default(arena, capabilities_default(), &profile);
    CHECK_INT(under(&profile, ordinary), 0);
    CHECK_INT(under(&profile, namespaces), 0);
    CHECK_INT(under(&profile, newest_clone), 0);
    CHECK_INT(under(&profile, keys), 0);
}

static int unknown_clone_argument(void)
{
    return syscall(SYS_clone3, NULL, 0) == 0 ? 1 : errno == ENOSYS ? 2 : 0;
}

TEST("runtime/seccomp/RuntimeDefault goes by capabilities")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct seccomp_profile profile;

    seccomp_profile_default(arena, CAPABILITIES_ALL, &profile);
    CHECK_INT(under(&profile, unknown_clone_argument), 0);
}

static int made_directory(void)
{
    return mkdir("/tmp/never", 0700) == 0 ? 1 : errno == ECHILD ? 0 : 2;
}

static int file_mode(void)
{
    if (chmod("/nowhere", 0777) == 0 || errno != EPERM) {
        return 1;
    }
    return chmod("/nowhere", 0755) == 0 || errno != ENOENT;
}

TEST("runtime/seccomp/a profile's actions and arguments")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct seccomp_profile profile;

    CHECK_OK(seccomp_profile_decode(
        arena,
        STR("{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"architectures\":[\"SCMP_ARCH_X86_64\"],\"syscalls\":["
            "{\"names\":[\"mkdir\",\"mkdirat\",\"of_another_kernel\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":10},"
            "{\"names\":[\"chmod\"],\"action\":\"SCMP_ACT_ERRNO\",\"args\":"
            "[{\"index\":1,\"value\":511,\"op\":\"SCMP_CMP_EQ\"}]},"
            "{\"names\":[\"fchmodat\"],\"action\":\"SCMP_ACT_ERRNO\",\"args\":"
            "[{\"index\":2,\"value\":511,\"op\":\"SCMP_CMP_EQ\"}]}]}"),
        0, &profile));
    CHECK_INT(under(&profile, made_directory), 0);
    CHECK_INT(under(&profile, file_mode), 0);
}

TEST("runtime/seccomp/what is no profile is refused")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct seccomp_profile profile;

    CHECK_ERROR(seccomp_profile_decode(arena, STR("not json"), 0, &profile), "");
    CHECK_ERROR(seccomp_profile_decode(arena, STR("{}"), 0, &profile), "");
    CHECK_ERROR(seccomp_profile_decode(arena, STR("{\"defaultAction\":\"SCMP_ACT_DANCE\"}"), 0, &profile),
                "SCMP_ACT_DANCE");
    CHECK_ERROR(seccomp_profile_decode(arena,
                                       STR("{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{\"names\":[\"a\"],"
                                           "\"action\":\"SCMP_ACT_ERRNO\",\"args\":[{\"index\":9}]}]}"),
                                       0, &profile), "");
}

TEST("runtime/seccomp/a profile is the same in the OCI form")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct seccomp_profile profile, again;
    struct str filter, same;

    seccomp_profile_default(arena, capabilities_default(), &profile);
    CHECK_OK(seccomp_profile_decode(arena, seccomp_profile_encode(arena, &profile), capabilities_default(), &again));
    CHECK_OK(seccomp_filter_make(&profile, arena, &filter));
    CHECK_OK(seccomp_filter_make(&again, arena, &same));
    CHECK(str_eq(filter, same));
}
