#include "runtime/images/image_import.h"

#include "base/limits.h"
#include "base/task.h"
#include "runtime/images/digest.h"
#include "runtime/images/image_archive.h"
#include "runtime/images/image_parts.h"
#include "schema/image_reference.h"
#include "schema/value.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { INDEX_DEPTH_MAX = 4, IMAGES_MAX = 4096 };

struct import {
    struct str directory;
    struct snapshots *snapshots;
    int fd;
    struct image_archive archive;
    struct arena *arena; /* the caller's */
    struct str_list names;
    size_t foreign; /* images for other platforms */
    struct status *failure;
};

static void closep(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
}

/* The file of a blob in an OCI layout, checked to be what the descriptor says. */
static struct status *find_blob(struct import *import, const struct descriptor *wanted,
                                const struct archive_file **ret)
{
    struct str algorithm = digest_algorithm(wanted->digest), hex = digest_hex(wanted->digest);
    struct str path =
        arena_printf(import->archive.arena, "blobs/%.*s/%.*s", STR_ARG(algorithm), STR_ARG(hex));
    const struct archive_file *file = image_archive_find(&import->archive, path);

    if (file == NULL) {
        return status_new(STATUS_BAD_REQUEST, "%s is not in the archive", path.p);
    }
    if (!str_eq(file->digest, wanted->digest) || file->size != wanted->size) {
        return status_new(STATUS_BAD_REQUEST, "%s: unexpected content: got %.*s of %lld bytes, want %lld", path.p,
                          STR_ARG(file->digest), (long long)file->size, (long long)wanted->size);
    }
    *ret = file;
    return NULL;
}

static struct status *blob_text(struct import *import, const struct descriptor *wanted, struct str *ret)
{
    const struct archive_file *file;

    TRY(find_blob(import, wanted, &file));
    return image_archive_text(&import->archive, file->path, ret);
}

static struct status *add_layer(struct import *import, const struct archive_file *file, struct str diff_id,
                                struct str *chain_id)
{
    OWNED(closep) int fd = open(file->disk.p, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        return status_errno(errno, "opening %s", file->disk.p);
    }
    TRY(status_while(snapshots_add(import->snapshots, *chain_id, diff_id, fd, NULL), "unpacking %.*s",
                     STR_ARG(file->path)));
    *chain_id = snapshot_chain_id(import->archive.arena, *chain_id, diff_id);
    return NULL;
}

static struct status *save_image(struct import *import, struct str target, struct str manifest_digest,
                                 struct str manifest_json, struct str config_digest, struct str config_json,
                                 const struct str_list *names, bool is_pinned)
{
    TRY(image_blob_put(import->directory, config_digest, config_json));
    TRY(image_blob_put(import->directory, manifest_digest, manifest_json));
    LIST_EACH(name, names)
    {
        struct image_name record = {*name, target, manifest_digest, is_pinned};

        TRY(image_names_put(import->directory, &record));
        *LIST_ADD(import->arena, &import->names) = arena_str(import->arena, *name);
    }
    return NULL;
}

/* "docker.io/library/nginx:latest" for what the archive calls it; false when that is no name of an image. */
static bool normal_name(struct arena *arena, struct str text, struct str *ret)
{
    struct image_reference reference;
    struct status *failure = image_reference_parse(arena, text, &reference);

    if (failure != NULL) {
        status_free(failure);
        return false;
    }
    *ret = image_reference_text(arena, &reference);
    return true;
}

static struct str oci_name(struct import *import, const struct descriptor *entry)
{
    struct arena *arena = import->archive.arena;
    bool is_whole = str_index(entry->ref_name, '/') != SIZE_MAX || str_index(entry->ref_name, ':') != SIZE_MAX;
    struct str name;

    if ((entry->image_name.n > 0 && normal_name(arena, entry->image_name, &name)) ||
        (is_whole && normal_name(arena, entry->ref_name, &name))) {
        return name;
    }
    return arena_printf(arena, "import@%.*s", STR_ARG(entry->digest));
}

