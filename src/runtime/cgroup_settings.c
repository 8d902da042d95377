#include "runtime/cgroup.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void add(struct arena *arena, struct cgroup_settings *into, const char *controller, struct str file,
                struct str value)
{
    *LIST_ADD(arena, into) =
        (struct cgroup_setting){.controller = str_of(controller), .file = file, .value = value};
}

static void add_number(struct arena *arena, struct cgroup_settings *into, const char *controller, const char *file,
                       int64_t value)
{
    add(arena, into, controller, str_of(file), arena_printf(arena, "%" PRId64, value));
}

/* Shares are 2 to 262144 around 1024, weights 1 to 10000 around 100: a curve through those three, as stock runtimes
 * have it, so that one CPU's request stays the default weight. */
uint64_t cgroup_cpu_weight(uint64_t shares)
{
    if (shares <= 2) {
        return 1;
    }
    if (shares >= 262144) {
        return 10000;
    }
    double l = log2((double)shares);

    return (uint64_t)ceil(pow(10, (l * l + 125 * l) / 612.0 - 7.0 / 34.0));
}

static void plan_v1(struct arena *arena, const struct cri_v1_linux_container_resources *resources,
                    struct cgroup_settings *ret)
{
    if (resources->cpu_shares > 0) {
        add_number(arena, ret, "cpu", "cpu.shares", resources->cpu_shares);
    }
    if (resources->cpu_period > 0) {
        add_number(arena, ret, "cpu", "cpu.cfs_period_us", resources->cpu_period);
    }
    if (resources->cpu_quota != 0) {
        add_number(arena, ret, "cpu", "cpu.cfs_quota_us", resources->cpu_quota);
    }
    if (resources->memory_limit_in_bytes > 0) {
        add_number(arena, ret, "memory", "memory.limit_in_bytes", resources->memory_limit_in_bytes);
    }
    if (resources->memory_swap_limit_in_bytes > 0) {
        add_number(arena, ret, "memory", "memory.memsw.limit_in_bytes", resources->memory_swap_limit_in_bytes);
        ret->items[ret->len - 1].is_optional = true;
    }
    LIST_EACH(page, &resources->hugepage_limits) {
        add(arena, ret, "hugetlb", arena_printf(arena, "hugetlb.%.*s.limit_in_bytes", STR_ARG(page->page_size)),
            arena_printf(arena, "%" PRIu64, page->limit));
    }
}

static void plan_v2(struct arena *arena, const struct cri_v1_linux_container_resources *resources,
                    struct cgroup_settings *ret)
{
    int64_t period = resources->cpu_period > 0 ? resources->cpu_period : 100000;

    if (resources->cpu_shares > 0) {
        add_number(arena, ret, "", "cpu.weight", (int64_t)cgroup_cpu_weight((uint64_t)resources->cpu_shares));
    }
    if (resources->cpu_quota > 0) {
        add(arena, ret, "", STR("cpu.max"), arena_printf(arena, "%" PRId64 " %" PRId64, resources->cpu_quota, period));
    } else if (resources->cpu_quota < 0) {
        add(arena, ret, "", STR("cpu.max"), arena_printf(arena, "max %" PRId64, period));
    }
    if (resources->memory_limit_in_bytes > 0) {
        add_number(arena, ret, "", "memory.max", resources->memory_limit_in_bytes);
    }
    if (resources->memory_swap_limit_in_bytes > 0 &&
        resources->memory_swap_limit_in_bytes >= resources->memory_limit_in_bytes) {
        /* v2 counts swap by itself. */
        add_number(arena, ret, "", "memory.swap.max",
                   resources->memory_swap_limit_in_bytes - resources->memory_limit_in_bytes);
        ret->items[ret->len - 1].is_optional = true;
    }
    LIST_EACH(page, &resources->hugepage_limits) {
        add(arena, ret, "", arena_printf(arena, "hugetlb.%.*s.max", STR_ARG(page->page_size)),
            arena_printf(arena, "%" PRIu64, page->limit));
    }
    LIST_EACH(entry, &resources->unified) {
        if (str_index(entry->key, '/') == SIZE_MAX) {
            add(arena, ret, "", entry->key, entry->value);
        }
    }
}

void cgroup_settings_plan(struct arena *arena, bool is_v2, const struct cri_v1_linux_container_resources *resources,
                          struct cgroup_settings *ret)
{
    memset(ret, 0, sizeof(*ret));
    if (resources == NULL) {
        return;
    }
    if (is_v2) {
        plan_v2(arena, resources, ret);
    } else {
        plan_v1(arena, resources, ret);
    }
    if (resources->cpuset_cpus.n > 0) {
        add(arena, ret, is_v2 ? "" : "cpuset", STR("cpuset.cpus"), resources->cpuset_cpus);
    }
    if (resources->cpuset_mems.n > 0) {
        add(arena, ret, is_v2 ? "" : "cpuset", STR("cpuset.mems"), resources->cpuset_mems);
    }
    /* Most machines mount only some sizes of huge pages; the kubelet names those it knows. */
    LIST_EACH(setting, ret) {
        if (str_has_prefix(setting->file, STR("hugetlb."))) {
            setting->is_optional = true;
        }
    }
}
