/* What c8s can be told to do, by name: the components, and the commands for people. */
#ifndef MAIN_COMMANDS_H
#define MAIN_COMMANDS_H

#include <stdio.h>

struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the name; returns the exit code */
    const char *help;
};

/* NULL when there is none of that name. */
const struct command *command_find(const char *name);
void commands_print(FILE *out);

#endif
