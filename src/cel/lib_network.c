/* net.IP, net.CIDR and kubernetes.URL. What an opaque value holds begins with its text, by which it is compared. */
#include "cel/cel_parts.h"
#include "base/base64.h"
#include "schema/ip.h"

#include <string.h>

#define FN(name) static struct cel_val name(struct cel_run *run UNUSED, const struct cel_val *args UNUSED, size_t count UNUSED)
#define FAIL(...) cel_error(run->arena, __VA_ARGS__)

struct ip_value {
    struct str text;
    struct ip ip;
};
struct cidr_value {
    struct str text;
    struct cidr cidr;
};
struct url_value {
    struct str text, scheme, user, host, path, query;
};

/* Without what stock refuses: leading zeros, zones, IPv4 in IPv6. False with the reason. */
static bool strict_ip(struct str text, struct ip *ret, const char **why)
{
    bool six = str_index(text, ':') != SIZE_MAX;

    if (!ip_parse(text, ret)) {
        *why = "unable to parse IP";
        return false;
    }
    if (six && (ret->length == 4 || str_index(text, '.') != SIZE_MAX)) {
        *why = "IPv4-mapped IPv6 address is not allowed";
        return false;
    }
    for (struct str rest = text, part; !six && str_next(&rest, '.', &part);) {
        if (part.n > 1 && part.p[0] == '0') {
            *why = "IPv4 field has octet with leading zero";
            return false;
        }
    }
    return true;
}

static struct cel_val make_ip(struct cel_run *run, const struct ip *ip)
{
    struct ip_value *value = ARENA_NEW(run->arena, struct ip_value);

    value->ip = *ip;
    value->text = ip_format(run->arena, ip);
    return cel_val_opaque(cel_type_named("net.IP"), value);
}

static const struct ip *ip_of(struct cel_val value)
{
    return &((const struct ip_value *)value.data)->ip;
}

FN(ip)
{
    struct ip ip;
    const char *why;

    return strict_ip(args[0].string, &ip, &why)
               ? make_ip(run, &ip)
               : FAIL("IP Address \"%.*s\" parse error during conversion from string: ParseAddr(\"%.*s\"): %s", STR_ARG(args[0].string),
                      STR_ARG(args[0].string), why);
}
FN(is_ip)
{
    struct ip address;
    const char *why;

    return cel_val_bool(strict_ip(args[0].string, &address, &why));
}
FN(is_canonical)
{
    struct ip address;
    const char *why;

    return strict_ip(args[0].string, &address, &why) ? cel_val_bool(str_eq(ip_format(run->arena, &address), args[0].string))
                                                     : FAIL("IP Address \"%.*s\" parse error: %s", STR_ARG(args[0].string), why);
}
FN(to_text) { return cel_val_string(cel_text(run->arena, args[0])); }
FN(family) { return cel_val_int(ip_of(args[0])->length == 4 ? 4 : 6); }
FN(is_unspecified)
{
    const struct ip *address = ip_of(args[0]);

    for (int i = 0; i < address->length; i++) {
        if (address->bytes[i] != 0) {
            return cel_val_bool(false);
        }
    }
    return cel_val_bool(true);
}
FN(is_loopback)
{
    static const uint8_t six[16] = {[15] = 1};
    const struct ip *address = ip_of(args[0]);

    return cel_val_bool(address->length == 4 ? address->bytes[0] == 127 : memcmp(address->bytes, six, 16) == 0);
}
FN(is_link_local_multicast)
{
    const uint8_t *b = ip_of(args[0])->bytes;

    return cel_val_bool(ip_of(args[0])->length == 4 ? b[0] == 224 && b[1] == 0 && b[2] == 0 : b[0] == 0xff && (b[1] & 0xf) == 2);
}
FN(is_link_local)
{
    const uint8_t *b = ip_of(args[0])->bytes;

    return cel_val_bool(ip_of(args[0])->length == 4 ? b[0] == 169 && b[1] == 254 : b[0] == 0xfe && (b[1] & 0xc0) == 0x80);
}
FN(is_global_unicast)
{
    const uint8_t *b = ip_of(args[0])->bytes;
    bool four = ip_of(args[0])->length == 4;
    bool multicast = four ? (b[0] & 0xf0) == 0xe0 : b[0] == 0xff;
    bool broadcast = four && b[0] == 255 && b[1] == 255 && b[2] == 255 && b[3] == 255;

    return cel_val_bool(!multicast && !broadcast && !is_unspecified(run, args, 1).boolean && !is_loopback(run, args, 1).boolean &&
                        !is_link_local(run, args, 1).boolean);
}

