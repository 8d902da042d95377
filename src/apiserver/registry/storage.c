#include "apiserver/registry/storage.h"

#include "api/custom_kind.h"
#include "api/defaults.h"
#include "api/apps_v1.h"
#include "apiserver/errors.h"
#include "apiserver/registry/convert.h"
#include "apiserver/registry/strategy.h"
#include "schema/copy.h"
#include "schema/json.h"
#include "schema/protobuf.h"

#include <string.h>

static struct str revision_text(struct arena *arena, int64_t revision)
{
    return arena_printf(arena, "%lld", (long long)revision);
}

/* Objects inside of objects have no type in protobuf; stock's versions show that of these. */
static void name_claims(struct apps_v1_stateful_set *set)
{
    LIST_EACH(claim, &set->spec.volume_claim_templates) {
        claim->type_meta = (struct meta_v1_type_meta){.kind = STR("PersistentVolumeClaim"), .api_version = STR("v1")};
    }
}

struct status *storage_decode(struct arena *arena, const struct kind *stored, struct str bytes, int64_t revision,
                              void **ret)
{
    struct object *object = arena_alloc(arena, stored->type->size);

    if (str_has_prefix(bytes, PROTOBUF_MAGIC)) {
        struct protobuf_envelope envelope;

        TRY(protobuf_envelope_read(bytes, &envelope));
        TRY(protobuf_decode(arena, stored->type, envelope.raw, object));
    } else {
        TRY(json_decode(arena, stored->type, bytes, object, NULL));
    }
    if (stored == &apps_v1_stateful_set_kind) {
        name_claims((struct apps_v1_stateful_set *)object);
    }
    if (stored->custom != NULL) {
        custom_object_prune(arena, stored, object, NULL);
        custom_object_default(arena, stored, object);
    }
    api_defaults_apply(stored->type, object, arena); /* some came after the object, some are not in protobuf */
    object->type_meta = (struct meta_v1_type_meta){0};
    object->metadata.resource_version = revision_text(arena, revision);
    *ret = object;
    return NULL;
}

struct status *storage_cache_decode(void *arg, struct arena *arena, struct str bytes, int64_t revision, void **ret)
{
    return storage_decode(arena, arg, bytes, revision, ret);
}

struct blob *storage_encode(const struct resource *resource, struct arena *arena, const void *object)
{
    const struct kind *stored = resource->stored;
    OWNED(buf_done) struct buf out = {0};
    struct object *copy = arena_alloc(arena, stored->type->size);

    memcpy(copy, convert(arena, resource->kind, stored, object), stored->type->size);
    copy->metadata.resource_version = (struct str){0};
    copy->metadata.self_link = (struct str){0};
    copy->type_meta = (struct meta_v1_type_meta){0};
    if (stored->type->package == NULL) {
        copy->type_meta = (struct meta_v1_type_meta){.kind = stored->kind, .api_version = stored->api_version};
        json_encode(stored->type, copy, &out);
        buf_add_char(&out, '\n');
    } else {
        protobuf_envelope_write(stored->type, copy, stored->api_version, stored->kind, &out);
    }
    return blob_of(buf_str(&out));
}

/* Protobuf knows no empty lists and maps: what was stored has none, and the answer to a write says what was stored. */
static void drop_empty(const struct type *type, void *object)
{
    if (type->package == NULL) {
        return; /* JSON knows them */
    }
    for (size_t i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];
        void *place = (char *)object + field->offset;

        if (field->shape == SHAPE_LIST || field->shape == SHAPE_MAP) {
            struct any_list *list = place;
            bool is_map = field->shape == SHAPE_MAP;
            size_t size = is_map ? field_entry_size(field) : field_item_size(field);
            size_t skip = is_map ? sizeof(struct str) : 0;

            list->items = list->len == 0 ? NULL : list->items;
            for (size_t k = 0; k < list->len && is_map && field->kind == TYPE_BYTES; k++) {
                struct str *bytes = (struct str *)(void *)((char *)list->items + k * size + skip);

                bytes->p = bytes->p != NULL ? bytes->p : ""; /* and no null among values */
            }
            for (size_t k = 0; k < list->len && field->kind == TYPE_STRUCT; k++) {
                drop_empty(field->type, (char *)list->items + k * size + skip);
            }
        } else if (field->kind == TYPE_STRUCT) {
            void *below = field->shape == SHAPE_POINTER ? *(void **)place : place;

            if (below != NULL) {
                drop_empty(field->type, below);
            }
        }
    }
}

