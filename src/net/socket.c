#include "net/socket.h"

#include "base/mem.h"
#include "base/task.h"
#include "net/fd_stream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 4096, ADDRESSES_MAX = 8, PORT_MAX = 65535 };

struct socket_address {
    socklen_t size;
    union {
        struct sockaddr any;
        struct sockaddr_in ip4;
        struct sockaddr_in6 ip6;
        struct sockaddr_un local;
        struct sockaddr_storage storage;
    } at;
};

struct listener {
    int fd;
    struct socket_address address;
    char *path; /* to remove at the end */
};

bool socket_split(struct str address, struct str *ret_host, int *ret_port)
{
    size_t colon = str_last_index(address, ':');
    int64_t port;

    if (colon == SIZE_MAX || !str_to_i64(str_from(address, colon + 1), &port) || port < 0 || port > PORT_MAX) {
        return false;
    }
    struct str host = str_sub(address, 0, colon);

    if (host.n >= 2 && host.p[0] == '[' && host.p[host.n - 1] == ']') {
        host = str_sub(host, 1, host.n - 1);
    } else if (str_index(host, ':') != SIZE_MAX) {
        return false;
    }
    *ret_host = host;
    *ret_port = (int)port;
    return true;
}

static struct socket_name name_of(const struct socket_address *address)
{
    struct socket_name name = {"@"};
    char ip[INET6_ADDRSTRLEN];

    if (address->at.any.sa_family == AF_INET) {
        inet_ntop(AF_INET, &address->at.ip4.sin_addr, ip, sizeof(ip));
        snprintf(name.text, sizeof(name.text), "%s:%d", ip, ntohs(address->at.ip4.sin_port));
    } else if (address->at.any.sa_family == AF_INET6) {
        const struct in6_addr *ip6 = &address->at.ip6.sin6_addr;

        if (IN6_IS_ADDR_V4MAPPED(ip6)) { /* an IPv4 peer of a socket that takes both, told as Go tells it */
            inet_ntop(AF_INET, &ip6->s6_addr[12], ip, sizeof(ip));
            snprintf(name.text, sizeof(name.text), "%s:%d", ip, ntohs(address->at.ip6.sin6_port));
        } else {
            inet_ntop(AF_INET6, ip6, ip, sizeof(ip));
            snprintf(name.text, sizeof(name.text), "[%s]:%d", ip, ntohs(address->at.ip6.sin6_port));
        }
    } else if (address->at.any.sa_family == AF_UNIX && address->size > offsetof(struct sockaddr_un, sun_path)) {
        const char *path = address->at.local.sun_path;

        snprintf(name.text, sizeof(name.text), "%s%s", path[0] == '\0' ? "@" : "", path[0] == '\0' ? path + 1 : path);
    }
    return name;
}

/* False when the host is not an IP address. */
static bool ip_address(struct str host, int port, struct socket_address *ret)
{
    char text[INET6_ADDRSTRLEN + IF_NAMESIZE + 1];
    char *zone;

    *ret = (struct socket_address){0};
    if (host.n >= sizeof(text) || memchr(host.n ? host.p : "", 0, host.n) != NULL) {
        return false;
    }
    snprintf(text, sizeof(text), "%.*s", STR_ARG(host));
    if (inet_pton(AF_INET, text, &ret->at.ip4.sin_addr) == 1) {
        ret->at.ip4.sin_family = AF_INET;
        ret->at.ip4.sin_port = htons((uint16_t)port);
        ret->size = sizeof(ret->at.ip4);
        return true;
    }
    zone = strchr(text, '%');
    if (zone != NULL) {
        *zone++ = '\0';
        ret->at.ip6.sin6_scope_id = if_nametoindex(zone);
    }
    if (inet_pton(AF_INET6, text, &ret->at.ip6.sin6_addr) == 1) {
        ret->at.ip6.sin6_family = AF_INET6;
        ret->at.ip6.sin6_port = htons((uint16_t)port);
        ret->size = sizeof(ret->at.ip6);
        return true;
    }
    return false;
}

/* True for a unix address, whose path it gives ("@NAME" for an abstract one). */
static bool unix_path(struct str address, struct str *ret_path)
{
    if (!str_has_prefix(address, STR("unix:"))) {
        return false;
    }
    *ret_path = str_from(address, 5);
    if (str_has_prefix(*ret_path, STR("//"))) {
        *ret_path = str_from(*ret_path, 2);
    }
    return true;
}

static struct status *unix_address(struct str path, struct socket_address *ret)
{
    *ret = (struct socket_address){0};
    ret->at.local.sun_family = AF_UNIX;
    if (path.n == 0 || path.n >= sizeof(ret->at.local.sun_path)) {
        return status_new(STATUS_BAD_REQUEST, "unix socket path %.*s: must be 1 to %zu bytes", STR_ARG(path),
                          sizeof(ret->at.local.sun_path) - 1);
    }
    memcpy(ret->at.local.sun_path, path.p, path.n);
    ret->size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path.n + 1);
    if (path.p[0] == '@') {
        ret->at.local.sun_path[0] = '\0';
        ret->size--;
    }
    return NULL;
}

