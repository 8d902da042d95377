/* kubectl: the command line, as people and scripts know it. */
#ifndef KUBECTL_KUBECTL_MAIN_H
#define KUBECTL_KUBECTL_MAIN_H

/* Parses argv (argv[0] is the program's name), does what it says and returns the exit code. Makes an event loop. */
int kubectl_main(int argc, char **argv);

#endif
