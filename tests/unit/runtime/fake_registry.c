#include "fake_registry.h"

#include "base/base64.h"
#include "base/env.h"
#include "base/task.h"
#include "runtime/images/digest.h"
#include "runtime/images/manifest.h"
#include "test.h"

static void answer(struct http_exchange *exchange, int code, const char *name, struct str value, struct str body)
{
    struct http_headers headers = {0};

    if (name != NULL) {
        http_header_add(exchange->arena, &headers, str_of(name), value);
    }
    status_free(http_respond(exchange, code, &headers, body));
}

static bool is_me(struct http_exchange *exchange)
{
    struct str wanted = arena_printf(exchange->arena, "Basic %s", base64_encode(exchange->arena, STR("me:secret")).p);

    return str_eq(http_header_find(&exchange->headers, STR("authorization")), wanted);
}

static void serve_token(struct fake_registry *registry, struct http_exchange *exchange)
{
    struct str scope = {0};

    registry->tokens++;
    http_query_find(exchange->arena, exchange->query, STR("scope"), &scope);
    if (!registry->hides_nothing && !is_me(exchange)) {
        answer(exchange, 401, NULL, STR(""), STR("{}"));
        return;
    }
    answer(exchange, 200, "content-type", STR("application/json"),
           arena_printf(exchange->arena, "{\"token\":\"%s\"}",
                        str_is(scope, "repository:library/nginx:pull") ? "good" : "useless"));
}

/* True when the request may go on. */
static bool check_auth(struct fake_registry *registry, struct http_exchange *exchange)
{
    if (registry->auth == FAKE_BASIC && !is_me(exchange)) {
        answer(exchange, 401, "www-authenticate", STR("Basic realm=\"fake\""), STR("{}"));
        return false;
    }
    if (registry->auth == FAKE_BEARER &&
        !str_is(http_header_find(&exchange->headers, STR("authorization")), "Bearer good")) {
        bool has_token = http_header_find(&exchange->headers, STR("authorization")).n > 0;

        answer(exchange, 401, "www-authenticate",
               arena_printf(exchange->arena,
                            "Bearer realm=\"http://127.0.0.1:%d/token\",service=\"fake\""
                            ",scope=\"repository:library/nginx:pull\"%s",
                            registry->port, has_token ? ",error=\"insufficient_scope\"" : ""),
               STR("{}"));
        return false;
    }
    return true;
}

static void serve_body(struct fake_registry *registry, struct http_exchange *exchange, const struct fake_body *body,
                       bool is_blob)
{
    struct str range = http_header_find(&exchange->headers, STR("range")), bytes = body->bytes;
    struct http_headers headers = {0};
    int64_t from = 0;

    if (str_has_prefix(range, STR("bytes=")) && str_has_suffix(range, STR("-"))) {
        CHECK(str_to_i64(str_sub(range, 6, range.n - 1), &from));
        bytes = str_from(bytes, (size_t)from);
        registry->ranges++;
    }
    http_header_add(exchange->arena, &headers, STR("content-type"), body->media_type);
    if (is_blob && registry->break_after > 0 && (size_t)registry->break_after < bytes.n) {
        http_header_add(exchange->arena, &headers, STR("content-length"),
                        arena_printf(exchange->arena, "%zu", bytes.n));
        status_free(http_start(exchange, from > 0 ? 206 : 200, &headers));
        status_free(http_write(exchange, str_sub(bytes, 0, (size_t)registry->break_after)));
        return; /* the server drops the connection */
    }
    status_free(http_respond(exchange, from > 0 ? 206 : 200, &headers, bytes));
}

static void serve(struct http_exchange *exchange, void *arg)
{
    struct fake_registry *registry = arg;
    bool is_head = str_is(exchange->method, "HEAD");
    size_t blobs = str_find(exchange->path, STR("/blobs/"));
    struct str path = str_from(exchange->path, blobs != SIZE_MAX ? blobs + 1 : 4);

    if (str_is(exchange->path, "/token")) {
        serve_token(registry, exchange);
        return;
    }
    if (!check_auth(registry, exchange)) {
        return;
    }
    registry->gets += !is_head;
    registry->heads += is_head;
    registry->blob_gets += blobs != SIZE_MAX;
    if (registry->delay > 0) {
        task_sleep(registry->delay);
    }
    const struct fake_body *body = map_find(&registry->bodies, path);

    if (registry->fail_with != 0 || body == NULL) {
        answer(exchange, registry->fail_with != 0 ? registry->fail_with : 404, NULL, STR(""), STR("{}"));
    } else if (is_head) {
        answer(exchange, 200, "docker-content-digest", digest_of(exchange->arena, body->bytes), STR(""));
    } else {
        serve_body(registry, exchange, body, blobs != SIZE_MAX);
    }
}

void fake_registry_start(struct fake_registry *registry)
{
    struct listener *listener;

    *registry = (struct fake_registry){.arena = arena_new()};
    registry->server = http_server_new(serve, registry);
    CHECK_OK(listener_open(STR("127.0.0.1:0"), 0, &listener));
    registry->port = listener_port(listener);
    http_server_listen(registry->server, listener, NULL);
}

void fake_registry_stop(struct fake_registry *registry)
{
    http_server_free(registry->server);
    map_done(&registry->bodies);
    arena_free(registry->arena);
}

void fake_registry_add(struct fake_registry *registry, struct str path, struct str bytes, const char *media_type)
{
    struct fake_body *body = ARENA_NEW(registry->arena, struct fake_body);

    body->bytes = bytes;
    body->media_type = str_of(media_type);
    map_set(&registry->bodies, path, body);
}

void fake_registry_add_image(struct fake_registry *registry, const struct made_image *image, const char *repository,
                             const char *tag)
{
    struct arena *arena = registry->arena;

    for (size_t i = 0; i < image->layer_count; i++) {
        fake_registry_add(registry, arena_printf(arena, "blobs/%s", image->layer_digests[i].p), image->layers[i],
                          "application/octet-stream");
    }
    fake_registry_add(registry, arena_printf(arena, "blobs/%s", image->config_digest.p), image->config,
                      "application/octet-stream");
    fake_registry_add(registry, arena_printf(arena, "%s/manifests/%s", repository, tag), image->manifest,
                      MEDIA_OCI_MANIFEST);
    fake_registry_add(registry, arena_printf(arena, "%s/manifests/%s", repository, image->manifest_digest.p),
                      image->manifest, MEDIA_OCI_MANIFEST);
}
