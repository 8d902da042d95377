#include "sim/checker.h"

#include "api/apps_v1.h"
#include "api/core_v1.h"
#include "api/kinds.h"
#include "api/pod_condition.h"
#include "apiserver/registry/storage.h"
#include "apiserver/server.h"
#include "base/map.h"
#include "base/mem.h"
#include "schema/int_or_string.h"
#include "store/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* What is remembered of an object by its UID. */
struct seen {
    char node[64];
    int64_t revision;
    bool is_deleting;
};

/* What is remembered of a Deployment: the largest and smallest number of replicas asked for since it last was as asked. */
struct asked {
    int32_t most, least;
};

struct checker {
    struct sim *sim;
    struct map objects; /* UID -> struct seen */
    struct map asked;   /* UID -> struct asked */
    struct arena *kept; /* of both maps' values */
    uint64_t digest;
    int64_t revision;
};

/* The objects of one look. */
struct look {
    struct checker *checker;
    struct arena *arena;
    struct apps_v1_deployment **deployments;
    struct apps_v1_replica_set **replicasets;
    struct core_v1_pod **pods;
    size_t deployment_count, replicaset_count, pod_count;
};

struct checker *checker_new(struct sim *sim)
{
    struct checker *checker = MEM_NEW(struct checker);

    checker->sim = sim;
    checker->kept = arena_new();
    return checker;
}

void checker_free(struct checker *checker)
{
    map_done(&checker->objects);
    map_done(&checker->asked);
    arena_free(checker->kept);
    free(checker);
}

uint64_t checker_digest(const struct checker *checker)
{
    return checker->digest;
}

/* Reading */

static void mix(struct checker *checker, struct str text, int64_t number)
{
    checker->digest = (checker->digest ^ str_hash(text) ^ (uint64_t)number) * UINT64_C(0x9e3779b97f4a7c15);
}

static void note_revision(struct checker *checker, const struct object *object, int64_t revision)
{
    struct str uid = object->metadata.uid;
    struct seen *seen = map_find(&checker->objects, uid);

    if (seen == NULL) {
        seen = ARENA_NEW(checker->kept, struct seen);
        map_set(&checker->objects, uid, seen);
    }
    if (revision < seen->revision) {
        sim_blame(checker->sim, "%.*s went back from revision %lld to %lld", STR_ARG(object->metadata.name),
                  (long long)seen->revision, (long long)revision);
    }
    if (revision > seen->revision) {
        mix(checker, object->metadata.name, revision);
    }
    seen->revision = revision;
}

static void *read_all(struct look *look, const char *group, const char *plural, size_t *ret_count)
{
    struct apiserver *server = look->checker->sim->server;
    const struct resource *resource = apiserver_resource(server, group, "v1", plural);
    struct store_list list;
    struct status *status = store_list(server->store, &(struct store_list_options){.prefix = resource->prefix}, &list);

    *ret_count = 0;
    if (status != NULL) {
        status_free(status); /* the store is about to go */
        return NULL;
    }
    void **objects = ARENA_ARRAY(look->arena, void *, list.len);

    for (size_t i = 0; i < list.len; i++) {
        struct str bytes = arena_str(look->arena, blob_str(list.items[i].object.value));

        status = storage_decode(look->arena, resource->stored, bytes, list.items[i].object.mod_revision, &objects[i]);
        if (status != NULL) {
            sim_blame(look->checker->sim, "%.*s can't be read: %.*s", STR_ARG(list.items[i].key), STR_ARG(status->message));
            status_free(status);
            continue;
        }
        note_revision(look->checker, objects[i], list.items[i].object.mod_revision);
        objects[(*ret_count)++] = objects[i];
    }
    if (list.revision < look->checker->revision) {
        sim_blame(look->checker->sim, "the store went back from revision %lld to %lld", (long long)look->checker->revision,
                  (long long)list.revision);
    }
    look->checker->revision = list.revision;
    store_list_done(&list);
    return objects;
}

