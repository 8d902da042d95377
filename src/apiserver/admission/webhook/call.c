/* Asking a webhook over HTTPS: by a URL, or at a pod behind a service. */
#include "apiserver/admission/webhook/hook.h"

#include "api/discovery_v1.h"
#include "apiserver/admission/objects.h"
#include "base/base64.h"
#include "base/env.h"
#include "net/http_client.h"
#include "schema/map_of.h"

enum { ANSWER_BYTES_MAX = 3 << 20 };

/* Where a webhook is. */
struct place {
    struct str url;         /* as told in messages, without the timeout */
    struct str address;     /* to connect to */
    struct str server_name; /* that its certificate is for */
    struct str authority, target;
};

static struct status *place_of_url(struct arena *arena, struct str url, struct place *ret)
{
    struct str prefix = STR("https://"), rest = str_from(url, prefix.n), path;
    struct place place = {.url = url};

    if (!str_has_prefix(url, prefix)) {
        return status_new(STATUS_BAD_REQUEST, "webhook URL \"%.*s\" must be https", STR_ARG(url));
    }
    size_t slash = str_index(rest, '/');

    place.authority = slash == SIZE_MAX ? rest : str_sub(rest, 0, slash);
    path = slash == SIZE_MAX ? STR("/") : str_from(rest, slash);
    bool has_port = str_last_index(place.authority, ':') != SIZE_MAX &&
                    (str_index(place.authority, ']') == SIZE_MAX ||
                     str_last_index(place.authority, ':') > str_index(place.authority, ']'));

    place.address = has_port ? place.authority : arena_printf(arena, "%.*s:443", STR_ARG(place.authority));
    place.target = path;
    *ret = place;
    return NULL;
}

/* A ready address of the service with the number of its port; empty when there is none. */
static struct status *find_endpoint(const struct admission_request *admission, struct str namespace, struct str service,
                                    struct str port_name, struct str *ret)
{
    OWNED(admission_walk_done) struct admission_walk walk = {0};
    struct arena *arena = admission->request->arena;
    const void *at;

    *ret = (struct str){0};
    TRY(admission_walk_begin(&walk, admission, "discovery.k8s.io", "v1", "endpointslices", namespace));
    for (;;) {
        TRY(admission_walk_next(&walk, &at));
        const struct discovery_v1_endpoint_slice *slice = at;

        if (slice == NULL) {
            return NULL;
        }
        if (!str_eq(str_map_get(&slice->metadata.labels, STR("kubernetes.io/service-name")), service)) {
            continue;
        }
        LIST_EACH(port, &slice->ports) {
            bool is_it = port->port != NULL && str_eq(port->name != NULL ? *port->name : (struct str){0}, port_name);

            for (size_t i = 0; is_it && i < slice->endpoints.len; i++) {
                const struct discovery_v1_endpoint *endpoint = &slice->endpoints.items[i];
                bool is_ready = endpoint->conditions.ready == NULL || *endpoint->conditions.ready;

                if (is_ready && endpoint->addresses.len != 0) {
                    bool is_v6 = str_index(endpoint->addresses.items[0], ':') != SIZE_MAX;

                    *ret = arena_printf(arena, is_v6 ? "[%.*s]:%d" : "%.*s:%d",
                                        STR_ARG(endpoint->addresses.items[0]), (int)*port->port);
                    return NULL;
                }
            }
        }
    }
}

static struct status *place_of_service(const struct admission_request *admission,
                                       const struct admissionregistration_v1_service_reference *reference,
                                       struct place *ret)
{
    struct arena *arena = admission->request->arena;
    int port = reference->port != NULL ? *reference->port : 443;
    const struct core_v1_service_port *found = NULL;
    const void *object;
    struct place place = {
        .server_name =
            arena_printf(arena, "%.*s.%.*s.svc", STR_ARG(reference->name), STR_ARG(reference->namespace)),
        .target = reference->path != NULL ? *reference->path : STR("/")};

