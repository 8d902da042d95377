/* RBAC: which rules do the bindings give a user, and does one of them allow what is asked? Pure: bindings and roles come
 * through struct rbac_source. */
#ifndef APISERVER_AUTHZ_RBAC_H
#define APISERVER_AUTHZ_RBAC_H

#include "apiserver/authz/authz.h"

#include "api/rbac_v1.h"

struct rbac_cluster_bindings {
    const struct rbac_v1_cluster_role_binding **items;
    size_t len;
};

struct rbac_bindings {
    const struct rbac_v1_role_binding **items;
    size_t len;
};

/* Objects are borrowed until the next park. */
struct rbac_source {
    void *arg;
    struct rbac_cluster_bindings (*cluster_bindings)(void *arg, struct arena *arena);
    struct rbac_bindings (*bindings)(void *arg, struct str namespace, struct arena *arena);
    const struct rbac_v1_cluster_role *(*cluster_role)(void *arg, struct str name); /* NULL: none */
    const struct rbac_v1_role *(*role)(void *arg, struct str namespace, struct str name);
};

struct rbac_rules {
    const struct rbac_v1_policy_rule **items;
    size_t len;
    struct str errors; /* roles that are missing; empty: none */
};

struct authz_decision rbac_decide(const struct rbac_source *source, const struct authz_attributes *attributes,
                                  struct arena *arena);
bool rbac_rule_allows(const struct rbac_v1_policy_rule *rule, const struct authz_attributes *attributes);
/* All rules the user has, cluster-wide and (unless empty) in the namespace. */
struct rbac_rules rbac_rules_of(const struct rbac_source *source, const struct user *user, struct str namespace,
                                struct arena *arena);
/* The rules a role reference stands for; NOT_FOUND when the role is missing. */
MUST_USE struct status *rbac_rules_of_ref(const struct rbac_source *source, const struct rbac_v1_role_ref *ref,
                                          struct str namespace, struct arena *arena, struct rbac_rules *ret);
/* NULL when `held` covers all of `wanted`; else stock's words for what the user lacks. */
struct str rbac_missing(const struct rbac_rules *held, const struct rbac_rules *wanted, const struct user *user,
                        struct arena *arena, bool *ret_covered);

#endif
