#include "network/netlink.h"

#include "base/mem.h"
#include "network/netns.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_BYTES = 4096, RECEIVE_BYTES = 32768 };

struct netlink {
    struct mnl_socket *socket;
    unsigned sequence;
};

/* A message being made; its bytes are followed by what libmnl appends. */
struct message {
    struct nlmsghdr *header;
    char bytes[MESSAGE_BYTES] __attribute__((aligned(8)));
};

static struct status *failure(int error, const char *what)
{
    enum status_reason reason = error == EEXIST                                          ? STATUS_ALREADY_EXISTS
                                : error == ENODEV || error == ENOENT || error == ESRCH || error == EADDRNOTAVAIL
                                    ? STATUS_NOT_FOUND
                                    : STATUS_INTERNAL_ERROR;

    return status_new(reason, "%s: %s", what, strerror(error));
}

static struct status *open_here(void *arg)
{
    struct netlink *netlink = arg;

    netlink->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
    if (netlink->socket == NULL || mnl_socket_bind(netlink->socket, 0, MNL_SOCKET_AUTOPID) < 0) {
        return failure(errno, "opening a netlink socket");
    }
    return NULL;
}

struct status *netlink_open(const char *netns, struct netlink **ret)
{
    struct netlink *netlink = MEM_NEW(struct netlink);
    struct status *bad = netns != NULL ? netns_do(netns, open_here, netlink) : open_here(netlink);

    if (bad != NULL) {
        netlink_close(netlink);
        return bad;
    }
    *ret = netlink;
    return NULL;
}

void netlink_close(struct netlink *netlink)
{
    if (netlink != NULL) {
        if (netlink->socket != NULL) {
            mnl_socket_close(netlink->socket);
        }
        free(netlink);
    }
}

void netlink_closep(struct netlink **netlink)
{
    netlink_close(*netlink);
}

static void *begin(struct netlink *netlink, struct message *message, uint16_t type, uint16_t flags, size_t extra_size)
{
    memset(message, 0, sizeof(*message));
    message->header = mnl_nlmsg_put_header(message->bytes);
    message->header->nlmsg_type = type;
    message->header->nlmsg_flags = NLM_F_REQUEST | flags;
    message->header->nlmsg_seq = ++netlink->sequence;
    return mnl_nlmsg_put_extra_header(message->header, extra_size);
}

/* Sends it and gives every answer to `each`; NULL when only success matters. */
static struct status *talk(struct netlink *netlink, struct message *message, mnl_cb_t each, void *arg,
                           const char *what)
{
    char bytes[RECEIVE_BYTES];
    unsigned port = mnl_socket_get_portid(netlink->socket);
    int more = 1;

    if (mnl_socket_sendto(netlink->socket, message->header, message->header->nlmsg_len) < 0) {
        return failure(errno, what);
    }
    while (more > 0) {
        ssize_t size = mnl_socket_recvfrom(netlink->socket, bytes, sizeof(bytes));

        more = size < 0 ? -1 : mnl_cb_run(bytes, (size_t)size, netlink->sequence, port, each, arg);
    }
    return more < 0 ? failure(errno, what) : NULL;
}

static struct status *carry_out(struct netlink *netlink, struct message *message, const char *what)
{
    message->header->nlmsg_flags |= NLM_F_ACK;
    return talk(netlink, message, NULL, NULL, what);
}

/* Interfaces */

static void copy_text(char *to, size_t size, const struct nlattr *attribute)
{
    if (mnl_attr_validate(attribute, MNL_TYPE_STRING) >= 0) {
        snprintf(to, size, "%.*s", (int)mnl_attr_get_payload_len(attribute), mnl_attr_get_str(attribute));
    }
}

static void read_link(const struct nlmsghdr *header, struct netlink_link *link)
{
    const struct ifinfomsg *info = mnl_nlmsg_get_payload(header);
    const struct nlattr *at, *inner;

    *link = (struct netlink_link){.index = (unsigned)info->ifi_index, .flags = info->ifi_flags};
    mnl_attr_for_each(at, header, sizeof(*info))
    {
        switch (mnl_attr_get_type(at)) {
        case IFLA_IFNAME:
            copy_text(link->name, sizeof(link->name), at);
            break;
        case IFLA_MASTER:
            link->master = mnl_attr_get_u32(at);
            break;
        case IFLA_MTU:
            link->mtu = mnl_attr_get_u32(at);
            break;
        case IFLA_ADDRESS:
            memcpy(link->mac, mnl_attr_get_payload(at), MIN(sizeof(link->mac), (size_t)mnl_attr_get_payload_len(at)));
            break;
        case IFLA_LINKINFO:
            mnl_attr_for_each_nested(inner, at)
            {
                if (mnl_attr_get_type(inner) == IFLA_INFO_KIND) {
                    copy_text(link->kind, sizeof(link->kind), inner);
                }
            }
            break;
        default:
            break;
        }
    }
}

