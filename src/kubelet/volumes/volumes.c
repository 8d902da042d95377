#include "kubelet/volumes/volumes.h"

#include "kubelet/amounts.h"
#include "kubelet/object_cache.h"
#include "kubelet/status_manager.h"
#include "kubelet/volumes/tokens.h"
#include "kubelet/volumes/volume_files.h"
#include "schema/quantity.h"

enum { DEFAULT_FILE_MODE = 0644, LINKS_MAX = 40 };

struct making {
    struct kubelet *kubelet;
    const struct core_v1_pod *pod;
    struct arena *arena;
    struct downward_facts facts;
    const char *directory; /* of the volume */
};

static uint32_t mode_of(const int32_t *mode)
{
    return mode != NULL ? (uint32_t)*mode : DEFAULT_FILE_MODE;
}

static bool is_true(const bool *value)
{
    return value != NULL && *value;
}

static int64_t group_of(const struct core_v1_pod *pod)
{
    return pod->spec.security_context != NULL && pod->spec.security_context->fs_group != NULL
               ? *pod->spec.security_context->fs_group
               : -1;
}

static struct status *empty_dir(struct making *making, const struct core_v1_empty_dir_volume_source *source)
{
    struct host *host = making->kubelet->host;
    int64_t group = group_of(making->pod), size = source->size_limit != NULL ? quantity_value(*source->size_limit) : 0;

    struct host_stat stat;

    TRY(host_stat(host, making->directory, true, &stat));
    bool is_new = stat.type == HOST_NONE;

    if (is_new) {
        TRY(host_make_directory(host, making->directory, 0777));
    }
    if (str_is(source->medium, "Memory")) {
        TRY(host_mount_tmpfs(host, making->directory, size)); /* a reboot may have taken it away */
        TRY(host_stat(host, making->directory, true, &stat));
        is_new = is_new || (stat.mode & 01000) != 0; /* as the kernel makes them */
        if (is_new) {
            TRY(host_set_mode(host, making->directory, 0777));
        }
    }
    return group >= 0 && is_new ? host_set_group(host, making->directory, group, false) : NULL;
}

static struct status *add_secret(struct making *making, struct volume_files *files, struct str name,
                                 struct key_selection selection)
{
    const struct core_v1_secret *secret;
    struct status *error = object_cache_secret(making->kubelet->objects, making->pod->metadata.uid,
                                               making->pod->metadata.namespace, name, making->arena, &secret);

    selection.kind = "secret";
    if (error != NULL) {
        return selection.is_optional && status_free_if(&error, STATUS_NOT_FOUND) ? NULL : error;
    }
    return volume_files_add_keys(making->arena, files, &secret->data, NULL, &selection);
}

static struct status *add_config_map(struct making *making, struct volume_files *files, struct str name,
                                     struct key_selection selection)
{
    const struct core_v1_config_map *map;
    struct status *error = object_cache_config_map(making->kubelet->objects, making->pod->metadata.uid,
                                                   making->pod->metadata.namespace, name, making->arena, &map);

    selection.kind = "config";
    if (error != NULL) {
        return selection.is_optional && status_free_if(&error, STATUS_NOT_FOUND) ? NULL : error;
    }
    return volume_files_add_keys(making->arena, files, &map->data, &map->binary_data, &selection);
}

/* A token may be read by the group of the pod only when it has one, else by its single user or all. */
static uint32_t token_mode(const struct core_v1_pod *pod, uint32_t mode)
{
    return group_of(pod) >= 0 ? (mode | 0040) & ~0007u : mode;
}

static struct status *add_projection(struct making *making, struct volume_files *files,
                                     const struct core_v1_volume_projection *source, uint32_t mode)
{
    if (source->secret != NULL) {
        return add_secret(making, files, source->secret->local_object_reference.name,
                          (struct key_selection){.items = source->secret->items.items,
                                                 .len = source->secret->items.len,
                                                 .mode = mode,
                                                 .is_optional = is_true(source->secret->optional)});
    }
    if (source->config_map != NULL) {
        return add_config_map(making, files, source->config_map->local_object_reference.name,
                              (struct key_selection){.items = source->config_map->items.items,
                                                     .len = source->config_map->items.len,
                                                     .mode = mode,
                                                     .is_optional = is_true(source->config_map->optional)});
    }
    if (source->downward_api != NULL) {
        return volume_files_add_downward(making->arena, files, &making->facts, source->downward_api->items.items,
                                         source->downward_api->items.len, mode);
    }
    if (source->service_account_token != NULL) {
        struct str token;

        if (!volume_path_is_inside(source->service_account_token->path)) {
            return status_new(STATUS_INVALID, "invalid path \"%.*s\"", STR_ARG(source->service_account_token->path));
        }
        TRY(token_manager_get(making->kubelet->tokens, making->pod, source->service_account_token, making->arena,
                              &token));
        *LIST_ADD(making->arena, files) = (struct volume_file){.path = source->service_account_token->path,
                                                               .content = token,
                                                               .mode = token_mode(making->pod, mode)};
        return NULL;
    }
    return status_new(STATUS_INVALID, "projected volume source is not supported by this node");
}

