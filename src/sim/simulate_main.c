#include "sim/simulate_main.h"

#include "base/flags.h"
#include "base/log.h"
#include "sim/simulate.h"

#include <stdio.h>

struct options {
    int64_t seed, count, nodes, busy, calm, verbosity;
    struct str plant;
    bool stop;
};

#define OPTION(kind, member, name, help) FLAG(kind, struct options, member, name, 0, help)

static const struct flag flags[] = {
    OPTION(INT, seed, "seed", "what the run follows from"),
    OPTION(INT, count, "count", "how many seeds, from that one on"),
    OPTION(INT, nodes, "nodes", "kubelets, 12 at most"),
    OPTION(DURATION, busy, "busy", "time with a user at work and faults"),
    OPTION(DURATION, calm, "calm", "time after that in which all must become as asked for"),
    OPTION(STRING, plant, "plant", "a bug to put in, which is to be found; \"list\" shows them"),
    OPTION(BOOL, stop, "stop", "end at the first seed that is bad"),
    OPTION(INT, verbosity, "v", "4 shows what components log"),
};

static int list_bugs(void)
{
    for (int bug = PLANTED_NONE + 1; planted_name((enum planted_bug)bug) != NULL; bug++) {
        printf("%s: %s\n", planted_name((enum planted_bug)bug), planted_what((enum planted_bug)bug));
    }
    return 0;
}

static struct status *find_bug(struct str name, enum planted_bug *ret)
{
    *ret = PLANTED_NONE;
    for (int bug = PLANTED_NONE; name.n > 0; bug++) {
        if (planted_name((enum planted_bug)bug) == NULL) {
            return status_new(STATUS_BAD_REQUEST, "--plant: there is no bug \"%.*s\"", STR_ARG(name));
        }
        if (str_is(name, planted_name((enum planted_bug)bug))) {
            *ret = (enum planted_bug)bug;
            break;
        }
    }
    return planted_wake(*ret) ? NULL : status_new(STATUS_BAD_REQUEST, "--plant: this build has no planted bugs");
}

static int run_seeds(const struct options *options, enum planted_bug planted)
{
    int bad = 0;

    for (int64_t i = 0; i < options->count && !(bad > 0 && options->stop); i++) {
        const struct simulation simulation = {
            .seed = (uint64_t)(options->seed + i),
            .nodes = (size_t)options->nodes,
            .busy = options->busy,
            .calm = options->calm,
            .planted = planted,
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

    enum planted_bug planted = PLANTED_NONE;

    if (status == NULL && str_is(options.plant, "list")) {
        return list_bugs();
    }
    if (status == NULL) {
        status = find_bug(options.plant, &planted);
    }
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
    return run_seeds(&options, planted);
}
