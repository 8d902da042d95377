#include "main/box.h"

#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void *nothing(void *arg)
{
    return arg;
}

static bool is_refused(long returned)
{
    return returned == -1 && errno == EPERM;
}

/* Exit codes say what was wrong. */
static int try_inside(void)
{
    char *argv[] = {(char *)"true", NULL};
    pthread_t thread;
    int fd;

    if ((fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC)) < 0 || close(fd) != 0) {
        return 2;
    }
    if ((fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0 || close(fd) != 0) {
        return 3;
    }
    if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0) {
        return 4;
    }
    if (!is_refused(execv("/bin/true", argv))) {
        return 5;
    }
    if (!is_refused(fork())) {
        return 6;
    }
    if (!is_refused(socket(AF_PACKET, SOCK_RAW, 0))) {
        return 7;
    }
    if (!is_refused(unshare(CLONE_NEWUSER)) || !is_refused(mount("none", "/mnt", "tmpfs", 0, NULL))) {
        return 8;
    }
    if (!is_refused(kill(getppid(), 0))) {
        return 9;
    }
    return 0;
}

TEST("main/box/holds files, threads and connections, and no way to other programs")
{
    struct arena *arena = arena_new();
    struct str instructions;
    int ended = -1;

    CHECK_OK(box_make(arena, &instructions));
    CHECK(instructions.n > 0 && instructions.n % 8 == 0);
    pid_t child = fork();

    if (child == 0) {
        struct status *status = box_enter(instructions);

        _exit(status != NULL ? 1 : try_inside());
    }
    CHECK_INT(waitpid(child, &ended, 0), child);
    CHECK_INT(ended, 0);
    arena_free(arena);
}
