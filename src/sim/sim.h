/* A whole cluster in one process on a virtual clock: the API server on a store in memory, the controllers, the scheduler
 * and some kubelets over runtimes in memory, joined by a network that is slow and breaks. All comes from one seed.
 *
 * Components are the very ones of c8s; what stands in for the outside is network.h, fake_runtime.h, the kubelet's
 * memory host and the store's memory disk. A component that crashes loses all but what its disk, runtime or host keeps,
 * and starts again. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "base/task.h"
#include "client/client.h"
#include "sim/fake_runtime.h"
#include "sim/network.h"
#include "store/memory.h"

enum { SIM_NODES_MAX = 12, SIM_COMPONENTS_MAX = SIM_NODES_MAX + 3, SIM_WITNESSES = 3, SIM_NODE_CPUS = 4,
       SIM_CLIENTS_MAX = SIM_COMPONENTS_MAX + SIM_WITNESSES + 2 };

/* Places among the slots. */
enum { SIM_SLOT_APISERVER, SIM_SLOT_CONTROLLERS, SIM_SLOT_SCHEDULER, SIM_SLOT_NODES };

struct apiserver;
struct apiserver_options;
struct checker;
struct history;
struct http_server;
struct sim;
struct witness;

/* One that runs, crashes and runs again. */
struct component_slot {
    const char *name; /* "apiserver", "controller-manager", "scheduler", "node-0" */
    struct sim *sim;
    void (*run)(struct component_slot *slot); /* until crash_wanted */
    struct cond changed;
    bool crash_wanted;
    int crashes;
    struct node *node;
};

struct node {
    char name[32];
    struct fake_runtime *runtime;
    struct host *host;
};

/* Where a client's connections come from; one for each name there ever was. */
struct sim_dialler {
    struct sim *sim;
    const char *name;
    bool is_dead; /* its component has crashed: what is left of it reaches nobody */
};

/* What went wrong; the first counts. */
struct sim_verdict {
    bool is_bad;
    char text[512];
};

struct sim {
    struct network *network;
    struct memory_disk *disk;
    struct apiserver_options *options;
    struct apiserver *server; /* NULL while it is down */
    struct http_server *http;
    struct node nodes[SIM_NODES_MAX];
    size_t node_count;
    struct sim_dialler diallers[SIM_CLIENTS_MAX];
    struct component_slot slots[SIM_COMPONENTS_MAX];
    size_t slot_count;
    struct task_group tasks;
    bool is_stopping;
    char key_path[32]; /* of the key that tokens are signed with */
    struct str issuer;
    struct history *history;
    struct checker *checker;
    struct witness *witnesses[SIM_WITNESSES];
    struct sim_verdict verdict;
    struct map *pods_running; /* pod UID -> the node (struct node) where its sandbox runs */
};

/* Makes it and starts all components. In a task. */
struct sim *sim_new(size_t node_count);
/* Ends all. Parks. */
void sim_free(struct sim *sim);

/* A client of the API server, over the faulty network. `name` must outlive it; there are SIM_CLIENTS_MAX names. */
struct client *sim_client(struct sim *sim, const char *name);
/* Breaks the component's connections. */
void sim_disconnect(struct sim *sim, size_t slot);
/* The component ends as by SIGKILL and starts again after a while. */
void sim_crash(struct sim *sim, size_t slot);
void sim_set_faults(struct sim *sim, bool on);
/* Notes what must not be; the first is kept. */
void sim_blame(struct sim *sim, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
