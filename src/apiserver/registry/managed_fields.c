#include "apiserver/registry/managed_fields.h"

#include "api/apps_v1.h"
#include "api/certificates_v1.h"
#include "apiserver/registry/strategy.h"
#include "base/env.h"
#include "schema/copy.h"
#include "schema/field_set.h"
#include "schema/json.h"
#include "schema/json_lexer.h"
#include "schema/map_of.h"
#include "schema/timestamp.h"

#include <stdlib.h>
#include <string.h>

/* More managers by update than this, and the oldest are put together. */
enum { UPDATE_MANAGERS_MAX = 10 };

static const struct str daemon_set_generation = STR_INIT("deprecated.daemonset.template.generation");
static const struct str apply_operation = STR_INIT("Apply"), update_operation = STR_INIT("Update");

/* An entry of managedFields with its set. */
struct managers {
    struct manager {
        struct meta_v1_managed_fields_entry entry;
        const struct field_set *set;
    } *items;
    size_t len;
};

/* What nobody owns. */
static const struct field_set *unowned(struct arena *arena)
{
    static const char *const paths[] = {
        "f:apiVersion", "f:kind", "f:metadata", "f:metadata f:name", "f:metadata f:namespace",
        "f:metadata f:creationTimestamp", "f:metadata f:selfLink", "f:metadata f:uid", "f:metadata f:clusterName",
        "f:metadata f:generation", "f:metadata f:managedFields", "f:metadata f:resourceVersion"};

    return field_set_of_paths(arena, paths, COUNT_OF(paths));
}

/* What the write can't change, whatever it says: the status in one of the object, all else in one of the status. */
static const struct field_set *out_of_reach(const struct managed_write *write)
{
    const struct type *type = write->kind->type;
    const struct field_set *set = NULL;
    unsigned flags = strategy_of(write->kind)->flags;
    bool of_status = str_is(write->subresource, "status");
    static const char *const labels[] = {"f:metadata f:labels"}, *const metadata[] = {"f:metadata"}, *const spec[] = {"f:spec"};

    for (size_t i = 0; i < type->member_count; i++) {
        struct str name = type->members[i].field->name;
        bool is_status = str_is(name, "status") && write->kind->has_status;

        if (of_status ? !is_status && !str_is(name, "metadata") : is_status && write->subresource.n == 0) {
            const char *path = arena_printf(write->arena, "f:%.*s", STR_ARG(name)).p;

            set = field_set_union(write->arena, set, field_set_of_paths(write->arena, &path, 1));
        }
    }
    if (of_status && (flags & STRATEGY_STATUS_KEEPS_LABELS) != 0) {
        set = field_set_union(write->arena, set, field_set_of_paths(write->arena, labels, 1));
    }
    if (of_status && (flags & STRATEGY_STATUS_KEEPS_META) != 0) {
        set = field_set_union(write->arena, set, field_set_of_paths(write->arena, metadata, 1));
    }
    if (write->kind == &certificates_v1_certificate_signing_request_kind) {
        set = field_set_union(write->arena, set, field_set_of_paths(write->arena, spec, 1)); /* it can't be changed */
    }
    return set;
}

static const struct field_set *owned_of(const struct managed_write *write, const struct field_set *set)
{
    set = field_set_without(write->arena, set, out_of_reach(write));
    return field_set_difference(write->arena, set, unowned(write->arena));
}

/* A shallow copy without managedFields; for NULL an object in which nothing is set. */
static struct object *bare(const struct managed_write *write, const struct object *object)
{
    const struct type *type = write->kind->type;
    struct object *copy = arena_alloc(write->arena, type->size);

    if (object != NULL) {
        memcpy(copy, object, type->size);
        memset(&copy->metadata.managed_fields, 0, sizeof copy->metadata.managed_fields);
    }
    if (object != NULL && write->kind == &apps_v1_daemon_set_kind &&
        !str_map_has(&copy->metadata.annotations, daemon_set_generation)) {
        /* stock's versions of the kind always show it */
        copy->metadata.annotations = str_map_copy(write->arena, &copy->metadata.annotations);
        str_map_set(write->arena, &copy->metadata.annotations, daemon_set_generation, STR("0"));
    }
    return copy;
}

