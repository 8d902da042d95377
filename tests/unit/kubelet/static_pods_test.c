#include "test.h"

#include "base/env.h"
#include "base/virtual_env.h"
#include "kubelet/context.h"
#include "kubelet/memory_cri.h"
#include "kubelet/pod_workers.h"
#include "kubelet/static_pods.h"
#include "kubelet/status_manager.h"

static const char manifest[] = "apiVersion: v1\n"
                               "kind: Pod\n"
                               "metadata: {name: web}\n"
                               "spec:\n"
                               "  terminationGracePeriodSeconds: 5\n"
                               "  containers: [{name: c, image: busybox}]\n";

TEST("kubelet/static_pods/a manifest becomes a complete pod of this node")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct env *env = virtual_env_new(1), *before = env_enter(env);
    struct core_v1_pod *pod, *other;

    CHECK_OK(static_pod_read(arena, str_of(manifest), STR("/m/web.yaml"), STR("n1"), &pod));
    CHECK_STR(pod->metadata.name, "web-n1");
    CHECK_STR(pod->metadata.namespace, "default");
    CHECK_STR(pod->spec.node_name, "n1");
    CHECK_STR(pod->spec.restart_policy, "Always");
    CHECK_INT(pod->metadata.uid.n, 32);
    CHECK(pod_is_static(pod));
    CHECK_OK(static_pod_read(arena, str_of(manifest), STR("/m/web.yaml"), STR("n1"), &other));
    CHECK(str_eq(pod->metadata.uid, other->metadata.uid));
    CHECK_OK(static_pod_read(arena, str_of(manifest), STR("/m/other.yaml"), STR("n1"), &other));
    CHECK(!str_eq(pod->metadata.uid, other->metadata.uid));
    env_enter(before);
    virtual_env_free(env);
}

TEST("kubelet/static_pods/say what is wrong with a manifest")
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"apiVersion: apps/v1\nkind: Deployment\n", "want a Pod of v1, found kind \"Deployment\" of \"apps/v1\""},
        {"{", "yaml: "},
        {"apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: []}\n", "spec.containers: Required value"},
        {"apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: 7}\n", "cannot unmarshal number"},
    };
    struct env *env = virtual_env_new(1), *before = env_enter(env);

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct core_v1_pod *pod;

        CHECK_ERROR(static_pod_read(arena, str_of(rows[i].text), STR("/m/x"), STR("n"), &pod), rows[i].message);
    }
    env_enter(before);
    virtual_env_free(env);
}

struct world {
    struct cri *cri;
    struct host *host;
    struct kubelet *kubelet;
};

static struct pod_ref *web(struct world *world)
{
    return pod_workers_find(world->kubelet->workers, STR("default"), STR("web-node1"));
}

static void wait_seconds(int64_t seconds)
{
    CHECK(task_sleep(seconds * ENV_SECOND));
}

static void runs(void *arg)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct world world = {memory_cri_new(), memory_host_new(), NULL};
    struct kubelet_options options;

    (void)arg;
    kubelet_options_default(&options);
    options.node_name = STR("node1");
    options.resolv_conf = STR("");
    options.manifest_path = STR("/manifests");
    memory_cri_add_image(world.cri, STR("busybox:latest"));
    CHECK_OK(host_make_directory(world.host, "/manifests", 0755));
    CHECK_OK(host_write(world.host, "/manifests/web.yaml", str_of(manifest), 0644));
    CHECK_OK(host_write(world.host, "/manifests/broken.yaml", STR("kind: Nothing\n"), 0644));
    CHECK_OK(host_write(world.host, "/manifests/.web.yaml.swp", str_of(manifest), 0644));
    world.kubelet = kubelet_new(&options, NULL, world.cri, world.host);
    CHECK_OK(kubelet_start(world.kubelet));
    wait_seconds(5);
    CHECK_INT(memory_cri_running(world.cri), 1);
    struct str first = arena_str(arena, web(&world)->pod->metadata.uid);

    memory_cri_set_stop_delay(world.cri, 3 * ENV_SECOND);
    struct str changed = arena_printf(arena, "%s  hostname: other\n", manifest);

    CHECK_OK(host_write(world.host, "/manifests/web.yaml", changed, 0644));
    wait_seconds(40);
    CHECK_INT(memory_cri_running(world.cri), 1);
    CHECK_INT(memory_cri_containers(world.cri), 1);
    CHECK(!str_eq(web(&world)->pod->metadata.uid, first));
    CHECK_STR(web(&world)->pod->spec.hostname, "other");
    CHECK_OK(host_remove(world.host, "/manifests/web.yaml"));
    wait_seconds(40);
    CHECK_INT(memory_cri_containers(world.cri), 0);
    CHECK(web(&world) == NULL);
    kubelet_stop(world.kubelet);
    kubelet_free(world.kubelet);
    cri_free(world.cri);
    host_free(world.host);
}

TEST("kubelet/static_pods/run what the directory has, replace what changes, stop what goes")
{
    test_run_task(runs, NULL);
}
