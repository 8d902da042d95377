/* From CRI's configuration to plans: sandbox_plan.h, container_plan.h, network_conf.h. */
#include "test.h"

#include "base/buf.h"
#include "runtime/capability.h"
#include "runtime/container_plan.h"
#include "runtime/network_conf.h"
#include "runtime/oci_runtimes.h"
#include "runtime/sandbox_plan.h"
#include "runtime/seccomp.h"
#include "runtime/shim/oci.h"
#include "schema/value.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>

static struct cgroup_machine machine_v1(void)
{
    static struct cgroup_hierarchy hierarchies[] = {{STR_INIT("memory"), STR_INIT("/sys/fs/cgroup/memory")},
                                                    {STR_INIT("devices"), STR_INIT("/sys/fs/cgroup/devices")}};

    return (struct cgroup_machine){.hierarchies = {hierarchies, 2}};
}

static struct cri_v1_pod_sandbox_config pod(struct arena *arena)
{
    struct cri_v1_pod_sandbox_config config = {.hostname = STR("web-0"), .log_directory = STR("/var/log/pods/x")};

    config.linux_ = ARENA_NEW(arena, struct cri_v1_linux_pod_sandbox_config);
    config.linux_->cgroup_parent = STR("/kubepods/pod1");
    config.linux_->security_context = ARENA_NEW(arena, struct cri_v1_linux_sandbox_security_context);
    config.linux_->security_context->namespace_options = ARENA_NEW(arena, struct cri_v1_namespace_option);
    config.linux_->security_context->namespace_options->pid = CRI_V1_NAMESPACE_MODE_CONTAINER;
    return config;
}

TEST("runtime/sandbox_plan/namespaces of its own")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cri_v1_pod_sandbox_config config = pod(arena);
    struct cgroup_machine machine = machine_v1();
    struct shim_sandbox_plan plan;

    CHECK_OK(sandbox_plan_make(arena, &config, STR("s1"), &machine, STR("node"), &plan));
    CHECK_INT(plan.namespaces, CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC);
    CHECK_STR(plan.hostname, "web-0");
    CHECK_INT(plan.shm_bytes, 64 << 20);
    CHECK_INT(plan.oom_score_adj, -998);
    CHECK_STR(plan.cgroups.entries.items[0].directory, "/sys/fs/cgroup/memory/kubepods/pod1/s1");
    config.linux_->security_context->namespace_options->pid = CRI_V1_NAMESPACE_MODE_POD;
    CHECK_OK(sandbox_plan_make(arena, &config, STR("s1"), &machine, STR("node"), &plan));
    CHECK(plan.namespaces & CLONE_NEWPID);
}

TEST("runtime/sandbox_plan/the host's namespaces")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cri_v1_pod_sandbox_config config = pod(arena);
    struct cgroup_machine machine = machine_v1();
    struct shim_sandbox_plan plan;

    *config.linux_->security_context->namespace_options = (struct cri_v1_namespace_option){
        .network = CRI_V1_NAMESPACE_MODE_NODE, .pid = CRI_V1_NAMESPACE_MODE_NODE, .ipc = CRI_V1_NAMESPACE_MODE_NODE};
    CHECK_OK(sandbox_plan_make(arena, &config, STR("s1"), &machine, STR("node"), &plan));
    CHECK_INT(plan.namespaces, 0);
    CHECK_STR(plan.hostname, "");
    CHECK_INT(plan.shm_bytes, 0);
    CHECK_INT(plan.sysctls.len, 0);
}

TEST("runtime/sandbox_plan/sysctls in both spellings, and none that leave /proc/sys")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str path;

    CHECK_OK(sandbox_sysctl_path(arena, STR("net.ipv4.ip_forward"), &path));
    CHECK_STR(path, "net/ipv4/ip_forward");
    CHECK_OK(sandbox_sysctl_path(arena, STR("net/ipv4/conf/eth0.1/forwarding"), &path));
    CHECK_STR(path, "net/ipv4/conf/eth0.1/forwarding");
    CHECK_OK(sandbox_sysctl_path(arena, STR("net.ipv4.conf.eth0/1.forwarding"), &path));
    CHECK_STR(path, "net/ipv4/conf/eth0.1/forwarding");
    CHECK_ERROR(sandbox_sysctl_path(arena, STR("../../etc/passwd"), &path), "invalid sysctl");
    CHECK_ERROR(sandbox_sysctl_path(arena, STR("net/../../x"), &path), "invalid sysctl");
    CHECK_ERROR(sandbox_sysctl_path(arena, STR("net..x"), &path), "invalid sysctl");
}

