#include "scheduler/snapshot.h"

#include "base/map.h"
#include "base/mem.h"
#include "schema/map_of.h"
#include "schema/object.h"
#include "schema/quantity.h"

#include <stdlib.h>
#include <string.h>

/* What a container that asks for nothing counts for when scoring (stock: DefaultMilliCPURequest, ...). */
enum { UNASKED_MILLI_CPU = 100, UNASKED_MEMORY = 200 << 20 };

struct snapshot {
    struct map nodes;    /* name -> node_info */
    struct map pods;     /* uid -> pod_place */
    VEC(struct node_info *) order; /* those with a node */
    struct map namespaces;         /* name -> cached */
    struct map names;              /* of scalar resources: sums outlive the pods they were read from */
};

struct pod_place {
    struct pod_info info;
    struct node_info *node;
};

struct snapshot *snapshot_new(void)
{
    return MEM_NEW(struct snapshot);
}

int64_t resources_scalar(const struct resources *resources, struct str name)
{
    for (size_t i = 0; i < resources->scalar_count; i++) {
        if (str_eq(resources->scalars[i].name, name)) {
            return resources->scalars[i].amount;
        }
    }
    return 0;
}

static int64_t *scalar_slot(struct resources *resources, struct str name)
{
    for (size_t i = 0; i < resources->scalar_count; i++) {
        if (str_eq(resources->scalars[i].name, name)) {
            return &resources->scalars[i].amount;
        }
    }
    if (resources->scalar_count == RESOURCES_SCALAR_MAX) {
        return NULL;
    }
    resources->scalars[resources->scalar_count].name = name;
    return &resources->scalars[resources->scalar_count++].amount;
}

static int64_t *slot(struct resources *resources, struct str name)
{
    if (str_is(name, "cpu")) {
        return &resources->milli_cpu;
    }
    if (str_is(name, "memory")) {
        return &resources->memory;
    }
    if (str_is(name, "ephemeral-storage")) {
        return &resources->ephemeral_storage;
    }
    if (str_is(name, "pods")) {
        return NULL;
    }
    return scalar_slot(resources, name);
}

void resources_of(const struct quantity_map *map, struct resources *ret)
{
    *ret = (struct resources){0};
    LIST_EACH(entry, map)
    {
        int64_t *amount = slot(ret, entry->key);

        if (amount != NULL) {
            *amount = amount == &ret->milli_cpu ? quantity_milli(entry->value) : quantity_value(entry->value);
        }
    }
}

static void combine(struct resources *into, const struct resources *more, int64_t (*with)(int64_t, int64_t))
{
    into->milli_cpu = with(into->milli_cpu, more->milli_cpu);
    into->memory = with(into->memory, more->memory);
    into->ephemeral_storage = with(into->ephemeral_storage, more->ephemeral_storage);
    for (size_t i = 0; i < more->scalar_count; i++) {
        int64_t *amount = scalar_slot(into, more->scalars[i].name);

        if (amount != NULL) {
            *amount = with(*amount, more->scalars[i].amount);
        }
    }
}

static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t minus(int64_t a, int64_t b)
{
    return a - b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return MAX(a, b);
}

static bool is_sidecar(const struct core_v1_container *container)
{
    return container->restart_policy != NULL && str_is(*container->restart_policy, "Always");
}

/* What one container asks for, with `unasked` for CPU and memory when it names none. */
static struct resources requests_of(const struct core_v1_container *container, const struct resources *unasked)
{
    struct resources requests;

    resources_of(&container->resources.requests, &requests);
    if (quantity_map_get(&container->resources.requests, STR("cpu")) == NULL) {
        requests.milli_cpu = unasked->milli_cpu;
    }
    if (quantity_map_get(&container->resources.requests, STR("memory")) == NULL) {
        requests.memory = unasked->memory;
    }
    return requests;
}

/* What is asked for the pod as a whole counts instead of its containers' sum. */
static void apply_pod_level(const struct core_v1_pod *pod, struct resources *sum)
{
    if (pod->spec.resources == NULL) {
        return;
    }
    LIST_EACH(entry, &pod->spec.resources->requests)
    {
        int64_t *amount = slot(sum, entry->key);

        if (amount != NULL) {
            *amount = amount == &sum->milli_cpu ? quantity_milli(entry->value) : quantity_value(entry->value);
        }
    }
}

/* The larger of all containers with their sidecars together, and each init container beside the sidecars started before
 * it; and the overhead. */
static struct resources pod_requests(const struct core_v1_pod *pod, const struct resources *unasked)
{
    struct resources sum = {0}, sidecars = {0}, largest = {0};