static int socket_open(int family)
{
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;

    if (fd >= 0 && family != AF_UNIX) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* accepted sockets inherit it */
        setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    }
    return fd;
}

/* Removes a socket nobody listens on any more. */
static void remove_stale(const struct socket_address *address)
{
    struct stat stat;

    if (address->at.local.sun_path[0] == '\0' || lstat(address->at.local.sun_path, &stat) != 0 ||
        !S_ISSOCK(stat.st_mode)) {
        return;
    }
    int fd = socket_open(AF_UNIX);

    if (fd >= 0 && connect(fd, &address->at.any, address->size) != 0 && errno == ECONNREFUSED) {
        unlink(address->at.local.sun_path);
    }
    close(fd);
}

static struct status *listen_on(const struct socket_address *address, mode_t mode, struct listener **ret)
{
    int family = address->at.any.sa_family;
    int fd = socket_open(family), on = 1;
    struct socket_name name = name_of(address);
    const char *net = family == AF_UNIX ? "unix" : "tcp";

    if (fd < 0) {
        return stream_errno(errno, "listen %s %s: socket", net, name.text);
    }
    if (family == AF_UNIX) {
        remove_stale(address);
    } else {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    }
    bool has_path = family == AF_UNIX && address->at.local.sun_path[0] != '\0';

    if (bind(fd, &address->at.any, address->size) != 0 ||
        (has_path && chmod(address->at.local.sun_path, mode) != 0) || listen(fd, BACKLOG) != 0) {
        int error = errno;

        close(fd);
        return stream_errno(error, "listen %s %s: bind", net, name.text);
    }
    struct listener *listener = MEM_NEW(struct listener);

    listener->fd = fd;
    listener->address.size = sizeof(listener->address.at);
    getsockname(fd, &listener->address.at.any, &listener->address.size);
    listener->path = has_path ? mem_strdup(address->at.local.sun_path) : NULL;
    *ret = listener;
    return NULL;
}

struct status *listener_open(struct str address, mode_t mode, struct listener **ret)
{
    struct socket_address at;
    struct str path, host;
    int port;

    if (unix_path(address, &path)) {
        TRY(unix_address(path, &at));
        return listen_on(&at, mode, ret);
    }
    if (!socket_split(address, &host, &port)) {
        return status_new(STATUS_BAD_REQUEST, "address %.*s: missing port in address", STR_ARG(address));
    }
    if (host.n == 0) { /* IPv6 takes IPv4 as well, where there is IPv6 */
        ip_address(STR("::"), port, &at);
        struct status *status = listen_on(&at, mode, ret);

        if (status == NULL) {
            return NULL;
        }
        status_free(status);
        host = STR("0.0.0.0");
    }
    if (!ip_address(host, port, &at)) {
        return status_new(STATUS_BAD_REQUEST, "address %.*s: the host must be an IP address", STR_ARG(address));
    }
    return listen_on(&at, mode, ret);
}

struct status *listener_accept(struct listener *listener, int64_t deadline, struct stream **ret_stream,
                               struct socket_name *ret_peer)
{
    for (;;) {
        struct socket_address peer = {.size = sizeof(peer.at)};
        int fd = accept4(listener->fd, &peer.at.any, &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0) {
            *ret_stream = fd_stream_new(fd);
            if (ret_peer != NULL) {
                *ret_peer = name_of(&peer);
            }
            return NULL;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            TRY(task_wait_fd(listener->fd, ENV_READABLE, deadline));
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return stream_errno(errno, "accept");
        }
    }
}

struct socket_name listener_name(const struct listener *listener)
{
    return name_of(&listener->address);
}

int listener_port(const struct listener *listener)
{
    return listener->address.at.any.sa_family == AF_INET    ? ntohs(listener->address.at.ip4.sin_port)
           : listener->address.at.any.sa_family == AF_INET6 ? ntohs(listener->address.at.ip6.sin6_port)
                                                            : 0;
}

struct status *listener_adopt(int fd, struct listener **ret)
{
    struct socket_address at = {.size = sizeof(at.at)};
    int listens = 0;
    socklen_t size = sizeof(listens);

    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || !listens ||
        getsockname(fd, &at.at.any, &at.size) != 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
        return status_new(STATUS_BAD_REQUEST, "descriptor %d is not a listening socket", fd);
    }
    struct listener *listener = MEM_NEW(struct listener);

    fcntl(fd, F_SETFD, FD_CLOEXEC);
    listener->fd = fd;
    listener->address = at;
    *ret = listener;
    return NULL;
}

int listener_release(struct listener *listener)
{
    int fd = listener->fd;

    free(listener->path);
    free(listener);
    return fd;
}

