#include "runtime/images/image_pull.h"

#include "base/file.h"
#include "base/task.h"
#include "fake_registry.h"
#include "net/event_loop.h"
#include "runtime/images/digest.h"
#include "runtime/images/manifest.h"
#include "runtime/images/rooted.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A store, a registry that docker.io is mirrored by, and an image of three layers in it. */
struct world {
    char directory[64];
    struct arena *arena;
    struct image_store *store;
    struct image_puller *puller;
    struct fake_registry registry;
    struct made_image image;
    void (*run)(struct world *world);
};

static struct str text_of(struct arena *arena, size_t size)
{
    char *text = arena_alloc(arena, size + 1);

    for (size_t i = 0; i < size; i++) {
        text[i] = (char)('a' + i * 7 % 26);
    }
    return (struct str){text, size};
}

static void write_registries(struct world *world, const char *more)
{
    struct str path = arena_printf(world->arena, "%s/registries.yaml", world->directory);

    CHECK_OK(file_write(path.p,
                        arena_printf(world->arena,
                                     "mirrors:\n  docker.io:\n    endpoint: [\"http://127.0.0.1:%d\"]\n"
                                     "  two.example:\n    endpoint: [\"http://127.0.0.1:1\",\"http://127.0.0.1:%d\"]\n%s",
                                     world->registry.port, world->registry.port, more),
                        0600));
}

static void run_world(void *arg)
{
    struct world *world = arg;

    fake_registry_start(&world->registry);
    world->image.layers[0] = image_make_layer(world->arena, "a", "lower");
    world->image.layers[1] = image_make_layer(world->arena, "big", text_of(world->arena, 300000).p);
    world->image.layers[2] = image_make_layer(world->arena, "c", "upper");
    world->image.layer_count = 3;
    image_make(world->arena, &world->image, "{\"Cmd\":[\"/a\"]}");
    fake_registry_add_image(&world->registry, &world->image, "library/nginx", "latest");
    write_registries(world, "");
    CHECK_OK(image_store_open(arena_printf(world->arena, "%s/store", world->directory), &world->store));
    world->puller =
        image_puller_new(world->store, arena_printf(world->arena, "%s/registries.yaml", world->directory));
    world->run(world);
    image_puller_free(world->puller);
    image_store_close(world->store);
    fake_registry_stop(&world->registry);
}

static void in_world(void (*run)(struct world *world))
{
    struct world world = {.directory = "/tmp/c8s-pull-XXXXXX", .arena = arena_new(), .run = run};

    CHECK(mkdtemp(world.directory) != NULL);
    struct env *env = event_loop_new();

    event_loop_run_task(env, "world", run_world, &world);
    event_loop_free(env);
    CHECK(rooted_remove(AT_FDCWD, world.directory) == 0);
    arena_free(world.arena);
}

static struct status *pull(struct world *world, const char *reference, const struct registry_auth *auth)
{
    struct image *image;

    TRY(image_pull(world->puller, str_of(reference), auth, &image));
    CHECK(str_eq(image->id, world->image.config_digest));
    image_unref(image);
    return NULL;
}

static size_t image_count(struct world *world)
{
    struct images images;

    CHECK_OK(image_store_list(world->store, world->arena, &images));
    return images.len;
}

static void pull_twice(struct world *world)
{
    OWNED(image_unrefp) struct image *image = NULL;

    CHECK_OK(pull(world, "nginx", NULL));
    CHECK_INT(world->registry.blob_gets, 4);
    CHECK_OK(image_store_find(world->store, STR("docker.io/library/nginx:latest"), &image));
    CHECK_STR(image->tags.items[0], "docker.io/library/nginx:latest");
    CHECK(str_eq(image->digests.items[0], arena_printf(world->arena, "docker.io/library/nginx@%s",
                                                       world->image.manifest_digest.p)));
    /* Again: one question is enough. By its digest: none. */
    int gets = world->registry.gets;

    CHECK_OK(pull(world, "nginx", NULL));
    CHECK_INT(world->registry.gets, gets);
    CHECK_INT(world->registry.heads, 1);
    CHECK_OK(pull(world, image->digests.items[0].p, NULL));
    CHECK_INT(world->registry.heads, 1);
    /* The tag moves on: what is shared stays, what is new comes. */
    image_make(world->arena, &world->image, "{\"Cmd\":[\"/b\"]}");
    fake_registry_add_image(&world->registry, &world->image, "library/nginx", "latest");
    CHECK_OK(pull(world, "nginx", NULL));
    CHECK_INT(world->registry.blob_gets, 5);
    CHECK_INT(image_count(world), 2);
}

TEST("runtime/images/pull brings an image, and only what has changed")
{
    in_world(pull_twice);
}

