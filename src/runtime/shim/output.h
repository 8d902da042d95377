/* A container's streams: what it writes goes to its log and to whoever is attached, what they write goes to it.
 *
 * Someone attached who does not read holds the container up, as in stock; nothing is kept in memory beyond one read. */
#ifndef RUNTIME_SHIM_OUTPUT_H
#define RUNTIME_SHIM_OUTPUT_H

#include "base/list.h"
#include "runtime/shim/log_writer.h"
#include "runtime/shim/loop.h"

struct output {
    struct loop *loop;
    struct log_writer log;
    char *log_path;
    struct watch streams[LOG_STREAMS]; /* of a terminal only the first */
    int fds[LOG_STREAMS];              /* -1: at its end */
    struct watch stdin_watch;
    int stdin_fd; /* what the container reads; -1: nothing */
    bool is_tty, is_stdin_once;
    struct buf to_stdin;
    struct link clients;
};

/* Takes the log file (which is opened: false with errno when it can't be) and nothing else yet. */
bool output_open(struct output *output, struct loop *loop, const char *log_path, bool is_stdin_once);
/* Takes the parent's ends of pipes; -1 for stdin: none. */
void output_pipes(struct output *output, int in, int out, int err);
/* Takes the master of the terminal; stdin goes there when `has_stdin`. */
void output_terminal(struct output *output, int master, bool has_stdin);
/* Takes the descriptors: `in` is read, `out` and `err` are written; -1 for none. What was written before is not seen. */
void output_attach(struct output *output, int in, int out, int err);
/* False when it has no terminal. */
bool output_resize(struct output *output, unsigned rows, unsigned columns);
/* Opens the log anew, after it was moved away. False with errno. */
bool output_reopen(struct output *output);
/* Takes what is still in the pipes, then closes everything. */
void output_finish(struct output *output);

/* Nanoseconds since 1970. */
int64_t output_now(void);

#endif
