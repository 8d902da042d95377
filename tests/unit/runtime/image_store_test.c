#include "runtime/images/image_store.h"

#include "base/file.h"
#include "image_maker.h"
#include "runtime/images/digest.h"
#include "runtime/images/image_import.h"
#include "runtime/images/rooted.h"
#include "test.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define NGINX "docker.io/library/nginx:latest"

/* A store in a directory of its own. */
struct place {
    char directory[64];
    struct arena *arena;
    struct image_store *store;
    struct made_image image;
};

static void place_make(struct place *place)
{
    *place = (struct place){.directory = "/tmp/c8s-images-XXXXXX", .arena = arena_new()};
    CHECK(mkdtemp(place->directory) != NULL);
    CHECK_OK(image_store_open(str_of(place->directory), &place->store));
}

static void place_done(struct place *place)
{
    image_store_close(place->store);
    CHECK(rooted_remove(AT_FDCWD, place->directory) == 0);
    arena_free(place->arena);
}

/* Two layers: /a and /b. */
static void make_two_layers(struct place *place, const char *config)
{
    place->image.layers[0] = image_make_layer(place->arena, "a", "lower");
    place->image.layers[1] = image_make_layer(place->arena, "b", "upper");
    place->image.layer_count = 2;
    image_make(place->arena, &place->image, config);
}

static struct status *import_bytes(struct place *place, struct str bytes, struct str_list *names)
{
    int fd = tar_make_fd(bytes);
    struct status *failure = image_import(place->store, fd, place->arena, names);

    close(fd);
    return failure;
}

static void check_file(struct place *place, const char *path, const char *content)
{
    struct str got;

    CHECK_OK(file_read(place->arena, path, 100, &got));
    CHECK_STR(got, content);
}

static size_t count_files(struct place *place, const char *part)
{
    struct str command = arena_printf(place->arena, "ls -A %s/%s | wc -l", place->directory, part);
    FILE *pipe = popen(command.p, "r");
    size_t count = 0;

    CHECK(pipe != NULL && fscanf(pipe, "%zu", &count) == 1);
    pclose(pipe);
    return count;
}

static void import_oci(void *arg)
{
    struct place *place = arg;
    struct str_list names;
    OWNED(image_unrefp) struct image *image = NULL;
    OWNED(image_unrefp) struct image *same = NULL;

    make_two_layers(place, "{\"User\":\"1000:1000\",\"Cmd\":[\"/a\"]}");
    CHECK_OK(import_bytes(place, image_make_oci(place->arena, &place->image, "nginx"), &names));
    CHECK_INT(names.len, 1);
    CHECK_STR(names.items[0], NGINX);
    CHECK_OK(image_store_find(place->store, STR("nginx"), &image));
    CHECK(str_eq(image->id, place->image.config_digest));
    CHECK(str_eq(image->manifest, place->image.manifest_digest));
    CHECK_INT(image->tags.len, 1);
    CHECK_INT(image->digests.len, 0);
    CHECK_STR(image->config.cmd.items[0], "/a");
    CHECK_INT(image->size, place->image.manifest.n + place->image.config.n + place->image.layers[0].n +
                               place->image.layers[1].n);
    /* By its ID, and by how the ID begins. */
    CHECK_OK(image_store_find(place->store, image->id, &same));
    CHECK(str_eq(same->id, image->id));
    image_unref(TAKE(same));
    CHECK_OK(image_store_find(place->store, str_sub(image->id, 7, 19), &same));
    CHECK(str_eq(same->id, image->id));
    CHECK_ERROR(image_store_find(place->store, STR("nginx:1.0"), &same), "image \"nginx:1.0\": not found");
    CHECK_INT(count_files(place, "ingest"), 0);
}

TEST("runtime/images/store imports an OCI layout and finds the image by name and ID")
{
    struct place place;

    place_make(&place);
    test_run_task(import_oci, &place);
    place_done(&place);
}

static void import_docker(void *arg)
{
    struct place *place = arg;
    struct str_list names;
    OWNED(image_unrefp) struct image *image = NULL;

    place->image.layers[0] = place->image.layers[2] = image_make_layer(place->arena, "a", "same");
    place->image.layers[1] = image_make_layer(place->arena, "b", "other");
    place->image.layer_count = 3;
    image_make(place->arena, &place->image, "{}");
    CHECK_OK(import_bytes(place, image_make_docker(place->arena, &place->image, "registry:5000/team/tool:v1", true),
                          &names));
    CHECK_STR(names.items[0], "registry:5000/team/tool:v1");
    CHECK_OK(image_store_find(place->store, STR("registry:5000/team/tool:v1"), &image));
    CHECK(str_eq(image->id, place->image.config_digest));
    CHECK_INT(count_files(place, "layers"), 3);
    /* The same again changes nothing; without a name it gets one by digest. */
    CHECK_OK(import_bytes(place, image_make_docker(place->arena, &place->image, NULL, false), &names));
    CHECK(str_has_prefix(names.items[0], STR("import@sha256:")));
    CHECK_INT(count_files(place, "layers"), 3);
}

