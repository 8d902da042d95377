#include "network/cni_cache.h"

#include "base/base64.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

static void set_text(struct arena *arena, struct value *object, struct str key, struct str text)
{
    value_set(arena, object, key, value_string(arena, text));
}

struct status *cni_cache_write(const struct cni_invoker *invoker, const struct cni_attachment *attachment,
                               const struct cni_conf *conf, struct value *capability_args, struct value *result)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct value *kept = value_object(arena);
    struct str directory = arena_printf(arena, "%.*s/results", STR_ARG(invoker->cache_dir));
    struct str path = arena_printf(arena, "%.*s/%.*s-%.*s-%.*s", STR_ARG(directory), STR_ARG(conf->name),
                                   STR_ARG(attachment->container_id), STR_ARG(attachment->interface));

    set_text(arena, kept, STR("kind"), STR("cniCacheV1"));
    set_text(arena, kept, STR("containerId"), attachment->container_id);
    set_text(arena, kept, STR("config"), base64_encode(arena, conf->text));
    set_text(arena, kept, STR("ifName"), attachment->interface);
    set_text(arena, kept, STR("networkName"), conf->name);
    set_text(arena, kept, STR("netns"), attachment->netns);
    if (value_count(capability_args) > 0) {
        value_set(arena, kept, STR("capabilityArgs"), capability_args);
    }
    value_set(arena, kept, STR("result"), result);
    TRY(file_make_directories(directory.p, 0700));
    return file_write_unsynced(path.p, value_json(arena, kept), 0600);
}

/* The file's name by the container and interface: the network's may have changed since. */
static struct status *find(struct str directory, struct str suffix, struct arena *arena, struct str *ret_path)
{
    DIR *listing = opendir(arena_cstr(arena, directory));
    struct str found = {0};

    if (listing == NULL && errno != ENOENT) {
        return status_errno(errno, "reading %.*s", STR_ARG(directory));
    }
    for (struct dirent *entry; listing != NULL && found.n == 0 && (entry = readdir(listing)) != NULL;) {
        struct str name = str_of(entry->d_name);

        if (str_has_suffix(name, suffix) && name.n > suffix.n) {
            found = arena_printf(arena, "%.*s/%.*s", STR_ARG(directory), STR_ARG(name));
        }
    }
    if (listing != NULL) {
        closedir(listing);
    }
    if (found.n == 0) {
        return status_new(STATUS_NOT_FOUND, "no CNI result is kept for %.*s", STR_ARG(str_from(suffix, 1)));
    }
    *ret_path = found;
    return NULL;
}

struct status *cni_cache_read(const struct cni_invoker *invoker, const struct cni_attachment *attachment,
                              struct arena *arena, struct cni_kept *ret)
{
    struct str directory = arena_printf(arena, "%.*s/results", STR_ARG(invoker->cache_dir)), text, conf;
    struct str suffix = arena_printf(arena, "-%.*s-%.*s", STR_ARG(attachment->container_id),
                                     STR_ARG(attachment->interface));
    struct cni_kept kept = {0};
    struct value *tree;

    TRY(find(directory, suffix, arena, &kept.path));
    TRY(file_read_unsynced(arena, kept.path.p, 4 * LIMIT_CNI_BYTES, &text));
    TRY(value_read_json(arena, text, &tree, NULL));
    if (!str_is(value_str_at(tree, "kind"), "cniCacheV1") ||
        !base64_decode(arena, value_str_at(tree, "config"), &conf)) {
        return status_new(STATUS_BAD_REQUEST, "%.*s is no kept CNI result", STR_ARG(kept.path));
    }
    TRY(cni_conf_parse(arena, conf, true, &kept.conf));
    kept.capability_args = value_find(tree, STR("capabilityArgs"));
    kept.result = value_find(tree, STR("result"));
    kept.result_json = value_json(arena, kept.result);
    *ret = kept;
    return NULL;
}

struct status *cni_cache_forget(struct str path)
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    if (unlink(arena_cstr(arena, path)) < 0 && errno != ENOENT) {
        return status_errno(errno, "removing %.*s", STR_ARG(path));
    }
    return NULL;
}
