#include "apiserver/bootstrap/reconcile.h"

#include "api/core_v1.h"
#include "api/discovery_v1.h"
#include "api/rbac_v1.h"
#include "apiserver/authz/rbac.h"
#include "schema/copy.h"
#include "schema/map_of.h"

#define AUTOUPDATE STR("rbac.authorization.kubernetes.io/autoupdate")

/* Keys that are there keep their values. */
static bool add_keys(struct arena *arena, const struct str_map *wanted, struct str_map *have)
{
    bool changed = false;

    LIST_EACH(entry, wanted) {
        if (!str_map_has(have, entry->key)) {
            str_map_set(arena, have, entry->key, entry->value);
            changed = true;
        }
    }
    return changed;
}

static bool covers(struct arena *arena, const struct rbac_rules *held, const struct rbac_v1_policy_rule *rule)
{
    struct rbac_rules one = {.items = &rule, .len = 1};
    struct user nobody = {0};
    bool covered;

    rbac_missing(held, &one, &nobody, arena, &covered);
    return covered;
}

/* The rules of either kind of role. */
struct rules {
    struct rbac_v1_policy_rule *items;
    size_t len;
};

static bool add_rules(struct arena *arena, const struct rules *wanted, struct rules *have)
{
    struct rbac_rules held = {0};
    struct rules all = {0};
    bool changed = false;

    LIST_EACH(rule, have) {
        *LIST_ADD(arena, &held) = rule;
        *LIST_ADD(arena, &all) = *rule;
    }
    LIST_EACH(rule, wanted) {
        if (!covers(arena, &held, rule)) {
            *LIST_ADD(arena, &all) = *rule;
            changed = true;
        }
    }
    if (changed) {
        *have = all;
    }
    return changed;
}

static bool reconcile_role(struct arena *arena, const struct rbac_v1_role *wanted, struct rbac_v1_role *have)
{
    return add_rules(arena, (const void *)&wanted->rules, (void *)&have->rules);
}

static bool has_selector(const struct rbac_v1_aggregation_rule *rule, const struct meta_v1_label_selector *selector)
{
    LIST_EACH(item, &rule->cluster_role_selectors) {
        if (schema_equal(&meta_v1_label_selector_type, item, selector)) {
            return true;
        }
    }
    return false;
}

/* The rules of an aggregated role are those of others; only what it gathers is compared. */
static bool reconcile_aggregation(struct arena *arena, const struct rbac_v1_aggregation_rule *wanted,
                                  struct rbac_v1_cluster_role *have)
{
    struct rbac_v1_aggregation_rule *rule = ARENA_NEW(arena, struct rbac_v1_aggregation_rule);
    bool changed = have->aggregation_rule == NULL;

    if (have->aggregation_rule != NULL) {
        LIST_EACH(selector, &have->aggregation_rule->cluster_role_selectors) {
            *LIST_ADD(arena, &rule->cluster_role_selectors) = *selector;
        }
    }
    LIST_EACH(selector, &wanted->cluster_role_selectors) {
        if (!has_selector(rule, selector)) {
            *LIST_ADD(arena, &rule->cluster_role_selectors) = *selector;
            changed = true;
        }
    }
    have->aggregation_rule = rule;
    return changed;
}

static bool reconcile_cluster_role(struct arena *arena, const struct rbac_v1_cluster_role *wanted,
                                   struct rbac_v1_cluster_role *have)
{
    return wanted->aggregation_rule != NULL ? reconcile_aggregation(arena, wanted->aggregation_rule, have)
                                            : add_rules(arena, (const void *)&wanted->rules, (void *)&have->rules);
}

static bool reconcile_subjects(struct arena *arena, const struct rbac_v1_role_binding *wanted,
                               struct rbac_v1_role_binding *have)
{
    __typeof__(have->subjects) all = {0};
    bool changed = false;

    LIST_EACH(subject, &have->subjects) {
        *LIST_ADD(arena, &all) = *subject;
    }
    LIST_EACH(subject, &wanted->subjects) {
        bool found = false;

        LIST_EACH(other, &have->subjects) {
            found = found || schema_equal(&rbac_v1_subject_type, other, subject);
        }
        if (!found) {
            *LIST_ADD(arena, &all) = *subject;
            changed = true;
        }
    }
    have->subjects = all;
    return changed;
}

/* Takes the field as wanted. */
static bool take_field(const struct type *type, const char *name, const void *wanted, void *have)
{
    const struct field *field = type_field(type, str_of(name));
    const char *from = (const char *)wanted + field->offset;
    char *to = (char *)have + field->offset;

    if (schema_field_equal(field, from, to)) {
        return false;
    }
    __builtin_memcpy(to, from, field_size(field));
    return true;
}

static bool reconcile_service(struct arena *arena, const struct core_v1_service *wanted, struct core_v1_service *have)
{
    (void)arena;
    return take_field(&core_v1_service_spec_type, "ports", &wanted->spec, &have->spec);
}

static bool reconcile_rbac(struct arena *arena, const struct initial_object *wanted, struct object *have)
{
    struct str kind = wanted->kind->kind;
    bool changed;

    if (str_is(str_map_get(&have->metadata.annotations, AUTOUPDATE), "false")) {
        return false;
    }
    changed = add_keys(arena, &wanted->object->metadata.labels, &have->metadata.labels);
    changed |= add_keys(arena, &wanted->object->metadata.annotations, &have->metadata.annotations);
    if (str_is(kind, "ClusterRole")) {
        changed |= reconcile_cluster_role(arena, (const void *)wanted->object, (void *)have);
    } else if (str_is(kind, "Role")) {
        changed |= reconcile_role(arena, (const void *)wanted->object, (void *)have);
    } else {
        /* both kinds of bindings look the same */
        changed |= reconcile_subjects(arena, (const void *)wanted->object, (void *)have);
    }
    return changed;
}

bool reconcile(struct arena *arena, const struct initial_object *wanted, struct object *have)
{
    const struct kind *kind = wanted->kind;

    if (str_is(kind->group, "rbac.authorization.k8s.io")) {
        return reconcile_rbac(arena, wanted, have);
    }
    if (kind == &core_v1_service_kind) {
        return reconcile_service(arena, (const void *)wanted->object, (void *)have);
    }
    if (kind == &core_v1_endpoints_kind) {
        return take_field(kind->type, "subsets", wanted->object, have);
    }
    if (kind == &core_v1_config_map_kind) {
        return take_field(kind->type, "data", wanted->object, have);
    }
    if (kind == &discovery_v1_endpoint_slice_kind) {
        bool changed = take_field(kind->type, "endpoints", wanted->object, have);

        return take_field(kind->type, "ports", wanted->object, have) || changed;
    }
    return false;
}
