#include "kubelet/linux_facts.h"

#include "kubelet/linux_cgroup.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

/* A small file of /proc or /sys; empty when it cannot be read. */
static struct str read_small(struct arena *arena, const char *path)
{
    char text[16384];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t size = 0;

    if (fd < 0) {
        return STR("");
    }
    while (size < sizeof(text)) {
        ssize_t got = read(fd, text + size, sizeof(text) - size);

        if (got <= 0) {
            break;
        }
        size += (size_t)got;
    }
    close(fd);
    return arena_str(arena, (struct str){text, size});
}

int64_t linux_meminfo_find(struct str meminfo, struct str name)
{
    for (struct str rest = meminfo, line; str_next(&rest, '\n', &line);) {
        struct str key, value;
        int64_t kilobytes;

        if (!str_cut(line, ':', &key, &value) || !str_eq(key, name)) {
            continue;
        }
        str_cut(str_trim(value), ' ', &value, &key);
        return str_to_i64(value, &kilobytes) ? kilobytes * 1024 : -1;
    }
    return -1;
}

static struct str os_image(struct arena *arena)
{
    struct str text = read_small(arena, "/etc/os-release");

    for (struct str rest = text, line; str_next(&rest, '\n', &line);) {
        if (str_has_prefix(line, STR("PRETTY_NAME="))) {
            struct str name = str_trim(str_from(line, sizeof("PRETTY_NAME=") - 1));

            if (name.n >= 2 && (name.p[0] == '"' || name.p[0] == '\'')) {
                name = str_sub(name, 1, name.n - 1);
            }
            return name;
        }
    }
    return STR("Linux");
}

static void add_huge_pages(struct arena *arena, struct host_facts *facts)
{
    DIR *listing = opendir("/sys/kernel/mm/hugepages");

    for (struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;) {
        long long kilobytes;
        char path[512];
        int64_t count = 0;

        if (sscanf(entry->d_name, "hugepages-%lldkB", &kilobytes) != 1) {
            continue;
        }
        snprintf(path, sizeof(path), "/sys/kernel/mm/hugepages/%s/nr_hugepages", entry->d_name);
        str_to_i64(str_trim(read_small(arena, path)), &count);
        struct str size = kilobytes % (1 << 20) == 0   ? arena_printf(arena, "%lldGi", kilobytes >> 20)
                          : kilobytes % (1 << 10) == 0 ? arena_printf(arena, "%lldMi", kilobytes >> 10)
                                                       : arena_printf(arena, "%lldKi", kilobytes);

        *LIST_ADD(arena, &facts->huge_pages) =
            (struct host_huge_pages){.size = size, .bytes = count * kilobytes * 1024};
    }
    if (listing != NULL) {
        closedir(listing);
    }
}

/* The name of the interface that the IPv4 default route goes through. */
static struct str default_interface(struct arena *arena)
{
    struct str routes = read_small(arena, "/proc/net/route");

    for (struct str rest = routes, line; str_next(&rest, '\n', &line);) {
        struct str name, destination;

        if (str_cut(line, '\t', &name, &line) && str_cut(line, '\t', &destination, &line) &&
            str_is(destination, "00000000")) {
            return name;
        }
    }
    return STR("");
}

/* The one with the default route first, then any that is up, loopback last. */
static struct str own_address(struct arena *arena)
{
    struct ifaddrs *addresses = NULL;
    struct str wanted = default_interface(arena);
    struct str found = STR("");
    int best = 0;

    if (getifaddrs(&addresses) != 0) {
        return STR("127.0.0.1");
    }
    for (struct ifaddrs *at = addresses; at != NULL; at = at->ifa_next) {
        char text[INET_ADDRSTRLEN];

        if (at->ifa_addr == NULL || at->ifa_addr->sa_family != AF_INET || (at->ifa_flags & IFF_UP) == 0) {
            continue;
        }
        int rank = str_is(wanted, at->ifa_name) ? 3 : (at->ifa_flags & IFF_LOOPBACK) == 0 ? 2 : 1;

        if (rank > best) {
            inet_ntop(AF_INET, &((struct sockaddr_in *)(void *)at->ifa_addr)->sin_addr, text, sizeof(text));
            found = arena_str(arena, str_of(text));
            best = rank;
        }
    }
    freeifaddrs(addresses);
    return best > 0 ? found : STR("127.0.0.1");
}

struct status *linux_facts(struct arena *arena, struct host_facts *ret)
{
    struct utsname names;
    struct str meminfo = read_small(arena, "/proc/meminfo");

    if (uname(&names) != 0) {
        return status_errno(errno, "uname");
    }
    struct host_facts facts = {
        .cpus = sysconf(_SC_NPROCESSORS_ONLN),
        .memory_bytes = linux_meminfo_find(meminfo, STR("MemTotal")),
        .swap_bytes = linux_meminfo_find(meminfo, STR("SwapTotal")),
        .hostname = arena_str(arena, str_of(names.nodename)),
        .machine_id = str_trim(read_small(arena, "/etc/machine-id")),
        .system_uuid = str_trim(read_small(arena, "/sys/class/dmi/id/product_uuid")),
        .boot_id = str_trim(read_small(arena, "/proc/sys/kernel/random/boot_id")),
        .kernel_version = arena_str(arena, str_of(names.release)),
        .os_image = os_image(arena),
        .operating_system = STR("linux"),
        .architecture = strcmp(names.machine, "x86_64") == 0    ? STR("amd64")
                        : strcmp(names.machine, "aarch64") == 0 ? STR("arm64")
                                                                : arena_str(arena, str_of(names.machine)),
        .address = own_address(arena),
        .is_cgroup_v2 = linux_cgroup_is_v2(),
    };
    if (facts.memory_bytes < 0) {
        return status_new(STATUS_INTERNAL_ERROR, "/proc/meminfo has no MemTotal");
    }
    if (facts.system_uuid.n == 0) {
        facts.system_uuid = facts.machine_id;
    }
    add_huge_pages(arena, &facts);
    *ret = facts;
    return NULL;
}

struct status *linux_usage(struct host_usage *ret)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str meminfo = read_small(arena, "/proc/meminfo");
    int64_t total = linux_meminfo_find(meminfo, STR("MemTotal"));
    int64_t free_bytes = linux_meminfo_find(meminfo, STR("MemFree"));
    int64_t inactive = linux_meminfo_find(meminfo, STR("Inactive(file)"));
    struct host_usage usage = {.memory_capacity = total};

    if (total < 0 || free_bytes < 0) {
        return status_new(STATUS_INTERNAL_ERROR, "/proc/meminfo has no MemTotal or MemFree");
    }
    /* The working set leaves out file pages that can go at once, as cAdvisor counts it. */
    usage.memory_available = MIN(total, free_bytes + MAX(inactive, 0));
    str_to_i64(str_trim(read_small(arena, "/proc/sys/kernel/pid_max")), &usage.pids_max);
    struct str load = read_small(arena, "/proc/loadavg");
    size_t slash = str_index(load, '/');
    struct str count, rest;

    if (slash != SIZE_MAX) {
        str_cut(str_from(load, slash + 1), ' ', &count, &rest);
        str_to_i64(count, &usage.pids);
    }
    *ret = usage;
    return NULL;
}
