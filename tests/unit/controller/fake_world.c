#include "fake_world.h"

#include "base/buf.h"
#include "base/env.h"
#include "controller/controller_ref.h"
#include "schema/copy.h"
#include "schema/json.h"
#include "schema/object.h"
#include "schema/value.h"
#include "test.h"

#include <string.h>

static struct str key_of(struct arena *arena, const struct object *object)
{
    return world_key(arena, object->metadata.namespace, object->metadata.name);
}

static const void *reader_find(void *source, const struct kind *kind, struct str key, struct arena *arena)
{
    struct fake_world *fake = source;

    LIST_EACH(entry, &fake->objects)
    {
        if (entry->object != NULL && entry->kind == kind && str_eq(key_of(arena, entry->object), key)) {
            return entry->object;
        }
    }
    return NULL;
}

static bool is_in(const struct object *object, enum world_index index, struct str key)
{
    const struct meta_v1_owner_reference *owner = controller_ref_find(&object->metadata);

    switch (index) {
    case WORLD_ALL:
        return true;
    case WORLD_BY_NAMESPACE:
        return str_eq(object->metadata.namespace, key);
    case WORLD_BY_CONTROLLER:
        return owner != NULL && str_eq(owner->uid, key);
    case WORLD_ORPHANS:
        return owner == NULL && str_eq(object->metadata.namespace, key);
    }
    return false;
}

static struct object_pointers reader_list(void *source, const struct kind *kind, enum world_index index,
                                          struct str key, struct arena *arena)
{
    struct fake_world *fake = source;
    struct object_pointers list = {0};

    LIST_EACH(entry, &fake->objects)
    {
        if (entry->object != NULL && entry->kind == kind && is_in(entry->object, index, key)) {
            *LIST_ADD(arena, &list) = entry->object;
        }
    }
    return list;
}

static const struct world_reader reader = {reader_find, reader_list};

void fake_world_init(struct fake_world *fake)
{
    *fake = (struct fake_world){
        .arena = arena_new(),
        .settings = {.node_mask_v4 = 24,
                     .node_mask_v6 = 64,
                     .node_grace = 50 * ENV_SECOND,
                     .node_startup_grace = 60 * ENV_SECOND,
                     .endpoints_per_slice = 100},
    };
    fake->world = (struct world){
        .settings = &fake->settings, .reader = &reader, .source = fake, .now = 1700000000 * ENV_SECOND, .arena = fake->arena};
}

void fake_world_done(struct fake_world *fake)
{
    arena_free(fake->arena);
}

static void new_version(struct fake_world *fake, struct object *object)
{
    object->metadata.resource_version = arena_printf(fake->arena, "%lld", (long long)++fake->next_version);
}

static void *add(struct fake_world *fake, const struct kind *kind, struct object *object)
{
    if (object->metadata.uid.n == 0) {
        object->metadata.uid = arena_printf(fake->arena, "uid-%lld", (long long)++fake->next_uid);
    }
    if (object->metadata.name.n == 0) {
        object->metadata.name = arena_printf(fake->arena, "%.*s%lld", STR_ARG(object->metadata.generate_name),
                                             (long long)++fake->next_uid);
    }
    if (!object->metadata.creation_timestamp.is_set) {
        object->metadata.creation_timestamp =
            (struct timestamp){.seconds = fake->world.now / ENV_SECOND + fake->next_uid, .is_set = true};
    }
    if (object->metadata.generation == 0) {
        object->metadata.generation = 1;
    }
    new_version(fake, object);
    *LIST_ADD(fake->arena, &fake->objects) = (struct fake_object){kind, object};
    return object;
}

void *fake_world_decode(struct fake_world *fake, const struct kind *kind, const char *json)
{
    struct str text = arena_str(fake->arena, str_of(json));
    void *object = arena_alloc(fake->arena, kind->type->size);

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\'') {
            ((char *)(uintptr_t)text.p)[i] = '"';
        }
    }
    CHECK_OK(json_decode(fake->arena, kind->type, text, object, NULL));
    return object;
}

