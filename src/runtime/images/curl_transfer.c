#include "runtime/images/transfer.h"

#include "base/buf.h"
#include "base/env.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/task.h"
#include "base/version.h"
#include "runtime/images/lazy_library.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Loaded when first used; the options' types are checked by nobody then. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#define CURL_FUNCTIONS(X) \
    X(curl_easy_cleanup) X(curl_easy_getinfo) X(curl_easy_init) X(curl_easy_setopt) X(curl_easy_strerror)        \
    X(curl_global_init) X(curl_multi_add_handle) X(curl_multi_cleanup) X(curl_multi_info_read)                   \
    X(curl_multi_init) X(curl_multi_perform) X(curl_multi_poll) X(curl_multi_remove_handle)                      \
    X(curl_multi_wakeup) X(curl_slist_append) X(curl_slist_free_all)

static struct {
    CURL_FUNCTIONS(LAZY_POINTER)
} curl;
static const char *const curl_names[] = {CURL_FUNCTIONS(LAZY_NAME)};

enum { CONNECT_SECONDS = 30, STALL_SECONDS = 60, REDIRECTS_MAX = 10, RECEIVE_BYTES = 256 << 10, HEADER_MAX = 16 << 10 };

struct transfers {
    pthread_mutex_t mutex; /* guards what follows up to the thread's own, and `received` of each transfer */
    struct link queue;     /* not yet begun */
    bool is_stopping;
    bool has_thread;
    pthread_t thread;
    CURLM *multi;
};

/* Belongs to the thread from queueing until finish() runs on the loop again; a waiter that was cancelled leaves it. */
struct transfer {
    struct link link;
    struct transfers *transfers;
    struct env *env;
    struct task *waiter; /* loop thread; NULL: it left */
    bool is_done;        /* loop thread */
    atomic_bool is_cancelled;
    struct arena *arena;
    struct transfer_request request; /* copied */
    CURL *easy;
    struct curl_slist *headers;
    char error[CURL_ERROR_SIZE];
    CURLcode result;
    int write_errno;
    bool is_too_large, has_begun;
    int64_t in_file;
    struct buf body;
    struct transfer_response response;
};

static void transfer_free(struct transfer *transfer)
{
    if (transfer->request.fd >= 0) {
        close(transfer->request.fd);
    }
    curl.curl_slist_free_all(transfer->headers);
    buf_done(&transfer->body);
    arena_free(transfer->arena);
    free(transfer);
}

static void finish(void *arg)
{
    struct transfer *transfer = arg;

    transfer->is_done = true;
    if (transfer->waiter == NULL) {
        transfer_free(transfer);
    } else {
        task_wake(transfer->waiter);
    }
}

static struct str header_value(struct str line, const char *name)
{
    struct str key, value;

    if (!str_cut(line, ':', &key, &value) || !str_eq_nocase(key, str_of(name))) {
        return (struct str){0};
    }
    return str_trim(value);
}

/* Each response of a chain of redirections starts anew with its status line. */
static size_t on_header(char *bytes, size_t size, size_t count, void *arg)
{
    struct transfer *transfer = arg;
    struct transfer_response *response = &transfer->response;
    struct str line = str_trim((struct str){bytes, MIN(size * count, (size_t)HEADER_MAX)}), value;

    if (str_has_prefix(line, STR("HTTP/"))) {
        *response = (struct transfer_response){
            .status_text = arena_str(transfer->arena, str_trim(str_from(line, str_index(line, ' '))))};
    } else if ((value = header_value(line, "content-type")).n > 0) {
        response->content_type = arena_str(transfer->arena, str_trim(str_sub(value, 0, str_index(value, ';'))));
    } else if ((value = header_value(line, "docker-content-digest")).n > 0) {
        response->content_digest = arena_str(transfer->arena, value);
    } else if ((value = header_value(line, "www-authenticate")).n > 0 && response->challenges.len < 8) {
        *LIST_ADD(transfer->arena, &response->challenges) = arena_str(transfer->arena, value);
    } else if ((value = header_value(line, "retry-after")).n > 0) {
        str_to_i64(value, &response->retry_after_seconds);
    }
    return size * count;
}

static void count_received(struct transfer *transfer, size_t size)
{
    pthread_mutex_lock(&transfer->transfers->mutex);
    if (transfer->request.received != NULL) {
        atomic_fetch_add_explicit(transfer->request.received, (long long)size, memory_order_relaxed);
    }
    pthread_mutex_unlock(&transfer->transfers->mutex);
}

