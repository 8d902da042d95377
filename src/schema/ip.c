#include "schema/ip.h"

#include "base/base64.h"
#include "base/buf.h"

#include <string.h>

static bool take_decimal(struct str *text, unsigned max, unsigned *ret)
{
    unsigned value = 0;
    size_t digits = 0;

    while (digits < text->n && text->p[digits] >= '0' && text->p[digits] <= '9') {
        value = value * 10 + (unsigned)(text->p[digits] - '0');
        if (value > max) {
            return false;
        }
        digits++;
    }
    *text = str_from(*text, digits);
    *ret = value;
    return digits > 0;
}

static bool parse_v4(struct str text, uint8_t out[4])
{
    for (int i = 0; i < 4; i++) {
        unsigned octet;

        if (i > 0) {
            if (text.n == 0 || text.p[0] != '.') {
                return false;
            }
            text = str_from(text, 1);
        }
        if (!take_decimal(&text, 255, &octet)) {
            return false;
        }
        out[i] = (uint8_t)octet;
    }
    return text.n == 0;
}

static bool take_hex(struct str *text, unsigned *ret)
{
    size_t digits = 0;

    *ret = 0;
    for (; digits < text->n && digits < 5; digits++) {
        int digit = hex_digit(text->p[digits]);

        if (digit < 0) {
            break;
        }
        *ret = *ret * 16 + (unsigned)digit;
    }
    *text = str_from(*text, digits);
    return digits > 0 && *ret <= 0xffff;
}

static bool parse_v6(struct str text, uint8_t out[16])
{
    size_t at = 0, ellipsis = SIZE_MAX;

    memset(out, 0, 16);
    if (str_has_prefix(text, STR("::"))) {
        ellipsis = 0;
        text = str_from(text, 2);
    }
    while (at < 16 && !(text.n == 0 && ellipsis == at)) {
        struct str group = text;
        unsigned value;

        if (!take_hex(&text, &value)) {
            return false;
        }
        if (text.n > 0 && text.p[0] == '.') {
            if ((ellipsis == SIZE_MAX && at != 12) || at > 12 || !parse_v4(group, out + at)) {
                return false;
            }
            text = (struct str){0};
            at += 4;
            break;
        }
        out[at++] = (uint8_t)(value >> 8);
        out[at++] = (uint8_t)value;
        if (text.n == 0) {
            break;
        }
        if (text.p[0] != ':' || text.n == 1) {
            return false;
        }
        text = str_from(text, 1);
        if (text.p[0] == ':') {
            if (ellipsis != SIZE_MAX) {
                return false;
            }
            ellipsis = at;
            text = str_from(text, 1);
        }
    }
    if (text.n > 0 || (at < 16) != (ellipsis != SIZE_MAX)) {
        return false;
    }
    if (at < 16) {
        memmove(out + 16 - (at - ellipsis), out + ellipsis, at - ellipsis);
        memset(out + ellipsis, 0, 16 - at);
    }
    return true;
}

static const uint8_t mapped_prefix[12] = {[10] = 0xff, [11] = 0xff};

/* `*ret_mapped`: an IPv4 address written as IPv6. */
static bool parse(struct str text, struct ip *ret, bool *ret_mapped)
{
    struct ip ip = {.length = 4};

    *ret_mapped = false;
    if (str_index(text, ':') == SIZE_MAX) {
        if (!parse_v4(text, ip.bytes)) {
            return false;
        }
    } else {
        ip.length = 16;
        if (!parse_v6(text, ip.bytes)) {
            return false;
        }
        if (memcmp(ip.bytes, mapped_prefix, 12) == 0) {
            memmove(ip.bytes, ip.bytes + 12, 4);
            memset(ip.bytes + 4, 0, 12);
            ip.length = 4;
            *ret_mapped = true;
        }
    }
    *ret = ip;
    return true;
}

bool ip_parse(struct str text, struct ip *ret)
{
    bool mapped;

    return parse(text, ret, &mapped);
}

