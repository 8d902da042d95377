/* Sends a container's log file to somebody, perhaps as it grows. */
#ifndef KUBELET_LOG_READER_H
#define KUBELET_LOG_READER_H

#include "kubelet/container_log.h"

struct log_request {
    const char *path;
    int64_t tail_lines; /* only the last so many; -1: all */
    bool follow;        /* go on until is_over() */
    struct container_log_filter filter;
};

struct log_sink {
    /* Takes text; may park. An error ends the reading. */
    struct status *(*write)(void *arg, struct str text);
    /* Nothing more will be written to the log. Asked when all of it has been sent; may park. */
    bool (*is_over)(void *arg);
    void *arg;
};

/* Parks until all is sent, the sink fails, or the task is cancelled. A log that is replaced by a new file (rotation) is
 * followed into the new one. */
MUST_USE struct status *log_read(const struct log_request *request, const struct log_sink *sink);

#endif
