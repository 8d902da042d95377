/* The shim's event loop: no threads, no timers, a few hundred bytes. */
#ifndef RUNTIME_SHIM_LOOP_H
#define RUNTIME_SHIM_LOOP_H

#include <stdbool.h>

struct loop {
    int epoll;
    bool is_done;
};

/* Embedded in whatever waits. Zero fd and events are those of a watch that is not added. */
struct watch {
    struct loop *loop; /* NULL: not added */
    int fd;
    unsigned events;
    void (*fn)(struct watch *watch, unsigned events); /* may remove any watch, and free its owner */
};

bool loop_open(struct loop *loop);
/* `events` are EPOLLIN, EPOLLOUT or 0. False with errno when the kernel can't poll it. */
bool loop_add(struct loop *loop, struct watch *watch, int fd, unsigned events,
              void (*fn)(struct watch *watch, unsigned events));
void loop_change(struct watch *watch, unsigned events);
/* Does not close the descriptor. Fine when it was not added. */
void loop_remove(struct watch *watch);
/* Until is_done. */
void loop_run(struct loop *loop);

#endif
