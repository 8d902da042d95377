#include "api/validation/network.h"

#include "base/arena.h"
#include "schema/ip.h"

bool check_ip(struct status *to, const struct path *at, struct str ip)
{
    struct str problem = ip_check(to->arena, ip, false);

    if (problem.n != 0) {
        check_invalid_str(to, at, ip, "%.*s", STR_ARG(problem));
    }
    return problem.n == 0;
}

bool check_cidr(struct status *to, const struct path *at, struct str cidr)
{
    struct str problem = cidr_check(to->arena, cidr, false);

    if (problem.n != 0) {
        check_invalid_str(to, at, cidr, "%.*s", STR_ARG(problem));
    }
    return problem.n == 0;
}

void check_endpoint_ip(struct status *to, const struct path *at, struct str text)
{
    static const struct {
        const char *cidr, *message;
    } special[] = {
        {"0.0.0.0/32", "may not be unspecified (0.0.0.0 or ::)"},
        {"::/128", "may not be unspecified (0.0.0.0 or ::)"},
        {"127.0.0.0/8", "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
        {"::1/128", "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
        {"169.254.0.0/16", "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
        {"fe80::/10", "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
        {"224.0.0.0/24", "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"},
        {"ff02::/16", "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"},
    };
    struct ip ip;

    if (!ip_parse(text, &ip)) {
        check_invalid_str(to, at, text, "must be a valid IP address");
        return;
    }
    for (size_t i = 0; i < COUNT_OF(special); i++) {
        struct cidr cidr;

        if (cidr_parse(str_of(special[i].cidr), &cidr) && cidr_contains(&cidr, &ip)) {
            check_invalid_str(to, at, text, "%s", special[i].message);
            return;
        }
    }
}

void check_port_number(struct status *to, const struct path *at, int64_t port)
{
    if (!name_is_port_number(port, NULL)) {
        check_invalid_int(to, at, port, "must be between 1 and 65535, inclusive");
    }
}

void check_protocol(struct status *to, const struct path *at, struct str protocol)
{
    static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};

    if (check_present(to, at, protocol)) {
        check_one_of(to, at, protocol, protocols);
    }
}
