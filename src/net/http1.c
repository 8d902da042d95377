#include "net/http1.h"

#include "base/limits.h"

#include <ctype.h>
#include <string.h>

enum { CHUNK_LINE_MAX = 4096 }; /* a chunk's size with extensions, or all trailers */

/* Heads */

struct status *http1_find_head(struct str bytes, size_t *scanned, size_t *ret_size)
{
    size_t at = *scanned;

    *ret_size = 0;
    while (at < bytes.n) {
        const char *newline = memchr(bytes.p + at, '\n', bytes.n - at);

        if (newline == NULL) {
            break;
        }
        size_t next = (size_t)(newline - bytes.p) + 1;

        if (next - at == 1 || (next - at == 2 && bytes.p[at] == '\r')) {
            if (at > 0) { /* an empty line before the first makes no head */
                *ret_size = next;
                return NULL;
            }
        }
        at = next;
    }
    *scanned = at;
    if (bytes.n > LIMIT_HTTP_HEADER_BYTES) {
        struct status *status = status_new(STATUS_REQUEST_ENTITY_TOO_LARGE, "header fields too large");

        status->code = 431;
        return status;
    }
    return NULL;
}

static bool is_token(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (!isalnum(c) && (c == 0 || strchr("!#$%&'*+-.^_`|~", c) == NULL)) {
            return false;
        }
    }
    return text.n > 0;
}

static bool is_field_value(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if ((c < ' ' && c != '\t') || c == 0x7f) {
            return false;
        }
    }
    return true;
}

static struct str lower(struct arena *arena, struct str text)
{
    char *copy = arena_cstr(arena, text);

    for (size_t i = 0; i < text.n; i++) {
        copy[i] = (char)tolower((unsigned char)copy[i]);
    }
    return (struct str){copy, text.n};
}

/* The next line without its end; false when there is none. */
static bool next_line(struct str *rest, struct str *ret_line)
{
    if (!str_next(rest, '\n', ret_line)) {
        return false;
    }
    if (ret_line->n > 0 && ret_line->p[ret_line->n - 1] == '\r') {
        ret_line->n--;
    }
    return true;
}

static struct status *parse_headers(struct arena *arena, struct str rest, struct http_headers *ret)
{
    struct str line, name, value;

    while (next_line(&rest, &line) && line.n > 0) {
        if (ret->len == LIMIT_HTTP_HEADERS) {
            struct status *status = status_new(STATUS_REQUEST_ENTITY_TOO_LARGE, "too many header fields");

            status->code = 431;
            return status;
        }
        /* A line that starts with white space went on with the one before in old times: not any more. */
        if (!str_cut(line, ':', &name, &value) || !is_token(name)) {
            return status_new(STATUS_BAD_REQUEST, "invalid header name");
        }
        value = str_trim(value);
        if (!is_field_value(value)) {
            return status_new(STATUS_BAD_REQUEST, "invalid header value");
        }
        http_header_add(arena, ret, lower(arena, name), arena_str(arena, value));
    }
    return NULL;
}

static bool parse_version(struct str text, int *ret)
{
    *ret = str_is(text, "HTTP/1.1") ? 11 : str_is(text, "HTTP/1.0") ? 10 : 0;
    return *ret != 0;
}

static bool is_target(struct str target)
{
    for (size_t i = 0; i < target.n; i++) {
        if ((unsigned char)target.p[i] <= ' ' || target.p[i] == 0x7f) {
            return false;
        }
    }
    return target.n > 0;
}

/* From the absolute form ("http://host/path"), which proxies are sent, to the usual one. */
static struct str origin_form(struct str target)
{
    size_t scheme = str_find(target, STR("://"));

    if (target.p[0] == '/' || scheme == SIZE_MAX || scheme > 5) {
        return target;
    }
    struct str rest = str_from(target, scheme + 3);
    size_t slash = str_index(rest, '/');

    return slash == SIZE_MAX ? STR("/") : str_from(rest, slash);
}

static size_t count_headers(const struct http_headers *headers, struct str name)
{
    size_t count = 0;

    LIST_EACH(header, headers)
    {
        count += str_eq(header->name, name);
    }
    return count;
}

struct status *http1_parse_request(struct arena *arena, struct str head, struct http1_head *ret)
{
    struct str rest = head, line = {0}, method, target, version;

