#include "apiserver/watch_cache_parts.h"

#include <stdlib.h>
#include <string.h>

struct form {
    uint32_t number;
    struct blob *blob;
};

struct stored {
    uint32_t refs;
    struct watch_cache *cache;
    int64_t revision;
    struct blob *blob;
    struct arena *arena; /* holds `object`; NULL: not decoded yet */
    const void *object;
    struct link link; /* cache->encoded, when there are forms */
    VEC(struct form) forms;
    struct str key;
    char bytes[];
};

struct stored *stored_new_(struct watch_cache *cache, struct str key, struct blob *blob, int64_t revision)
{
    struct stored *stored = mem_zalloc(sizeof(*stored) + key.n + 1);

    stored->refs = 1;
    stored->cache = cache;
    stored->revision = revision;
    stored->blob = blob;
    memcpy(stored->bytes, key.p, key.n);
    stored->key = (struct str){stored->bytes, key.n};
    cache->live++;
    return stored;
}

struct stored *stored_at_(struct stored *stored, int64_t revision)
{
    return stored_new_(stored->cache, stored->key, blob_ref(stored->blob), revision);
}

size_t stored_bytes_(const struct stored *stored)
{
    return sizeof(*stored) + stored->key.n + stored->blob->n;
}

struct stored *stored_ref(struct stored *stored)
{
    stored->refs++;
    return stored;
}

static void drop_forms(struct stored *stored)
{
    for (size_t i = 0; i < stored->forms.len; i++) {
        stored->cache->encoded_bytes -= stored->forms.items[i].blob->n;
        blob_unref(stored->forms.items[i].blob);
    }
    free(stored->forms.items);
    stored->forms.items = NULL;
    stored->forms.len = stored->forms.cap = 0;
    list_remove(&stored->link);
}

void stored_unref(struct stored *stored)
{
    if (stored == NULL || --stored->refs > 0) {
        return;
    }
    drop_forms(stored);
    arena_free(stored->arena);
    blob_unref(stored->blob);
    stored->cache->live--;
    free(stored);
}

void stored_unrefp(struct stored **stored)
{
    stored_unref(*stored);
}

struct str stored_key(const struct stored *stored)
{
    return stored->key;
}

int64_t stored_revision(const struct stored *stored)
{
    return stored->revision;
}

struct blob *stored_blob(const struct stored *stored)
{
    return stored->blob;
}

struct status *stored_object(struct stored *stored, const void **ret)
{
    const struct watch_cache_options *options = &stored->cache->options;

    if (stored->arena == NULL) {
        struct arena *arena = arena_new();
        void *object = NULL;
        struct status *status = options->decode(options->arg, arena, blob_str(stored->blob), stored->revision, &object);

        if (status != NULL) {
            arena_free(arena);
            status->reason = STATUS_INTERNAL_ERROR; /* no fault of the request's */
            status->code = 500;
            return status_while(status, "decoding %.*s%.*s", STR_ARG(options->prefix), STR_ARG(stored->key));
        }
        stored->arena = arena;
        stored->object = object;
    }
    *ret = stored->object;
    return NULL;
}

static void keep_form(struct stored *stored, uint32_t number, struct blob *blob)
{
    struct watch_cache *cache = stored->cache;

    *VEC_ADD(&stored->forms) = (struct form){number, blob_ref(blob)};
    cache->encoded_bytes += blob->n;
    while (cache->encoded_bytes > cache->options.encoded_bytes && cache->encoded.next != &stored->link) {
        drop_forms(CONTAINER_OF(cache->encoded.next, struct stored, link));
    }
}

static void used_now(struct stored *stored)
{
    list_remove(&stored->link);
    list_add_tail(&stored->cache->encoded, &stored->link);
}

static struct blob *find_form(const struct stored *stored, uint32_t number)
{
    for (size_t i = 0; i < stored->forms.len; i++) {
        if (stored->forms.items[i].number == number) {
            return stored->forms.items[i].blob;
        }
    }
    return NULL;
}

struct status *stored_add_encoded(struct stored *stored, uint32_t form, stored_encode_fn *encode, void *arg,
                                  struct buf *out)
{
    const struct blob *found = find_form(stored, form);

    if (found == NULL) {
        return encode(arg, stored, form, out);
    }
    buf_add_str(out, blob_str(found));
    return NULL;
}

struct status *stored_encoded(struct stored *stored, uint32_t form, stored_encode_fn *encode, void *arg,
                              struct blob **ret)
{
    struct blob *found = find_form(stored, form);

    if (found != NULL) {
        used_now(stored);
        *ret = blob_ref(found);
        return NULL;
    }
    OWNED(buf_done) struct buf out = {0};

    TRY(encode(arg, stored, form, &out));
    *ret = blob_of(buf_str(&out));
    used_now(stored);
    keep_form(stored, form, *ret);
    return NULL;
}

static struct str map_key(const void *value)
{
    return ((const struct stored *)value)->key;
}

static void map_ref(void *value)
{
    stored_ref(value);
}

static void map_unref(void *value)
{
    stored_unref(value);
}

const struct pmap_type stored_map_type_ = {map_key, map_ref, map_unref};