TEST("runtime/sandbox_plan/what can't be had is refused")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cri_v1_pod_sandbox_config config = pod(arena);
    struct cri_v1_user_namespace user = {.mode = CRI_V1_NAMESPACE_MODE_POD};
    struct cgroup_machine machine = machine_v1();
    struct shim_sandbox_plan plan;

    config.linux_->security_context->namespace_options->userns_options = &user;
    CHECK_ERROR(sandbox_plan_make(arena, &config, STR("s1"), &machine, STR("n"), &plan), "user namespaces");
    config = pod(arena);
    config.hostname = STR("a-name-that-is-longer-than-the-sixty-four-bytes-that-the-kernel-takes");
    CHECK_ERROR(sandbox_plan_make(arena, &config, STR("s1"), &machine, STR("n"), &plan), "longer than 64");
}

/* A container of a busybox-like image. */
struct scene {
    struct arena *arena;
    struct cri_v1_pod_sandbox_config pod;
    struct cri_v1_container_config config;
    struct cri_v1_linux_container_config linux_config;
    struct cri_v1_linux_container_security_context security;
    struct cri_v1_namespace_option namespaces;
    struct image_config image;
    struct snapshot_mount snapshot;
    struct cgroup_machine machine;
    struct container_facts facts;
    struct str env[2], cmd[1], entrypoint[1], layers[2];
};

static struct scene *scene(struct arena *arena)
{
    struct scene *scene = ARENA_NEW(arena, struct scene);

    scene->arena = arena;
    scene->pod = pod(arena);
    scene->env[0] = STR("PATH=/bin");
    scene->env[1] = STR("A=image");
    scene->cmd[0] = STR("cmd");
    scene->entrypoint[0] = STR("entry");
    scene->image = (struct image_config){.env = {scene->env, 2}, .cmd = {scene->cmd, 1},
                                         .entrypoint = {scene->entrypoint, 1}, .user = STR("nginx"),
                                         .working_dir = STR("/srv")};
    scene->layers[0] = STR("7");
    scene->layers[1] = STR("3");
    scene->snapshot = (struct snapshot_mount){STR("/images/layers"), scene->layers, 2, STR("/c/upper"), STR("/c/work")};
    scene->machine = machine_v1();
    scene->namespaces.pid = CRI_V1_NAMESPACE_MODE_CONTAINER;
    scene->security.namespace_options = &scene->namespaces;
    scene->linux_config.security_context = &scene->security;
    scene->config.linux_ = &scene->linux_config;
    scene->facts = (struct container_facts){.id = STR("c1"), .sandbox = &scene->pod, .image = &scene->image,
                                            .snapshot = &scene->snapshot, .machine = &scene->machine,
                                            .directory = STR("/run/c1"), .sandbox_directory = STR("/run/s1"),
                                            .hostname = STR("web-0")};
    return scene;
}

static struct shim_container_plan make(struct scene *scene)
{
    struct shim_container_plan plan;

    CHECK_OK(container_plan_make(scene->arena, &scene->config, &scene->facts, &plan));
    return plan;
}

static struct str joined(struct arena *arena, const struct str_list *list)
{
    OWNED(buf_done) struct buf text = {0};

    LIST_EACH(item, list) {
        buf_printf(&text, "%s%.*s", text.n > 0 ? " " : "", STR_ARG(*item));
    }
    return arena_str(arena, buf_str(&text));
}

static const struct str_list *made_args(struct scene *scene)
{
    struct str_list *args = ARENA_NEW(scene->arena, struct str_list);

    *args = make(scene).process.args;
    return args;
}

TEST("runtime/container_plan/command and args, as Kubernetes has them")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct scene *it = scene(arena);
    struct str command[] = {STR("sh")}, args[] = {STR("-c"), STR("true")};

    CHECK_STR(joined(arena, made_args(it)), "entry cmd");
    it->config.args = (struct str_list){args, 2};
    CHECK_STR(joined(arena, made_args(it)), "entry -c true");
    it->config.command = (struct str_list){command, 1};
    CHECK_STR(joined(arena, made_args(it)), "sh -c true");
    it->config.args = (struct str_list){0};
    CHECK_STR(joined(arena, made_args(it)), "sh");
    it->config.command = (struct str_list){0};
    it->image.cmd = it->image.entrypoint = (struct str_list){0};
    struct shim_container_plan plan;

    CHECK_ERROR(container_plan_make(arena, &it->config, &it->facts, &plan), "no command specified");
}