    *ret = (struct http1_head){0};
    next_line(&rest, &line);
    if (!str_cut(line, ' ', &method, &target) || !str_cut(target, ' ', &target, &version)) {
        return status_new(STATUS_BAD_REQUEST, "malformed HTTP request");
    }
    if (!parse_version(version, &ret->version)) {
        struct status *status = status_new(STATUS_BAD_REQUEST, "malformed HTTP version");

        status->code = str_has_prefix(version, STR("HTTP/")) ? 505 : 400;
        return status;
    }
    if (!is_token(method)) {
        return status_new(STATUS_BAD_REQUEST, "invalid method");
    }
    if (!is_target(target)) {
        return status_new(STATUS_BAD_REQUEST, "malformed HTTP request");
    }
    ret->method = arena_str(arena, method);
    ret->target = arena_str(arena, origin_form(target));
    TRY(parse_headers(arena, rest, &ret->headers));
    size_t hosts = count_headers(&ret->headers, STR("host"));

    if (hosts > 1) {
        return status_new(STATUS_BAD_REQUEST, "too many Host headers");
    }
    if (hosts == 0 && ret->version == 11) {
        return status_new(STATUS_BAD_REQUEST, "missing required Host header");
    }
    return NULL;
}

struct status *http1_parse_response(struct arena *arena, struct str head, struct http1_head *ret)
{
    struct str rest = head, line = {0}, version, code, reason;
    int64_t number;

    *ret = (struct http1_head){0};
    next_line(&rest, &line);
    if (!str_cut(line, ' ', &version, &code)) {
        return status_new(STATUS_SERVICE_UNAVAILABLE, "malformed HTTP response");
    }
    str_cut(code, ' ', &code, &reason);
    if (!parse_version(version, &ret->version) || code.n != 3 || !str_to_i64(code, &number) || number < 100) {
        return status_new(STATUS_SERVICE_UNAVAILABLE, "malformed HTTP response");
    }
    ret->code = (int)number;
    return status_while(parse_headers(arena, rest, &ret->headers), "malformed HTTP response");
}

bool http1_keeps_alive(const struct http1_head *head)
{
    if (http_header_has_token(&head->headers, STR("connection"), STR("close"))) {
        return false;
    }
    return head->version == 11 || http_header_has_token(&head->headers, STR("connection"), STR("keep-alive"));
}

/* Bodies */

/* What the headers say. *ret_framed tells whether they say anything. Two answers are refused rather than chosen
 * between: what is in front of us may have chosen the other. */
static struct status *framing(const struct http1_head *head, struct http1_body *ret, bool *ret_framed)
{
    size_t lengths = 0;

    *ret = (struct http1_body){.kind = HTTP1_BODY_LENGTH};
    LIST_EACH(header, &head->headers)
    {
        uint64_t length;

        if (!str_is(header->name, "content-length")) {
            continue;
        }
        if (!str_to_u64(header->value, &length) || length > INT64_MAX || (lengths++ > 0 && length != ret->left)) {
            return status_new(STATUS_BAD_REQUEST, "bad Content-Length");
        }
        ret->left = length;
    }
    *ret_framed = lengths > 0;
    size_t encodings = count_headers(&head->headers, STR("transfer-encoding"));

    if (encodings == 0) {
        ret->is_done = ret->left == 0;
        return NULL;
    }
    if (encodings > 1 || !str_eq_nocase(http_header_find(&head->headers, STR("transfer-encoding")), STR("chunked"))) {
        struct status *status = status_new(STATUS_BAD_REQUEST, "unsupported transfer encoding");

        status->code = 501;
        return status;
    }
    if (lengths > 0 || head->version == 10) {
        return status_new(STATUS_BAD_REQUEST, "unexpected Transfer-Encoding");
    }
    *ret = (struct http1_body){.kind = HTTP1_BODY_CHUNKED};
    *ret_framed = true;
    return NULL;
}

struct status *http1_request_body(const struct http1_head *head, struct http1_body *ret)
{
    bool is_framed;

    return framing(head, ret, &is_framed);
}

struct status *http1_response_body(const struct http1_head *head, struct str method, struct http1_body *ret)
{
    bool is_framed;

    if (str_is(method, "HEAD") || head->code < 200 || head->code == 204 || head->code == 304) {
        *ret = (struct http1_body){.kind = HTTP1_BODY_LENGTH, .is_done = true};
        return NULL;
    }
    TRY(framing(head, ret, &is_framed));
    if (!is_framed) {
        *ret = (struct http1_body){.kind = HTTP1_BODY_UNTIL_END};
    }
    return NULL;
}

