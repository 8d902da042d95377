#include "runtime/shim/loop.h"

#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>

bool loop_open(struct loop *loop)
{
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->is_done = false;
    return loop->epoll >= 0;
}

bool loop_add(struct loop *loop, struct watch *watch, int fd, unsigned events,
              void (*fn)(struct watch *watch, unsigned events))
{
    struct epoll_event event = {.events = events, .data.ptr = watch};

    if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
        return false;
    }
    *watch = (struct watch){.loop = loop, .fd = fd, .events = events, .fn = fn};
    return true;
}

void loop_change(struct watch *watch, unsigned events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};

    if (watch->loop != NULL && watch->events != events) {
        epoll_ctl(watch->loop->epoll, EPOLL_CTL_MOD, watch->fd, &event);
        watch->events = events;
    }
}

void loop_remove(struct watch *watch)
{
    if (watch->loop != NULL) {
        epoll_ctl(watch->loop->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
        watch->loop = NULL;
    }
}

void loop_run(struct loop *loop)
{
    while (!loop->is_done) {
        /* One at a time: what a callback removes is never called. */
        struct epoll_event event;
        int n = epoll_wait(loop->epoll, &event, 1, -1);

        if (n < 0 && errno != EINTR) {
            return;
        }
        if (n == 1) {
            struct watch *watch = event.data.ptr;

            watch->fn(watch, event.events);
        }
    }
}
