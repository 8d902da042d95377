#include "runtime/images/image_service.h"

#include "base/task.h"
#include "fake_registry.h"
#include "net/event_loop.h"
#include "runtime/images/image_import.h"
#include "runtime/images/rooted.h"
#include "schema/cri_v1.h"
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* A service of its own; calls go to its methods as grpc_serve() makes them. */
struct world {
    char directory[64];
    struct arena *arena;
    struct image_store *store;
    struct image_service *service;
    struct fake_registry registry;
    struct made_image image;
    void (*run)(struct world *world);
};

static void run_world(void *arg)
{
    struct world *world = arg;

    fake_registry_start(&world->registry);
    world->image.layers[0] = image_make_layer(world->arena, "a", "content");
    world->image.layer_count = 1;
    image_make(world->arena, &world->image, "{\"User\":\"nginx\"}");
    CHECK_OK(image_store_open(str_of(world->directory), &world->store));
    CHECK_OK(image_service_new(&(struct image_service_options){.store = world->store}, &world->service));
    world->run(world);
    image_service_free(world->service);
    image_store_close(world->store);
    fake_registry_stop(&world->registry);
}

static void in_world(void (*run)(struct world *world))
{
    struct world world = {.directory = "/tmp/c8s-service-XXXXXX", .arena = arena_new(), .run = run};

    CHECK(mkdtemp(world.directory) != NULL);
    struct env *env = event_loop_new();

    event_loop_run_task(env, "world", run_world, &world);
    event_loop_free(env);
    CHECK(rooted_remove(AT_FDCWD, world.directory) == 0);
    arena_free(world.arena);
}

static struct status *call(struct world *world, const struct rpc *rpc, const void *request, void *response)
{
    const struct grpc_methods *methods = image_service_methods(world->service);

    CHECK(str_has_prefix(rpc->path, STR(IMAGE_SERVICE_PATH)));
    for (size_t i = 0; i < methods->len; i++) {
        if (methods->items[i].rpc == rpc) {
            return methods->items[i].handle(methods->arg, world->arena, request, response);
        }
    }
    return status_new(STATUS_METHOD_NOT_ALLOWED, "no such method");
}

static void import(struct world *world, const char *name)
{
    struct str_list names;
    int fd = tar_make_fd(image_make_oci(world->arena, &world->image, name));

    CHECK_OK(image_import(world->store, fd, world->arena, &names));
    close(fd);
}

static void look(struct world *world)
{
    struct cri_v1_image_spec spec = {.image = STR("nginx")}, other = {.image = STR("other")};
    struct cri_v1_image_filter filter = {.image = &other};
    struct cri_v1_list_images_request all = {0}, filtered = {.filter = &filter};
    struct cri_v1_list_images_response list = {0}, none = {0};
    struct cri_v1_image_status_request wanted = {.image = &spec, .verbose = true}, missing = {.image = &other};
    struct cri_v1_image_status_response status = {0}, nothing = {0};
    struct cri_v1_image_fs_info_response usage = {0};
    struct cri_v1_remove_image_request remove = {.image = &spec};

    import(world, "nginx");
    CHECK_OK(call(world, &cri_v1_image_service_list_images_rpc, &all, &list));
    CHECK_INT(list.images.len, 1);
    CHECK_STR(list.images.items[0].repo_tags.items[0], "docker.io/library/nginx:latest");
    CHECK_OK(call(world, &cri_v1_image_service_list_images_rpc, &filtered, &none));
    CHECK_INT(none.images.len, 0);
    CHECK_OK(call(world, &cri_v1_image_service_image_status_rpc, &wanted, &status));
    CHECK(str_eq(status.image->id, world->image.config_digest));
    CHECK_STR(status.image->username, "nginx");
    CHECK(status.image->uid == NULL);
    CHECK(str_contains(status.info.items[0].value, STR("\"imageSpec\":{\"architecture\"")));
    CHECK_OK(call(world, &cri_v1_image_service_image_status_rpc, &missing, &nothing));
    CHECK(nothing.image == NULL);
    CHECK_OK(call(world, &cri_v1_image_service_image_fs_info_rpc, &all, &usage));
    CHECK_STR(usage.image_filesystems.items[0].fs_id->mountpoint, world->directory);
    CHECK(usage.image_filesystems.items[0].used_bytes->value > 0);
    CHECK_OK(call(world, &cri_v1_image_service_remove_image_rpc, &remove, &nothing));
    CHECK_OK(call(world, &cri_v1_image_service_remove_image_rpc, &remove, &nothing));
    CHECK_OK(call(world, &cri_v1_image_service_image_status_rpc, &wanted, &nothing));
    CHECK(nothing.image == NULL);
}

TEST("runtime/images/service lists, tells, measures and removes images")
{
    in_world(look);
}

static void pull(struct world *world)
{
    struct str name = arena_printf(world->arena, "127.0.0.1:%d/library/nginx", world->registry.port);
    struct cri_v1_image_spec spec = {.image = name}, missing_spec = {.image = STR("127.0.0.1:1/x")};
    struct cri_v1_auth_config auth = {.auth = STR("bWU6c2VjcmV0")}; /* me:secret */
    struct cri_v1_auth_config elsewhere = {.auth = STR("bWU6c2VjcmV0"), .server_address = STR("https://quay.io/v1")};
    struct cri_v1_pull_image_request request = {.image = &spec, .auth = &auth};
    struct cri_v1_pull_image_response response = {0};

    world->registry.auth = FAKE_BASIC;
    fake_registry_add_image(&world->registry, &world->image, "library/nginx", "latest");
    request.auth = &elsewhere;
    CHECK_ERROR(call(world, &cri_v1_image_service_pull_image_rpc, &request, &response), "no basic auth credentials");
    request.auth = &auth;
    CHECK_OK(call(world, &cri_v1_image_service_pull_image_rpc, &request, &response));
    CHECK(str_eq(response.image_ref, world->image.config_digest));
    /* As the kubelet shows them: the code of what is missing, and Unknown for the rest. */
    spec.image = arena_printf(world->arena, "%s:1.0", name.p);
    struct status *failure = call(world, &cri_v1_image_service_pull_image_rpc, &request, &response);

    CHECK_STR(grpc_error_text(world->arena, failure),
              arena_printf(world->arena, "rpc error: code = NotFound desc = failed to pull and unpack image \"%s\": "
                                         "failed to resolve reference \"%s\": %s: not found",
                           spec.image.p, spec.image.p, spec.image.p)
                  .p);
    status_free(failure);
    request.image = &missing_spec;
    failure = call(world, &cri_v1_image_service_pull_image_rpc, &request, &response);
    CHECK(str_has_prefix(grpc_error_text(world->arena, failure), STR("rpc error: code = Unknown desc = failed to pull")));
    status_free(failure);
}

TEST("runtime/images/service pulls with the kubelet's credentials")
{
    in_world(pull);
}
