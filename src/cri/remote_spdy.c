#include "cri/remote_transport.h"

#include "base/env.h"
#include "base/mem.h"
#include "net/spdy.h"

#include <stdlib.h>

/* How long the client may take to open its streams, and to end the connection when all is said. */
#define STREAMS_WITHIN (30 * ENV_SECOND)
#define END_WITHIN (5 * ENV_SECOND)

static const char *const protocols[] = {"v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io",
                                        NULL};
/* The header `streamtype` of each channel. */
static const char *const types[REMOTE_CHANNELS] = {"stdin", "stdout", "stderr", "error", "resize"};

struct over_spdy {
    struct remote_transport base;
    struct spdy *spdy;
    struct spdy_stream *streams[REMOTE_CHANNELS];
};

static struct over_spdy *over(struct remote_transport *base)
{
    return CONTAINER_OF(base, struct over_spdy, base);
}

static struct status *write_channel(struct remote_transport *base, enum remote_channel channel, struct str bytes)
{
    struct spdy_stream *stream = over(base)->streams[channel];

    return stream != NULL ? spdy_stream_write(stream, bytes) : NULL;
}

static bool wait_gone(struct remote_transport *base, int64_t deadline)
{
    return spdy_wait(over(base)->spdy, deadline);
}

static void close_it(struct remote_transport *base)
{
    struct over_spdy *transport = over(base);

    for (int i = 0; i < REMOTE_CHANNELS; i++) {
        if (transport->streams[i] != NULL) {
            status_free(spdy_stream_end(transport->streams[i]));
        }
    }
    /* The client ends the connection once it has read everything; a close of ours could overtake that. */
    spdy_wait(transport->spdy, env_mono() + END_WITHIN);
    spdy_free(transport->spdy);
    free(transport);
}

static const struct remote_transport_ops ops = {write_channel, wait_gone, close_it};

bool remote_spdy_is_wanted(const struct http_headers *headers)
{
    return http_header_has_token(headers, STR("connection"), STR("upgrade")) &&
           str_has_prefix(http_header_find(headers, STR("upgrade")), STR("SPDY/3.1"));
}

/* The best that both know; without an offer the first there was. */
static const char *choose(const struct http_headers *headers)
{
    if (http_header_find(headers, STR("x-stream-protocol-version")).p == NULL) {
        return "channel.k8s.io";
    }
    for (const char *const *one = protocols; *one != NULL; one++) {
        if (http_header_has_token(headers, STR("x-stream-protocol-version"), str_of(*one))) {
            return *one;
        }
    }
    return NULL;
}

static int channel_of(struct str type)
{
    for (int i = 0; i < REMOTE_CHANNELS; i++) {
        if (str_is(type, types[i])) {
            return i;
        }
    }
    return -1;
}

static bool is_expected(const struct remote_wants *wants, int version, int channel)
{
    switch (channel) {
    case REMOTE_STDIN:
        return wants->stdin;
    case REMOTE_STDOUT:
        return wants->stdout;
    case REMOTE_STDERR:
        return wants->stderr && !wants->tty;
    case REMOTE_RESIZE:
        return wants->tty && version >= 3;
    default:
        return true;
    }
}

static struct status *take_streams(struct over_spdy *transport, const struct remote_wants *wants)
{
    int64_t deadline = env_mono() + STREAMS_WITHIN;
    int missing = 0;

    for (int i = 0; i < REMOTE_CHANNELS; i++) {
        missing += is_expected(wants, transport->base.version, i);
    }
    while (missing > 0) {
        struct spdy_stream *stream;

        TRY(spdy_accept(transport->spdy, deadline, &stream));
        int channel = channel_of(http_header_find(spdy_stream_headers(stream), STR("streamtype")));

        if (channel >= 0 && transport->streams[channel] == NULL) {
            transport->streams[channel] = stream;
            missing -= is_expected(wants, transport->base.version, channel);
        }
    }
    if (transport->streams[REMOTE_STDIN] != NULL) {
        transport->base.inputs[REMOTE_STDIN] = spdy_stream_input(transport->streams[REMOTE_STDIN]);
    }
    if (transport->streams[REMOTE_RESIZE] != NULL) {
        transport->base.inputs[REMOTE_RESIZE] = spdy_stream_input(transport->streams[REMOTE_RESIZE]);
    }
    return NULL;
}

struct status *remote_spdy_accept(struct http_exchange *exchange, const struct remote_wants *wants,
                                  struct remote_transport **ret)
{
    const char *protocol = choose(&exchange->headers);
    struct http_headers headers = {0};
    struct stream *stream;

    if (protocol == NULL) {
        return status_new(STATUS_BAD_REQUEST, "unable to negotiate protocol: none of the offered is served");
    }
    http_header_add(exchange->arena, &headers, STR("upgrade"), STR("SPDY/3.1"));
    http_header_add(exchange->arena, &headers, STR("x-stream-protocol-version"), str_of(protocol));
    TRY(http_upgrade(exchange, &headers, &stream));
    struct over_spdy *transport = MEM_NEW(struct over_spdy);

    transport->base.ops = &ops;
    transport->base.version = protocol[0] == 'v' ? protocol[1] - '0' : 1;
    transport->spdy = spdy_new(stream);
    struct status *status = take_streams(transport, wants);

    if (status != NULL) {
        spdy_free(transport->spdy);
        free(transport);
        return status;
    }
    *ret = &transport->base;
    return NULL;
}
