/* `c8s simulate --seed N`: simulate.h from the command line. */
#ifndef SIM_SIMULATE_MAIN_H
#define SIM_SIMULATE_MAIN_H

int simulate_main(int argc, char **argv);

#endif