static void pull_from_index(struct world *world)
{
    struct str mine = platform_host().architecture;
    struct str index = arena_printf(
        world->arena,
        "{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_DOCKER_INDEX "\",\"manifests\":["
        "{\"mediaType\":\"" MEDIA_OCI_MANIFEST "\",\"digest\":\"sha256:%064d\",\"size\":7,"
        "\"platform\":{\"os\":\"linux\",\"architecture\":\"s390x\"}},"
        "{\"mediaType\":\"" MEDIA_OCI_MANIFEST "\",\"digest\":\"%s\",\"size\":%zu,"
        "\"platform\":{\"os\":\"linux\",\"architecture\":\"%s\"}}]}",
        1, world->image.manifest_digest.p, world->image.manifest.n, mine.p);
    OWNED(image_unrefp) struct image *image = NULL;

    fake_registry_add(&world->registry, STR("library/nginx/manifests/multi"), index, MEDIA_DOCKER_INDEX);
    CHECK_OK(pull(world, "nginx:multi", NULL));
    CHECK_OK(image_store_find(world->store, STR("nginx:multi"), &image));
    /* The digest that people see is the index'. */
    CHECK(str_eq(image->digests.items[0],
                 arena_printf(world->arena, "docker.io/library/nginx@%s", digest_of(world->arena, index).p)));
    CHECK(str_eq(image->manifest, world->image.manifest_digest));
    memcpy((char *)index.p + str_find(index, STR("linux\",\"architecture\":\"a")), "linuy", 5);
    fake_registry_add(&world->registry, STR("library/nginx/manifests/foreign"), index, MEDIA_DOCKER_INDEX);
    CHECK_ERROR(pull(world, "nginx:foreign", NULL), "no match for platform in manifest: not found");
}

TEST("runtime/images/pull finds the manifest for this machine in an index")
{
    in_world(pull_from_index);
}

static void pull_missing(struct world *world)
{
    struct str domain = arena_printf(world->arena, "127.0.0.1:%d/library/nginx:1.0", world->registry.port);
    struct status *failure = pull(world, domain.p, NULL);

    CHECK(status_is(failure, STATUS_NOT_FOUND));
    CHECK_STR(failure->message,
              arena_printf(world->arena, "failed to pull and unpack image \"%s\": failed to resolve reference \"%s\": "
                                         "%s: not found",
                           domain.p, domain.p, domain.p)
                  .p);
    status_free(failure);
    CHECK_ERROR(pull(world, "127.0.0.1:1/x", NULL),
                "failed to do request: Get \"http://127.0.0.1:1/v2/x/manifests/latest\": dial tcp 127.0.0.1:1: "
                "connect: connection refused");
    CHECK_ERROR(pull(world, "UPPER", NULL), "failed to parse image reference \"UPPER\"");
    world->registry.fail_with = 500;
    CHECK_ERROR(pull(world, domain.p, NULL),
                arena_printf(world->arena,
                             "unexpected status from GET request to http://127.0.0.1:%d/v2/library/nginx/manifests/1.0: "
                             "500 Internal Server Error",
                             world->registry.port)
                    .p);
    CHECK_INT(image_count(world), 0);
}

TEST("runtime/images/pull says why an image can't be had, as stock does")
{
    in_world(pull_missing);
}

static void pull_second_mirror(struct world *world)
{
    CHECK_OK(pull(world, "two.example/library/nginx", NULL)); /* nobody listens at the first */
    CHECK_INT(image_count(world), 1);
}

TEST("runtime/images/pull asks one mirror after the other")
{
    in_world(pull_second_mirror);
}

static void pull_basic(struct world *world)
{
    struct registry_auth wrong = {STR("me"), STR("wrong"), STR(""), STR("")};
    struct registry_auth right = {STR("me"), STR("secret"), STR(""), STR("")};
    struct str own = arena_printf(world->arena, "127.0.0.1:%d/library/nginx", world->registry.port);

    world->registry.auth = FAKE_BASIC;
    CHECK_ERROR(pull(world, own.p, NULL),
                "pull access denied, repository does not exist or may require authorization: authorization failed: "
                "no basic auth credentials");
    CHECK_ERROR(pull(world, own.p, &wrong), "authorization failed");
    CHECK_OK(pull(world, own.p, &right));
    /* Configured ones do as well. */
    write_registries(world, arena_printf(world->arena,
                                         "configs:\n  \"127.0.0.1:%d\":\n    auth: {username: me, password: secret}\n",
                                         world->registry.port)
                                .p);
    CHECK_OK(pull(world, "nginx", NULL));
}

TEST("runtime/images/pull shows name and password to who asks for them")
{
    in_world(pull_basic);
}

static void pull_bearer(struct world *world)
{
    struct registry_auth right = {STR("me"), STR("secret"), STR(""), STR("")};
    struct registry_auth token = {STR(""), STR(""), STR(""), STR("good")};
    struct str own = arena_printf(world->arena, "127.0.0.1:%d/library/nginx", world->registry.port);
    struct str other = arena_printf(world->arena, "127.0.0.1:%d/library/nginx:other", world->registry.port);

    world->registry.auth = FAKE_BEARER;
    CHECK_ERROR(pull(world, own.p, NULL),
                "failed to authorize: failed to fetch anonymous token: unexpected status from GET request to "
                "http://127.0.0.1:");
    CHECK_OK(pull(world, own.p, &right));
    CHECK_INT(world->registry.tokens, 2); /* one for all the layers */
    fake_registry_add_image(&world->registry, &world->image, "library/nginx", "other");
    CHECK_OK(pull(world, other.p, &token));
    CHECK_INT(world->registry.tokens, 2);
    world->registry.hides_nothing = true;
    CHECK_OK(pull(world, own.p, NULL));
    CHECK_INT(world->registry.tokens, 3);
}

