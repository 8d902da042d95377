/* The scheduler as a process. */
#ifndef SCHEDULER_SCHEDULER_MAIN_H
#define SCHEDULER_SCHEDULER_MAIN_H

/* `c8s scheduler`: stock's flags; runs until SIGTERM or SIGINT. */
int scheduler_main(int argc, char **argv);

#endif
