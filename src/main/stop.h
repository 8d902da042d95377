/* `c8s stop`: ends the server of a data directory, and then the containers, which outlive it. */
#ifndef MAIN_STOP_H
#define MAIN_STOP_H

int stop_main(int argc, char **argv);

#endif
