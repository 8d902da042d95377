/* Load for an API server, from connections that each send one request after another: HTTP/1.1 over TLS.
 *
 *   load HOST:PORT CA CERT KEY requests CONNECTIONS COUNT METHOD PATH ACCEPT CONTENT-TYPE BODY-FILE
 *   load HOST:PORT CA CERT KEY watch CONNECTIONS EVENTS PATH ACCEPT
 *
 * "##" in path and body is the request's number. Prints a JSON line. `watch` prints "ready" when all watches are open, and
 * its line when each has had EVENTS events. Small on purpose: it shares the machine with what it measures. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { READ_BYTES = 64 << 10, HEAD_BYTES = 8 << 10, BODY_BYTES = 64 << 10, STACK_BYTES = 256 << 10 };

struct connection {
    int fd;
    SSL *ssl;
    char *bytes; /* read and not yet used: from `at` to `end` */
    size_t at, end;
    bool is_chunked;
    long left; /* of the body, or of the chunk; -1: no length known */
};

static struct sockaddr_in address;
static SSL_CTX *context;
static const char *method, *path, *accepts, *content_type;
static char *body;
static long total;
static atomic_long next_number, failures, bytes_read, ready_count;
static double *took; /* by number; ms */

static void die(const char *what)
{
    fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void dial(struct connection *connection)
{
    int on = 1;

    *connection = (struct connection){.fd = socket(AF_INET, SOCK_STREAM, 0), .bytes = malloc(READ_BYTES)};
    if (connection->fd < 0 || connect(connection->fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        die("connect");
    }
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    connection->ssl = SSL_new(context);
    SSL_set_fd(connection->ssl, connection->fd);
    if (SSL_connect(connection->ssl) != 1) {
        die("TLS handshake");
    }
}

static void hang_up(struct connection *connection)
{
    SSL_free(connection->ssl);
    close(connection->fd);
    free(connection->bytes);
}

/* More bytes behind those that are there. */
static void fill(struct connection *connection)
{
    if (connection->at == connection->end) {
        connection->at = connection->end = 0;
    } else if (connection->end == READ_BYTES) {
        memmove(connection->bytes, connection->bytes + connection->at, connection->end - connection->at);
        connection->end -= connection->at;
        connection->at = 0;
    }
    int got = SSL_read(connection->ssl, connection->bytes + connection->end, (int)(READ_BYTES - connection->end));

    if (got <= 0) {
        die("the server closed the connection");
    }
    connection->end += (size_t)got;
}

/* A line without its end, which stays valid until the next fill(). */
static char *read_line(struct connection *connection)
{
    for (;;) {
        char *start = connection->bytes + connection->at;
        char *end = memchr(start, '\n', connection->end - connection->at);

        if (end != NULL) {
            connection->at = (size_t)(end + 1 - connection->bytes);
            end[end > start && end[-1] == '\r' ? -1 : 0] = '\0';
            return start;
        }
        fill(connection);
    }
}

static int read_head(struct connection *connection)
{
    int code = atoi(read_line(connection) + strlen("HTTP/1.1 "));

    connection->is_chunked = false;
    connection->left = -1;
    for (char *line; *(line = read_line(connection)) != '\0';) {
        if (strncasecmp(line, "content-length:", 15) == 0) {
            connection->left = atol(line + 15);
        } else if (strncasecmp(line, "transfer-encoding:", 18) == 0) {
            connection->is_chunked = true;
            connection->left = 0;
        }
    }
    return code;
}

/* Some of the body; false at its end. */
static bool read_body(struct connection *connection, char **ret, size_t *ret_size)
{
    if (connection->is_chunked && connection->left == 0) {
        char *line = read_line(connection);

        connection->left = strtol(*line != '\0' ? line : read_line(connection), NULL, 16);
        if (connection->left == 0) {
            read_line(connection);
            return false;
        }
    }
    if (connection->left == 0) {
        return false;
    }
    if (connection->at == connection->end) {
        fill(connection);
    }
    size_t there = connection->end - connection->at;

    *ret = connection->bytes + connection->at;
    *ret_size = connection->left >= 0 && (size_t)connection->left < there ? (size_t)connection->left : there;
    connection->at += *ret_size;
    connection->left -= connection->left >= 0 ? (long)*ret_size : 0;
    return true;
}

/* `text` with the number in place of each "##". */
static size_t put(char *out, size_t size, const char *text, long number)
{
    size_t n = 0;

    for (; *text != '\0' && n + 24 < size; text++) {
        if (text[0] == '#' && text[1] == '#') {
            n += (size_t)sprintf(out + n, "%ld", number);
            text++;
        } else {
            out[n++] = *text;
        }
    }
    out[n] = '\0';
    return n;
}

static void send_request(struct connection *connection, long number, char *out)
{
    char target[1024];
    char *content = out + HEAD_BYTES;
    size_t content_size = put(content, BODY_BYTES, body, number);

    put(target, sizeof(target), path, number);
    int n = snprintf(out, HEAD_BYTES, "%s %s HTTP/1.1\r\nHost: bench\r\nUser-Agent: load\r\nAccept: %s\r\n", method, target,
                     accepts);

    if (content_size > 0) {
        n += snprintf(out + n, HEAD_BYTES - (size_t)n, "Content-Type: %s\r\nContent-Length: %zu\r\n", content_type,
                      content_size);
    }
    n += snprintf(out + n, HEAD_BYTES - (size_t)n, "\r\n");
    memmove(out + n, content, content_size);
    if (SSL_write(connection->ssl, out, n + (int)content_size) <= 0) {
        die("write");
    }
}

static void *run_requests(void *arg)
{
    struct connection connection;
    char *out = malloc(HEAD_BYTES + BODY_BYTES);

    (void)arg;
    dial(&connection);
    for (long number; (number = atomic_fetch_add(&next_number, 1)) < total;) {
        double began = now();
        char *bytes;
        size_t size;

        send_request(&connection, number, out);
        int code = read_head(&connection);

        while (read_body(&connection, &bytes, &size)) {
            atomic_fetch_add(&bytes_read, (long)size);
            if (code >= 300 && atomic_load(&failures) == 0) {
                fprintf(stderr, "load: %d %.*s\n", code, (int)size, bytes);
            }
        }
        took[number] = (now() - began) * 1000;
        atomic_fetch_add(&failures, code >= 300);
    }
    hang_up(&connection);
    free(out);
    return NULL;
}

static void *run_watch(void *arg)
{
    struct connection connection;
    char *out = malloc(HEAD_BYTES + BODY_BYTES), *bytes;
    size_t size;

    (void)arg;
    dial(&connection);
    send_request(&connection, 0, out);
    if (read_head(&connection) != 200) {
        atomic_fetch_add(&failures, 1);
    }
    atomic_fetch_add(&ready_count, 1);
    for (long events = 0; events < total && read_body(&connection, &bytes, &size);) {
        atomic_fetch_add(&bytes_read, (long)size);
        for (char *at = bytes; (at = memchr(at, '\n', size - (size_t)(at - bytes))) != NULL; at++) {
            events++;
        }
    }
    hang_up(&connection);
    free(out);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double own_cpu(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static char *read_file(const char *name)
{
    char *text = calloc(1, BODY_BYTES);
    FILE *file = *name != '\0' ? fopen(name, "r") : NULL;

    if (*name != '\0' && file == NULL) {
        die(name);
    }
    if (file != NULL) {
        fread(text, 1, BODY_BYTES - 1, file);
        fclose(file);
    }
    return text;
}

static void set_up(char **argv)
{
    char *colon = strrchr(argv[1], ':');

    *colon = '\0';
    address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(colon + 1))};
    inet_pton(AF_INET, argv[1], &address.sin_addr);
    context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    if (SSL_CTX_load_verify_locations(context, argv[2], NULL) != 1 ||
        SSL_CTX_use_certificate_chain_file(context, argv[3]) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, argv[4], SSL_FILETYPE_PEM) != 1) {
        die("certificates");
    }
}

int main(int argc, char **argv)
{
    bool watches = argc == 10 && strcmp(argv[5], "watch") == 0;

    if (!watches && argc != 13) {
        fprintf(stderr, "usage: see the head of load.c\n");
        return 2;
    }
    set_up(argv);
    long count = atol(argv[6]);

    total = atol(argv[7]);
    method = watches ? "GET" : argv[8];
    path = argv[watches ? 8 : 9];
    accepts = argv[watches ? 9 : 10];
    content_type = watches ? "" : argv[11];
    body = read_file(watches ? "" : argv[12]);
    took = calloc((size_t)total + 1, sizeof(*took));
    pthread_t *threads = calloc((size_t)count, sizeof(*threads));
    pthread_attr_t attributes;
    double began = now();

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (long i = 0; i < count; i++) {
        if (pthread_create(&threads[i], &attributes, watches ? run_watch : run_requests, NULL) != 0) {
            die("thread");
        }
    }
    while (watches && atomic_load(&ready_count) < count) {
        usleep(1000);
    }
    if (watches) {
        printf("ready\n");
        fflush(stdout);
        began = now();
    }
    for (long i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    double seconds = now() - began;
    long answers = watches ? count * total : total;

    qsort(took, (size_t)total, sizeof(*took), compare);
    printf("{\"count\": %ld, \"failures\": %ld, \"seconds\": %.3f, \"per_second\": %.1f, \"p50_ms\": %.3f, "
           "\"p99_ms\": %.3f, \"bytes\": %ld, \"client_cpu_ms\": %.4f}\n",
           answers, atomic_load(&failures), seconds, (double)answers / seconds, took[total / 2],
           took[total - 1 - total / 100], atomic_load(&bytes_read), own_cpu() * 1000 / (double)answers);
    return 0;
}
