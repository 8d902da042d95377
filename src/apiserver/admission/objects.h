/* Objects that plugins decide by: all of a resource, as of now. */
#ifndef APISERVER_ADMISSION_OBJECTS_H
#define APISERVER_ADMISSION_OBJECTS_H

#include "apiserver/admission/admission.h"
#include "apiserver/watch_cache.h"

/* A walk over the objects of a namespace (empty: of all, and of cluster-scoped kinds):
 *   TRY(admission_walk_begin(&walk, admission, "", "v1", "limitranges", namespace));
 *   while (status == NULL && (status = admission_walk_next(&walk, &object)) == NULL && object != NULL) ... */
struct admission_walk {
    struct watch_snapshot snapshot;
    struct watch_snapshot_walk walk;
};

MUST_USE struct status *admission_walk_begin(struct admission_walk *walk, const struct admission_request *admission,
                                             const char *group, const char *version, const char *plural,
                                             struct str namespace);
/* *ret is NULL at the end; it lives until admission_walk_done() and is never to be changed. */
MUST_USE struct status *admission_walk_next(struct admission_walk *walk, const void **ret);
/* For OWNED too; the zero value is fine. */
void admission_walk_done(struct admission_walk *walk);

/* One object, in the request's arena; NOT_FOUND in stock's words. */
MUST_USE struct status *admission_find(const struct admission_request *admission, const char *group,
                                       const char *version, const char *plural, struct str namespace, struct str name,
                                       const void **ret);

/* The request is about objects of that kind themselves, not a subresource. */
bool admission_is_about(const struct admission_request *admission, const struct kind *kind);
#endif
