#include "net_test.h"

#include "base/env.h"
#include "net/pipe.h"
#include "net/spdy.h"
#include "net/spdy_headers.h"

#include <string.h>

/* The client's end, by hand */

struct client {
    struct stream *stream;
    struct spdy_deflater *deflater;
    struct spdy_inflater *inflater;
    struct arena *arena;
};

static void put_u32(struct buf *out, uint32_t number)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        buf_add_char(out, (char)(number >> shift));
    }
}

static void send_control(struct client *client, int type, int flags, struct str body)
{
    OWNED(buf_done) struct buf out = {0};

    put_u32(&out, 0x80030000u | (uint32_t)type);
    put_u32(&out, (uint32_t)flags << 24 | (uint32_t)body.n);
    buf_add_str(&out, body);
    CHECK_OK(stream_write(client->stream, out.p, out.n, TASK_FOREVER));
}

static void open_stream(struct client *client, uint32_t id, const char *type)
{
    OWNED(buf_done) struct buf body = {0};
    struct http_headers headers = {0};

    http_header_add(client->arena, &headers, STR("streamtype"), str_of(type));
    http_header_add(client->arena, &headers, STR("port"), STR("80"));
    put_u32(&body, id);
    put_u32(&body, 0);
    buf_add(&body, "\0\0", 2);
    spdy_deflate(client->deflater, &headers, &body);
    send_control(client, 1, 0, buf_str(&body));
}

static void send_data(struct client *client, uint32_t id, int flags, struct str bytes)
{
    OWNED(buf_done) struct buf out = {0};

    put_u32(&out, id);
    put_u32(&out, (uint32_t)flags << 24 | (uint32_t)bytes.n);
    buf_add_str(&out, bytes);
    CHECK_OK(stream_write(client->stream, out.p, out.n, TASK_FOREVER));
}

static struct str receive(struct client *client, uint32_t *ret_first, uint32_t *ret_flags)
{
    unsigned char head[8];

    CHECK_OK(stream_read_all(client->stream, head, 8, TASK_FOREVER));
    *ret_first = (uint32_t)head[0] << 24 | (uint32_t)head[1] << 16 | (uint32_t)head[2] << 8 | head[3];
    *ret_flags = head[4];
    size_t size = (size_t)head[5] << 16 | (size_t)head[6] << 8 | head[7];
    char *body = arena_alloc(client->arena, size);

    CHECK_OK(stream_read_all(client->stream, body, size, TASK_FOREVER));
    return (struct str){body, size};
}

static void client_begin(struct client *client, struct spdy **ret)
{
    struct stream *other;

    pipe_new(1 << 20, &client->stream, &other);
    client->deflater = spdy_deflater_new();
    client->inflater = spdy_inflater_new();
    client->arena = arena_new();
    *ret = spdy_new(other);
}

static void client_end(struct client *client)
{
    stream_close(client->stream);
    spdy_deflater_free(client->deflater);
    spdy_inflater_free(client->inflater);
    arena_free(client->arena);
}

static void carries(void *arg)
{
    struct client client;
    struct spdy *spdy;
    struct spdy_stream *first, *second;
    uint32_t word, flags;
    char bytes[16];
    size_t size;
    struct http_headers headers;

    (void)arg;
    client_begin(&client, &spdy);
    open_stream(&client, 1, "error");
    open_stream(&client, 3, "stdin");
    CHECK_OK(spdy_accept(spdy, TASK_FOREVER, &first));
    CHECK_OK(spdy_accept(spdy, TASK_FOREVER, &second));
    CHECK_STR(http_header_find(spdy_stream_headers(first), STR("streamtype")), "error");
    CHECK_STR(http_header_find(spdy_stream_headers(second), STR("streamtype")), "stdin");
    CHECK_STR(http_header_find(spdy_stream_headers(second), STR("port")), "80");
    for (uint32_t id = 1; id <= 3; id += 2) { /* a reply to each, whose header blocks are one zlib stream */
        struct str reply = receive(&client, &word, &flags);

        CHECK_INT(word, 0x80030002);
        CHECK_INT(reply.p[3], id);
        CHECK_OK(spdy_inflate(client.inflater, str_from(reply, 4), client.arena, &headers));
        CHECK_INT(headers.len, 0);
    }

    send_data(&client, 3, 0, STR("hello"));
    send_data(&client, 3, 1, STR(" you"));
    CHECK_OK(stream_read_all(spdy_stream_input(second), bytes, 9, TASK_FOREVER));
    CHECK(memcmp(bytes, "hello you", 9) == 0);
    CHECK_OK(stream_read(spdy_stream_input(second), bytes, sizeof(bytes), TASK_FOREVER, &size));
    CHECK_INT(size, 0);

    CHECK_OK(spdy_stream_write(first, STR("bad")));
    CHECK_STR(receive(&client, &word, &flags), "bad");
    CHECK_INT(word, 1);
    CHECK_OK(spdy_stream_end(first));
    CHECK_STR(receive(&client, &word, &flags), "");
    CHECK_INT(flags, 1);
    CHECK_ERROR(spdy_stream_write(first, STR("late")), "has ended");

    send_control(&client, 6, 0, (struct str){"\0\0\0\7", 4}); /* a ping comes back */
    struct str pong = receive(&client, &word, &flags);

    CHECK_INT(word, 0x80030006);
    CHECK_INT(pong.p[3], 7);
    send_control(&client, 3, 0, (struct str){"\0\0\0\3\0\0\0\5", 8}); /* and a reset ends a stream */
    send_data(&client, 99, 0, STR("for nobody"));
    stream_shut(client.stream);
    CHECK_ERROR(spdy_accept(spdy, TASK_FOREVER, &first), "the connection ended");
    CHECK_ERROR(spdy_stream_write(second, STR("late")), "has ended");
    spdy_free(spdy);
    client_end(&client);
}

