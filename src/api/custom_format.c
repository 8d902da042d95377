#include "api/custom_format.h"

#include "base/arena.h"
#include "base/base64.h"
#include "base/mem.h"
#include "schema/ip.h"
#include "schema/names.h"
#include "schema/regex.h"
#include "schema/timestamp.h"

static bool is_date_time(struct str text)
{
    struct timestamp time;

    return timestamp_parse_micro(text, &time) || timestamp_parse(text, &time);
}

static bool is_date(struct str text)
{
    struct arena *arena = arena_new();
    bool is_date = text.n == 10 && is_date_time(arena_printf(arena, "%.*sT00:00:00Z", STR_ARG(text)));

    arena_free(arena);
    return is_date;
}

static bool is_ipv4(struct str text)
{
    struct ip ip;

    return str_index(text, ':') == SIZE_MAX && ip_parse(text, &ip);
}

static bool is_ipv6(struct str text)
{
    struct ip ip;

    return str_index(text, ':') != SIZE_MAX && ip_parse(text, &ip);
}

static bool is_cidr(struct str text)
{
    struct cidr cidr;

    return cidr_parse(text, &cidr);
}

static bool is_short_name(struct str text)
{
    struct name_errors errors = {0};

    return name_is_dns1123_label(text, &errors);
}

static bool is_long_name(struct str text)
{
    struct name_errors errors = {0};

    return name_is_dns1123_subdomain(text, &errors);
}

static const struct {
    const char *format;
    bool (*matches)(struct str text);
    const char *pattern; /* instead */
} formats[] = {
    {"date-time", is_date_time, NULL},
    {"datetime", is_date_time, NULL},
    {"date", is_date, NULL},
    {"ipv4", is_ipv4, NULL},
    {"ipv6", is_ipv6, NULL},
    {"cidr", is_cidr, NULL},
    {"k8s-short-name", is_short_name, NULL},
    {"k8s-long-name", is_long_name, NULL},
    {"uuid", NULL, "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$"},
    {"uuid3", NULL, "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$"},
    {"uuid4", NULL, "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$"},
    {"uuid5", NULL, "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$"},
    {"mac", NULL, "^([0-9A-Fa-f]{2}[:-]){5}([0-9A-Fa-f]{2}[:-]){0,2}[0-9A-Fa-f]{2}$"},
    {"byte", NULL, "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"},
    {"email", NULL, "^[^@\\s<>]+@[^@\\s<>]+$"},
    {"hostname", NULL, "^([a-zA-Z0-9\\p{S}\\p{L}]((-?[a-zA-Z0-9\\p{S}\\p{L}]{0,62})?)|([a-zA-Z0-9\\p{S}\\p{L}](([a-zA-Z0-9-\\p{S}"
                       "\\p{L}]{0,61}[a-zA-Z0-9\\p{S}\\p{L}])?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63})$"},
    {"uri", NULL, "^(/|[a-zA-Z][a-zA-Z0-9+.-]*:)[^\\s]*$"},
    {"duration", NULL, "^-?((\\d+(\\.\\d*)?|\\.\\d+)(ns|us|µs|ms|s|m|h))+$|^\\d+ ?(ns|nano|nanosecond|us|micro|microsecond|ms|"
                       "milli|millisecond|s|sec|second|m|min|minute|h|hr|hour|d|day|w|wk|week)s?$|^0$"},
    {"hexcolor", NULL, "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$"},
    {"rgbcolor", NULL, "^rgb\\(\\s*\\d{1,3}\\s*,\\s*\\d{1,3}\\s*,\\s*\\d{1,3}\\s*\\)$"},
    {"ssn", NULL, "^\\d{3}[- ]?\\d{2}[- ]?\\d{4}$"},
    {"bsonobjectid", NULL, "^[0-9a-fA-F]{24}$"},
};

static bool matches_pattern(const char *pattern, struct str text)
{
    struct regex *regex;
    struct status *status = regex_new(str_of(pattern), &regex);

    if (status != NULL) {
        mem_die("custom_format: a pattern of the table is wrong");
    }
    bool matches = regex_matches(regex, text);

    regex_free(regex);
    return matches;
}

bool custom_format_matches(struct str format, struct str text)
{
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        if (str_is(format, formats[i].format)) {
            return formats[i].matches != NULL ? formats[i].matches(text) : matches_pattern(formats[i].pattern, text);
        }
    }
    return true;
}
