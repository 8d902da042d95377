/* Who sends a request: stock's user.Info. Plain data, in the arena of its maker. */
#ifndef APISERVER_USER_H
#define APISERVER_USER_H

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>

struct user_extra {
    struct str key;
    struct str_list values;
};

struct user_extras {
    struct user_extra *items;
    size_t len;
};

struct user {
    struct str name, uid;
    struct str_list groups;
    struct user_extras extra;
};

#define USER_ANONYMOUS "system:anonymous"
#define GROUP_AUTHENTICATED "system:authenticated"
#define GROUP_UNAUTHENTICATED "system:unauthenticated"
#define GROUP_MASTERS "system:masters"
#define GROUP_NODES "system:nodes"
#define GROUP_SERVICE_ACCOUNTS "system:serviceaccounts"
#define USER_NODE_PREFIX "system:node:"
#define USER_SERVICE_ACCOUNT_PREFIX "system:serviceaccount:"

bool str_list_has(const struct str_list *list, struct str s);
void str_list_add(struct arena *arena, struct str_list *list, struct str s);
/* New items, borrowed text. */
struct str_list str_list_copy(struct arena *arena, const struct str_list *list);
/* "a, b, c" */
struct str str_list_join(struct arena *arena, const struct str_list *list, const char *separator);

bool user_has_group(const struct user *user, const char *group);
struct user *user_copy(struct arena *arena, const struct user *user);
/* Adds a value to an extra key. */
void user_extra_add(struct arena *arena, struct user *user, struct str key, struct str value);
/* The first value; empty when absent. */
struct str user_extra_find(const struct user *user, struct str key);
/* Splits "system:serviceaccount:NAMESPACE:NAME"; false when the name is no service account's. */
bool user_service_account(struct str user_name, struct str *ret_namespace, struct str *ret_name);
/* The groups of a service account of that namespace, added. */
void user_add_service_account_groups(struct arena *arena, struct user *user, struct str namespace);
/* The node's name for a kubelet's user (system:node:NAME in group system:nodes); false for others. */
bool user_node_name(const struct user *user, struct str *ret_node);

#endif
