/* The API server as a process of its own, with kube-apiserver's flags. */
#ifndef APISERVER_APISERVER_MAIN_H
#define APISERVER_APISERVER_MAIN_H

/* argv[0] is the component's name. Makes the thread's event loop and serves until SIGTERM or SIGINT; the exit code. */
int apiserver_main(int argc, char **argv);

#endif