static bool write_file(struct transfer *transfer, const char *bytes, size_t size, long code)
{
    if (!transfer->has_begun) {
        transfer->has_begun = true;
        if (code == 200) { /* all of it, whatever was asked for */
            transfer->in_file = 0;
            if (ftruncate(transfer->request.fd, 0) != 0) {
                transfer->write_errno = errno;
                return false;
            }
        }
    }
    if (transfer->in_file + (int64_t)size > transfer->request.bytes_max) {
        transfer->is_too_large = true;
        return false;
    }
    while (size > 0) {
        ssize_t n = pwrite(transfer->request.fd, bytes, size, transfer->in_file);

        if (n < 0 && errno != EINTR) {
            transfer->write_errno = errno;
            return false;
        }
        bytes += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
        transfer->in_file += n > 0 ? n : 0;
    }
    return true;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *arg)
{
    struct transfer *transfer = arg;
    bool is_file = transfer->request.fd >= 0;
    long code = 0;

    size *= count;
    curl.curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &code);
    if (is_file && (code == 200 || code == 206)) {
        count_received(transfer, size);
        return write_file(transfer, bytes, size, code) ? size : 0;
    }
    int64_t max = is_file ? (int64_t)LIMIT_IMAGE_TOKEN_BYTES : transfer->request.bytes_max;

    if ((int64_t)(transfer->body.n + size) > max) {
        transfer->is_too_large = code == 200;
        return code == 200 ? 0 : size; /* of an error the beginning is enough */
    }
    buf_add(&transfer->body, bytes, size);
    return size;
}

static int on_progress(void *arg, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up)
{
    const struct transfer *transfer = arg;

    (void)down_total;
    (void)down;
    (void)up_total;
    (void)up;
    return atomic_load_explicit(&transfer->is_cancelled, memory_order_relaxed);
}

static void set_tls(CURL *easy, const struct registry_tls *tls)
{
    if (tls->is_insecure) {
        curl.curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl.curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (tls->ca_file.n > 0) {
        curl.curl_easy_setopt(easy, CURLOPT_CAINFO, tls->ca_file.p);
    }
    if (tls->cert_file.n > 0) {
        curl.curl_easy_setopt(easy, CURLOPT_SSLCERT, tls->cert_file.p);
        curl.curl_easy_setopt(easy, CURLOPT_SSLKEY, tls->key_file.p);
    }
}

static void set_limits(CURL *easy)
{
    curl.curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl.curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl.curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl.curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
    curl.curl_easy_setopt(easy, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    curl.curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl.curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl.curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)STALL_SECONDS);
    curl.curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)RECEIVE_BYTES);
    curl.curl_easy_setopt(easy, CURLOPT_USERAGENT, "c8s/" C8S_VERSION);
}

static void set_request(struct transfer *transfer)
{
    const struct transfer_request *request = &transfer->request;
    CURL *easy = transfer->easy;

    curl.curl_easy_setopt(easy, CURLOPT_URL, request->url.p);
    if (strcmp(request->method, "HEAD") == 0) {
        curl.curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    } else if (strcmp(request->method, "POST") == 0) {
        curl.curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)request->body.n);
        curl.curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body.p);
    }
    LIST_EACH(header, &request->headers)
    {
        transfer->headers = curl.curl_slist_append(transfer->headers, header->p);
    }
    curl.curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    if (request->fd >= 0 && request->offset > 0) {
        char range[40];

        /* Not CURLOPT_RESUME_FROM: a server that gives the whole is as good. */
        snprintf(range, sizeof(range), "%lld-", (long long)request->offset);
        transfer->in_file = request->offset;
        curl.curl_easy_setopt(easy, CURLOPT_RANGE, range);
    }
    set_tls(easy, request->tls);
}

/* On the thread. */
static void begin(struct transfer *transfer)
{
    CURL *easy = curl.curl_easy_init();

    if (easy == NULL) {
        mem_die("libcurl gives no handle");
    }
    transfer->easy = easy;
    set_limits(easy);
    set_request(transfer);
    curl.curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl.curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->error);
    curl.curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl.curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl.curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl.curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl.curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl.curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl.curl_easy_setopt(easy, CURLOPT_XFERINFODATA, transfer);
    curl.curl_multi_add_handle(transfer->transfers->multi, easy);
}

