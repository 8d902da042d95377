/* What the runtime and a sandbox's shim say to each other over the SOCK_SEQPACKET socket STATE/SANDBOX/shim.sock.
 *
 * One message is one packet: a Request or a Reply of schema/shim.k, with file descriptors beside it. Every request gets
 * one reply with its serial; a shim also sends replies of its own accord (`event`) to every connection that said HELLO. */
#ifndef RUNTIME_SHIM_PROTOCOL_H
#define RUNTIME_SHIM_PROTOCOL_H

#include "schema/shim.h"

enum { SHIM_MESSAGE_BYTES = 128 << 10, SHIM_FDS = 4 };

#define SHIM_SOCKET_NAME "shim.sock"

enum shim_verb {
    SHIM_HELLO = 1,   /* replies with all processes; events follow from now on */
    SHIM_SANDBOX,     /* fd: sandbox_plan. Starts the pause process; replies with its pid */
    SHIM_START,       /* id; fd: container_plan. Replies once the program runs, or with why it does not */
    SHIM_EXEC,        /* id, exec; fds: exec_plan, then stdin, stdout, stderr unless a tty. With a tty the reply brings
                         its master. SHIM_EXITED follows with the exec's name */
    SHIM_SIGNAL,      /* id (empty: pause), exec or empty, value: the signal */
    SHIM_ATTACH,      /* id; flags 1 stdin, 2 stdout, 4 stderr say which fds follow, in this order */
    SHIM_RESIZE,      /* id; rows, columns */
    SHIM_REOPEN,      /* id: opens the log file anew */
    SHIM_FORGET,      /* id: drops the record of a container that has ended */
    SHIM_QUIT,        /* kills everything, replies, ends */
};

enum { SHIM_STDIN = 1, SHIM_STDOUT = 2, SHIM_STDERR = 4 };

/* shim_process.state */
enum shim_state { SHIM_RUNNING = 1, SHIM_ENDED };

/* shim_reply.event */
enum shim_event { SHIM_NO_EVENT, SHIM_EXITED };

#endif
