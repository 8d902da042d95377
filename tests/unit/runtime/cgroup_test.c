#include "runtime/cgroup.h"

#include "base/buf.h"
#include "runtime/cgroup_devices.h"
#include "runtime/usage.h"
#include "test.h"

#include <linux/bpf.h>
#include <string.h>

static const char hybrid[] =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:3 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
static const char unified[] = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
                              "broken line\n";

TEST("runtime/cgroup/a hybrid machine's v1 hierarchies are used, its v2 is not")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cgroup_machine machine;
    struct shim_cgroups cgroups;

    cgroup_machine_parse(arena, str_of(hybrid), &machine);
    CHECK(!machine.is_v2);
    cgroup_place(arena, &machine, STR("/kubepods/pod1/c1"), &cgroups);
    CHECK_INT(cgroups.entries.len, 2);
    CHECK_STR(cgroups.entries.items[0].directory, "/sys/fs/cgroup/cpu,cpuacct/kubepods/pod1/c1");
    CHECK_STR(cgroups.entries.items[0].controller, "cpu,cpuacct");
    CHECK_STR(cgroups.entries.items[1].directory, "/sys/fs/cgroup/memory/kubepods/pod1/c1");
}

TEST("runtime/cgroup/a v2 machine has one hierarchy without a controller")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cgroup_machine machine;
    struct shim_cgroups cgroups;

    cgroup_machine_parse(arena, str_of(unified), &machine);
    CHECK(machine.is_v2);
    cgroup_place(arena, &machine, STR("kubepods/c1"), &cgroups);
    CHECK_INT(cgroups.entries.len, 1);
    CHECK_STR(cgroups.entries.items[0].directory, "/sys/fs/cgroup/kubepods/c1");
    CHECK_STR(cgroups.entries.items[0].controller, "");
}

TEST("runtime/cgroup/a machine without cgroups")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cgroup_machine machine;

    cgroup_machine_parse(arena, STR("1 0 0:1 / / rw - ext4 /dev/vda rw\n"), &machine);
    CHECK(!machine.is_v2);
    CHECK_INT(machine.hierarchies.len, 0);
}

/* "cpu/cpu.shares=512 memory/..." of all settings. */
static struct str settings(struct arena *arena, bool is_v2, struct cri_v1_linux_container_resources resources)
{
    OWNED(buf_done) struct buf text = {0};
    struct cgroup_settings all;

    cgroup_settings_plan(arena, is_v2, &resources, &all);
    LIST_EACH(setting, &all) {
        buf_printf(&text, "%s%.*s/%.*s=%.*s", text.n > 0 ? " " : "", STR_ARG(setting->controller),
                   STR_ARG(setting->file), STR_ARG(setting->value));
    }
    return arena_str(arena, buf_str(&text));
}

TEST("runtime/cgroup/limits in both versions' words")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cri_v1_hugepage_limit page = {STR("2MB"), 4 << 20};
    struct cri_v1_linux_container_resources resources = {
        .cpu_period = 100000, .cpu_quota = 50000, .cpu_shares = 1024, .memory_limit_in_bytes = 64 << 20,
        .memory_swap_limit_in_bytes = 96 << 20, .cpuset_cpus = STR("0-1"),
        .hugepage_limits = {.items = &page, .len = 1}};

    CHECK_STR(settings(arena, false, resources),
              "cpu/cpu.shares=1024 cpu/cpu.cfs_period_us=100000 cpu/cpu.cfs_quota_us=50000 "
              "memory/memory.limit_in_bytes=67108864 memory/memory.memsw.limit_in_bytes=100663296 "
              "hugetlb/hugetlb.2MB.limit_in_bytes=4194304 cpuset/cpuset.cpus=0-1");
    CHECK_STR(settings(arena, true, resources),
              "/cpu.weight=100 /cpu.max=50000 100000 /memory.max=67108864 /memory.swap.max=33554432 "
              "/hugetlb.2MB.max=4194304 /cpuset.cpus=0-1");
    CHECK_STR(settings(arena, true, (struct cri_v1_linux_container_resources){.cpu_quota = -1}), "/cpu.max=max 100000");
    CHECK_STR(settings(arena, false, (struct cri_v1_linux_container_resources){0}), "");
}

TEST("runtime/cgroup/what v2 is told by name, but no path")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cri_v1_linux_container_resources resources = {0};
    typeof(*resources.unified.items) entries[] = {{STR("../escape"), STR("1")}, {STR("memory.oom.group"), STR("1")}};

    resources.unified.items = entries;
    resources.unified.len = 2;
    CHECK_STR(settings(arena, true, resources), "/memory.oom.group=1");
}

TEST("runtime/cgroup/weights for shares")
{
    CHECK_INT(cgroup_cpu_weight(0), 1);
    CHECK_INT(cgroup_cpu_weight(2), 1);
    CHECK_INT(cgroup_cpu_weight(1024), 100);
    CHECK_INT(cgroup_cpu_weight(262144), 10000);
    CHECK_INT(cgroup_cpu_weight(999999999), 10000);
    for (uint64_t shares = 2; shares < 10000; shares++) {
        CHECK(cgroup_cpu_weight(shares) <= cgroup_cpu_weight(shares + 1));
    }
}

