/* Defaults of pods and of what they are made of. */
#include "api/core_v1.h"
#include "api/defaults/fillers.h"
#include "schema/image_reference.h"
#include "schema/map_of.h"
#include "schema/quantity.h"

/* An image without a tag, or with the tag "latest", may change any time; one that can't be read is never pulled. */
static struct str pull_policy(struct arena *arena, struct str image)
{
    struct image_reference reference;
    struct status *status = image_reference_parse(arena, image, &reference);

    if (status != NULL) {
        status_free(status);
        return CORE_V1_PULL_IF_NOT_PRESENT;
    }
    if (str_is(reference.tag, "latest") || (reference.tag.n == 0 && reference.digest.n == 0)) {
        return CORE_V1_PULL_ALWAYS;
    }
    return CORE_V1_PULL_IF_NOT_PRESENT;
}

void fill_container(struct arena *arena, void *object)
{
    struct core_v1_container *container = object;

    if (container->image_pull_policy.n == 0) {
        container->image_pull_policy = pull_policy(arena, container->image);
    }
}

void fill_ephemeral_container(struct arena *arena, void *object)
{
    struct core_v1_ephemeral_container_common *container = object;

    if (container->image_pull_policy.n == 0) {
        container->image_pull_policy = pull_policy(arena, container->image);
    }
}

void fill_volume(struct arena *arena, void *object)
{
    struct core_v1_volume *volume = object;
    const struct type *type = &core_v1_volume_source_type;
    void *const *sources = (void *const *)&volume->volume_source;

    if (volume->volume_source.image != NULL && volume->volume_source.image->pull_policy.n == 0) {
        volume->volume_source.image->pull_policy = pull_policy(arena, volume->volume_source.image->reference);
    }
    for (size_t i = 0; i < type->size / sizeof(*sources); i++) { /* a source is nothing but pointers */
        if (sources[i] != NULL) {
            return;
        }
    }
    volume->volume_source.empty_dir = ARENA_NEW(arena, struct core_v1_empty_dir_volume_source);
}

static void fill_requests(struct arena *arena, struct core_v1_resource_requirements *resources)
{
    fill_amounts(arena, &resources->requests, &resources->limits);
    if (resources->limits.items != NULL && resources->requests.items == NULL) {
        resources->requests.items = ARENA_NEW(arena, struct quantity_entry); /* empty, but not nil */
    }
}

static void fill_host_ports(struct core_v1_container *container)
{
    LIST_EACH(port, &container->ports) {
        if (port->host_port == 0) {
            port->host_port = port->container_port;
        }
    }
}

/* There are few sizes of huge pages; a client may make up any number of names. */
enum { POD_LEVEL_AMOUNTS_MAX = 64 };

static bool is_pod_level(struct str resource)
{
    return str_is(resource, "cpu") || str_is(resource, "memory") || str_has_prefix(resource, STR("hugepages-"));
}

static void add_amounts(struct arena *arena, struct quantity_map *total, const struct quantity_map *more)
{
    LIST_EACH(entry, more) {
        const struct quantity *old = quantity_map_get(total, entry->key);

        if (!is_pod_level(entry->key) || (old == NULL && total->len >= POD_LEVEL_AMOUNTS_MAX)) {
            continue;
        }

        quantity_map_set(arena, total, entry->key,
                         old == NULL ? entry->value : quantity_add(arena, *old, entry->value));
    }
}

static void raise_amounts(struct arena *arena, struct quantity_map *total, const struct quantity_map *least)
{
    LIST_EACH(entry, least) {
        const struct quantity *old = quantity_map_get(total, entry->key);

        if (old == NULL || quantity_cmp(*old, entry->value) < 0) {
            quantity_map_set(arena, total, entry->key, entry->value);
        }
    }
}

/* What the containers ask for at most at one time: all of them with the sidecars, or an init container with the
 * sidecars started before it. */
static struct quantity_map requests_of_containers(struct arena *arena, const struct core_v1_pod_spec *spec)
{
    struct quantity_map total = {0}, sidecars = {0}, starting = {0};

    LIST_EACH(container, &spec->containers) {
        add_amounts(arena, &total, &container->resources.requests);
    }
    LIST_EACH(container, &spec->init_containers) {
        if (container->restart_policy != NULL && str_is(*container->restart_policy, "Always")) {
            add_amounts(arena, &total, &container->resources.requests);
            add_amounts(arena, &sidecars, &container->resources.requests);
            raise_amounts(arena, &starting, &sidecars);
        } else {
            struct quantity_map here = {0};

            add_amounts(arena, &here, &container->resources.requests);
            add_amounts(arena, &here, &sidecars);
            raise_amounts(arena, &starting, &here);
        }
    }
    raise_amounts(arena, &total, &starting);
    return total;
}

/* Pod-level requests: what the containers request, or else the pod's limits. */
static void fill_pod_requests(struct arena *arena, struct core_v1_pod_spec *spec)
{
    if (spec->resources == NULL || spec->resources->limits.len == 0) {
        return;
    }
    struct quantity_map all = requests_of_containers(arena, spec);
    const struct quantity_map *sources[] = {&all, &spec->resources->limits};

    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        struct quantity_map supported = {0};

        LIST_EACH(entry, sources[i]) {
            if (is_pod_level(entry->key)) {
                *LIST_ADD(arena, &supported) = *entry;
            }
        }
        fill_amounts(arena, &spec->resources->requests, &supported);
    }
}

/* Only what stock leaves undone in the pod templates of controllers. */
void fill_pod(struct arena *arena, void *object)
{
    struct core_v1_pod_spec *spec = &((struct core_v1_pod *)object)->spec;

    LIST_EACH(container, &spec->containers) {
        fill_requests(arena, &container->resources);
    }
    LIST_EACH(container, &spec->init_containers) {
        fill_requests(arena, &container->resources);
    }
    fill_pod_requests(arena, spec);
    if (spec->termination_grace_period_seconds != NULL && *spec->termination_grace_period_seconds < 0) {
        *spec->termination_grace_period_seconds = 1; /* as stock reads it */
    }
    FILL_POINTER(arena, spec->enable_service_links, true);
    if (spec->host_network) {
        LIST_EACH(container, &spec->containers) {
            fill_host_ports(container);
        }
        LIST_EACH(container, &spec->init_containers) {
            fill_host_ports(container);
        }
    }
}
