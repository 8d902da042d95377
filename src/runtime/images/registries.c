#include "runtime/images/registries.h"

#include "base/base64.h"
#include "schema/yaml.h"

#include <arpa/inet.h>
#include <string.h>

static struct status *want_object(const struct value *value, const char *what)
{
    if (value != NULL && !value_is(value, VALUE_OBJECT) && !value_is(value, VALUE_NULL)) {
        return status_new(STATUS_BAD_REQUEST, "registries: %s: want a mapping, found %s", what, value_type_name(value));
    }
    return NULL;
}

/* The scheme and host, and where the path begins; false when it is no http or https URL. */
static bool split_url(struct str url, struct str *ret_host, struct str *ret_path)
{
    struct str rest;

    if (str_has_prefix(url, STR("http://"))) {
        rest = str_from(url, 7);
    } else if (str_has_prefix(url, STR("https://"))) {
        rest = str_from(url, 8);
    } else {
        return false;
    }
    size_t slash = str_index(rest, '/');

    *ret_host = slash == SIZE_MAX ? rest : str_sub(rest, 0, slash);
    *ret_path = slash == SIZE_MAX ? STR("") : str_from(rest, slash);
    while (str_has_suffix(*ret_path, STR("/"))) {
        ret_path->n--;
    }
    for (size_t i = 0; i < ret_host->n; i++) {
        if (strchr("@?# \t\r\n", ret_host->p[i]) != NULL) {
            return false;
        }
    }
    return ret_host->n > 0;
}

static struct status *decode_mirror(struct arena *arena, struct str registry, const struct value *from,
                                    struct registries *to)
{
    struct registry_mirror *mirror = LIST_ADD(arena, &to->mirrors);
    const struct value *endpoints = value_find(from, STR("endpoint"));
    struct str host, path;

    mirror->registry = registry;
    if (endpoints != NULL && !value_is(endpoints, VALUE_ARRAY) && !value_is(endpoints, VALUE_NULL)) {
        return status_new(STATUS_BAD_REQUEST, "registries: mirrors.%.*s.endpoint: want a list", STR_ARG(registry));
    }
    VALUE_EACH_ITEM(item, endpoints)
    {
        struct str url = value_str(*item);

        if (!split_url(url, &host, &path)) {
            return status_new(STATUS_BAD_REQUEST, "registries: mirrors.%.*s.endpoint: \"%.*s\" is not a URL",
                              STR_ARG(registry), STR_ARG(url));
        }
        *LIST_ADD(arena, &mirror->endpoints) = url;
    }
    return NULL;
}

bool registry_auth_decode(struct arena *arena, struct str base64, struct registry_auth *ret)
{
    struct str text;

    if (!base64_decode(arena, base64, &text)) {
        return false;
    }
    return str_cut(text, ':', &ret->username, &ret->password);
}

static struct status *decode_config(struct arena *arena, struct str host, const struct value *from,
                                    struct registries *to)
{
    const struct value *auth = value_find(from, STR("auth")), *tls = value_find(from, STR("tls"));
    const struct value *insecure = value_find(tls, STR("insecure_skip_verify"));
    struct str basic = value_str(value_find(auth, STR("auth")));
    struct registry_config config = {
        .host = host,
        .auth = {.username = value_str(value_find(auth, STR("username"))),
                 .password = value_str(value_find(auth, STR("password"))),
                 .identity_token = value_str(value_find(auth, STR("identity_token")))},
        .tls = {.ca_file = value_str(value_find(tls, STR("ca_file"))),
                .cert_file = value_str(value_find(tls, STR("cert_file"))),
                .key_file = value_str(value_find(tls, STR("key_file"))),
                .is_insecure = value_is(insecure, VALUE_BOOL) && insecure->boolean},
    };