static int on_link(const struct nlmsghdr *header, void *arg)
{
    read_link(header, arg);
    return MNL_CB_OK;
}

struct status *netlink_link_find(struct netlink *netlink, const char *name, struct netlink_link *ret)
{
    struct message message;
    struct netlink_link link = {0};

    begin(netlink, &message, RTM_GETLINK, NLM_F_ACK, sizeof(struct ifinfomsg));
    mnl_attr_put_strz(message.header, IFLA_IFNAME, name);
    struct status *bad = talk(netlink, &message, on_link, &link, "looking for the interface");

    if (bad != NULL) {
        return status_while(bad, "%s", name);
    }
    *ret = link;
    return NULL;
}

struct list {
    struct arena *arena;
    struct netlink_links links;
    struct netlink_addresses addresses;
    struct netlink_routes routes;
    unsigned index;
};

static int on_listed_link(const struct nlmsghdr *header, void *arg)
{
    struct list *list = arg;

    read_link(header, LIST_ADD(list->arena, &list->links));
    return MNL_CB_OK;
}

struct status *netlink_link_list(struct netlink *netlink, struct arena *arena, struct netlink_links *ret)
{
    struct message message;
    struct list list = {.arena = arena};

    begin(netlink, &message, RTM_GETLINK, NLM_F_DUMP, sizeof(struct ifinfomsg));
    TRY(talk(netlink, &message, on_listed_link, &list, "listing interfaces"));
    *ret = list.links;
    return NULL;
}

struct str netlink_mac_text(struct arena *arena, const uint8_t mac[6])
{
    return arena_printf(arena, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
}

bool netlink_mac_parse(struct str text, uint8_t ret[6])
{
    char copy[32];
    unsigned parts[6];
    int end = 0;

    if (text.n != 17) {
        return false;
    }
    snprintf(copy, sizeof(copy), "%.*s", STR_ARG(text));
    if (sscanf(copy, "%2x:%2x:%2x:%2x:%2x:%2x%n", &parts[0], &parts[1], &parts[2], &parts[3], &parts[4], &parts[5],
               &end) != 6 || end != 17) {
        return false;
    }
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        ret[i] = (uint8_t)parts[i];
    }
    return true;
}

static void put_up(struct ifinfomsg *info)
{
    info->ifi_flags |= IFF_UP;
    info->ifi_change |= IFF_UP;
}

struct status *netlink_bridge_add(struct netlink *netlink, const char *name, unsigned mtu)
{
    struct message message;

    put_up(begin(netlink, &message, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, sizeof(struct ifinfomsg)));
    mnl_attr_put_strz(message.header, IFLA_IFNAME, name);
    if (mtu > 0) {
        mnl_attr_put_u32(message.header, IFLA_MTU, mtu);
    }
    struct nlattr *info = mnl_attr_nest_start(message.header, IFLA_LINKINFO);

    mnl_attr_put_strz(message.header, IFLA_INFO_KIND, "bridge");
    mnl_attr_nest_end(message.header, info);
    return carry_out(netlink, &message, "making the bridge");
}

struct status *netlink_veth_add(struct netlink *netlink, const struct netlink_veth *veth)
{
    struct message message;
    struct nlmsghdr *header;

    put_up(begin(netlink, &message, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, sizeof(struct ifinfomsg)));
    header = message.header;
    mnl_attr_put_strz(header, IFLA_IFNAME, veth->name);
    if (veth->mtu > 0) {
        mnl_attr_put_u32(header, IFLA_MTU, veth->mtu);
    }
    if (veth->master > 0) {
        mnl_attr_put_u32(header, IFLA_MASTER, veth->master);
    }
    struct nlattr *info = mnl_attr_nest_start(header, IFLA_LINKINFO);

    mnl_attr_put_strz(header, IFLA_INFO_KIND, "veth");
    struct nlattr *data = mnl_attr_nest_start(header, IFLA_INFO_DATA);
    struct nlattr *peer = mnl_attr_nest_start(header, VETH_INFO_PEER);

