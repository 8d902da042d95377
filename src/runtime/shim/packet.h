/* Packets with file descriptors beside them, on SOCK_SEQPACKET sockets. Neither call waits. */
#ifndef RUNTIME_SHIM_PACKET_H
#define RUNTIME_SHIM_PACKET_H

#include "base/str.h"

enum { PACKET_FDS = 4 };

/* False with errno: EAGAIN when the other end does not keep up, EPIPE when it is gone. The descriptors stay ours. */
bool packet_send(int socket, struct str bytes, const int *fds, size_t fd_count);
/* Bytes received into `buffer`; 0 at the end of the connection, -1 and errno (EAGAIN: nothing yet). The descriptors,
 * at most PACKET_FDS, are close-on-exec and the caller's. A packet larger than the buffer is EMSGSIZE. */
long packet_receive(int socket, void *buffer, size_t size, int fds[PACKET_FDS], size_t *ret_fd_count);

#endif
