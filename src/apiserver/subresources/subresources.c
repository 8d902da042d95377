#include "apiserver/subresources/subresources.h"

#include "apiserver/resource.h"
#include "apiserver/subresources/handlers.h"

static const struct {
    const char *plural, *subresource;
    request_handler *handler;
} handlers[] = {
    {"pods", "binding", binding_create},
    {"pods", "eviction", eviction_create},
    {"pods", "log", pod_log_get},
    {"pods", "exec", pod_exec_serve},
    {"pods", "attach", pod_attach_serve},
    {"pods", "portforward", pod_port_forward_serve},
    {"pods", "proxy", pod_proxy_serve},
    {"nodes", "proxy", node_proxy_serve},
    {"services", "proxy", service_proxy_serve},
    {"serviceaccounts", "token", token_request_create},
    {"*", "scale", scale_serve},
};

request_handler *subresource_handler(const struct request *request)
{
    const struct kind *kind = request->resource->kind;

    for (size_t i = 0; i < COUNT_OF(handlers); i++) {
        bool is_kind = handlers[i].plural[0] == '*' || str_is(kind->plural, handlers[i].plural);

        if (is_kind && str_is(request->subresource->name, handlers[i].subresource)) {
            return handlers[i].handler;
        }
    }
    return NULL;
}

static const struct {
    const char *plural;
    request_handler *handler;
} computed[] = {
    {"bindings", binding_create},
    {"tokenreviews", token_review_create},
    {"selfsubjectreviews", self_subject_review_create},
    {"subjectaccessreviews", subject_access_review_create},
    {"localsubjectaccessreviews", local_subject_access_review_create},
    {"selfsubjectaccessreviews", self_subject_access_review_create},
    {"selfsubjectrulesreviews", self_subject_rules_review_create},
};

request_handler *computed_handler(const struct request *request)
{
    for (size_t i = 0; i < COUNT_OF(computed) && !resource_is_stored(request->resource); i++) {
        if (str_is(request->resource->kind->plural, computed[i].plural) && str_is(request->info.verb, "create")) {
            return computed[i].handler;
        }
    }
    return NULL;
}
