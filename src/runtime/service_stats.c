#include "runtime/service.h"

#include "base/env.h"
#include "base/file.h"
#include "runtime/sandbox_plan.h"
#include "runtime/usage.h"

enum { NET_DEV_BYTES = 64 << 10 };

static struct cri_v1_u_int64_value *boxed(struct arena *arena, uint64_t value)
{
    struct cri_v1_u_int64_value *box = ARENA_NEW(arena, struct cri_v1_u_int64_value);

    box->value = value;
    return box;
}

static struct cri_v1_cpu_usage *cpu_of(struct arena *arena, const struct usage *usage, int64_t now)
{
    struct cri_v1_cpu_usage *cpu;

    if (!usage->has_cpu) {
        return NULL;
    }
    cpu = ARENA_NEW(arena, struct cri_v1_cpu_usage);
    cpu->timestamp = now;
    cpu->usage_core_nano_seconds = boxed(arena, usage->cpu_ns);
    return cpu;
}

static struct cri_v1_memory_usage *memory_of(struct arena *arena, const struct usage *usage, int64_t now)
{
    struct cri_v1_memory_usage *memory;

    if (!usage->has_memory) {
        return NULL;
    }
    memory = ARENA_NEW(arena, struct cri_v1_memory_usage);
    *memory = (struct cri_v1_memory_usage){
        .timestamp = now,
        .working_set_bytes = boxed(arena, usage->working_set_bytes),
        .usage_bytes = boxed(arena, usage->memory_bytes),
        .rss_bytes = boxed(arena, usage->rss_bytes),
        .page_faults = boxed(arena, usage->page_faults),
        .major_page_faults = boxed(arena, usage->major_page_faults),
    };
    if (usage->memory_limit_bytes > 0) {
        memory->available_bytes = boxed(arena, usage->memory_limit_bytes > usage->working_set_bytes
                                                   ? usage->memory_limit_bytes - usage->working_set_bytes
                                                   : 0);
    }
    return memory;
}

static struct cri_v1_swap_usage *swap_of(struct arena *arena, const struct usage *usage, int64_t now)
{
    struct cri_v1_swap_usage *swap;

    if (!usage->has_swap) {
        return NULL;
    }
    swap = ARENA_NEW(arena, struct cri_v1_swap_usage);
    swap->timestamp = now;
    swap->swap_usage_bytes = boxed(arena, usage->swap_bytes);
    return swap;
}

/* By what it had used when it was last asked for. */
static void add_rate(struct arena *arena, struct container *container, struct cri_v1_cpu_usage *cpu, int64_t now)
{
    int64_t used = (int64_t)cpu->usage_core_nano_seconds->value, before = container->cpu_usage;
    int64_t passed = now - container->cpu_usage_at;

    if (container->cpu_usage_at > 0 && passed > 0 && used >= before) {
        cpu->usage_nano_cores = boxed(arena, (uint64_t)((double)(used - before) * ENV_SECOND / (double)passed));
    }
    container->cpu_usage = used;
    container->cpu_usage_at = now;
}

/* Writable layers are walked by a worker, all that one question is about at once. */
struct layers {
    struct snapshots *snapshots;
    struct str directory;
    size_t count;
    struct layer {
        struct str id;
        int64_t bytes, inodes;
        bool is_known;
    } *items;
};

static void measure(void *arg)
{
    struct layers *layers = arg;

    for (size_t i = 0; i < layers->count; i++) {
        struct layer *layer = &layers->items[i];
        struct status *status =
            snapshots_container_usage(layers->snapshots, layer->id, &layer->bytes, &layer->inodes);

        layer->is_known = status == NULL;
        status_free(status);
    }
}

static struct cri_v1_filesystem_usage *layer_usage(struct arena *arena, const struct layers *layers,
                                                   const struct layer *layer, int64_t now)
{
    struct cri_v1_filesystem_usage *usage = ARENA_NEW(arena, struct cri_v1_filesystem_usage);

    usage->timestamp = now;
    usage->fs_id = ARENA_NEW(arena, struct cri_v1_filesystem_identifier);
    usage->fs_id->mountpoint = layers->directory;
    usage->used_bytes = boxed(arena, (uint64_t)layer->bytes);
    usage->inodes_used = boxed(arena, (uint64_t)layer->inodes);
    return usage;
}