    LIST_EACH(container, &pod->spec.containers)
    {
        struct resources one = requests_of(container, unasked);

        combine(&sum, &one, plus);
    }
    LIST_EACH(container, &pod->spec.init_containers)
    {
        struct resources one = requests_of(container, unasked);

        if (is_sidecar(container)) {
            combine(&sum, &one, plus);
            combine(&sidecars, &one, plus);
            combine(&largest, &sidecars, larger);
        } else {
            combine(&one, &sidecars, plus);
            combine(&largest, &one, larger);
        }
    }
    combine(&sum, &largest, larger);
    apply_pod_level(pod, &sum);
    struct resources overhead;

    resources_of(&pod->spec.overhead, &overhead);
    combine(&sum, &overhead, plus);
    return sum;
}

void pod_info_of(const struct core_v1_pod *pod, struct pod_info *ret)
{
    static const struct resources none, unasked = {.milli_cpu = UNASKED_MILLI_CPU, .memory = UNASKED_MEMORY};
    struct resources for_score = pod_requests(pod, &unasked);

    *ret = (struct pod_info){.pod = pod,
                             .requests = pod_requests(pod, &none),
                             .score_milli_cpu = for_score.milli_cpu,
                             .score_memory = for_score.memory};
}

const struct node_info *snapshot_find_node(const struct snapshot *snapshot, struct str name)
{
    return map_find(&snapshot->nodes, name);
}

static struct node_info *node_get(struct snapshot *snapshot, struct str name)
{
    struct node_info *info = map_find(&snapshot->nodes, name);

    if (info == NULL) {
        info = mem_zalloc(sizeof(*info) + name.n + 1);
        info->name = (struct str){memcpy(info + 1, name.p, name.n), name.n};
        map_set(&snapshot->nodes, name, info);
    }
    return info;
}

/* A node that is gone, and on which no pods are known any more, is forgotten. */
static void node_settle(struct snapshot *snapshot, struct node_info *info)
{
    if (info->node == NULL && info->pod_count == 0) {
        map_remove(&snapshot->nodes, info->name);
        free(info->pods);
        free(info);
    }
}

void snapshot_set_node(struct snapshot *snapshot, struct cached *held)
{
    const struct core_v1_node *node = held->object;
    struct node_info *info = node_get(snapshot, node->metadata.name);

    if (info->node == NULL) {
        *VEC_ADD(&snapshot->order) = info;
    }
    cached_unref(info->held);
    info->held = held;
    info->node = node;
    resources_of(&node->status.allocatable, &info->allocatable);
    const struct quantity *pods = quantity_map_get(&node->status.allocatable, STR("pods"));

    info->allowed_pods = pods != NULL ? quantity_value(*pods) : 0;
}

void snapshot_remove_node(struct snapshot *snapshot, struct str name)
{
    struct node_info *info = map_find(&snapshot->nodes, name);

    if (info == NULL || info->node == NULL) {
        return;
    }
    for (size_t i = 0; i < snapshot->order.len; i++) {
        if (snapshot->order.items[i] == info) {
            VEC_REMOVE(&snapshot->order, i);
            break;
        }
    }
    cached_unref(TAKE(info->held));
    info->node = NULL;
    node_settle(snapshot, info);
}

static void account(struct node_info *node, const struct pod_info *pod, int64_t (*with)(int64_t, int64_t))
{
    combine(&node->requested, &pod->requests, with);
    node->score_milli_cpu = with(node->score_milli_cpu, pod->score_milli_cpu);
    node->score_memory = with(node->score_memory, pod->score_memory);
}

struct node_info *node_info_copy(struct arena *arena, const struct node_info *node)
{
    struct node_info *copy = ARENA_NEW(arena, struct node_info);

    *copy = *node;
    copy->pods = ARENA_ARRAY(arena, struct pod_info *, node->pod_count + 1);
    for (size_t i = 0; i < node->pod_count; i++) {
        copy->pods[i] = node->pods[i];
    }
    copy->pod_cap = node->pod_count;
    return copy;
}

void node_info_add(struct node_info *copy, struct pod_info *pod)
{
    copy->pods[copy->pod_count++] = pod;
    account(copy, pod, plus);
}

void node_info_remove(struct node_info *copy, const struct pod_info *pod)
{
    for (size_t i = 0; i < copy->pod_count; i++) {
        if (copy->pods[i] == pod) {
            copy->pods[i] = copy->pods[--copy->pod_count];
            account(copy, pod, minus);
            return;
        }
    }
}

/* The map's own copy of the name, which lives as long as the snapshot. */
static struct str name_kept(struct snapshot *snapshot, struct str name)
{
    struct str *kept = map_find(&snapshot->names, name);