static void look_read(struct look *look)
{
    look->deployments = read_all(look, "apps", "deployments", &look->deployment_count);
    look->replicasets = read_all(look, "apps", "replicasets", &look->replicaset_count);
    look->pods = read_all(look, "", "pods", &look->pod_count);
}

/* Judging */

static const struct meta_v1_owner_reference *controller_of(struct look *look, const struct meta_v1_object_meta *meta)
{
    const struct meta_v1_owner_reference *found = NULL;

    LIST_EACH(owner, &meta->owner_references)
    {
        if (owner->controller == NULL || !*owner->controller) {
            continue;
        }
        if (found != NULL) {
            sim_blame(look->checker->sim, "%.*s is controlled by %.*s and %.*s", STR_ARG(meta->name), STR_ARG(found->name),
                      STR_ARG(owner->name));
        }
        found = owner;
    }
    return found;
}

static bool is_active(const struct core_v1_pod *pod)
{
    return pod->metadata.deletion_timestamp == NULL && !str_is(pod->status.phase, "Failed") &&
           !str_is(pod->status.phase, "Succeeded");
}

static bool is_ready(const struct core_v1_pod *pod)
{
    const struct core_v1_pod_condition *ready = pod_condition_find(&pod->status, STR("Ready"));

    return ready != NULL && str_is(ready->status, "True");
}

/* The Deployment a pod comes from, by way of its ReplicaSet; NULL when either is gone. */
static const struct apps_v1_deployment *deployment_of(struct look *look, const struct core_v1_pod *pod)
{
    const struct meta_v1_owner_reference *owner = controller_of(look, &pod->metadata);

    for (size_t i = 0; owner != NULL && i < look->replicaset_count; i++) {
        if (!str_eq(look->replicasets[i]->metadata.uid, owner->uid)) {
            continue;
        }
        const struct meta_v1_owner_reference *above = controller_of(look, &look->replicasets[i]->metadata);

        for (size_t k = 0; above != NULL && k < look->deployment_count; k++) {
            if (str_eq(look->deployments[k]->metadata.uid, above->uid)) {
                return look->deployments[k];
            }
        }
    }
    return NULL;
}

static void judge_pod(struct look *look, const struct core_v1_pod *pod)
{
    struct seen *seen = map_find(&look->checker->objects, pod->metadata.uid);

    controller_of(look, &pod->metadata);
    if (seen->node[0] != '\0' && !str_is(pod->spec.node_name, seen->node)) {
        sim_blame(look->checker->sim, "pod %.*s moved from %s to %.*s", STR_ARG(pod->metadata.name), seen->node,
                  STR_ARG(pod->spec.node_name));
    }
    snprintf(seen->node, sizeof(seen->node), "%.*s", STR_ARG(pod->spec.node_name));
}

struct tally {
    int32_t active, ready, fresh_deletions;
};

static struct tally tally_of(struct look *look, const struct apps_v1_deployment *deployment)
{
    struct tally tally = {0};

    for (size_t i = 0; i < look->pod_count; i++) {
        const struct core_v1_pod *pod = look->pods[i];

        if (deployment_of(look, pod) == deployment && is_active(pod)) {
            tally.active++;
            tally.ready += is_ready(pod);
        }
    }
    return tally;
}

static int32_t scaled(const struct int_or_string *value, int32_t total, bool up)
{
    int32_t number = 0;

    if (value != NULL) {
        int_or_string_scaled(value, total, up, &number);
    }
    return number;
}

static bool is_as_asked(const struct apps_v1_deployment *deployment)
{
    int32_t replicas = *deployment->spec.replicas;

    return deployment->status.observed_generation == deployment->metadata.generation &&
           deployment->status.replicas == replicas && deployment->status.updated_replicas == replicas &&
           deployment->status.available_replicas == replicas;
}

