#include "image_maker.h"

#include "runtime/images/digest.h"
#include "runtime/images/manifest.h"

static struct str finish(struct arena *arena, struct buf *tar)
{
    tar_make_end(tar);
    struct str bytes = arena_str(arena, buf_str(tar));

    buf_done(tar);
    return bytes;
}

/* tar_make_entry() takes text; archives hold bytes with NULs, so the data is put behind a header that claims it. */
static void add_file(struct buf *tar, const char *path, struct str bytes)
{
    static const char zeros[512];

    tar_make_entry(tar, &(struct made_entry){.type = '0', .path = path, .mode = 0644, .claimed_size = (long long)bytes.n});
    buf_add_str(tar, bytes);
    buf_add(tar, zeros, (512 - bytes.n % 512) % 512);
}

struct str image_make_layer(struct arena *arena, const char *path, const char *content)
{
    struct buf tar = {0};

    tar_make_entry(&tar, &(struct made_entry){.type = '0', .path = path, .data = content, .mode = 0644});
    return finish(arena, &tar);
}

void image_make(struct arena *arena, struct made_image *image, const char *config)
{
    OWNED(buf_done) struct buf diff_ids = {0};
    OWNED(buf_done) struct buf layers = {0};

    for (size_t i = 0; i < image->layer_count; i++) {
        image->layer_digests[i] = digest_of(arena, image->layers[i]);
        buf_printf(&diff_ids, "%s\"%s\"", i > 0 ? "," : "", image->layer_digests[i].p);
        buf_printf(&layers, "%s{\"mediaType\":\"" MEDIA_OCI_LAYER "\",\"digest\":\"%s\",\"size\":%zu}", i > 0 ? "," : "",
                   image->layer_digests[i].p, image->layers[i].n);
    }
    image->config = arena_printf(arena,
                                 "{\"architecture\":\"%s\",\"os\":\"linux\",\"config\":%s,"
                                 "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[%s]}}",
                                 platform_host().architecture.p, config, buf_cstr(&diff_ids));
    image->config_digest = digest_of(arena, image->config);
    image->manifest = arena_printf(arena,
                                   "{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_OCI_MANIFEST "\",\"config\":"
                                   "{\"mediaType\":\"" MEDIA_OCI_CONFIG "\",\"digest\":\"%s\",\"size\":%zu},"
                                   "\"layers\":[%s]}",
                                   image->config_digest.p, image->config.n, layers.n > 0 ? buf_cstr(&layers) : "");
    image->manifest_digest = digest_of(arena, image->manifest);
}

static void add_blob(struct buf *tar, struct arena *arena, struct str digest, struct str bytes)
{
    add_file(tar, arena_printf(arena, "blobs/sha256/%s", digest_hex(digest).p).p, bytes);
}

struct str image_make_oci(struct arena *arena, const struct made_image *image, const char *name)
{
    struct buf tar = {0};
    struct str index = arena_printf(arena,
                                    "{\"schemaVersion\":2,\"manifests\":[{\"mediaType\":\"" MEDIA_OCI_MANIFEST
                                    "\",\"digest\":\"%s\",\"size\":%zu,"
                                    "\"annotations\":{\"io.containerd.image.name\":\"%s\"}}]}",
                                    image->manifest_digest.p, image->manifest.n, name);

    add_file(&tar, "./index.json", index);
    for (size_t i = 0; i < image->layer_count; i++) {
        add_blob(&tar, arena, image->layer_digests[i], image->layers[i]);
    }
    add_blob(&tar, arena, image->manifest_digest, image->manifest);
    add_blob(&tar, arena, image->config_digest, image->config);
    add_file(&tar, "./oci-layout", STR("{\"imageLayoutVersion\":\"1.0.0\"}"));
    return finish(arena, &tar);
}

struct str image_make_docker(struct arena *arena, const struct made_image *image, const char *tag, bool links_last)
{
    struct buf tar = {0};
    OWNED(buf_done) struct buf layers = {0};

    for (size_t i = 0; i < image->layer_count; i++) {
        struct str path = arena_printf(arena, "layer%zu/layer.tar", i);

        buf_printf(&layers, "%s\"%s\"", i > 0 ? "," : "", path.p);
        if (links_last && i == image->layer_count - 1) {
            tar_make_entry(&tar, &(struct made_entry){.type = '2', .path = path.p, .link = "../layer0/layer.tar"});
        } else {
            add_file(&tar, path.p, image->layers[i]);
        }
    }
    add_file(&tar, "config.json", image->config);
    add_file(&tar, "manifest.json",
             arena_printf(arena, "[{\"Config\":\"config.json\",\"RepoTags\":[%s%s%s],\"Layers\":[%s]}]",
                          tag != NULL ? "\"" : "", tag != NULL ? tag : "", tag != NULL ? "\"" : "",
                          layers.n > 0 ? buf_cstr(&layers) : ""));
    return finish(arena, &tar);
}
