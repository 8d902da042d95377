/* The numbers of custom resources that have a scale. Pure. */
#ifndef APISERVER_SUBRESOURCES_CUSTOM_SCALE_H
#define APISERVER_SUBRESOURCES_CUSTOM_SCALE_H

#include "api/autoscaling_v1.h"
#include "base/arena.h"
#include "base/status.h"

/* Fills spec and status; INTERNAL_ERROR in stock's words when the object has no number. */
MUST_USE struct status *custom_scale_read(struct arena *arena, const struct kind *kind, const void *object,
                                          struct autoscaling_v1_scale *scale);
void custom_scale_write(struct arena *arena, const struct kind *kind, void *object, int32_t replicas);

#endif