TEST("runtime/images/store imports docker archives, with layers that are links")
{
    struct place place;

    place_make(&place);
    test_run_task(import_docker, &place);
    place_done(&place);
}

/* Changes one byte of the archive where `needle` is. */
static struct str spoil(struct arena *arena, struct str archive, struct str needle)
{
    struct str copy = arena_str(arena, archive);
    size_t at = str_find(copy, needle);

    CHECK(at != SIZE_MAX);
    ((char *)copy.p)[at] ^= 1;
    return copy;
}

static void refuse_spoilt(void *arg)
{
    struct place *place = arg;
    struct str_list names;
    struct images images;

    make_two_layers(place, "{}");
    struct str archive = image_make_oci(place->arena, &place->image, "nginx");

    CHECK_ERROR(import_bytes(place, spoil(place->arena, archive, STR("upper")), &names), "unexpected content");
    CHECK_ERROR(import_bytes(place, spoil(place->arena, archive, STR("amd64")), &names), "unexpected content");
    CHECK_ERROR(import_bytes(place, str_sub(archive, 0, 700), &names), "");
    CHECK_ERROR(import_bytes(place, STR("no archive at all"), &names), "");
    CHECK_ERROR(import_bytes(place, image_make_layer(place->arena, "a", "b"), &names), "neither an OCI layout");
    /* Docker's archives have no digests of layers but the diff IDs. */
    archive = image_make_docker(place->arena, &place->image, "nginx", false);
    CHECK_ERROR(import_bytes(place, spoil(place->arena, archive, STR("upper")), &names),
                "wrong diff id calculated on extraction");
    CHECK_OK(image_store_list(place->store, place->arena, &images));
    CHECK_INT(images.len, 0);
    CHECK_OK(image_store_collect(place->store));
    CHECK_INT(count_files(place, "layers") + count_files(place, "blobs") + count_files(place, "ingest"), 0);
}

TEST("runtime/images/store refuses archives whose content is not what it says")
{
    struct place place;

    place_make(&place);
    test_run_task(refuse_spoilt, &place);
    place_done(&place);
}

static void refuse_foreign(void *arg)
{
    struct place *place = arg;
    struct str_list names;

    place->image.layer_count = 0;
    image_make(place->arena, &place->image, "{}");
    struct str archive = image_make_docker(place->arena, &place->image, "a", false);
    size_t at = str_find(archive, STR("\"architecture\":\""));

    memcpy((char *)archive.p + at + 16, "vax78", 5);
    CHECK_ERROR(import_bytes(place, archive, &names), "in the archive (1 for other platforms)");
}

TEST("runtime/images/store refuses images of other machines")
{
    struct place place;

    place_make(&place);
    test_run_task(refuse_foreign, &place);
    place_done(&place);
}

static void remove_shared(void *arg)
{
    struct place *place = arg;
    struct made_image other = {.layer_count = 1};
    struct str_list names;
    OWNED(image_unrefp) struct image *image = NULL;
    struct snapshot_mount mount;
    int64_t bytes, inodes;

    make_two_layers(place, "{}");
    other.layers[0] = place->image.layers[0]; /* the two share their lowest layer */
    image_make(place->arena, &other, "{\"User\":\"root\"}");
    CHECK_OK(import_bytes(place, image_make_oci(place->arena, &place->image, "nginx"), &names));
    CHECK_OK(import_bytes(place, image_make_oci(place->arena, &other, "other"), &names));
    CHECK_INT(count_files(place, "layers"), 2);
    CHECK_OK(image_store_usage(place->store, &bytes, &inodes));
    CHECK_INT(inodes, 2 + 4);
    CHECK(bytes >= 2 * 4096);
    CHECK_OK(image_store_find(place->store, STR("nginx"), &image));
    /* A container stands on nginx: its layers stay when the image goes. */
    CHECK_OK(snapshots_prepare(image_store_snapshots(place->store), STR("c1"), image->chain_id, place->arena, &mount));
    CHECK_OK(image_store_remove(place->store, STR("nginx")));
    CHECK_OK(image_store_remove(place->store, STR("nginx"))); /* it is gone already: fine */
    CHECK_INT(count_files(place, "layers"), 2);
    CHECK_INT(count_files(place, "blobs"), 2);
    CHECK_OK(snapshots_discard(image_store_snapshots(place->store), STR("c1")));
    CHECK_OK(image_store_collect(place->store));
    CHECK_INT(count_files(place, "layers"), 1);
    CHECK_OK(image_store_remove(place->store, STR("other")));
    CHECK_INT(count_files(place, "layers") + count_files(place, "chains") + count_files(place, "trash"), 0);
}

