/* TCP and unix sockets as streams: listening and dialling.
 *
 * An address is "HOST:PORT" ("127.0.0.1:6443", "[::1]:80", ":6443" for all of this machine's), or "unix:PATH" with
 * "unix:///PATH" meaning the same and "unix:@NAME" an abstract one. */
#ifndef NET_SOCKET_H
#define NET_SOCKET_H

#include "net/stream.h"

#include <sys/types.h>

struct listener;

/* An address in text: "127.0.0.1:4711", "[::1]:80", "@" for a nameless unix socket. */
struct socket_name {
    char text[112];
};

/* Listens on a TCP address (a name is refused: give an IP), or on a unix path, which is replaced when nobody listens
 * on it and gets `mode`. Port 0 picks one: listener_name() says which. */
MUST_USE struct status *listener_open(struct str address, mode_t mode, struct listener **ret);
/* Goes on with a socket that listens already, inherited from a parent; it is the listener's from now on. BAD_REQUEST when
 * the descriptor is none. */
MUST_USE struct status *listener_adopt(int fd, struct listener **ret);
/* Ends the listener but not its socket, which is the caller's. */
int listener_release(struct listener *listener);
/* Parks until someone connects. `ret_peer` may be NULL. */
MUST_USE struct status *listener_accept(struct listener *listener, int64_t deadline, struct stream **ret_stream,
                                        struct socket_name *ret_peer);
/* Where it listens. */
struct socket_name listener_name(const struct listener *listener);
int listener_port(const struct listener *listener);
/* Also removes the path of a unix socket. NULL is fine. */
void listener_close(struct listener *listener);

/* Parks until connected. Names are looked up on a worker. */
MUST_USE struct status *socket_dial(struct str address, int64_t deadline, struct stream **ret);

/* Cuts "HOST:PORT"; the brackets of "[::1]:80" are taken off. False when there is no port or it is not a number. */
bool socket_split(struct str address, struct str *ret_host, int *ret_port);
/* The other end, and this end, of a stream that socket_dial() or listener_accept() gave. */
struct socket_name socket_peer_name(struct stream *stream);
struct socket_name socket_own_name(struct stream *stream);
/* The user at the other end of a unix socket; false for others. */
bool socket_peer_user(struct stream *stream, uid_t *ret_uid, pid_t *ret_pid);

#endif
