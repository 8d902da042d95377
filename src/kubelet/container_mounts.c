#include "kubelet/container_mounts.h"

#include "base/env.h"
#include "kubelet/expansion.h"
#include "kubelet/hosts_file.h"

static const struct volume_place *find_volume(const struct volume_places *places, struct str name)
{
    LIST_EACH (place, places) {
        if (str_eq(place->name, name)) {
            return place;
        }
    }
    return NULL;
}

static int32_t propagation_of(const struct core_v1_volume_mount *mount)
{
    return mount->mount_propagation == NULL                     ? CRI_V1_MOUNT_PROPAGATION_PROPAGATION_PRIVATE
         : str_is(*mount->mount_propagation, "Bidirectional")   ? CRI_V1_MOUNT_PROPAGATION_PROPAGATION_BIDIRECTIONAL
         : str_is(*mount->mount_propagation, "HostToContainer") ? CRI_V1_MOUNT_PROPAGATION_PROPAGATION_HOST_TO_CONTAINER
                                                                : CRI_V1_MOUNT_PROPAGATION_PROPAGATION_PRIVATE;
}

/* The subPath is bound to a place of its own, so that what the container sees does not change when the pod moves links
 * about in the volume. */
static struct status *bind_sub_path(struct pod_starting *starting, const struct core_v1_container *container,
                                    const struct volume_place *place, struct str sub_path, size_t index,
                                    struct str *ret)
{
    struct host *host = starting->kubelet->host;
    struct arena *arena = starting->arena;
    struct str source;
    struct host_stat stat;

    TRY(volume_sub_path(host, arena, place->path, sub_path, &source));
    const char *directory =
        arena_printf(arena, "%s/volume-subpaths/%.*s/%.*s",
                     pod_directory(starting->kubelet, arena, starting->pod->metadata.uid), STR_ARG(place->name),
                     STR_ARG(container->name))
            .p;
    struct str target = arena_printf(arena, "%s/%zu", directory, index);

    TRY(host_stat(host, source.p, true, &stat));
    TRY(host_make_directory(host, directory, 0750));
    TRY(host_unmount(host, target.p));
    if (stat.type == HOST_DIRECTORY) {
        TRY(host_make_directory(host, target.p, 0750));
    } else {
        TRY(host_write(host, target.p, STR(""), 0640));
    }
    TRY(host_mount_bind(host, source.p, target.p));
    *ret = target;
    return NULL;
}

static struct status *add_volume(struct pod_starting *starting, const struct core_v1_container *container,
                                 struct env_vars *env, size_t index, struct container_mounts *mounts)
{
    const struct core_v1_volume_mount *mount = &container->volume_mounts.items[index];
    const struct volume_place *place = find_volume(&starting->volumes, mount->name);
    struct str path, sub_path = mount->sub_path, missing = STR("");

    if (place == NULL) {
        return status_new(STATUS_INVALID, "cannot find volume \"%.*s\" to mount into container \"%.*s\"",
                          STR_ARG(mount->name), STR_ARG(container->name));
    }
    if (mount->sub_path_expr.n > 0) {
        sub_path = expand(starting->arena, mount->sub_path_expr, env_vars_lookup, env, &missing);
        if (missing.n > 0) {
            return status_new(STATUS_INVALID, "missing value for \"%.*s\"", STR_ARG(missing));
        }
    }
    path = place->path;
    if (sub_path.n > 0) {
        TRY(bind_sub_path(starting, container, place, sub_path, index, &path));
    }
    *LIST_ADD(starting->arena, mounts) = (struct container_mount){
        .container_path = mount->mount_path.n > 0 && mount->mount_path.p[0] == '/'
                              ? mount->mount_path
                              : arena_printf(starting->arena, "/%.*s", STR_ARG(mount->mount_path)),
        .host_path = path,
        .read_only = mount->read_only || place->read_only,
        .is_recursive_read_only =
            mount->recursive_read_only != NULL && str_is(*mount->recursive_read_only, "Enabled"),
        .propagation = propagation_of(mount),
    };
    return NULL;
}

static bool is_taken(const struct container_mounts *mounts, struct str path)
{
    LIST_EACH (mount, mounts) {
        if (str_eq(mount->container_path, path)) {
            return true;
        }
    }
    return false;
}

static struct status *add_hosts(struct pod_starting *starting, struct container_mounts *mounts)
{
    struct kubelet *kubelet = starting->kubelet;
    struct arena *arena = starting->arena;
    struct str node = STR("");
    const char *path =
        arena_printf(arena, "%s/etc-hosts", pod_directory(kubelet, arena, starting->pod->metadata.uid)).p;

    if (starting->pod->spec.host_network) {
        status_free(host_read(kubelet->host, "/etc/hosts", 1 << 20, arena, &node));
    }
    struct str text =
        hosts_file_make(arena, starting->pod, &starting->pod_ips, starting->hostname, starting->domain, node);

    TRY(host_write(kubelet->host, path, text, 0644));
    *LIST_ADD(arena, mounts) =
        (struct container_mount){.container_path = STR("/etc/hosts"), .host_path = str_of(path)};
    return NULL;
}

/* A new file for each start, so that an old message is never taken for a new one. */
static struct status *add_message_file(struct pod_starting *starting, const struct core_v1_container *container,
                                       struct container_mounts *mounts)
{
    struct arena *arena = starting->arena;
    uint32_t number;

    env_random(&number, sizeof(number));
    const char *directory =
        arena_printf(arena, "%s/containers/%.*s",
                     pod_directory(starting->kubelet, arena, starting->pod->metadata.uid), STR_ARG(container->name))
            .p;
    struct str path = arena_printf(arena, "%s/%08x", directory, number);

    TRY(host_make_directory(starting->kubelet->host, directory, 0750));
    TRY(host_write(starting->kubelet->host, path.p, STR(""), 0666));
    *LIST_ADD(arena, mounts) =
        (struct container_mount){.container_path = container->termination_message_path, .host_path = path};
    return NULL;
}

struct status *container_mounts_make(struct pod_starting *starting, const struct core_v1_container *container,
                                     struct env_vars *env, struct container_mounts *ret)
{
    *ret = (struct container_mounts){0};
    for (size_t i = 0; i < container->volume_mounts.len; i++) {
        TRY(add_volume(starting, container, env, i, ret));
    }
    if (starting->pod_ips.len + (size_t)starting->pod->spec.host_network > 0 && !is_taken(ret, STR("/etc/hosts"))) {
        TRY(add_hosts(starting, ret));
    }
    return container->termination_message_path.n > 0 && !is_taken(ret, container->termination_message_path)
               ? add_message_file(starting, container, ret)
               : NULL;
}