TEST("runtime/images/store removes what no image and no container needs any more")
{
    struct place place;

    place_make(&place);
    test_run_task(remove_shared, &place);
    place_done(&place);
}

static void collect_later(void *arg)
{
    struct place *place = arg;
    struct str_list names;
    int hold;

    make_two_layers(place, "{}");
    CHECK_OK(import_bytes(place, image_make_oci(place->arena, &place->image, "nginx"), &names));
    CHECK_OK(snapshots_hold(image_store_snapshots(place->store), &hold));
    CHECK_OK(image_store_remove(place->store, STR("nginx")));
    CHECK_INT(count_files(place, "layers"), 2); /* somebody is adding an image that may need them */
    close(hold);
    place->image.layer_count = 0;
    image_make(place->arena, &place->image, "{}");
    CHECK_OK(import_bytes(place, image_make_oci(place->arena, &place->image, "empty"), &names));
    CHECK_INT(count_files(place, "layers"), 0);
}

TEST("runtime/images/store collects later when images are being added")
{
    struct place place;

    place_make(&place);
    test_run_task(collect_later, &place);
    place_done(&place);
}

static void survive(void *arg)
{
    struct place *place = arg;
    struct str_list names;
    struct images images;
    struct image_store *other;

    make_two_layers(place, "{}");
    CHECK_OK(import_bytes(place, image_make_oci(place->arena, &place->image, "nginx"), &names));
    /* Another process sees it; what it removes is gone here too. */
    CHECK_OK(image_store_open(str_of(place->directory), &other));
    CHECK_OK(image_store_list(other, place->arena, &images));
    CHECK_INT(images.len, 1);
    CHECK_OK(image_store_remove(other, STR("nginx")));
    CHECK_OK(image_store_list(place->store, place->arena, &images));
    CHECK_INT(images.len, 0);
    /* A power cut that took a layer, or half of a blob, leaves no image, and importing again makes it whole. */
    CHECK_OK(import_bytes(place, image_make_oci(place->arena, &place->image, "nginx"), &names));
    CHECK_INT(system(arena_printf(place->arena, "rm -r %s/layers/*; for f in %s/blobs/*; do : >$f; done",
                                  place->directory, place->directory)
                         .p),
              0);
    CHECK_OK(image_store_list(other, place->arena, &images));
    CHECK_INT(images.len, 0);
    CHECK_OK(import_bytes(place, image_make_oci(place->arena, &place->image, "nginx"), &names));
    CHECK_OK(image_store_list(other, place->arena, &images));
    CHECK_INT(images.len, 1);
    CHECK_OK(image_store_collect(other));
    CHECK_INT(count_files(place, "layers"), 2);
    image_store_close(other);
}

TEST("runtime/images/store is shared by processes, and mends what a crash broke")
{
    struct place place;

    place_make(&place);
    test_run_task(survive, &place);
    place_done(&place);
}

static struct str read_seed(struct place *place, const char *name)
{
    struct str bytes;

    CHECK_OK(file_read(place->arena, arena_printf(place->arena, "tests/fuzz/corpus/layer/%s", name).p, 1 << 20, &bytes));
    return bytes;
}

/* The same tar stream in three forms is the same layer. */
static void import_compressed(void *arg)
{
    struct place *place = arg;
    static const char *const forms[] = {"tar", "gzip", "zstd"};
    struct str diff_id = digest_of(place->arena, read_seed(place, "tar"));

    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        int fd = tar_make_fd(read_seed(place, forms[i]));

        CHECK(!snapshots_has(image_store_snapshots(place->store), diff_id));
        CHECK_OK(snapshots_add(image_store_snapshots(place->store), STR(""), diff_id, fd, NULL));
        CHECK(snapshots_has(image_store_snapshots(place->store), diff_id));
        close(fd);
        CHECK_OK(image_store_collect(place->store));
    }
}

