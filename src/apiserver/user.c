#include "apiserver/user.h"

#include "base/buf.h"

bool str_list_has(const struct str_list *list, struct str s)
{
    for (size_t i = 0; i < list->len; i++) {
        if (str_eq(list->items[i], s)) {
            return true;
        }
    }
    return false;
}

void str_list_add(struct arena *arena, struct str_list *list, struct str s)
{
    *LIST_ADD(arena, list) = arena_str(arena, s);
}

struct str_list str_list_copy(struct arena *arena, const struct str_list *list)
{
    struct str_list copy = {0};

    LIST_EACH(item, list) {
        *LIST_ADD(arena, &copy) = *item;
    }
    return copy;
}

struct str str_list_join(struct arena *arena, const struct str_list *list, const char *separator)
{
    OWNED(buf_done) struct buf out = {0};

    for (size_t i = 0; i < list->len; i++) {
        buf_add_str(&out, i == 0 ? (struct str){0} : str_of(separator));
        buf_add_str(&out, list->items[i]);
    }
    return arena_str(arena, buf_str(&out));
}

bool user_has_group(const struct user *user, const char *group)
{
    return str_list_has(&user->groups, str_of(group));
}

struct user *user_copy(struct arena *arena, const struct user *user)
{
    struct user *copy = ARENA_NEW(arena, struct user);

    copy->name = arena_str(arena, user->name);
    copy->uid = arena_str(arena, user->uid);
    for (size_t i = 0; i < user->groups.len; i++) {
        str_list_add(arena, &copy->groups, user->groups.items[i]);
    }
    for (size_t i = 0; i < user->extra.len; i++) {
        const struct user_extra *extra = &user->extra.items[i];

        for (size_t v = 0; v < extra->values.len; v++) {
            user_extra_add(arena, copy, extra->key, extra->values.items[v]);
        }
    }
    return copy;
}

void user_extra_add(struct arena *arena, struct user *user, struct str key, struct str value)
{
    for (size_t i = 0; i < user->extra.len; i++) {
        if (str_eq(user->extra.items[i].key, key)) {
            str_list_add(arena, &user->extra.items[i].values, value);
            return;
        }
    }
    struct user_extra *extra = LIST_ADD(arena, &user->extra);

    extra->key = arena_str(arena, key);
    str_list_add(arena, &extra->values, value);
}

struct str user_extra_find(const struct user *user, struct str key)
{
    for (size_t i = 0; i < user->extra.len; i++) {
        if (str_eq(user->extra.items[i].key, key) && user->extra.items[i].values.len != 0) {
            return user->extra.items[i].values.items[0];
        }
    }
    return (struct str){0};
}

bool user_service_account(struct str user_name, struct str *ret_namespace, struct str *ret_name)
{
    struct str prefix = STR(USER_SERVICE_ACCOUNT_PREFIX), namespace, name;

    if (!str_has_prefix(user_name, prefix) || !str_cut(str_from(user_name, prefix.n), ':', &namespace, &name) ||
        namespace.n == 0 || name.n == 0 || str_index(name, ':') != SIZE_MAX) {
        return false;
    }
    *ret_namespace = namespace;
    *ret_name = name;
    return true;
}

void user_add_service_account_groups(struct arena *arena, struct user *user, struct str namespace)
{
    str_list_add(arena, &user->groups, STR(GROUP_SERVICE_ACCOUNTS));
    str_list_add(arena, &user->groups, arena_printf(arena, GROUP_SERVICE_ACCOUNTS ":%.*s", STR_ARG(namespace)));
}

bool user_node_name(const struct user *user, struct str *ret_node)
{
    if (!str_has_prefix(user->name, STR(USER_NODE_PREFIX)) || !user_has_group(user, GROUP_NODES)) {
        return false;
    }
    *ret_node = str_from(user->name, sizeof USER_NODE_PREFIX - 1);
    return true;
}
