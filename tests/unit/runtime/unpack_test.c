#include "runtime/images/unpack.h"

#include "runtime/images/digest.h"
#include "runtime/images/rooted.h"
#include "tar_maker.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

/* A world of one test: DIR/outside is what nothing may touch, DIR/layer is unpacked to. */
struct place {
    char directory[64], layer[80], outside[80];
    struct arena *arena;
    struct unpack_options options;
    struct unpack_result result;
};

static void place_make(struct place *place)
{
    *place = (struct place){.directory = "/tmp/c8s-unpack-XXXXXX", .arena = arena_new()};
    CHECK(mkdtemp(place->directory) != NULL);
    snprintf(place->layer, sizeof(place->layer), "%s/layer", place->directory);
    snprintf(place->outside, sizeof(place->outside), "%s/outside", place->directory);
    CHECK(mkdir(place->layer, 0755) == 0 && mkdir(place->outside, 0755) == 0);
    place->options = (struct unpack_options){.directory = place->layer};
}

static void place_done(struct place *place)
{
    CHECK(rmdir(place->outside) == 0); /* still empty */
    CHECK(rooted_remove(AT_FDCWD, place->directory) == 0);
    arena_free(place->arena);
}

static struct status *unpack_entries_of(struct place *place, const struct made_entry *entries, size_t count)
{
    OWNED(buf_done) struct buf tar = {0};

    for (size_t i = 0; i < count; i++) {
        tar_make_entry(&tar, &entries[i]);
    }
    tar_make_end(&tar);
    int fd = tar_make_fd(buf_str(&tar));
    struct status *failure = unpack_layer(fd, &place->options, place->arena, &place->result);

    close(fd);
    if (failure == NULL) {
        CHECK(str_eq(place->result.diff_id, digest_of(place->arena, buf_str(&tar))));
    }
    return failure;
}

#define UNPACK(place, ...)                                                                        \
    unpack_entries_of((place), (const struct made_entry[]){__VA_ARGS__},                          \
                      COUNT_OF(((const struct made_entry[]){__VA_ARGS__})))

static struct stat look(struct place *place, const char *name)
{
    char path[256];
    struct stat found;

    snprintf(path, sizeof(path), "%s/%s", place->layer, name);
    if (lstat(path, &found) != 0) {
        found = (struct stat){0};
    }
    return found;
}

static bool is_opaque(struct place *place, const char *name)
{
    char path[256], value[8];

    snprintf(path, sizeof(path), "%s/%s", place->layer, name);
    return lgetxattr(path, "trusted.overlay.opaque", value, sizeof(value)) == 1 && value[0] == 'y';
}

static bool is_whiteout(struct stat found)
{
    return S_ISCHR(found.st_mode) && found.st_rdev == makedev(0, 0);
}

TEST("runtime/unpack/keeps owners, modes, times, links and attributes")
{
    struct place place;

    place_make(&place);
    CHECK_OK(UNPACK(&place, {.type = '5', .path = "./", .mode = 0750, .uid = 3, .gid = 4},
                    {.type = '5', .path = "./a/", .mode = 0711, .uid = 5, .gid = 6},
                    {.type = '0', .path = "./a/su", .mode = 04755, .data = "hello", .uid = 7, .gid = 8,
                     .xattr = "user.note", .xattr_value = "kept"},
                    {.type = '1', .path = "./b", .link = "a/su"},
                    {.type = '2', .path = "./s", .link = "/anywhere", .mode = 0777},
                    {.type = '3', .path = "./null", .mode = 0666, .major = 1, .minor = 3},
                    {.type = '6', .path = "./pipe", .mode = 0600}));
    struct stat root = look(&place, ""), a = look(&place, "a"), su = look(&place, "a/su"), b = look(&place, "b");

    CHECK_INT(root.st_mode, S_IFDIR | 0750);
    CHECK(root.st_uid == 3 && root.st_gid == 4);
    CHECK_INT(a.st_mode, S_IFDIR | 0711);
    CHECK(a.st_uid == 5 && a.st_gid == 6);
    CHECK_INT(a.st_mtime, 1767225600);
    CHECK_INT(su.st_mode, S_IFREG | 04755);
    CHECK(su.st_uid == 7 && su.st_gid == 8 && su.st_size == 5 && su.st_nlink == 2 && su.st_ino == b.st_ino);
    CHECK(S_ISLNK(look(&place, "s").st_mode));
    CHECK(S_ISFIFO(look(&place, "pipe").st_mode));
    CHECK(look(&place, "null").st_rdev == makedev(1, 3));
    char path[128], value[8];

    snprintf(path, sizeof(path), "%s/a/su", place.layer);
    CHECK(getxattr(path, "user.note", value, sizeof(value)) == 4 && memcmp(value, "kept", 4) == 0);
    CHECK_INT(place.result.inodes, 7);
    CHECK_INT(place.result.bytes, 4096);
    place_done(&place);
}

