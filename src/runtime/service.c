#include "runtime/service.h"

struct operation {
    service_fn *fn;
    struct runtime *runtime;
    struct arena *arena;
    const void *request;
    void *response;
    struct status *status;
};

static void operate(void *arg)
{
    struct operation *operation = arg;

    operation->status =
        operation->fn(operation->runtime, operation->arena, operation->request, operation->response);
}

struct status *service_to_the_end(service_fn *fn, void *runtime, struct arena *arena, const void *request,
                                  void *response)
{
    struct operation operation = {fn, runtime, arena, request, response, NULL};
    struct task_group group;

    task_group_init(&group);
    task_group_spawn(&group, "cri operation", operate, &operation);
    task_group_wait(&group);
    return operation.status;
}

bool service_labels_match(const struct str_map *labels, const struct str_map *selector)
{
    LIST_EACH(wanted, selector) {
        bool has = false;

        LIST_EACH(label, labels) {
            has |= str_eq(label->key, wanted->key) && str_eq(label->value, wanted->value);
        }
        if (!has) {
            return false;
        }
    }
    return true;
}

struct grpc_methods *runtime_service_methods(struct runtime *runtime)
{
    const struct service_methods *const parts[] = {&service_sandbox_methods, &service_container_methods,
                                                   &service_exec_methods, &service_stats_methods,
                                                   &service_events_methods, &service_node_methods};
    struct grpc_methods *methods = ARENA_NEW(runtime->arena, struct grpc_methods);
    struct {
        struct grpc_method *items;
        size_t len;
    } all = {0};

    service_events_open(runtime);
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        LIST_EACH(method, parts[i]) {
            *LIST_ADD(runtime->arena, &all) = *method;
        }
    }
    *methods = (struct grpc_methods){all.items, all.len, runtime};
    return methods;
}