static struct status *import_manifest(struct import *import, struct str name, struct str target,
                                      const struct descriptor *wanted, bool is_pinned)
{
    struct arena *arena = import->archive.arena;
    struct str json, config_json, chain_id = {0};
    struct manifest manifest;
    struct image_config config;

    TRY(blob_text(import, wanted, &json));
    TRY(manifest_decode(arena, json, wanted->media_type, &manifest));
    TRY(blob_text(import, &manifest.config, &config_json));
    TRY(image_config_decode(arena, config_json, &config));
    TRY(images_check_layers(&manifest, &config));
    if (config.architecture.n > 0 && !str_eq(config.architecture, platform_host().architecture)) {
        import->foreign++;
        return NULL;
    }
    for (size_t i = 0; i < manifest.layers.len; i++) {
        const struct archive_file *file;

        TRY(find_blob(import, &manifest.layers.items[i], &file));
        TRY(add_layer(import, file, config.diff_ids.items[i], &chain_id));
    }
    struct str_list names = {&name, 1};

    return save_image(import, target, wanted->digest, json, manifest.config.digest, config_json, &names, is_pinned);
}

/* Goes down from an entry of index.json to the manifest for this machine. */
static struct status *import_entry(struct import *import, const struct descriptor *entry)
{
    struct descriptor at = *entry;

    for (int depth = 0; !manifest_is_manifest(at.media_type); depth++) {
        struct manifest index;
        struct str json;

        if (depth == INDEX_DEPTH_MAX) {
            return status_new(STATUS_BAD_REQUEST, "indexes are nested too deeply");
        }
        TRY(blob_text(import, &at, &json));
        TRY(manifest_decode(import->archive.arena, json, at.media_type, &index));
        if (!index.is_index) {
            break;
        }
        const struct descriptor *chosen = manifest_choose(&index, platform_host());

        if (chosen == NULL) {
            import->foreign++;
            return NULL;
        }
        at = *chosen;
    }
    return import_manifest(import, oci_name(import, entry), entry->digest, &at, entry->is_pinned);
}

static struct status *import_oci(struct import *import)
{
    struct arena *arena = import->archive.arena;
    struct platform host = platform_host();
    struct manifest index;
    struct str json;

    TRY(image_archive_text(&import->archive, STR("index.json"), &json));
    TRY(manifest_decode(arena, json, STR(""), &index));
    if (!index.is_index) {
        return status_new(STATUS_BAD_REQUEST, "index.json is not an index");
    }
    LIST_EACH(entry, &index.manifests)
    {
        if (entry->platform.architecture.n > 0 && !str_eq(entry->platform.architecture, host.architecture)) {
            import->foreign++;
            continue;
        }
        TRY(import_entry(import, entry));
    }
    return NULL;
}

static void add_descriptor(struct buf *out, const char *media_type, const struct archive_file *file)
{
    buf_printf(out, "{\"mediaType\":\"%s\",\"size\":%lld,\"digest\":\"%.*s\"}", media_type, (long long)file->size,
               STR_ARG(file->digest));
}

/* Docker's archives have no manifest as registries do, so one is made. */
static struct status *docker_manifest(struct import *import, const struct archive_file *config,
                                      const struct value *layers, struct buf *out)
{
    buf_printf(out, "{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_DOCKER_MANIFEST "\",\"config\":");
    add_descriptor(out, MEDIA_DOCKER_CONFIG, config);
    buf_printf(out, ",\"layers\":[");
    for (size_t i = 0; i < value_count(layers); i++) {
        struct str path = value_str(value_item(layers, i));
        const struct archive_file *file = image_archive_find(&import->archive, path);

        if (file == NULL) {
            return status_new(STATUS_BAD_REQUEST, "%.*s is not in the archive", STR_ARG(path));
        }
        buf_printf(out, i > 0 ? "," : "");
        add_descriptor(out, "application/vnd.docker.image.rootfs.diff.tar", file);
    }
    buf_printf(out, "]}");
    return NULL;
}

static struct status *docker_names(struct import *import, const struct value *tags, struct str manifest,
                                   struct str_list *ret)
{
    struct arena *arena = import->archive.arena;

    VALUE_EACH_ITEM(tag, tags)
    {
        struct str name;

        if (!normal_name(arena, value_str(*tag), &name)) {
            return status_new(STATUS_BAD_REQUEST, "invalid tag \"%.*s\"", STR_ARG(value_str(*tag)));
        }
        *LIST_ADD(arena, ret) = name;
    }
    if (ret->len == 0) {
        *LIST_ADD(arena, ret) = arena_printf(arena, "import@%.*s", STR_ARG(manifest));
    }
    return NULL;
}