    if (!str_has_prefix(place.target, STR("/"))) {
        place.target = arena_printf(arena, "/%.*s", STR_ARG(place.target));
    }
    place.authority = arena_printf(arena, "%.*s:%d", STR_ARG(place.server_name), port);
    place.url = arena_printf(arena, "https://%.*s%.*s", STR_ARG(place.authority), STR_ARG(place.target));
    struct status *status =
        admission_find(admission, "", "v1", "services", reference->namespace, reference->name, &object);

    if (status_free_if(&status, STATUS_NOT_FOUND)) {
        *ret = place;
        return status_new(STATUS_SERVICE_UNAVAILABLE, "service \"%.*s\" not found", STR_ARG(reference->name));
    }
    TRY(status);
    LIST_EACH(item, &((const struct core_v1_service *)object)->spec.ports) {
        found = item->port == port ? item : found;
    }
    if (found != NULL) {
        TRY(find_endpoint(admission, reference->namespace, reference->name, found->name, &place.address));
    }
    *ret = place;
    return place.address.n != 0 ? NULL
                                : status_new(STATUS_SERVICE_UNAVAILABLE, "no endpoints available for service \"%.*s\"",
                                             STR_ARG(reference->name));
}

static struct status *find_place(const struct admission_request *admission, const struct hook *hook, struct place *ret)
{
    const struct admissionregistration_v1_webhook_client_config *client = hook->client;

    *ret = (struct place){0};
    if (client->service != NULL) {
        return place_of_service(admission, client->service, ret);
    }
    if (client->url != NULL) {
        return place_of_url(admission->request->arena, *client->url, ret);
    }
    return status_new(STATUS_BAD_REQUEST, "webhook configuration must have either service or URL");
}

static struct status *send(struct arena *arena, struct http_client *http, const struct hook *hook,
                           const struct place *place, struct str question, struct str *ret_answer)
{
    struct http_request request = {
        .method = STR("POST"),
        .target = arena_printf(arena, "%.*s%ctimeout=%ds", STR_ARG(place->target),
                               str_index(place->target, '?') == SIZE_MAX ? '?' : '&', hook->timeout_seconds),
        .body = question,
        .deadline = env_mono() + hook->timeout_seconds * ENV_SECOND};
    struct http_response *response;

    http_header_add(arena, &request.headers, STR("content-type"), STR("application/json"));
    http_header_add(arena, &request.headers, STR("accept"), STR("application/json"));
    http_header_add(arena, &request.headers, STR("user-agent"), STR("kube-apiserver-admission"));
    TRY(http_do(http, &request, &response));
    struct status *status = http_response_read_all(response, arena, ANSWER_BYTES_MAX, ret_answer);
    int code = response->code;

    http_response_close(response);
    if (status == NULL && code / 100 != 2) {
        return status_new(STATUS_INTERNAL_ERROR, "the server responded with the status code %d but did not return more "
                                                 "information",
                          code);
    }
    return status;
}

static struct status *call(struct arena *arena, const struct hook *hook, const struct place *place, struct str question,
                           struct str *ret_answer)
{
    struct tls_client_options options = {.ca = hook->client->ca_bundle, .offers_http2 = false};
    struct tls_context *tls;

    TRY(tls_client_new(&options, &tls));
    struct http_client *http = http_client_new(
        &(struct http_client_options){.address = place->address,
                                      .tls = tls,
                                      .server_name = place->server_name,
                                      .authority = place->authority,
                                      .dial_timeout = hook->timeout_seconds * ENV_SECOND});

    tls_context_unref(tls);
    struct status *status = send(arena, http, hook, place, question, ret_answer);

    http_client_free(http);
    return status;
}

struct status *hook_call(const struct admission_request *admission, const struct hook *hook, struct str question,
                         struct str *ret_answer)
{
    struct arena *arena = admission->request->arena;
    struct place place;
    struct status *status = find_place(admission, hook, &place);

    if (status == NULL) {
        status = call(arena, hook, &place, question, ret_answer);
    }
    return status == NULL ? NULL
                          : status_while(status, "failed to call webhook: Post \"%.*s%ctimeout=%ds\"",
                                         STR_ARG(place.url), str_index(place.url, '?') == SIZE_MAX ? '?' : '&',
                                         hook->timeout_seconds);
}
