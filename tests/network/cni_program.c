/* For tests/network/run: our CNI plugins under their own names, and the invoker as a command:
 *   cni_program COMMAND CONF_DIR PLUGIN_DIR:... CACHE_DIR [CONTAINER NETNS INTERFACE [HOST_PORT:CONTAINER_PORT[/PROTOCOL[@HOST_IP]]...]]
 * COMMAND is add, del, check, status, read; what add and read give is printed. */
#include "base/task.h"
#include "net/event_loop.h"
#include "network/cni_invoker.h"
#include "network/cni_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct command {
    const char *name;
    struct cni_invoker invoker;
    struct cni_attachment attachment;
    struct arena *arena;
    int code;
};

static struct status *carry_out(struct command *command)
{
    int64_t deadline = env_mono() + 60 * ENV_SECOND;
    struct cni_result result = {0};

    if (strcmp(command->name, "add") == 0) {
        TRY(cni_add(&command->invoker, &command->attachment, deadline, command->arena, &result));
    } else if (strcmp(command->name, "del") == 0) {
        TRY(cni_del(&command->invoker, &command->attachment, deadline));
    } else if (strcmp(command->name, "check") == 0) {
        TRY(cni_check(&command->invoker, &command->attachment, deadline));
    } else if (strcmp(command->name, "read") == 0) {
        TRY(cni_result_read(&command->invoker, &command->attachment, command->arena, &result));
    } else {
        TRY(cni_status(&command->invoker, deadline));
    }
    printf("%.*s\n", STR_ARG(result.json));
    return NULL;
}

static void run(void *arg)
{
    struct command *command = arg;
    struct status *bad = carry_out(command);

    if (bad != NULL) {
        fprintf(stderr, "%.*s: %.*s\n", STR_ARG(status_reason_text(bad->reason)), STR_ARG(bad->message));
        status_free(bad);
        command->code = 1;
    }
}

static struct cni_port_mapping port_of(const char *text)
{
    struct str ports, host_ip, numbers, protocol, host, container;
    int64_t number;

    str_cut(str_of(text), '@', &ports, &host_ip);
    str_cut(ports, '/', &numbers, &protocol);
    str_cut(numbers, ':', &host, &container);
    struct cni_port_mapping port = {.host_ip = host_ip, .protocol = protocol.n > 0 ? protocol : STR("tcp")};

    port.host_port = str_to_i64(host, &number) ? (int32_t)number : 0;
    port.container_port = str_to_i64(container, &number) ? (int32_t)number : 0;
    return port;
}

int main(int argc, char **argv)
{
    if (cni_is_plugin(argv[0])) {
        return cni_main(argc, argv);
    }
    if (argc < 5) {
        fprintf(stderr, "usage: %s COMMAND CONF_DIR PLUGIN_DIRS CACHE_DIR [CONTAINER NETNS INTERFACE [PORT...]]\n",
                argv[0]);
        return 2;
    }
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct command command = {.name = argv[1], .arena = arena};

    command.invoker.conf_dir = str_of(argv[2]);
    for (struct str rest = str_of(argv[3]), item; str_next(&rest, ':', &item);) {
        *LIST_ADD(arena, &command.invoker.plugin_dirs) = item;
    }
    command.invoker.cache_dir = str_of(argv[4]);
    if (argc >= 8) {
        command.attachment = (struct cni_attachment){.container_id = str_of(argv[5]),
                                                     .netns = str_of(argv[6]),
                                                     .interface = str_of(argv[7]),
                                                     .pod_namespace = STR("default"),
                                                     .pod_name = STR("web"),
                                                     .pod_uid = STR("u-1")};
    }
    for (int i = 8; i < argc; i++) {
        *LIST_ADD(arena, &command.attachment.port_mappings) = port_of(argv[i]);
    }
    struct env *env = event_loop_new();

    event_loop_run_task(env, "cni", run, &command);
    event_loop_free(env);
    return command.code;
}
