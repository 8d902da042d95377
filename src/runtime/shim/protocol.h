/* What the runtime and a sandbox's shim say to each other over the SOCK_SEQPACKET socket STATE/SANDBOX/shim.sock.
 *
 * One message is one packet: the wire.h bytes of a struct shim_request or struct shim_reply, with file descriptors
 * beside it. Every request gets one reply with its serial; a shim also sends replies of its own accord (`event`) to
 * every connection that said HELLO. */
#ifndef RUNTIME_SHIM_PROTOCOL_H
#define RUNTIME_SHIM_PROTOCOL_H

#include "runtime/wire.h"

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

struct shim_request {
    uint64_t serial, verb;
    struct str id, exec;
    uint64_t value;
    uint64_t rows, columns;
};

enum shim_state { SHIM_RUNNING = 1, SHIM_ENDED };

/* A process of the sandbox, or what is left of it. */
struct shim_process {
    struct str id;   /* of the container; empty: pause */
    struct str exec; /* name of an exec in it; empty: the container's own */
    uint64_t state;
    uint64_t pid;
    uint64_t uid, gid;
    struct wire_u64s groups;
    uint64_t started_at, finished_at; /* env_wall() nanoseconds */
    uint64_t exit_code;  /* 128 + signal when killed */
    uint64_t signal;
    uint64_t is_oom_killed;
};

struct shim_processes {
    struct shim_process *items;
    size_t len;
};

enum shim_event { SHIM_NO_EVENT, SHIM_EXITED };

struct shim_reply {
    uint64_t serial;
    uint64_t event;
    uint64_t error;    /* errno or 1 when it failed; `message` says why */
    struct str stage;  /* which step failed: "exec", "mount" */
    struct str message;
    struct shim_processes processes;
};

extern const struct wire_type shim_request_type;
extern const struct wire_type shim_reply_type;
extern const struct wire_type shim_process_type; /* also the file at exit_path */

#endif
