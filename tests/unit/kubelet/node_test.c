/* The Node the kubelet reports, and its flags. */
#include "test.h"

#include "base/env.h"
#include "kubelet/kubelet_flags.h"
#include "kubelet/node_status.h"
#include "schema/copy.h"
#include "schema/map_of.h"

static const char *const args_good[] = {
    "--node-labels=zone=a,disk=ssd", "--register-with-taints=k=v:NoSchedule,only:NoExecute",
    "--system-reserved=cpu=500m,memory=1Gi", "--eviction-hard=memory.available<200Mi,nodefs.available<5%",
    "--cluster-dns=10.43.0.10", "--node-ip=10.0.0.7", "--max-pods=20", "--container-log-max-size=1Mi",
};

TEST("kubelet/kubelet_flags/read labels, taints, reservations and thresholds")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct kubelet_settings settings;

    CHECK_OK(kubelet_settings_read((char *const *)(uintptr_t)args_good, COUNT_OF(args_good), arena, &settings));
    CHECK_STR(str_map_get(&settings.options.node_labels, STR("zone")), "a");
    CHECK_INT(settings.options.taints.len, 2);
    CHECK_STR(settings.options.taints.items[0].value, "v");
    CHECK_STR(settings.options.taints.items[1].key, "only");
    CHECK_STR(settings.options.taints.items[1].effect, "NoExecute");
    CHECK_INT(settings.options.eviction.len, 2);
    CHECK_INT(settings.options.eviction.items[0].value, 200 << 20);
    CHECK(settings.options.eviction.items[1].percent == 0.05);
    CHECK_STR(settings.options.cluster_dns.items[0], "10.43.0.10");
    CHECK_STR(settings.options.node_ip, "10.0.0.7");
    CHECK_INT(settings.options.max_pods, 20);
    CHECK_INT(settings.options.log_max_bytes, 1 << 20);
    CHECK(settings.options.register_node);
}

TEST("kubelet/kubelet_flags/say what is wrong with a flag")
{
    static const struct {
        const char *arg, *message;
    } rows[] = {
        {"--node-labels=novalue", "must be formatted as key=value"},
        {"--register-with-taints=k=v:Sometimes", "invalid taint spec: k=v:Sometimes"},
        {"--eviction-hard=memory.available>1Mi", "invalid eviction threshold syntax"},
        {"--eviction-hard=moon.available<1Mi", "unsupported eviction signal moon.available"},
        {"--eviction-hard=memory.available<101%", "must be positive and at most 100%"},
        {"--eviction-soft=memory.available<1Gi", "grace period must be specified for the soft eviction threshold"},
        {"--authorization-mode=RBAC", "unknown authorization mode RBAC"},
        {"--container-log-max-files=1", "must be at least 2"},
        {"--no-such-flag", "unknown flag: --no-such-flag"},
        {"positional", "unknown command positional"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        const char *args[] = {rows[i].arg};
        struct kubelet_settings settings;

        CHECK_ERROR(kubelet_settings_read((char *const *)(uintptr_t)args, 1, arena, &settings), rows[i].message);
    }
}

TEST("kubelet/kubelet_flags/take a KubeletConfiguration for flags")
{
    static const char yaml[] = "apiVersion: kubelet.config.k8s.io/v1beta1\n"
                               "kind: KubeletConfiguration\n"
                               "maxPods: 7\n"
                               "clusterDNS: [10.0.0.10, 10.0.0.11]\n"
                               "authentication: {anonymous: {enabled: false}, x509: {clientCAFile: /ca.crt}}\n"
                               "evictionHard: {memory.available: 5%, nodefs.available: 1Gi}\n"
                               "systemReserved: {cpu: 100m}\n"
                               "syncFrequency: 30s\n"
                               "registerWithTaints: [{key: a, value: b, effect: NoSchedule}]\n";
    static const char *const wanted[] = {
        "--sync-frequency=30s", "--client-ca-file=/ca.crt", "--anonymous-auth=false",
        "--cluster-dns=10.0.0.10,10.0.0.11", "--max-pods=7", "--eviction-hard=memory.available<5%,nodefs.available<1Gi",
        "--system-reserved=cpu=100m", "--register-with-taints=a=b:NoSchedule",
    };
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str_list flags;

    CHECK_OK(kubelet_config_to_flags(str_of(yaml), arena, &flags));
    CHECK_INT(flags.len, COUNT_OF(wanted));
    for (size_t i = 0; i < flags.len; i++) {
        CHECK_STR(flags.items[i], wanted[i]);
    }
    CHECK_ERROR(kubelet_config_to_flags(STR("kind: Pod\napiVersion: v1\n"), arena, &flags), "no kind \"Pod\"");
}

TEST("kubelet/node_status/allocatable is what reservations and thresholds leave")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct kubelet_settings settings;
    struct host_facts facts = {.cpus = 4, .memory_bytes = INT64_C(8) << 30};
    struct host_fs_usage fs = {.capacity = INT64_C(100) << 30};
    struct quantity_map capacity, allocatable;

    CHECK_OK(kubelet_settings_read((char *const *)(uintptr_t)args_good, COUNT_OF(args_good), arena, &settings));
    node_amounts_make(arena, &facts, &fs, &settings.options, &capacity, &allocatable);
    CHECK_STR(quantity_map_get(&capacity, STR("cpu"))->text, "4");
    CHECK_STR(quantity_map_get(&allocatable, STR("cpu"))->text, "3500m");
    CHECK_STR(quantity_map_get(&capacity, STR("memory"))->text, "8Gi");
    CHECK_STR(quantity_map_get(&allocatable, STR("memory"))->text, "6968Mi"); /* 8192 - 1024 - 200 */
    CHECK_STR(quantity_map_get(&allocatable, STR("ephemeral-storage"))->text, "102005473280");
    CHECK_STR(quantity_map_get(&allocatable, STR("pods"))->text, "20");
}

