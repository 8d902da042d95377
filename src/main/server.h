/* `c8s server`: a whole cluster on this machine, one process a component under the supervisor. */
#ifndef MAIN_SERVER_H
#define MAIN_SERVER_H

int server_main(int argc, char **argv);

#endif
