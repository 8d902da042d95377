#include "main/commands.h"

#include "apiserver/apiserver_main.h"
#include "base/version.h"
#include "controller/controller_main.h"
#include "kubectl/kubectl_main.h"
#include "kubelet/kubelet_main.h"
#include "main/server.h"
#include "main/stop.h"
#include "network/cni_main.h"
#include "runtime/cri_main.h"
#include "runtime/images/images_main.h"
#include "scheduler/scheduler_main.h"
#include "sim/simulate_main.h"
#include "trace/trace_main.h"

#include <string.h>

static int version_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    printf("c8s %s (Kubernetes %s)\n", C8S_VERSION, KUBERNETES_VERSION);
    return 0;
}

static const struct command commands[] = {
    {"server", server_main, "run a cluster on this machine"},
    {"stop", stop_main, "end that cluster and its containers"},
    {"apiserver", apiserver_main, "be the API server alone"},
    {"controller-manager", controller_main, "be the controller manager alone"},
    {"scheduler", scheduler_main, "be the scheduler alone"},
    {"kubelet", kubelet_main, "be the kubelet alone"},
    {"kubectl", kubectl_main, "be kubectl: get, run, create, apply, logs, ..."},
    {"cri", cri_main, "be the container runtime alone"},
    {"trace", trace_main, "show how a pod came to be"},
    {"simulate", simulate_main, "run a cluster on a virtual clock and look for faults"},
    {"images", images_main, "list, import, pull and remove the images of this machine"},
    {"cni", cni_main, "be a CNI plugin (the configuration's type says which)"},
    {"version", version_main, "print the version"},
};

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

void commands_print(FILE *out)
{
    fputs("c8s: Kubernetes in one small binary\n\nUsage: c8s COMMAND [ARGUMENTS]\n\n", out);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        fprintf(out, "  %-20s %s\n", commands[i].name, commands[i].help);
    }
}