static struct value *tree_of_bare(const struct managed_write *write, const struct object *copy)
{
    OWNED(buf_done) struct buf text = {0};
    struct value *tree = NULL;

    json_encode(write->kind->type, copy, &text);
    /* what was just written can be read */
    status_free(value_read_json(write->arena, arena_str(write->arena, buf_str(&text)), &tree, NULL));
    return tree;
}

static struct value *tree_of(const struct managed_write *write, const struct object *object)
{
    return tree_of_bare(write, bare(write, object));
}

/* Empties what is the same in both copies, such as the spec when a status is written: comparing trees costs much more
 * than comparing texts. */
static void drop_equal(const struct type *type, struct object *a, struct object *b)
{
    OWNED(buf_done) struct buf text_a = {0};
    OWNED(buf_done) struct buf text_b = {0};

    for (size_t i = 0; i < type->member_count; i++) {
        const struct type_member *member = &type->members[i];
        void *place_a = (char *)a + member->offset, *place_b = (char *)b + member->offset;

        buf_clear(&text_a);
        buf_clear(&text_b);
        json_encode_field(member->field, place_a, &text_a);
        json_encode_field(member->field, place_b, &text_b);
        if (str_eq(buf_str(&text_a), buf_str(&text_b))) {
            memset(place_a, 0, field_size(member->field));
            memset(place_b, 0, field_size(member->field));
        }
    }
}

static struct field_changes changes_of(const struct managed_write *write, const struct object *live,
                                       const struct object *object)
{
    struct object *before = bare(write, live), *after = bare(write, object);

    drop_equal(write->kind->type, before, after);
    return field_compare(write->arena, write->kind->type, tree_of_bare(write, before), tree_of_bare(write, after));
}

/* A reset is asked for by one empty entry. */
static bool is_reset(const struct meta_v1_object_meta *meta)
{
    return meta->managed_fields.len == 1 && schema_is_zero(&meta_v1_managed_fields_entry_type, meta->managed_fields.items);
}

/* False when an entry can't be read: then all of them count for nothing. */
static bool read_managers(struct arena *arena, const struct meta_v1_object_meta *meta, struct managers *ret)
{
    *ret = (struct managers){0};
    LIST_EACH(entry, &meta->managed_fields) {
        struct manager *manager = LIST_ADD(arena, ret);
        struct status *status = NULL;

        manager->entry = *entry;
        if (entry->fields_v1 != NULL) {
            status = field_set_read(arena, entry->fields_v1->json, &manager->set);
        }
        if (status != NULL) {
            status_free(status);
            *ret = (struct managers){0};
            return false;
        }
    }
    return true;
}

static bool is_same(const struct meta_v1_managed_fields_entry *entry, const struct managed_write *write,
                    struct str operation)
{
    return str_eq(entry->manager, write->manager) && str_eq(entry->operation, operation) &&
           str_eq(entry->subresource, write->subresource) &&
           (str_eq(operation, apply_operation) || str_eq(entry->api_version, write->kind->api_version));
}

static struct manager *find_manager(struct managers *managers, const struct managed_write *write, struct str operation)
{
    LIST_EACH(manager, managers) {
        if (is_same(&manager->entry, write, operation)) {
            return manager;
        }
    }
    return NULL;
}

static struct timestamp *now(struct arena *arena)
{
    struct timestamp *time = ARENA_NEW(arena, struct timestamp);

    *time = timestamp_now();
    return time;
}

