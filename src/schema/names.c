#include "schema/names.h"

#include "base/buf.h"

#include <string.h>

enum class { LOWER = 1, UPPER = 2, DIGIT = 4, DASH = 8, DOT = 16, UNDERSCORE = 32 };

static unsigned class_of(char c)
{
    if (c >= 'a' && c <= 'z') {
        return LOWER;
    }
    if (c >= 'A' && c <= 'Z') {
        return UPPER;
    }
    if (c >= '0' && c <= '9') {
        return DIGIT;
    }
    return c == '-' ? DASH : c == '.' ? DOT : c == '_' ? UNDERSCORE : 0;
}

/* Not empty, all of it in `inner`, the first character in `first`, the last in `last`. */
static bool is_made_of(struct str s, unsigned first, unsigned inner, unsigned last)
{
    for (size_t i = 0; i < s.n; i++) {
        if (!(class_of(s.p[i]) & inner)) {
            return false;
        }
    }
    return s.n > 0 && (class_of(s.p[0]) & first) && (class_of(s.p[s.n - 1]) & last);
}

static bool is_label(struct str s)
{
    return is_made_of(s, LOWER | DIGIT, LOWER | DIGIT | DASH, LOWER | DIGIT);
}

/* As a label, with one "_" allowed in front and more inside. */
static bool is_underscore_label(struct str s)
{
    return is_made_of(s.n > 0 && s.p[0] == '_' ? str_from(s, 1) : s, LOWER | DIGIT, LOWER | DIGIT | DASH | UNDERSCORE,
                      LOWER | DIGIT);
}

static bool is_dotted(struct str s, bool (*is_part)(struct str))
{
    for (struct str rest = s, part; str_next(&rest, '.', &part);) {
        if (!is_part(part)) {
            return false;
        }
    }
    return s.n > 0;
}

static bool fail(struct name_errors *errors, struct str message)
{
    if (errors != NULL && errors->len < NAME_ERRORS_MAX) {
        errors->items[errors->len++] = message;
    }
    return false;
}

#define CHECK_THAT(good, message) ((good) ? true : fail(errors, STR(message)))
#define SUBDOMAIN_ERROR                                                                                             \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start " \
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "                    \
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define KEY_ERROR                                                                                                     \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " \
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "                                    \
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

struct str name_errors_join(struct arena *arena, const struct name_errors *errors, const char *separator)
{
    OWNED(buf_done) struct buf out = {0};

    for (size_t i = 0; i < errors->len; i++) {
        if (i > 0) {
            buf_add_str(&out, str_of(separator));
        }
        buf_add_str(&out, errors->items[i]);
    }
    return arena_str(arena, buf_str(&out));
}

bool name_is_dns1123_label(struct str value, struct name_errors *errors)
{
    bool good = CHECK_THAT(value.n <= 63, "must be no more than 63 characters");

    if (!is_label(value) && is_dotted(value, is_label)) {
        return fail(errors, STR("must not contain dots"));
    }
    return CHECK_THAT(is_label(value),
                      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "
                      "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
                      "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')") &&
           good;
}

bool name_is_dns1123_subdomain(struct str value, struct name_errors *errors)
{
    bool good = CHECK_THAT(value.n <= 253, "must be no more than 253 characters");

    return CHECK_THAT(is_dotted(value, is_label), SUBDOMAIN_ERROR) && good;
}

bool name_is_dns1123_subdomain_with_underscore(struct str value, struct name_errors *errors)
{
    bool good = CHECK_THAT(value.n <= 253, "must be no more than 253 characters");

    return CHECK_THAT(is_dotted(value, is_underscore_label),
                      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or "
                      "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
                      "validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')") &&
           good;
}

bool name_is_dns1035_label(struct str value, struct name_errors *errors)
{
    bool good = CHECK_THAT(value.n <= 63, "must be no more than 63 characters");

    return CHECK_THAT(is_made_of(value, LOWER, LOWER | DIGIT | DASH, LOWER | DIGIT),
                      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
                      "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
                      "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')") &&
           good;
}

