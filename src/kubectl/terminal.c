#include "kubectl/terminal.h"

#include "base/mem.h"
#include "base/task.h"
#include "net/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

struct terminal {
    struct signals *resized;
    int wake[2]; /* a pipe: written to end a read that waits */
    bool is_raw, is_interrupted;
    struct termios before;
};

struct status *terminal_open(struct terminal **ret)
{
    static const int numbers[] = {SIGWINCH, 0};
    struct terminal *terminal = MEM_NEW(struct terminal);
    struct status *status = signals_open(numbers, &terminal->resized);

    if (status == NULL && pipe2(terminal->wake, O_CLOEXEC) != 0) {
        status = status_errno(errno, "pipe");
        signals_close(terminal->resized);
    }
    if (status != NULL) {
        free(terminal);
        return status;
    }
    *ret = terminal;
    return NULL;
}

bool terminal_is_tty(const struct terminal *terminal)
{
    (void)terminal;
    return isatty(STDIN_FILENO) == 1;
}

void terminal_make_raw(struct terminal *terminal)
{
    struct termios raw;

    if (tcgetattr(STDIN_FILENO, &terminal->before) != 0) {
        return;
    }
    raw = terminal->before;
    cfmakeraw(&raw);
    terminal->is_raw = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
}

/* A read on a worker: input may be a plain file, which no loop can wait for, and must not be made non-blocking, since
 * others share it. */
struct reading {
    struct terminal *terminal;
    char *bytes;
    size_t size, got;
    int error;
};

static void read_blocking(void *arg)
{
    struct reading *reading = arg;
    struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = reading->terminal->wake[0], .events = POLLIN}};
    ssize_t got;

    while (poll(fds, COUNT_OF(fds), -1) < 0 && errno == EINTR) {
    }
    if (fds[1].revents != 0) {
        return;
    }
    do {
        got = read(STDIN_FILENO, reading->bytes, reading->size);
    } while (got < 0 && errno == EINTR);
    reading->error = got < 0 ? errno : 0;
    reading->got = got > 0 ? (size_t)got : 0;
}

struct status *terminal_read(struct terminal *terminal, char *bytes, size_t size, size_t *ret_size)
{
    struct reading reading = {.terminal = terminal, .bytes = bytes, .size = size};

    if (!terminal->is_interrupted) {
        task_offload(read_blocking, &reading);
    }
    *ret_size = reading.got;
    return reading.error != 0 ? status_errno(reading.error, "reading standard input") : NULL;
}

void terminal_interrupt(struct terminal *terminal)
{
    terminal->is_interrupted = true;
    while (write(terminal->wake[1], "x", 1) < 0 && errno == EINTR) {
    }
}

void terminal_size(uint16_t *ret_width, uint16_t *ret_height)
{
    struct winsize size = {.ws_col = 80, .ws_row = 24};

    (void)ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
    *ret_width = size.ws_col;
    *ret_height = size.ws_row;
}

struct status *terminal_wait_resize(struct terminal *terminal)
{
    int number;

    return signals_wait(terminal->resized, TASK_FOREVER, &number);
}

void terminal_close(struct terminal *terminal)
{
    if (terminal == NULL) {
        return;
    }
    if (terminal->is_raw) {
        tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal->before);
    }
    signals_close(terminal->resized);
    close(terminal->wake[0]);
    close(terminal->wake[1]);
    free(terminal);
}
