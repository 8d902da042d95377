#include "controller/controller_ref.h"

#include "base/buf.h"
#include "schema/json.h"
#include "schema/selectors.h"
#include "schema/type.h"

const struct meta_v1_owner_reference *controller_ref_find(const struct meta_v1_object_meta *metadata)
{
    LIST_EACH(reference, &metadata->owner_references)
    {
        if (reference->controller != NULL && *reference->controller) {
            return reference;
        }
    }
    return NULL;
}

struct meta_v1_owner_reference controller_ref_to(struct arena *arena, const struct kind *kind,
                                                 const struct object *owner)
{
    bool *yes = ARENA_NEW(arena, bool);

    *yes = true;
    return (struct meta_v1_owner_reference){
        .api_version = kind->api_version,
        .kind = kind->kind,
        .name = owner->metadata.name,
        .uid = owner->metadata.uid,
        .controller = yes,
        .block_owner_deletion = yes,
    };
}

static void adopt(struct plan *plan, const struct kind *owner_kind, const struct object *owner,
                  const struct kind *kind, const struct object *object)
{
    struct meta_v1_owner_reference ref = controller_ref_to(plan->arena, owner_kind, owner);
    OWNED(buf_done) struct buf patch = {0};

    buf_printf(&patch, "{\"metadata\":{\"uid\":\"%.*s\",\"ownerReferences\":[", STR_ARG(object->metadata.uid));
    LIST_EACH(other, &object->metadata.owner_references)
    {
        json_encode(&meta_v1_owner_reference_type, other, &patch);
        buf_add_char(&patch, ',');
    }
    json_encode(&meta_v1_owner_reference_type, &ref, &patch);
    buf_printf(&patch, "],\"resourceVersion\":\"%.*s\"}}", STR_ARG(object->metadata.resource_version));
    plan_patch(plan, kind, object, arena_str(plan->arena, buf_str(&patch)));
}

static void release(struct plan *plan, const struct object *owner, const struct kind *kind,
                    const struct object *object)
{
    OWNED(buf_done) struct buf patch = {0};
    bool first = true;

    buf_printf(&patch, "{\"metadata\":{\"uid\":\"%.*s\",\"ownerReferences\":[", STR_ARG(object->metadata.uid));
    LIST_EACH(other, &object->metadata.owner_references)
    {
        if (!str_eq(other->uid, owner->metadata.uid)) {
            buf_add_str(&patch, first ? STR("") : STR(","));
            json_encode(&meta_v1_owner_reference_type, other, &patch);
            first = false;
        }
    }
    buf_printf(&patch, "],\"resourceVersion\":\"%.*s\"}}", STR_ARG(object->metadata.resource_version));
    plan_patch(plan, kind, object, arena_str(plan->arena, buf_str(&patch)));
    plan_last(plan)->may_fail = true; /* gone meanwhile: nothing to release */
}

struct object_pointers controller_ref_claim(struct plan *plan, const struct kind *owner_kind,
                                            const struct object *owner, const struct label_selector *selector,
                                            const struct kind *kind, struct object_pointers candidates)
{
    bool is_deleting = owner->metadata.deletion_timestamp != NULL;
    struct object_pointers owned = {ARENA_ARRAY(plan->arena, const void *, candidates.len), 0};

    for (size_t i = 0; i < candidates.len; i++) {
        const struct object *object = candidates.items[i];
        const struct meta_v1_owner_reference *ref = controller_ref_find(&object->metadata);
        bool matches = label_selector_matches_map(selector, &object->metadata.labels);

        if (ref != NULL && !str_eq(ref->uid, owner->metadata.uid)) {
            continue; /* another's */
        }
        if (ref == NULL) {
            if (!is_deleting && matches && object->metadata.deletion_timestamp == NULL) {
                adopt(plan, owner_kind, owner, kind, object);
                owned.items[owned.len++] = object;
            }
        } else if (matches) {
            owned.items[owned.len++] = object;
        } else if (!is_deleting) {
            release(plan, owner, kind, object);
        }
    }
    return owned;
}
