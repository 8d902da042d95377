#include "sim/sim.h"

#include "api/apps_v1.h"
#include "api/core_v1.h"
#include "apiserver/options.h"
#include "apiserver/server.h"
#include "base/file.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "controller/controller_manager.h"
#include "kubelet/host.h"
#include "kubelet/kubelet.h"
#include "net/crypto.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "scheduler/scheduler.h"
#include "sim/checker.h"
#include "sim/history.h"
#include "sim/witness.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RESTARTS_WITHIN (10 * ENV_SECOND)
#define ADDRESS "127.0.0.1:6443"

void sim_blame(struct sim *sim, const char *format, ...)
{
    va_list args;

    if (sim->verdict.is_bad) {
        return;
    }
    sim->verdict.is_bad = true;
    va_start(args, format);
    vsnprintf(sim->verdict.text, sizeof(sim->verdict.text), format, args);
    va_end(args);
    log_debug("BAD: %s", sim->verdict.text);
}

/* No two nodes may run one pod: seen where it happens. */
static void observe(void *arg, struct str node_name, struct str pod_uid, bool runs)
{
    struct sim *sim = arg;
    struct node *node = NULL, *other = map_find(sim->pods_running, pod_uid);

    for (size_t i = 0; i < sim->node_count; i++) {
        if (str_is(node_name, sim->nodes[i].name)) {
            node = &sim->nodes[i];
        }
    }
    if (runs && other != NULL && other != node) {
        sim_blame(sim, "pod %.*s runs on %s and %s", STR_ARG(pod_uid), other->name, node->name);
    }
    if (runs) {
        map_set(sim->pods_running, pod_uid, node);
    } else if (other == node) {
        map_remove(sim->pods_running, pod_uid);
    }
}

/* Connections */

static struct status *dial(void *arg, int64_t deadline, struct stream **ret)
{
    struct sim_dialler *dialler = arg;
    struct stream *theirs;

    (void)deadline;
    if (dialler->sim->http == NULL || dialler->is_dead) {
        return stream_errno(ECONNREFUSED, "dial tcp " ADDRESS ": connect");
    }
    network_connect(dialler->sim->network, dialler->name, ret, &theirs);
    http_server_serve(dialler->sim->http, theirs, false, STR("127.0.0.1:1"));
    return NULL;
}

static struct sim_dialler *dialler_of(struct sim *sim, const char *name)
{
    struct sim_dialler *dialler = sim->diallers;

    while (dialler->name != NULL && strcmp(dialler->name, name) != 0) {
        dialler++;
    }
    return dialler;
}

struct client *sim_client(struct sim *sim, const char *name)
{
    struct sim_dialler *mine = dialler_of(sim, name);

    *mine = (struct sim_dialler){.sim = sim, .name = name};
    const struct http_client_options options = {
        .address = STR(ADDRESS), .protocol = HTTP_CLIENT_2, .dial = dial, .dial_arg = mine};

    return client_new(http_client_new(&options), &(struct client_options){.user_agent = str_of(name)});
}

/* Components. Each runs until its slot is told to crash. */

static void wait_for_crash(struct component_slot *slot)
{
    while (!slot->crash_wanted && cond_wait(&slot->changed, TASK_FOREVER)) {
    }
}

/* Nothing that a crashed client still does on its way out reaches anyone. */
static void cut_off(struct component_slot *slot)
{
    dialler_of(slot->sim, slot->name)->is_dead = true;
    network_break(slot->sim->network, slot->name);
}

static void bootstrap_task(void *arg)
{
    struct sim *sim = arg;
    struct status *status = apiserver_bootstrap(sim->server);

    if (status != NULL && !status_is(status, STATUS_CANCELLED)) {
        log_debug("bootstrap: %.*s", STR_ARG(status->message));
    }
    status_free(status);
}

static void history_task(void *arg)
{
    struct sim *sim = arg;

    history_follow(sim->history, sim->server);
}

static void run_apiserver(struct component_slot *slot)
{
    struct sim *sim = slot->sim;
    struct store *store;
    struct task_group starting;
    struct status *status = store_open_memory(sim->disk, &(struct store_options){.keep = 60 * ENV_SECOND}, &store);

    if (status == NULL) {
        status = apiserver_new(sim->options, store, &sim->server);
    }
    if (status != NULL) {
        sim_blame(sim, "the API server does not start: %.*s", STR_ARG(status->message));
        status_free(status);
        return;
    }
    sim->http = http_server_new(apiserver_serve, sim->server);
    task_group_init(&starting);
    task_group_spawn(&starting, "history", history_task, sim);
    task_group_spawn(&starting, "bootstrap", bootstrap_task, sim);
    wait_for_crash(slot);
    struct http_server *http = TAKE(sim->http);
    struct apiserver *server = TAKE(sim->server);

    task_group_cancel(&starting);
    network_break(sim->network, NULL);
    apiserver_stop(server);
    http_server_free(http);
    apiserver_abandon(server);
    memory_disk_lose(sim->disk);
}