static void stats_of(struct arena *arena, struct container *container, const struct layers *layers,
                     const struct layer *layer, struct cri_v1_container_stats *ret)
{
    const struct cri_v1_container_config *config = container->record.config;
    int64_t now = env_wall();
    struct usage usage;

    *ret = (struct cri_v1_container_stats){.attributes = ARENA_NEW(arena, struct cri_v1_container_attributes)};
    *ret->attributes = (struct cri_v1_container_attributes){container->record.id, config->metadata, config->labels,
                                                            config->annotations};
    if (layer->is_known) {
        ret->writable_layer = layer_usage(arena, layers, layer, now);
    }
    if (container->record.state != CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING) {
        return;
    }
    usage_read(&container->record.plan->cgroups, container->runtime->machine.is_v2, &usage);
    ret->cpu = cpu_of(arena, &usage, now);
    ret->memory = memory_of(arena, &usage, now);
    ret->swap = swap_of(arena, &usage, now);
    if (ret->cpu != NULL) {
        add_rate(arena, container, ret->cpu, now);
    }
}

struct chosen {
    struct container **items; /* counted */
    size_t len;
};

static void release(struct chosen *chosen)
{
    LIST_EACH(container, chosen) {
        container_unref(*container);
    }
}

static struct layers measure_all(struct runtime *runtime, struct arena *arena, const struct chosen *chosen)
{
    struct layers layers = {.snapshots = image_store_snapshots(runtime->images), .count = chosen->len,
                            .directory = image_store_directory(runtime->images),
                            .items = ARENA_ARRAY(arena, struct layer, chosen->len)};

    for (size_t i = 0; i < chosen->len; i++) {
        layers.items[i].id = chosen->items[i]->record.id;
    }
    task_offload(measure, &layers);
    return layers;
}

static struct status *container_stats(void *arg, struct arena *arena, const void *request, void *response)
{
    const struct cri_v1_container_stats_request *asked = request;
    struct cri_v1_container_stats_response *answer = response;
    OWNED(container_unrefp) struct container *container = NULL;

    TRY(container_get(arg, asked->container_id, &container));
    struct layers layers = measure_all(arg, arena, &(struct chosen){&container, 1});

    answer->stats = ARENA_NEW(arena, struct cri_v1_container_stats);
    stats_of(arena, container, &layers, &layers.items[0], answer->stats);
    return NULL;
}

static bool is_wanted(const struct container *container, const struct cri_v1_container_stats_filter *filter)
{
    return container->record.state == CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING &&
           (filter == NULL ||
            ((filter->id.n == 0 || str_has_prefix(container->record.id, filter->id)) &&
             (filter->pod_sandbox_id.n == 0 || str_has_prefix(container->record.sandbox_id, filter->pod_sandbox_id)) &&
             service_labels_match(&container->record.config->labels, &filter->label_selector)));
}

static struct chosen choose(struct runtime *runtime, struct arena *arena,
                            const struct cri_v1_container_stats_filter *filter)
{
    struct chosen chosen = {0};
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&runtime->containers, &at)) != NULL;) {
        struct container *container = entry->value;

        if (is_wanted(container, filter)) {
            container->refs++;
            *LIST_ADD(arena, &chosen) = container;
        }
    }
    return chosen;
}

static struct status *list_container_stats(void *arg, struct arena *arena, const void *request, void *response)
{
    const struct cri_v1_list_container_stats_request *asked = request;
    struct cri_v1_list_container_stats_response *answer = response;
    struct chosen chosen = choose(arg, arena, asked->filter);
    struct layers layers = measure_all(arg, arena, &chosen);

    for (size_t i = 0; i < chosen.len; i++) {
        stats_of(arena, chosen.items[i], &layers, &layers.items[i], LIST_ADD(arena, &answer->stats));
    }
    release(&chosen);
    return NULL;
}

static struct cri_v1_network_usage *network_of(struct arena *arena, const struct sandbox *sandbox, int64_t now)
{
    struct str path = arena_printf(arena, "/proc/%u/net/dev", sandbox->pause_pid), text = STR("");
    struct usage_interfaces interfaces;
    struct status *status;
    struct cri_v1_network_usage *network;

    if (sandbox->record.netns_path.n == 0 || sandbox->pause_pid == 0) {
        return NULL;
    }
    status = file_read(arena, path.p, NET_DEV_BYTES, &text);
    status_free(status);
    usage_interfaces_parse(arena, text, &interfaces);
    network = ARENA_NEW(arena, struct cri_v1_network_usage);
    network->timestamp = now;
    LIST_EACH(interface, &interfaces) {
        struct cri_v1_network_interface_usage *usage = str_is(interface->name, "eth0")
                                                           ? ARENA_NEW(arena, struct cri_v1_network_interface_usage)
                                                           : LIST_ADD(arena, &network->interfaces);

        *usage = (struct cri_v1_network_interface_usage){
            interface->name, boxed(arena, interface->rx_bytes), boxed(arena, interface->rx_errors),
            boxed(arena, interface->tx_bytes), boxed(arena, interface->tx_errors)};
        network->default_interface = str_is(interface->name, "eth0") ? usage : network->default_interface;
    }
    return network;
}