TEST("runtime/container_plan/environment, directory and user")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct scene *it = scene(arena);
    struct cri_v1_key_value envs[] = {{STR("A"), STR("pod")}, {STR("B"), STR("")}};
    struct cri_v1_int64_value user = {1000}, group = {3000};
    int64_t groups[] = {5000};

    it->config.envs.items = envs;
    it->config.envs.len = 2;
    struct shim_container_plan plan = make(it);

    CHECK_STR(joined(arena, &plan.process.env), "PATH=/bin HOSTNAME=web-0 A=pod B=");
    CHECK_STR(plan.process.cwd, "/srv");
    CHECK_STR(plan.process.user, "nginx");
    CHECK(!plan.process.has_uid);
    it->security.run_as_user = &user;
    it->security.run_as_group = &group;
    it->security.supplemental_groups.items = groups;
    it->security.supplemental_groups.len = 1;
    it->config.working_dir = STR("/tmp");
    it->config.tty = true;
    plan = make(it);
    CHECK(plan.process.has_uid && plan.process.uid == 1000 && plan.process.has_gid && plan.process.gid == 3000);
    CHECK_INT(plan.process.groups.items[0], 5000);
    CHECK_STR(plan.process.cwd, "/tmp");
    CHECK(str_contains(joined(arena, &plan.process.env), STR("TERM=xterm")));
    it->security.run_as_user = NULL;
    CHECK_ERROR(container_plan_make(arena, &it->config, &it->facts, &plan), "user group is specified without user");
}

TEST("runtime/container_plan/capabilities")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct scene *it = scene(arena);
    struct str add[] = {STR("NET_ADMIN")}, drop[] = {STR("ALL")}, bad[] = {STR("FLY")};
    struct cri_v1_capability capability = {.add_capabilities = {add, 1}, .drop_capabilities = {drop, 1}};

    CHECK_INT(make(it).process.caps_bounding, 0xa80425fb);
    it->security.capabilities = &capability;
    CHECK_INT(make(it).process.caps_effective, 1 << 12);
    it->security.privileged = true;
    CHECK_INT(make(it).process.caps_effective, CAPABILITIES_ALL);
    it->security.privileged = false;
    capability.add_capabilities.items = bad;
    struct shim_container_plan plan;

    CHECK_ERROR(container_plan_make(arena, &it->config, &it->facts, &plan), "unknown capability \"FLY\"");
}

static const struct shim_mount *mount_at(const struct shim_container_plan *plan, const char *target)
{
    LIST_EACH(mount, &plan->mounts) {
        if (str_is(mount->target, target)) {
            return mount;
        }
    }
    test_fail(__FILE__, __LINE__, "nothing is mounted at %s", target);
}

TEST("runtime/container_plan/mounts come by depth, and the pod's own before the usual ones")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct scene *it = scene(arena);
    struct cri_v1_mount mounts[] = {
        {.container_path = STR("/a/b/c"), .host_path = STR("/h1"), .readonly = true},
        {.container_path = STR("/a"), .host_path = STR("/h2"),
         .propagation = CRI_V1_MOUNT_PROPAGATION_PROPAGATION_BIDIRECTIONAL},
        {.container_path = STR("/etc/hosts"), .host_path = STR("/h3")},
    };

    it->config.mounts.items = mounts;
    it->config.mounts.len = 3;
    struct shim_container_plan plan = make(it);
    size_t last = plan.mounts.len - 1;

    CHECK_STR(plan.mounts.items[last].target, "/a/b/c");
    CHECK_INT(plan.mounts.items[last].flags, MS_RDONLY);
    CHECK_STR(plan.mounts.items[last - 2].target, "/a");
    CHECK_INT(plan.mounts.items[last - 2].propagation, PLAN_SHARED);
    CHECK_STR(mount_at(&plan, "/etc/hosts")->source, "/h3");
    CHECK_STR(mount_at(&plan, "/etc/resolv.conf")->source, "/run/s1/resolv.conf");
    CHECK_INT(mount_at(&plan, "/sys")->flags & MS_RDONLY, MS_RDONLY);
    CHECK_INT(mount_at(&plan, "/dev/shm")->kind, PLAN_MOUNT_SHM);
    CHECK_STR(plan.rootfs, "/run/c1/root");
    CHECK_STR(joined(arena, &plan.layers), "7 3");
    it->security.privileged = true;
    plan = make(it);
    CHECK_INT(mount_at(&plan, "/sys")->flags & MS_RDONLY, 0);
    mounts[0].recursive_read_only = true;
    mounts[0].readonly = false;
    CHECK_ERROR(container_plan_make(arena, &it->config, &it->facts, &plan), "recursive_read_only conflicts");
    mounts[0].readonly = true;
    mounts[0].propagation = CRI_V1_MOUNT_PROPAGATION_PROPAGATION_HOST_TO_CONTAINER;
    CHECK_ERROR(container_plan_make(arena, &it->config, &it->facts, &plan), "requires private propagation");
    mounts[0].recursive_read_only = false;
    mounts[0].host_path = STR("relative");
    CHECK_ERROR(container_plan_make(arena, &it->config, &it->facts, &plan), "no absolute path on the host");
}

