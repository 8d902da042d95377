#include "kubelet/resolv_conf.h"

#include "base/buf.h"

/* Stock's limits (validation.MaxDNS...). */
enum { NAMESERVERS_MAX = 3, SEARCHES_MAX = 32, SEARCH_CHARS_MAX = 2048, NAME_CHARS_MAX = 253 };

static bool next_field(struct str *rest, struct str *ret)
{
    *rest = str_trim(*rest);
    if (rest->n == 0) {
        return false;
    }
    size_t at = 0;

    while (at < rest->n && rest->p[at] != ' ' && rest->p[at] != '\t' && rest->p[at] != '\r') {
        at++;
    }
    *ret = str_sub(*rest, 0, at);
    *rest = str_from(*rest, at);
    return true;
}

static struct str option_name(struct str option)
{
    struct str name, value;

    str_cut(option, ':', &name, &value);
    return name;
}

/* Replaces the option of the same name, or adds it. */
static void set_option(struct arena *arena, struct dns_list *options, struct str option)
{
    LIST_EACH (old, options) {
        if (str_eq(option_name(*old), option_name(option))) {
            *old = option;
            return;
        }
    }
    *LIST_ADD(arena, options) = option;
}

static void add_once(struct arena *arena, struct dns_list *list, struct str item)
{
    LIST_EACH (old, list) {
        if (str_eq(*old, item)) {
            return;
        }
    }
    *LIST_ADD(arena, list) = item;
}

static void add_all_once(struct arena *arena, struct dns_list *list, const struct dns_list *more)
{
    LIST_EACH (item, more) {
        add_once(arena, list, *item);
    }
}

void resolv_conf_parse(struct arena *arena, struct str text, struct dns_config *ret)
{
    struct dns_config config = {0};

    for (struct str rest = arena_str(arena, text), line; str_next(&rest, '\n', &line);) {
        struct str key, field;

        if (!next_field(&line, &key) || key.p[0] == '#' || key.p[0] == ';') {
            continue;
        }
        if (str_is(key, "nameserver") && next_field(&line, &field)) {
            *LIST_ADD(arena, &config.servers) = field;
        } else if (str_is(key, "search")) {
            config.searches = (struct dns_list){0};
            while (next_field(&line, &field)) {
                /* With and without a final period is one domain. */
                if (!str_is(field, ".")) {
                    field.n -= field.p[field.n - 1] == '.';
                    *LIST_ADD(arena, &config.searches) = field;
                }
            }
        } else if (str_is(key, "options")) {
            while (next_field(&line, &field)) {
                set_option(arena, &config.options, field);
            }
        }
    }
    *ret = config;
}

static struct str join(struct arena *arena, const struct dns_list *list)
{
    struct buf out = {0};

    LIST_EACH (item, list) {
        if (out.n > 0) {
            buf_add_char(&out, ' ');
        }
        buf_add_str(&out, *item);
    }
    struct str joined = arena_str(arena, buf_str(&out));

    buf_done(&out);
    return joined;
}

static void limit_searches(struct arena *arena, struct dns_result *result)
{
    struct dns_list kept = {0};
    size_t chars = 0;
    bool is_over = false;

    LIST_EACH (search, &result->config.searches) {
        size_t more = search->n + (kept.len > 0);

        if (search->n > NAME_CHARS_MAX) {
            is_over = true; /* glibc 2.28 aborts on such */
        } else if (kept.len == SEARCHES_MAX || chars + more > SEARCH_CHARS_MAX) {
            is_over = true;
            break;
        } else {
            *LIST_ADD(arena, &kept) = *search;
            chars += more;
        }
    }
    result->config.searches = kept;
    if (is_over) {
        *LIST_ADD(arena, &result->warnings) = arena_printf(
            arena,
            "Search Line limits were exceeded, some search paths have been omitted, the applied search line is: %.*s",
            STR_ARG(join(arena, &kept)));
    }
}

static void limit_servers(struct arena *arena, struct dns_result *result)
{
    if (result->config.servers.len > NAMESERVERS_MAX) {
        result->config.servers.len = NAMESERVERS_MAX;
        *LIST_ADD(arena, &result->warnings) =
            arena_printf(arena,
                         "Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver "
                         "line is: %.*s",
                         STR_ARG(join(arena, &result->config.servers)));
    }
}

static void use_cluster_dns(struct arena *arena, const struct dns_request *request, struct dns_config *config)
{
    struct dns_list searches = {0};

    config->servers = (struct dns_list){0};
    add_all_once(arena, &config->servers, &request->cluster_dns);
    if (request->cluster_domain.n > 0) {
        *LIST_ADD(arena, &searches) = arena_printf(arena, "%.*s.svc.%.*s", STR_ARG(request->namespace),
                                                   STR_ARG(request->cluster_domain));
        *LIST_ADD(arena, &searches) = arena_printf(arena, "svc.%.*s", STR_ARG(request->cluster_domain));
        *LIST_ADD(arena, &searches) = request->cluster_domain;
    }
    add_all_once(arena, &searches, &config->searches);
    config->searches = searches;
    config->options = (struct dns_list){0};
    *LIST_ADD(arena, &config->options) = STR("ndots:5");
}

void resolv_conf_decide(struct arena *arena, const struct dns_request *request, struct dns_result *ret)
{
    struct dns_result result = {0};
    bool wants_cluster = str_is(request->policy, "ClusterFirstWithHostNet") ||
                         (!str_is(request->policy, "Default") && !request->is_host_network);

    if (!str_is(request->policy, "None")) {
        add_all_once(arena, &result.config.servers, &request->node.servers);
        add_all_once(arena, &result.config.searches, &request->node.searches);
        add_all_once(arena, &result.config.options, &request->node.options);
        if (wants_cluster && request->cluster_dns.len > 0) {
            use_cluster_dns(arena, request, &result.config);
        }
        result.no_cluster_dns = wants_cluster && request->cluster_dns.len == 0;
    }
    add_all_once(arena, &result.config.servers, &request->extra.servers);
    add_all_once(arena, &result.config.searches, &request->extra.searches);
    LIST_EACH (option, &request->extra.options) {
        set_option(arena, &result.config.options, *option);
    }
    limit_servers(arena, &result);
    limit_searches(arena, &result);
    *ret = result;
}