static struct status *collect(struct making *making, const struct core_v1_volume_source *source,
                              struct volume_files *files)
{
    if (source->config_map != NULL) {
        return add_config_map(making, files, source->config_map->local_object_reference.name,
                              (struct key_selection){.items = source->config_map->items.items,
                                                     .len = source->config_map->items.len,
                                                     .mode = mode_of(source->config_map->default_mode),
                                                     .is_optional = is_true(source->config_map->optional)});
    }
    if (source->secret != NULL) {
        return add_secret(making, files, source->secret->secret_name,
                          (struct key_selection){.items = source->secret->items.items,
                                                 .len = source->secret->items.len,
                                                 .mode = mode_of(source->secret->default_mode),
                                                 .is_optional = is_true(source->secret->optional)});
    }
    if (source->downward_api != NULL) {
        return volume_files_add_downward(making->arena, files, &making->facts, source->downward_api->items.items,
                                         source->downward_api->items.len,
                                         mode_of(source->downward_api->default_mode));
    }
    LIST_EACH (part, &source->projected->sources) {
        TRY(add_projection(making, files, part, mode_of(source->projected->default_mode)));
    }
    return NULL;
}

static struct status *write_files(struct making *making, const struct core_v1_volume_source *source)
{
    struct host *host = making->kubelet->host;
    struct volume_files files = {0};

    TRY(collect(making, source, &files));
    TRY(host_make_directory(host, making->directory, 0777));
    /* What is secret stays in memory, as in stock. */
    if (source->secret != NULL || source->projected != NULL || source->downward_api != NULL) {
        TRY(host_mount_tmpfs(host, making->directory, 0));
        TRY(host_set_mode(host, making->directory, 0777));
    }
    return atomic_write(host, making->directory, &files, group_of(making->pod), NULL);
}

static struct status *host_path(struct making *making, const struct core_v1_host_path_volume_source *source)
{
    static const struct {
        const char *name, *text;
        enum host_file_type type;
        bool makes;
    } types[] = {
        {"DirectoryOrCreate", "a directory", HOST_DIRECTORY, true},
        {"Directory", "a directory", HOST_DIRECTORY, false},
        {"FileOrCreate", "a file", HOST_FILE, true},
        {"File", "a file", HOST_FILE, false},
        {"Socket", "a socket file", HOST_SOCKET, false},
        {"CharDevice", "a character device", HOST_CHAR_DEVICE, false},
        {"BlockDevice", "a block device", HOST_BLOCK_DEVICE, false},
    };
    const char *path = arena_cstr(making->arena, source->path);
    struct str wanted = source->type != NULL ? *source->type : STR("");
    struct host_stat stat;

    for (size_t i = 0; i < COUNT_OF(types); i++) {
        if (!str_is(wanted, types[i].name)) {
            continue;
        }
        TRY(host_stat(making->kubelet->host, path, true, &stat));
        if (stat.type == HOST_NONE && types[i].makes) {
            return types[i].type == HOST_DIRECTORY ? host_make_directory(making->kubelet->host, path, 0755)
                                                   : host_write(making->kubelet->host, path, STR(""), 0644);
        }
        return stat.type == types[i].type
                   ? NULL
                   : status_new(STATUS_INVALID, "hostPath type check failed: %s is not %s", path, types[i].text);
    }
    return NULL;
}

static const char *plugin_of(const struct core_v1_volume_source *source)
{
    return source->config_map != NULL     ? "kubernetes.io~configmap"
           : source->secret != NULL       ? "kubernetes.io~secret"
           : source->projected != NULL    ? "kubernetes.io~projected"
           : source->downward_api != NULL ? "kubernetes.io~downward-api"
           : source->host_path != NULL    ? "kubernetes.io~host-path"
                                          : "kubernetes.io~empty-dir";
}

static struct status *set_up(struct making *making, const struct core_v1_volume *volume, struct volume_place *ret)
{
    const struct core_v1_volume_source *source = &volume->volume_source;

    making->directory =
        arena_printf(making->arena, "%s/volumes/%s/%.*s",
                     pod_directory(making->kubelet, making->arena, making->pod->metadata.uid), plugin_of(source),
                     STR_ARG(volume->name))
            .p;
    *ret = (struct volume_place){.name = volume->name, .path = str_of(making->directory)};
    if (source->host_path != NULL) {
        ret->path = arena_str(making->arena, source->host_path->path);
        return host_path(making, source->host_path);
    }
    if (source->config_map != NULL || source->secret != NULL || source->projected != NULL ||
        source->downward_api != NULL) {
        ret->read_only = true;
        return write_files(making, source);
    }
    if (source->empty_dir != NULL) {
        return empty_dir(making, source->empty_dir);
    }
    return status_new(STATUS_INVALID, "no volume plugin matched");
}