bool name_is_wildcard_dns1123_subdomain(struct str value, struct name_errors *errors)
{
    bool good = CHECK_THAT(value.n <= 253, "must be no more than 253 characters");

    return CHECK_THAT(str_has_prefix(value, STR("*.")) && is_dotted(str_from(value, 2), is_label),
                      "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which "
                      "must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric "
                      "character (e.g. '*.example.com', regex used for validation is "
                      "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')") &&
           good;
}

static bool is_prefix(struct str prefix, struct name_errors *errors)
{
    if (prefix.n == 0) {
        return fail(errors, STR("prefix part must be non-empty"));
    }
    bool good = CHECK_THAT(prefix.n <= 253, "prefix part must be no more than 253 characters");

    return CHECK_THAT(is_dotted(prefix, is_label), "prefix part " SUBDOMAIN_ERROR) && good;
}

static bool is_key_name(struct str name)
{
    unsigned edge = LOWER | UPPER | DIGIT;

    return is_made_of(name, edge, edge | DASH | UNDERSCORE | DOT, edge);
}

bool name_is_qualified(struct str value, struct name_errors *errors)
{
    struct str prefix = {0}, name = value;
    bool good = true;

    if (str_cut(value, '/', &prefix, &name)) {
        if (str_index(name, '/') != SIZE_MAX) {
            return fail(errors, STR("a valid label key " KEY_ERROR " with an optional DNS subdomain prefix and '/' "
                                    "(e.g. 'example.com/MyName')"));
        }
        good = is_prefix(prefix, errors);
    } else {
        name = value;
    }
    if (name.n == 0) {
        good = fail(errors, STR("name part must be non-empty"));
    } else if (name.n > 63) {
        good = fail(errors, STR("name part must be no more than 63 bytes"));
    }
    return CHECK_THAT(is_key_name(name), "name part " KEY_ERROR) && good;
}

bool name_is_prefixed_label_key(struct str value, struct name_errors *errors)
{
    return name_is_qualified(value, errors) &&
           CHECK_THAT(str_index(value, '/') != SIZE_MAX, "must include a prefix (e.g. 'example.com/key')");
}

bool name_is_label_value(struct str value, struct name_errors *errors)
{
    bool good = CHECK_THAT(value.n <= 63, "must be no more than 63 bytes");

    return CHECK_THAT(value.n == 0 || is_key_name(value),
                      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
                      "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
                      "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')") &&
           good;
}

bool name_is_c_identifier(struct str value, struct name_errors *errors)
{
    unsigned first = LOWER | UPPER | UNDERSCORE;

    return CHECK_THAT(is_made_of(value, first, first | DIGIT, first | DIGIT),
                      "a valid C identifier must start with alphabetic character or '_', followed by a string of "
                      "alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for "
                      "validation is '[A-Za-z_][A-Za-z0-9_]*')");
}