static void pod_stats_of(struct runtime *runtime, struct arena *arena, struct sandbox *sandbox,
                         struct cri_v1_pod_sandbox_stats *ret)
{
    const struct cri_v1_pod_sandbox_config *config = sandbox->record.config;
    struct chosen chosen =
        choose(runtime, arena, &(struct cri_v1_container_stats_filter){.pod_sandbox_id = sandbox->record.id});
    struct layers layers = measure_all(runtime, arena, &chosen);
    struct str path = sandbox_cgroup_path(arena, config, STR(""));
    struct shim_cgroups cgroups;
    int64_t now = env_wall();
    struct usage usage;

    *ret = (struct cri_v1_pod_sandbox_stats){.attributes = ARENA_NEW(arena, struct cri_v1_pod_sandbox_attributes),
                                             .linux_ = ARENA_NEW(arena, struct cri_v1_linux_pod_sandbox_stats)};
    *ret->attributes = (struct cri_v1_pod_sandbox_attributes){sandbox->record.id, config->metadata, config->labels,
                                                              config->annotations};
    cgroup_place(arena, &runtime->machine, str_sub(path, 0, path.n - 1), &cgroups); /* the pod's own: the parent of all */
    usage_read(&cgroups, runtime->machine.is_v2, &usage);
    ret->linux_->cpu = cpu_of(arena, &usage, now);
    ret->linux_->memory = memory_of(arena, &usage, now);
    ret->linux_->network = network_of(arena, sandbox, now);
    if (usage.has_processes) {
        ret->linux_->process = ARENA_NEW(arena, struct cri_v1_process_usage);
        ret->linux_->process->timestamp = now;
        ret->linux_->process->process_count = boxed(arena, usage.processes);
    }
    for (size_t i = 0; i < chosen.len; i++) {
        stats_of(arena, chosen.items[i], &layers, &layers.items[i], LIST_ADD(arena, &ret->linux_->containers));
    }
    release(&chosen);
}

static struct status *pod_stats(void *arg, struct arena *arena, const void *request, void *response)
{
    const struct cri_v1_pod_sandbox_stats_request *asked = request;
    struct cri_v1_pod_sandbox_stats_response *answer = response;
    OWNED(sandbox_unrefp) struct sandbox *sandbox = NULL;

    TRY(sandbox_get(arg, asked->pod_sandbox_id, &sandbox));
    answer->stats = ARENA_NEW(arena, struct cri_v1_pod_sandbox_stats);
    pod_stats_of(arg, arena, sandbox, answer->stats);
    return NULL;
}

static bool is_wanted_pod(const struct sandbox *sandbox, const struct cri_v1_pod_sandbox_stats_filter *filter)
{
    return sandbox->record.state == CRI_V1_POD_SANDBOX_STATE_SANDBOX_READY &&
           (filter == NULL || ((filter->id.n == 0 || str_has_prefix(sandbox->record.id, filter->id)) &&
                               service_labels_match(&sandbox->record.config->labels, &filter->label_selector)));
}

static struct status *list_pod_stats(void *arg, struct arena *arena, const void *request, void *response)
{
    const struct cri_v1_list_pod_sandbox_stats_request *asked = request;
    struct cri_v1_list_pod_sandbox_stats_response *answer = response;
    struct runtime *runtime = arg;
    struct {
        struct sandbox **items; /* counted: measuring parks */
        size_t len;
    } chosen = {0};
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&runtime->sandboxes, &at)) != NULL;) {
        struct sandbox *sandbox = entry->value;

        if (is_wanted_pod(sandbox, asked->filter)) {
            sandbox->refs++;
            *LIST_ADD(arena, &chosen) = sandbox;
        }
    }
    LIST_EACH(sandbox, &chosen) {
        pod_stats_of(runtime, arena, *sandbox, LIST_ADD(arena, &answer->stats));
        sandbox_unref(*sandbox);
    }
    return NULL;
}

static const struct grpc_method methods[] = {
    {.rpc = &cri_v1_runtime_service_container_stats_rpc, .handle = container_stats},
    {.rpc = &cri_v1_runtime_service_list_container_stats_rpc, .handle = list_container_stats},
    {.rpc = &cri_v1_runtime_service_pod_sandbox_stats_rpc, .handle = pod_stats},
    {.rpc = &cri_v1_runtime_service_list_pod_sandbox_stats_rpc, .handle = list_pod_stats},
};
const struct service_methods service_stats_methods = {methods, COUNT_OF(methods)};