/* One that is a client with a task of its own. */
struct inner {
    struct client *client;
    void (*run)(struct client *client);
};

static void inner_task(void *arg)
{
    struct inner *inner = arg;

    inner->run(inner->client);
}

static void run_inner(struct component_slot *slot, void (*run)(struct client *client))
{
    struct inner inner = {sim_client(slot->sim, slot->name), run};
    struct task_group group;

    task_group_init(&group);
    task_group_spawn(&group, slot->name, inner_task, &inner);
    wait_for_crash(slot);
    cut_off(slot);
    task_group_cancel(&group);
    client_free(inner.client);
}

static void controllers_run(struct client *client)
{
    static const struct controller_manager_options options = {.settings = {
        .root_ca = STR_INIT("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"),
        .cluster_cidr = STR_INIT("10.42.0.0/16"),
        .service_cidr = STR_INIT("10.43.0.0/16"),
        .allocate_node_cidrs = true,
        .node_mask_v4 = 24,
        .node_mask_v6 = 64,
        .node_grace = 50 * ENV_SECOND,
        .node_startup_grace = 60 * ENV_SECOND,
        .endpoints_per_slice = 100,
        .terminated_pods_max = 100,
    }};

    controller_manager_run(&(struct component_clients){.own = client, .bare = client}, &options);
}

static void run_controllers(struct component_slot *slot)
{
    run_inner(slot, controllers_run);
}

static void schedules(struct client *client)
{
    struct scheduler *scheduler = scheduler_new(client, STR("default-scheduler"));

    scheduler_run(scheduler);
    scheduler_free(scheduler);
}

static void run_scheduler(struct component_slot *slot)
{
    run_inner(slot, schedules);
}

static void kubelet_start_task(void *arg)
{
    status_free(kubelet_start(arg));
}

static void run_kubelet(struct component_slot *slot)
{
    struct kubelet_options options;
    struct client *client = sim_client(slot->sim, slot->name);
    struct cri *cri = fake_runtime_connect(slot->node->runtime);
    struct task_group starting;

    kubelet_options_default(&options);
    options.node_name = str_of(slot->node->name);
    options.node_ip = STR("10.0.0.1");
    options.enable_server = false;
    struct kubelet *kubelet = kubelet_new(&options, client, cri, slot->node->host);

    task_group_init(&starting);
    task_group_spawn(&starting, slot->name, kubelet_start_task, kubelet);
    wait_for_crash(slot);
    cut_off(slot);
    task_group_cancel(&starting);
    kubelet_stop(kubelet);
    kubelet_free(kubelet);
    cri_free(cri);
    client_free(client);
}

static void slot_task(void *arg)
{
    struct component_slot *slot = arg;

    while (!slot->sim->is_stopping) {
        slot->crash_wanted = false;
        log_debug("%s starts", slot->name);
        slot->run(slot);
        slot->crashes++;
        int64_t until = env_mono() + (int64_t)env_random_below((uint64_t)RESTARTS_WITHIN);

        while (!slot->sim->is_stopping && cond_wait(&slot->changed, until)) {
        }
    }
}

static void slot_add(struct sim *sim, const char *name, void (*run)(struct component_slot *slot), struct node *node)
{
    struct component_slot *slot = &sim->slots[sim->slot_count++];

    *slot = (struct component_slot){.name = name, .sim = sim, .run = run, .node = node};
    cond_init(&slot->changed);
    task_group_spawn(&sim->tasks, name, slot_task, slot);
}

/* Pods want tokens, and the server takes its key from a file. Signatures differ from run to run, but nothing else depends
 * on them. */
static void make_sign_key(struct sim *sim)
{
    struct crypto_key *key;
    OWNED(arena_freep) struct arena *arena = arena_new();
    int fd = mkstemp(sim->key_path);

    if (fd < 0) {
        mem_die("a temporary file can't be made");
    }
    close(fd);
    struct status *status = crypto_key_generate(CRYPTO_ECDSA_P256, &key);

    if (status == NULL) {
        status = file_write(sim->key_path, crypto_key_pem(arena, key), 0600);
        crypto_key_free(key);
    }
    if (status != NULL) {
        mem_die("a key can't be made");
    }
    sim->options->service_account_signing_key_file = str_of(sim->key_path);
    sim->options->service_account_issuer.items = &sim->issuer;
    sim->options->service_account_issuer.len = 1;
}

