#include "apiserver/admission/objects.h"

#include "apiserver/registry/storage.h"
#include "apiserver/server.h"

struct status *admission_walk_begin(struct admission_walk *walk, const struct admission_request *admission,
                                    const char *group, const char *version, const char *plural, struct str namespace)
{
    struct request *request = admission->request;
    const struct resource *resource = apiserver_resource(request->server, group, version, plural);
    struct str scope = namespace.n == 0 ? namespace
                                        : arena_printf(request->arena, "%.*s/", STR_ARG(namespace));

    *walk = (struct admission_walk){0};
    TRY(watch_cache_snapshot(resource->cache, FRESH_LATEST, 0, &walk->snapshot));
    watch_snapshot_walk(&walk->walk, &walk->snapshot, scope, (struct str){0});
    return NULL;
}

struct status *admission_walk_next(struct admission_walk *walk, const void **ret)
{
    struct stored *stored = watch_snapshot_next(&walk->walk);

    if (stored == NULL) {
        *ret = NULL;
        return NULL;
    }
    return stored_object(stored, ret);
}

void admission_walk_done(struct admission_walk *walk)
{
    watch_snapshot_done(&walk->snapshot);
}

struct status *admission_find(const struct admission_request *admission, const char *group, const char *version,
                              const char *plural, struct str namespace, struct str name, const void **ret)
{
    struct request *request = admission->request;
    struct kept kept = {0};

    TRY(storage_get(request->server->store, apiserver_resource(request->server, group, version, plural), request->arena,
                    namespace, name, &kept));
    *ret = kept.object;
    return NULL;
}

bool admission_is_about(const struct admission_request *admission, const struct kind *kind)
{
    return admission->resource->kind == kind && admission->subresource.n == 0;
}
