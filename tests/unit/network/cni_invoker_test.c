#include "test.h"

#include "base/file.h"
#include "base/task.h"
#include "net/event_loop.h"
#include "network/cni_invoker.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Plugins here are shell scripts that write down how they were called. Each answers with $DIR/TYPE.answer and ends
 * with the code in $DIR/TYPE.code, when there is one. */
static const char plugin_text[] =
    "#!/bin/sh\n"
    "type=${0##*/}; dir=${0%/*}\n"
    "printf '%s %s %s %s %s [%s]\\n' \"$type\" $CNI_COMMAND \"$CNI_CONTAINERID\" \"$CNI_IFNAME\" \"$CNI_ARGS\" "
    "\"$(cat)\" >>$dir/log\n"
    "[ -f $dir/$type.$CNI_COMMAND ] || exit 0\n"
    "cat $dir/$type.$CNI_COMMAND; grep -q '\"msg\"' $dir/$type.$CNI_COMMAND && exit 1; exit 0\n";

struct world {
    char dir[64];
    struct arena *arena;
    struct cni_invoker invoker;
    struct cni_attachment pod;
    struct str plugin_dir;
};

static void put(struct world *world, const char *name, const char *content, mode_t mode)
{
    CHECK_OK(file_write(arena_printf(world->arena, "%s/%s", world->dir, name).p, str_of(content), mode));
}

static struct str get(struct world *world, const char *name)
{
    struct str text;

    CHECK_OK(file_read(world->arena, arena_printf(world->arena, "%s/%s", world->dir, name).p, 65536, &text));
    return text;
}

static void world_start(struct world *world)
{
    *world = (struct world){.dir = "/tmp/c8s-cni-XXXXXX", .arena = arena_new()};
    CHECK(mkdtemp(world->dir) != NULL);
    world->plugin_dir = str_of(world->dir);
    world->invoker = (struct cni_invoker){
        .conf_dir = arena_printf(world->arena, "%s/net.d", world->dir),
        .plugin_dirs = {&world->plugin_dir, 1},
        .cache_dir = arena_printf(world->arena, "%s/cache", world->dir),
    };
    world->pod = (struct cni_attachment){
        .container_id = STR("abc"),
        .netns = STR("/proc/self/ns/net"),
        .interface = STR("eth0"),
        .pod_namespace = STR("default"),
        .pod_name = STR("web"),
        .pod_uid = STR("u-1"),
    };
    CHECK_INT(mkdir(world->invoker.conf_dir.p, 0755), 0);
    put(world, "first", plugin_text, 0755);
    put(world, "second", plugin_text, 0755);
}

static void world_end(struct world *world)
{
    CHECK_INT(system(arena_printf(world->arena, "rm -rf '%s'", world->dir).p), 0);
    arena_free(world->arena);
}

static const char two_plugins[] = "{\"cniVersion\":\"1.0.0\",\"name\":\"net\",\"plugins\":[{\"type\":\"first\"},"
                                  "{\"type\":\"second\"}]}";
static const char answer[] = "{\"cniVersion\":\"1.0.0\",\"ips\":[{\"address\":\"10.1.0.5/24\"}]}";

static bool log_has(struct world *world, const char *line)
{
    return str_contains(get(world, "log"), str_of(line));
}