bool name_is_port_name(struct str value, struct name_errors *errors)
{
    unsigned any = LOWER | DIGIT | DASH;
    bool letter = false, good = CHECK_THAT(value.n <= 15, "must be no more than 15 characters");

    for (size_t i = 0; i < value.n; i++) {
        letter |= class_of(value.p[i]) == LOWER;
    }
    good &= CHECK_THAT(is_made_of(value, any, any, any),
                       "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    good &= CHECK_THAT(letter, "must contain at least one letter (a-z)");
    good &= CHECK_THAT(!str_contains(value, STR("--")), "must not contain consecutive hyphens");
    return CHECK_THAT(value.n == 0 || (value.p[0] != '-' && value.p[value.n - 1] != '-'),
                      "must not begin or end with a hyphen") &&
           good;
}

bool name_is_port_number(int64_t port, struct name_errors *errors)
{
    return CHECK_THAT(port >= 1 && port <= 65535, "must be between 1 and 65535, inclusive");
}

bool name_is_user_id(int64_t id, struct name_errors *errors)
{
    return CHECK_THAT(id >= 0 && id <= INT32_MAX, "must be between 0 and 2147483647, inclusive");
}

bool name_is_percent(struct str value, struct name_errors *errors)
{
    struct str digits = str_sub(value, 0, value.n > 0 ? value.n - 1 : 0);

    return CHECK_THAT(str_has_suffix(value, STR("%")) && is_made_of(digits, DIGIT, DIGIT, DIGIT),
                      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
                      "'93%', regex used for validation is '[0-9]+%')");
}

bool name_is_http_header(struct str value, struct name_errors *errors)
{
    unsigned any = LOWER | UPPER | DIGIT | DASH;

    return CHECK_THAT(is_made_of(value, any, any, any),
                      "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex "
                      "used for validation is '[-A-Za-z0-9]+')");
}

static bool is_no_parent_path(struct str value, struct name_errors *errors)
{
    if (str_is(value, ".")) {
        return fail(errors, STR("must not be '.'"));
    }
    if (str_is(value, "..")) {
        return fail(errors, STR("must not be '..'"));
    }
    return CHECK_THAT(!str_has_prefix(value, STR("..")), "must not start with '..'");
}

bool name_is_env_var(struct str value, struct name_errors *errors)
{
    unsigned first = LOWER | UPPER | DASH | DOT | UNDERSCORE;
    bool good = CHECK_THAT(is_made_of(value, first, first | DIGIT, first | DIGIT),
                           "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', "
                           "or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or "
                           "'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')");

    return is_no_parent_path(value, errors) && good;
}

bool name_is_relaxed_env_var(struct str value, struct name_errors *errors)
{
    bool good = CHECK_THAT(value.n > 0, "environment variable name must be non-empty");

    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] < ' ' || value.p[i] > '~' || value.p[i] == '=') {
            return fail(errors, STR("a valid environment variable name must consist only of printable ASCII characters "
                                    "other than '='"));
        }
    }
    return good;
}

bool name_is_config_map_key(struct str value, struct name_errors *errors)
{
    unsigned any = LOWER | UPPER | DIGIT | DASH | DOT | UNDERSCORE;
    bool good = CHECK_THAT(value.n <= 253, "must be no more than 253 characters");

    good &= CHECK_THAT(is_made_of(value, any, any, any),
                       "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  "
                       "or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')");
    return is_no_parent_path(value, errors) && good;
}

bool name_is_path_segment_prefix(struct str value, struct name_errors *errors)
{
    bool good = CHECK_THAT(str_index(value, '/') == SIZE_MAX, "may not contain '/'");

    return CHECK_THAT(str_index(value, '%') == SIZE_MAX, "may not contain '%'") && good;
}

bool name_is_path_segment(struct str value, struct name_errors *errors)
{
    if (str_is(value, ".")) {
        return fail(errors, STR("may not be '.'"));
    }
    if (str_is(value, "..")) {
        return fail(errors, STR("may not be '..'"));
    }
    return name_is_path_segment_prefix(value, errors);
}

bool name_is_decimal_integer(struct str value, struct name_errors *errors)
{
    struct str digits = str_has_prefix(value, STR("-")) ? str_from(value, 1) : value;
    bool canonical = is_made_of(digits, DIGIT, DIGIT, DIGIT) && (digits.p[0] != '0' || value.n == 1);

    if (value.n == 0) {
        return fail(errors, STR("must be non-empty"));
    }
    return CHECK_THAT(canonical, "must be a valid decimal integer in canonical form");
}

struct str name_mask_trailing_dash(struct arena *arena, struct str name)
{
    if (name.n < 2 || name.p[name.n - 1] != '-') {
        return name;
    }
    return arena_printf(arena, "%.*sa", STR_ARG(str_sub(name, 0, name.n - 2)));
}
