#include "runtime/shim/spawner.h"

#include "base/buf.h"
#include "network/cni_main.h"
#include "runtime/shim/kernel.h"
#include "runtime/shim/packet.h"
#include "runtime/shim/protocol.h"
#include "runtime/shim/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* What a request begins with. */
enum { REQUEST_SHIM = 'S', REQUEST_PLUGIN = 'P', REQUEST_BYTES = 16 << 10 };

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

/* "CNI_COMMAND=ADD" */
static void set_variable(char *assignment)
{
    char *value = strchr(assignment, '=');

    if (value != NULL) {
        *value = '\0';
        setenv(assignment, value + 1, 1);
    }
}

/* request: seconds, path and parameters, each with a NUL. */
static NO_RETURN void become_plugin(char *request, size_t n, const int fds[SPAWNER_PLUGIN_FDS])
{
    char *path = request + strlen(request) + 1, *argv[] = {path, NULL};

    prctl(PR_SET_PDEATHSIG, 0);
    prctl(PR_SET_NAME, "c8s-cni");
    signal(SIGCHLD, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    for (int i = 0; i < SPAWNER_PLUGIN_FDS; i++) {
        dup2(fds[i], i); /* each is above: 0 to 2 are open in the spawner */
    }
    kernel_close_range(SPAWNER_PLUGIN_FDS, ~0u, 0);
    for (char *at = path + strlen(path) + 1; at < request + n; ) {
        char *next = at + strlen(at) + 1;

        set_variable(at);
        at = next;
    }
    if (chdir("/") != 0) {
        _exit(1);
    }
    alarm((unsigned)strtoul(request, NULL, 10));
    int code = cni_main(1, argv);

    _exit(write(SPAWNER_PLUGIN_FDS - 1, &code, sizeof(code)) == sizeof(code) ? 0 : 1);
}

static void run_plugin(char *request, size_t n, int *fds, size_t fd_count)
{
    /* Whoever is cut off has its end of the pipe closed, which says that it failed. */
    if (fd_count == SPAWNER_PLUGIN_FDS && n > 0 && request[n - 1] == '\0' && memchr(request, '\0', n - 1) != NULL &&
        fork() == 0) {
        become_plugin(request, n, fds);
    }
    for (size_t i = 0; i < fd_count; i++) {
        close(fds[i]);
    }
}

static void forget_parameters(void)
{
    for (char **variable = environ; *variable != NULL;) {
        char name[256];

        if (strncmp(*variable, "CNI_", 4) == 0 &&
            snprintf(name, sizeof(name), "%.*s", (int)strcspn(*variable, "="), *variable) < (int)sizeof(name)) {
            unsetenv(name);
        } else {
            variable++;
        }
    }
}

static NO_RETURN void serve(int socket)
{
    static char request[REQUEST_BYTES + 1];

    for (;;) {
        struct pollfd waiting = {.fd = socket, .events = POLLIN};
        int fds[PACKET_FDS];
        size_t fd_count = 0;

        poll(&waiting, 1, -1);
        long n = packet_receive(socket, request, REQUEST_BYTES, fds, &fd_count);

        if (n < 0 && errno == EAGAIN) {
            continue;
        }
        if (n <= 0) {
            _exit(0);
        }
        request[n] = '\0';
        if (request[0] == REQUEST_PLUGIN) {
            run_plugin(request + 1, (size_t)n - 1, fds, fd_count);
            continue;
        }
        int error = spawn(request + 1);

        if (send(socket, &error, sizeof(error), MSG_NOSIGNAL) < 0) {
            _exit(1);
        }
    }
}

static NO_RETURN void run(int socket)
{
    sigset_t none;

    prctl(PR_SET_NAME, "c8s-spawner");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGCHLD, SIG_IGN); /* its children are reaped by the kernel */
    signal(SIGINT, SIG_IGN);
    be_spared();
    forget_parameters();
    serve(socket);
}

struct status *spawner_start(int *ret_socket, int *ret_pidfd)
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
    *ret_pidfd = kernel_pidfd_open(pid);
    return NULL;
}

static struct status *gone(void)
{
    return status_new(STATUS_SERVICE_UNAVAILABLE, "the process that makes shims is gone");
}

struct status *spawner_ask(int socket, const char *directory)
{
    OWNED(buf_done) struct buf request = {0};

    buf_printf(&request, "%c%s", REQUEST_SHIM, directory);
    return send(socket, request.p, request.n, MSG_NOSIGNAL) < 0 ? gone() : NULL;
}

struct status *spawner_answer(int socket, const char *directory)
{
    int error;

    if (recv(socket, &error, sizeof(error), 0) != sizeof(error)) {
        return gone();
    }
    return error != 0 ? status_errno(error, "making a shim in %s", directory) : NULL;
}

struct status *spawner_spawn(int socket, const char *directory)
{
    TRY(spawner_ask(socket, directory));
    return spawner_answer(socket, directory);
}

bool spawner_run(int socket, const struct spawner_plugin *plugin, const int fds[SPAWNER_PLUGIN_FDS])
{
    OWNED(buf_done) struct buf request = {0};

    buf_printf(&request, "%c%u%c%.*s%c", REQUEST_PLUGIN, plugin->seconds, '\0', STR_ARG(plugin->path), '\0');
    LIST_EACH(parameter, plugin->parameters) {
        buf_printf(&request, "%.*s%c", STR_ARG(*parameter), '\0');
    }
    if (request.n > REQUEST_BYTES) {
        errno = EMSGSIZE;
        return false;
    }
    return packet_send(socket, buf_str(&request), fds, SPAWNER_PLUGIN_FDS);
}
