#include "network/ipam.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* An address' file is its container and interface. */
enum { RESERVATION_BYTES = 4096 };

/* The lock is the process' own as long as the descriptor is open: a crash frees it. */
static struct status *lock(struct arena *arena, const struct ipam_conf *conf, int *ret_fd)
{
    struct str path = arena_printf(arena, "%.*s/lock", STR_ARG(conf->directory));
    int fd = open(path.p, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0 && errno == ENOENT) {
        TRY(file_make_directories(arena_cstr(arena, conf->directory), 0755));
        fd = open(path.p, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    }
    if (fd < 0) {
        return status_errno(errno, "opening %s", path.p);
    }
    while (flock(fd, LOCK_EX) < 0) {
        if (errno != EINTR) {
            struct status *bad = status_errno(errno, "locking %s", path.p);

            close(fd);
            return bad;
        }
    }
    *ret_fd = fd;
    return NULL;
}

static void unlock(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
}

/* host-local writes IPv6 addresses as they are; ':' is fine in a file's name. */
static struct str path_of(struct arena *arena, const struct ipam_conf *conf, const struct ip *ip)
{
    struct str text = ip_format(arena, ip);

    return arena_printf(arena, "%.*s/%.*s", STR_ARG(conf->directory), STR_ARG(text));
}

/* Cuts "CONTAINER\r\nINTERFACE". Files of old versions have no interface. */
static void read_owner(struct str text, struct str *ret_container, struct str *ret_interface)
{
    str_cut(str_trim(text), '\n', ret_container, ret_interface);
    *ret_container = str_trim(*ret_container);
    *ret_interface = str_trim(*ret_interface);
}

/* Calls fn for each address taken, with the file's path. */
static struct status *each_taken(struct arena *arena, const struct ipam_conf *conf,
                                 struct status *(*fn)(void *arg, const char *path, struct str address,
                                                      struct str container, struct str interface),
                                 void *arg)
{
    DIR *listing = opendir(arena_cstr(arena, conf->directory));
    struct status *bad = NULL;

    if (listing == NULL) {
        return errno == ENOENT ? NULL : status_errno(errno, "reading %.*s", STR_ARG(conf->directory));
    }
    for (struct dirent *entry; bad == NULL && (entry = readdir(listing)) != NULL;) {
        struct str name = arena_str(arena, str_of(entry->d_name)), text, container, interface;
        struct ip ip;

        if (!ip_parse(name, &ip)) {
            continue; /* lock, last_reserved_ip.0 */
        }
        struct str path = arena_printf(arena, "%.*s/%.*s", STR_ARG(conf->directory), STR_ARG(name));

        bad = file_read(arena, path.p, RESERVATION_BYTES, &text);
        if (bad == NULL) {
            read_owner(text, &container, &interface);
            bad = fn(arg, path.p, name, container, interface);
        }
    }
    closedir(listing);
    return bad;
}

struct owner {
    struct str container, interface;
    struct str found; /* an address it has */
    bool gives;       /* removes what it has */
    bool (*is_valid)(void *arg, struct str container, struct str interface);
    void *arg;
};

static struct status *on_taken(void *arg, const char *path, struct str address, struct str container,
                               struct str interface)
{
    struct owner *owner = arg;
    bool is_meant = owner->is_valid != NULL
                        ? !owner->is_valid(owner->arg, container, interface)
                        : str_eq(container, owner->container) &&
                              (interface.n == 0 || str_eq(interface, owner->interface));

