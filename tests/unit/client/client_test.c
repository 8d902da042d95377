/* The client against a server that holds config maps, over HTTP on loopback. */
#include "test.h"

#include "api/core_v1.h"
#include "base/buf.h"
#include "base/env.h"
#include "base/task.h"
#include "client/client.h"
#include "client/codec.h"
#include "client/informer.h"
#include "net/event_loop.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "schema/map_of.h"
#include "schema/protobuf.h"

#include <stdlib.h>

struct world {
    struct http_server *server;
    struct client *client;
    struct arena *arena;
    bool json; /* what the server speaks */
    int lists, watches, busy;
    struct str last_query, last_authorization, last_agent, last_body;
    struct str script; /* frames of the first watch, sent at once */
    bool expires;      /* the first watch then ends in 410 */
};

static const struct kind *kind;

static struct core_v1_config_map *config_map(struct arena *arena, const char *name, const char *revision)
{
    struct core_v1_config_map *map = ARENA_NEW(arena, struct core_v1_config_map);

    map->metadata.namespace = STR("default");
    map->metadata.name = str_of(name);
    map->metadata.resource_version = str_of(revision);
    str_map_set(arena, &map->data, STR("key"), str_of(revision));
    return map;
}

static void answer(struct world *world, struct http_exchange *exchange, int code, const struct kind *what,
                   const void *object)
{
    OWNED(buf_done) struct buf body = {0};
    struct http_headers headers = {0};

    codec_encode(what, object, world->json, &body);
    http_header_add(exchange->arena, &headers, STR("content-type"), codec_media_type(what, world->json));
    CHECK_OK(http_respond(exchange, code, &headers, buf_str(&body)));
}

static void refuse(struct http_exchange *exchange, int code, const char *status)
{
    struct http_headers headers = {0};

    http_header_add(exchange->arena, &headers, STR("content-type"), STR("application/json"));
    if (code == 429) {
        http_header_add(exchange->arena, &headers, STR("retry-after"), STR("1"));
    }
    CHECK_OK(http_respond(exchange, code, &headers, str_of(status)));
}

/* Two pages: a and b, then c. */
static void list(struct world *world, struct http_exchange *exchange)
{
    struct core_v1_config_map_list *maps = ARENA_NEW(exchange->arena, struct core_v1_config_map_list);
    struct str token = {0};

    world->lists++;
    maps->metadata.resource_version = STR("10");
    if (world->lists > 2 || http_query_find(exchange->arena, exchange->query, STR("continue"), &token)) {
        *LIST_ADD(exchange->arena, &maps->items) = *config_map(exchange->arena, "c", "3");
    } else {
        *LIST_ADD(exchange->arena, &maps->items) = *config_map(exchange->arena, "a", "1");
        *LIST_ADD(exchange->arena, &maps->items) = *config_map(exchange->arena, "b", "2");
        maps->metadata.continue_ = STR("more");
    }
    answer(world, exchange, 200, kind->list, maps);
}

static void add_frame(struct world *world, const char *type, const void *object, struct buf *out)
{
    OWNED(buf_done) struct buf frame = {0};
    OWNED(buf_done) struct buf body = {0};

    codec_encode(kind, object, world->json, &body);
    if (world->json) {
        buf_printf(out, "{\"type\":\"%s\",\"object\":%.*s}\n", type, STR_ARG(buf_str(&body)));
        return;
    }
    OWNED(buf_done) struct buf raw = {0};

    protobuf_add_bytes(&frame, 1, str_of(type));
    protobuf_add_bytes(&raw, 1, buf_str(&body));
    protobuf_add_bytes(&frame, 2, buf_str(&raw));
    unsigned char length[4] = {0, 0, (unsigned char)(frame.n >> 8), (unsigned char)frame.n};

    buf_add(out, length, sizeof(length));
    buf_add_str(out, buf_str(&frame));
}

