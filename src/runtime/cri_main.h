/* `c8s cri`: the container runtime of a node, as a CRI v1 server on a unix socket. */
#ifndef RUNTIME_CRI_MAIN_H
#define RUNTIME_CRI_MAIN_H

/* argv[0] is "cri". Runs until SIGTERM or SIGINT; containers go on. The exit code. */
int cri_main(int argc, char **argv);

#endif
