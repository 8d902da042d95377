/* Nobody may hand out more than they hold: does one set of rules cover another? */
#include "apiserver/authz/rbac.h"

#include "base/buf.h"

#include <stdlib.h>

/* A rule with one verb and one resource or path: what covering is asked of. */
struct atom {
    struct str verb, group, resource, name, path;
    bool is_path, has_name;
};

struct atoms {
    struct atom *items;
    size_t len;
};

static void atoms_of_resource(struct atoms *atoms, const struct rbac_v1_policy_rule *rule, struct str verb,
                              struct str group, struct str resource, struct arena *arena)
{
    if (rule->resource_names.len == 0) {
        *LIST_ADD(arena, atoms) = (struct atom){.verb = verb, .group = group, .resource = resource};
    }
    LIST_EACH(name, &rule->resource_names) {
        *LIST_ADD(arena, atoms) =
            (struct atom){.verb = verb, .group = group, .resource = resource, .name = *name, .has_name = true};
    }
}

static struct atoms atoms_of(const struct rbac_v1_policy_rule *rule, struct arena *arena)
{
    struct atoms atoms = {0};

    LIST_EACH(group, &rule->api_groups) {
        LIST_EACH(resource, &rule->resources) {
            LIST_EACH(verb, &rule->verbs) {
                atoms_of_resource(&atoms, rule, *verb, *group, *resource, arena);
            }
        }
    }
    LIST_EACH(path, &rule->non_resource_urls) {
        LIST_EACH(verb, &rule->verbs) {
            *LIST_ADD(arena, &atoms) = (struct atom){.verb = *verb, .path = *path, .is_path = true};
        }
    }
    return atoms;
}

static bool any_or_has(const struct str_list *list, struct str wanted)
{
    return str_list_has(list, STR("*")) || str_list_has(list, wanted);
}

static bool resources_cover(const struct str_list *resources, struct str wanted)
{
    struct str head, tail;

    if (any_or_has(resources, wanted)) {
        return true;
    }
    if (!str_cut(wanted, '/', &head, &tail)) {
        return false;
    }
    LIST_EACH(resource, resources) {
        struct str own_head, own_tail;

        if (str_cut(*resource, '/', &own_head, &own_tail) && str_is(own_head, "*") && str_eq(own_tail, tail)) {
            return true;
        }
    }
    return false;
}

static bool paths_cover(const struct str_list *paths, struct str wanted)
{
    LIST_EACH(path, paths) {
        if (str_eq(*path, wanted) || (path->n != 0 && path->p[path->n - 1] == '*' &&
                                      str_has_prefix(wanted, str_sub(*path, 0, path->n - 1)))) {
            return true;
        }
    }
    return false;
}

static bool rule_covers(const struct rbac_v1_policy_rule *rule, const struct atom *atom)
{
    if (!any_or_has(&rule->verbs, atom->verb)) {
        return false;
    }
    if (atom->is_path) {
        return paths_cover(&rule->non_resource_urls, atom->path);
    }
    return any_or_has(&rule->api_groups, atom->group) && resources_cover(&rule->resources, atom->resource) &&
           (rule->resource_names.len == 0 || (atom->has_name && str_list_has(&rule->resource_names, atom->name)));
}

static bool covered(const struct rbac_rules *held, const struct atom *atom)
{
    for (size_t i = 0; i < held->len; i++) {
        if (rule_covers(held->items[i], atom)) {
            return true;
        }
    }
    return false;
}

/* Atoms of the same resource (or path) are printed as one rule with several verbs. */
static bool same_object(const struct atom *a, const struct atom *b)
{
    return a->is_path == b->is_path && str_eq(a->path, b->path) && str_eq(a->group, b->group) &&
           str_eq(a->resource, b->resource) && a->has_name == b->has_name && str_eq(a->name, b->name);
}

static struct str compact(const struct atoms *atoms, size_t first, struct arena *arena)
{
    OWNED(buf_done) struct buf out = {0};
    const struct atom *atom = &atoms->items[first];
    bool more = false;

    buf_add_char(&out, '{');
    if (atom->is_path) {
        buf_printf(&out, "NonResourceURLs:[\"%.*s\"]", STR_ARG(atom->path));
    } else {
        buf_printf(&out, "APIGroups:[\"%.*s\"], Resources:[\"%.*s\"]", STR_ARG(atom->group), STR_ARG(atom->resource));
    }
    if (atom->has_name) {
        buf_printf(&out, ", ResourceNames:[\"%.*s\"]", STR_ARG(atom->name));
    }
    buf_add_str(&out, STR(", Verbs:["));
    for (size_t i = first; i < atoms->len; i++) {
        if (same_object(&atoms->items[i], atom)) {
            buf_printf(&out, "%s\"%.*s\"", more ? " " : "", STR_ARG(atoms->items[i].verb));
            more = true;
        }
    }
    buf_add_str(&out, STR("]}"));
    return arena_str(arena, buf_str(&out));
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static struct str lines_of(const struct atoms *atoms, struct arena *arena)
{
    struct str_list lines = {0};

    for (size_t i = 0; i < atoms->len; i++) {
        bool again = false;

        for (size_t k = 0; k < i && !again; k++) {
            again = same_object(&atoms->items[k], &atoms->items[i]);
        }
        if (!again) {
            *LIST_ADD(arena, &lines) = compact(atoms, i, arena);
        }
    }
    qsort(lines.items, lines.len, sizeof(*lines.items), by_text);
    return str_list_join(arena, &lines, "\n");
}

struct str rbac_missing(const struct rbac_rules *held, const struct rbac_rules *wanted, const struct user *user,
                        struct arena *arena, bool *ret_covered)
{
    struct atoms missing = {0};
    OWNED(buf_done) struct buf groups = {0};

    for (size_t i = 0; i < wanted->len; i++) {
        struct atoms atoms = atoms_of(wanted->items[i], arena);

        LIST_EACH(atom, &atoms) {
            if (!covered(held, atom)) {
                *LIST_ADD(arena, &missing) = *atom;
            }
        }
    }
    *ret_covered = missing.len == 0;
    if (missing.len == 0) {
        return (struct str){0};
    }
    LIST_EACH(group, &user->groups) {
        buf_printf(&groups, "%s\"%.*s\"", groups.n ? " " : "", STR_ARG(*group));
    }
    return arena_printf(arena,
                        "user \"%.*s\" (groups=[%.*s]) is attempting to grant RBAC permissions not currently held:\n"
                        "%.*s%s%.*s",
                        STR_ARG(user->name), STR_ARG(buf_str(&groups)), STR_ARG(lines_of(&missing, arena)),
                        held->errors.n != 0 ? "; resolution errors: " : "", STR_ARG(held->errors));
}
