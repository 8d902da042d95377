/* One simulated life of a cluster: a user at work, faults, then calm, and the verdict. */
#ifndef SIM_SIMULATE_H
#define SIM_SIMULATE_H

#include "base/planted.h"
#include "sim/sim.h"

struct simulation {
    uint64_t seed;
    size_t nodes;
    int64_t busy; /* ns during which the user works and things fail */
    int64_t calm; /* ns after that in which everything must become as asked for */
    enum planted_bug planted;
};

struct simulation_result {
    bool is_good;
    char text[512];  /* what was wrong */
    uint64_t digest; /* of everything that happened: the same seed gives the same */
    int64_t took;    /* virtual ns */
    int crashes;
    size_t changes; /* of objects in the store */
};

/* Makes a virtual env of its own on this thread and runs it to the end. */
void simulate(const struct simulation *simulation, struct simulation_result *ret);

#endif
