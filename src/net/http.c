#include "net/http.h"

#include "base/buf.h"

#include <ctype.h>
#include <string.h>

struct str http_header_find(const struct http_headers *headers, struct str name)
{
    LIST_EACH(header, headers)
    {
        if (str_eq_nocase(header->name, name)) {
            return header->value;
        }
    }
    return (struct str){0};
}

void http_header_add(struct arena *arena, struct http_headers *headers, struct str name, struct str value)
{
    *LIST_ADD(arena, headers) = (struct http_header){name, value};
}

void http_header_remove(struct http_headers *headers, struct str name)
{
    size_t kept = 0;

    for (size_t i = 0; i < headers->len; i++) {
        if (!str_eq_nocase(headers->items[i].name, name)) {
            headers->items[kept++] = headers->items[i];
        }
    }
    headers->len = kept;
}

bool http_header_has_token(const struct http_headers *headers, struct str name, struct str token)
{
    LIST_EACH(header, headers)
    {
        if (!str_eq_nocase(header->name, name)) {
            continue;
        }
        for (struct str rest = header->value, item; str_next(&rest, ',', &item);) {
            if (str_eq_nocase(str_trim(item), token)) {
                return true;
            }
        }
    }
    return false;
}

/* Serving */

struct status *http_read(struct http_exchange *exchange, void *bytes, size_t size, size_t *ret_size)
{
    return exchange->ops->read(exchange, bytes, size, ret_size);
}

struct status *http_read_all(struct http_exchange *exchange, size_t max, struct str *ret_body)
{
    OWNED(buf_done) struct buf body = {0};
    uint64_t length = 0;
    size_t got;

    if (str_to_u64(http_header_find(&exchange->headers, STR("content-length")), &length) && length > max) {
        return status_new(STATUS_REQUEST_ENTITY_TOO_LARGE, "limit is %zu", max);
    }
    do {
        size_t room = MIN(MAX(body.n, (size_t)4096), max - body.n + 1);

        TRY(http_read(exchange, buf_reserve(&body, room), room, &got));
        body.n += got;
        if (body.n > max) {
            return status_new(STATUS_REQUEST_ENTITY_TOO_LARGE, "limit is %zu", max);
        }
    } while (got > 0);
    *ret_body = arena_str(exchange->arena, buf_str(&body));
    return NULL;
}

struct status *http_start(struct http_exchange *exchange, int code, const struct http_headers *headers)
{
    static const struct http_headers none;

    if (exchange->is_started) {
        return status_new(STATUS_INTERNAL_ERROR, "the answer has been started already");
    }
    exchange->is_started = true;
    exchange->code = code;
    return exchange->ops->start(exchange, code, headers != NULL ? headers : &none);
}

struct status *http_write(struct http_exchange *exchange, struct str bytes)
{
    if (!exchange->is_started || exchange->is_ended) {
        return status_new(STATUS_INTERNAL_ERROR, "writing an answer that is not started or has ended");
    }
    return bytes.n > 0 ? exchange->ops->write(exchange, bytes) : NULL;
}

struct status *http_end(struct http_exchange *exchange, const struct http_headers *trailers)
{
    if (!exchange->is_started) {
        TRY(http_start(exchange, 500, NULL));
    }
    if (exchange->is_ended) {
        return NULL;
    }
    exchange->is_ended = true;
    return exchange->ops->end(exchange, trailers);
}

struct status *http_respond(struct http_exchange *exchange, int code, const struct http_headers *headers,
                            struct str body)
{
    struct http_headers all = {0};

    for (size_t i = 0; headers != NULL && i < headers->len; i++) {
        *LIST_ADD(exchange->arena, &all) = headers->items[i];
    }
    http_header_add(exchange->arena, &all, STR("content-length"), arena_printf(exchange->arena, "%zu", body.n));
    TRY(http_start(exchange, code, &all));
    TRY(http_write(exchange, body));
    return http_end(exchange, NULL);
}

struct status *http_upgrade(struct http_exchange *exchange, const struct http_headers *headers,
                            struct stream **ret_stream)
{
    if (exchange->is_started || exchange->ops->upgrade == NULL) {
        return status_new(STATUS_BAD_REQUEST, "this connection cannot be upgraded");
    }
    TRY(exchange->ops->upgrade(exchange, headers, ret_stream));
    exchange->is_started = exchange->is_ended = true;
    exchange->code = 101;
    return NULL;
}

bool http_is_gone(struct http_exchange *exchange)
{
    return exchange->ops->is_gone(exchange);
}

/* Text */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

struct status *http_unescape(struct arena *arena, struct str text, bool is_form, struct str *ret)
{
    char *out = arena_alloc(arena, text.n + 1);
    size_t size = 0;

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '%') {
            int high = i + 2 < text.n ? hex_digit(text.p[i + 1]) : -1,
                low = i + 2 < text.n ? hex_digit(text.p[i + 2]) : -1;

            if (high < 0 || low < 0) {
                struct str bad = str_sub(text, i, MIN(i + 3, text.n));

                return status_new(STATUS_BAD_REQUEST, "invalid URL escape \"%.*s\"", STR_ARG(bad));
            }
            out[size++] = (char)(high << 4 | low);
            i += 2;
        } else {
            out[size++] = is_form && text.p[i] == '+' ? ' ' : text.p[i];
        }
    }
    *ret = (struct str){out, size};
    return NULL;
}