void *fake_world_add(struct fake_world *fake, const struct kind *kind, const char *json)
{
    return add(fake, kind, fake_world_decode(fake, kind, json));
}

static struct fake_object *entry_of(struct fake_world *fake, const struct kind *kind, struct str key)
{
    const void *object = reader_find(fake, kind, key, fake->arena);

    LIST_EACH(entry, &fake->objects)
    {
        if (object != NULL && entry->object == object) {
            return entry;
        }
    }
    return NULL;
}

void *fake_world_get(struct fake_world *fake, const struct kind *kind, const char *key)
{
    struct fake_object *entry = entry_of(fake, kind, str_of(key));

    return entry != NULL ? entry->object : NULL;
}

void fake_world_remove(struct fake_world *fake, const struct kind *kind, const char *key)
{
    struct fake_object *entry = entry_of(fake, kind, str_of(key));

    CHECK(entry != NULL);
    entry->object = NULL;
}

size_t fake_world_count(const struct fake_world *fake, const struct kind *kind)
{
    size_t count = 0;

    LIST_EACH(entry, &fake->objects)
    {
        count += entry->kind == kind && entry->object != NULL;
    }
    return count;
}

static void show(const struct plan_action *action, bool whole, struct arena *arena, struct buf *out)
{
    static const char *const verbs[] = {"create", "update", "update-status", "patch", "delete", "event"};

    if (action->verb == PLAN_TRACE) {
        return;
    }
    if (action->verb == PLAN_EVENT) {
        buf_printf(out, "event %s %s: %.*s\n", action->event_type, action->event_reason,
                   STR_ARG(action->event_message));
        return;
    }
    struct str name = action->name;

    if (action->object == NULL) {
        name = STR("*"); /* all of a namespace */
    } else if (name.n == 0) {
        name = arena_printf(arena, "%.*s*", STR_ARG(((const struct object *)action->object)->metadata.generate_name));
    }
    buf_printf(out, "%s %.*s %.*s", verbs[action->verb], STR_ARG(action->kind->kind),
               STR_ARG(world_key(arena, action->namespace, name)));
    if (action->patch.n > 0) {
        buf_printf(out, " %.*s", STR_ARG(action->patch));
    }
    if (action->propagation.n > 0) {
        buf_printf(out, " %.*s", STR_ARG(action->propagation));
    }
    if (whole && action->verb != PLAN_PATCH && action->verb != PLAN_DELETE) {
        buf_add_char(out, ' ');
        json_encode(action->kind->type, action->object, out);
    }
    buf_add_char(out, '\n');
}

static struct str text_of(struct fake_world *fake, bool whole)
{
    OWNED(buf_done) struct buf out = {0};

    LIST_EACH(action, &fake->plan)
    {
        show(action, whole, fake->arena, &out);
    }
    return arena_str(fake->arena, buf_str(&out));
}

struct str fake_world_plan_text(struct fake_world *fake)
{
    return text_of(fake, false);
}

static struct str plan_text(struct fake_world *fake, const struct controller *controller, struct str key, bool whole)
{
    fake->plan = (struct plan){.arena = fake->arena};
    CHECK_OK(controller->plan(&fake->world, key, &fake->plan));
    return text_of(fake, whole);
}

struct str fake_world_plan(struct fake_world *fake, const struct controller *controller, const char *key)
{
    return plan_text(fake, controller, str_of(key), false);
}

struct str fake_world_plan_whole(struct fake_world *fake, const struct controller *controller, const char *key)
{
    return plan_text(fake, controller, str_of(key), true);
}