TEST("runtime/unpack/whiteouts take the form of overlayfs")
{
    struct place place;

    place_make(&place);
    CHECK_OK(UNPACK(&place, {.type = '5', .path = "dir", .mode = 0755}, {.type = '0', .path = "dir/.wh.gone"},
                    {.type = '5', .path = "opaque", .mode = 0755}, {.type = '0', .path = "opaque/.wh..wh..opq"},
                    {.type = '0', .path = "opaque/new", .mode = 0644},
                    {.type = '0', .path = ".wh..wh.plnk", .mode = 0644},
                    /* gone below, and made anew: in both orders */
                    {.type = '5', .path = "anew", .mode = 0755}, {.type = '0', .path = ".wh.anew"},
                    {.type = '0', .path = ".wh.other"}, {.type = '5', .path = "other", .mode = 0755},
                    {.type = '0', .path = "file", .mode = 0644}, {.type = '0', .path = ".wh.file"}));
    CHECK(is_whiteout(look(&place, "dir/gone")));
    CHECK(is_opaque(&place, "opaque") && S_ISREG(look(&place, "opaque/new").st_mode));
    CHECK_INT(look(&place, ".wh..wh.plnk").st_mode, 0);
    CHECK(S_ISDIR(look(&place, "anew").st_mode) && is_opaque(&place, "anew"));
    CHECK(S_ISDIR(look(&place, "other").st_mode) && is_opaque(&place, "other"));
    CHECK(S_ISREG(look(&place, "file").st_mode));
    place_done(&place);
}

TEST("runtime/unpack/nothing gets outside the layer")
{
    struct place place;
    char absolute[128];

    place_make(&place);
    snprintf(absolute, sizeof(absolute), "%s/evil", place.outside);
    CHECK_OK(UNPACK(&place, {.type = '0', .path = "../../../../outside/evil", .mode = 0644, .data = "x"},
                    {.type = '0', .path = absolute, .mode = 0644, .data = "x"},
                    /* through symbolic links of the layer's own */
                    {.type = '2', .path = "up", .link = "../outside"},
                    {.type = '0', .path = "up/evil", .mode = 0644, .data = "x"},
                    {.type = '2', .path = "abs", .link = place.outside},
                    {.type = '0', .path = "abs/evil2", .mode = 0644, .data = "x"},
                    {.type = '5', .path = "abs/evil3", .mode = 0755},
                    {.type = '0', .path = "abs/.wh.evil4"},
                    {.type = '0', .path = "abs/.wh..wh..opq"},
                    /* a file over a link replaces the link */
                    {.type = '2', .path = "file", .link = "../outside/evil5"},
                    {.type = '0', .path = "file", .mode = 0644, .data = "x"},
                    {.type = '2', .path = "linked", .link = "../outside/evil6"},
                    {.type = '1', .path = "hard", .link = "linked"},
                    {.type = '0', .path = "hard", .mode = 0644, .data = "x"}));
    CHECK(S_ISREG(look(&place, "outside/evil").st_mode));
    CHECK(S_ISREG(look(&place, "file").st_mode));
    CHECK(S_ISREG(look(&place, "hard").st_mode));
    CHECK(S_ISREG(look(&place, place.outside + 1).st_mode) || S_ISDIR(look(&place, place.outside + 1).st_mode));
    place_done(&place);
}

TEST("runtime/unpack/hard links to the outside fail")
{
    struct place place;

    place_make(&place);
    CHECK_ERROR(UNPACK(&place, {.type = '1', .path = "shadow", .link = "../../../../etc/shadow"}), "linking shadow");
    CHECK_ERROR(UNPACK(&place, {.type = '1', .path = "shadow", .link = "/etc/shadow"}), "linking shadow");
    CHECK_ERROR(UNPACK(&place, {.type = '2', .path = "etc", .link = "/etc"},
                       {.type = '1', .path = "shadow", .link = "etc/shadow"}), "linking shadow");
    place_done(&place);
}