/* The manager's set from now on; its time is that of the last change. */
static void set_manager(struct managers *managers, const struct managed_write *write, struct str operation,
                        const struct field_set *set)
{
    struct manager *manager = find_manager(managers, write, operation);

    if (manager == NULL) {
        manager = LIST_ADD(write->arena, managers);
        manager->entry = (struct meta_v1_managed_fields_entry){.manager = write->manager,
                                                               .operation = operation,
                                                               .subresource = write->subresource};
    } else if (field_set_equal(manager->set, set) && str_eq(manager->entry.api_version, write->kind->api_version)) {
        return;
    }
    manager->entry.api_version = write->kind->api_version;
    manager->entry.time = now(write->arena);
    manager->set = set;
}

static int by_age(const void *left, const void *right)
{
    const struct meta_v1_managed_fields_entry *a = &((const struct manager *)left)->entry;
    const struct meta_v1_managed_fields_entry *b = &((const struct manager *)right)->entry;
    int order = str_cmp(a->operation, b->operation);

    if (order == 0 && a->time != NULL && b->time != NULL) {
        order = timestamp_cmp(*a->time, *b->time);
    }
    order = order != 0 ? order : str_cmp(a->manager, b->manager);
    order = order != 0 ? order : str_cmp(a->api_version, b->api_version);
    return order != 0 ? order : str_cmp(a->subresource, b->subresource);
}

static void drop_empty(struct managers *managers)
{
    size_t len = 0;

    for (size_t i = 0; i < managers->len; i++) {
        if (!field_set_is_empty(managers->items[i].set)) {
            managers->items[len++] = managers->items[i];
        }
    }
    managers->len = len;
}

/* Puts the oldest updaters together until few enough are left. The managers are sorted by age. */
static void cap(struct arena *arena, struct managers *managers)
{
    size_t first = 0, updaters = 0;
    struct manager *ancient;

    for (size_t i = 0; i < managers->len; i++) {
        bool is_update = str_eq(managers->items[i].entry.operation, update_operation);

        first = is_update && updaters == 0 ? i : first;
        updaters += is_update;
    }
    if (updaters <= UPDATE_MANAGERS_MAX) {
        return;
    }
    size_t surplus = updaters - UPDATE_MANAGERS_MAX + 1;

    ancient = &managers->items[first];
    for (size_t i = 1; i < surplus; i++) {
        ancient->set = field_set_union(arena, ancient->set, managers->items[first + i].set);
        ancient->entry.time = managers->items[first + i].entry.time;
    }
    ancient->entry.manager = STR("ancient-changes");
    ancient->entry.subresource = (struct str){0};
    memmove(&managers->items[first + 1], &managers->items[first + surplus],
            (managers->len - first - surplus) * sizeof(managers->items[0]));
    managers->len -= surplus - 1;
}

static void write_managers(struct arena *arena, struct managers *managers, struct meta_v1_object_meta *meta)
{
    memset(&meta->managed_fields, 0, sizeof meta->managed_fields);
    drop_empty(managers);
    if (managers->len > 1) {
        qsort(managers->items, managers->len, sizeof(managers->items[0]), by_age);
    }
    cap(arena, managers);
    LIST_EACH(manager, managers) {
        OWNED(buf_done) struct buf text = {0};

        field_set_write(manager->set, &text);
        manager->entry.fields_type = STR("FieldsV1");
        manager->entry.fields_v1 = ARENA_NEW(arena, struct raw_json);
        manager->entry.fields_v1->json = arena_str(arena, buf_str(&text));
        *LIST_ADD(arena, &meta->managed_fields) = manager->entry;
    }
}

static bool start(const struct managed_write *write, const struct object *live, struct object *object,
                  struct managers *managers)
{
    struct meta_v1_object_meta *meta = &object->metadata;
    bool given = write->subresource.n == 0 && meta->managed_fields.len != 0;

    if (given && is_reset(meta)) {
        memset(&meta->managed_fields, 0, sizeof meta->managed_fields);
        return false;
    }
    if (given && read_managers(write->arena, meta, managers) && managers->len != 0) {
        return true;
    }
    if (live == NULL) {
        *managers = (struct managers){0};
        return true;
    }
    /* an object that was never tracked stays so */
    return read_managers(write->arena, &live->metadata, managers) && managers->len != 0;
}

