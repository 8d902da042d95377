#include "runtime/images/image_service.h"

#include "base/env.h"
#include "base/mem.h"
#include "schema/cri_v1.h"

#include <stdlib.h>

struct image_service {
    struct image_store *store;
    struct arena *arena;
    struct str registries_file;
    struct grpc_methods methods;
};

static struct str_list copy_list(struct arena *arena, const struct str_list *from)
{
    struct str_list list = {ARENA_ARRAY(arena, struct str, from->len), from->len};

    for (size_t i = 0; i < from->len; i++) {
        list.items[i] = arena_str(arena, from->items[i]);
    }
    return list;
}

/* An empty user is left out: the kubelet takes that for root. */
static void tell_user(struct arena *arena, const struct image *image, struct cri_v1_image *to)
{
    struct str name;
    bool is_number;
    int64_t uid;

    if (image->config.user.n == 0) {
        return;
    }
    image_config_user(&image->config, &is_number, &uid, &name);
    if (is_number) {
        to->uid = ARENA_NEW(arena, struct cri_v1_int64_value);
        to->uid->value = uid;
    } else {
        to->username = arena_str(arena, name);
    }
}

static void tell_image(struct arena *arena, const struct image *image, struct cri_v1_image *to)
{
    *to = (struct cri_v1_image){
        .id = arena_str(arena, image->id),
        .repo_tags = copy_list(arena, &image->tags),
        .repo_digests = copy_list(arena, &image->digests),
        .size = (uint64_t)image->size,
        .pinned = image->is_pinned,
    };
    tell_user(arena, image, to);
}

static struct str spec_image(const struct cri_v1_image_spec *spec)
{
    return spec != NULL ? spec->image : STR("");
}

/* The image that the request names, or NULL. */
static struct status *find_image(struct image_service *service, const struct cri_v1_image_spec *spec,
                                 struct image **ret)
{
    struct status *failure = image_store_find(service->store, spec_image(spec), ret);

    if (status_free_if(&failure, STATUS_NOT_FOUND)) {
        *ret = NULL;
    }
    return failure;
}

static struct status *list_images(void *arg, struct arena *arena, const void *from, void *to)
{
    struct image_service *service = arg;
    const struct cri_v1_list_images_request *request = from;
    struct cri_v1_list_images_response *response = to;
    struct images images;

    if (request->filter != NULL && spec_image(request->filter->image).n > 0) {
        OWNED(image_unrefp) struct image *image = NULL;

        TRY(find_image(service, request->filter->image, &image));
        if (image != NULL) {
            tell_image(arena, image, LIST_ADD(arena, &response->images));
        }
        return NULL;
    }
    TRY(image_store_list(service->store, arena, &images));
    for (size_t i = 0; i < images.len; i++) {
        tell_image(arena, images.items[i], LIST_ADD(arena, &response->images));
    }
    return NULL;
}

/* One message of all images does: a node has hundreds, not millions. */
static struct status *stream_images(void *arg, struct arena *arena, const void *from,
                                    struct status *(*send)(void *sink, const void *response), void *sink)
{
    const struct cri_v1_stream_images_request *request = from;
    struct cri_v1_list_images_request list_request = {.filter = request->filter};
    struct cri_v1_list_images_response list = {0};
    struct cri_v1_stream_images_response response = {0};

    TRY(list_images(arg, arena, &list_request, &list));
    response.images.items = list.images.items;
    response.images.len = list.images.len;
    return send(sink, &response);
}

static struct status *image_status(void *arg, struct arena *arena, const void *from, void *to)
{
    struct image_service *service = arg;
    const struct cri_v1_image_status_request *request = from;
    struct cri_v1_image_status_response *response = to;
    OWNED(image_unrefp) struct image *image = NULL;

    TRY(find_image(service, request->image, &image));
    if (image == NULL) {
        return NULL;
    }
    response->image = ARENA_NEW(arena, struct cri_v1_image);
    tell_image(arena, image, response->image);
    if (request->verbose) {
        *LIST_ADD(arena, &response->info) = (struct str_entry){
            STR("info"), arena_printf(arena, "{\"chainID\":\"%.*s\",\"imageSpec\":%.*s}", STR_ARG(image->chain_id),
                                      STR_ARG(image->config_json))};
    }
    return NULL;
}

static struct status *remove_image(void *arg, struct arena *arena, const void *from, void *to)
{
    struct image_service *service = arg;
    const struct cri_v1_remove_image_request *request = from;

    return image_store_remove(service->store, spec_image(request->image));
}

static void add_usage(struct arena *arena, struct cri_v1_filesystem_usage *usage, struct str path, int64_t bytes,
                      int64_t inodes)
{
    usage->timestamp = env_wall();
    usage->fs_id = ARENA_NEW(arena, struct cri_v1_filesystem_identifier);
    usage->fs_id->mountpoint = path;
    usage->used_bytes = ARENA_NEW(arena, struct cri_v1_u_int64_value);
    usage->used_bytes->value = (uint64_t)bytes;
    usage->inodes_used = ARENA_NEW(arena, struct cri_v1_u_int64_value);
    usage->inodes_used->value = (uint64_t)inodes;
}

static struct status *image_fs_info(void *arg, struct arena *arena, const void *from, void *to)
{
    struct image_service *service = arg;
    struct cri_v1_image_fs_info_response *response = to;
    struct str path = arena_str(arena, image_store_directory(service->store));
    int64_t bytes, inodes;

    TRY(image_store_usage(service->store, &bytes, &inodes));
    add_usage(arena, LIST_ADD(arena, &response->image_filesystems), path, bytes, inodes);
    /* Containers write to the same file system, and what they write is told container by container. */
    add_usage(arena, LIST_ADD(arena, &response->container_filesystems), path, bytes, inodes);
    return NULL;
}

static const struct grpc_method methods[] = {
    {&cri_v1_image_service_list_images_rpc, list_images, NULL},
    {&cri_v1_image_service_stream_images_rpc, NULL, stream_images},
    {&cri_v1_image_service_image_status_rpc, image_status, NULL},
    {&cri_v1_image_service_remove_image_rpc, remove_image, NULL},
    {&cri_v1_image_service_image_fs_info_rpc, image_fs_info, NULL},
};

struct status *image_service_new(const struct image_service_options *options, struct image_service **ret)
{
    struct image_service *service = MEM_NEW(struct image_service);

    service->arena = arena_new();
    service->store = options->store;
    service->registries_file = arena_str(service->arena, options->registries_file);
    service->methods = (struct grpc_methods){methods, COUNT_OF(methods), service};
    *ret = service;
    return NULL;
}

void image_service_free(struct image_service *service)
{
    if (service != NULL) {
        arena_free(service->arena);
        free(service);
    }
}

struct grpc_methods *image_service_methods(struct image_service *service)
{
    return &service->methods;
}