TEST("runtime/unpack/limits hold")
{
    struct place place;

    place_make(&place);
    CHECK_ERROR(UNPACK(&place, {.type = '0', .path = "huge", .mode = 0644, .claimed_size = 1LL << 60}), "too large");
    CHECK_ERROR(UNPACK(&place, {.type = '0', .path = "short", .mode = 0644, .data = "x", .claimed_size = 1 << 20}),
                "runcated");
    place.options.entries_max = 2;
    CHECK_ERROR(UNPACK(&place, {.type = '0', .path = "a"}, {.type = '0', .path = "b"}, {.type = '0', .path = "c"}),
                "too many entries");
    place.options.entries_max = 0;
    place.options.bytes_max = 2048;
    CHECK_ERROR(UNPACK(&place, {.type = '0', .path = "a", .mode = 0644, .data = "x"},
                       {.type = '0', .path = "b", .mode = 0644, .data = "x"}), "too large");
    CHECK_ERROR(UNPACK(&place, {.type = '0', .path = "", .mode = 0644, .data = "x"}), "");
    place_done(&place);
}

TEST("runtime/unpack/cancelling ends it")
{
    struct place place;
    atomic_bool cancelled = true;

    place_make(&place);
    place.options.is_cancelled = &cancelled;
    struct status *failure = UNPACK(&place, {.type = '0', .path = "a", .mode = 0644, .data = "x"});

    CHECK(status_is(failure, STATUS_CANCELLED));
    status_free(failure);
    place_done(&place);
}

TEST("runtime/unpack/marks of overlayfs are not taken from a layer")
{
    struct place place;

    place_make(&place);
    CHECK_OK(UNPACK(&place, {.type = '5', .path = "d", .mode = 0755, .xattr = "trusted.overlay.opaque",
                             .xattr_value = "y"}));
    CHECK(!is_opaque(&place, "d"));
    place_done(&place);
}

TEST("runtime/unpack/directories left out look as they do below")
{
    struct place place;
    const char *lower[] = {NULL};
    char path[128];

    place_make(&place);
    snprintf(path, sizeof(path), "%s/lower", place.directory);
    lower[0] = path;
    CHECK(mkdir(path, 0755) == 0);
    char sub[160];

    snprintf(sub, sizeof(sub), "%s/home", path);
    CHECK(mkdir(sub, 0700) == 0 && chown(sub, 12, 13) == 0);
    place.options.lowers = lower;
    place.options.lower_count = 1;
    CHECK_OK(UNPACK(&place, {.type = '0', .path = "home/new/file", .mode = 0644, .data = "x"},
                    /* by a link to what is not there yet */
                    {.type = '2', .path = "var-run", .link = "run"},
                    {.type = '0', .path = "var-run/pid", .mode = 0644, .data = "x"}));
    struct stat home = look(&place, "home"), new = look(&place, "home/new");

    CHECK_INT(home.st_mode, S_IFDIR | 0700);
    CHECK(home.st_uid == 12 && home.st_gid == 13);
    CHECK_INT(new.st_mode, S_IFDIR | 0755);
    CHECK(S_ISREG(look(&place, "run/pid").st_mode));
    place_done(&place);
}

TEST("runtime/unpack/an empty layer, broken and foreign bytes")
{
    struct place place;
    int fd = tar_make_fd(STR("this is not a tar archive at all, whatever it says it is"));

    place_make(&place);
    CHECK_OK(UNPACK(&place, {.type = '5', .path = ".", .mode = 0755}));
    CHECK_ERROR(unpack_layer(fd, &place.options, place.arena, &place.result), "");
    close(fd);
    fd = tar_make_fd(STR("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b"));
    CHECK_ERROR(unpack_layer(fd, &place.options, place.arena, &place.result), "");
    close(fd);
    place_done(&place);
}

TEST("runtime/rooted/clean paths")
{
    char out[PATH_MAX];

    CHECK(rooted_clean("/a//b/./c/", out) && strcmp(out, "a/b/c") == 0);
    CHECK(rooted_clean("../../a/../b", out) && strcmp(out, "b") == 0);
    CHECK(rooted_clean("..", out) && strcmp(out, "") == 0);
    CHECK(rooted_clean("a/b/..", out) && strcmp(out, "a") == 0);
    CHECK(rooted_clean("...", out) && strcmp(out, "...") == 0);
    char *longer = malloc(5001);

    memset(longer, 'x', 5000);
    longer[5000] = '\0';
    CHECK(!rooted_clean(longer, out));
    free(longer);
}

TEST("runtime/digest/known values")
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    CHECK_STR(digest_of(arena, STR("abc")), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(digest_is_valid(digest_of(arena, STR(""))));
    CHECK(!digest_is_valid(STR("sha256:BA7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")));
    CHECK(!digest_is_valid(STR("sha256:ba78")));
    CHECK(!digest_is_valid(STR("md5:ba7816bf8f01cfea414140de5dae2223")));
    CHECK(!digest_is_valid(STR("sha256:../../../../../../../../../../../../../../../../../../etc/passwd")));
}