    mnl_nlmsg_put_extra_header(header, sizeof(struct ifinfomsg));
    mnl_attr_put_strz(header, IFLA_IFNAME, veth->peer_name);
    mnl_attr_put_u32(header, IFLA_NET_NS_FD, (uint32_t)veth->peer_netns_fd);
    if (veth->mtu > 0) {
        mnl_attr_put_u32(header, IFLA_MTU, veth->mtu);
    }
    if (veth->peer_mac != NULL) {
        mnl_attr_put(header, IFLA_ADDRESS, 6, veth->peer_mac);
    }
    mnl_attr_nest_end(header, peer);
    mnl_attr_nest_end(header, data);
    mnl_attr_nest_end(header, info);
    return carry_out(netlink, &message, "making the veth pair");
}

static struct ifinfomsg *begin_change(struct netlink *netlink, struct message *message, unsigned index)
{
    struct ifinfomsg *info = begin(netlink, message, RTM_NEWLINK, 0, sizeof(*info));

    info->ifi_index = (int)index;
    return info;
}

struct status *netlink_link_up(struct netlink *netlink, unsigned index)
{
    struct message message;

    put_up(begin_change(netlink, &message, index));
    return carry_out(netlink, &message, "setting the interface up");
}

struct status *netlink_link_mac(struct netlink *netlink, unsigned index, const uint8_t mac[6])
{
    struct message message;

    begin_change(netlink, &message, index);
    mnl_attr_put(message.header, IFLA_ADDRESS, 6, mac);
    return carry_out(netlink, &message, "setting the interface's hardware address");
}

struct status *netlink_link_promiscuous(struct netlink *netlink, unsigned index)
{
    struct message message;
    struct ifinfomsg *info = begin_change(netlink, &message, index);

    info->ifi_flags = info->ifi_change = IFF_PROMISC;
    return carry_out(netlink, &message, "setting the interface promiscuous");
}

struct status *netlink_port_hairpin(struct netlink *netlink, unsigned index)
{
    struct message message;
    struct ifinfomsg *info = begin(netlink, &message, RTM_SETLINK, 0, sizeof(*info));

    info->ifi_family = AF_BRIDGE;
    info->ifi_index = (int)index;
    struct nlattr *port = mnl_attr_nest_start(message.header, IFLA_PROTINFO);

    mnl_attr_put_u8(message.header, IFLA_BRPORT_MODE, 1);
    mnl_attr_nest_end(message.header, port);
    return carry_out(netlink, &message, "setting hairpin mode");
}

struct status *netlink_link_delete(struct netlink *netlink, unsigned index)
{
    struct message message;
    struct ifinfomsg *info = begin(netlink, &message, RTM_DELLINK, 0, sizeof(*info));

    info->ifi_index = (int)index;
    return carry_out(netlink, &message, "deleting the interface");
}

/* Addresses */

static int family_of(const struct ip *ip)
{
    return ip->length == 4 ? AF_INET : AF_INET6;
}

static void begin_address(struct netlink *netlink, struct message *message, uint16_t type, uint16_t flags,
                          unsigned index, const struct cidr *address)
{
    struct ifaddrmsg *info = begin(netlink, message, type, flags, sizeof(*info));

    info->ifa_family = (uint8_t)family_of(&address->ip);
    info->ifa_prefixlen = address->prefix;
    info->ifa_index = index;
    if (address->ip.length == 16) {
        info->ifa_flags = IFA_F_NODAD;
    }
    mnl_attr_put(message->header, IFA_LOCAL, address->ip.length, address->ip.bytes);
    mnl_attr_put(message->header, IFA_ADDRESS, address->ip.length, address->ip.bytes);
}

struct status *netlink_address_add(struct netlink *netlink, unsigned index, const struct cidr *address)
{
    struct message message;

    begin_address(netlink, &message, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, index, address);
    if (address->ip.length == 4 && address->prefix < 31) {
        struct ip broadcast = address->ip;

        for (unsigned bit = address->prefix; bit < 32; bit++) {
            broadcast.bytes[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
        }
        mnl_attr_put(message.header, IFA_BROADCAST, 4, broadcast.bytes);
    }
    return carry_out(netlink, &message, "adding the address");
}

struct status *netlink_address_delete(struct netlink *netlink, unsigned index, const struct cidr *address)
{
    struct message message;