    TRY(want_object(auth, "configs.auth"));
    TRY(want_object(tls, "configs.tls"));
    if (config.auth.username.n == 0 && basic.n > 0 && !registry_auth_decode(arena, basic, &config.auth)) {
        return status_new(STATUS_BAD_REQUEST, "registries: configs.%.*s.auth.auth: not \"user:password\" in base64",
                          STR_ARG(host));
    }
    *LIST_ADD(arena, &to->configs) = config;
    return NULL;
}

struct status *registries_decode(struct arena *arena, struct str yaml, struct registries *ret)
{
    struct registries registries = {0};
    struct value *root;

    TRY(yaml_read(arena, yaml, true, &root));
    TRY(want_object(root, "the file"));
    const struct value *mirrors = value_find(root, STR("mirrors")), *configs = value_find(root, STR("configs"));

    TRY(want_object(mirrors, "mirrors"));
    TRY(want_object(configs, "configs"));
    if (value_is(mirrors, VALUE_OBJECT)) {
        VALUE_EACH_MEMBER(member, mirrors)
        {
            TRY(want_object(member->value, "mirrors"));
            TRY(decode_mirror(arena, member->key, member->value, &registries));
        }
    }
    if (value_is(configs, VALUE_OBJECT)) {
        VALUE_EACH_MEMBER(member, configs)
        {
            TRY(want_object(member->value, "configs"));
            TRY(decode_config(arena, member->key, member->value, &registries));
        }
    }
    *ret = registries;
    return NULL;
}

static const struct registry_mirror *find_mirror(const struct registries *registries, struct str registry)
{
    const struct registry_mirror *wildcard = NULL;

    LIST_EACH(mirror, &registries->mirrors)
    {
        if (str_eq(mirror->registry, registry)) {
            return mirror;
        }
        wildcard = str_is(mirror->registry, "*") ? mirror : wildcard;
    }
    return wildcard;
}

static void configure(const struct registries *registries, struct str host, struct registry_endpoint *endpoint)
{
    LIST_EACH(config, &registries->configs)
    {
        if (str_eq(config->host, host)) {
            endpoint->auth = config->auth;
            endpoint->tls = config->tls;
        }
    }
}

static bool is_loopback(struct str host)
{
    bool is_bracketed = str_has_prefix(host, STR("["));
    struct str name = is_bracketed ? str_sub(host, 1, str_index(host, ']')) : str_sub(host, 0, str_last_index(host, ':'));
    char text[64];
    struct in_addr address;

    if (name.n >= sizeof(text)) {
        return false;
    }
    memcpy(text, name.p, name.n);
    text[name.n] = '\0';
    return str_is(name, "localhost") || (is_bracketed && str_is(name, "::1")) ||
           (inet_pton(AF_INET, text, &address) == 1 && ntohl(address.s_addr) >> 24 == 127);
}

void registries_endpoints(const struct registries *registries, struct arena *arena, struct str registry,
                          struct registry_endpoints *ret)
{
    const struct registry_mirror *mirror = find_mirror(registries, registry);
    struct str host = str_is(registry, "docker.io") ? STR("registry-1.docker.io") : registry, path;

    *ret = (struct registry_endpoints){0};
    for (size_t i = 0; mirror != NULL && i < mirror->endpoints.len; i++) {
        struct registry_endpoint *endpoint = LIST_ADD(arena, ret);
        struct str url = mirror->endpoints.items[i];

        split_url(url, &endpoint->host, &path); /* it was one when it was decoded */
        while (str_has_suffix(url, STR("/"))) {
            url.n--;
        }
        endpoint->url = arena_printf(arena, "%.*s%s", STR_ARG(url), path.n == 0 ? "/v2" : "");
        endpoint->namespace = registry;
        configure(registries, endpoint->host, endpoint);
    }
    struct registry_endpoint *own = LIST_ADD(arena, ret);

    own->host = host;
    own->url = arena_printf(arena, "%s://%.*s/v2", is_loopback(host) ? "http" : "https", STR_ARG(host));
    configure(registries, registry, own);
    configure(registries, host, own);
}