static const char *host_of(const struct transfer *transfer, char *out, size_t size)
{
    struct str url = transfer->request.url;
    struct str rest = str_from(url, str_find(url, STR("://")) + 3);
    struct str host = str_sub(rest, 0, str_index(rest, '/'));

    snprintf(out, size, "%.*s", STR_ARG(host));
    return out;
}

/* What went wrong, as Go's HTTP client words it where people know the words. */
static void set_error_text(struct transfer *transfer)
{
    char host[300], detail[CURL_ERROR_SIZE];
    long error = 0;

    curl.curl_easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &error);
    host_of(transfer, host, sizeof(host));
    snprintf(detail, sizeof(detail), "%s",
             transfer->error[0] != '\0' ? transfer->error : curl.curl_easy_strerror(transfer->result));
    if (transfer->result == CURLE_COULDNT_RESOLVE_HOST) {
        host[strcspn(host, ":")] = '\0';
        snprintf(transfer->error, sizeof(transfer->error), "dial tcp: lookup %.200s: no such host", host);
    } else if (transfer->result == CURLE_COULDNT_CONNECT && error == ECONNREFUSED) {
        snprintf(transfer->error, sizeof(transfer->error), "dial tcp %.200s: connect: connection refused", host);
    } else if (transfer->result == CURLE_OPERATION_TIMEDOUT) {
        snprintf(transfer->error, sizeof(transfer->error), "dial tcp %.200s: i/o timeout", host);
    } else if (transfer->result == CURLE_PEER_FAILED_VERIFICATION) {
        snprintf(transfer->error, sizeof(transfer->error), "tls: failed to verify certificate: x509: %.200s", detail);
    } else if (transfer->result == CURLE_SSL_CONNECT_ERROR && strstr(detail, "wrong version") != NULL) {
        snprintf(transfer->error, sizeof(transfer->error), "http: server gave HTTP response to HTTPS client");
    } else {
        snprintf(transfer->error, sizeof(transfer->error), "%s", detail);
    }
}

static void end(struct transfer *transfer, CURLcode result)
{
    long code = 0;

    transfer->result = result;
    if (result != CURLE_OK) {
        set_error_text(transfer);
    }
    curl.curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &code);
    transfer->response.code = (int)code;
    curl.curl_multi_remove_handle(transfer->transfers->multi, transfer->easy);
    curl.curl_easy_cleanup(transfer->easy);
    transfer->easy = NULL;
    env_post_remote(transfer->env, finish, transfer);
}

/* True when the thread shall end; then nothing is in the queue any more. */
static bool take_queue(struct transfers *transfers)
{
    struct link taken;

    list_init(&taken);
    pthread_mutex_lock(&transfers->mutex);
    for (struct link *link; (link = list_pop(&transfers->queue)) != NULL;) {
        list_add_tail(&taken, link);
    }
    bool is_stopping = transfers->is_stopping;

    pthread_mutex_unlock(&transfers->mutex);
    for (struct link *link; (link = list_pop(&taken)) != NULL;) {
        struct transfer *transfer = CONTAINER_OF(link, struct transfer, link);

        if (is_stopping) {
            transfer->result = CURLE_ABORTED_BY_CALLBACK;
            env_post_remote(transfer->env, finish, transfer);
        } else {
            begin(transfer);
        }
    }
    return is_stopping;
}

static void take_results(struct transfers *transfers)
{
    int left;

    for (CURLMsg *message; (message = curl.curl_multi_info_read(transfers->multi, &left)) != NULL;) {
        if (message->msg == CURLMSG_DONE) {
            struct transfer *transfer;

            curl.curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
            end(transfer, message->data.result);
        }
    }
}

static void *run_thread(void *arg)
{
    struct transfers *transfers = arg;

    for (int running = 0;;) {
        /* When it stops, everybody who waited has left and cancelled what still runs: it ends by itself. */
        if (take_queue(transfers) && running == 0) {
            return NULL;
        }
        curl.curl_multi_perform(transfers->multi, &running);
        take_results(transfers);
        curl.curl_multi_poll(transfers->multi, NULL, 0, running > 0 ? 1000 : 3600 * 1000, NULL);
    }
}

struct transfers *transfers_new(void)
{
    struct transfers *transfers = MEM_NEW(struct transfers);

    list_init(&transfers->queue);
    pthread_mutex_init(&transfers->mutex, NULL);
    return transfers;
}

static void start_thread(struct transfers *transfers)
{
    if (transfers->has_thread) {
        return;
    }
    if (curl.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || (transfers->multi = curl.curl_multi_init()) == NULL ||
        pthread_create(&transfers->thread, NULL, run_thread, transfers) != 0) {
        mem_die("can't start the thread of transfers");
    }
    transfers->has_thread = true;
}

