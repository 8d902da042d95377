/* The controller manager as a process. */
#ifndef CONTROLLER_CONTROLLER_MAIN_H
#define CONTROLLER_CONTROLLER_MAIN_H

/* `c8s controller-manager`: stock's flags; runs until SIGTERM or SIGINT. */
int controller_main(int argc, char **argv);

#endif