TEST("runtime/images/snapshot takes layers as they are, with gzip and with zstd")
{
    struct place place;

    place_make(&place);
    test_run_task(import_compressed, &place);
    place_done(&place);
}

static void own_mounts(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
        CHECK(!"needs a mount namespace of its own");
    }
}

static void mount_many(void *arg)
{
    struct place *place = arg;
    struct str_list names;
    OWNED(image_unrefp) struct image *image = NULL;
    struct snapshot_mount mount, again;
    struct snapshots *snapshots = image_store_snapshots(place->store);
    struct str target = arena_printf(place->arena, "%s/target", place->directory);
    int64_t bytes, inodes;

    for (size_t i = 0; i < MADE_LAYERS_MAX; i++) {
        place->image.layers[i] =
            image_make_layer(place->arena, arena_printf(place->arena, "file%zu", i).p, i == 0 ? "lowest" : "more");
    }
    place->image.layer_count = MADE_LAYERS_MAX;
    image_make(place->arena, &place->image, "{}");
    CHECK_OK(import_bytes(place, image_make_oci(place->arena, &place->image, "many"), &names));
    CHECK_OK(image_store_find(place->store, STR("many"), &image));
    CHECK_OK(snapshots_prepare(snapshots, STR("c1"), image->chain_id, place->arena, &mount));
    CHECK_OK(snapshots_prepare(snapshots, STR("c1"), image->chain_id, place->arena, &again));
    CHECK_INT(mount.layer_count, MADE_LAYERS_MAX);
    CHECK_ERROR(snapshots_prepare(snapshots, STR("c1"), STR(""), place->arena, &again), "on another image");
    CHECK_ERROR(snapshots_prepare(snapshots, STR("../c1"), STR(""), place->arena, &again), "invalid container ID");
    CHECK(mkdir(target.p, 0755) == 0);
    CHECK_OK(snapshot_mount(&mount, target.p));
    check_file(place, arena_printf(place->arena, "%s/file0", target.p).p, "lowest");
    CHECK_INT(system(arena_printf(place->arena, "test $(ls %s | wc -l) = %d && printf changed > %s/file0 && "
                                                "head -c 100000 /dev/zero > %s/new && rm %s/file1",
                                  target.p, MADE_LAYERS_MAX, target.p, target.p, target.p)
                         .p),
              0);
    CHECK_OK(snapshots_container_usage(snapshots, STR("c1"), &bytes, &inodes));
    CHECK_INT(inodes, 4); /* the root, file0, new, and that file1 is gone */
    CHECK(bytes >= 100000 && bytes < 200000);
    CHECK(umount(target.p) == 0);
    check_file(place, arena_printf(place->arena, "%s/file0", mount.upper.p).p, "changed");
}

TEST("runtime/images/snapshot mounts as many layers as there may be")
{
    struct place place;

    own_mounts();
    place_make(&place);
    test_run_task(mount_many, &place);
    place_done(&place);
}

static struct str tar_of(struct place *place, const struct made_entry *entries, size_t count)
{
    OWNED(buf_done) struct buf tar = {0};

    for (size_t i = 0; i < count; i++) {
        tar_make_entry(&tar, &entries[i]);
    }
    tar_make_end(&tar);
    return arena_str(place->arena, buf_str(&tar));
}

#define TAR_OF(place, ...) \
    tar_of(place, (struct made_entry[]){__VA_ARGS__}, sizeof((struct made_entry[]){__VA_ARGS__}) / sizeof(struct made_entry))

/* Everything a layer can do to those below it; what there is to be seen must be the same with overlayfs and without. */
static void make_changes(struct place *place)
{
    place->image.layers[0] = TAR_OF(
        place, {.type = '5', .path = "usr/lib", .mode = 0755}, {.type = '2', .path = "lib", .link = "usr/lib"},
        {.type = '0', .path = "gone", .data = "x", .mode = 0644}, {.type = '5', .path = "hidden", .mode = 0750},
        {.type = '0', .path = "hidden/low", .data = "x", .mode = 0644}, {.type = '5', .path = "both", .mode = 0755},
        {.type = '0', .path = "both/low", .data = "x", .mode = 0644},
        {.type = '0', .path = "changed", .data = "before", .mode = 0644, .uid = 7},
        {.type = '1', .path = "other-name", .link = "changed"}, {.type = '3', .path = "null", .major = 1, .minor = 3});
    place->image.layers[1] = TAR_OF(
        place, {.type = '0', .path = "lib/new", .data = "new", .mode = 0755}, {.type = '0', .path = ".wh.gone"},
        {.type = '0', .path = "hidden/high", .data = "y", .mode = 0644}, {.type = '0', .path = "hidden/.wh..wh..opq"},
        {.type = '0', .path = "both/high", .data = "y", .mode = 0644},
        {.type = '0', .path = "changed", .data = "after", .mode = 0600, .gid = 9});
    place->image.layer_count = 2;
    image_make(place->arena, &place->image, "{}");
}

