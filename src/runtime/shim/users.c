#include "runtime/shim/users.h"

#include <string.h>

/* A line of passwd: name, password, uid, gid, comment, home, shell; of group: name, password, gid, members. */
enum { NAME, PASSWORD, UID, PASSWD_GID, COMMENT, HOME, FIELDS = 7 };
enum { GROUP_GID = 2, GROUP_MEMBERS = 3 };

static bool next_entry(struct str *rest, struct str fields[FIELDS])
{
    struct str line;

    while (str_next(rest, '\n', &line)) {
        line = str_trim(line);
        if (line.n == 0 || line.p[0] == '#') {
            continue;
        }
        struct str left = line;

        for (int i = 0; i < FIELDS; i++) {
            if (!str_next(&left, ':', &fields[i])) {
                fields[i] = STR("");
            }
        }
        return true;
    }
    return false;
}

static bool to_id(struct str text, uint32_t *ret)
{
    uint64_t value;

    if (!str_to_u64(text, &value) || value > INT32_MAX) {
        return false;
    }
    *ret = (uint32_t)value;
    return true;
}

static void add_group(struct user_identity *who, gid_t gid)
{
    for (size_t i = 0; i < who->group_count; i++) {
        if (who->groups[i] == gid) {
            return;
        }
    }
    if (who->group_count < USERS_GROUPS_MAX) {
        who->groups[who->group_count++] = gid;
    }
}

/* Finds the entry whose name is `wanted`, or whose uid it is. */
static bool find_user(struct str passwd, struct str wanted, struct str fields[FIELDS])
{
    for (struct str rest = passwd; next_entry(&rest, fields);) {
        if (str_eq(fields[NAME], wanted) || str_eq(fields[UID], wanted)) {
            return true;
        }
    }
    return false;
}

static bool find_group(struct str group, struct str wanted, uint32_t *ret_gid)
{
    struct str fields[FIELDS];

    for (struct str rest = group; next_entry(&rest, fields);) {
        if (str_eq(fields[NAME], wanted) && to_id(fields[GROUP_GID], ret_gid)) {
            return true;
        }
    }
    return false;
}

static void add_memberships(struct user_identity *who, struct str group, struct str name)
{
    struct str fields[FIELDS];

    for (struct str rest = group; name.n > 0 && next_entry(&rest, fields);) {
        struct str member;
        uint32_t gid;

        for (struct str members = fields[GROUP_MEMBERS]; str_next(&members, ',', &member);) {
            if (str_eq(str_trim(member), name) && to_id(fields[GROUP_GID], &gid)) {
                add_group(who, gid);
            }
        }
    }
}

struct status *users_resolve(const struct shim_process_plan *plan, struct str passwd, struct str group,
                             struct user_identity *ret)
{
    struct str user, group_name, fields[FIELDS], name = STR("");
    char digits[24];
    bool has_group = str_cut(plan->user, ':', &user, &group_name);

    memset(ret, 0, sizeof(*ret));
    ret->home = STR("/");
    if (plan->has_uid) {
        int n = 0;
        char *at = digits + sizeof(digits);

        for (uint64_t value = plan->uid; n == 0 || value > 0; value /= 10, n++) {
            *--at = (char)('0' + value % 10);
        }
        user = (struct str){at, (size_t)n};
        has_group = false;
    }
    if (user.n == 0) {
        user = STR("0");
    }
    bool is_number = to_id(user, &ret->uid);

    if (find_user(passwd, user, fields)) {
        name = fields[NAME];
        if (!to_id(fields[UID], &ret->uid) || !to_id(fields[PASSWD_GID], &ret->gid)) {
            return status_new(STATUS_INVALID, "the passwd entry of user %.*s is broken", STR_ARG(user));
        }
        ret->home = fields[HOME].n > 0 ? fields[HOME] : ret->home;
    } else if (!is_number) {
        return status_new(STATUS_NOT_FOUND, "unable to find user %.*s: no matching entries in passwd file",
                          STR_ARG(user));
    }
    if (has_group && !plan->has_gid && !find_group(group, group_name, &ret->gid) && !to_id(group_name, &ret->gid)) {
        return status_new(STATUS_NOT_FOUND, "unable to find group %.*s: no matching entries in group file",
                          STR_ARG(group_name));
    }
    if (plan->has_gid) {
        ret->gid = (gid_t)plan->gid;
    }
    add_group(ret, ret->gid);
    if (!plan->is_strict_groups) {
        add_memberships(ret, group, name);
    }
    LIST_EACH(gid, &plan->groups) {
        add_group(ret, (gid_t)*gid);
    }
    return NULL;
}
