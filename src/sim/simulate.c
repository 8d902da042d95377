#include "sim/simulate.h"

#include "base/log.h"
#include "base/virtual_env.h"
#include "sim/checker.h"
#include "sim/faults.h"
#include "sim/history.h"
#include "sim/workload.h"

#include <string.h>

struct run {
    const struct simulation *simulation;
    struct simulation_result *result;
    struct sim *sim;
    int64_t busy_until;
};

static void faults_task(void *arg)
{
    struct run *run = arg;

    faults_run(run->sim, run->busy_until);
}

static void workload_task(void *arg)
{
    struct run *run = arg;

    workload_run(run->sim, run->busy_until);
}

static bool wait_for_calm(struct run *run, char *why, size_t why_size)
{
    int64_t until = env_mono() + run->simulation->calm;

    while (env_mono() < until && !run->sim->verdict.is_bad && task_sleep(ENV_SECOND)) {
        if (checker_has_converged(run->sim->checker, why, why_size)) {
            return true;
        }
    }
    return false;
}

static void run_task(void *arg)
{
    struct run *run = arg;
    struct simulation_result *result = run->result;
    struct task_group group;
    char why[256] = "nothing was looked at";

    run->sim = sim_new(run->simulation->nodes);
    run->busy_until = env_mono() + run->simulation->busy;
    task_group_init(&group);
    task_group_spawn(&group, "faults", faults_task, run);
    task_group_spawn(&group, "workload", workload_task, run);
    while (env_mono() < run->busy_until && !run->sim->verdict.is_bad && task_sleep(ENV_SECOND)) {
    }
    sim_set_faults(run->sim, false);
    bool is_calm = wait_for_calm(run, why, sizeof(why));

    if (!is_calm) {
        sim_blame(run->sim, "not as asked for after %lld s of calm: %s",
                  (long long)(run->simulation->calm / ENV_SECOND), why);
    }
    task_group_cancel(&group);
    result->is_good = !run->sim->verdict.is_bad;
    memcpy(result->text, run->sim->verdict.text, sizeof(result->text));
    result->took = env_mono();
    for (size_t i = 0; i < run->sim->slot_count; i++) {
        result->crashes += run->sim->slots[i].crashes;
    }
    result->digest = history_digest(run->sim->history);
    result->changes = history_changes(run->sim->history);
    sim_free(run->sim);
}

void simulate(const struct simulation *simulation, struct simulation_result *ret)
{
    struct env *env = virtual_env_new(simulation->seed);
    struct run run = {.simulation = simulation, .result = ret};

    *ret = (struct simulation_result){0};
    struct env *before = env_enter(env);

    task_spawn("simulation", run_task, &run);
    log_clock(env_wall);
    planted_wake(simulation->planted);
    virtual_env_run(env);
    planted_wake(PLANTED_NONE);
    log_clock(NULL);
    env_enter(before);
    virtual_env_free(env);
}
