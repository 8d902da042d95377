#include "sim/faults.h"

#include "apiserver/server.h"
#include "base/env.h"
#include "base/log.h"
#include "sim/history.h"

#define PAUSE_MAX (10 * ENV_SECOND)
#define SLOW_MAX (2 * ENV_SECOND)

enum { BAD_WRITES_MAX = 4 };

static size_t pick(size_t count)
{
    return (size_t)env_random_below(count);
}

static void crash(struct sim *sim)
{
    sim_crash(sim, pick(sim->slot_count));
}

static void disconnect(struct sim *sim)
{
    sim_disconnect(sim, pick(sim->slot_count));
}

static void fill_disk(struct sim *sim)
{
    unsigned count = 1 + (unsigned)pick(BAD_WRITES_MAX);

    log_debug("the disk is full for %u writes", count);
    memory_disk_fail(sim->disk, MEMORY_DISK_FULL, count);
}

static void confuse_disk(struct sim *sim)
{
    unsigned count = 1 + (unsigned)pick(BAD_WRITES_MAX);

    log_debug("the disk is not sure of %u writes", count);
    memory_disk_fail(sim->disk, MEMORY_DISK_UNCERTAIN, count);
}

static void slow_disk(struct sim *sim)
{
    int64_t latency = env_random_below(2) == 0 ? 0 : (int64_t)env_random_below(SLOW_MAX);

    log_debug("the disk takes %lld ms", (long long)(latency / ENV_MS));
    memory_disk_slow(sim->disk, latency);
}

/* Those who watched from earlier have to list again. A server that goes on has what they need in memory: it ends too. */
static void compact(struct sim *sim)
{
    if (sim->server == NULL) {
        return;
    }
    log_debug("compaction at %lld", (long long)history_revision(sim->history));
    status_free(store_compact(sim->server->store, history_revision(sim->history)));
    sim_crash(sim, SIM_SLOT_APISERVER);
}

/* The kubelet and all that runs there end at once. */
static void cut_power(struct sim *sim)
{
    size_t node = pick(sim->node_count);

    log_debug("%s loses power", sim->nodes[node].name);
    sim_crash(sim, SIM_SLOT_NODES + node);
    fake_runtime_reboot(sim->nodes[node].runtime);
}

static void end_container(struct sim *sim)
{
    static const int32_t codes[] = {0, 1, 137};
    size_t node = pick(sim->node_count);
    int32_t code = codes[pick(COUNT_OF(codes))];

    if (fake_runtime_end_container(sim->nodes[node].runtime, code)) {
        log_debug("a container on %s ends with %d", sim->nodes[node].name, code);
    }
}

static const struct {
    int share;
    void (*happen)(struct sim *sim);
} faults[] = {
    {8, crash},     {8, disconnect}, {1, fill_disk}, {2, confuse_disk},
    {2, slow_disk}, {1, compact},    {1, cut_power}, {3, end_container},
};

static void happen(struct sim *sim)
{
    int shares = 0;

    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        shares += faults[i].share;
    }
    int at = (int)env_random_below((uint64_t)shares);
    size_t i = 0;

    while (at >= faults[i].share) {
        at -= faults[i++].share;
    }
    faults[i].happen(sim);
}

void faults_run(struct sim *sim, int64_t until)
{
    sim_set_faults(sim, true);
    while (env_mono() < until && task_sleep((int64_t)env_random_below(PAUSE_MAX))) {
        happen(sim);
    }
    sim_set_faults(sim, false);
}