void managed_fields_update(const struct managed_write *write, const struct object *live, struct object *object)
{
    struct arena *arena = write->arena;
    struct managers managers;

    if ((write->kind->type->flags & TYPE_OBJECT) == 0 || !start(write, live, object, &managers)) {
        return;
    }
    struct field_changes changes = changes_of(write, live, object);
    const struct field_set *set = owned_of(write, field_set_union(arena, changes.added, changes.modified));
    const struct field_set *removed = field_set_without(arena, changes.removed, out_of_reach(write));
    const struct manager *own = find_manager(&managers, write, update_operation);
    const struct field_set *before = own == NULL ? NULL : own->set;

    LIST_EACH(manager, &managers) {
        if (manager != own) {
            manager->set = field_set_difference(arena, field_set_difference(arena, manager->set, set), removed);
        }
    }
    set = field_set_union(arena, field_set_difference(arena, before, removed), set);
    if (own != NULL || !field_set_is_empty(set)) {
        set_manager(&managers, write, update_operation, set);
    }
    write_managers(arena, &managers, &object->metadata);
}

static struct str quoted(struct arena *arena, struct str text)
{
    struct value value = {.type = VALUE_STRING, .string = text};

    return value_json(arena, &value);
}

/* A manager as conflicts name it. */
static struct str manager_text(struct arena *arena, const struct meta_v1_managed_fields_entry *entry)
{
    struct str text = quoted(arena, entry->manager);

    if (entry->subresource.n != 0) {
        text = arena_printf(arena, "%.*s with subresource %.*s", STR_ARG(text),
                            STR_ARG(quoted(arena, entry->subresource)));
    }
    if (str_eq(entry->operation, update_operation)) {
        text = arena_printf(arena, "%.*s using %.*s", STR_ARG(text), STR_ARG(entry->api_version));
    }
    return text;
}

/* Conflicts in the making: a cause for each, and the text that has the paths under their manager. */
struct conflicts {
    struct status *status;
    struct buf text;
    struct str single;
};

static void add_conflicts(struct arena *arena, struct conflicts *conflicts,
                          const struct meta_v1_managed_fields_entry *entry, const struct field_set *set)
{
    struct str name = manager_text(arena, entry);
    struct field_paths paths = field_set_paths(arena, set);

    buf_printf(&conflicts->text, "%sconflicts with %.*s:", conflicts->text.n == 0 ? "" : "\n", STR_ARG(name));
    LIST_EACH(path, &paths) {
        status_add_cause(conflicts->status, STR("FieldManagerConflict"), *path, "conflict with %.*s", STR_ARG(name));
        buf_printf(&conflicts->text, "\n- %.*s", STR_ARG(*path));
        conflicts->single = arena_printf(arena, "conflict with %.*s: %.*s", STR_ARG(name), STR_ARG(*path));
    }
}

static int by_name(const void *left, const void *right)
{
    return str_cmp((*(const struct manager *const *)left)->entry.manager,
                   (*(const struct manager *const *)right)->entry.manager);
}