/* States of the chunk framing. */
enum { CHUNK_SIZE, CHUNK_EXTENSION, CHUNK_DATA, CHUNK_DATA_END, CHUNK_TRAILER_START, CHUNK_TRAILER };

static struct status *bad_chunk(void)
{
    return status_new(STATUS_BAD_REQUEST, "malformed chunked encoding");
}

/* A chunk's first line is complete. */
static void chunk_sized(struct http1_body *body)
{
    body->state = body->left > 0 ? CHUNK_DATA : CHUNK_TRAILER_START;
    body->line = 0;
}

/* One byte of framing. `line` counts the bytes of it, so that they cannot go on for ever. */
static struct status *chunk_byte(struct http1_body *body, char c)
{
    int digit;

    if (++body->line > CHUNK_LINE_MAX) {
        return bad_chunk();
    }
    switch (body->state) {
    case CHUNK_SIZE:
        digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (digit >= 0) {
            if (body->left >> 58 != 0) {
                return bad_chunk();
            }
            body->left = body->left << 4 | (unsigned)digit;
            return NULL;
        }
        if (body->line == 1 || (c != ';' && c != '\r' && c != '\n' && c != ' ' && c != '\t')) {
            return bad_chunk();
        }
        body->state = CHUNK_EXTENSION;
        if (c == '\n') {
            chunk_sized(body);
        }
        return NULL;
    case CHUNK_EXTENSION:
        if (c == '\n') {
            chunk_sized(body);
        }
        return NULL;
    case CHUNK_DATA_END:
        if (c == '\n') {
            body->state = CHUNK_SIZE;
            body->line = 0;
            return NULL;
        }
        return c == '\r' && body->line == 1 ? NULL : bad_chunk();
    case CHUNK_TRAILER_START:
        if (c == '\n') {
            body->is_done = true;
        } else if (c != '\r') {
            body->state = CHUNK_TRAILER;
        }
        return NULL;
    default: /* CHUNK_TRAILER; trailers mean nothing to us and are thrown away */
        body->state = c == '\n' ? CHUNK_TRAILER_START : CHUNK_TRAILER;
        return NULL;
    }
}

struct status *http1_body_take(struct http1_body *body, struct str wire, char *bytes, size_t size, size_t *ret_used,
                               size_t *ret_size)
{
    size_t used = 0, given = 0;

    while (!body->is_done && used < wire.n && given < size) {
        if (body->kind == HTTP1_BODY_CHUNKED && body->state != CHUNK_DATA) {
            TRY(chunk_byte(body, wire.p[used++]));
            continue;
        }
        size_t count = MIN(wire.n - used, size - given);

        if (body->kind != HTTP1_BODY_UNTIL_END) {
            count = (size_t)MIN((uint64_t)count, body->left);
            body->left -= count;
        }
        memcpy(bytes + given, wire.p + used, count);
        used += count;
        given += count;
        if (body->kind == HTTP1_BODY_LENGTH && body->left == 0) {
            body->is_done = true;
        } else if (body->kind == HTTP1_BODY_CHUNKED && body->left == 0) {
            body->state = CHUNK_DATA_END;
            body->line = 0;
        }
    }
    *ret_used = used;
    *ret_size = given;
    return NULL;
}

/* Writing */

void http1_add_header(struct buf *out, struct str name, struct str value)
{
    char *at = buf_reserve(out, name.n + value.n + 4);
    bool is_start = true;

    for (size_t i = 0; i < name.n; i++) {
        *at++ = is_start ? (char)toupper((unsigned char)name.p[i]) : name.p[i];
        is_start = name.p[i] == '-';
    }
    memcpy(at, ": ", 2);
    at += 2;
    for (size_t i = 0; i < value.n; i++) { /* a line break in a value would be a header of somebody else's making */
        *at++ = value.p[i] == '\r' || value.p[i] == '\n' || value.p[i] == '\0' ? ' ' : value.p[i];
    }
    memcpy(at, "\r\n", 2);
    out->n += name.n + value.n + 4;
}

void http1_add_status_line(struct buf *out, int code)
{
    struct str text = http_code_text(code);

    buf_printf(out, "HTTP/1.1 %03d %.*s\r\n", code, STR_ARG(text));
}

void http1_add_chunk(struct buf *out, struct str bytes)
{
    buf_printf(out, "%zx\r\n", bytes.n);
    buf_add_str(out, bytes);
    buf_add_str(out, STR("\r\n"));
}