void listener_close(struct listener *listener)
{
    if (listener == NULL) {
        return;
    }
    if (listener->path != NULL) {
        unlink(listener->path);
    }
    close(listener->fd);
    free(listener->path);
    free(listener);
}

static struct status *connect_to(const struct socket_address *address, int64_t deadline, struct stream **ret)
{
    int family = address->at.any.sa_family;
    const char *net = family == AF_UNIX ? "unix" : "tcp";
    struct socket_name name = name_of(address);
    int fd = socket_open(family), error = 0;
    socklen_t size = sizeof(error);

    if (fd < 0) {
        return stream_errno(errno, "dial %s %s: socket", net, name.text);
    }
    if (connect(fd, &address->at.any, address->size) != 0) {
        error = errno;
    }
    if (error == EINPROGRESS) {
        struct status *status = task_wait_fd(fd, ENV_WRITABLE, deadline);

        if (status != NULL) {
            close(fd);
            return status_is(status, STATUS_TIMEOUT)
                       ? (status_free(status), status_new(STATUS_TIMEOUT, "dial %s %s: i/o timeout", net, name.text))
                       : status;
        }
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error != 0) {
        close(fd);
        return stream_errno(error, "dial %s %s: connect", net, name.text);
    }
    *ret = fd_stream_new(fd);
    return NULL;
}

struct lookup {
    const char *host;
    int port;
    int error;
    size_t count;
    struct socket_address addresses[ADDRESSES_MAX];
};

static void lookup_run(void *arg)
{
    struct lookup *lookup = arg;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG}, *found = NULL;

    lookup->error = getaddrinfo(lookup->host, NULL, &hints, &found);
    for (struct addrinfo *at = found; at != NULL && lookup->count < ADDRESSES_MAX; at = at->ai_next) {
        struct socket_address *address = &lookup->addresses[lookup->count++];

        memcpy(&address->at, at->ai_addr, at->ai_addrlen);
        address->size = at->ai_addrlen;
        if (at->ai_family == AF_INET) {
            address->at.ip4.sin_port = htons((uint16_t)lookup->port);
        } else {
            address->at.ip6.sin6_port = htons((uint16_t)lookup->port);
        }
    }
    if (found != NULL) {
        freeaddrinfo(found);
    }
}

static struct status *dial_name(struct str host, int port, int64_t deadline, struct stream **ret)
{
    char name[NI_MAXHOST];
    struct status *status = NULL;

    if (host.n == 0 || host.n >= sizeof(name)) {
        return status_new(STATUS_BAD_REQUEST, "dial tcp: no such host: %.*s", STR_ARG(host));
    }
    snprintf(name, sizeof(name), "%.*s", STR_ARG(host));
    struct lookup *lookup = MEM_NEW(struct lookup);

    *lookup = (struct lookup){.host = name, .port = port};
    task_offload(lookup_run, lookup);
    if (lookup->error != 0 || lookup->count == 0) {
        status = status_new(STATUS_SERVICE_UNAVAILABLE, "dial tcp: lookup %s: %s", name,
                            lookup->error == EAI_NONAME || lookup->error == 0 ? "no such host"
                                                                              : gai_strerror(lookup->error));
    }
    for (size_t i = 0; i < lookup->count; i++) {
        status_free(status);
        status = connect_to(&lookup->addresses[i], deadline, ret);
        if (status == NULL || status_is(status, STATUS_CANCELLED)) {
            break;
        }
    }
    free(lookup);
    return status;
}

struct status *socket_dial(struct str address, int64_t deadline, struct stream **ret)
{
    struct socket_address at;
    struct str path, host;
    int port;

    if (unix_path(address, &path)) {
        TRY(unix_address(path, &at));
        return connect_to(&at, deadline, ret);
    }
    if (!socket_split(address, &host, &port)) {
        return status_new(STATUS_BAD_REQUEST, "dial tcp: address %.*s: missing port in address", STR_ARG(address));
    }
    if (ip_address(host, port, &at)) {
        return connect_to(&at, deadline, ret);
    }
    return dial_name(host, port, deadline, ret);
}

struct socket_name socket_peer_name(struct stream *stream)
{
    struct socket_address address = {.size = sizeof(address.at)};

    getpeername(fd_stream_fd(stream), &address.at.any, &address.size);
    return name_of(&address);
}

struct socket_name socket_own_name(struct stream *stream)
{
    struct socket_address address = {.size = sizeof(address.at)};

    getsockname(fd_stream_fd(stream), &address.at.any, &address.size);
    return name_of(&address);
}

bool socket_peer_user(struct stream *stream, uid_t *ret_uid, pid_t *ret_pid)
{
    struct ucred user;
    socklen_t size = sizeof(user);

    if (getsockopt(fd_stream_fd(stream), SOL_SOCKET, SO_PEERCRED, &user, &size) != 0 || user.pid == 0) {
        return false;
    }
    *ret_uid = user.uid;
    *ret_pid = user.pid;
    return true;
}
