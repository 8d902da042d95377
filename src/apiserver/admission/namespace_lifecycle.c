/* Nothing is created in a namespace that isn't there or is on its way out, and some namespaces stay. */
#include "apiserver/admission/plugins.h"
#include "apiserver/errors.h"
#include "apiserver/registry/storage.h"
#include "apiserver/server.h"
#include "api/core_v1.h"

static bool is_immortal(struct str name)
{
    return str_is(name, "default") || str_is(name, "kube-system") || str_is(name, "kube-public");
}

/* Asking whether one may do a thing in a namespace needs no namespace. */
static bool is_access_review(const struct kind *kind)
{
    return str_is(kind->group, "authorization.k8s.io") && str_is(kind->kind, "LocalSubjectAccessReview");
}

static struct status *lifecycle_admit(struct admission_request *admission)
{
    const struct kind *kind = admission->resource->kind;
    struct apiserver *server = admission->request->server;
    struct kept kept;

    if (admission->operation == ADMIT_DELETE) {
        return str_is(kind->kind, "Namespace") && kind->group.n == 0 && is_immortal(admission->name)
                   ? admission_forbidden(admission, "this namespace may not be deleted")
                   : NULL;
    }
    if (!kind->namespaced || is_access_review(kind)) {
        return NULL;
    }
    TRY(storage_get(server->store, apiserver_resource(server, "", "v1", "namespaces"), admission->request->arena,
                    (struct str){0}, admission->namespace, &kept));
    const struct core_v1_namespace *namespace = (const struct core_v1_namespace *)kept.object;

    if (admission->operation != ADMIT_CREATE || !str_is(namespace->status.phase, "Terminating")) {
        return NULL;
    }
    struct status *status =
        admission_forbidden(admission, "unable to create new content in namespace %.*s because it is being terminated",
                            STR_ARG(admission->namespace));

    status_add_cause(status, STR("NamespaceTerminating"), STR("metadata.namespace"),
                     "namespace %.*s is being terminated", STR_ARG(admission->namespace));
    return status;
}

const struct admission_plugin namespace_lifecycle_plugin = {
    .name = "NamespaceLifecycle",
    .operations = ADMIT_CREATE | ADMIT_UPDATE | ADMIT_DELETE,
    .mutate = lifecycle_admit,
};