bool http_query_next(struct arena *arena, struct str *rest, struct str *ret_name, struct str *ret_value)
{
    struct str item, name, value;

    while (str_next(rest, '&', &item)) {
        if (item.n == 0) {
            continue;
        }
        str_cut(item, '=', &name, &value);
        struct status *status = http_unescape(arena, name, true, ret_name);

        if (status == NULL) {
            status = http_unescape(arena, value, true, ret_value);
        }
        if (status == NULL) {
            return true;
        }
        status_free(status); /* a broken pair is left out, as Go does */
    }
    return false;
}

bool http_query_find(struct arena *arena, struct str query, struct str name, struct str *ret_value)
{
    struct str at, value;

    for (struct str rest = query; http_query_next(arena, &rest, &at, &value);) {
        if (str_eq(at, name)) {
            *ret_value = value;
            return true;
        }
    }
    return false;
}

struct str http_escape(struct arena *arena, struct str text)
{
    char *out = arena_alloc(arena, text.n * 3 + 1);
    size_t size = 0;

    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (isalnum(c) || (c != 0 && strchr("-_.~", c) != NULL)) {
            out[size++] = (char)c;
        } else {
            out[size++] = '%';
            out[size++] = "0123456789ABCDEF"[c >> 4];
            out[size++] = "0123456789ABCDEF"[c & 15];
        }
    }
    return (struct str){out, size};
}

struct str http_code_text(int code)
{
    static const struct {
        int code;
        struct str text;
    } texts[] = {
        {100, STR_INIT("Continue")},
        {101, STR_INIT("Switching Protocols")},
        {200, STR_INIT("OK")},
        {201, STR_INIT("Created")},
        {202, STR_INIT("Accepted")},
        {204, STR_INIT("No Content")},
        {206, STR_INIT("Partial Content")},
        {301, STR_INIT("Moved Permanently")},
        {302, STR_INIT("Found")},
        {303, STR_INIT("See Other")},
        {304, STR_INIT("Not Modified")},
        {307, STR_INIT("Temporary Redirect")},
        {308, STR_INIT("Permanent Redirect")},
        {400, STR_INIT("Bad Request")},
        {401, STR_INIT("Unauthorized")},
        {403, STR_INIT("Forbidden")},
        {404, STR_INIT("Not Found")},
        {405, STR_INIT("Method Not Allowed")},
        {406, STR_INIT("Not Acceptable")},
        {408, STR_INIT("Request Timeout")},
        {409, STR_INIT("Conflict")},
        {410, STR_INIT("Gone")},
        {411, STR_INIT("Length Required")},
        {412, STR_INIT("Precondition Failed")},
        {413, STR_INIT("Request Entity Too Large")},
        {414, STR_INIT("Request URI Too Long")},
        {415, STR_INIT("Unsupported Media Type")},
        {416, STR_INIT("Requested Range Not Satisfiable")},
        {417, STR_INIT("Expectation Failed")},
        {422, STR_INIT("Unprocessable Entity")},
        {426, STR_INIT("Upgrade Required")},
        {429, STR_INIT("Too Many Requests")},
        {431, STR_INIT("Request Header Fields Too Large")},
        {500, STR_INIT("Internal Server Error")},
        {501, STR_INIT("Not Implemented")},
        {502, STR_INIT("Bad Gateway")},
        {503, STR_INIT("Service Unavailable")},
        {504, STR_INIT("Gateway Timeout")},
        {505, STR_INIT("HTTP Version Not Supported")},
    };

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        if (texts[i].code == code) {
            return texts[i].text;
        }
    }
    return STR("");
}

/* Asking */

struct status *http_response_read(struct http_response *response, void *bytes, size_t size, int64_t deadline,
                                  size_t *ret_size)
{
    return response->ops->read(response, bytes, size, deadline, ret_size);
}

struct status *http_response_read_all(struct http_response *response, struct arena *arena, size_t max,
                                      struct str *ret_body)
{
    OWNED(buf_done) struct buf body = {0};
    size_t got;

    do {
        size_t room = MIN(MAX(body.n, (size_t)4096), max - body.n + 1);

        TRY(http_response_read(response, buf_reserve(&body, room), room, INT64_MAX, &got));
        body.n += got;
        if (body.n > max) {
            return status_new(STATUS_INTERNAL_ERROR, "the answer is longer than %zu bytes", max);
        }
    } while (got > 0);
    *ret_body = arena_str(arena, buf_str(&body));
    return NULL;
}

void http_response_close(struct http_response *response)
{
    if (response != NULL) {
        response->ops->close(response);
    }
}

struct status *http_do(struct http_client *client, const struct http_request *request,
                       struct http_response **ret_response)
{
    return client->ops->call(client, request, ret_response);
}

void http_client_free(struct http_client *client)
{
    if (client != NULL) {
        client->ops->free(client);
    }
}
