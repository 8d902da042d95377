/* The seccomp box of components that need no power (API server, controllers, scheduler): the system calls they make and
 * no others. There are no programs to run, no processes to make, no namespaces, mounts, keys or foreign processes in it,
 * and no sockets but to the network, to this machine and to the kernel's routes. What is refused gets EPERM. */
#ifndef MAIN_BOX_H
#define MAIN_BOX_H

#include "base/arena.h"
#include "base/status.h"

/* The filter for the kernel (struct sock_filter[]), in the arena. Some milliseconds of work: once, for all of them. */
MUST_USE struct status *box_make(struct arena *arena, struct str *ret_instructions);

/* Puts this process and all it makes from here on into the box, for good. Before there are other threads. */
MUST_USE struct status *box_enter(struct str instructions);

#endif
