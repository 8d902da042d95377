/* What a process that the shim has just made tells the shim before it becomes the container's program: packets on a
 * socket that closes by itself when the program starts. */
#ifndef RUNTIME_SHIM_REPORT_H
#define RUNTIME_SHIM_REPORT_H

#include "base/attr.h"
#include "runtime/shim/users.h"

#include <stdint.h>

enum report_kind {
    REPORT_USER = 1, /* who it runs as */
    REPORT_TTY,      /* with the terminal's master */
    REPORT_READY,    /* the pause process is done */
    REPORT_ERROR,    /* it has failed and ends now */
    REPORT_PID,      /* of the container, when it is not the process that the shim made */
};

struct report {
    uint32_t kind;
    int32_t error;
    uint32_t uid, gid, group_count, pid;
    uint32_t groups[USERS_GROUPS_MAX];
    char stage[32];
    char message[512];
};

/* Sends, with fd beside it unless it is -1. */
void report_send(int socket, const struct report *report, int fd);
/* False at the end of the stream; *ret_fd is -1 unless one came. */
bool report_receive(int socket, struct report *ret, int *ret_fd);
/* For the child: says what failed at which stage, with errno's text when `error` is not 0, and exits with 128. */
NO_RETURN void report_fail(int socket, int error, const char *stage, const char *format, ...) PRINTF_LIKE(4, 5);

#endif