static void watch(struct world *world, struct http_exchange *exchange)
{
    struct http_headers headers = {0};

    http_header_add(exchange->arena, &headers, STR("content-type"),
                    world->json ? STR("application/json")
                                : STR("application/vnd.kubernetes.protobuf;stream=watch"));
    world->watches++;
    world->last_query = arena_str(world->arena, exchange->query);
    CHECK_OK(http_start(exchange, 200, &headers));
    if (world->watches > 1) {
        task_sleep(1000 * ENV_SECOND);
        return;
    }
    for (size_t i = 0; i < world->script.n; i++) { /* byte by byte: frames come in any pieces */
        CHECK_OK(http_write(exchange, str_sub(world->script, i, i + 1)));
    }
    if (world->expires) {
        CHECK_OK(http_write(exchange, STR("{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\","
                                          "\"reason\":\"Expired\",\"code\":410,\"message\":\"too old\"}}\n")));
    }
}

static void serves(struct http_exchange *exchange, void *arg)
{
    struct world *world = arg;
    struct str value = {0};

    world->last_authorization = arena_str(world->arena, http_header_find(&exchange->headers, STR("authorization")));
    world->last_agent = arena_str(world->arena, http_header_find(&exchange->headers, STR("user-agent")));
    CHECK_OK(http_read_all(exchange, 100000, &world->last_body));
    world->last_body = arena_str(world->arena, world->last_body);
    if (world->busy > 0) {
        world->busy--;
        refuse(exchange, 429, "slow down");
    } else if (http_query_find(exchange->arena, exchange->query, STR("watch"), &value)) {
        watch(world, exchange);
    } else if (str_is(exchange->method, "POST")) {
        void *object;

        world->last_query = arena_str(world->arena, exchange->query);
        CHECK_OK(codec_decode(kind, http_header_find(&exchange->headers, STR("content-type")), world->last_body,
                              exchange->arena, &object));
        answer(world, exchange, 201, kind, object);
    } else if (str_has_suffix(exchange->path, STR("/configmaps"))) {
        list(world, exchange);
    } else if (str_has_suffix(exchange->path, STR("/configmaps/a"))) {
        answer(world, exchange, 200, kind, config_map(exchange->arena, "a", "1"));
    } else if (str_has_suffix(exchange->path, STR("/configmaps/none"))) {
        refuse(exchange, 404,
               "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"configmaps \\\"none\\\" "
               "not found\",\"reason\":\"NotFound\",\"details\":{\"name\":\"none\",\"kind\":\"configmaps\"},"
               "\"code\":404}");
    } else {
        refuse(exchange, 503, "gone fishing");
    }
}

static void begin(struct world *world)
{
    struct listener *listener;

    kind = &core_v1_config_map_kind;
    world->arena = arena_new();
    CHECK_OK(listener_open(STR("127.0.0.1:0"), 0, &listener));
    struct str address = str_of(arena_cstr(world->arena, str_of(listener_name(listener).text)));

    world->server = http_server_new(serves, world);
    http_server_listen(world->server, listener, NULL);
    world->client = client_new(http_client_new(&(struct http_client_options){.address = address}),
                               &(struct client_options){.user_agent = STR("test"),
                                                        .authorization = STR("Bearer secret"),
                                                        .field_manager = STR("me"),
                                                        .json_only = world->json});
}

static void end(struct world *world)
{
    client_free(world->client);
    http_server_free(world->server);
    arena_free(world->arena);
}

static void run_on_loop(task_fn *fn, void *arg)
{
    struct env *env = event_loop_new();

    event_loop_run_task(env, "test", fn, arg);
    event_loop_free(env);
}

static void calls_run(void *arg)
{
    struct world world = {.json = *(bool *)arg};
    struct core_v1_config_map *map;
    struct core_v1_config_map_list *maps;

    begin(&world);
    CHECK_OK(client_get(world.client, kind, STR("default"), STR("a"), world.arena, (void **)&map));
    CHECK_STR(map->metadata.name, "a");
    CHECK_STR(map->type_meta.kind, "ConfigMap");
    CHECK_STR(str_map_get(&map->data, STR("key")), "1");
    CHECK_STR(world.last_authorization, "Bearer secret");
    CHECK_STR(world.last_agent, "test");
    CHECK_OK(client_list(world.client, kind, STR("default"), NULL, world.arena, (void **)&maps));
    CHECK_INT(maps->items.len, 3);
    CHECK_STR(maps->items.items[2].metadata.name, "c");
    CHECK_OK(client_create(world.client, kind, config_map(world.arena, "new", ""),
                           &(struct client_write_options){.dry_run = true}, world.arena, (void **)&map));
    CHECK_STR(map->metadata.name, "new");
    CHECK_STR(world.last_query, "dryRun=All&fieldManager=me");
    CHECK(str_has_prefix(world.last_body, world.json ? STR("{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\"")
                                                     : STR("k8s\0")));
    end(&world);
}

