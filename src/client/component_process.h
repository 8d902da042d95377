/* A component that is a client of the API server, as a process: stock's flags for reaching the server and for electing
 * a leader, the event loop, and the signals that end it. */
#ifndef CLIENT_COMPONENT_PROCESS_H
#define CLIENT_COMPONENT_PROCESS_H

#include "base/flags.h"
#include "client/client.h"

/* Ways to the API server, alive while the component runs. */
struct component_clients {
    struct client *own;  /* as the kubeconfig's user */
    struct client *bare; /* as nobody: for who brings credentials of their own (client_new_sharing) */
};

struct component_process {
    const char *name;        /* "kube-scheduler": user agent, and the Lease to be held in kube-system */
    const char *trace_name;  /* of its ring among the flight recorder's */
    const char *about;       /* a sentence for --help */
    struct flag_table flags; /* its own, beside those of all */
    /* Checks what the flags say; NULL: nothing to check. */
    struct status *(*check)(void *options);
    /* The work itself: parks until the task is cancelled, then ends all it has started. */
    void (*run)(const struct component_clients *clients, void *options);
};

/* Returns the process's exit code. */
int component_process_main(const struct component_process *component, int argc, char **argv);

#endif
