#include "runtime/cgroup_devices.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TERMINAL_MAJOR = 136, ALL_ACCESS = DEVICE_MAKE | DEVICE_READ | DEVICE_WRITE };

/* The registers of the program. */
enum { R_RESULT, R_CONTEXT, R_TYPE, R_ACCESS, R_MAJOR, R_MINOR, R_SCRATCH };

void cgroup_devices_plan(struct arena *arena, const struct shim_container_plan *plan, struct device_rules *ret)
{
    static const struct device_rule always[] = {
        {.is_block = false, .any_major = true, .any_minor = true, .access = DEVICE_MAKE},
        {.is_block = true, .any_major = true, .any_minor = true, .access = DEVICE_MAKE},
        {.major = 5, .minor = 1, .access = ALL_ACCESS}, /* console */
        {.major = 5, .minor = 2, .access = ALL_ACCESS}, /* ptmx */
        {.major = TERMINAL_MAJOR, .any_minor = true, .access = ALL_ACCESS},
    };

    *ret = (struct device_rules){0};
    for (size_t i = 0; i < COUNT_OF(always); i++) {
        *LIST_ADD(arena, ret) = always[i];
    }
    LIST_EACH(device, &plan->devices) {
        *LIST_ADD(arena, ret) = (struct device_rule){.is_block = S_ISBLK(device->mode), .major = device->major,
                                                     .minor = device->minor, .access = ALL_ACCESS};
    }
}

static struct str line_of(struct arena *arena, const struct device_rule *rule)
{
    OWNED(buf_done) struct buf line = {0};

    buf_add_char(&line, rule->is_block ? 'b' : 'c');
    if (rule->any_major) {
        buf_printf(&line, " *:");
    } else {
        buf_printf(&line, " %u:", rule->major);
    }
    if (rule->any_minor) {
        buf_printf(&line, "* ");
    } else {
        buf_printf(&line, "%u ", rule->minor);
    }
    buf_printf(&line, "%s%s%s", rule->access & DEVICE_READ ? "r" : "", rule->access & DEVICE_WRITE ? "w" : "",
               rule->access & DEVICE_MAKE ? "m" : "");
    return arena_str(arena, buf_str(&line));
}

void cgroup_devices_settings(struct arena *arena, const struct device_rules *rules, struct cgroup_settings *ret)
{
    *LIST_ADD(arena, ret) = (struct cgroup_setting){STR("devices"), STR("devices.deny"), STR("a"), true};
    LIST_EACH(rule, rules) {
        *LIST_ADD(arena, ret) =
            (struct cgroup_setting){STR("devices"), STR("devices.allow"), line_of(arena, rule), true};
    }
}

static void emit(struct buf *program, uint8_t code, int to, int from, int16_t offset, int32_t value)
{
    struct bpf_insn instruction = {.code = code, .dst_reg = (uint8_t)to & 15, .src_reg = (uint8_t)from & 15,
                                   .off = offset, .imm = value};

    buf_add(program, &instruction, sizeof(instruction));
}

static void emit_load(struct buf *program, int to, size_t offset)
{
    emit(program, BPF_LDX | BPF_MEM | BPF_W, to, R_CONTEXT, (int16_t)offset, 0);
}

static void emit_rule(struct buf *program, const struct device_rule *rule)
{
    /* How many instructions are left after each comparison until the next rule. */
    int16_t left = (int16_t)(5 + !rule->any_major + !rule->any_minor);

    emit(program, BPF_JMP | BPF_JNE | BPF_K, R_TYPE, 0, left--,
         rule->is_block ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR);
    emit(program, BPF_ALU64 | BPF_MOV | BPF_X, R_SCRATCH, R_ACCESS, 0, 0);
    emit(program, BPF_ALU64 | BPF_AND | BPF_K, R_SCRATCH, 0, 0, ALL_ACCESS & ~(int)rule->access);
    left = (int16_t)(left - 2);
    emit(program, BPF_JMP | BPF_JNE | BPF_K, R_SCRATCH, 0, left--, 0);
    if (!rule->any_major) {
        emit(program, BPF_JMP | BPF_JNE | BPF_K, R_MAJOR, 0, left--, (int32_t)rule->major);
    }
    if (!rule->any_minor) {
        emit(program, BPF_JMP | BPF_JNE | BPF_K, R_MINOR, 0, left--, (int32_t)rule->minor);
    }
    emit(program, BPF_ALU64 | BPF_MOV | BPF_K, R_RESULT, 0, 0, 1);
    emit(program, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

struct str cgroup_devices_program(struct arena *arena, const struct device_rules *rules)
{
    OWNED(buf_done) struct buf program = {0};

    emit_load(&program, R_TYPE, offsetof(struct bpf_cgroup_dev_ctx, access_type));
    emit(&program, BPF_ALU64 | BPF_MOV | BPF_X, R_ACCESS, R_TYPE, 0, 0);
    emit(&program, BPF_ALU64 | BPF_AND | BPF_K, R_TYPE, 0, 0, 0xffff);
    emit(&program, BPF_ALU64 | BPF_RSH | BPF_K, R_ACCESS, 0, 0, 16);
    emit_load(&program, R_MAJOR, offsetof(struct bpf_cgroup_dev_ctx, major));
    emit_load(&program, R_MINOR, offsetof(struct bpf_cgroup_dev_ctx, minor));
    LIST_EACH(rule, rules) {
        emit_rule(&program, rule);
    }
    emit(&program, BPF_ALU64 | BPF_MOV | BPF_K, R_RESULT, 0, 0, 0);
    emit(&program, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
    return arena_str(arena, buf_str(&program));
}

static int bpf(int command, union bpf_attr *attributes)
{
    return (int)syscall(SYS_bpf, command, attributes, sizeof(*attributes));
}

static struct status *attach(const char *directory, int program)
{
    union bpf_attr attributes = {.attach_type = BPF_CGROUP_DEVICE, .attach_flags = BPF_F_ALLOW_MULTI};
    int cgroup = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (cgroup < 0) {
        return status_errno(errno, "cgroup %s", directory);
    }
    attributes.target_fd = (uint32_t)cgroup;
    attributes.attach_bpf_fd = (uint32_t)program;
    int failed = bpf(BPF_PROG_ATTACH, &attributes) != 0 ? errno : 0;

    close(cgroup);
    return failed != 0 ? status_errno(failed, "holding cgroup %s to its devices", directory) : NULL;
}

struct status *cgroup_devices_attach(const struct shim_cgroups *cgroups, const struct device_rules *rules)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str program = cgroup_devices_program(arena, rules);
    union bpf_attr attributes = {.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE};

    if (cgroups->entries.len == 0) {
        return NULL;
    }
    attributes.insns = (uintptr_t)program.p;
    attributes.insn_cnt = (uint32_t)(program.n / sizeof(struct bpf_insn));
    attributes.license = (uintptr_t)"Apache-2.0";
    int fd = bpf(BPF_PROG_LOAD, &attributes);

    if (fd < 0) {
        return status_errno(errno, "loading a program for devices");
    }
    struct status *status = attach(cgroups->entries.items[0].directory.p, fd);

    close(fd);
    return status;
}
