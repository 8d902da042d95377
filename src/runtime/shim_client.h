/* The runtime's end of a sandbox's shim (shim/protocol.h): calls that park, and the events the shim sends of its own
 * accord. Loop thread. */
#ifndef RUNTIME_SHIM_CLIENT_H
#define RUNTIME_SHIM_CLIENT_H

#include "base/arena.h"
#include "base/status.h"
#include "runtime/shim/protocol.h"

struct shim_client;

struct shim_client_events {
    /* A process of the sandbox has ended; borrowed. On the bare loop: must not park. */
    void (*exited)(void *arg, const struct shim_process *process);
    /* The shim is gone, and with it all of the sandbox. Not called by shim_client_close(). */
    void (*gone)(void *arg);
};

/* Connects to DIRECTORY/shim.sock. NOT_FOUND when no shim is there (any more). `events` must live on. */
MUST_USE struct status *shim_client_open(const char *directory, const struct shim_client_events *events, void *arg,
                                         struct shim_client **ret);
/* Calls under way fail. The shim goes on. NULL is fine. */
void shim_client_close(struct shim_client *client);

struct shim_call {
    enum shim_verb verb;
    struct str id, exec;
    uint64_t value;
    uint32_t rows, columns;
    const struct type *plan_type; /* of `plan`, which goes in a memfd before the other descriptors; NULL: none */
    const void *plan;
    int fds[3]; /* lent */
    size_t fd_count;
};

/* Parks until the shim answers; *ret is in the arena. *ret_fd (may be NULL) gets the descriptor that came with the
 * answer, -1 when none did. What the shim could not do is NOT_FOUND for ESRCH ("no such process"), ALREADY_EXISTS for
 * EEXIST, else INTERNAL_ERROR, with the shim's message and the stage as the field of its cause. SERVICE_UNAVAILABLE when
 * the shim is gone. Cancelling the task does not take the request back: its answer is dropped. */
MUST_USE struct status *shim_client_call(struct shim_client *client, struct arena *arena, const struct shim_call *call,
                                         struct shim_reply *ret, int *ret_fd);

#endif
