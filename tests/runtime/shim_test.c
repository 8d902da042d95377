/* A sandbox and its containers through the shim alone: no runtime, no network, no images but busybox. */
#include "test.h"

#include "base/env.h"
#include "base/file.h"
#include "base/task.h"
#include "net/event_loop.h"
#include "runtime/capability.h"
#include "runtime/plan.h"
#include "runtime/shim/spawner.h"
#include "runtime/shim_client.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOT "/tmp/shim-test"

struct scene {
    struct arena *arena;
    struct shim_client *client;
    struct cond changed;
    struct shim_process ended; /* the last that did */
    int ended_count;
    bool is_gone;
};

static void on_exited(void *arg, const struct shim_process *process)
{
    struct scene *scene = arg;

    scene->ended = *process;
    scene->ended.id = arena_str(scene->arena, process->id);
    scene->ended.exec = arena_str(scene->arena, process->exec);
    scene->ended_count++;
    cond_broadcast(&scene->changed);
}

static void on_gone(void *arg)
{
    struct scene *scene = arg;

    scene->is_gone = true;
    cond_broadcast(&scene->changed);
}

static const struct shim_client_events scene_events = {on_exited, on_gone};

static void shell(const char *command)
{
    if (system(command) != 0) {
        test_fail(__FILE__, __LINE__, "%s", command);
    }
}

/* What every container of these tests has. */
static void plan_container(struct shim_container_plan *plan, struct str *args, size_t arg_count)
{
    static struct str env[] = {STR_INIT("PATH=/bin"), STR_INIT("WHERE=here")};
    static struct shim_mount mounts[] = {
        {.kind = PLAN_MOUNT_FS, .source = STR_INIT("proc"), .target = STR_INIT("/proc"),
         .flags = MS_NOSUID | MS_NODEV | MS_NOEXEC},
        {.kind = PLAN_MOUNT_FS, .source = STR_INIT("tmpfs"), .target = STR_INIT("/dev"), .flags = MS_NOSUID,
         .options = STR_INIT("mode=755,size=64k")},
        {.kind = PLAN_MOUNT_FS, .source = STR_INIT("devpts"), .target = STR_INIT("/dev/pts"),
         .flags = MS_NOSUID | MS_NOEXEC, .options = STR_INIT("newinstance,ptmxmode=0666,mode=0620,gid=5")},
        {.kind = PLAN_MOUNT_SHM, .target = STR_INIT("/dev/shm")},
        {.kind = PLAN_MOUNT_BIND, .source = STR_INIT(ROOT "/volume"), .target = STR_INIT("/data/volume")},
    };
    static struct shim_device devices[] = {{STR_INIT("/dev/null"), S_IFCHR | 0666, 1, 3, 0, 0}};
    static struct str layers[] = {STR_INIT("1")};
    static struct str masked[] = {STR_INIT("/proc/kcore"), STR_INIT("/proc/scsi")};
    static struct str read_only[] = {STR_INIT("/proc/sys")};

    *plan = (struct shim_container_plan){
        .process = {.args = {args, arg_count}, .env = {env, 2}, .cwd = STR("/work"),
                    .caps_bounding = capabilities_default(), .caps_effective = capabilities_default(),
                    .caps_permitted = capabilities_default()},
        .shares_network = true, .shares_ipc = true, .shares_uts = true, .rootfs = STR(ROOT "/c1/root"),
        .layers = {layers, 1}, .layers_directory = STR(ROOT "/layers"), .upper = STR(ROOT "/c1/upper"),
        .work = STR(ROOT "/c1/work"), .mounts = {mounts, COUNT_OF(mounts)}, .devices = {devices, 1},
        .masked_paths = {masked, 2}, .read_only_paths = {read_only, 1}, .log_path = STR(ROOT "/c1.log"),
        .exit_path = STR(ROOT "/c1.exit"),
    };
}

