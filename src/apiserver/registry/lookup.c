#include "apiserver/registry/lookup.h"

#include "apiserver/encode.h"
#include "apiserver/registry/convert.h"

struct str lookup_scope(struct request *request, const struct selection *selection)
{
    struct str namespace = request->info.namespace;
    bool is_named = selection->name.n != 0 && str_index(selection->name, '/') == SIZE_MAX;

    if (!request->resource->kind->namespaced) {
        return is_named ? selection->name : (struct str){0};
    }
    if (namespace.n == 0) {
        return (struct str){0};
    }
    return arena_printf(request->arena, "%.*s/%.*s", STR_ARG(namespace),
                        STR_ARG(is_named ? selection->name : STR("")));
}

struct status *lookup_freshness(const struct list_options *options, enum freshness *ret_freshness,
                                int64_t *ret_revision)
{
    struct str version = options->resource_version;

    *ret_revision = 0;
    if (version.n == 0) {
        *ret_freshness = FRESH_LATEST;
        return NULL;
    }
    TRY(resource_version_parse(version, ret_revision));
    if (*ret_revision == 0) {
        *ret_freshness = FRESH_ANY;
    } else if (str_is(options->resource_version_match, "Exact") ||
               (options->limit > 0 && options->resource_version_match.n == 0 && !options->watch)) {
        *ret_freshness = FRESH_EXACT;
    } else {
        *ret_freshness = FRESH_NOT_OLDER;
    }
    return NULL;
}

struct status *lookup_object(struct arena *arena, const struct resource *resource, struct stored *stored,
                             const void **ret)
{
    const void *object;

    TRY(stored_object(stored, &object));
    *ret = convert(arena, resource->stored, resource->kind, object);
    return NULL;
}

static struct status *encode_stored(void *arg, struct stored *stored, uint32_t form, struct buf *out)
{
    const struct resource *resource = arg;
    OWNED(arena_freep) struct arena *arena = arena_new();
    const void *object;

    TRY(lookup_object(arena, resource, stored, &object));
    encode_item((form & 1) != 0 ? MEDIA_PROTOBUF : MEDIA_JSON, resource->kind->type, object, out);
    return NULL;
}

static uint32_t form_of(const struct resource *resource, enum media media)
{
    return (media == MEDIA_PROTOBUF ? 1 : 0) | resource->form << 1;
}

struct status *lookup_item(const struct resource *resource, enum media media, struct stored *stored, struct blob **ret)
{
    return stored_encoded(stored, form_of(resource, media), encode_stored, (void *)resource, ret);
}

struct status *lookup_add_item(const struct resource *resource, enum media media, struct stored *stored, struct buf *out)
{
    return stored_add_encoded(stored, form_of(resource, media), encode_stored, (void *)resource, out);
}
