#include "kubelet/mirror_pods.h"

#include "base/map.h"
#include "base/mem.h"
#include "kubelet/node_agent.h"
#include "kubelet/pod_workers.h"
#include "kubelet/status_manager.h"
#include "schema/copy.h"
#include "schema/map_of.h"

#include <stdlib.h>

#define ANNOTATION_MIRROR STR("kubernetes.io/config.mirror")
#define ANNOTATION_CONFIG_HASH STR("kubernetes.io/config.hash")

struct mirror_pods {
    struct kubelet *kubelet;
    struct map pods; /* by UID of the mirror, as struct pod_ref */
};

struct mirror_pods *mirror_pods_new(struct kubelet *kubelet)
{
    struct mirror_pods *mirrors = MEM_NEW(struct mirror_pods);

    mirrors->kubelet = kubelet;
    return mirrors;
}

void mirror_pods_free(struct mirror_pods *mirrors)
{
    size_t at = 0;

    if (mirrors == NULL) {
        return;
    }
    for (struct map_entry *e; (e = map_next(&mirrors->pods, &at)) != NULL;) {
        pod_unref(e->value);
    }
    map_done(&mirrors->pods);
    free(mirrors);
}

static struct pod_ref *find_named(const struct mirror_pods *mirrors, struct str namespace, struct str name)
{
    size_t at = 0;

    for (struct map_entry *e; (e = map_next(&mirrors->pods, &at)) != NULL;) {
        struct pod_ref *pod = e->value;

        if (str_eq(pod->pod->metadata.namespace, namespace) && str_eq(pod->pod->metadata.name, name)) {
            return pod;
        }
    }
    return NULL;
}

/* The static pod of a mirror; NULL when there is none. */
static struct pod_ref *original_of(const struct mirror_pods *mirrors, const struct core_v1_pod *mirror)
{
    struct pod_ref *pod =
        pod_workers_find(mirrors->kubelet->workers, mirror->metadata.namespace, mirror->metadata.name);

    return pod != NULL && pod_is_static(pod->pod) ? pod : NULL;
}

void mirror_pods_update(struct mirror_pods *mirrors, struct pod_ref *pod)
{
    struct pod_ref *original = original_of(mirrors, pod->pod);

    pod_unref(map_set(&mirrors->pods, pod->pod->metadata.uid, pod_ref(pod)));
    if (original != NULL) {
        status_manager_observe(mirrors->kubelet->statuses, original);
        if (pod->pod->metadata.deletion_timestamp != NULL) {
            pod_workers_wake(mirrors->kubelet->workers, original->pod->metadata.uid);
        }
    }
}

void mirror_pods_remove(struct mirror_pods *mirrors, struct str uid)
{
    OWNED(pod_unrefp) struct pod_ref *pod = map_remove(&mirrors->pods, uid);
    struct pod_ref *original = pod == NULL ? NULL : original_of(mirrors, pod->pod);

    if (original != NULL) {
        pod_workers_wake(mirrors->kubelet->workers, original->pod->metadata.uid);
    }
}

struct pod_ref *mirror_pods_find(const struct mirror_pods *mirrors, const struct core_v1_pod *static_pod)
{
    return find_named(mirrors, static_pod->metadata.namespace, static_pod->metadata.name);
}

static struct status *delete_one(struct mirror_pods *mirrors, const struct core_v1_pod *mirror)
{
    static const int64_t zero;
    struct client_delete_options options = {.grace_period_seconds = &zero, .uid = mirror->metadata.uid};
    struct status *error = client_delete(mirrors->kubelet->client, &core_v1_pod_kind, mirror->metadata.namespace,
                                         mirror->metadata.name, &options);

    return status_free_if(&error, STATUS_NOT_FOUND) ? NULL : error;
}

static struct status *create_one(struct mirror_pods *mirrors, const struct core_v1_pod *static_pod)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct core_v1_pod *mirror = schema_copy(arena, &core_v1_pod_type, static_pod);
    const struct core_v1_node *node = node_agent_node(mirrors->kubelet->node);
    static bool yes = true;

    if (node == NULL) {
        return status_new(STATUS_SERVICE_UNAVAILABLE, "the node, whose mirror pods are, is not known yet");
    }
    mirror->metadata.uid = STR("");
    mirror->metadata.resource_version = STR("");
    str_map_set(arena, &mirror->metadata.annotations, ANNOTATION_MIRROR,
                str_map_get(&static_pod->metadata.annotations, ANNOTATION_CONFIG_HASH));
    *LIST_ADD(arena, &mirror->metadata.owner_references) =
        (struct meta_v1_owner_reference){.api_version = STR("v1"),
                                         .kind = STR("Node"),
                                         .name = arena_str(arena, node->metadata.name),
                                         .uid = arena_str(arena, node->metadata.uid),
                                         .controller = &yes};
    struct status *error =
        client_create(mirrors->kubelet->client, &core_v1_pod_kind, mirror, NULL, arena, NULL);

    /* The watch has not shown yet the one we made a moment ago. */
    return status_free_if(&error, STATUS_ALREADY_EXISTS) ? NULL : error;
}

struct status *mirror_pods_ensure(struct mirror_pods *mirrors, const struct core_v1_pod *static_pod)
{
    struct pod_ref *found = mirror_pods_find(mirrors, static_pod);

    if (mirrors->kubelet->client == NULL) {
        return NULL;
    }
    if (found == NULL) {
        return create_one(mirrors, static_pod);
    }
    OWNED(pod_unrefp) struct pod_ref *mirror = pod_ref(found);
    bool is_current = mirror->pod->metadata.deletion_timestamp == NULL &&
                      str_eq(str_map_get(&mirror->pod->metadata.annotations, ANNOTATION_MIRROR),
                             str_map_get(&static_pod->metadata.annotations, ANNOTATION_CONFIG_HASH));

    if (is_current) {
        return NULL;
    }
    TRY(delete_one(mirrors, mirror->pod));
    return create_one(mirrors, static_pod);
}

struct status *mirror_pods_delete(struct mirror_pods *mirrors, struct str namespace, struct str name)
{
    struct pod_ref *found = find_named(mirrors, namespace, name);

    if (mirrors->kubelet->client == NULL || found == NULL) {
        return NULL;
    }
    OWNED(pod_unrefp) struct pod_ref *mirror = pod_ref(found);

    return delete_one(mirrors, mirror->pod);
}

struct status *mirror_pods_sweep(struct mirror_pods *mirrors)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct pod_refs lost = {0};
    struct status *error = NULL;
    size_t at = 0;

    for (struct map_entry *e; (e = map_next(&mirrors->pods, &at)) != NULL;) {
        struct pod_ref *mirror = e->value;

        if (original_of(mirrors, mirror->pod) == NULL) {
            *LIST_ADD(arena, &lost) = pod_ref(mirror);
        }
    }
    LIST_EACH (mirror, &lost) {
        if (error == NULL) {
            error = delete_one(mirrors, (*mirror)->pod);
        }
        pod_unref(*mirror);
    }
    return error;
}
