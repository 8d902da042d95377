/* Makes shims, and runs plugins that are this program itself: a small process forked off before the runtime has threads,
 * connections or secrets, so that what is forked off it shares its pages and holds nothing else. Its children are none
 * of the runtime's, and outlive it. */
#ifndef RUNTIME_SHIM_SPAWNER_H
#define RUNTIME_SHIM_SPAWNER_H

#include "base/arena.h"
#include "base/status.h"

enum { SPAWNER_PLUGIN_FDS = 4 };

/* Before the event loop and any thread. *ret_socket is the runtime's end; the spawner ends when it is closed. *ret_pidfd
 * can be read when it has ended. */
MUST_USE struct status *spawner_start(int *ret_socket, int *ret_pidfd);
/* Makes a shim that listens at DIRECTORY/shim.sock (which exists when this returns). Blocks for less than a
 * millisecond; one thread at a time. */
MUST_USE struct status *spawner_spawn(int socket, const char *directory);
/* The same in two steps, between which other work may be done but nothing else be asked of the spawner. */
MUST_USE struct status *spawner_ask(int socket, const char *directory);
MUST_USE struct status *spawner_answer(int socket, const char *directory);

struct spawner_plugin {
    struct str path;                   /* argv[0] */
    const struct str_list *parameters; /* "NAME=value": its CNI_ variables; it has no others */
    unsigned seconds;                  /* after which it is killed; 0: never */
};

/* Runs a CNI plugin of our own with fds[0] to fds[2] as its standard streams; its exit code is written to fds[3] (an
 * int). False with errno when it is not run. The descriptors stay the caller's. Does not wait. */
bool spawner_run(int socket, const struct spawner_plugin *plugin, const int fds[SPAWNER_PLUGIN_FDS]);

#endif
