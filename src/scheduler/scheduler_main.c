#include "scheduler/scheduler_main.h"

#include "client/component_process.h"
#include "scheduler/scheduler.h"

static void run(const struct component_clients *clients, void *options)
{
    struct scheduler *scheduler = scheduler_new(clients->own, STR("default-scheduler"));

    scheduler_run(scheduler);
    scheduler_free(scheduler);
}

int scheduler_main(int argc, char **argv)
{
    static const struct component_process component = {
        .name = "kube-scheduler",
        .trace_name = "scheduler",
        .about = "The Kubernetes scheduler of c8s: finds a node for every pod that has none.",
        .run = run,
    };

    return component_process_main(&component, argc, argv);
}