void transfers_free(struct transfers *transfers)
{
    if (transfers == NULL) {
        return;
    }
    if (transfers->has_thread) {
        pthread_mutex_lock(&transfers->mutex);
        transfers->is_stopping = true;
        pthread_mutex_unlock(&transfers->mutex);
        curl.curl_multi_wakeup(transfers->multi);
        pthread_join(transfers->thread, NULL);
        curl.curl_multi_cleanup(transfers->multi);
    }
    pthread_mutex_destroy(&transfers->mutex);
    free(transfers);
}

static struct transfer *transfer_new(struct transfers *transfers, const struct transfer_request *request)
{
    struct transfer *transfer = MEM_NEW(struct transfer);
    struct arena *arena = arena_new();
    struct registry_tls *tls = ARENA_NEW(arena, struct registry_tls);

    if (request->tls != NULL) {
        *tls = (struct registry_tls){arena_str(arena, request->tls->ca_file), arena_str(arena, request->tls->cert_file),
                                     arena_str(arena, request->tls->key_file), request->tls->is_insecure};
    }
    transfer->transfers = transfers;
    transfer->env = env_current();
    transfer->waiter = task_current();
    transfer->arena = arena;
    transfer->request = *request;
    transfer->request.url = arena_str(arena, request->url);
    transfer->request.body = arena_str(arena, request->body);
    transfer->request.tls = tls;
    transfer->request.headers = (struct str_list){0};
    LIST_EACH(header, &request->headers)
    {
        *LIST_ADD(arena, &transfer->request.headers) = arena_str(arena, *header);
    }
    return transfer;
}

/* The waiter's task was cancelled: the thread ends the transfer by itself. */
static struct status *leave(struct transfers *transfers, struct transfer *transfer)
{
    transfer->waiter = NULL;
    atomic_store(&transfer->is_cancelled, true);
    pthread_mutex_lock(&transfers->mutex);
    transfer->request.received = NULL;
    pthread_mutex_unlock(&transfers->mutex);
    curl.curl_multi_wakeup(transfers->multi);
    return status_new(STATUS_CANCELLED, "context canceled");
}

static struct status *result_of(const struct transfer *transfer, struct arena *arena, struct transfer_response *ret)
{
    const struct transfer_response *response = &transfer->response;

    if (transfer->write_errno != 0) {
        return status_errno(transfer->write_errno, "write");
    }
    if (transfer->is_too_large) {
        return status_new(STATUS_REQUEST_ENTITY_TOO_LARGE, "the answer is larger than %lld bytes",
                          (long long)transfer->request.bytes_max);
    }
    if (transfer->result != CURLE_OK) {
        return status_new(STATUS_SERVICE_UNAVAILABLE, "%s", transfer->error);
    }
    *ret = *response;
    ret->status_text = arena_str(arena, response->status_text);
    ret->content_type = arena_str(arena, response->content_type);
    ret->content_digest = arena_str(arena, response->content_digest);
    ret->body = arena_str(arena, buf_str(&transfer->body));
    ret->challenges = (struct str_list){0};
    LIST_EACH(challenge, &response->challenges)
    {
        *LIST_ADD(arena, &ret->challenges) = arena_str(arena, *challenge);
    }
    return NULL;
}

struct status *transfers_run(struct transfers *transfers, struct arena *arena, const struct transfer_request *request,
                             struct transfer_response *ret)
{
    TRY(lazy_library_load("libcurl.so.4", curl_names, COUNT_OF(curl_names), &curl));
    struct transfer *transfer = transfer_new(transfers, request);

    if (request->fd >= 0 && (transfer->request.fd = fcntl(request->fd, F_DUPFD_CLOEXEC, 3)) < 0) {
        struct status *failure = status_errno(errno, "duplicating a file descriptor");

        transfer_free(transfer);
        return failure;
    }
    start_thread(transfers);
    pthread_mutex_lock(&transfers->mutex);
    list_add_tail(&transfers->queue, &transfer->link);
    pthread_mutex_unlock(&transfers->mutex);
    curl.curl_multi_wakeup(transfers->multi);
    while (!transfer->is_done) {
        if (!task_park(TASK_FOREVER) && task_is_cancelled() && !transfer->is_done) {
            return leave(transfers, transfer);
        }
    }
    struct status *failure = result_of(transfer, arena, ret);

    transfer_free(transfer);
    return failure;
}