void storage_normalise(const struct resource *resource, void *object)
{
    drop_empty(resource->kind->type, object);
}

/* The answer to a write says what was stored. */
static void settle(const struct resource *resource, struct arena *arena, void *object)
{
    drop_empty(resource->kind->type, object);
    if (resource->kind->custom != NULL && resource->kind != resource->stored) {
        void *stored = convert(arena, resource->kind, resource->stored, object);

        memcpy(object, convert(arena, resource->stored, resource->kind, stored), resource->kind->type->size);
    }
}

static struct str full_key(struct arena *arena, const struct resource *resource, struct str namespace, struct str name)
{
    return arena_printf(arena, "%.*s%.*s", STR_ARG(resource->prefix),
                        STR_ARG(resource_key(arena, resource, namespace, name)));
}

struct status *storage_get(struct store *store, const struct resource *resource, struct arena *arena,
                           struct str namespace, struct str name, struct kept *ret)
{
    OWNED(store_object_done) struct store_object found = {0};
    struct status *status = store_get(store, full_key(arena, resource, namespace, name), 0, &found, NULL);
    struct kept kept = {0};
    void *object;

    if (status_free_if(&status, STATUS_NOT_FOUND)) {
        return error_not_found(resource->kind->group, resource->kind->plural, name);
    }
    TRY(status);
    kept.bytes = arena_str(arena, blob_str(found.value));
    kept.revision = found.mod_revision;
    TRY(storage_decode(arena, resource->stored, kept.bytes, kept.revision, &object));
    kept.object = convert(arena, resource->stored, resource->kind, object);
    *ret = kept;
    return NULL;
}

struct status *storage_create(struct store *store, const struct resource *resource, struct arena *arena,
                              struct object *object, struct store_object *ret)
{
    OWNED(blob_unrefp) struct blob *value = storage_encode(resource, arena, object);
    struct store_object made = {0};
    struct str name = object->metadata.name;
    struct status *status =
        store_create(store, full_key(arena, resource, object->metadata.namespace, name), value, &made);

    blob_unref(TAKE(made.value));
    if (status_free_if(&status, STATUS_ALREADY_EXISTS)) {
        return error_already_exists(resource->kind->group, resource->kind->plural, name);
    }
    TRY(status);
    object->metadata.resource_version = revision_text(arena, made.mod_revision);
    settle(resource, arena, object);
    *ret = made;
    return NULL;
}

struct status *storage_update(struct store *store, const struct resource *resource, struct arena *arena,
                              const struct kept *kept, struct object *object, struct store_object *ret)
{
    OWNED(blob_unrefp) struct blob *value = storage_encode(resource, arena, object);
    struct store_object made = {0};
    unsigned flags = resource->strategy->flags & STRATEGY_VOLATILE ? STORE_VOLATILE : 0;

    if (str_eq(blob_str(value), kept->bytes)) {
        object->metadata.resource_version = revision_text(arena, kept->revision);
        *ret = (struct store_object){.mod_revision = kept->revision};
        return NULL;
    }
    struct status *status =
        store_update(store, full_key(arena, resource, object->metadata.namespace, object->metadata.name), value,
                     kept->revision, flags, &made);

    blob_unref(TAKE(made.value));
    if (status_free_if(&status, STATUS_NOT_FOUND)) {
        return error_not_found(resource->kind->group, resource->kind->plural, object->metadata.name);
    }
    TRY(status);
    object->metadata.resource_version = revision_text(arena, made.mod_revision);
    settle(resource, arena, object);
    *ret = made;
    return NULL;
}

struct status *storage_delete(struct store *store, const struct resource *resource, struct arena *arena,
                              const struct kept *kept, struct store_object *ret)
{
    struct meta_v1_object_meta *meta = &kept->object->metadata;
    struct store_object gone = {0};
    struct status *status =
        store_delete(store, full_key(arena, resource, meta->namespace, meta->name), kept->revision, &gone);

    blob_unref(TAKE(gone.value));
    if (status_free_if(&status, STATUS_NOT_FOUND)) {
        return error_not_found(resource->kind->group, resource->kind->plural, meta->name);
    }
    TRY(status);
    meta->resource_version = revision_text(arena, gone.mod_revision);
    *ret = gone;
    return NULL;
}