static void adds(void *arg)
{
    struct world *world = arg;
    struct cni_result result;

    put(world, "net.d/20-b.conflist", "broken", 0644);
    put(world, "net.d/10-a.conflist", two_plugins, 0644);
    put(world, "first.ADD", answer, 0644);
    put(world, "second.ADD", answer, 0644);
    CHECK_OK(cni_status(&world->invoker, TASK_FOREVER));
    CHECK_OK(cni_add(&world->invoker, &world->pod, TASK_FOREVER, world->arena, &result));
    CHECK_STR(ip_format(world->arena, &result.addresses.items[0].address.ip), "10.1.0.5");
    CHECK(log_has(world, "first ADD abc eth0 IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;"
                         "K8S_POD_INFRA_CONTAINER_ID=abc;K8S_POD_UID=u-1 [{\"cniVersion\":\"1.0.0\",\"name\":\"net\","
                         "\"type\":\"first\"}]"));
    CHECK(log_has(world, "[{\"cniVersion\":\"1.0.0\",\"name\":\"net\",\"prevResult\":{\"cniVersion\":\"1.0.0\",\"ips\":"
                         "[{\"address\":\"10.1.0.5/24\"}]},\"type\":\"second\"}]"));
    /* Another network takes the first one's place: the pod is still detached from the one it is on. */
    put(world, "net.d/00-c.conf", "{\"name\":\"other\",\"type\":\"third\"}", 0644);
    CHECK_OK(cni_result_read(&world->invoker, &world->pod, world->arena, &result));
    CHECK_INT(result.addresses.len, 1);
    CHECK_OK(cni_check(&world->invoker, &world->pod, TASK_FOREVER));
    put(world, "log", "", 0644);
    CHECK_OK(cni_del(&world->invoker, &world->pod, TASK_FOREVER));
    CHECK(str_has_prefix(get(world, "log"), STR("second DEL")));
    CHECK(log_has(world, "\nfirst DEL"));
    CHECK(log_has(world, "\"prevResult\":"));
    CHECK_ERROR(cni_result_read(&world->invoker, &world->pod, world->arena, &result), "no CNI result is kept");
    CHECK_ERROR(cni_status(&world->invoker, TASK_FOREVER), "failed to find plugin \"third\" in path [/tmp/c8s-cni-");
}

static void fails(void *arg)
{
    struct world *world = arg;
    struct cni_result result;

    CHECK_ERROR(cni_status(&world->invoker, TASK_FOREVER), "cni plugin not initialized");
    CHECK_OK(cni_del(&world->invoker, &world->pod, TASK_FOREVER));
    put(world, "net.d/10-a.conflist", two_plugins, 0644);
    put(world, "first.ADD", answer, 0644);
    put(world, "second.ADD", "{\"code\":100,\"msg\":\"no room\"}", 0644);
    CHECK_ERROR(cni_add(&world->invoker, &world->pod, TASK_FOREVER, world->arena, &result),
                "plugin type=\"second\" failed (add): no room");
    CHECK(log_has(world, "second DEL"));
    CHECK(log_has(world, "first DEL"));
    CHECK_ERROR(cni_result_read(&world->invoker, &world->pod, world->arena, &result), "no CNI result is kept");
    put(world, "second.ADD", "{\"ips\":[{\"address\":\"nonsense\"}]}", 0644);
    CHECK_ERROR(cni_add(&world->invoker, &world->pod, TASK_FOREVER, world->arena, &result),
                "plugin type=\"second\" failed (add): its result can't be read: invalid CIDR address: nonsense");
    /* A DEL that fails keeps what is needed for the next try. */
    put(world, "second.ADD", answer, 0644);
    put(world, "second.DEL", "{\"code\":11,\"msg\":\"later\"}", 0644);
    CHECK_OK(cni_add(&world->invoker, &world->pod, TASK_FOREVER, world->arena, &result));
    put(world, "log", "", 0644);
    CHECK_ERROR(cni_del(&world->invoker, &world->pod, TASK_FOREVER),
                "plugin type=\"second\" failed (delete): later");
    CHECK(log_has(world, "first DEL"));
    CHECK_OK(cni_result_read(&world->invoker, &world->pod, world->arena, &result));
    world->pod.container_id = STR("../x");
    CHECK_ERROR(cni_del(&world->invoker, &world->pod, TASK_FOREVER), "invalid characters in container ID \"../x\"");
    world->pod.container_id = STR("abc");
    world->pod.interface = STR("a/b");
    CHECK_ERROR(cni_del(&world->invoker, &world->pod, TASK_FOREVER), "invalid interface name \"a/b\"");
}

static void in_world(task_fn *fn)
{
    struct world world;
    struct env *env = event_loop_new();

    world_start(&world);
    event_loop_run_task(env, "test", fn, &world);
    event_loop_free(env);
    world_end(&world);
}

TEST("network/cni_invoker/adds by the first configuration and deletes by the one that was used")
{
    in_world(adds);
}

TEST("network/cni_invoker/undoes a failed add and keeps a failed delete")
{
    in_world(fails);
}
