#include "test.h"

#include "base/virtual_env.h"
#include "kubelet/host.h"
#include "kubelet/linux_cgroup.h"
#include "kubelet/linux_facts.h"
#include "kubelet/volumes/atomic_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Runs the same checks on the real file system, in a fresh directory, and in memory. */
static void on_both(void (*check)(struct host *host, const char *directory))
{
    struct env *env = virtual_env_new(1);
    struct env *before = env_enter(env);
    char directory[] = "/tmp/c8s-host-XXXXXX";
    struct host *real = linux_host_new();
    struct host *memory = memory_host_new();

    CHECK(mkdtemp(directory) != NULL);
    check(real, directory);
    CHECK_OK(host_remove(real, directory));
    CHECK(access(directory, F_OK) != 0);
    CHECK_OK(host_make_directory(memory, "/top", 0755));
    check(memory, "/top");
    host_free(real);
    host_free(memory);
    env_enter(before);
    virtual_env_free(env);
}

static const char *at(struct arena *arena, const char *directory, const char *name)
{
    return arena_printf(arena, "%s/%s", directory, name).p;
}

static void files(struct host *host, const char *directory)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct host_stat st;
    struct host_names names;
    struct str text;

    CHECK_OK(host_make_directory(host, at(arena, directory, "a/b"), 0750));
    CHECK_OK(host_stat(host, at(arena, directory, "a/b"), true, &st));
    CHECK_INT(st.type, HOST_DIRECTORY);
    CHECK_INT(st.mode, 0750);
    CHECK_OK(host_write(host, at(arena, directory, "a/b/file"), STR("hello"), 0640));
    CHECK_OK(host_write(host, at(arena, directory, "a/b/file"), STR("hello there"), 0600));
    CHECK_OK(host_read(host, at(arena, directory, "a/b/file"), 100, arena, &text));
    CHECK_STR(text, "hello there");
    CHECK_OK(host_read_tail(host, at(arena, directory, "a/b/file"), 5, arena, &text));
    CHECK_STR(text, "there");
    CHECK_OK(host_symlink(host, "b/file", at(arena, directory, "a/link")));
    CHECK_OK(host_stat(host, at(arena, directory, "a/link"), false, &st));
    CHECK_INT(st.type, HOST_SYMLINK);
    CHECK_OK(host_stat(host, at(arena, directory, "a/link"), true, &st));
    CHECK_INT(st.type, HOST_FILE);
    CHECK_INT(st.mode, 0600);
    CHECK_OK(host_read(host, at(arena, directory, "a/link"), 100, arena, &text));
    CHECK_STR(text, "hello there");
    CHECK_OK(host_list(host, at(arena, directory, "a"), arena, &names));
    CHECK_INT(names.len, 2);
    CHECK_STR(names.items[0], "b");
    CHECK_STR(names.items[1], "link");
    CHECK_OK(host_rename(host, at(arena, directory, "a/b"), at(arena, directory, "a/c")));
    CHECK_OK(host_read(host, at(arena, directory, "a/c/file"), 100, arena, &text));
    CHECK_OK(host_remove(host, at(arena, directory, "a")));
    CHECK_OK(host_remove(host, at(arena, directory, "a")));
    CHECK_OK(host_stat(host, at(arena, directory, "a"), true, &st));
    CHECK_INT(st.type, HOST_NONE);
    CHECK_ERROR(host_read(host, at(arena, directory, "a"), 100, arena, &text), "No such file");
    CHECK_OK(host_list(host, at(arena, directory, "a"), arena, &names));
    CHECK_INT(names.len, 0);
}

TEST("kubelet/host files on disk and in memory behave alike")
{
    on_both(files);
}