TEST("runtime/usage/interfaces and counters")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct usage_interfaces interfaces;
    uint64_t value = 0;

    usage_interfaces_parse(arena,
                           STR("Inter-|   Receive  |  Transmit\n face |bytes    packets errs|bytes\n"
                               "    lo:  100  1 0 0 0 0 0 0  100 1 0 0 0 0 0 0\n"
                               "  eth0: 1296 16 3 0 0 0 0 0 1160 14 5 0 0 0 0 0\n short: 1 2\n"),
                           &interfaces);
    CHECK_INT(interfaces.len, 1);
    CHECK_STR(interfaces.items[0].name, "eth0");
    CHECK_INT(interfaces.items[0].rx_bytes, 1296);
    CHECK_INT(interfaces.items[0].rx_errors, 3);
    CHECK_INT(interfaces.items[0].tx_bytes, 1160);
    CHECK_INT(interfaces.items[0].tx_errors, 5);
    CHECK(usage_find(STR("total_rss 12\nrss 7\n"), "rss", &value));
    CHECK_INT(value, 7);
    CHECK(!usage_find(STR("rss many\n"), "rss", &value));
    CHECK(!usage_find(STR(""), "rss", &value));
}

/* Runs the few kinds of instructions that the program has, as the kernel would. */
static int64_t execute(struct str program, const struct bpf_cgroup_dev_ctx *context)
{
    const struct bpf_insn *code = (const struct bpf_insn *)(const void *)program.p;
    uint64_t registers[11] = {0};

    for (size_t at = 0, steps = 0; at < program.n / sizeof(*code) && steps < 10000; at++, steps++) {
        uint64_t *to = &registers[code[at].dst_reg], from = registers[code[at].src_reg];
        uint32_t loaded;

        switch (code[at].code) {
        case BPF_LDX | BPF_MEM | BPF_W:
            memcpy(&loaded, (const char *)context + code[at].off, sizeof(loaded));
            *to = loaded;
            break;
        case BPF_ALU64 | BPF_MOV | BPF_X:
            *to = from;
            break;
        case BPF_ALU64 | BPF_MOV | BPF_K:
            *to = (uint64_t)code[at].imm;
            break;
        case BPF_ALU64 | BPF_AND | BPF_K:
            *to &= (uint64_t)code[at].imm;
            break;
        case BPF_ALU64 | BPF_RSH | BPF_K:
            *to >>= code[at].imm;
            break;
        case BPF_JMP | BPF_JNE | BPF_K:
            at += *to != (uint64_t)code[at].imm ? (size_t)code[at].off : 0;
            break;
        case BPF_JMP | BPF_EXIT:
            return (int64_t)registers[0];
        default:
            test_fail(__FILE__, __LINE__, "instruction %x", code[at].code);
        }
    }
    test_fail(__FILE__, __LINE__, "the program does not end");
}

TEST("runtime/cgroup/devices by program")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct shim_device devices[] = {{.path = STR("/dev/null"), .mode = 0020666, .major = 1, .minor = 3}};
    struct shim_container_plan plan = {.devices = {.items = devices, .len = 1}};
    struct device_rules rules;
    struct cgroup_settings settings = {0};

    cgroup_devices_plan(arena, &plan, &rules);
    cgroup_devices_settings(arena, &rules, &settings);
    CHECK_STR(settings.items[1].value, "c *:* m");
    CHECK_STR(settings.items[settings.len - 2].value, "c 136:* rwm");
    CHECK_STR(settings.items[settings.len - 1].value, "c 1:3 rwm");
    struct str program = cgroup_devices_program(arena, &rules);
    static const struct {
        unsigned access, type;
        uint32_t major, minor;
        int64_t wanted;
    } rows[] = {
        {BPF_DEVCG_ACC_READ, BPF_DEVCG_DEV_CHAR, 1, 3, 1},
        {BPF_DEVCG_ACC_READ | BPF_DEVCG_ACC_WRITE, BPF_DEVCG_DEV_CHAR, 1, 3, 1},
        {BPF_DEVCG_ACC_READ, BPF_DEVCG_DEV_BLOCK, 1, 3, 0},
        {BPF_DEVCG_ACC_READ, BPF_DEVCG_DEV_CHAR, 1, 1, 0},
        {BPF_DEVCG_ACC_READ, BPF_DEVCG_DEV_CHAR, 2, 3, 0},
        {BPF_DEVCG_ACC_MKNOD, BPF_DEVCG_DEV_BLOCK, 8, 0, 1},
        {BPF_DEVCG_ACC_MKNOD | BPF_DEVCG_ACC_READ, BPF_DEVCG_DEV_BLOCK, 8, 0, 0},
        {BPF_DEVCG_ACC_WRITE, BPF_DEVCG_DEV_CHAR, 136, 77, 1},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bpf_cgroup_dev_ctx context = {rows[i].access << 16 | rows[i].type, rows[i].major, rows[i].minor};

        CHECK_INT(execute(program, &context), rows[i].wanted);
    }
}
