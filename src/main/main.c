/* The one binary: picks what to be by its name and its first argument. */
#include "main/commands.h"
#include "network/cni_main.h"

#include <libgen.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *slash = strrchr(argc > 0 ? argv[0] : "", '/');
    const char *name = slash != NULL ? slash + 1 : argc > 0 ? argv[0] : "c8s";

    /* CNI runs plugins by the names its configuration has: links to this binary. */
    if (cni_is_plugin(name)) {
        return cni_main(argc, argv);
    }
    const struct command *command = command_find(name);

    if (command != NULL) {
        return command->run(argc, argv);
    }
    if (argc < 2 || strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        commands_print(stdout);
        return argc < 2 ? 1 : 0;
    }
    command = command_find(argv[1]);
    if (command == NULL) {
        fprintf(stderr, "c8s: unknown command \"%s\"; \"c8s help\" lists them\n", argv[1]);
        return 1;
    }
    return command->run(argc - 1, argv + 1);
}
