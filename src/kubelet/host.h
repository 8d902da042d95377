/* The machine under the kubelet: its files, mounts, cgroups and figures, behind one table.
 *
 * linux_host_new() is the real one; memory_host_new() keeps everything in memory, for simulation and tests. Paths are
 * absolute. All calls are on the env's thread; those that may take long (remove, set_group) park in the real one. */
#ifndef KUBELET_HOST_H
#define KUBELET_HOST_H

#include "base/arena.h"
#include "base/status.h"

struct host;

enum host_file_type {
    HOST_NONE, /* nothing there */
    HOST_FILE,
    HOST_DIRECTORY,
    HOST_SYMLINK,
    HOST_SOCKET,
    HOST_CHAR_DEVICE,
    HOST_BLOCK_DEVICE,
    HOST_OTHER,
};

struct host_stat {
    enum host_file_type type;
    uint32_t mode; /* permission bits */
    int64_t size;
};

struct host_names {
    struct str *items;
    size_t len;
};

/* 0: leave as it is; -1: no limit. */
struct host_cgroup_limits {
    int64_t cpu_shares;
    int64_t cpu_quota_us, cpu_period_us;
    int64_t memory_bytes;
    int64_t pids;
};

struct host_huge_pages {
    struct str size; /* "2Mi", as in hugepages-2Mi */
    int64_t bytes;   /* all of them together */
};

/* What does not change while the kubelet runs. Strings are in the arena given to facts. */
struct host_facts {
    int64_t cpus;
    int64_t memory_bytes;
    int64_t swap_bytes;
    struct str hostname;
    struct str machine_id, system_uuid, boot_id;
    struct str kernel_version, os_image;
    struct str operating_system; /* linux */
    struct str architecture;     /* amd64, arm64 */
    struct str address;          /* of the interface with the default route, or the first that is not loopback */
    bool is_cgroup_v2;
    struct {
        struct host_huge_pages *items;
        size_t len;
    } huge_pages;
};

struct host_usage {
    int64_t memory_capacity, memory_available; /* capacity less the working set */
    int64_t pids_max, pids;
};

struct host_fs_usage {
    int64_t capacity, available; /* bytes */
    int64_t inodes, inodes_free;
};

struct host_ops {
    struct status *(*stat)(struct host *host, const char *path, bool follow, struct host_stat *ret);
    struct status *(*make_directory)(struct host *host, const char *path, uint32_t mode);
    struct status *(*read)(struct host *host, const char *path, size_t max, struct arena *arena, struct str *ret);
    struct status *(*read_tail)(struct host *host, const char *path, size_t max, struct arena *arena, struct str *ret);
    struct status *(*write)(struct host *host, const char *path, struct str bytes, uint32_t mode);
    struct status *(*symlink)(struct host *host, const char *target, const char *path);
    struct status *(*read_link)(struct host *host, const char *path, struct arena *arena, struct str *ret);
    struct status *(*rename)(struct host *host, const char *from, const char *to);
    struct status *(*remove)(struct host *host, const char *path);
    struct status *(*list)(struct host *host, const char *path, struct arena *arena, struct host_names *ret);
    struct status *(*set_mode)(struct host *host, const char *path, uint32_t mode);
    struct status *(*set_group)(struct host *host, const char *path, int64_t group, bool read_only);
    struct status *(*mount_tmpfs)(struct host *host, const char *path, int64_t size);
    struct status *(*mount_bind)(struct host *host, const char *source, const char *path);
    struct status *(*unmount)(struct host *host, const char *path);
    struct status *(*cgroup_apply)(struct host *host, const char *name, const struct host_cgroup_limits *limits);
    struct status *(*cgroup_remove)(struct host *host, const char *name);
    struct status *(*cgroup_list)(struct host *host, const char *name, struct arena *arena, struct host_names *ret);
    struct status *(*facts)(struct host *host, struct arena *arena, struct host_facts *ret);
    struct status *(*usage)(struct host *host, struct host_usage *ret);
    struct status *(*fs_usage)(struct host *host, const char *path, struct host_fs_usage *ret);
    void (*free)(struct host *host);
};

