#include "net/spdy.h"

#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/task.h"
#include "net/pipe.h"
#include "net/spdy_headers.h"

#include <stdlib.h>

enum frame_type { SYN_STREAM = 1, SYN_REPLY = 2, RST_STREAM = 3, SETTINGS = 4, PING = 6, GOAWAY = 7, HEADERS = 8,
                  WINDOW_UPDATE = 9 };

enum {
    VERSION = 3,
    CONTROL = 0x80,
    FLAG_FIN = 1,
    HEAD_BYTES = 8,
    SYN_STREAM_BYTES = 10, /* before the header block */
    DATA_MAX = 16 << 10,   /* of one frame that we send */
    PIECE_BYTES = 16 << 10,
    CONTROL_MAX = 4 << 10, /* of a control frame: those of Kubernetes clients have some hundred bytes */
    RESET_PROTOCOL_ERROR = 1,
    RESET_REFUSED = 3
};

struct spdy_stream {
    struct link link; /* among the connection's streams */
    struct spdy *spdy;
    uint32_t id;
    struct http_headers headers;
    struct stream *feed, *input; /* both ends of what the other end sends */
    bool is_accepted, is_ended;  /* by us */
};

struct spdy {
    struct stream *stream;
    struct link streams; /* in the order they came */
    size_t stream_count;
    uint32_t last_id;
    struct spdy_inflater *inflater;
    struct spdy_deflater *deflater;
    struct arena *arena;
    struct task_lock writing;
    struct task_group tasks;
    struct cond changed; /* a stream came, or the connection ended */
    bool is_client; /* has opened a stream */
    bool has_ended;
};

struct head {
    bool is_control;
    uint16_t type;
    uint32_t stream_id;
    uint8_t flags;
    uint32_t length;
};

