#include "runtime/shim/users.h"
#include "test.h"

static const struct str passwd = STR_INIT("root:x:0:0:root:/root:/bin/sh\nnginx:x:101:102::/var/cache/nginx:/bin/false\n");
static const struct str group = STR_INIT("root:x:0:\nwww:x:33:nginx,other\nnginx:x:102:\nadm:x:4:root\n");

static struct user_identity resolve(struct shim_process_plan plan)
{
    struct user_identity who;

    CHECK_OK(users_resolve(&plan, passwd, group, &who));
    return who;
}

TEST("runtime/users/nobody asked for is root")
{
    struct user_identity who = resolve((struct shim_process_plan){0});

    CHECK_INT(who.uid, 0);
    CHECK_INT(who.gid, 0);
    CHECK_STR(who.home, "/root");
    CHECK_INT(who.group_count, 2); /* root, adm */
}

TEST("runtime/users/a name brings its group, its memberships and its home")
{
    struct user_identity who = resolve((struct shim_process_plan){.user = STR("nginx")});

    CHECK_INT(who.uid, 101);
    CHECK_INT(who.gid, 102);
    CHECK_STR(who.home, "/var/cache/nginx");
    CHECK_INT(who.group_count, 2);
    CHECK_INT(who.groups[1], 33);
}

TEST("runtime/users/a group of the image's may be a name or number")
{
    CHECK_INT(resolve((struct shim_process_plan){.user = STR("nginx:www")}).gid, 33);
    CHECK_INT(resolve((struct shim_process_plan){.user = STR("101:4711")}).gid, 4711);
}

TEST("runtime/users/a number that passwd does not know is taken with group 0")
{
    struct user_identity who = resolve((struct shim_process_plan){.user = STR("4711")});

    CHECK_INT(who.uid, 4711);
    CHECK_INT(who.gid, 0);
    CHECK_STR(who.home, "/");
}

TEST("runtime/users/the pod's numbers go before the image's user")
{
    struct user_identity who = resolve((struct shim_process_plan){
        .user = STR("nginx:www"), .has_uid = 1, .uid = 1000, .has_gid = 1, .gid = 3000,
        .groups = {.items = (uint32_t[]){3000, 5000}, .len = 2}});

    CHECK_INT(who.uid, 1000);
    CHECK_INT(who.gid, 3000);
    CHECK_INT(who.group_count, 2);
    CHECK_INT(who.groups[1], 5000);
}

TEST("runtime/users/strict groups leave out those of /etc/group")
{
    CHECK_INT(resolve((struct shim_process_plan){.user = STR("nginx"), .is_strict_groups = 1}).group_count, 1);
}

TEST("runtime/users/unknown names are errors")
{
    struct user_identity who;
    struct shim_process_plan user = {.user = STR("ghost")}, in_group = {.user = STR("nginx:ghosts")};

    CHECK_ERROR(users_resolve(&user, passwd, group, &who),
                "unable to find user ghost: no matching entries in passwd file");
    CHECK_ERROR(users_resolve(&in_group, passwd, group, &who), "unable to find group ghosts");
}
