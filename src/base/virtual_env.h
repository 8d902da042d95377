/* An env on a virtual clock (base/env.h): when nothing is left to do now, time jumps to the next timer. One seed
 * gives one sequence of random numbers and one order of events. Workers run at once, in place. Watching file
 * descriptors is not possible. For unit tests and sim/. */
#ifndef BASE_VIRTUAL_ENV_H
#define BASE_VIRTUAL_ENV_H

#include "base/env.h"

struct env *virtual_env_new(uint64_t seed);
void virtual_env_free(struct env *env);
/* Until nothing is posted and no timer is set. */
void virtual_env_run(struct env *env);
/* Until env_mono() reaches `until` or nothing is left; true when something is left. */
bool virtual_env_run_until(struct env *env, int64_t until);

#endif