    if (is_meant) {
        owner->found = address;
    }
    if (is_meant && owner->gives && unlink(path) < 0 && errno != ENOENT) {
        return status_errno(errno, "removing %s", path);
    }
    return NULL;
}

static bool is_between(const struct ipam_range *range, const struct ip *ip)
{
    return ip->length == range->start.length && memcmp(ip->bytes, range->start.bytes, ip->length) >= 0 &&
           memcmp(ip->bytes, range->end.bytes, ip->length) <= 0;
}

static struct ip next_of(struct ip ip)
{
    for (size_t i = ip.length; i > 0 && ++ip.bytes[i - 1] == 0; i--) {
    }
    return ip;
}

/* Makes the address' file; *ret_taken is false when there is one. */
static struct status *try_take(struct arena *arena, const struct ipam_conf *conf, const struct ip *ip,
                               const struct owner *owner, bool *ret_taken)
{
    struct str path = path_of(arena, conf, ip);
    struct str content = arena_printf(arena, "%.*s\r\n%.*s", STR_ARG(owner->container), STR_ARG(owner->interface));
    int fd = open(path.p, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    *ret_taken = false;
    if (fd < 0) {
        return errno == EEXIST ? NULL : status_errno(errno, "reserving %s", path.p);
    }
    ssize_t written = write(fd, content.p, content.n);
    int error = errno;

    close(fd);
    if (written != (ssize_t)content.n) { /* one without an owner would never be given back */
        unlink(path.p);
        return status_errno(written < 0 ? error : ENOSPC, "reserving %s", path.p);
    }
    *ret_taken = true;
    return NULL;
}

static struct str last_path(struct arena *arena, const struct ipam_conf *conf, size_t set)
{
    return arena_printf(arena, "%.*s/last_reserved_ip.%zu", STR_ARG(conf->directory), set);
}

/* Where the last search ended: the range and address; the end of the last range when it is not known. */
static void read_last(struct arena *arena, const struct ipam_conf *conf, size_t set, size_t *ret_range,
                      struct ip *ret_ip)
{
    const struct ipam_range_set *ranges = &conf->sets.items[set];
    struct str text;
    struct status *bad = file_read(arena, last_path(arena, conf, set).p, RESERVATION_BYTES, &text);
    struct ip ip;

    *ret_range = ranges->len - 1;
    *ret_ip = ranges->items[ranges->len - 1].end;
    if (bad == NULL && ip_parse(str_trim(text), &ip)) {
        for (size_t i = 0; i < ranges->len; i++) {
            if (is_between(&ranges->items[i], &ip)) {
                *ret_range = i;
                *ret_ip = ip;
            }
        }
    }
    status_free(bad);
}

static struct status *write_last(struct arena *arena, const struct ipam_conf *conf, size_t set, const struct ip *ip)
{
    struct str text = ip_format(arena, ip), path = last_path(arena, conf, set);
    int fd = open(path.p, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    struct stat before;

    /* Lost or torn, it only means that the search begins elsewhere: no sync. File systems write a file that is emptied
     * and filled again out at once, so it is not. */
    bool ok = fd >= 0 && fstat(fd, &before) == 0 && write(fd, text.p, text.n) == (ssize_t)text.n &&
              (before.st_size <= (off_t)text.n || ftruncate(fd, (off_t)text.n) == 0);
    struct status *bad = ok ? NULL : status_errno(errno, "writing %s", path.p);

    if (fd >= 0) {
        close(fd);
    }
    return bad;
}

/* Goes once around the set from the last one on. */
static struct status *take_next(struct arena *arena, const struct ipam_conf *conf, size_t set,
                                const struct owner *owner, struct ip *ret_ip, size_t *ret_range)
{
    const struct ipam_range_set *ranges = &conf->sets.items[set];
    struct ip ip, stop;
    size_t range, stop_range;
    bool taken = false;

    read_last(arena, conf, set, &range, &ip);
    stop = ip;
    stop_range = range;
    do {
        if (ip_equal(&ip, &ranges->items[range].end)) {
            range = (range + 1) % ranges->len;
            ip = ranges->items[range].start;
        } else {
            ip = next_of(ip);
        }
        if (!ip_equal(&ip, &ranges->items[range].gateway)) {
            TRY(try_take(arena, conf, &ip, owner, &taken));
        }
    } while (!taken && !(range == stop_range && ip_equal(&ip, &stop)));
    if (!taken) {
        struct cidr subnet = ranges->items[0].subnet;

        return status_new(STATUS_SERVICE_UNAVAILABLE, "no IP addresses available in range set: %.*s",
                          STR_ARG(cidr_format(arena, &subnet)));
    }
    *ret_ip = ip;
    *ret_range = range;
    return write_last(arena, conf, set, &ip);
}

/* The address asked for of this set, if any. */
static struct status *take_wanted(struct arena *arena, const struct ipam_conf *conf, size_t set,
                                  const struct owner *owner, struct ip *ret_ip, size_t *ret_range)
{
    const struct ipam_range_set *ranges = &conf->sets.items[set];

    LIST_EACH(wanted, &conf->wanted) {
        for (size_t i = 0; i < ranges->len; i++) {
            bool taken = false;
            struct str text = ip_format(arena, wanted);

            if (!cidr_contains(&ranges->items[i].subnet, wanted)) {
                continue;
            }
            if (ip_equal(wanted, &ranges->items[i].gateway)) {
                return status_new(STATUS_BAD_REQUEST, "requested ip %.*s is subnet's gateway", STR_ARG(text));
            }
            TRY(try_take(arena, conf, wanted, owner, &taken));
            if (!taken) {
                return status_new(STATUS_ALREADY_EXISTS, "requested IP address %.*s is not available in range set",
                                  STR_ARG(text));
            }
            *ret_ip = *wanted;
            *ret_range = i;
            return NULL;
        }
    }
    return take_next(arena, conf, set, owner, ret_ip, ret_range);
}

static struct status *take_all(struct arena *arena, const struct ipam_conf *conf, const struct owner *owner,
                               struct cni_result *result)
{
    for (size_t set = 0; set < conf->sets.len; set++) {
        struct cni_address address = {.interface = -1};
        size_t range = 0;

        TRY(take_wanted(arena, conf, set, owner, &address.address.ip, &range));
        address.address.prefix = conf->sets.items[set].items[range].subnet.prefix;
        address.gateway = conf->sets.items[set].items[range].gateway;
        *LIST_ADD(arena, &result->addresses) = address;
    }
    LIST_EACH(route, &conf->routes) {
        *LIST_ADD(arena, &result->routes) = *route;
    }
    return NULL;
}

struct status *ipam_take(struct arena *arena, const struct ipam_conf *conf, struct str container,
                         struct str interface, struct cni_result *result)
{
    OWNED(unlock) int fd = -1;
    struct owner owner = {.container = container, .interface = interface};

    TRY(lock(arena, conf, &fd));
    TRY(each_taken(arena, conf, on_taken, &owner));
    if (owner.found.n > 0) {
        return status_new(STATUS_ALREADY_EXISTS,
                          "%.*s has been allocated to %.*s, duplicate allocation is not allowed",
                          STR_ARG(owner.found), STR_ARG(container));
    }
    struct status *bad = take_all(arena, conf, &owner, result);

    if (bad != NULL) {
        owner.gives = true;
        status_free(each_taken(arena, conf, on_taken, &owner));
    }
    return bad;
}

static struct status *give(const struct ipam_conf *conf, struct owner *owner)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(unlock) int fd = -1;

    if (access(arena_cstr(arena, conf->directory), F_OK) < 0) {
        return NULL; /* nothing was ever taken: leave no directory behind */
    }
    owner->gives = true;
    TRY(lock(arena, conf, &fd));
    return each_taken(arena, conf, on_taken, owner);
}

struct status *ipam_give(const struct ipam_conf *conf, struct str container, struct str interface)
{
    struct owner owner = {.container = container, .interface = interface};

    return give(conf, &owner);
}

struct status *ipam_collect(const struct ipam_conf *conf,
                            bool (*is_valid)(void *arg, struct str container, struct str interface), void *arg)
{
    struct owner owner = {.is_valid = is_valid, .arg = arg};

    return give(conf, &owner);
}

struct status *ipam_check(const struct ipam_conf *conf, struct str container, struct str interface)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct owner owner = {.container = container, .interface = interface};

    TRY(each_taken(arena, conf, on_taken, &owner));
    return owner.found.n > 0 ? NULL
                             : status_new(STATUS_NOT_FOUND, "host-local: Failed to find address added by container %.*s",
                                          STR_ARG(container));
}