TEST("runtime/container_plan/processes: own, the pod's, the host's, another's")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct scene *it = scene(arena);
    struct shim_container_plan plan;

    CHECK_INT(make(it).pid_namespace, PLAN_PID_OWN);
    it->namespaces.pid = CRI_V1_NAMESPACE_MODE_NODE;
    CHECK_INT(make(it).pid_namespace, PLAN_PID_HOST);
    it->namespaces.pid = CRI_V1_NAMESPACE_MODE_TARGET;
    it->namespaces.target_id = STR("c0");
    CHECK_INT(make(it).pid_namespace, PLAN_PID_TARGET);
    CHECK_STR(make(it).pid_target, "c0");
    it->namespaces.pid = CRI_V1_NAMESPACE_MODE_POD;
    CHECK_ERROR(container_plan_make(arena, &it->config, &it->facts, &plan), "does not share its process namespace");
    it->pod.linux_->security_context->namespace_options->pid = CRI_V1_NAMESPACE_MODE_POD;
    CHECK_INT(make(it).pid_namespace, PLAN_PID_SANDBOX);
}

TEST("runtime/container_plan/devices that may be used, on v1")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct scene *it = scene(arena);
    struct shim_device device = {STR("/dev/fuse"), S_IFCHR | 0666, 10, 229, 0, 0};
    struct cgroup_settings settings;
    bool has_null = false, has_fuse = false;

    it->facts.devices.items = &device;
    it->facts.devices.len = 1;
    struct shim_container_plan plan = make(it);

    container_plan_settings(arena, &it->config, &plan, false, &settings);
    CHECK_STR(settings.items[0].file, "devices.deny");
    CHECK_STR(settings.items[0].value, "a");
    LIST_EACH(setting, &settings) {
        has_null |= str_is(setting->value, "c 1:3 rwm");
        has_fuse |= str_is(setting->value, "c 10:229 rwm");
    }
    CHECK(has_null && has_fuse);
    it->security.privileged = true;
    container_plan_settings(arena, &it->config, &plan, false, &settings);
    CHECK_INT(settings.len, 0);
}

TEST("runtime/container_signal/names and numbers")
{
    CHECK_INT(container_signal_parse(STR("SIGTERM")), SIGTERM);
    CHECK_INT(container_signal_parse(STR("quit")), SIGQUIT);
    CHECK_INT(container_signal_parse(STR("9")), SIGKILL);
    CHECK_INT(container_signal_parse(STR("SIGRTMIN+3")), 37);
    CHECK_INT(container_signal_parse(STR("RTMAX-1")), 63);
    CHECK_INT(container_signal_parse(STR("SIGRTMIN-1")), 0);
    CHECK_INT(container_signal_parse(STR("SIGNONE")), 0);
    CHECK_INT(container_signal_parse(STR("65")), 0);
    CHECK_INT(container_signal_parse(STR("")), 0);
    CHECK_INT(container_signal_of(CRI_V1_SIGNAL_SIGNAL_SIGTERM), SIGTERM);
    CHECK_INT(container_signal_of(CRI_V1_SIGNAL_SIGNAL_SIGRTMIN), 34);
    CHECK_INT(container_signal_of(CRI_V1_SIGNAL_SIGNAL_SIGRTMAX), 64);
    CHECK_INT(container_signal_of(CRI_V1_SIGNAL_SIGNAL_SIGXFSZ), SIGXFSZ);
    CHECK_INT(container_signal_of(1000), 0);
    CHECK_INT(container_signal_to_cri(SIGTERM), CRI_V1_SIGNAL_SIGNAL_SIGTERM);
    CHECK_INT(container_signal_to_cri(40), CRI_V1_SIGNAL_SIGNAL_SIGRTMINPLUS6);
}

