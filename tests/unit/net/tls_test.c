#include "certs.h"
#include "net_test.h"

#include "net/certificate.h"
#include "net/fd_stream.h"
#include "net/pipe.h"
#include "net/tls.h"

#include <stdlib.h>
#include <string.h>

struct side {
    struct stream *stream;
    struct status *status;
};

static void shakes(void *arg)
{
    struct side *side = arg;

    side->status = tls_handshake(side->stream, env_mono() + 30 * ENV_SECOND);
}

/* Both ends of a connection after their handshakes, with what came of those. */
static void connect_both(struct tls_context *server, struct tls_context *client, const char *name, size_t capacity,
                         struct side *at_server, struct side *at_client)
{
    struct stream *a, *b;
    struct task_group group;

    if (capacity > 0) {
        pipe_new(capacity, &a, &b);
    } else {
        CHECK_OK(fd_stream_pair(&a, &b));
    }
    at_server->stream = tls_accept(server, a);
    at_client->stream = tls_connect(client, b, str_of(name));
    task_group_init(&group);
    task_group_spawn(&group, "server", shakes, at_server);
    task_group_spawn(&group, "client", shakes, at_client);
    task_group_wait(&group);
}

static void close_both(struct side *a, struct side *b)
{
    stream_close(a->stream);
    stream_close(b->stream);
}

enum { MUCH = 3 << 20 };

static void writes_much(void *arg)
{
    struct side *side = arg;
    char *bytes = malloc(MUCH);

    for (size_t i = 0; i < MUCH; i++) {
        bytes[i] = (char)(i * 7);
    }
    CHECK_OK(stream_write(side->stream, bytes, MUCH, TASK_FOREVER));
    stream_shut(side->stream);
    free(bytes);
}

static void reads_much(void *arg)
{
    struct side *side = arg;
    char bytes[5000];
    size_t at = 0, got;

    do {
        CHECK_OK(stream_read(side->stream, bytes, sizeof(bytes), TASK_FOREVER, &got));
        for (size_t i = 0; i < got; i++) {
            CHECK(bytes[i] == (char)((at + i) * 7));
        }
        at += got;
    } while (got > 0);
    CHECK_INT(at, MUCH);
}

static void carries(struct tls_context *server, struct tls_context *client, size_t capacity)
{
    struct side at_server = {0}, at_client = {0};
    struct task_group group;

    connect_both(server, client, "localhost", capacity, &at_server, &at_client);
    CHECK_OK(at_server.status);
    CHECK_OK(at_client.status);
    task_group_init(&group);
    task_group_spawn(&group, "write server", writes_much, &at_server);
    task_group_spawn(&group, "write client", writes_much, &at_client);
    task_group_spawn(&group, "read server", reads_much, &at_server);
    task_group_spawn(&group, "read client", reads_much, &at_client);
    task_group_wait(&group);
    close_both(&at_server, &at_client);
}

static void tls_carries(void *arg)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct certs certs;
    struct tls_context *server, *client;

    (void)arg;
    certs_make(arena, &certs);
    CHECK_OK(tls_server_new(&(struct tls_server_options){.certificate = certs.server, .key = certs.server_key}, &server));
    CHECK_OK(tls_client_new(&(struct tls_client_options){.ca = certs.ca}, &client));
    carries(server, client, 0);
    carries(server, client, 777);
    tls_context_unref(server);
    tls_context_unref(client);
}

TEST("net/tls/carries bytes both ways at once")
{
    run_on_loop(tls_carries, NULL);
}

static void identities(void *arg)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct certs certs, others;
    struct tls_context *server, *client, *nobody, *stranger;
    struct side at_server = {0}, at_client = {0};
    struct tls_peer peer;
    struct certificate leaf;

    (void)arg;
    certs_make(arena, &certs);
    certs_make(arena, &others);
    CHECK_OK(tls_server_new(&(struct tls_server_options){.certificate = certs.server, .key = certs.server_key,
                                                         .client_ca = certs.ca, .offers_http2 = true}, &server));
    CHECK_OK(tls_client_new(&(struct tls_client_options){.ca = certs.ca, .certificate = certs.client,
                                                         .key = certs.client_key, .offers_http2 = true}, &client));
    CHECK_OK(tls_client_new(&(struct tls_client_options){.is_insecure = true}, &nobody));
    CHECK_OK(tls_client_new(&(struct tls_client_options){.ca = certs.ca, .certificate = others.client,
                                                         .key = others.client_key, .offers_http2 = true}, &stranger));
    connect_both(server, client, "127.0.0.1", 0, &at_server, &at_client);
    CHECK_OK(at_server.status);
    CHECK_OK(at_client.status);
    tls_peer(at_server.stream, &peer);
    CHECK(peer.is_verified && peer.is_http2);
    CHECK_OK(certificate_parse(peer.certificate, arena, &leaf));
    CHECK_STR(leaf.subject.common_name, "admin");
    tls_peer(at_client.stream, &peer);
    CHECK(peer.is_http2 && peer.is_verified);
    close_both(&at_server, &at_client);

    connect_both(server, nobody, "wrong.name", 0, &at_server, &at_client);
    CHECK_OK(at_server.status);
    CHECK_OK(at_client.status);
    tls_peer(at_server.stream, &peer);
    CHECK(peer.certificate.n == 0 && !peer.is_verified && !peer.is_http2);
    close_both(&at_server, &at_client);

    /* Shown, let in, and known to be worth nothing: the API server answers 401. */
    connect_both(server, stranger, "localhost", 0, &at_server, &at_client);
    CHECK_OK(at_server.status);
    tls_peer(at_server.stream, &peer);
    CHECK(!peer.is_verified);
    close_both(&at_server, &at_client);
    tls_context_unref(server);
    tls_context_unref(client);
    tls_context_unref(nobody);
    tls_context_unref(stranger);
}

