#include "runtime/exec.h"

#include "runtime/container_plan.h"

#include <signal.h>

struct status *exec_init(struct exec *exec, struct runtime *runtime, struct str container_id, struct arena *arena)
{
    TRY(container_get(runtime, container_id, &exec->container));
    if (exec->container->record.state != CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING ||
        exec->container->sandbox->shim == NULL) {
        struct status *status = status_new(STATUS_INVALID, "container \"%.*s\" is not running",
                                           STR_ARG(exec->container->record.id));

        container_unref(TAKE(exec->container));
        return status;
    }
    exec->arena = arena;
    exec->wait.exec = state_new_id(arena);
    exec->wait.changed = &exec->changed;
    cond_init(&exec->changed);
    return NULL;
}

struct status *exec_start(struct exec *exec, const struct str_list *command, const int stdio[3], int *ret_master)
{
    struct container *container = exec->container;
    struct shim_exec_plan plan;
    struct shim_reply reply = {0};
    struct shim_call call = {.verb = SHIM_EXEC, .id = container->record.id, .exec = exec->wait.exec,
                             .plan_type = &shim_exec_plan_type, .plan = &plan};

    if (command->len == 0) {
        return status_new(STATUS_BAD_REQUEST, "cmd is empty");
    }
    container_plan_exec(exec->arena, container->record.plan, command, ret_master != NULL, &plan);
    for (int i = 0; i < 3 && ret_master == NULL; i++) {
        call.fds[call.fd_count++] = stdio[i];
    }
    list_add_tail(&container->sandbox->execs, &exec->wait.link);
    struct status *status = shim_client_call(container->sandbox->shim, exec->arena, &call, &reply, ret_master);

    return status != NULL ? status_while(status, "failed to start exec \"%.*s\"", STR_ARG(exec->wait.exec)) : NULL;
}

bool exec_wait_end(struct exec *exec, int64_t deadline)
{
    while (!exec->wait.is_done) {
        if (!cond_wait(&exec->changed, deadline) && !exec->wait.is_done) {
            return false;
        }
    }
    return true;
}

void exec_kill(struct exec *exec)
{
    struct sandbox *sandbox = exec->container->sandbox;
    struct shim_reply reply = {0};
    struct shim_call call = {.verb = SHIM_SIGNAL, .id = exec->container->record.id, .exec = exec->wait.exec,
                             .value = SIGKILL};

    if (sandbox->shim != NULL && !exec->wait.is_done) {
        status_free(shim_client_call(sandbox->shim, exec->arena, &call, &reply, NULL));
    }
}

void exec_done(struct exec *exec)
{
    list_remove(&exec->wait.link);
    container_unref(TAKE(exec->container));
}