TEST("runtime/network_conf/made of the node's addresses")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct network_conf conf = {.cluster_cidrs = STR("10.42.0.0/16"), .addresses_dir = STR("/d/networks")};
    struct str text;

    CHECK_OK(network_conf_text(arena, &conf, STR("10.42.3.0/24,fd00::/64"), &text));
    CHECK_STR(text, "{\"cniVersion\":\"1.0.0\",\"name\":\"c8s\",\"plugins\":[{\"type\":\"c8s-cni\","
                    "\"capabilities\":{\"portMappings\":true},\"nonMasqueradeCIDRs\":[\"10.42.0.0/16\"],"
                    "\"ipam\":{\"type\":\"host-local\",\"dataDir\":\"/d/networks\",\"ranges\":"
                    "[[{\"subnet\":\"10.42.3.0/24\"}],[{\"subnet\":\"fd00::/64\"}]]}}]}\n");
    CHECK_ERROR(network_conf_text(arena, &conf, STR("10.42.3.0/33"), &text), "invalid CIDR");
    CHECK_ERROR(network_conf_text(arena, &conf, STR("\"},{"), &text), "invalid CIDR");
}

TEST("runtime/oci/a plan as config.json")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct scene *s = scene(arena);
    struct cri_v1_mount mount = {.container_path = STR("/data"), .host_path = STR("/srv/data"), .readonly = true,
                                 .propagation = CRI_V1_MOUNT_PROPAGATION_PROPAGATION_BIDIRECTIONAL};
    struct seccomp_profile profile;
    struct shim_container_plan plan;
    struct user_identity who = {.uid = 33, .gid = 34, .home = STR("/var/www")};
    struct oci_facts facts = {.who = &who, .pause = 77, .oom_score_adj = 5};
    struct value *spec;
    struct str json;

    seccomp_profile_default(arena, capabilities_default(), &profile);
    s->config.mounts.items = &mount;
    s->config.mounts.len = 1;
    s->facts.oci_runtime = STR("/usr/sbin/runc");
    s->facts.seccomp_json = seccomp_profile_encode(arena, &profile);
    CHECK_OK(container_plan_make(arena, &s->config, &s->facts, &plan));
    CHECK_STR(plan.oci_root, "/run/c1/oci");
    CHECK_OK(oci_spec(arena, &plan, &facts, &json));
    CHECK_OK(value_read_json(arena, json, &spec, NULL));
    const struct value *linux_value = value_find(spec, STR("linux"));

    CHECK_STR(value_json(arena, value_find(value_find(spec, STR("process")), STR("args"))), "[\"entry\",\"cmd\"]");
    CHECK_STR(value_json(arena, value_find(value_find(spec, STR("process")), STR("user"))),
              "{\"additionalGids\":[],\"gid\":34,\"uid\":33}");
    CHECK(str_contains(json, STR("\"HOME=/var/www\"")));
    CHECK_STR(value_str_at(linux_value, "cgroupsPath"), "/kubepods/pod1/c1");
    CHECK_STR(value_str_at(linux_value, "rootfsPropagation"), "rshared");
    CHECK(str_contains(json, STR("{\"path\":\"/proc/77/ns/net\",\"type\":\"network\"}")));
    CHECK(str_contains(json, STR("{\"type\":\"pid\"}")));
    CHECK(str_contains(json, STR("\"source\":\"/run/c1/shm\",\"type\":\"bind\"}")));
    CHECK(str_contains(json, STR("{\"destination\":\"/data\",\"options\":[\"ro\",\"rbind\",\"rshared\"],"
                                 "\"source\":\"/srv/data\",\"type\":\"bind\"}")));
    CHECK_STR(value_str_at(value_find(linux_value, STR("seccomp")), "defaultAction"), "SCMP_ACT_ERRNO");
    plan.seccomp_json = STR("{broken");
    CHECK_ERROR(oci_spec(arena, &plan, &facts, &json), "");
}

TEST("runtime/oci/handlers are programs that are there")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str_list names = {0};
    struct str program;

    CHECK_OK(oci_runtime_find(arena, STR("shell=sh,absent,true=/bin/true"), STR(""), &program));
    CHECK_STR(program, "");
    CHECK_OK(oci_runtime_find(arena, STR("shell=sh,absent,true=/bin/true"), STR("shell"), &program));
    CHECK(str_has_suffix(program, STR("bin/sh")));
    CHECK_OK(oci_runtime_find(arena, STR("shell=sh,absent,true=/bin/true"), STR("true"), &program));
    CHECK_STR(program, "/bin/true");
    CHECK_ERROR(oci_runtime_find(arena, STR("shell=sh,absent"), STR("absent"), &program),
                "no runtime for \"absent\" is configured: program absent is not there");
    CHECK_ERROR(oci_runtime_find(arena, STR("shell=sh"), STR("sh"), &program),
                "no runtime for \"sh\" is configured");
    oci_runtime_list(arena, STR("shell=sh,absent,true=/bin/true"), &names);
    CHECK_INT(names.len, 2);
    CHECK_STR(names.items[1], "true");
}