static void judge_deployment(struct look *look, const struct apps_v1_deployment *deployment)
{
    struct checker *checker = look->checker;
    struct asked *asked = map_find(&checker->asked, deployment->metadata.uid);
    int32_t replicas = *deployment->spec.replicas;

    if (asked == NULL) {
        asked = ARENA_NEW(checker->kept, struct asked);
        *asked = (struct asked){replicas, replicas};
        map_set(&checker->asked, deployment->metadata.uid, asked);
    }
    asked->most = MAX(asked->most, replicas);
    asked->least = MIN(asked->least, replicas);
    struct tally tally = tally_of(look, deployment);
    const struct apps_v1_rolling_update_deployment *rolling = deployment->spec.strategy.rolling_update;
    int32_t surge = rolling != NULL ? scaled(rolling->max_surge, asked->most, true) : 0;

    if (tally.active > asked->most + surge) {
        sim_blame(checker->sim, "%.*s has %d pods, of %d and %d more at most", STR_ARG(deployment->metadata.name),
                  tally.active, asked->most, surge);
    }
    if (is_as_asked(deployment) && tally.active == replicas) {
        *asked = (struct asked){replicas, replicas};
    }
}

void checker_look(struct checker *checker)
{
    if (checker->sim->server == NULL) {
        return;
    }
    struct look look = {.checker = checker, .arena = arena_new()};

    look_read(&look);
    for (size_t i = 0; i < look.pod_count; i++) {
        judge_pod(&look, look.pods[i]);
    }
    for (size_t i = 0; i < look.replicaset_count; i++) {
        controller_of(&look, &look.replicasets[i]->metadata);
    }
    for (size_t i = 0; i < look.deployment_count; i++) {
        judge_deployment(&look, look.deployments[i]);
    }
    arena_free(look.arena);
}

static bool says(char *why, size_t why_size, const char *format, ...) PRINTF_LIKE(3, 4);

static bool says(char *why, size_t why_size, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, why_size, format, args);
    va_end(args);
    return false;
}

static bool pods_converged(struct look *look, char *why, size_t why_size)
{
    size_t running = 0;

    for (size_t i = 0; i < look->pod_count; i++) {
        const struct core_v1_pod *pod = look->pods[i];

        if (deployment_of(look, pod) == NULL) {
            return says(why, why_size, "pod %.*s has lost its owner and is still there", STR_ARG(pod->metadata.name));
        }
        if (pod->metadata.deletion_timestamp != NULL) {
            return says(why, why_size, "pod %.*s is being deleted and is still there", STR_ARG(pod->metadata.name));
        }
    }
    for (size_t i = 0; i < look->checker->sim->node_count; i++) {
        running += fake_runtime_running(look->checker->sim->nodes[i].runtime);
    }
    return running == look->pod_count ||
           says(why, why_size, "%zu sandboxes run for %zu pods", running, look->pod_count);
}

static bool look_converged(struct look *look, char *why, size_t why_size)
{
    for (size_t i = 0; i < look->deployment_count; i++) {
        const struct apps_v1_deployment *deployment = look->deployments[i];
        struct tally tally = tally_of(look, deployment);

        if (deployment->metadata.deletion_timestamp != NULL) {
            return says(why, why_size, "%.*s is being deleted and is still there", STR_ARG(deployment->metadata.name));
        }
        if (!is_as_asked(deployment) || tally.ready != *deployment->spec.replicas || tally.active != tally.ready) {
            return says(why, why_size, "%.*s: %d wanted, %d there, %d ready; status: %d updated, %d available, generation "
                        "%lld of %lld", STR_ARG(deployment->metadata.name), *deployment->spec.replicas, tally.active,
                        tally.ready, deployment->status.updated_replicas, deployment->status.available_replicas,
                        (long long)deployment->status.observed_generation, (long long)deployment->metadata.generation);
        }
    }
    return pods_converged(look, why, why_size);
}

bool checker_has_converged(struct checker *checker, char *why, size_t why_size)
{
    if (checker->sim->server == NULL) {
        return says(why, why_size, "the API server is down");
    }
    struct look look = {.checker = checker, .arena = arena_new()};

    look_read(&look);
    bool has = look_converged(&look, why, why_size);

    arena_free(look.arena);
    return has;
}