bool ip_equal(const struct ip *a, const struct ip *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

/* The longest run of two or more zero groups, the first of equals; its length is 0 when there is none. */
static unsigned longest_zeros(const uint16_t groups[8], unsigned *ret_length)
{
    unsigned best = 0;

    *ret_length = 0;
    for (unsigned i = 0; i < 8; i++) {
        unsigned length = 0;

        while (i + length < 8 && groups[i + length] == 0) {
            length++;
        }
        if (length > 1 && length > *ret_length) {
            best = i;
            *ret_length = length;
        }
        i += length > 0 ? length - 1 : 0;
    }
    return best;
}

struct str ip_format(struct arena *arena, const struct ip *ip)
{
    OWNED(buf_done) struct buf out = {0};
    uint16_t groups[8];
    unsigned zeros, from;

    if (ip->length == 4) {
        return arena_printf(arena, "%u.%u.%u.%u", ip->bytes[0], ip->bytes[1], ip->bytes[2], ip->bytes[3]);
    }
    for (unsigned i = 0; i < 8; i++) {
        groups[i] = (uint16_t)(ip->bytes[2 * i] << 8 | ip->bytes[2 * i + 1]);
    }
    from = longest_zeros(groups, &zeros);
    for (unsigned i = 0; i < 8; i++) {
        if (zeros > 0 && i == from) {
            buf_add_str(&out, STR("::"));
            i += zeros - 1;
            continue;
        }
        if (i > 0 && !(zeros > 0 && i == from + zeros)) {
            buf_add_char(&out, ':');
        }
        buf_printf(&out, "%x", groups[i]);
    }
    return arena_str(arena, buf_str(&out));
}

/* A mapped address keeps its 128-bit prefix, as it is written. */
static bool parse_cidr(struct str text, struct cidr *ret, bool *ret_mapped)
{
    struct str address, prefix_text;
    struct cidr cidr;
    unsigned prefix;

    if (!str_cut(text, '/', &address, &prefix_text) || !parse(address, &cidr.ip, ret_mapped)) {
        return false;
    }
    unsigned bits = *ret_mapped ? 128 : cidr.ip.length * 8U;

    if (!take_decimal(&prefix_text, bits, &prefix) || prefix_text.n > 0) {
        return false;
    }
    cidr.prefix = (uint8_t)(*ret_mapped ? (prefix > 96 ? prefix - 96 : 0) : prefix);
    *ret = cidr;
    return true;
}

bool cidr_parse(struct str text, struct cidr *ret)
{
    bool mapped;

    return parse_cidr(text, ret, &mapped);
}

struct cidr cidr_masked(const struct cidr *cidr)
{
    struct cidr masked = *cidr;

    for (unsigned i = 0; i < masked.ip.length; i++) {
        unsigned kept = cidr->prefix > i * 8 ? MIN(cidr->prefix - i * 8, 8U) : 0;

        masked.ip.bytes[i] &= (uint8_t)(0xff00 >> kept);
    }
    return masked;
}

struct str cidr_format(struct arena *arena, const struct cidr *cidr)
{
    return arena_printf(arena, "%.*s/%u", STR_ARG(ip_format(arena, &cidr->ip)), cidr->prefix);
}

bool cidr_contains(const struct cidr *cidr, const struct ip *ip)
{
    struct cidr whole = cidr_masked(cidr), other = {*ip, cidr->prefix};

    other = cidr_masked(&other);
    return ip_equal(&whole.ip, &other.ip);
}

/* An IPv4 part whose octets have a zero in front. */
static bool has_leading_zero(struct str text)
{
    size_t colon = str_last_index(text, ':');

    if (str_index(text, '.') == SIZE_MAX) {
        return false;
    }
    for (struct str rest = colon == SIZE_MAX ? text : str_from(text, colon + 1), octet; str_next(&rest, '.', &octet);) {
        if (octet.n > 1 && octet.p[0] == '0') {
            return true;
        }
    }
    return false;
}

struct str ip_check(struct arena *arena, struct str text, bool canonical)
{
    struct ip ip;
    bool mapped;

    if (!parse(text, &ip, &mapped)) {
        return STR("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    }
    if (has_leading_zero(text)) {
        return STR("must not have leading 0s");
    }
    if (mapped) {
        return STR("must not be an IPv4-mapped IPv6 address");
    }
    struct str wanted = ip_format(arena, &ip);

    if (canonical && !str_eq(wanted, text)) {
        return arena_printf(arena, "must be in canonical form (\"%.*s\")", STR_ARG(wanted));
    }
    return STR("");
}

struct str cidr_check(struct arena *arena, struct str text, bool canonical)
{
    struct str address, prefix;
    struct cidr cidr;
    bool mapped;

    if (!parse_cidr(text, &cidr, &mapped)) {
        return STR("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
    }
    str_cut(text, '/', &address, &prefix);
    if (has_leading_zero(address) || (prefix.n > 1 && prefix.p[0] == '0')) {
        return STR("must not have leading 0s in IP or prefix length");
    }
    if (mapped) {
        return STR("must not have an IPv4-mapped IPv6 address");
    }
    struct cidr masked = cidr_masked(&cidr);

    if (!ip_equal(&masked.ip, &cidr.ip)) {
        return STR("must not have bits set beyond the prefix length");
    }
    struct str wanted = cidr_format(arena, &masked);

    if (canonical && !str_eq(wanted, text)) {
        return arena_printf(arena, "must be in canonical form (\"%.*s\")", STR_ARG(wanted));
    }
    return STR("");
}