    begin_address(netlink, &message, RTM_DELADDR, 0, index, address);
    return carry_out(netlink, &message, "deleting the address");
}

static bool read_ip(const struct nlattr *attribute, uint8_t family, struct ip *ret)
{
    size_t length = family == AF_INET ? 4 : 16;

    if (mnl_attr_get_payload_len(attribute) != length) {
        return false;
    }
    ret->length = (uint8_t)length;
    memcpy(ret->bytes, mnl_attr_get_payload(attribute), length);
    return true;
}

static int on_address(const struct nlmsghdr *header, void *arg)
{
    struct list *list = arg;
    const struct ifaddrmsg *info = mnl_nlmsg_get_payload(header);
    struct cidr address = {.prefix = info->ifa_prefixlen};
    const struct nlattr *at;

    if (info->ifa_index != list->index) {
        return MNL_CB_OK;
    }
    mnl_attr_for_each(at, header, sizeof(*info))
    {
        if (mnl_attr_get_type(at) == IFA_LOCAL || (mnl_attr_get_type(at) == IFA_ADDRESS && address.ip.length == 0)) {
            read_ip(at, info->ifa_family, &address.ip);
        }
    }
    *LIST_ADD(list->arena, &list->addresses) = address;
    return MNL_CB_OK;
}

struct status *netlink_address_list(struct netlink *netlink, unsigned index, struct arena *arena,
                                    struct netlink_addresses *ret)
{
    struct message message;
    struct list list = {.arena = arena, .index = index};

    begin(netlink, &message, RTM_GETADDR, NLM_F_DUMP, sizeof(struct ifaddrmsg));
    TRY(talk(netlink, &message, on_address, &list, "listing addresses"));
    *ret = list.addresses;
    return NULL;
}

/* Routes */

struct status *netlink_route_add(struct netlink *netlink, unsigned index, const struct netlink_route *route)
{
    struct message message;
    struct rtmsg *info = begin(netlink, &message, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, sizeof(*info));

    info->rtm_family = (uint8_t)family_of(&route->destination.ip);
    info->rtm_dst_len = route->destination.prefix;
    info->rtm_table = RT_TABLE_MAIN;
    info->rtm_protocol = RTPROT_BOOT;
    info->rtm_scope = route->gateway.length > 0 ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK;
    info->rtm_type = RTN_UNICAST;
    if (route->destination.prefix > 0) {
        struct cidr masked = cidr_masked(&route->destination);

        mnl_attr_put(message.header, RTA_DST, masked.ip.length, masked.ip.bytes);
    }
    if (route->gateway.length > 0) {
        mnl_attr_put(message.header, RTA_GATEWAY, route->gateway.length, route->gateway.bytes);
    }
    mnl_attr_put_u32(message.header, RTA_OIF, index);
    return carry_out(netlink, &message, "adding the route");
}

static int on_route(const struct nlmsghdr *header, void *arg)
{
    struct list *list = arg;
    const struct rtmsg *info = mnl_nlmsg_get_payload(header);
    struct netlink_route route = {.destination = {.ip = {.length = info->rtm_family == AF_INET ? 4 : 16},
                                                  .prefix = info->rtm_dst_len}};
    unsigned index = 0;
    const struct nlattr *at;

    if (info->rtm_table != RT_TABLE_MAIN || (info->rtm_family != AF_INET && info->rtm_family != AF_INET6)) {
        return MNL_CB_OK;
    }
    mnl_attr_for_each(at, header, sizeof(*info))
    {
        if (mnl_attr_get_type(at) == RTA_DST) {
            read_ip(at, info->rtm_family, &route.destination.ip);
        } else if (mnl_attr_get_type(at) == RTA_GATEWAY) {
            read_ip(at, info->rtm_family, &route.gateway);
        } else if (mnl_attr_get_type(at) == RTA_OIF) {
            index = mnl_attr_get_u32(at);
        }
    }
    if (index == list->index) {
        *LIST_ADD(list->arena, &list->routes) = route;
    }
    return MNL_CB_OK;
}

struct status *netlink_route_list(struct netlink *netlink, unsigned index, struct arena *arena,
                                  struct netlink_routes *ret)
{
    struct message message;
    struct list list = {.arena = arena, .index = index};

    begin(netlink, &message, RTM_GETROUTE, NLM_F_DUMP, sizeof(struct rtmsg));
    TRY(talk(netlink, &message, on_route, &list, "listing routes"));
    *ret = list.routes;
    return NULL;
}
