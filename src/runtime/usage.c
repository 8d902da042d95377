#include "runtime/usage.h"

#include <string.h>

/* v1's word for no limit: the largest number of whole pages. */
#define NO_LIMIT (UINT64_C(1) << 60)

bool usage_find(struct str text, const char *name, uint64_t *ret)
{
    for (struct str rest = text, line, key, value; str_next(&rest, '\n', &line);) {
        if (str_cut(line, ' ', &key, &value) && str_is(key, name)) {
            return str_to_u64(str_trim(value), ret);
        }
    }
    return false;
}

static bool read_number(struct arena *arena, const struct shim_cgroups *cgroups, const char *controller,
                        const char *file, uint64_t *ret)
{
    return str_to_u64(cgroup_read(arena, cgroups, controller, file), ret);
}

static void read_v1(struct arena *arena, const struct shim_cgroups *cgroups, struct usage *usage)
{
    struct str stat = cgroup_read(arena, cgroups, "memory", "memory.stat");
    uint64_t with_swap;

    usage->has_cpu = read_number(arena, cgroups, "cpuacct", "cpuacct.usage", &usage->cpu_ns);
    usage->has_memory = read_number(arena, cgroups, "memory", "memory.usage_in_bytes", &usage->memory_bytes);
    read_number(arena, cgroups, "memory", "memory.limit_in_bytes", &usage->memory_limit_bytes);
    usage_find(stat, "total_rss", &usage->rss_bytes);
    usage_find(stat, "total_pgfault", &usage->page_faults);
    usage_find(stat, "total_pgmajfault", &usage->major_page_faults);
    usage_find(stat, "total_inactive_file", &usage->working_set_bytes);
    if (read_number(arena, cgroups, "memory", "memory.memsw.usage_in_bytes", &with_swap)) {
        usage->has_swap = true;
        usage->swap_bytes = with_swap > usage->memory_bytes ? with_swap - usage->memory_bytes : 0;
    }
    usage->has_processes = read_number(arena, cgroups, "pids", "pids.current", &usage->processes);
}

static void read_v2(struct arena *arena, const struct shim_cgroups *cgroups, struct usage *usage)
{
    struct str stat = cgroup_read(arena, cgroups, "", "memory.stat");
    uint64_t microseconds;

    if (usage_find(cgroup_read(arena, cgroups, "", "cpu.stat"), "usage_usec", &microseconds)) {
        usage->has_cpu = true;
        usage->cpu_ns = microseconds * 1000;
    }
    usage->has_memory = read_number(arena, cgroups, "", "memory.current", &usage->memory_bytes);
    read_number(arena, cgroups, "", "memory.max", &usage->memory_limit_bytes); /* "max" is no number */
    usage_find(stat, "anon", &usage->rss_bytes);
    usage_find(stat, "pgfault", &usage->page_faults);
    usage_find(stat, "pgmajfault", &usage->major_page_faults);
    usage_find(stat, "inactive_file", &usage->working_set_bytes);
    usage->has_swap = read_number(arena, cgroups, "", "memory.swap.current", &usage->swap_bytes);
    usage->has_processes = read_number(arena, cgroups, "", "pids.current", &usage->processes);
}

void usage_read(const struct shim_cgroups *cgroups, bool is_v2, struct usage *ret)
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    memset(ret, 0, sizeof(*ret));
    if (is_v2) {
        read_v2(arena, cgroups, ret);
    } else {
        read_v1(arena, cgroups, ret);
    }
    /* What can be dropped without being missed does not count: stock's definition. */
    uint64_t inactive = ret->working_set_bytes;

    ret->working_set_bytes = ret->memory_bytes > inactive ? ret->memory_bytes - inactive : 0;
    if (ret->memory_limit_bytes >= NO_LIMIT) {
        ret->memory_limit_bytes = 0;
    }
}

/* "  eth0: 1296 16 0 0 0 0 0 0 1160 14 0 0 0 0 0 0" */
void usage_interfaces_parse(struct arena *arena, struct str text, struct usage_interfaces *ret)
{
    *ret = (struct usage_interfaces){0};
    for (struct str rest = text, line, name, numbers; str_next(&rest, '\n', &line);) {
        uint64_t values[16] = {0};
        size_t count = 0;

        if (!str_cut(line, ':', &name, &numbers) || str_is(str_trim(name), "lo")) {
            continue;
        }
        for (struct str item; count < COUNT_OF(values) && str_next(&numbers, ' ', &item);) {
            if (item.n > 0 && !str_to_u64(item, &values[count++])) {
                break;
            }
        }
        if (count == COUNT_OF(values)) {
            *LIST_ADD(arena, ret) = (struct usage_interface){str_trim(name), values[0], values[2], values[8], values[10]};
        }
    }
}
