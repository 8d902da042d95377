#include "network/loopback.h"

#include "network/netns.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

struct change {
    bool is_set, up;
};

static struct status *change_flags(void *arg)
{
    struct change *change = arg;
    struct ifreq request = {.ifr_name = "lo"};
    int socket_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool ok = socket_fd >= 0 && ioctl(socket_fd, SIOCGIFFLAGS, &request) == 0;

    if (ok && change->is_set) {
        int flags = change->up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP;

        request.ifr_flags = (short)flags;
        ok = ioctl(socket_fd, SIOCSIFFLAGS, &request) == 0;
    }
    struct status *bad = ok ? NULL : status_errno(errno, "setting up lo");

    change->up = (request.ifr_flags & IFF_UP) != 0;
    if (socket_fd >= 0) {
        close(socket_fd);
    }
    return bad;
}

struct status *loopback_set(const char *netns, bool up)
{
    struct change change = {.is_set = true, .up = up};

    return netns_do(netns, change_flags, &change);
}

struct status *loopback_is_up(const char *netns, bool *ret)
{
    struct change change = {0};

    TRY(netns_do(netns, change_flags, &change));
    *ret = change.up;
    return NULL;
}