static bool strict_cidr(struct str text, struct cidr *ret)
{
    struct str address, prefix;
    struct ip ip;
    const char *why;

    return str_cut(text, '/', &address, &prefix) && strict_ip(address, &ip, &why) && !(prefix.n > 1 && prefix.p[0] == '0') &&
           cidr_parse(text, ret);
}

static struct cel_val make_cidr(struct cel_run *run, const struct cidr *cidr)
{
    struct cidr_value *value = ARENA_NEW(run->arena, struct cidr_value);

    value->cidr = *cidr;
    value->text = cidr_format(run->arena, cidr);
    return cel_val_opaque(cel_type_named("net.CIDR"), value);
}

static const struct cidr *cidr_of(struct cel_val value)
{
    return &((const struct cidr_value *)value.data)->cidr;
}

FN(cidr)
{
    struct cidr parsed;

    return strict_cidr(args[0].string, &parsed)
               ? make_cidr(run, &parsed)
               : FAIL("network address parse error during conversion from string: netip.ParsePrefix(\"%.*s\"): no '/'", STR_ARG(args[0].string));
}
FN(is_cidr)
{
    struct cidr parsed;

    return cel_val_bool(strict_cidr(args[0].string, &parsed));
}
FN(contains_ip)
{
    struct ip parsed;
    const char *why;

    if (args[1].kind == CEL_OPAQUE) {
        return cel_val_bool(cidr_contains(cidr_of(args[0]), ip_of(args[1])));
    }
    return strict_ip(args[1].string, &parsed, &why) ? cel_val_bool(cidr_contains(cidr_of(args[0]), &parsed))
                                                    : FAIL("IP Address \"%.*s\" parse error: %s", STR_ARG(args[1].string), why);
}
FN(contains_cidr)
{
    struct cidr parsed;

    if (args[1].kind == CEL_OPAQUE) {
        parsed = *cidr_of(args[1]);
    } else if (!strict_cidr(args[1].string, &parsed)) {
        return FAIL("network address parse error during conversion from string: %.*s", STR_ARG(args[1].string));
    }
    struct cidr masked = cidr_masked(&parsed);
    return cel_val_bool(parsed.prefix >= cidr_of(args[0])->prefix && cidr_contains(cidr_of(args[0]), &masked.ip));
}
FN(cidr_ip) { return make_ip(run, &cidr_of(args[0])->ip); }
FN(masked)
{
    struct cidr cut = cidr_masked(cidr_of(args[0]));

    return make_cidr(run, &cut);
}
FN(prefix_length) { return cel_val_int(cidr_of(args[0])->prefix); }

/* An absolute URL or an absolute path, as Go's ParseRequestURI takes it. */
static bool parse_url(struct str text, struct url_value *ret)
{
    *ret = (struct url_value){.text = text};
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c < 0x20 || c == 0x7f || c == ' ' ||
            (c == '%' && (i + 2 >= text.n || hex_digit(text.p[i + 1]) < 0 || hex_digit(text.p[i + 2]) < 0))) {
            return false;
        }
    }
    size_t colon = str_find(text, STR("://"));
    struct str rest = text;
    if (text.n == 0 || (text.p[0] != '/' && (colon == SIZE_MAX || colon == 0))) {
        return false;
    }
    if (text.p[0] != '/') {
        ret->scheme = str_sub(text, 0, colon);
        rest = str_from(text, colon + 3);
        size_t end = 0;
        while (end < rest.n && rest.p[end] != '/' && rest.p[end] != '?') {
            end++;
        }
        ret->host = str_sub(rest, 0, end);
        rest = str_from(rest, end);
        size_t at = str_last_index(ret->host, '@');
        ret->user = at == SIZE_MAX ? (struct str){0} : str_sub(ret->host, 0, at);
        ret->host = at == SIZE_MAX ? ret->host : str_from(ret->host, at + 1);
    }
    str_cut(rest, '?', &ret->path, &ret->query);
    return true;
}