static void publish(struct host *host, const char *directory)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct volume_file first[] = {{STR("one"), STR("1"), 0644}, {STR("deep/two"), STR("2"), 0600}};
    struct volume_file second[] = {{STR("one"), STR("changed"), 0644}, {STR("three"), STR("3"), 0644}};
    struct volume_file bad[] = {{STR("../x"), STR(""), 0644}};
    struct str text, old, now;
    struct host_names names;
    struct host_stat st;
    bool changed;

    CHECK_OK(atomic_write(host, directory, &(struct volume_files){first, 2}, -1, &changed));
    CHECK(changed);
    CHECK_OK(host_read(host, at(arena, directory, "one"), 100, arena, &text));
    CHECK_STR(text, "1");
    CHECK_OK(host_read(host, at(arena, directory, "deep/two"), 100, arena, &text));
    CHECK_STR(text, "2");
    CHECK_OK(host_read_link(host, at(arena, directory, "one"), arena, &text));
    CHECK_STR(text, "..data/one");
    CHECK_OK(host_stat(host, at(arena, directory, "deep/two"), true, &st));
    CHECK_INT(st.mode, 0600);
    CHECK_OK(host_read_link(host, at(arena, directory, "..data"), arena, &old));
    CHECK_OK(atomic_write(host, directory, &(struct volume_files){first, 2}, -1, &changed));
    CHECK(!changed);
    CHECK_OK(atomic_write(host, directory, &(struct volume_files){second, 2}, -1, &changed));
    CHECK(changed);
    CHECK_OK(host_read_link(host, at(arena, directory, "..data"), arena, &now));
    CHECK(!str_eq(old, now));
    CHECK_OK(host_read(host, at(arena, directory, "one"), 100, arena, &text));
    CHECK_STR(text, "changed");
    CHECK_OK(host_list(host, directory, arena, &names));
    CHECK_INT(names.len, 4); /* ..TIME ..data one three */
    CHECK_ERROR(atomic_write(host, directory, &(struct volume_files){bad, 1}, -1, NULL), "..");
    CHECK_OK(atomic_write(host, directory, &(struct volume_files){0}, -1, &changed));
    CHECK_OK(host_list(host, directory, arena, &names));
    CHECK_INT(names.len, 2);
}

TEST("kubelet/atomic_writer publishes all files in one step")
{
    on_both(publish);
}

TEST("kubelet/host does not remove what is mounted below")
{
    struct host *host = linux_host_new();
    OWNED(arena_freep) struct arena *arena = arena_new();
    char directory[] = "/tmp/c8s-host-XXXXXX";
    struct host_stat st;

    CHECK(mkdtemp(directory) != NULL);
    CHECK_OK(host_make_directory(host, at(arena, directory, "sub/mounted"), 0755));
    struct status *error = host_mount_tmpfs(host, at(arena, directory, "sub/mounted"), 1 << 20);

    if (error == NULL) {
        CHECK_OK(host_mount_tmpfs(host, at(arena, directory, "sub/mounted"), 1 << 20));
        CHECK_OK(host_write(host, at(arena, directory, "sub/mounted/precious"), STR("x"), 0644));
        CHECK_ERROR(host_remove(host, directory), "busy");
        CHECK_OK(host_stat(host, at(arena, directory, "sub/mounted/precious"), false, &st));
        CHECK_INT(st.type, HOST_FILE);
        CHECK_OK(host_unmount(host, at(arena, directory, "sub/mounted")));
    }
    status_free(error); /* not root: nothing can be mounted */
    CHECK_OK(host_unmount(host, at(arena, directory, "sub/mounted")));
    CHECK_OK(host_remove(host, directory));
    host_free(host);
}

TEST("kubelet/host a full disk in memory fails writes and recovers")
{
    struct host *host = memory_host_new();

    CHECK_OK(host_make_directory(host, "/a", 0755));
    memory_host_set_full(host, true);
    CHECK_ERROR(host_write(host, "/a/f", STR("x"), 0644), "No space left on device");
    memory_host_set_full(host, false);
    CHECK_OK(host_write(host, "/a/f", STR("x"), 0644));
    host_free(host);
}

TEST("kubelet/linux_facts reads the machine")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct host_facts facts;
    struct host_usage usage;
    struct str meminfo = STR("MemTotal:        1024 kB\nMemFree:          512 kB\nBad\n");

    CHECK_INT(linux_meminfo_find(meminfo, STR("MemTotal")), 1 << 20);
    CHECK_INT(linux_meminfo_find(meminfo, STR("MemFree")), 512 << 10);
    CHECK_INT(linux_meminfo_find(meminfo, STR("Bad")), -1);
    CHECK_OK(linux_facts(arena, &facts));
    CHECK(facts.cpus > 0 && facts.memory_bytes > 0 && facts.kernel_version.n > 0 && facts.boot_id.n == 36);
    CHECK_OK(linux_usage(&usage));
    CHECK(usage.memory_available > 0 && usage.memory_available <= usage.memory_capacity && usage.pids > 0);
}

TEST("kubelet/linux_cgroup maps shares to weight")
{
    CHECK_INT(linux_cgroup_weight(2), 1);
    CHECK_INT(linux_cgroup_weight(1024), 39);
    CHECK_INT(linux_cgroup_weight(262144), 10000);
    CHECK_INT(linux_cgroup_weight(0), 1);
}