static uint32_t get_u32(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void put_u32(unsigned char *bytes, uint32_t number)
{
    bytes[0] = (unsigned char)(number >> 24);
    bytes[1] = (unsigned char)(number >> 16);
    bytes[2] = (unsigned char)(number >> 8);
    bytes[3] = (unsigned char)number;
}

static struct status *write_all(struct spdy *spdy, const unsigned char head[HEAD_BYTES], struct str body)
{
    OWNED(buf_done) struct buf out = {0};

    buf_add(&out, head, HEAD_BYTES);
    buf_add_str(&out, body);
    if (!task_lock_acquire(&spdy->writing)) {
        return status_new(STATUS_CANCELLED, "writing to a SPDY connection");
    }
    struct status *status = stream_write(spdy->stream, out.p, out.n, TASK_FOREVER);

    task_lock_release(&spdy->writing);
    return status;
}

static struct status *write_control(struct spdy *spdy, enum frame_type type, struct str body)
{
    unsigned char head[HEAD_BYTES] = {CONTROL, VERSION, 0, (unsigned char)type};

    put_u32(head + 4, (uint32_t)body.n);
    return write_all(spdy, head, body);
}

static struct status *write_reset(struct spdy *spdy, uint32_t id, uint32_t why)
{
    unsigned char body[8];

    put_u32(body, id);
    put_u32(body + 4, why);
    return write_control(spdy, RST_STREAM, (struct str){(const char *)body, sizeof(body)});
}

static struct spdy_stream *find(struct spdy *spdy, uint32_t id)
{
    LINK_EACH(link, &spdy->streams)
    {
        struct spdy_stream *stream = CONTAINER_OF(link, struct spdy_stream, link);

        if (stream->id == id) {
            return stream;
        }
    }
    return NULL;
}

/* Reading */

static struct status *read_head(struct spdy *spdy, struct head *ret)
{
    unsigned char bytes[HEAD_BYTES];

    TRY(stream_read_all(spdy->stream, bytes, sizeof(bytes), TASK_FOREVER));
    ret->is_control = (bytes[0] & CONTROL) != 0;
    ret->type = (uint16_t)(bytes[2] << 8 | bytes[3]);
    ret->stream_id = get_u32(bytes) & 0x7fffffff;
    ret->flags = bytes[4];
    ret->length = get_u32(bytes + 4) & 0xffffff;
    if (ret->is_control && ((bytes[0] & 0x7f) << 8 | bytes[1]) != VERSION) {
        return status_new(STATUS_BAD_REQUEST, "spdy: a frame of another version");
    }
    return NULL;
}

static struct spdy_stream *add_stream(struct spdy *spdy, uint32_t id)
{
    struct spdy_stream *stream = MEM_NEW(struct spdy_stream);

    stream->spdy = spdy;
    stream->id = id;
    pipe_new(SPDY_STREAM_BYTES, &stream->feed, &stream->input);
    list_add_tail(&spdy->streams, &stream->link);
    spdy->stream_count++;
    return stream;
}

static struct status *take_stream(struct spdy *spdy, struct str body, uint8_t flags)
{
    struct http_headers headers;
    uint32_t id = body.n >= SYN_STREAM_BYTES ? get_u32((const unsigned char *)body.p) & 0x7fffffff : 0;

    if (id == 0 || id % 2 == 0 || id <= spdy->last_id) {
        return status_new(STATUS_BAD_REQUEST, "spdy: a stream with a bad number");
    }
    spdy->last_id = id;
    TRY(spdy_inflate(spdy->inflater, str_from(body, SYN_STREAM_BYTES), spdy->arena, &headers));
    if (spdy->stream_count >= SPDY_STREAMS_MAX) {
        return write_reset(spdy, id, RESET_REFUSED);
    }
    struct spdy_stream *stream = add_stream(spdy, id);

    stream->headers = headers;
    if ((flags & FLAG_FIN) != 0) {
        stream_shut(stream->feed);
    }
    cond_broadcast(&spdy->changed);
    return NULL;
}

static struct status *take_control(struct spdy *spdy, const struct head *head)
{
    char body[CONTROL_MAX];
    struct http_headers ignored;

    if (head->length > sizeof(body)) {
        return status_new(STATUS_BAD_REQUEST, "spdy: a control frame of %u bytes", head->length);
    }
    TRY(stream_read_all(spdy->stream, body, head->length, TASK_FOREVER));
    struct str bytes = {body, head->length};
    struct spdy_stream *stream = head->length >= 4 ? find(spdy, get_u32((unsigned char *)body) & 0x7fffffff) : NULL;

    switch (head->type) {
    case SYN_STREAM:
        return take_stream(spdy, bytes, head->flags);
    case PING: /* odd numbers are the client's own, even ones the server's: those of the other end go back */
        return head->length == 4 && ((body[3] & 1) != 0) != spdy->is_client ? write_control(spdy, PING, bytes) : NULL;
    case RST_STREAM:
        if (stream != NULL) {
            stream_shut(stream->feed);
            stream->is_ended = true;
        }
        return NULL;
    case SYN_REPLY:
    case HEADERS: /* read to keep the decompressor in step */
        TRY(spdy_inflate(spdy->inflater, str_from(bytes, 4), spdy->arena, &ignored));
        if (stream != NULL && (head->flags & FLAG_FIN) != 0) {
            stream_shut(stream->feed);
        }
        return NULL;
    default: /* SETTINGS, GOAWAY, WINDOW_UPDATE and what is not known need no answer */
        return NULL;
    }
}

/* Data for a stream that nobody reads any more is dropped. */
static struct status *take_data(struct spdy *spdy, const struct head *head)
{
    char *piece = mem_zalloc(PIECE_BYTES);
    struct spdy_stream *stream = find(spdy, head->stream_id);
    struct status *status = NULL;

    for (uint32_t left = head->length; status == NULL && left > 0;) {
        uint32_t size = left < PIECE_BYTES ? left : PIECE_BYTES;

        status = stream_read_all(spdy->stream, piece, size, TASK_FOREVER);
        if (status == NULL && stream != NULL) {
            struct status *dropped = stream_write(stream->feed, piece, size, TASK_FOREVER);

            if (status_is(dropped, STATUS_CANCELLED)) {
                status = dropped;
            } else {
                status_free(dropped);
            }
        }
        left -= size;
    }
    free(piece);
    if (status == NULL && stream != NULL && (head->flags & FLAG_FIN) != 0) {
        stream_shut(stream->feed);
    }
    return status;
}

static void read_run(void *arg)
{
    struct spdy *spdy = arg;
    struct status *status = NULL;
    struct head head;

    while (status == NULL) {
        status = read_head(spdy, &head);
        if (status == NULL) {
            status = head.is_control ? take_control(spdy, &head) : take_data(spdy, &head);
        }
    }
    status_free(status); /* the end of the connection, whatever the reason */
    spdy->has_ended = true;
    LINK_EACH(link, &spdy->streams)
    {
        stream_shut(CONTAINER_OF(link, struct spdy_stream, link)->feed);
    }
    cond_broadcast(&spdy->changed);
}

/* What others call */

struct spdy *spdy_new(struct stream *stream)
{
    struct spdy *spdy = MEM_NEW(struct spdy);

    spdy->stream = stream;
    list_init(&spdy->streams);
    spdy->inflater = spdy_inflater_new();
    spdy->deflater = spdy_deflater_new();
    spdy->arena = arena_new();
    task_lock_init(&spdy->writing);
    task_group_init(&spdy->tasks);
    cond_init(&spdy->changed);
    task_group_spawn(&spdy->tasks, "spdy", read_run, spdy);
    return spdy;
}

/* The header block is written under the writing lock: blocks must go out in the order they were compressed. */
struct status *spdy_open(struct spdy *spdy, const struct http_headers *headers, struct spdy_stream **ret)
{
    OWNED(buf_done) struct buf out = {0};
    unsigned char head[HEAD_BYTES + SYN_STREAM_BYTES] = {CONTROL, VERSION, 0, SYN_STREAM};

    if (spdy->has_ended || spdy->stream_count >= SPDY_STREAMS_MAX) {
        return status_new(STATUS_SERVICE_UNAVAILABLE, "spdy: %s",
                          spdy->has_ended ? "the connection ended" : "the connection has too many streams");
    }
    if (!task_lock_acquire(&spdy->writing)) {
        return status_new(STATUS_CANCELLED, "opening a SPDY stream");
    }
    spdy->is_client = true;
    spdy->last_id = spdy->last_id == 0 ? 1 : spdy->last_id + 2;
    struct spdy_stream *stream = add_stream(spdy, spdy->last_id);

    stream->is_accepted = true;
    buf_add(&out, head, sizeof(head));
    spdy_deflate(spdy->deflater, headers, &out);
    put_u32((unsigned char *)out.p + 4, (uint32_t)(out.n - HEAD_BYTES));
    put_u32((unsigned char *)out.p + HEAD_BYTES, stream->id);
    struct status *status = stream_write(spdy->stream, out.p, out.n, TASK_FOREVER);

    task_lock_release(&spdy->writing);
    TRY(status); /* the stream ends with the connection */
    *ret = stream;
    return NULL;
}

static struct spdy_stream *next_new(struct spdy *spdy)
{
    LINK_EACH(link, &spdy->streams)
    {
        struct spdy_stream *stream = CONTAINER_OF(link, struct spdy_stream, link);

        if (!stream->is_accepted) {
            return stream;
        }
    }
    return NULL;
}

/* The answer's header block is written under the writing lock: blocks must go out in the order they were compressed. */
static struct status *reply(struct spdy_stream *stream)
{
    struct spdy *spdy = stream->spdy;
    const struct http_headers none = {0};
    OWNED(buf_done) struct buf out = {0};
    unsigned char head[HEAD_BYTES + 4] = {CONTROL, VERSION, 0, SYN_REPLY};

    if (!task_lock_acquire(&spdy->writing)) {
        return status_new(STATUS_CANCELLED, "accepting a SPDY stream");
    }
    buf_add(&out, head, sizeof(head));
    spdy_deflate(spdy->deflater, &none, &out);
    put_u32((unsigned char *)out.p + 4, (uint32_t)(out.n - HEAD_BYTES));
    put_u32((unsigned char *)out.p + HEAD_BYTES, stream->id);
    struct status *status = stream_write(spdy->stream, out.p, out.n, TASK_FOREVER);

    task_lock_release(&spdy->writing);
    return status;
}

struct status *spdy_accept(struct spdy *spdy, int64_t deadline, struct spdy_stream **ret)
{
    struct spdy_stream *stream;

    while ((stream = next_new(spdy)) == NULL) {
        if (spdy->has_ended) {
            return status_new(STATUS_SERVICE_UNAVAILABLE, "spdy: the connection ended");
        }
        if (!cond_wait(&spdy->changed, deadline)) {
            return status_new(task_is_cancelled() ? STATUS_CANCELLED : STATUS_TIMEOUT, "spdy: no stream came");
        }
    }
    stream->is_accepted = true;
    TRY(reply(stream));
    *ret = stream;
    return NULL;
}

const struct http_headers *spdy_stream_headers(const struct spdy_stream *stream)
{
    return &stream->headers;
}

struct stream *spdy_stream_input(struct spdy_stream *stream)
{
    return stream->input;
}

static struct status *write_data(struct spdy_stream *stream, struct str bytes, uint8_t flags)
{
    unsigned char head[HEAD_BYTES];

    put_u32(head, stream->id);
    put_u32(head + 4, (uint32_t)bytes.n);
    head[4] = flags;
    return write_all(stream->spdy, head, bytes);
}

struct status *spdy_stream_write(struct spdy_stream *stream, struct str bytes)
{
    for (size_t at = 0; at < bytes.n; at += DATA_MAX) {
        if (stream->is_ended) {
            return status_new(STATUS_SERVICE_UNAVAILABLE, "spdy: the stream has ended");
        }
        TRY(write_data(stream, str_sub(bytes, at, at + DATA_MAX), 0));
    }
    return NULL;
}

struct status *spdy_stream_end(struct spdy_stream *stream)
{
    if (stream->is_ended) {
        return NULL;
    }
    stream->is_ended = true;
    return write_data(stream, STR(""), FLAG_FIN);
}

bool spdy_wait(struct spdy *spdy, int64_t deadline)
{
    while (!spdy->has_ended && cond_wait(&spdy->changed, deadline)) {
    }
    return spdy->has_ended;
}

void spdy_free(struct spdy *spdy)
{
    if (spdy == NULL) {
        return;
    }
    task_group_cancel(&spdy->tasks);
    while (!list_empty(&spdy->streams)) {
        struct spdy_stream *stream = CONTAINER_OF(spdy->streams.next, struct spdy_stream, link);

        list_remove(&stream->link);
        stream_close(stream->feed);
        stream_close(stream->input);
        free(stream);
    }
    stream_close(spdy->stream);
    spdy_inflater_free(spdy->inflater);
    spdy_deflater_free(spdy->deflater);
    arena_free(spdy->arena);
    free(spdy);
}