struct host {
    const struct host_ops *ops;
};

struct host *linux_host_new(void);
struct host *memory_host_new(void);
void host_free(struct host *host);

/* `type` is HOST_NONE when nothing is there; that is not an error. */
MUST_USE struct status *host_stat(struct host *host, const char *path, bool follow, struct host_stat *ret);
/* With its parents (0755); fine when it is there. The mode is set even then, past any umask. */
MUST_USE struct status *host_make_directory(struct host *host, const char *path, uint32_t mode);
/* At most the first, or last, `max` bytes. NOT_FOUND when absent. */
MUST_USE struct status *host_read(struct host *host, const char *path, size_t max, struct arena *arena,
                                  struct str *ret);
MUST_USE struct status *host_read_tail(struct host *host, const char *path, size_t max, struct arena *arena,
                                       struct str *ret);
/* Replaces the file in one step: a reader sees the old or the new content. */
MUST_USE struct status *host_write(struct host *host, const char *path, struct str bytes, uint32_t mode);
/* Replaces what is at `path`, in one step. */
MUST_USE struct status *host_symlink(struct host *host, const char *target, const char *path);
MUST_USE struct status *host_read_link(struct host *host, const char *path, struct arena *arena, struct str *ret);
MUST_USE struct status *host_rename(struct host *host, const char *from, const char *to);
/* With all that is in it, but never across a mount point: one inside is an error. Absent is fine. May park. */
MUST_USE struct status *host_remove(struct host *host, const char *path);
/* Sorted names without . and ..; none when the directory is absent. */
MUST_USE struct status *host_list(struct host *host, const char *path, struct arena *arena, struct host_names *ret);
MUST_USE struct status *host_set_mode(struct host *host, const char *path, uint32_t mode);
/* Gives everything under `path` to the group, group-readable (and writable unless read_only), directories setgid, as
 * fsGroup wants it. May park. */
MUST_USE struct status *host_set_group(struct host *host, const char *path, int64_t group, bool read_only);
/* size 0: the kernel's default. Fine when a tmpfs is mounted there already. */
MUST_USE struct status *host_mount_tmpfs(struct host *host, const char *path, int64_t size);
/* Binds a file or directory on one of the same type that exists. */
MUST_USE struct status *host_mount_bind(struct host *host, const char *source, const char *path);
/* All mounts on that path; fine when there is none. */
MUST_USE struct status *host_unmount(struct host *host, const char *path);
/* Creates the cgroup, with its parents, in all hierarchies that carry limits, and sets those. Name: "/kubepods/...". */
MUST_USE struct status *host_cgroup_apply(struct host *host, const char *name,
                                          const struct host_cgroup_limits *limits);
/* With its children, killing what still runs in it. Absent is fine. */
MUST_USE struct status *host_cgroup_remove(struct host *host, const char *name);
/* Names of the children of a cgroup, in any hierarchy; none when it is absent. */
MUST_USE struct status *host_cgroup_list(struct host *host, const char *name, struct arena *arena,
                                         struct host_names *ret);
MUST_USE struct status *host_facts(struct host *host, struct arena *arena, struct host_facts *ret);
MUST_USE struct status *host_usage(struct host *host, struct host_usage *ret);
MUST_USE struct status *host_fs_usage(struct host *host, const char *path, struct host_fs_usage *ret);

/* For memory_host: what the tests and the simulation want to turn. */
void memory_host_set_usage(struct host *host, const struct host_usage *usage);
void memory_host_set_fs_usage(struct host *host, const struct host_fs_usage *usage);
/* From now on writing fails as on a full disk, or works again. */
void memory_host_set_full(struct host *host, bool is_full);

#endif