    if (kept == NULL) {
        char *copy = mem_zalloc(sizeof(*kept) + name.n + 1);

        kept = (struct str *)(void *)copy;
        *kept = (struct str){copy + sizeof(*kept), name.n};
        memcpy(copy + sizeof(*kept), name.p, name.n);
        map_set(&snapshot->names, name, kept);
    }
    return *kept;
}

static void place(struct snapshot *snapshot, struct cached *held, struct str node_name)
{
    const struct core_v1_pod *pod = held->object;
    struct pod_place *new_place = MEM_NEW(struct pod_place);
    struct node_info *node = node_get(snapshot, node_name);

    pod_info_of(pod, &new_place->info);
    for (size_t i = 0; i < new_place->info.requests.scalar_count; i++) {
        new_place->info.requests.scalars[i].name = name_kept(snapshot, new_place->info.requests.scalars[i].name);
    }
    new_place->info.held = held;
    new_place->node = node;
    if (node->pod_count == node->pod_cap) {
        node->pod_cap = node->pod_cap ? node->pod_cap * 2 : 8;
        node->pods = mem_resize(node->pods, node->pod_cap, sizeof(*node->pods));
    }
    node->pods[node->pod_count++] = &new_place->info;
    account(node, &new_place->info, plus);
    map_set(&snapshot->pods, pod->metadata.uid, new_place);
}

void snapshot_remove_pod(struct snapshot *snapshot, struct str uid)
{
    struct pod_place *old = map_remove(&snapshot->pods, uid);

    if (old == NULL) {
        return;
    }
    struct node_info *node = old->node;

    account(node, &old->info, minus);
    for (size_t i = 0; i < node->pod_count; i++) {
        if (node->pods[i] == &old->info) {
            node->pods[i] = node->pods[--node->pod_count];
            break;
        }
    }
    node_settle(snapshot, node);
    cached_unref(old->info.held);
    free(old);
}

void snapshot_set_pod(struct snapshot *snapshot, struct cached *held)
{
    const struct core_v1_pod *pod = held->object;

    snapshot_remove_pod(snapshot, pod->metadata.uid);
    place(snapshot, held, pod->spec.node_name);
}

void snapshot_assume(struct snapshot *snapshot, struct cached *held, struct str node_name)
{
    snapshot_remove_pod(snapshot, ((const struct core_v1_pod *)held->object)->metadata.uid);
    place(snapshot, held, node_name);
}

bool snapshot_has_pod(const struct snapshot *snapshot, struct str uid)
{
    return map_find(&snapshot->pods, uid) != NULL;
}

struct node_list snapshot_nodes(const struct snapshot *snapshot, struct arena *arena)
{
    struct node_list list = {ARENA_ARRAY(arena, const struct node_info *, snapshot->order.len), 0};

    for (size_t i = 0; i < snapshot->order.len; i++) {
        list.items[list.len++] = snapshot->order.items[i];
    }
    return list;
}

void snapshot_set_namespace(struct snapshot *snapshot, struct cached *held)
{
    cached_unref(map_set(&snapshot->namespaces, ((const struct object *)held->object)->metadata.name, held));
}

void snapshot_remove_namespace(struct snapshot *snapshot, struct str name)
{
    cached_unref(map_remove(&snapshot->namespaces, name));
}

const struct str_map *snapshot_namespace_labels(const struct snapshot *snapshot, struct str namespace)
{
    const struct cached *held = map_find(&snapshot->namespaces, namespace);

    return held != NULL ? &((const struct object *)held->object)->metadata.labels : NULL;
}

void snapshot_free(struct snapshot *snapshot)
{
    size_t at = 0;

    if (snapshot == NULL) {
        return;
    }
    for (struct map_entry *entry; (entry = map_next(&snapshot->pods, &at)) != NULL;) {
        struct pod_place *old = entry->value;

        cached_unref(old->info.held);
        free(old);
    }
    at = 0;
    for (struct map_entry *entry; (entry = map_next(&snapshot->nodes, &at)) != NULL;) {
        struct node_info *info = entry->value;

        cached_unref(info->held);
        free(info->pods);
        free(info);
    }
    at = 0;
    for (struct map_entry *entry; (entry = map_next(&snapshot->names, &at)) != NULL;) {
        free(entry->value);
    }
    at = 0;
    for (struct map_entry *entry; (entry = map_next(&snapshot->namespaces, &at)) != NULL;) {
        cached_unref(entry->value);
    }
    map_done(&snapshot->namespaces);
    map_done(&snapshot->names);
    map_done(&snapshot->pods);
    map_done(&snapshot->nodes);
    free(snapshot->order.items);
    free(snapshot);
}
