#include "client/leader_election.h"

#include "api/coordination_v1.h"
#include "base/env.h"
#include "base/log.h"
#include "base/task.h"
#include "schema/object.h"
#include "schema/type.h"

#define LEASE_DURATION (15 * ENV_SECOND)
#define RENEW_DEADLINE (10 * ENV_SECOND)
#define RETRY_PERIOD (2 * ENV_SECOND)

struct election {
    struct client *client;
    struct leader_election_options options;
    /* The Lease as last seen, and when it last changed: a lease ends by our clock, never by its times. */
    struct arena *arena;
    struct coordination_v1_lease *lease;
    int64_t changed_at;
};

static struct timestamp now_micro(void)
{
    int64_t now = env_wall();

    return (struct timestamp){now / ENV_SECOND, (int32_t)(now % ENV_SECOND / 1000 * 1000), true};
}

static struct str holder_of(const struct coordination_v1_lease *lease)
{
    return lease->spec.holder_identity != NULL ? *lease->spec.holder_identity : STR("");
}

static bool same_record(const struct coordination_v1_lease *a, const struct coordination_v1_lease *b)
{
    return str_eq(a->metadata.resource_version, b->metadata.resource_version);
}

/* Takes `lease` (and its arena) as what was last seen. */
static void observe(struct election *election, struct arena *arena, struct coordination_v1_lease *lease)
{
    if (election->lease == NULL || !same_record(election->lease, lease)) {
        election->changed_at = env_mono();
    }
    arena_free(election->arena);
    election->arena = arena;
    election->lease = lease;
}

/* The Lease with us as holder; `since` is the transition time when the holder stays. */
static struct coordination_v1_lease *claimed(struct election *election, struct arena *arena,
                                             const struct coordination_v1_lease *before)
{
    struct coordination_v1_lease *lease = ARENA_NEW(arena, struct coordination_v1_lease);
    bool is_ours = before != NULL && str_eq(holder_of(before), election->options.identity);

    if (before != NULL) {
        *lease = *before;
    }
    lease->metadata.namespace = election->options.namespace;
    lease->metadata.name = election->options.name;
    lease->spec.holder_identity = ARENA_NEW(arena, struct str);
    *lease->spec.holder_identity = election->options.identity;
    lease->spec.lease_duration_seconds = ARENA_NEW(arena, int32_t);
    *lease->spec.lease_duration_seconds = (int32_t)(election->options.lease_duration / ENV_SECOND);
    lease->spec.renew_time = ARENA_NEW(arena, struct timestamp);
    *lease->spec.renew_time = now_micro();
    if (!is_ours) {
        int32_t *transitions = ARENA_NEW(arena, int32_t);

        *transitions = before == NULL                             ? 0
                       : before->spec.lease_transitions != NULL ? *before->spec.lease_transitions + 1
                                                                  : 1;
        lease->spec.lease_transitions = transitions;
        lease->spec.acquire_time = ARENA_NEW(arena, struct timestamp);
        *lease->spec.acquire_time = now_micro();
    }
    return lease;
}

/* Tries once to hold (or go on holding) the lease. NULL when held; CONFLICT when another holds it. */
static struct status *try_hold(struct election *election)
{
    struct arena *arena = arena_new();
    struct coordination_v1_lease *seen = NULL, *written = NULL;
    struct status *status = client_get(election->client, &coordination_v1_lease_kind, election->options.namespace,
                                       election->options.name, arena, (void **)&seen);

    if (status_free_if(&status, STATUS_NOT_FOUND)) {
        status = client_create(election->client, &coordination_v1_lease_kind, claimed(election, arena, NULL), NULL,
                               arena, (void **)&written);
    } else if (status == NULL) {
        observe(election, arena, seen);
        bool is_free = holder_of(seen).n == 0 || str_eq(holder_of(seen), election->options.identity) ||
                       env_mono() >= election->changed_at + election->options.lease_duration;

        if (!is_free) {
            return status_new(STATUS_CONFLICT, "the lease %.*s is held by %.*s", STR_ARG(election->options.name),
                              STR_ARG(holder_of(seen)));
        }
        arena = arena_new();
        status = client_update(election->client, &coordination_v1_lease_kind, STR(""), claimed(election, arena, seen),
                               NULL, arena, (void **)&written);
    }
    if (status != NULL) {
        arena_free(arena);
        return status;
    }
    observe(election, arena, written);
    return NULL;
}

/* Gives the lease up, so that the next one need not wait for its end. A task of its own: the one that leads may have been
 * cancelled, and then can send nothing more. */
static void release(void *arg)
{
    struct election *election = arg;
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct coordination_v1_lease lease;
    struct str nobody = STR("");
    int32_t one_second = 1;

    if (election->lease == NULL || !str_eq(holder_of(election->lease), election->options.identity)) {
        return;
    }
    lease = *election->lease;
    lease.spec.holder_identity = &nobody;
    lease.spec.lease_duration_seconds = &one_second;
    status_free(client_update(election->client, &coordination_v1_lease_kind, STR(""), &lease, NULL, arena, NULL));
}

static bool acquire(struct election *election)
{
    for (;;) {
        struct status *status = try_hold(election);

        if (status == NULL) {
            log_info("leading %.*s", STR_ARG(election->options.name));
            return true;
        }
        bool is_down = status_is(status, STATUS_SERVICE_UNAVAILABLE);

        status_free(status);
        /* Starting beside the API server: look again soon. */
        if (!task_sleep(is_down ? 50 * ENV_MS : election->options.retry_period)) {
            return false;
        }
    }
}

/* Renews until cancelled or until the deadline passes without success. */
static struct status *keep(struct election *election)
{
    int64_t renewed = env_mono();

    while (task_sleep(election->options.retry_period)) {
        struct status *status = try_hold(election);

        if (status == NULL) {
            renewed = env_mono();
            continue;
        }
        if (env_mono() - renewed >= election->options.renew_deadline) {
            struct status *lost = status_new(STATUS_TIMEOUT, "the lease %.*s was lost: %.*s",
                                             STR_ARG(election->options.name), STR_ARG(status->message));

            status_free(status);
            return lost;
        }
        status_free(status);
    }
    return NULL;
}

struct status *leader_election_run(struct client *client, const struct leader_election_options *options,
                                   void (*lead)(void *arg), void *arg)
{
    struct election election = {.client = client, .options = *options};
    struct status *status = NULL;
    struct task_group group;

    election.options.lease_duration = options->lease_duration ? options->lease_duration : LEASE_DURATION;
    election.options.renew_deadline = options->renew_deadline ? options->renew_deadline : RENEW_DEADLINE;
    election.options.retry_period = options->retry_period ? options->retry_period : RETRY_PERIOD;
    task_group_init(&group);
    if (acquire(&election)) {
        task_group_spawn(&group, "leader", lead, arg);
        status = keep(&election);
        task_group_cancel(&group);
        task_group_spawn(&group, "release", release, &election);
        task_group_wait(&group);
    }
    arena_free(election.arena);
    return status;
}