TEST("net/tls/tells who the client is")
{
    run_on_loop(identities, NULL);
}

static void distrusts(void *arg)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct certs certs, others;
    struct tls_context *server, *client, *wrong_ca;
    struct side at_server = {0}, at_client = {0};

    (void)arg;
    certs_make(arena, &certs);
    certs_make(arena, &others);
    CHECK_OK(tls_server_new(&(struct tls_server_options){.certificate = certs.server, .key = certs.server_key,
                                                         .client_ca = certs.ca, .requires_client = true}, &server));
    CHECK_OK(tls_client_new(&(struct tls_client_options){.ca = certs.ca}, &client));
    CHECK_OK(tls_client_new(&(struct tls_client_options){.ca = others.ca}, &wrong_ca));
    connect_both(server, wrong_ca, "localhost", 0, &at_server, &at_client);
    CHECK_ERROR(at_client.status, "x509: certificate signed by unknown authority");
    CHECK_ERROR(at_server.status, "tls");
    close_both(&at_server, &at_client);
    connect_both(server, client, "example.org", 0, &at_server, &at_client);
    CHECK_ERROR(at_client.status, "x509: certificate is valid for localhost, 127.0.0.1, not example.org");
    status_free(at_server.status);
    close_both(&at_server, &at_client);
    connect_both(server, client, "localhost", 0, &at_server, &at_client); /* shows no certificate */
    CHECK_ERROR(at_server.status, "peer did not return a certificate");
    status_free(at_client.status);
    close_both(&at_server, &at_client);
    tls_context_unref(client);
    tls_context_unref(wrong_ca);

    /* With new certificates in the running server. */
    CHECK_OK(tls_client_new(&(struct tls_client_options){.ca = others.ca}, &client));
    CHECK_ERROR(tls_server_reload(server, &(struct tls_server_options){.certificate = certs.server, .key = others.server_key}), "does not match");
    CHECK_OK(tls_server_reload(server, &(struct tls_server_options){.certificate = others.server, .key = others.server_key}));
    connect_both(server, client, "localhost", 0, &at_server, &at_client);
    CHECK_OK(at_server.status);
    CHECK_OK(at_client.status);
    close_both(&at_server, &at_client);
    tls_context_unref(client);
    tls_context_unref(server);
}

TEST("net/tls/says why it does not trust, and reloads certificates")
{
    run_on_loop(distrusts, NULL);
}

static void meets_others(void *arg)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct certs certs;
    struct tls_context *server, *client;
    struct stream *a, *b;
    char bytes[200] = {0};
    size_t got;

    (void)arg;
    certs_make(arena, &certs);
    CHECK_OK(tls_server_new(&(struct tls_server_options){.certificate = certs.server, .key = certs.server_key}, &server));
    CHECK_OK(tls_client_new(&(struct tls_client_options){.ca = certs.ca}, &client));
    CHECK_OK(fd_stream_pair(&a, &b));
    a = tls_accept(server, a);
    CHECK_OK(stream_write(b, "GET / HTTP/1.1\r\n\r\n", 18, TASK_FOREVER));
    CHECK_ERROR(stream_read(a, bytes, sizeof(bytes), TASK_FOREVER, &got), "HTTP request to an HTTPS server");
    stream_close(a);
    CHECK_OK(stream_read(b, bytes, sizeof(bytes), TASK_FOREVER, &got));
    CHECK(strstr(bytes, "400 Bad Request") != NULL);
    stream_close(b);

    CHECK_OK(fd_stream_pair(&a, &b));
    a = tls_connect(client, a, STR("localhost"));
    CHECK_OK(stream_write(b, "HTTP/1.1 400 Bad Request\r\n\r\n", 28, TASK_FOREVER));
    CHECK_ERROR(tls_handshake(a, TASK_FOREVER), "first record does not look like a TLS handshake");
    stream_close(a);
    stream_close(b);

    CHECK_OK(fd_stream_pair(&a, &b));
    a = tls_connect(client, a, STR("localhost"));
    CHECK_ERROR(tls_handshake(a, env_mono() + 10 * ENV_MS), "i/o timeout");
    stream_close(b);
    CHECK_ERROR(tls_handshake(a, TASK_FOREVER), "");
    stream_close(a);
    tls_context_unref(client);
    tls_context_unref(server);
}

TEST("net/tls/meets others that do not speak it")
{
    run_on_loop(meets_others, NULL);
}
