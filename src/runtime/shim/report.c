#include "runtime/shim/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

void report_send(int socket, const struct report *report, int fd)
{
    struct iovec part = {(void *)report, sizeof(*report)};
    union control control = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof(control);
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);

        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(head), &fd, sizeof(fd));
    }
    while (sendmsg(socket, &message, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
}

bool report_receive(int socket, struct report *ret, int *ret_fd)
{
    struct iovec part = {ret, sizeof(*ret)};
    union control control = {0};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    ssize_t n;

    *ret_fd = -1;
    do {
        n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof(*ret)) {
        return false;
    }
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);

    if (head != NULL && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(int))) {
        memcpy(ret_fd, CMSG_DATA(head), sizeof(*ret_fd));
    }
    ret->stage[sizeof(ret->stage) - 1] = '\0';
    ret->message[sizeof(ret->message) - 1] = '\0';
    return true;
}

NO_RETURN void report_fail(int socket, int error, const char *stage, const char *format, ...)
{
    struct report report = {.kind = REPORT_ERROR, .error = error};
    va_list args;

    snprintf(report.stage, sizeof(report.stage), "%s", stage);
    va_start(args, format);
    int n = vsnprintf(report.message, sizeof(report.message), format, args);

    va_end(args);
    if (error != 0 && n >= 0 && (size_t)n < sizeof(report.message)) {
        snprintf(report.message + n, sizeof(report.message) - (size_t)n, ": %s", strerror(error));
    }
    if (error == 0) {
        report.error = 1;
    }
    report_send(socket, &report, -1);
    _exit(128);
}
