#include "controller/revisions.h"

#include "base/buf.h"
#include "controller/controller_ref.h"
#include "controller/name_hash.h"
#include "schema/copy.h"
#include "schema/json.h"
#include "schema/map_of.h"
#include "schema/object.h"
#include "schema/value.h"

#include <stdlib.h>

enum { NAME_MAX_LENGTH = 223 }; /* leaves room for the hash */

/* {"spec":{"template":{"$patch":"replace",...}}}: what kubectl rollout undo sends. */
static struct value *data_of(struct arena *arena, const struct core_v1_pod_template_spec *template)
{
    OWNED(buf_done) struct buf text = {0};
    struct value *whole = value_object(arena), *spec = value_object(arena), *value;

    json_encode(&core_v1_pod_template_spec_type, template, &text);
    struct status *status = value_read_json(arena, arena_str(arena, buf_str(&text)), &value, NULL);

    status_free(status); /* it was written just now */
    value_set(arena, value, STR("$patch"), value_string(arena, STR("replace")));
    value_set(arena, spec, STR("template"), value);
    value_set(arena, whole, STR("spec"), spec);
    return whole;
}

static bool has_data(const struct apps_v1_controller_revision *revision, const struct value *data, struct arena *arena)
{
    struct value *own;
    struct status *status = value_read_json(arena, revision->data.json, &own, NULL);

    if (status != NULL) {
        status_free(status);
        return false;
    }
    return value_equal(own, data);
}

static int by_revision(const void *a, const void *b)
{
    const struct apps_v1_controller_revision *x = *(const struct apps_v1_controller_revision *const *)a;
    const struct apps_v1_controller_revision *y = *(const struct apps_v1_controller_revision *const *)b;

    return x->revision != y->revision ? (x->revision > y->revision) - (x->revision < y->revision)
                                      : str_cmp(x->metadata.name, y->metadata.name);
}

static struct revisions find(const struct world *world, const struct revisions_owner *owner)
{
    struct object_pointers owned =
        world_owned(world, &apps_v1_controller_revision_kind, owner->object->metadata.uid);
    struct revisions revisions = {
        .items = ARENA_ARRAY(world->arena, const struct apps_v1_controller_revision *, owned.len)};

    for (size_t i = 0; i < owned.len; i++) {
        const struct apps_v1_controller_revision *revision = owned.items[i];

        if (revision->metadata.deletion_timestamp == NULL) {
            revisions.items[revisions.len++] = revision;
        }
    }
    if (revisions.len > 1) {
        qsort(revisions.items, revisions.len, sizeof(*revisions.items), by_revision);
    }
    return revisions;
}

static struct apps_v1_controller_revision *make(struct arena *arena, const struct revisions_owner *owner,
                                                struct str data, int64_t number)
{
    struct apps_v1_controller_revision *revision = ARENA_NEW(arena, struct apps_v1_controller_revision);
    struct str hash = name_hash(arena, data, owner->collision_count);
    struct str prefix = str_sub(owner->object->metadata.name, 0, NAME_MAX_LENGTH);

    revision->metadata.namespace = owner->object->metadata.namespace;
    revision->metadata.name = arena_printf(arena, "%.*s-%.*s", STR_ARG(prefix), STR_ARG(hash));
    revision->metadata.labels = str_map_copy(arena, &owner->template->metadata.labels);
    str_map_set(arena, &revision->metadata.labels, STR(REVISION_HASH_LABEL), hash);
    revision->metadata.annotations = str_map_copy(arena, &owner->object->metadata.annotations);
    *LIST_ADD(arena, &revision->metadata.owner_references) = controller_ref_to(arena, owner->kind, owner->object);
    revision->data.json = data;
    revision->revision = number;
    return revision;
}

struct revisions revisions_ensure(const struct world *world, struct plan *plan, const struct revisions_owner *owner)
{
    struct arena *arena = plan->arena;
    struct revisions revisions = find(world, owner);
    struct value *data = data_of(arena, owner->template);
    int64_t last = revisions.len > 0 ? revisions.items[revisions.len - 1]->revision : 0;

    for (size_t i = revisions.len; i-- > 0 && revisions.current == NULL;) {
        if (has_data(revisions.items[i], data, arena)) {
            revisions.current = revisions.items[i];
        }
    }
    if (revisions.current == NULL) {
        struct apps_v1_controller_revision *made = make(arena, owner, value_json(arena, data), last + 1);

        plan_create(plan, &apps_v1_controller_revision_kind, made);
        revisions.current = made;
    } else if (revisions.current->revision < last) {
        struct apps_v1_controller_revision *again =
            schema_copy(arena, &apps_v1_controller_revision_type, revisions.current);

        again->revision = last + 1;
        plan_update(plan, &apps_v1_controller_revision_kind, again);
    }
    revisions.hash = str_map_get(&revisions.current->metadata.labels, STR(REVISION_HASH_LABEL));
    return revisions;
}

static bool is_live(const struct apps_v1_controller_revision *revision, const struct str_list *live)
{
    struct str hash = str_map_get(&revision->metadata.labels, STR(REVISION_HASH_LABEL));

    LIST_EACH(label, live)
    {
        if (str_eq(*label, hash) || str_eq(*label, revision->metadata.name)) {
            return true;
        }
    }
    return false;
}

void revisions_truncate(struct plan *plan, const struct revisions *revisions, const struct revisions_owner *owner,
                        const struct str_list *live)
{
    int64_t limit = owner->history_limit != NULL ? *owner->history_limit : 10, dead = 0;

    for (size_t i = 0; i < revisions->len; i++) {
        dead += revisions->items[i] != revisions->current && !is_live(revisions->items[i], live);
    }
    for (size_t i = 0; i < revisions->len && dead > limit; i++) {
        if (revisions->items[i] != revisions->current && !is_live(revisions->items[i], live)) {
            plan_delete(plan, &apps_v1_controller_revision_kind, revisions->items[i]);
            dead--;
        }
    }
}
