/* A container's file system, made by the container's own first process in a mount namespace of its own, so that
 * nothing is ever mounted on the host and everything goes with the last process.
 *
 * In order: rootfs_gather(), rootfs_enter(), rootfs_populate(). Each ends the process through report_fail() when it
 * can't do its part. After rootfs_enter() the host's files are out of reach, except for the mounts gathered before;
 * paths in the container are resolved below its root and never through magic links. */
#ifndef RUNTIME_SHIM_ROOTFS_H
#define RUNTIME_SHIM_ROOTFS_H

#include "runtime/plan.h"

struct rootfs {
    const struct shim_container_plan *plan;
    int report;     /* the socket to the shim */
    int *trees;     /* one detached mount a plan mount, -1 for those made later */
    int shm;        /* the sandbox's shared memory, detached; -1: none */
    int *cgroups;   /* one detached mount a plan cgroup */
};

/* Takes a copy of the sandbox's shared memory out of the mount namespace of `pause` (a pidfd), makes a mount namespace
 * of our own, and copies every bind mount's source out of it. */
void rootfs_gather(struct rootfs *rootfs, int pause);
/* Two parts of it, for an OCI runtime: only takes the sandbox's shared memory (rootfs->shm); mounts the layers, no more. */
void rootfs_take_shared_memory(struct rootfs *rootfs, int pause);
void rootfs_mount(struct rootfs *rootfs);
/* Mounts the layers and makes them the root. */
void rootfs_enter(struct rootfs *rootfs);
/* Mounts all mounts, makes devices, masks paths. */
void rootfs_populate(struct rootfs *rootfs);
/* Last: binds the terminal to /dev/console when there is one (its slave's fd), and makes the root read-only. */
void rootfs_seal(struct rootfs *rootfs, int terminal);

/* The whole of a regular file below `root`, at most `max` bytes; empty when it is missing or something else. */
struct str rootfs_read(struct arena *arena, const char *root, const char *path, size_t max);
/* Makes the directory and what leads to it. False with errno. */
bool rootfs_make_directory(const char *path);

#endif
