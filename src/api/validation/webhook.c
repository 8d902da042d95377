#include "api/validation/webhook.h"

#define URL_FORM "; desired format: https://host[/path]"

void check_webhook_url(struct status *to, const struct path *at, struct str url)
{
    struct str scheme = {0}, rest = url, user, host, fragment, query;
    size_t colon = str_find(url, STR("://"));

    if (colon != SIZE_MAX) {
        scheme = str_sub(url, 0, colon);
        rest = str_from(url, colon + 3);
    }
    bool has_fragment = str_cut(rest, '#', &rest, &fragment), has_query = str_cut(rest, '?', &rest, &query);
    size_t slash = str_index(rest, '/'), sign;

    host = slash == SIZE_MAX ? rest : str_sub(rest, 0, slash);
    sign = str_last_index(host, '@');
    user = sign == SIZE_MAX ? (struct str){0} : str_sub(host, 0, sign);
    host = sign == SIZE_MAX ? host : str_from(host, sign + 1);
    if (!str_is(scheme, "https")) {
        check_invalid_str(to, at, scheme, "'https' is the only allowed URL scheme" URL_FORM);
    }
    if (host.n == 0) {
        check_invalid_str(to, at, host, "host must be specified" URL_FORM);
    }
    if (sign != SIZE_MAX) {
        check_invalid_str(to, at, user, "user information is not permitted in the URL");
    }
    if (has_fragment && fragment.n != 0) {
        check_invalid_str(to, at, fragment, "fragments are not permitted in the URL");
    }
    if (has_query && query.n != 0) {
        check_invalid_str(to, at, query, "query parameters are not permitted in the URL");
    }
}

static void check_url_path(struct status *to, const struct path *at, struct str path)
{
    size_t i = 0;

    if (path.n == 0) {
        return;
    }
    if (str_is(path, "/") || str_is(path, "//")) {
        check_invalid_str(to, at, path, "segment[0] may not be empty");
        return;
    }
    if (!str_has_prefix(path, STR("/"))) {
        check_invalid_str(to, at, path, "must start with a '/'");
    }
    struct str inner = str_from(path, 1);

    inner = str_has_suffix(inner, STR("/")) ? str_sub(inner, 0, inner.n - 1) : inner;
    for (struct str rest = inner, segment; str_next(&rest, '/', &segment); i++) {
        struct name_errors errors = {0};

        if (segment.n == 0) {
            check_invalid_str(to, at, path, "segment[%zu] may not be empty", i);
        } else if (!name_is_dns1123_subdomain(segment, &errors)) {
            for (size_t k = 0; k < errors.len; k++) {
                check_invalid_str(to, at, path, "segment[%zu]: %.*s", i, STR_ARG(errors.items[k]));
            }
        }
    }
}

void check_webhook_service(struct status *to, const struct path *at, const struct webhook_service *service)
{
    /* Stock mixes the two up: the one that is missing is told as the other. */
    check_present(to, AT(at, "name"), service->namespace);
    check_present(to, AT(at, "namespace"), service->name);
    if (service->port != NULL && !name_is_port_number(*service->port, NULL)) {
        check_invalid_int(to, AT(at, "port"), *service->port,
                          "port is not valid: must be between 1 and 65535, inclusive");
    }
    if (service->path != NULL) {
        check_url_path(to, AT(at, "path"), *service->path);
    }
}
