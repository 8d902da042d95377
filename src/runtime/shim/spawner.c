#include "runtime/shim/spawner.h"

#include "runtime/shim/kernel.h"
#include "runtime/shim/protocol.h"
#include "runtime/shim/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* By the working directory, as the path may be longer than a socket's address takes. */
static int listen_in(const char *directory)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SHIM_SOCKET_NAME};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0 || chdir(directory) != 0) {
        return -1;
    }
    unlink(SHIM_SOCKET_NAME);
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(fd, 16) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static NO_RETURN void become_shim(int listener)
{
    int null = open("/dev/null", O_RDWR), log = open("shim.log", O_WRONLY | O_CREAT | O_APPEND, 0600);

    setsid();
    prctl(PR_SET_PDEATHSIG, 0);
    dup2(null, 0);
    dup2(null, 1);
    dup2(log >= 0 ? log : null, 2);
    dup2(listener, 3);
    kernel_close_range(4, ~0u, 0);
    fcntl(3, F_SETFD, FD_CLOEXEC);
    if (chdir("/") != 0) {
        _exit(1);
    }
    shim_serve(3);
}

static int spawn(const char *directory)
{
    int listener = listen_in(directory);

    if (listener < 0) {
        return errno;
    }
    pid_t pid = fork();
    int error = pid < 0 ? errno : 0;

    if (pid == 0) {
        become_shim(listener);
    }
    close(listener);
    return error;
}

/* A shim that is killed takes its pod with it, so it is the last to be chosen; where the machine does not let us, it is
 * as good as any. Containers get their own value. */
static void be_spared(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd >= 0) {
        ssize_t ignored = write(fd, "-998", 4);

        (void)ignored;
        close(fd);
    }
}

static NO_RETURN void run(int socket)
{
    char directory[4096];
    sigset_t none;

    prctl(PR_SET_NAME, "c8s-spawner");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGCHLD, SIG_IGN); /* shims are reaped by the kernel */
    signal(SIGINT, SIG_IGN);
    be_spared();
    for (;;) {
        ssize_t n = recv(socket, directory, sizeof(directory) - 1, 0);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            _exit(0);
        }
        directory[n] = '\0';
        int error = spawn(directory);

        if (send(socket, &error, sizeof(error), MSG_NOSIGNAL) < 0) {
            _exit(1);
        }
    }
}

struct status *spawner_start(int *ret_socket)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return status_errno(errno, "making a socket for the spawner");
    }
    pid_t pid = fork();

    if (pid == 0) {
        close(pair[0]);
        run(pair[1]);
    }
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return status_errno(errno, "forking the spawner");
    }
    *ret_socket = pair[0];
    return NULL;
}

struct status *spawner_spawn(int socket, const char *directory)
{
    int error;

    if (send(socket, directory, strlen(directory), MSG_NOSIGNAL) < 0 ||
        recv(socket, &error, sizeof(error), 0) != sizeof(error)) {
        return status_new(STATUS_SERVICE_UNAVAILABLE, "the process that makes shims is gone");
    }
    return error != 0 ? status_errno(error, "making a shim in %s", directory) : NULL;
}