static void start_sandbox(struct scene *scene)
{
    struct shim_sandbox_plan plan = {
        .hostname = STR("pod-1"), .shm_bytes = 64 << 20,
        .namespaces = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS,
    };
    struct shim_call call = {.verb = SHIM_SANDBOX, .plan_type = &shim_sandbox_plan_type, .plan = &plan};
    struct shim_reply reply;

    CHECK_OK(shim_client_open(ROOT "/shim", &scene_events, scene, &scene->client));
    CHECK_OK(shim_client_call(scene->client, scene->arena, &(struct shim_call){.verb = SHIM_HELLO}, &reply, NULL));
    CHECK_INT(reply.processes.len, 0);
    CHECK_OK(shim_client_call(scene->client, scene->arena, &call, &reply, NULL));
    CHECK_INT(reply.processes.len, 1);
    CHECK(kill((pid_t)reply.processes.items[0].pid, 0) == 0);
}

static void wait_ended(struct scene *scene, int count)
{
    while (scene->ended_count < count) {
        if (!cond_wait(&scene->changed, env_mono() + 10 * ENV_SECOND)) {
            test_fail(__FILE__, __LINE__, "nothing ended within ten seconds");
        }
    }
}

/* Runs fn in a task, with a shim. */
static void run_scene(void (*fn)(void *arg))
{
    struct scene scene = {.arena = arena_new()};
    int pidfd, spawner;

    shell("rm -rf " ROOT " && mkdir -p " ROOT "/shim " ROOT "/volume " ROOT "/layers/1/bin " ROOT "/layers/1/etc " ROOT
          "/c1/root " ROOT "/c1/upper " ROOT "/c1/work && cp /bin/busybox " ROOT "/layers/1/bin/ && "
          "for i in sh echo cat id hostname ls mount sleep ip touch env pwd tty kill stty; do "
          "ln -s busybox " ROOT "/layers/1/bin/$i; done && "
          "printf 'root:x:0:0::/root:/bin/sh\\nweb:x:33:33::/var/www:/bin/sh\\n' > " ROOT "/layers/1/etc/passwd");
    cond_init(&scene.changed);
    CHECK_OK(spawner_start(&spawner, &pidfd));
    struct env *loop = event_loop_new();

    CHECK_OK(spawner_spawn(spawner, ROOT "/shim"));
    event_loop_run_task(loop, "test", fn, &scene);
    shim_client_close(scene.client);
    event_loop_free(loop);
    close(spawner);
    arena_free(scene.arena);
    shell("rm -rf " ROOT);
}

static struct str read_log(struct scene *scene)
{
    struct str text = STR("");

    CHECK_OK(file_read(scene->arena, ROOT "/c1.log", 1 << 20, &text));
    return text;
}

static void quit(struct scene *scene)
{
    struct shim_reply reply;

    CHECK_OK(shim_client_call(scene->client, scene->arena, &(struct shim_call){.verb = SHIM_QUIT}, &reply, NULL));
}

static void run_container(void *arg)
{
    struct scene *scene = arg;
    struct str args[] = {STR("sh"), STR("-c"),
                         STR("echo $$ $(hostname) $WHERE $HOME $(pwd); id; ls /data/volume; touch /made; ls /dev;"
                             "cat /proc/kcore | wc -c; echo no >&2; (echo x > /proc/sys/kernel/hostname) 2>&1;"
                             "ls /proc/1/root/tmp 2>&1; exit 3")};
    struct shim_container_plan plan;
    struct shim_call call = {.verb = SHIM_START, .id = STR("c1"), .plan_type = &shim_container_plan_type, .plan = &plan};
    struct shim_reply reply;

    shell("touch " ROOT "/volume/from-host");
    plan_container(&plan, args, COUNT_OF(args));
    start_sandbox(scene);
    CHECK_OK(shim_client_call(scene->client, scene->arena, &call, &reply, NULL));
    wait_ended(scene, 1);
    struct str log = read_log(scene);

    fprintf(stderr, "%.*s\n", STR_ARG(log));
    CHECK_STR(scene->ended.id, "c1");
    CHECK_INT(scene->ended.exit_code, 3);
    CHECK(str_contains(log, STR(" stdout F 1 pod-1 here /root /work\n")));
    CHECK(str_contains(log, STR(" stdout F from-host\n")));
    CHECK(str_contains(log, STR(" stderr F no\n")));
    CHECK(file_exists(ROOT "/c1/upper/made"));
    CHECK(file_exists(ROOT "/c1.exit"));
    quit(scene);
}

TEST("shim/a container runs and its end is told")
{
    run_scene(run_container);
}