TEST("runtime/images/pull fetches tokens from the server that the registry names")
{
    in_world(pull_bearer);
}

static void pull_broken(struct world *world)
{
    world->registry.break_after = 100000;
    CHECK_OK(pull(world, "nginx", NULL));
    CHECK(world->registry.ranges >= 2);
    CHECK_INT(image_count(world), 1);
}

TEST("runtime/images/pull goes on where a transfer broke off")
{
    in_world(pull_broken);
}

static void pull_spoilt(struct world *world)
{
    struct str copy = arena_str(world->arena, world->image.layers[1]);
    struct str path = arena_printf(world->arena, "blobs/%s", world->image.layer_digests[1].p);

    ((char *)copy.p)[2000] ^= 1;
    fake_registry_add(&world->registry, path, copy, "application/octet-stream");
    CHECK_ERROR(pull(world, "nginx", NULL),
                arena_printf(world->arena, "failed to copy: failed commit on ref \"layer-%s\": unexpected commit digest",
                             world->image.layer_digests[1].p)
                    .p);
    /* Longer than it says it is. */
    struct str longer = {arena_alloc(world->arena, copy.n + 512), copy.n + 512};

    memcpy((char *)longer.p, copy.p, copy.n);
    fake_registry_add(&world->registry, path, longer, "application/octet-stream");
    CHECK_ERROR(pull(world, "nginx", NULL), "the answer is larger than");
    CHECK_INT(image_count(world), 0);
    /* Once the registry is whole again, so is the image. */
    fake_registry_add(&world->registry, path, world->image.layers[1], "application/octet-stream");
    CHECK_OK(pull(world, "nginx", NULL));
    /* A manifest that is not the one asked for by digest. */
    fake_registry_add(&world->registry, arena_printf(world->arena, "library/nginx/manifests/sha256:%064d", 3),
                      world->image.manifest, MEDIA_OCI_MANIFEST);
    CHECK_ERROR(pull(world, arena_printf(world->arena, "nginx@sha256:%064d", 3).p, NULL), "unexpected commit digest");
}

TEST("runtime/images/pull takes nothing that is not what its digest says")
{
    in_world(pull_spoilt);
}

struct puller_task {
    struct world *world;
    const char *reference;
    struct status *failure;
};

static void run_puller(void *arg)
{
    struct puller_task *task = arg;

    task->failure = pull(task->world, task->reference, NULL);
}

static void pull_at_once(struct world *world)
{
    struct puller_task tasks[6] = {0};
    struct task_group group;

    world->registry.delay = 5 * ENV_MS;
    fake_registry_add_image(&world->registry, &world->image, "library/other", "latest");
    task_group_init(&group);
    for (size_t i = 0; i < COUNT_OF(tasks); i++) {
        tasks[i].world = world;
        tasks[i].reference = i % 2 == 0 ? "nginx" : "other";
        task_group_spawn(&group, "puller", run_puller, &tasks[i]);
    }
    task_group_wait(&group);
    for (size_t i = 0; i < COUNT_OF(tasks); i++) {
        CHECK_OK(tasks[i].failure);
    }
    /* Two manifests, two configurations, three layers. */
    CHECK_INT(world->registry.gets, 2 + 2 + 3);
    CHECK_INT(image_count(world), 1);
}

TEST("runtime/images/pull does once what many ask for at once")
{
    in_world(pull_at_once);
}

static void pull_cancelled(struct world *world)
{
    struct puller_task tasks[2] = {{world, "nginx", NULL}, {world, "nginx", NULL}};
    struct task_group first, second;

    world->registry.delay = 50 * ENV_MS;
    task_group_init(&first);
    task_group_init(&second);
    task_group_spawn(&first, "first", run_puller, &tasks[0]);
    task_group_spawn(&second, "second", run_puller, &tasks[1]);
    task_sleep(20 * ENV_MS);
    task_group_cancel(&first);
    CHECK_ERROR(tasks[0].failure, "context canceled");
    task_group_wait(&second); /* the other goes on */
    CHECK_OK(tasks[1].failure);
    CHECK_OK(image_store_remove(world->store, STR("nginx")));
    task_group_spawn(&first, "first", run_puller, &tasks[0]);
    task_sleep(20 * ENV_MS);
    task_group_cancel(&first); /* the last who wanted it */
    CHECK_ERROR(tasks[0].failure, "context canceled");
    CHECK_OK(pull(world, "nginx", NULL));
}

TEST("runtime/images/pull ends when the last who wants the image has gone")
{
    in_world(pull_cancelled);
}
