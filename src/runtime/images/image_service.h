/* CRI's ImageService over an image store (runtime.v1.ImageService): ListImages, ImageStatus, PullImage, RemoveImage,
 * ImageFsInfo.
 *
 * It shares a socket with RuntimeService: the HTTP handler there gives exchanges whose path begins with
 * IMAGE_SERVICE_PATH to grpc_serve(exchange, image_service_methods(service)). Loop thread. */
#ifndef RUNTIME_IMAGES_IMAGE_SERVICE_H
#define RUNTIME_IMAGES_IMAGE_SERVICE_H

#include "cri/grpc.h"
#include "runtime/images/image_store.h"

#define IMAGE_SERVICE_PATH "/runtime.v1.ImageService/"

struct image_service;

struct image_service_options {
    struct image_store *store;  /* lent */
    struct str registries_file; /* mirrors and credentials (registries.h); empty: none. Read anew for each pull. */
};

MUST_USE struct status *image_service_new(const struct image_service_options *options, struct image_service **ret);
/* Breaks off pulls that go on and parks until they have ended. NULL is fine. */
void image_service_free(struct image_service *service);
/* For grpc_serve(); valid as long as the service is. */
struct grpc_methods *image_service_methods(struct image_service *service);

#endif
