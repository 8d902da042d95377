/* The strategies' functions of single kinds (see strategy.h). */
#ifndef APISERVER_REGISTRY_KINDS_H
#define APISERVER_REGISTRY_KINDS_H

#include "apiserver/registry/strategy.h"

struct core_v1_secret;

void pod_create(struct request *request, void *object);
/* Fields of features that are off in stock, in pods and templates of pods; what they were is forgotten. */
void pod_spec_drop_disabled(const struct kind *kind, void *object);
void pod_update(struct request *request, void *object, const void *old);
void pod_update_subresource(struct request *request, struct str subresource, void *object, const void *old);

void namespace_create(struct request *request, void *object);
void namespace_update(struct request *request, void *object, const void *old);
void namespace_update_subresource(struct request *request, struct str subresource, void *object, const void *old);
bool namespace_holds(const struct object *object);
void namespace_deleting(struct arena *arena, struct object *object);

void service_create(struct request *request, void *object);
void service_update(struct request *request, void *object, const void *old);
void endpoint_slice_create(struct request *request, void *object);
void endpoint_slice_update(struct request *request, void *object, const void *old);
struct status *job_label(struct request *request, const struct write_options *options, void *object, const void *old);
struct status *service_allocate(struct request *request, const struct write_options *options, void *object,
                                const void *old);
void service_finish(struct request *request, const void *object, const void *old, bool is_written);

void persistent_volume_create(struct request *request, void *object);
void persistent_volume_claim_create(struct request *request, void *object);
/* stringData goes into data, as soon as it has been read. */
void secret_fold(struct arena *arena, struct core_v1_secret *secret);
void secret_update(struct request *request, void *object, const void *old);
void daemon_set_create(struct request *request, void *object);
void daemon_set_update(struct request *request, void *object, const void *old);
void job_create(struct request *request, void *object);
void job_update(struct request *request, void *object, const void *old);
void signing_request_create(struct request *request, void *object);
void signing_request_update(struct request *request, void *object, const void *old);
void signing_request_update_subresource(struct request *request, struct str subresource, void *object, const void *old);
bool resource_definition_holds(const struct object *object);
void resource_definition_deleting(struct arena *arena, struct object *object);
void resource_definition_create(struct request *request, void *object);
void resource_definition_update(struct request *request, void *object, const void *old);

#endif
