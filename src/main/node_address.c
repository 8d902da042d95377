#include "main/node_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

/* Connecting a datagram socket sends nothing, but makes the kernel pick the route and with it our address. */
static bool by_route(struct sockaddr_in *ret)
{
    struct sockaddr_in elsewhere = {.sin_family = AF_INET, .sin_port = htons(9)};
    socklen_t size = sizeof(*ret);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    inet_pton(AF_INET, "192.0.2.1", &elsewhere.sin_addr); /* for documentation (RFC 5737): nobody has it */
    bool found = fd >= 0 && connect(fd, (struct sockaddr *)&elsewhere, sizeof(elsewhere)) == 0 &&
                 getsockname(fd, (struct sockaddr *)ret, &size) == 0;

    if (fd >= 0) {
        close(fd);
    }
    return found;
}

static bool by_interface(struct sockaddr_in *ret)
{
    struct ifaddrs *all = NULL;
    bool found = false;

    if (getifaddrs(&all) != 0) {
        return false;
    }
    for (struct ifaddrs *one = all; one != NULL && !found; one = one->ifa_next) {
        if (one->ifa_addr != NULL && one->ifa_addr->sa_family == AF_INET && (one->ifa_flags & IFF_UP) != 0 &&
            (one->ifa_flags & IFF_LOOPBACK) == 0) {
            *ret = *(const struct sockaddr_in *)(const void *)one->ifa_addr;
            found = true;
        }
    }
    freeifaddrs(all);
    return found;
}

struct str node_address(struct arena *arena)
{
    char text[INET_ADDRSTRLEN];
    struct sockaddr_in address;

    if (!by_route(&address) && !by_interface(&address)) {
        return STR("127.0.0.1");
    }
    inet_ntop(AF_INET, &address.sin_addr, text, sizeof(text));
    return arena_str(arena, str_of(text));
}
