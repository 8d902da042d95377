/* CRI's RuntimeService (runtime.v1.RuntimeService) over the runtime's state, for grpc_serve(). Loop thread. */
#ifndef RUNTIME_SERVICE_H
#define RUNTIME_SERVICE_H

#include "cri/grpc.h"
#include "runtime/state.h"

/* Valid for as long as the runtime is. */
struct grpc_methods *runtime_service_methods(struct runtime *runtime);

/* --- For the service_*.c files, each of which has some of the methods. --- */

typedef struct status *service_fn(struct runtime *runtime, struct arena *arena, const void *request, void *response);

/* Runs it in a task that is not cancelled when the client goes away, and waits for its end: what changes the machine is
 * done whole or undone. */
MUST_USE struct status *service_to_the_end(service_fn *fn, void *runtime, struct arena *arena, const void *request,
                                           void *response);

/* A method that changes something: NAME(runtime, arena, request, response) becomes a gRPC handler NAME_method. */
#define SERVICE_WHOLE(name)                                                                                     \
    static struct status *name##_method(void *arg, struct arena *arena, const void *request, void *response)    \
    {                                                                                                           \
        return service_to_the_end(name, arg, arena, request, response);                                         \
    }

struct service_methods {
    const struct grpc_method *items;
    size_t len;
};
extern const struct service_methods service_sandbox_methods, service_container_methods, service_exec_methods,
    service_stats_methods, service_events_methods, service_node_methods;

/* Events are collected from now on. */
void service_events_open(struct runtime *runtime);

/* As CRI tells them; texts are borrowed from the state and valid until the next park. */
void service_sandbox_status(struct arena *arena, const struct sandbox *sandbox, struct cri_v1_pod_sandbox_status *ret);
void service_container_status(struct arena *arena, const struct container *container,
                              struct cri_v1_container_status *ret);
/* Whether all labels of the selector are there with the same values. */
bool service_labels_match(const struct str_map *labels, const struct str_map *selector);

#endif
