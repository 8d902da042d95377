/* The kubelet as a process of its own, with stock's flags. */
#ifndef KUBELET_KUBELET_MAIN_H
#define KUBELET_KUBELET_MAIN_H

/* argv[0] is the component's name. Runs until SIGTERM or SIGINT; pods go on running. Returns the exit code. */
int kubelet_main(int argc, char **argv);

#endif