TEST("net/spdy/carries streams both ways")
{
    test_run_task(carries, NULL);
}

struct bad {
    const char *bytes;
    size_t size;
};

static void refuses(void *arg)
{
    const struct bad *bad = arg;
    struct client client;
    struct spdy *spdy;
    struct spdy_stream *stream;
    size_t size;
    char byte;

    client_begin(&client, &spdy);
    CHECK_OK(stream_write(client.stream, bad->bytes, bad->size, TASK_FOREVER));
    CHECK_ERROR(spdy_accept(spdy, TASK_FOREVER, &stream), "the connection ended");
    spdy_free(spdy);
    CHECK_OK(stream_read(client.stream, &byte, 1, TASK_FOREVER, &size));
    CHECK_INT(size, 0);
    client_end(&client);
}

#define BAD(bytes) {bytes, sizeof(bytes) - 1}

TEST("net/spdy/ends the connection when its rules are broken")
{
    static const struct bad rows[] = {
        BAD("\x80\x02\0\1\0\0\0\x0a\0\0\0\1\0\0\0\0\0\0"),         /* version 2 */
        BAD("\x80\3\0\1\0\0\0\x04\0\0\0\1"),                       /* too short */
        BAD("\x80\3\0\1\0\0\0\x0a\0\0\0\2\0\0\0\0\0\0"),           /* a number that is the server's */
        BAD("\x80\3\0\1\0\0\0\x0c\0\0\0\1\0\0\0\0\0\0xx"),         /* no zlib */
        BAD("\x80\3\0\1\0\xff\xff\xff"),                           /* too long */
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bad row = rows[i];

        test_run_task(refuses, &row);
    }
}

TEST("net/spdy_headers/reads what Go's spdystream writes")
{
    /* {"streamtype": ["stdout"]} as the first block of a connection */
    static const char block[] = "\x78\xf9\xe3\xc6\xa7\xc2\x62\x60\x60\x60\x04\xa7\xb3\x92\xa2\xd4"
                                "\xc4\x5c\x68\x51\xc2\x56\x5c\x92\x92\x5f\x5a\x02\x00\x00\x00\xff\xff";
    struct arena *arena = arena_new();
    struct spdy_inflater *inflater = spdy_inflater_new();
    struct http_headers headers;

    CHECK_OK(spdy_inflate(inflater, (struct str){block, sizeof(block) - 1}, arena, &headers));
    CHECK_INT(headers.len, 1);
    CHECK_STR(headers.items[0].name, "streamtype");
    CHECK_STR(headers.items[0].value, "stdout");
    spdy_inflater_free(inflater);
    arena_free(arena);
}

/* Both ends of ours */

static void echo_run(void *arg)
{
    struct spdy *spdy = spdy_new(arg);
    struct spdy_stream *stream;
    char bytes[64];
    size_t size;

    for (int i = 0; i < 2; i++) {
        CHECK_OK(spdy_accept(spdy, TASK_FOREVER, &stream));
        CHECK_STR(http_header_find(spdy_stream_headers(stream), STR("port")), i == 0 ? "1" : "2");
        do {
            CHECK_OK(stream_read(spdy_stream_input(stream), bytes, sizeof(bytes), TASK_FOREVER, &size));
            CHECK_OK(spdy_stream_write(stream, (struct str){bytes, size}));
        } while (size > 0);
        CHECK_OK(spdy_stream_end(stream));
    }
    CHECK(spdy_wait(spdy, TASK_FOREVER));
    spdy_free(spdy);
}

static void both_run(void *arg)
{
    struct stream *ours, *theirs;
    struct task_group group;
    struct arena *arena = arena_new();
    char bytes[64];

    (void)arg;
    pipe_new(1 << 16, &ours, &theirs);
    task_group_init(&group);
    task_group_spawn(&group, "server", echo_run, theirs);
    struct spdy *spdy = spdy_new(ours);

    for (int i = 1; i <= 2; i++) {
        struct http_headers headers = {0};
        struct spdy_stream *stream;
        size_t size;

        http_header_add(arena, &headers, STR("port"), arena_printf(arena, "%d", i));
        CHECK_OK(spdy_open(spdy, &headers, &stream));
        CHECK_OK(spdy_stream_write(stream, STR("hello")));
        CHECK_OK(spdy_stream_end(stream));
        CHECK_OK(stream_read_all(spdy_stream_input(stream), bytes, 5, TASK_FOREVER));
        CHECK_STR(((struct str){bytes, 5}), "hello");
        CHECK_OK(stream_read(spdy_stream_input(stream), bytes, sizeof(bytes), TASK_FOREVER, &size));
        CHECK_INT(size, 0);
    }
    spdy_free(spdy);
    task_group_wait(&group);
    arena_free(arena);
}

TEST("net/spdy/a client opens streams, and each gets its own answer")
{
    run_on_loop(both_run, NULL);
}