/* RFC 7386. */
static void merge(struct arena *arena, struct value *into, const struct value *patch)
{
    VALUE_EACH_MEMBER(member, patch)
    {
        struct value *old = value_find(into, member->key);

        if (value_is(member->value, VALUE_NULL)) {
            value_delete(into, member->key);
        } else if (value_is(member->value, VALUE_OBJECT) && value_is(old, VALUE_OBJECT)) {
            merge(arena, old, member->value);
        } else if (value_is(member->value, VALUE_OBJECT)) {
            struct value *fresh = value_object(arena);

            merge(arena, fresh, member->value);
            value_set(arena, into, member->key, fresh);
        } else {
            value_set(arena, into, member->key, member->value);
        }
    }
}

static struct object *patched(struct fake_world *fake, const struct kind *kind, const struct object *object,
                              struct str patch)
{
    struct buf text = {0};
    struct value *value, *change;
    void *result = arena_alloc(fake->arena, kind->type->size);

    json_encode(kind->type, object, &text);
    CHECK_OK(value_read_json(fake->arena, arena_str(fake->arena, buf_str(&text)), &value, NULL));
    CHECK_OK(value_read_json(fake->arena, patch, &change, NULL));
    merge(fake->arena, value, change);
    buf_clear(&text);
    value_write_json(&text, value, 0);
    CHECK_OK(json_decode(fake->arena, kind->type, arena_str(fake->arena, buf_str(&text)), result, NULL));
    buf_done(&text);
    return result;
}

/* An update changes all but the status, an update of the status changes only that. */
static struct object *updated(struct fake_world *fake, const struct kind *kind, const struct object *old,
                              const struct object *new, bool is_status)
{
    const struct field *status = type_field(kind->type, STR("status"));
    struct object *result = schema_copy(fake->arena, kind->type, is_status ? old : new);

    if (status != NULL) {
        const struct object *from = is_status ? new : old;

        memcpy((char *)result + status->offset,
               (char *)schema_copy(fake->arena, kind->type, from) + status->offset, field_size(status));
    }
    if (is_status) {
        result->metadata.annotations = new->metadata.annotations;
    } else {
        const struct field *spec = type_field(kind->type, STR("spec"));

        result->metadata.generation = old->metadata.generation;
        if (spec != NULL && !schema_field_equal(spec, (const char *)old + spec->offset,
                                                (const char *)new + spec->offset)) {
            result->metadata.generation++;
        }
    }
    return result;
}

static void apply(struct fake_world *fake, const struct plan_action *action)
{
    if (action->verb == PLAN_EVENT || action->verb == PLAN_TRACE) {
        return;
    }
    if (action->verb == PLAN_CREATE) {
        add(fake, action->kind, schema_copy(fake->arena, action->kind->type, action->object));
        return;
    }
    struct fake_object *entry = entry_of(fake, action->kind, world_key(fake->arena, action->namespace, action->name));

    CHECK(entry != NULL);
    switch (action->verb) {
    case PLAN_DELETE:
        entry->object = NULL;
        return;
    case PLAN_PATCH:
        entry->object = patched(fake, action->kind, entry->object, action->patch);
        break;
    default:
        entry->object = updated(fake, action->kind, entry->object, action->object, action->verb == PLAN_UPDATE_STATUS);
        break;
    }
    new_version(fake, entry->object);
}

void fake_world_remember(struct fake_world *fake)
{
    memcpy(fake->world.memory, fake->plan.memory, sizeof(fake->world.memory));
}

void fake_world_apply(struct fake_world *fake)
{
    for (size_t i = 0; i < fake->plan.len; i++) {
        apply(fake, &fake->plan.items[i]);
    }
}

bool fake_world_step(struct fake_world *fake, const struct controller *controller)
{
    size_t count = fake->objects.len;
    bool acted = false;

    for (size_t i = 0; i < count; i++) {
        if (fake->objects.items[i].kind == controller->kind && fake->objects.items[i].object != NULL) {
            plan_text(fake, controller, key_of(fake->arena, fake->objects.items[i].object), false);
            acted = acted || fake->plan.len > 0;
            fake_world_apply(fake);
        }
    }
    return acted;
}
