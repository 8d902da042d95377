#include "sim/simulate.h"

#include "base/flags.h"
#include "base/log.h"
#include "base/virtual_env.h"
#include "sim/checker.h"
#include "sim/history.h"
#include "sim/workload.h"

#include <stdio.h>
#include <string.h>

#define CRASH_PAUSE_MAX (10 * ENV_SECOND)

struct run {
    const struct simulation *simulation;
    struct simulation_result *result;
    struct sim *sim;
    int64_t busy_until;
};

static void crash_task(void *arg)
{
    struct run *run = arg;

    while (env_mono() < run->busy_until && task_sleep((int64_t)env_random_below(CRASH_PAUSE_MAX))) {
        size_t slot = (size_t)env_random_below(run->sim->slot_count);

        if (env_random_below(2) == 0) {
            sim_crash(run->sim, slot);
        } else {
            sim_disconnect(run->sim, slot);
        }
    }
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
    sim_set_faults(run->sim, true);
    task_group_init(&group);
    task_group_spawn(&group, "crash", crash_task, run);
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
    virtual_env_run(env);
    log_clock(NULL);
    env_enter(before);
    virtual_env_free(env);
}

struct options {
    int64_t seed, count, nodes, busy, calm, verbosity;
};

#define OPTION(kind, member, name, help) FLAG(kind, struct options, member, name, 0, help)

static const struct flag flags[] = {
    OPTION(INT, seed, "seed", "what the run follows from"),
    OPTION(INT, count, "count", "how many seeds, from that one on"),
    OPTION(INT, nodes, "nodes", "kubelets, 12 at most"),
    OPTION(DURATION, busy, "busy", "time with a user at work and faults"),
    OPTION(DURATION, calm, "calm", "time after that in which all must become as asked for"),
    OPTION(INT, verbosity, "v", "4 shows what components log"),
};

static int run_seeds(const struct options *options)
{
    int bad = 0;

    for (int64_t i = 0; i < options->count; i++) {
        const struct simulation simulation = {
            .seed = (uint64_t)(options->seed + i),
            .nodes = (size_t)options->nodes,
            .busy = options->busy,
            .calm = options->calm,
        };
        struct simulation_result result;

        simulate(&simulation, &result);
        printf("%s seed %llu: %lld s, %zu changes, %d crashes, digest %016llx%s%s\n", result.is_good ? "good" : "BAD ",
               (unsigned long long)simulation.seed, (long long)(result.took / ENV_SECOND), result.changes,
               result.crashes, (unsigned long long)result.digest, result.is_good ? "" : ": ", result.text);
        fflush(stdout);
        bad += !result.is_good;
    }
    return bad > 0 ? 1 : 0;
}

int simulate_main(int argc, char **argv)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct options options = {.seed = 1, .count = 1, .nodes = 12, .busy = 300 * ENV_SECOND, .calm = 600 * ENV_SECOND};
    struct flag_table table = {flags, COUNT_OF(flags), &options};
    struct flags_result result;
    struct status *status = flags_parse(&table, 1, argv + 1, (size_t)argc - 1, true, arena, &result);

    if (status == NULL && (options.nodes < 1 || options.nodes > SIM_NODES_MAX)) {
        status = status_new(STATUS_BAD_REQUEST, "--nodes: %lld is not between 1 and %d", (long long)options.nodes,
                            SIM_NODES_MAX);
    }
    if (status != NULL) {
        fprintf(stderr, "c8s simulate: %.*s\n", STR_ARG(status->message));
        status_free(status);
        return 1;
    }
    if (result.wants_help) {
        printf("Runs a whole cluster on a virtual clock, with crashes and a bad network, and looks for what must not be.\n\n"
               "Usage: c8s simulate [FLAGS]\n\n%.*s", STR_ARG(flags_usage(&table, arena)));
        return 0;
    }
    log_component("simulate");
    log_level(options.verbosity >= 4 ? LOG_DEBUG : LOG_ERROR);
    return run_seeds(&options);
}