TEST("client/client/gets, lists by pages and creates in protobuf")
{
    run_on_loop(calls_run, &(bool){false});
}

TEST("client/client/gets, lists by pages and creates in JSON")
{
    run_on_loop(calls_run, &(bool){true});
}

static void failures_run(void *arg)
{
    struct world world = {.busy = 1};
    void *map;
    int64_t before;

    (void)arg;
    begin(&world);
    before = env_mono();
    struct status *status = client_get(world.client, kind, STR("default"), STR("none"), world.arena, &map);

    CHECK(env_mono() - before >= ENV_SECOND); /* the server was busy at first */
    CHECK(status_is(status, STATUS_NOT_FOUND));
    CHECK_STR(status->name, "none");
    CHECK_STR(status->message, "configmaps \"none\" not found");
    status_free(status);
    status = client_get(world.client, kind, STR("default"), STR("other"), world.arena, &map);
    CHECK(status_is(status, STATUS_SERVICE_UNAVAILABLE));
    CHECK_STR(status->message, "the server is currently unable to handle the request");
    status_free(status);
    end(&world);
}

TEST("client/client/waits for a busy server and tells what failed in its words")
{
    run_on_loop(failures_run, NULL);
}

struct told {
    int added, changed, removed;
};

static void tells(void *arg, const void *old, const void *new)
{
    struct told *told = arg;

    told->added += old == NULL;
    told->changed += old != NULL && new != NULL;
    told->removed += new == NULL;
}

static void informer_run_test(void *arg)
{
    struct world world = {.json = *(bool *)arg, .expires = *(bool *)arg};
    OWNED(buf_done) struct buf script = {0};
    struct told told = {0};

    begin(&world);
    add_frame(&world, "MODIFIED", config_map(world.arena, "a", "11"), &script);
    add_frame(&world, "ADDED", config_map(world.arena, "d", "12"), &script);
    add_frame(&world, "DELETED", config_map(world.arena, "b", "13"), &script);
    add_frame(&world, "BOOKMARK", config_map(world.arena, "", "20"), &script);
    world.script = buf_str(&script);
    struct informer *informer = informer_new(world.client, kind, STR(""), NULL);

    informer_on_change(informer, tells, &told);
    int by_namespace = informer_add_index(informer, informer_index_by_namespace);

    informer_start(informer);
    CHECK(informer_wait_synced(informer));
    CHECK_INT(informer_count(informer), 3);
    CHECK(informer_wait_revision(informer, STR("20"), env_mono() + 20 * ENV_SECOND));
    const struct core_v1_config_map *map = informer_find(informer, STR("default"), STR("a"));

    CHECK_STR(str_map_get(&map->data, STR("key")), "11");
    CHECK(informer_find_key(informer, STR("default/b")) == NULL);
    CHECK_INT(informer_find_by(informer, by_namespace, STR("default"), world.arena).len, 3);
    CHECK_INT(told.added, 4);
    CHECK_INT(told.changed, 1);
    CHECK_INT(told.removed, 1);
    while (world.watches < 2) { /* the watch ended: another from the bookmark, or a list and another */
        CHECK(task_sleep(5 * ENV_MS));
    }
    if (world.expires) {
        CHECK_INT(world.lists, 3);
        CHECK_INT(told.removed, 3); /* only c was left */
        CHECK_INT(informer_count(informer), 1);
        CHECK(str_contains(world.last_query, STR("resourceVersion=10&")));
    } else {
        CHECK_INT(world.lists, 2);
        CHECK(str_contains(world.last_query, STR("resourceVersion=20&")));
    }
    CHECK(str_contains(world.last_query, STR("watch=true&allowWatchBookmarks=true")));
    informer_free(informer);
    end(&world);
}

TEST("client/informer/goes on from the last bookmark when a watch ends (protobuf)")
{
    run_on_loop(informer_run_test, &(bool){false});
}

TEST("client/informer/lists again when the server has forgotten (JSON)")
{
    run_on_loop(informer_run_test, &(bool){true});
}
