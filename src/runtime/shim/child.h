/* The processes of a sandbox as its shim knows them: pause, containers, executed ones. */
#ifndef RUNTIME_SHIM_CHILD_H
#define RUNTIME_SHIM_CHILD_H

#include "runtime/shim/launch.h"
#include "runtime/shim/output.h"
#include "runtime/shim/protocol.h"
#include "runtime/shim/report.h"

struct connection;

struct child {
    struct link link;
    struct shim *shim;
    struct shim_process record; /* its texts and groups are the child's own */
    char *id, *exec;
    uint32_t groups[USERS_GROUPS_MAX];
    int pidfd;
    pid_t waited_for; /* whose end is the child's: its own, or that of the process that watches it for an OCI runtime */
    struct watch report;  /* while it has not become its program */
    struct report failure; /* kind 0: none */
    int master;           /* of an exec's terminal, until it is handed over */
    bool is_container, has_stdin, is_pid_namespace_shared;
    struct output output; /* of a container */
    struct shim_cgroups cgroups;
    struct arena *arena;  /* of the cgroups */
    char *exit_path;
    struct connection *client; /* whom to answer; NULL: nobody waits (any more) */
    uint64_t serial;
};

struct shim {
    struct loop loop;
    struct link children, connections;
    struct watch listener, signals;
    struct connection *quitter; /* who asked for the end */
    uint64_t quit_serial;
    bool is_quitting;
};

struct child *child_new(struct shim *shim, struct str id, struct str exec);
/* NULL when there is none. With an empty exec: the container itself, with an empty id too: pause. */
struct child *child_find(struct shim *shim, struct str id, struct str exec);
/* Waits for what it reports. */
void child_launched(struct child *child, const struct launched *launched);
/* SIGCHLD has come: takes note of all that have ended. */
void child_reap(struct shim *shim);
/* The container's processes all get SIGKILL, also those that left its process group. */
void child_kill_all(const struct child *child);
void child_free(struct child *child);

/* By serve.c. */
void serve_started(struct child *child);
void serve_exited(struct child *child);

#endif
