#include "net/signals.h"

#include "base/mem.h"
#include "base/task.h"
#include "base/env.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct signals {
    int fd;
};

struct status *signals_open(const int *numbers, struct signals **ret)
{
    sigset_t set;

    sigemptyset(&set);
    for (; *numbers != 0; numbers++) {
        sigaddset(&set, *numbers);
    }
    int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);

    if (fd < 0 || sigprocmask(SIG_BLOCK, &set, NULL) != 0) {
        return status_errno(errno, "taking signals");
    }
    *ret = MEM_NEW(struct signals);
    (*ret)->fd = fd;
    return NULL;
}

struct status *signals_wait(struct signals *signals, int64_t deadline, int *ret_number)
{
    for (;;) {
        struct signalfd_siginfo info;
        ssize_t got = read(signals->fd, &info, sizeof(info));

        if (got == (ssize_t)sizeof(info)) {
            *ret_number = (int)info.ssi_signo;
            return NULL;
        }
        if (got < 0 && errno != EAGAIN && errno != EINTR) {
            return status_errno(errno, "reading signals");
        }
        TRY(task_wait_fd(signals->fd, ENV_READABLE, deadline));
    }
}

void signals_close(struct signals *signals)
{
    if (signals != NULL) {
        close(signals->fd);
        free(signals);
    }
}
