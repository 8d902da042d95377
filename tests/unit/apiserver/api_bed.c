#include "api_bed.h"

#include "test.h"

#include "api/kinds.h"
#include "base/buf.h"

#include <string.h>

/* One request and what is answered to it. */
struct bed_exchange {
    struct http_exchange base;
    struct api_bed *bed;
    struct str body;
    struct buf answer;
};

static struct status *bed_read(struct http_exchange *base, void *bytes, size_t size, size_t *ret_size)
{
    struct bed_exchange *exchange = CONTAINER_OF(base, struct bed_exchange, base);
    size_t n = MIN(size, exchange->body.n);

    if (n > 0) {
        memcpy(bytes, exchange->body.p, n);
    }
    exchange->body = str_from(exchange->body, n);
    *ret_size = n;
    return NULL;
}

static struct status *bed_start(struct http_exchange *base, int code, const struct http_headers *headers)
{
    struct bed_exchange *exchange = CONTAINER_OF(base, struct bed_exchange, base);

    for (size_t i = 0; i < headers->len; i++) {
        http_header_add(exchange->bed->arena, &exchange->bed->headers,
                        arena_str(exchange->bed->arena, headers->items[i].name),
                        arena_str(exchange->bed->arena, headers->items[i].value));
    }
    return NULL;
}

static struct status *bed_write(struct http_exchange *base, struct str bytes)
{
    buf_add_str(&CONTAINER_OF(base, struct bed_exchange, base)->answer, bytes);
    return NULL;
}

static struct status *bed_end(struct http_exchange *base, const struct http_headers *trailers)
{
    return NULL;
}

static struct status *bed_upgrade(struct http_exchange *base, const struct http_headers *headers,
                                  struct stream **ret_stream)
{
    return status_new(STATUS_BAD_REQUEST, "there is no connection here");
}

static bool bed_is_gone(struct http_exchange *base)
{
    return false;
}

static const struct http_exchange_ops ops = {bed_read, bed_start, bed_write, bed_end, bed_upgrade, bed_is_gone};

static void add_header(struct bed_exchange *exchange, const char *name, const char *value)
{
    if (value != NULL) {
        http_header_add(exchange->base.arena, &exchange->base.headers, str_of(name), str_of(value));
    }
}

int api_call(struct api_bed *bed, const char *method, const char *target, const char *body)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct bed_exchange exchange = {.base = {.ops = &ops, .arena = arena, .method = str_of(method), .version = 11},
                                    .bed = bed,
                                    .body = str_of(body)};
    const char *type = bed->content_type != NULL ? bed->content_type : "application/json";

    str_cut(str_of(target), '?', &exchange.base.path, &exchange.base.query);
    exchange.base.peer.address = STR("127.0.0.1:1");
    add_header(&exchange, "authorization", bed->token != NULL ? bed->token : "Bearer admin");
    add_header(&exchange, "user-agent", "bed/1.0");
    add_header(&exchange, "content-type", body != NULL ? type : NULL);
    add_header(&exchange, "accept", bed->accept);
    add_header(&exchange, "impersonate-user", bed->user);
    bed->headers = (struct http_headers){0};
    bed->body = NULL;
    bed->content_type = bed->accept = bed->user = bed->token = NULL;
    apiserver_serve(&exchange.base, bed->server);
    bed->code = exchange.base.code;
    bed->text = arena_str(bed->arena, buf_str(&exchange.answer));
    buf_done(&exchange.answer);
    status_free(value_read_json(bed->arena, bed->text, &bed->body, NULL));
    return bed->code;
}

struct str api_at(const struct api_bed *bed, const char *path)
{
    return value_str_at(bed->body, path);
}

int64_t api_int_at(const struct api_bed *bed, const char *path)
{
    const struct value *value = value_find_path(bed->body, path);

    return value_is(value, VALUE_INT) ? value->integer : -1;
}

static void open_bed(struct api_bed *bed)
{
    static struct str modes[] = {STR_INIT("Node"), STR_INIT("RBAC")};
    struct store *store;

    bed->arena = arena_new();
    bed->disk = memory_disk_new();
    apiserver_options_init(&bed->options);
    bed->options.authorization_mode = (struct flag_strings){.items = modes, .len = COUNT_OF(modes)};
    bed->options.service_cluster_ip_range = STR("10.96.0.0/24");
    CHECK_OK(store_open_memory(bed->disk, &(struct store_options){0}, &store));
    CHECK_OK(apiserver_new(&bed->options, store, &bed->server));
    CHECK_OK(authn_file_parse(STR("admin,admin,u-1,system:masters\n"), STR("tokens.csv"), &bed->server->tokens));
    CHECK_INT(api_call(bed, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"default\"}}"), 201);
}

struct bed_call {
    void (*fn)(struct api_bed *bed);
};

static void run(void *arg)
{
    struct bed_call *call = arg;
    struct api_bed bed = {0};

    open_bed(&bed);
    call->fn(&bed);
    apiserver_stop(bed.server);
    CHECK_OK(apiserver_free(bed.server));
    memory_disk_free(bed.disk);
    arena_free(bed.arena);
}

void api_bed_run(void (*fn)(struct api_bed *bed))
{
    struct bed_call call = {fn};

    test_run_task(run, &call);
}