/* The machine that a kubelet finds itself on. */
static struct host *make_host(void)
{
    struct host *host = memory_host_new();
    struct status *status = host_make_directory(host, "/etc", 0755);

    if (status == NULL) {
        status = host_write(host, "/etc/resolv.conf", STR("nameserver 10.43.0.10\n"), 0644);
    }
    if (status != NULL) {
        mem_die("a memory host can't be written");
    }
    return host;
}

struct sim *sim_new(size_t node_count)
{
    struct sim *sim = MEM_NEW(struct sim);

    sim->network = network_new();
    sim->disk = memory_disk_new();
    sim->options = MEM_NEW(struct apiserver_options);
    apiserver_options_init(sim->options);
    sim->options->service_cluster_ip_range = STR("10.43.0.0/16");
    snprintf(sim->key_path, sizeof(sim->key_path), "/tmp/c8s-simulate-XXXXXX");
    sim->issuer = STR("https://kubernetes.default.svc.cluster.local");
    make_sign_key(sim);
    sim->pods_running = MEM_NEW(struct map);
    sim->history = history_new(sim);
    sim->checker = checker_new(sim, sim->history);
    sim->witnesses[0] = witness_new(sim, sim->history, "witness-pods", &core_v1_pod_kind, NULL);
    sim->witnesses[1] = witness_new(sim, sim->history, "witness-node-0", &core_v1_pod_kind, "node-0");
    sim->witnesses[2] = witness_new(sim, sim->history, "witness-replicasets", &apps_v1_replica_set_kind, NULL);
    sim->node_count = MIN(node_count, (size_t)SIM_NODES_MAX);
    task_group_init(&sim->tasks);
    slot_add(sim, "apiserver", run_apiserver, NULL);
    slot_add(sim, "controller-manager", run_controllers, NULL);
    slot_add(sim, "scheduler", run_scheduler, NULL);
    for (size_t i = 0; i < sim->node_count; i++) {
        struct node *node = &sim->nodes[i];

        snprintf(node->name, sizeof(node->name), "node-%u", (unsigned)i);
        node->runtime = fake_runtime_new(str_of(node->name), (uint8_t)i, observe, sim);
        node->host = make_host();
        slot_add(sim, node->name, run_kubelet, node);
    }
    return sim;
}

void sim_disconnect(struct sim *sim, size_t slot)
{
    log_debug("%s is disconnected", sim->slots[slot].name);
    network_break(sim->network, sim->slots[slot].name);
}

void sim_crash(struct sim *sim, size_t slot)
{
    if (!sim->is_stopping) {
        log_debug("%s crashes", sim->slots[slot].name);
    }
    sim->slots[slot].crash_wanted = true;
    cond_broadcast(&sim->slots[slot].changed);
}

void sim_free(struct sim *sim)
{
    sim->is_stopping = true;
    for (size_t i = 0; i < SIM_WITNESSES; i++) {
        witness_free(sim->witnesses[i]);
    }
    for (size_t i = sim->slot_count; i-- > 0;) { /* the API server last: the others talk to it */
        sim_crash(sim, i);
    }
    task_group_wait(&sim->tasks);
    for (size_t i = 0; i < sim->node_count; i++) {
        fake_runtime_free(sim->nodes[i].runtime);
        host_free(sim->nodes[i].host);
    }
    checker_free(sim->checker);
    history_free(sim->history);
    memory_disk_free(sim->disk);
    network_free(sim->network);
    unlink(sim->key_path);
    map_done(sim->pods_running);
    free(sim->pods_running);
    free(sim->options);
    free(sim);
}

void sim_set_faults(struct sim *sim, bool on)
{
    const struct network_faults network = {
        .latency_max = on ? 20 * ENV_MS : ENV_MS, .stalls_in_1000 = on ? 5 : 0, .stall_max = 15 * ENV_SECOND};
    const struct fake_runtime_faults runtime = {.latency_max = on ? 500 * ENV_MS : 20 * ENV_MS,
                                                .failures_in_1000 = on ? 30 : 0};

    if (!on) {
        memory_disk_slow(sim->disk, 0);
        memory_disk_fail(sim->disk, MEMORY_DISK_GOOD, 0);
    }
    network_set_faults(sim->network, &network);
    for (size_t i = 0; i < sim->node_count; i++) {
        fake_runtime_set_faults(sim->nodes[i].runtime, &runtime);
    }
}