static struct downward_facts facts_of(struct kubelet *kubelet, const struct core_v1_pod *pod)
{
    const struct core_v1_pod_status *status = status_manager_find(kubelet->statuses, pod->metadata.uid);
    struct str ip = status != NULL ? status->pod_ip : STR("");

    return (struct downward_facts){.pod = pod,
                                   .pod_ip = ip,
                                   .pod_ips = ip,
                                   .host_ip = kubelet->node_ip,
                                   .allocatable = &kubelet->allocatable};
}

struct status *volumes_set_up(struct kubelet *kubelet, const struct core_v1_pod *pod, struct arena *arena,
                              struct volume_places *ret)
{
    struct making making = {.kubelet = kubelet, .pod = pod, .arena = arena};

    *ret = (struct volume_places){0};
    LIST_EACH (volume, &pod->spec.volumes) {
        making.facts = facts_of(kubelet, pod);
        struct status *error = set_up(&making, volume, LIST_ADD(arena, ret));

        if (error != NULL) {
            if (!status_is(error, STATUS_CANCELLED)) {
                pod_event(kubelet, pod, "Warning", "FailedMount", "MountVolume.SetUp failed for volume \"%.*s\" : %.*s",
                          STR_ARG(volume->name), STR_ARG(error->message));
            }
            return status_while(error, "unmounted volumes=[%.*s], unattached volumes=[], failed to process volumes=[]",
                                STR_ARG(volume->name));
        }
    }
    return NULL;
}

/* Unmounts what lies directly in the directories of a directory: PLUGIN/NAME. */
static struct status *unmount_below(struct kubelet *kubelet, struct arena *arena, const char *directory, int depth)
{
    struct host_names names;

    TRY(host_list(kubelet->host, directory, arena, &names));
    LIST_EACH (name, &names) {
        const char *path = arena_printf(arena, "%s/%.*s", directory, STR_ARG(*name)).p;

        TRY(depth > 1 ? unmount_below(kubelet, arena, path, depth - 1) : host_unmount(kubelet->host, path));
    }
    return NULL;
}

struct status *volumes_unmount(struct kubelet *kubelet, struct str uid)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const char *directory = pod_directory(kubelet, arena, uid);

    TRY(unmount_below(kubelet, arena, arena_printf(arena, "%s/volume-subpaths", directory).p, 3));
    return unmount_below(kubelet, arena, arena_printf(arena, "%s/volumes", directory).p, 2);
}

struct status *volumes_tear_down(struct kubelet *kubelet, struct str uid)
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    TRY(volumes_unmount(kubelet, uid));
    token_manager_forget(kubelet->tokens, uid);
    return host_remove(kubelet->host, pod_directory(kubelet, arena, uid));
}

/* The walk below a volume: `path` is where it has come to, always inside. */
struct walk {
    struct host *host;
    struct arena *arena;
    struct str root;
    struct str path;
    int links;
};

static struct status *step(struct walk *walk, struct str rest, bool makes);

static struct status *follow(struct walk *walk, const char *at, bool makes)
{
    struct str target;

    TRY(host_read_link(walk->host, at, walk->arena, &target));
    if (++walk->links > LINKS_MAX || target.n == 0 || target.p[0] == '/') {
        return status_new(STATUS_INVALID, "subpath \"%s\" not within volume path \"%.*s\"", at, STR_ARG(walk->root));
    }
    return step(walk, target, makes);
}

static struct status *step(struct walk *walk, struct str rest, bool makes)
{
    for (struct str part; str_next(&rest, '/', &part);) {
        if (part.n == 0 || str_is(part, ".")) {
            continue;
        }
        if (str_is(part, "..")) {
            if (walk->path.n <= walk->root.n) {
                return status_new(STATUS_INVALID, "subpath not within volume path \"%.*s\"", STR_ARG(walk->root));
            }
            walk->path = str_sub(walk->path, 0, str_last_index(walk->path, '/'));
            continue;
        }
        const char *at =
            arena_printf(walk->arena, "%.*s/%.*s", STR_ARG(walk->path), STR_ARG(part)).p;
        struct host_stat stat;

        TRY(host_stat(walk->host, at, false, &stat));
        if (stat.type == HOST_SYMLINK) {
            TRY(follow(walk, at, makes));
            continue;
        }
        if (stat.type == HOST_NONE && makes) {
            TRY(host_make_directory(walk->host, at, 0750));
        }
        walk->path = str_of(at);
    }
    return NULL;
}

struct status *volume_sub_path(struct host *host, struct arena *arena, struct str volume, struct str sub_path,
                               struct str *ret)
{
    struct walk walk = {.host = host, .arena = arena, .root = volume, .path = volume};

    if (!volume_path_is_inside(sub_path)) {
        return status_new(STATUS_INVALID, "subPath \"%.*s\" must be relative and not contain \"..\"",
                          STR_ARG(sub_path));
    }
    TRY(step(&walk, sub_path, true));
    *ret = arena_str(arena, walk.path);
    return NULL;
}