/* What others own of the changes; NULL when that is nothing. */
static struct status *find_conflicts(struct arena *arena, struct managers *managers, const struct manager *own,
                                     const struct field_set *changed)
{
    struct conflicts conflicts = {.status = status_new(STATUS_CONFLICT, "%s", "")};
    struct manager **order = ARENA_ARRAY(arena, struct manager *, managers->len);
    size_t count = 0;

    LIST_EACH(manager, managers) {
        if (manager != own) {
            order[count++] = manager;
        }
    }
    if (count > 1) {
        qsort(order, count, sizeof(order[0]), by_name);
    }
    for (size_t i = 0; i < count; i++) {
        const struct field_set *set = field_set_intersection(arena, order[i]->set, changed);

        if (!field_set_is_empty(set)) {
            add_conflicts(arena, &conflicts, &order[i]->entry, set);
        }
    }
    struct status *status = conflicts.status;
    size_t causes = status->cause_count;

    if (causes == 1) {
        status->message = arena_printf(status->arena, "Apply failed with 1 conflict: %.*s", STR_ARG(conflicts.single));
    } else if (causes > 1) {
        status->message = arena_printf(status->arena, "Apply failed with %zu conflicts: %.*s", causes,
                                       STR_ARG(buf_str(&conflicts.text)));
    } else {
        status_free(status);
        status = NULL;
    }
    buf_done(&conflicts.text);
    return status;
}

/* What the manager applied before and nobody wants any more. */
static const struct field_set *abandoned(const struct managed_write *write, const struct managers *managers,
                                         const struct field_set *last)
{
    const struct type *type = write->kind->type;
    const struct field_set *wanted = NULL;

    LIST_EACH(manager, managers) {
        wanted = field_set_union(write->arena, wanted, manager->set);
    }
    return field_set_difference(write->arena, field_set_with_named(write->arena, type, last),
                                field_set_with_named(write->arena, type, wanted));
}

/* The tree's managedFields become these. */
static struct status *put_managers(const struct managed_write *write, struct managers *managers, struct value *tree)
{
    struct meta_v1_object_meta meta = {0};
    OWNED(buf_done) struct buf text = {0};
    struct value *written;

    write_managers(write->arena, managers, &meta);
    json_encode(&meta_v1_object_meta_type, &meta, &text);
    TRY(value_read_json(write->arena, arena_str(write->arena, buf_str(&text)), &written, NULL));
    struct value *list = value_find(written, STR("managedFields"));
    struct value *metadata = value_find(tree, STR("metadata"));

    if (value_is(metadata, VALUE_OBJECT)) {
        metadata = value_copy(write->arena, metadata);
        value_set(write->arena, tree, STR("metadata"), metadata);
        if (list != NULL) {
            value_set(write->arena, metadata, STR("managedFields"), list);
        }
    }
    return NULL;
}

struct status *managed_fields_apply(const struct managed_write *write, const struct object *live,
                                    const struct value *configuration, bool force, struct value **ret)
{
    struct arena *arena = write->arena;
    const struct type *type = write->kind->type;
    struct managers managers = {0};
    struct value *tree = tree_of(write, live);
    const struct field_set *set =
        field_set_without(arena, field_set_of_value(arena, type, configuration, NULL), out_of_reach(write));

    if (live != NULL) {
        read_managers(arena, &live->metadata, &managers);
    }
    const struct manager *own = find_manager(&managers, write, apply_operation);
    const struct field_set *last = own == NULL ? NULL : own->set;
    struct timestamp *last_time = own == NULL ? NULL : own->entry.time;

    set_manager(&managers, write, apply_operation, set);
    own = find_manager(&managers, write, apply_operation);
    struct value *merged = field_merge(arena, type, tree, configuration);

    merged = field_remove(arena, type, merged, abandoned(write, &managers, last));
    struct field_changes changes = field_compare(arena, type, tree, merged);
    const struct field_set *changed = owned_of(write, field_set_union(arena, changes.added, changes.modified));

    bool is_change = changed != NULL || changes.removed != NULL;

    if (!force) {
        TRY(find_conflicts(arena, &managers, own, changed));
    }
    LIST_EACH(manager, &managers) {
        if (manager != own) {
            manager->set =
                field_set_difference(arena, field_set_difference(arena, manager->set, changed), changes.removed);
        } else {
            manager->set = owned_of(write, set);
            manager->entry.time = is_change ? now(arena) : last_time; /* a time is that of a change */
        }
    }
    merged = value_copy(arena, merged);
    TRY(put_managers(write, &managers, merged));
    *ret = merged;
    return NULL;
}
