#include "apiserver/registry/object_meta.h"

#include "apiserver/errors.h"
#include "apiserver/registry/strategy.h"
#include "base/env.h"
#include "schema/copy.h"
#include "schema/map_of.h"
#include "schema/timestamp.h"

struct status *object_meta_set_namespace(const struct kind *kind, struct object *object, struct str namespace)
{
    struct meta_v1_object_meta *meta = &object->metadata;

    if (!kind->namespaced) {
        meta->namespace = (struct str){0};
        return NULL;
    }
    if (meta->namespace.n != 0 && !str_eq(meta->namespace, namespace)) {
        return error_bad_request("the namespace of the provided object does not match the namespace sent on the request");
    }
    meta->namespace = namespace;
    return NULL;
}

struct status *object_meta_check_name(const struct object *object, struct str name)
{
    struct str own = object->metadata.name;

    if (own.n == 0) {
        return error_bad_request("the name of the object (%.*s based on URL) was undeterminable: name must be provided",
                                 STR_ARG(name));
    }
    if (!str_eq(own, name)) {
        return error_bad_request("the name of the object (%.*s) does not match the name on the URL (%.*s)", STR_ARG(own),
                                 STR_ARG(name));
    }
    return NULL;
}

struct str object_meta_new_uid(struct arena *arena)
{
    unsigned char b[16];

    env_random(b, sizeof b);
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    return arena_printf(arena, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2],
                        b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

struct str object_meta_generate_name(struct arena *arena, struct str base)
{
    /* No vowels and nothing easily mistaken, as in stock. */
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    enum { SUFFIX = 5, BASE_MAX = 58 };
    char suffix[SUFFIX];

    for (int i = 0; i < SUFFIX; i++) {
        suffix[i] = letters[env_random_below(sizeof letters - 1)];
    }
    return arena_printf(arena, "%.*s%.*s", STR_ARG(str_sub(base, 0, BASE_MAX)), SUFFIX, suffix);
}

void object_meta_create(struct arena *arena, const struct resource *resource, struct object *object)
{
    struct meta_v1_object_meta *meta = &object->metadata;
    unsigned flags = resource->strategy->flags;

    meta->deletion_timestamp = NULL;
    meta->deletion_grace_period_seconds = NULL;
    meta->self_link = (struct str){0};
    meta->resource_version = (struct str){0};
    meta->creation_timestamp = timestamp_now();
    meta->uid = object_meta_new_uid(arena);
    meta->generation = (flags & STRATEGY_GENERATION) != 0 && (flags & STRATEGY_GENERATION_LATE) == 0 ? 1 : 0;
    if (meta->name.n == 0 && meta->generate_name.n != 0) {
        meta->name = object_meta_generate_name(arena, meta->generate_name);
    }
}

void object_meta_update(struct object *object, const struct object *old)
{
    struct meta_v1_object_meta *meta = &object->metadata;

    meta->generation = old->metadata.generation;
    meta->self_link = (struct str){0};
    if (meta->uid.n == 0) {
        meta->uid = old->metadata.uid;
    }
    meta->creation_timestamp = old->metadata.creation_timestamp;
    if (old->metadata.deletion_timestamp != NULL) {
        meta->deletion_timestamp = old->metadata.deletion_timestamp;
    }
    if (meta->deletion_grace_period_seconds == NULL) {
        meta->deletion_grace_period_seconds = old->metadata.deletion_grace_period_seconds;
    }
}

void object_meta_count_generation(const struct resource *resource, struct object *object, const struct object *old)
{
    const struct kind *kind = resource->kind;
    const struct type *type = kind->type;
    unsigned flags = resource->strategy->flags;

    if ((flags & STRATEGY_GENERATION) == 0 || (flags & STRATEGY_GENERATION_FIXED) != 0) {
        return;
    }
    if ((flags & STRATEGY_GENERATION_LABELS) != 0 && !str_map_equal(&object->metadata.labels, &old->metadata.labels)) {
        object->metadata.generation = old->metadata.generation + 1;
        return;
    }
    for (size_t i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];

        bool is_status = str_is(field->name, "status") && (kind->has_status || kind->custom == NULL);

        if ((field->name.n == 0 && field != type->rest) || str_is(field->name, "metadata") || is_status) {
            continue;
        }
        if (!schema_field_equal(field, (const char *)object + field->offset, (const char *)old + field->offset)) {
            object->metadata.generation = old->metadata.generation + 1;
            return;
        }
    }
}

void object_meta_dedupe_owners(struct request *request, struct object *object)
{
    __typeof__(object->metadata.owner_references) kept = {0};
    OWNED(buf_done) struct buf twice = {0};
    struct map seen = {0};

    LIST_EACH(owner, &object->metadata.owner_references) {
        if (map_set(&seen, owner->uid, object) == NULL) {
            *LIST_ADD(request->arena, &kept) = *owner;
        } else {
            buf_printf(&twice, "%s%.*s", twice.n == 0 ? "" : ", ", STR_ARG(owner->uid));
        }
    }
    map_done(&seen);
    if (twice.n != 0) {
        object->metadata.owner_references = kept;
        request_warn(request,
                     ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, "
                     "and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) "
                     "observed: %.*s",
                     STR_ARG(buf_str(&twice)));
    }
}