static void mount_changes(void *arg)
{
    struct place *place = arg;
    struct str_list names;
    OWNED(image_unrefp) struct image *image = NULL;
    struct snapshot_mount mount;
    struct str target = arena_printf(place->arena, "%s/target", place->directory);

    make_changes(place);
    CHECK_OK(import_bytes(place, image_make_oci(place->arena, &place->image, "changes"), &names));
    CHECK_OK(image_store_find(place->store, STR("changes"), &image));
    CHECK_OK(snapshots_prepare(image_store_snapshots(place->store), STR("c1"), image->chain_id, place->arena, &mount));
    CHECK_INT(mount.layer_count, file_exists(arena_printf(place->arena, "%s/flat", place->directory).p) ? 0 : 2);
    CHECK(mkdir(target.p, 0755) == 0);
    CHECK_OK(snapshot_mount(&mount, target.p));
    CHECK_INT(system(arena_printf(place->arena, "cd %s && find . -mindepth 1 -printf '%%p %%y %%m %%U:%%G %%l\\n' | "
                                                "sort >%s/seen",
                                  target.p, place->directory)
                         .p),
              0);
    check_file(place, arena_printf(place->arena, "%s/changed", target.p).p, "after");
    check_file(place, arena_printf(place->arena, "%s/other-name", target.p).p, "before");
    CHECK(umount(target.p) == 0);
    struct str seen;

    CHECK_OK(file_read(place->arena, arena_printf(place->arena, "%s/seen", place->directory).p, 4096, &seen));
    CHECK_STR(seen, "./both d 755 0:0 \n./both/high f 644 0:0 \n./both/low f 644 0:0 \n./changed f 600 0:9 \n"
                    "./hidden d 750 0:0 \n./hidden/high f 644 0:0 \n./lib l 777 0:0 usr/lib\n./null c 0 0:0 \n"
                    "./other-name f 644 7:0 \n./usr d 755 0:0 \n./usr/lib d 755 0:0 \n./usr/lib/new f 755 0:0 \n");
    /* Another container of the image is not touched by what this one writes. */
    CHECK_OK(snapshots_prepare(image_store_snapshots(place->store), STR("c2"), image->chain_id, place->arena, &mount));
    CHECK_OK(snapshots_discard(image_store_snapshots(place->store), STR("c1")));
    CHECK_OK(snapshots_discard(image_store_snapshots(place->store), STR("c2")));
    CHECK_OK(image_store_remove(place->store, STR("changes")));
    CHECK_INT(count_files(place, "layers"), 0);
}

TEST("runtime/images/snapshot shows what layers change, by overlayfs")
{
    struct place place;

    own_mounts();
    place_make(&place);
    CHECK(!file_exists(arena_printf(place.arena, "%s/flat", place.directory).p));
    test_run_task(mount_changes, &place);
    place_done(&place);
}

TEST("runtime/images/snapshot does without overlayfs on an overlayfs")
{
    struct place place = {.directory = "/tmp/c8s-nested-XXXXXX", .arena = arena_new()};
    char options[300];

    own_mounts();
    CHECK(mkdtemp(place.directory) != NULL);
    CHECK(mount("none", place.directory, "tmpfs", 0, NULL) == 0);
    CHECK_INT(system(arena_printf(place.arena, "cd %s && mkdir a b c nested", place.directory).p), 0);
    snprintf(options, sizeof(options), "lowerdir=%s/a,upperdir=%s/b,workdir=%s/c", place.directory, place.directory,
             place.directory);
    strcat(place.directory, "/nested");
    CHECK(mount("overlay", place.directory, "overlay", 0, options) == 0);
    CHECK_OK(image_store_open(str_of(place.directory), &place.store));
    CHECK(file_exists(arena_printf(place.arena, "%s/flat", place.directory).p));
    test_run_task(mount_changes, &place);
    image_store_close(place.store);
    CHECK(umount(place.directory) == 0);
    *strrchr(place.directory, '/') = '\0';
    CHECK(umount(place.directory) == 0 && rmdir(place.directory) == 0);
    arena_free(place.arena);
}
