#include "runtime/images/manifest.h"

#include "base/limits.h"
#include "runtime/images/digest.h"
#include "schema/value.h"

enum { MANIFESTS_MAX = 4096 };

bool manifest_is_index(struct str media_type)
{
    return str_is(media_type, MEDIA_OCI_INDEX) || str_is(media_type, MEDIA_DOCKER_INDEX);
}

bool manifest_is_manifest(struct str media_type)
{
    return str_is(media_type, MEDIA_OCI_MANIFEST) || str_is(media_type, MEDIA_DOCKER_MANIFEST);
}

static struct status *decode_descriptor(const struct value *from, const char *what, struct descriptor *ret)
{
    const struct value *size = value_find(from, STR("size"));
    const struct value *annotations = value_find(from, STR("annotations"));
    const struct value *platform = value_find(from, STR("platform"));

    *ret = (struct descriptor){
        .media_type = value_str(value_find(from, STR("mediaType"))),
        .digest = value_str(value_find(from, STR("digest"))),
        .platform = {value_str(value_find(platform, STR("os"))), value_str(value_find(platform, STR("architecture"))),
                     value_str(value_find(platform, STR("variant")))},
        .image_name = value_str(value_find(annotations, STR("io.containerd.image.name"))),
        .ref_name = value_str(value_find(annotations, STR("org.opencontainers.image.ref.name"))),
        .is_pinned = str_is(value_str(value_find(annotations, STR("io.cri-containerd.pinned"))), "pinned"),
    };
    if (!digest_is_valid(ret->digest)) {
        return status_new(STATUS_BAD_REQUEST, "%s: invalid digest \"%.*s\"", what, (int)MIN(ret->digest.n, 200),
                          ret->digest.n != 0 ? ret->digest.p : "");
    }
    if (!value_is(size, VALUE_INT) || size->integer < 0 || size->integer > LIMIT_IMAGE_BLOB_BYTES) {
        return status_new(STATUS_BAD_REQUEST, "%s: invalid size of %.*s", what, STR_ARG(ret->digest));
    }
    ret->size = size->integer;
    return NULL;
}

static struct status *decode_descriptors(struct arena *arena, const struct value *from, const char *what, size_t max,
                                         struct descriptors *ret)
{
    if (value_count(from) > max) {
        return status_new(STATUS_BAD_REQUEST, "%s: %zu of them, at most %zu are possible", what, value_count(from), max);
    }
    VALUE_EACH_ITEM(item, from)
    {
        TRY(decode_descriptor(*item, what, LIST_ADD(arena, ret)));
    }
    return NULL;
}

struct status *manifest_decode(struct arena *arena, struct str json, struct str media_type, struct manifest *ret)
{
    struct value *root;
    struct manifest manifest = {.media_type = media_type};

    if (json.n > LIMIT_IMAGE_METADATA_BYTES) {
        return status_new(STATUS_REQUEST_ENTITY_TOO_LARGE, "manifest is larger than %zu bytes",
                          LIMIT_IMAGE_METADATA_BYTES);
    }
    TRY(value_read_json(arena, json, &root, NULL));
    const struct value *manifests = value_find(root, STR("manifests")), *layers = value_find(root, STR("layers"));
    const struct value *version = value_find(root, STR("schemaVersion"));
    struct str own_type = value_str(value_find(root, STR("mediaType")));

    if (value_is(version, VALUE_INT) && version->integer == 1) {
        return status_new(STATUS_BAD_REQUEST, "media type \"application/vnd.docker.distribution.manifest.v1+prettyjws\" "
                                              "is no longer supported, please rebuild the image");
    }
    /* One text must not be a manifest to one reader and an index to another. */
    if ((manifests != NULL) == (layers != NULL && value_find(root, STR("config")) != NULL)) {
        return status_new(STATUS_BAD_REQUEST, "neither an image manifest nor an index");
    }
    manifest.is_index = manifests != NULL;
    if (!manifest_is_index(media_type) && !manifest_is_manifest(media_type)) {
        manifest.media_type = own_type.n > 0 ? own_type
                              : manifest.is_index ? STR(MEDIA_OCI_INDEX)
                                                  : STR(MEDIA_OCI_MANIFEST);
    }
    if (!(manifest.is_index ? manifest_is_index : manifest_is_manifest)(manifest.media_type) ||
        (own_type.n > 0 && !str_eq(own_type, manifest.media_type))) {
        return status_new(STATUS_BAD_REQUEST, "unexpected media type \"%.*s\" of a manifest",
                          (int)MIN(manifest.media_type.n, 200), manifest.media_type.p);
    }
    if (manifest.is_index) {
        TRY(decode_descriptors(arena, manifests, "manifests", MANIFESTS_MAX, &manifest.manifests));
    } else {
        TRY(decode_descriptor(value_find(root, STR("config")), "config", &manifest.config));
        TRY(decode_descriptors(arena, layers, "layers", LIMIT_IMAGE_LAYERS, &manifest.layers));
    }
    *ret = manifest;
    return NULL;
}

struct platform platform_host(void)
{
#if defined(__x86_64__)
    return (struct platform){STR("linux"), STR("amd64"), STR("")};
#elif defined(__aarch64__)
    return (struct platform){STR("linux"), STR("arm64"), STR("v8")};
#elif defined(__riscv)
    return (struct platform){STR("linux"), STR("riscv64"), STR("")};
#else
#error "no platform name for this machine"
#endif
}

/* How well an entry suits: 0 not at all, more is better. */
static int fitness(const struct platform *offered, const struct platform *wanted)
{
    if (offered->os.n == 0 && offered->architecture.n == 0) {
        return 1; /* an index of one image may leave the platform out */
    }
    if (!str_eq(offered->os, wanted->os) || !str_eq(offered->architecture, wanted->architecture)) {
        return 0;
    }
    if (str_eq(offered->variant, wanted->variant)) {
        return 3;
    }
    /* Without a variant every machine of the architecture can run it; "v1" is amd64's and "v8" arm64's base. */
    return offered->variant.n == 0 || str_is(offered->variant, "v1") || str_is(offered->variant, "v8") ? 2 : 0;
}

const struct descriptor *manifest_choose(const struct manifest *index, struct platform platform)
{
    const struct descriptor *best = NULL;
    int best_fitness = 0;

    LIST_EACH(entry, &index->manifests)
    {
        int fit = fitness(&entry->platform, &platform);

        if (fit > best_fitness && (entry->media_type.n == 0 || manifest_is_manifest(entry->media_type) ||
                                   manifest_is_index(entry->media_type))) {
            best = entry;
            best_fitness = fit;
        }
    }
    return best;
}