static struct status *import_docker_image(struct import *import, const struct value *entry)
{
    struct arena *arena = import->archive.arena;
    OWNED(buf_done) struct buf json = {0};
    const struct value *layers = value_find(entry, STR("Layers"));
    struct str config_path = value_str(value_find(entry, STR("Config"))), config_json, chain_id = {0};
    const struct archive_file *config_file = image_archive_find(&import->archive, config_path);
    struct image_config config;
    struct str_list names = {0};

    if (config_file == NULL) {
        return status_new(STATUS_BAD_REQUEST, "%.*s is not in the archive", STR_ARG(config_path));
    }
    TRY(image_archive_text(&import->archive, config_path, &config_json));
    TRY(image_config_decode(arena, config_json, &config));
    if (value_count(layers) != config.diff_ids.len || config.diff_ids.len > LIMIT_IMAGE_LAYERS) {
        return status_new(STATUS_BAD_REQUEST, "%.*s: %zu layers, %zu diff IDs", STR_ARG(config_path),
                          value_count(layers), config.diff_ids.len);
    }
    if (config.architecture.n > 0 && !str_eq(config.architecture, platform_host().architecture)) {
        import->foreign++;
        return NULL;
    }
    TRY(docker_manifest(import, config_file, layers, &json));
    for (size_t i = 0; i < config.diff_ids.len; i++) {
        TRY(add_layer(import, image_archive_find(&import->archive, value_str(value_item(layers, i))),
                      config.diff_ids.items[i], &chain_id));
    }
    struct str digest = digest_of(arena, buf_str(&json));

    TRY(docker_names(import, value_find(entry, STR("RepoTags")), digest, &names));
    return save_image(import, digest, digest, buf_str(&json), digest_of(arena, config_json), config_json, &names,
                      false);
}

static struct status *import_docker(struct import *import)
{
    struct str json;
    struct value *root;

    TRY(image_archive_text(&import->archive, STR("manifest.json"), &json));
    TRY(value_read_json(import->archive.arena, json, &root, NULL));
    if (!value_is(root, VALUE_ARRAY) || value_count(root) > IMAGES_MAX) {
        return status_new(STATUS_BAD_REQUEST, "manifest.json is not a list of images");
    }
    VALUE_EACH_ITEM(entry, root)
    {
        TRY(import_docker_image(import, *entry));
    }
    return NULL;
}

static struct status *import_archive(struct import *import)
{
    const struct image_archive *archive = &import->archive;

    if (image_archive_find(archive, STR("index.json")) != NULL &&
        image_archive_find(archive, STR("oci-layout")) != NULL) {
        TRY(import_oci(import));
    } else if (image_archive_find(archive, STR("manifest.json")) != NULL) {
        TRY(import_docker(import));
    } else {
        return status_new(STATUS_BAD_REQUEST, "neither an OCI layout nor a docker archive: no index.json with "
                                              "oci-layout, no manifest.json");
    }
    if (import->names.len == 0) {
        struct platform host = platform_host();

        return status_new(STATUS_BAD_REQUEST, "no image for %.*s/%.*s in the archive (%zu for other platforms)",
                          STR_ARG(host.os), STR_ARG(host.architecture), import->foreign);
    }
    return NULL;
}

static void import_work(void *arg)
{
    struct import *import = arg;
    OWNED(arena_freep) struct arena *arena = arena_new();
    int hold = -1;

    import->failure = snapshots_hold(import->snapshots, &hold);
    if (import->failure != NULL) {
        return;
    }
    struct str scratch = arena_printf(arena, "%.*s/ingest/import-%d-%d", STR_ARG(import->directory), getpid(),
                                      import->fd);

    import->failure = image_archive_read(import->fd, scratch, &import->archive);
    if (import->failure == NULL) {
        import->failure = import_archive(import);
        image_archive_done(&import->archive);
    }
    images_release(import->directory, import->snapshots, hold);
}

struct status *image_import(struct image_store *store, int fd, struct arena *arena, struct str_list *ret_names)
{
    struct import import = {
        .directory = image_store_directory(store),
        .snapshots = image_store_snapshots(store),
        .fd = fd,
        .arena = arena,
    };

    task_offload(import_work, &import);
    image_store_changed(store);
    TRY(import.failure);
    *ret_names = import.names;
    return NULL;
}