FN(url)
{
    struct url_value *value = ARENA_NEW(run->arena, struct url_value);

    return parse_url(args[0].string, value)
               ? cel_val_opaque(cel_type_named("kubernetes.URL"), value)
               : FAIL("URL parse error during conversion from string: parse \"%.*s\": invalid URI for request", STR_ARG(args[0].string));
}
FN(is_url)
{
    struct url_value value;

    return cel_val_bool(parse_url(args[0].string, &value));
}
FN(url_scheme) { return cel_val_string(((const struct url_value *)args[0].data)->scheme); }
FN(url_host) { return cel_val_string(((const struct url_value *)args[0].data)->host); }
FN(url_path) { return cel_val_string(((const struct url_value *)args[0].data)->path); }

/* Where the port's colon is; SIZE_MAX without one. */
static size_t port_colon(struct str host)
{
    size_t colon = str_last_index(host, ':'), bracket = str_last_index(host, ']');

    return colon != SIZE_MAX && bracket != SIZE_MAX && bracket > colon ? SIZE_MAX : colon;
}
FN(url_port)
{
    struct str host = ((const struct url_value *)args[0].data)->host;
    size_t colon = port_colon(host);

    return cel_val_string(colon == SIZE_MAX ? (struct str){0} : str_from(host, colon + 1));
}
FN(url_hostname)
{
    struct str host = ((const struct url_value *)args[0].data)->host;

    host = str_sub(host, 0, port_colon(host));
    return cel_val_string(host.n > 1 && host.p[0] == '[' ? str_sub(host, 1, host.n - 1) : host);
}

static struct str unescape(struct arena *arena, struct str text)
{
    OWNED(buf_done) struct buf out = {0};

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '%' && i + 2 < text.n) {
            buf_add_char(&out, (char)(hex_digit(text.p[i + 1]) * 16 + hex_digit(text.p[i + 2])));
            i += 2;
        } else {
            buf_add_char(&out, text.p[i] == '+' ? ' ' : text.p[i]);
        }
    }
    return arena_str(arena, buf_str(&out));
}

FN(url_query)
{
    struct cel_entries *entries = ARENA_NEW(run->arena, struct cel_entries);
    struct cel_run map = *run;
    struct cel_val found;

    for (struct str rest = ((const struct url_value *)args[0].data)->query, pair; str_next(&rest, '&', &pair);) {
        struct str key, value;

        if (pair.n == 0) {
            continue;
        }
        str_cut(pair, '=', &key, &value);
        struct cel_val name = cel_val_string(unescape(run->arena, key));
        if (!cel_find(&map, cel_val_entries(entries), name, &found)) {
            found = cel_val_items(cel_items_new(run->arena, 2));
            cel_entries_add(run->arena, entries, name, found);
        }
        cel_items_add(run->arena, (struct cel_items *)(uintptr_t)found.data, cel_val_string(unescape(run->arena, value)));
    }
    return cel_val_entries(entries);
}

CEL_ROWS(cel_network_rows) = {
    {"ip(string): net.IP", ip}, {"isIP(string): bool", is_ip}, {"ip.isCanonical(string): bool", is_canonical},
    {"string(net.IP): string", to_text}, {"net.IP -> family(): int", family}, {"net.IP -> isUnspecified(): bool", is_unspecified},
    {"net.IP -> isLoopback(): bool", is_loopback}, {"net.IP -> isLinkLocalMulticast(): bool", is_link_local_multicast},
    {"net.IP -> isLinkLocalUnicast(): bool", is_link_local}, {"net.IP -> isGlobalUnicast(): bool", is_global_unicast},
    {"cidr(string): net.CIDR", cidr}, {"isCIDR(string): bool", is_cidr}, {"net.CIDR -> containsIP(string): bool", contains_ip},
    {"net.CIDR -> containsIP(net.IP): bool", contains_ip}, {"net.CIDR -> containsCIDR(string): bool", contains_cidr},
    {"net.CIDR -> containsCIDR(net.CIDR): bool", contains_cidr}, {"net.CIDR -> ip(): net.IP", cidr_ip},
    {"net.CIDR -> masked(): net.CIDR", masked}, {"net.CIDR -> prefixLength(): int", prefix_length}, {"string(net.CIDR): string", to_text},
    {"url(string): kubernetes.URL", url}, {"isURL(string): bool", is_url}, {"kubernetes.URL -> getScheme(): string", url_scheme},
    {"kubernetes.URL -> getHost(): string", url_host}, {"kubernetes.URL -> getPort(): string", url_port},
    {"kubernetes.URL -> getHostname(): string", url_hostname}, {"kubernetes.URL -> getEscapedPath(): string", url_path},
    {"kubernetes.URL -> getQuery(): map(string, list(string))", url_query}, {NULL, NULL},
};
