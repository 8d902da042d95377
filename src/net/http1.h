/* HTTP/1.1 on the wire (RFC 9112), without any I/O: heads, how long a body is, chunks. For the server and the client.
 */
#ifndef NET_HTTP1_H
#define NET_HTTP1_H

#include "base/buf.h"
#include "net/http.h"

struct http1_head {
    /* a request's */
    struct str method;
    struct str target;
    /* a response's */
    int code;
    int version; /* 10 or 11 */
    struct http_headers headers; /* names in lower case */
};

/* How many bytes the head at the start of `bytes` takes, its empty line included; 0 while it is not complete. *scanned,
 * 0 at the start, remembers how far was looked. REQUEST_ENTITY_TOO_LARGE with code 431 when it is too long. */
MUST_USE struct status *http1_find_head(struct str bytes, size_t *scanned, size_t *ret_size);
/* Reads such a head; all goes into the arena. BAD_REQUEST with Go's words when it is not right. */
MUST_USE struct status *http1_parse_request(struct arena *arena, struct str head, struct http1_head *ret);
MUST_USE struct status *http1_parse_response(struct arena *arena, struct str head, struct http1_head *ret);

enum http1_body_kind { HTTP1_BODY_LENGTH, HTTP1_BODY_CHUNKED, HTTP1_BODY_UNTIL_END };

/* Reads a body as it comes, in whatever pieces. */
struct http1_body {
    enum http1_body_kind kind;
    uint64_t left; /* of the body, or of the chunk */
    int state;     /* in the chunk framing */
    size_t line;   /* bytes of framing since the last data */
    bool is_done;
};

/* How the body of a request, or of a response to `method`, is framed. */
MUST_USE struct status *http1_request_body(const struct http1_head *head, struct http1_body *ret);
MUST_USE struct status *http1_response_body(const struct http1_head *head, struct str method, struct http1_body *ret);
/* Takes bytes from the wire (*ret_used of them) and gives body (*ret_size of at most `size`). Stops at the body's end.
 */
MUST_USE struct status *http1_body_take(struct http1_body *body, struct str wire, char *bytes, size_t size,
                                        size_t *ret_used, size_t *ret_size);

/* Whether the connection can serve another request after this head. */
bool http1_keeps_alive(const struct http1_head *head);

/* Writing. Names of headers come out in Go's form: "content-type" as "Content-Type". */
void http1_add_header(struct buf *out, struct str name, struct str value);
void http1_add_status_line(struct buf *out, int code);
void http1_add_chunk(struct buf *out, struct str bytes);

#endif