static const struct core_v1_node_condition *ready_of(const struct core_v1_node_status *status)
{
    return node_condition_find(status, STR("Ready"));
}

TEST("kubelet/node_status/tell why the node is not ready, and since when")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct kubelet kubelet = {.node_name = STR("n"), .runtime_name = STR("containerd"), .runtime_version = STR("1.6")};
    struct node_status_input input = {.kubelet = &kubelet, .now = 100 * ENV_SECOND};
    struct core_v1_node_status first, second, third;

    kubelet.runtime_problem = STR("container runtime is down");
    node_status_make(arena, &input, &first);
    CHECK_STR(ready_of(&first)->status, "False");
    CHECK_STR(ready_of(&first)->reason, "KubeletNotReady");
    CHECK_STR(ready_of(&first)->message, "container runtime is down");
    CHECK_STR(first.node_info.container_runtime_version, "containerd://1.6");
    kubelet.is_runtime_ready = true;
    kubelet.network_problem = STR("NetworkReady=false reason:NetworkPluginNotReady message:none");
    input.old = &first;
    input.now = 200 * ENV_SECOND;
    node_status_make(arena, &input, &second);
    CHECK_STR(ready_of(&second)->message, "container runtime network not ready: NetworkReady=false "
                                          "reason:NetworkPluginNotReady message:none");
    CHECK_INT(ready_of(&second)->last_transition_time.seconds, 100);
    CHECK_INT(ready_of(&second)->last_heartbeat_time.seconds, 200);
    kubelet.is_network_ready = true;
    input.old = &second;
    input.now = 300 * ENV_SECOND;
    input.pressure[EVICTION_DISK_PRESSURE] = true;
    node_status_make(arena, &input, &third);
    CHECK_STR(ready_of(&third)->status, "True");
    CHECK_INT(ready_of(&third)->last_transition_time.seconds, 300);
    CHECK_STR(node_condition_find(&third, STR("DiskPressure"))->reason, "KubeletHasDiskPressure");
    CHECK_STR(node_condition_find(&third, STR("MemoryPressure"))->status, "False");
    CHECK(node_status_differs(arena, &second, &third));
    input.old = &third;
    input.now = 400 * ENV_SECOND;
    node_status_make(arena, &input, &second);
    CHECK(!node_status_differs(arena, &second, &third)); /* only heartbeats */
}

TEST("kubelet/node_status/leave others' conditions and labels alone")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct kubelet kubelet = {.node_name = STR("n"), .facts = {.operating_system = STR("linux"),
                                                              .architecture = STR("amd64")}};
    struct core_v1_node wanted, node = {0};
    struct core_v1_node_status old = {0}, status;
    struct node_status_input input = {.kubelet = &kubelet, .old = &old, .now = ENV_SECOND};

    *LIST_ADD(arena, &old.conditions) =
        (struct core_v1_node_condition){.type = STR("NetworkUnavailable"), .status = STR("False")};
    node_status_make(arena, &input, &status);
    CHECK_STR(node_condition_find(&status, STR("NetworkUnavailable"))->status, "False");
    CHECK_INT(status.conditions.len, 5);
    node_object_make(arena, &kubelet, &wanted);
    str_map_set(arena, &node.metadata.labels, STR("mine"), STR("x"));
    CHECK(node_object_reconcile(arena, &wanted, &node));
    CHECK_STR(str_map_get(&node.metadata.labels, STR("mine")), "x");
    CHECK_STR(str_map_get(&node.metadata.labels, STR("kubernetes.io/hostname")), "n");
    CHECK(!node_object_reconcile(arena, &wanted, &node));
}
