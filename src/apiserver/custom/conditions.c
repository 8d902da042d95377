#include "apiserver/custom/conditions.h"

#include "apiserver/user.h"
#include "schema/copy.h"
#include "schema/timestamp.h"

typedef struct apiextensions_v1_custom_resource_definition definition;
typedef struct apiextensions_v1_custom_resource_definition_names names;

static struct apiextensions_v1_custom_resource_definition_condition *find(const definition *of, const char *type)
{
    LIST_EACH(condition, &of->status.conditions) {
        if (str_is(condition->type, type)) {
            return condition;
        }
    }
    return NULL;
}

bool condition_is_true(const definition *of, const char *type)
{
    const struct apiextensions_v1_custom_resource_definition_condition *condition = find(of, type);

    return condition != NULL && str_is(condition->status, "True");
}

void condition_set(struct arena *arena, definition *of, const char *type, const char *status, const char *reason,
                   const char *message)
{
    struct apiextensions_v1_custom_resource_definition_condition *condition;
    __typeof__(of->status.conditions) copy = {0};

    LIST_EACH(old, &of->status.conditions) {
        *LIST_ADD(arena, &copy) = *old;
    }
    of->status.conditions = copy;
    condition = find(of, type);
    if (condition == NULL) {
        condition = LIST_ADD(arena, &of->status.conditions);
        condition->type = str_of(type);
    }
    if (!str_is(condition->status, status)) {
        condition->last_transition_time = timestamp_now();
    }
    condition->status = str_of(status);
    condition->reason = str_of(reason);
    condition->message = arena_str(arena, str_of(message));
}

/* What others of the group go by. */
struct taken {
    struct str_list resources, kinds;
};

static struct taken taken_names(struct arena *arena, const struct definitions *all, const definition *but)
{
    struct taken taken = {0};

    for (size_t i = 0; i < all->len; i++) {
        const definition *other = all->items[i];
        const names *accepted = &other->status.accepted_names;

        if (!str_eq(other->spec.group, but->spec.group) || str_eq(other->metadata.name, but->metadata.name)) {
            continue;
        }
        str_list_add(arena, &taken.resources, accepted->plural);
        str_list_add(arena, &taken.resources, accepted->singular);
        LIST_EACH(name, &accepted->short_names) {
            str_list_add(arena, &taken.resources, *name);
        }
        str_list_add(arena, &taken.kinds, accepted->kind);
        str_list_add(arena, &taken.kinds, accepted->list_kind);
    }
    return taken;
}

/* The first conflict as reason and message; false when there is none. */
struct conflict {
    struct arena *arena;
    const char *reason;
    struct str message;
};

static bool is_free(struct conflict *conflict, const struct str_list *taken, struct str name, const char *reason)
{
    if (name.n == 0 || !str_list_has(taken, name)) {
        return true;
    }
    conflict->reason = reason;
    conflict->message = arena_printf(conflict->arena, "\"%.*s\" is already in use", STR_ARG(name));
    return false;
}

/* Takes each name that is free; what isn't stays as it was. */
static void accept_names(struct conflict *conflict, const struct taken *taken, const names *wanted, names *accepted)
{
    bool are_free = true;

    if (is_free(conflict, &taken->resources, wanted->plural, "PluralConflict")) {
        accepted->plural = wanted->plural;
    }
    if (is_free(conflict, &taken->resources, wanted->singular, "SingularConflict")) {
        accepted->singular = wanted->singular;
    }
    LIST_EACH(name, &wanted->short_names) {
        are_free &= is_free(conflict, &taken->resources, *name, "ShortNamesConflict");
    }
    if (are_free) {
        accepted->short_names = wanted->short_names;
    }
    if (is_free(conflict, &taken->kinds, wanted->kind, "KindConflict")) {
        accepted->kind = wanted->kind;
    }
    if (is_free(conflict, &taken->kinds, wanted->list_kind, "ListKindConflict")) {
        accepted->list_kind = wanted->list_kind;
    }
    accepted->categories = wanted->categories;
}

bool conditions_decide(struct arena *arena, const struct definitions *all, definition *of)
{
    struct apiextensions_v1_custom_resource_definition_status before = of->status;
    struct taken taken = taken_names(arena, all, of);
    struct conflict conflict = {.arena = arena};
    bool was_established = condition_is_true(of, "Established");

    accept_names(&conflict, &taken, &of->spec.names, &of->status.accepted_names);
    if (conflict.reason != NULL) {
        condition_set(arena, of, "NamesAccepted", "False", conflict.reason, arena_cstr(arena, conflict.message));
    } else {
        condition_set(arena, of, "NamesAccepted", "True", "NoConflicts", "no conflicts found");
    }
    if (!was_established && conflict.reason != NULL) {
        condition_set(arena, of, "Established", "False", "NotAccepted", "not all names are accepted");
    } else if (!was_established) {
        condition_set(arena, of, "Established", "True", "InitialNamesAccepted", "the initial names have been accepted");
    }
    return !schema_equal(&apiextensions_v1_custom_resource_definition_status_type, &before, &of->status);
}
