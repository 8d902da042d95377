#include "runtime/images/image_service.h"

#include "base/env.h"
#include "base/mem.h"
#include "base/trace.h"
#include "runtime/images/image_pull.h"
#include "schema/cri_v1.h"
#include "schema/image_reference.h"

#include <stdlib.h>

struct image_service {
    struct image_store *store;
    struct image_puller *puller;
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

/* Credentials as the kubelet hands them on. Those that name a server are for that one alone. */
static struct status *read_auth(struct arena *arena, const struct cri_v1_auth_config *from, struct str image,
                                struct registry_auth *ret)
{
    struct image_reference reference;
    struct str server;

    *ret = (struct registry_auth){0};
    if (from == NULL) {
        return NULL;
    }
    server = from->server_address;
    server = str_find(server, STR("://")) != SIZE_MAX ? str_from(server, str_find(server, STR("://")) + 3) : server;
    server = str_sub(server, 0, str_index(server, '/'));
    TRY(image_reference_parse(arena, image, &reference));
    if (server.n > 0 && !str_eq(server, reference.domain) &&
        !(str_is(reference.domain, "docker.io") && str_has_suffix(server, STR(".docker.io")))) {
        return NULL;
    }
    *ret = (struct registry_auth){from->username, from->password, from->identity_token, from->registry_token};
    if (from->username.n == 0 && from->auth.n > 0 && !registry_auth_decode(arena, from->auth, ret)) {
        return status_new(STATUS_BAD_REQUEST, "invalid auth: not \"user:password\" in base64");
    }
    return NULL;
}

/* A part of the 40th step of a pod, when something has to be pulled. */
static void trace_pull(struct arena *arena, const struct cri_v1_pull_image_request *request, int64_t start,
                       const struct image *image, const struct status *failure)
{
    const struct cri_v1_pod_sandbox_config *config = request->sandbox_config;
    struct trace_span span = {
        .step = TRACE_IMAGE, .outcome = failure == NULL ? TRACE_OK : TRACE_FAILED, .start = start, .end = env_wall()};

    if (config == NULL || config->metadata == NULL) {
        return; /* for nobody's pod */
    }
    span.child = STR("pull");
    span.uid = config->metadata->uid;
    span.object = arena_printf(arena, "pods/%.*s/%.*s", STR_ARG(config->metadata->namespace),
                               STR_ARG(config->metadata->name));
    span.detail = failure != NULL ? failure->message
                                  : arena_printf(arena, "pulled %.*s, %lld bytes", STR_ARG(spec_image(request->image)),
                                                 (long long)image->size);
    trace_emit(&span);
}

/* As stock's containerd tells them apart: what is not there, what was broken off, and the rest. */
static struct status *as_stock(struct status *failure)
{
    if (failure->reason != STATUS_NOT_FOUND && failure->reason != STATUS_CANCELLED) {
        failure->reason = STATUS_UNKNOWN;
    }
    return failure;
}

static struct status *pull_image(void *arg, struct arena *arena, const void *from, void *to)
{
    struct image_service *service = arg;
    const struct cri_v1_pull_image_request *request = from;
    struct cri_v1_pull_image_response *response = to;
    OWNED(image_unrefp) struct image *image = NULL;
    struct str reference = spec_image(request->image);
    struct registry_auth auth;
    int64_t start = env_wall();
    struct status *failure = read_auth(arena, request->auth, reference, &auth);

    if (failure == NULL) {
        failure = image_pull(service->puller, reference, &auth, &image);
    }
    trace_pull(arena, request, start, image, failure);
    if (failure != NULL) {
        return as_stock(failure);
    }
    response->image_ref = arena_str(arena, image->id);
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
    {&cri_v1_image_service_pull_image_rpc, pull_image, NULL},
    {&cri_v1_image_service_remove_image_rpc, remove_image, NULL},
    {&cri_v1_image_service_image_fs_info_rpc, image_fs_info, NULL},
};

struct status *image_service_new(const struct image_service_options *options, struct image_service **ret)
{
    struct image_service *service = MEM_NEW(struct image_service);

    service->store = options->store;
    service->puller = image_puller_new(options->store, options->registries_file);
    service->methods = (struct grpc_methods){methods, COUNT_OF(methods), service};
    *ret = service;
    return NULL;
}

void image_service_free(struct image_service *service)
{
    if (service != NULL) {
        image_puller_free(service->puller);
        free(service);
    }
}

struct grpc_methods *image_service_methods(struct image_service *service)
{
    return &service->methods;
}
