#include "schema/image_reference.h"

static bool is_lower_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alphanumeric(char c)
{
    return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Lower case words joined by one period, one or two underscores, or any number of dashes. */
static bool is_path_component(struct str part)
{
    size_t at = 0;

    while (at < part.n) {
        size_t word = at;

        while (at < part.n && is_lower_or_digit(part.p[at])) {
            at++;
        }
        if (at == word) {
            return false;
        }
        if (at == part.n) {
            return true;
        }
        if (part.p[at] == '.') {
            at++;
        } else if (part.p[at] == '_') {
            at += at + 1 < part.n && part.p[at + 1] == '_' ? 2 : 1;
        } else {
            size_t dashes = at;

            while (at < part.n && part.p[at] == '-') {
                at++;
            }
            if (at == dashes) {
                return false;
            }
        }
    }
    return false; /* empty, or ends with a separator */
}

static bool is_digits(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9') {
            return false;
        }
    }
    return text.n > 0;
}

/* "[::1]" or "[::1]:5000"; whether the address is one is not looked at. */
static bool is_ip6_domain(struct str domain)
{
    size_t close = str_index(domain, ']');

    if (close == SIZE_MAX || close == 1) {
        return false;
    }
    for (size_t i = 1; i < close; i++) {
        if (!is_hex((char)(domain.p[i] | 0x20)) && domain.p[i] != ':') {
            return false;
        }
    }
    struct str rest = str_from(domain, close + 1);

    return rest.n == 0 || (rest.p[0] == ':' && is_digits(str_from(rest, 1)));
}

static bool is_domain(struct str domain)
{
    struct str host = domain, port;

    if (domain.n > 0 && domain.p[0] == '[') {
        return is_ip6_domain(domain);
    }
    if (str_cut(domain, ':', &host, &port) && !is_digits(port)) {
        return false;
    }
    for (struct str rest = host, label; str_next(&rest, '.', &label);) {
        if (label.n == 0 || label.p[0] == '-' || label.p[label.n - 1] == '-') {
            return false;
        }
        for (size_t i = 0; i < label.n; i++) {
            if (!is_alphanumeric(label.p[i]) && label.p[i] != '-') {
                return false;
            }
        }
    }
    return host.n > 0;
}

static bool is_tag(struct str tag)
{
    if (tag.n == 0 || tag.n > 128 || tag.p[0] == '.' || tag.p[0] == '-') {
        return false;
    }
    for (size_t i = 0; i < tag.n; i++) {
        if (!is_alphanumeric(tag.p[i]) && tag.p[i] != '_' && tag.p[i] != '.' && tag.p[i] != '-') {
            return false;
        }
    }
    return true;
}

static struct status *check_digest(struct str digest)
{
    struct str algorithm, hex;

    if (!str_cut(digest, ':', &algorithm, &hex) || algorithm.n == 0 || hex.n < 32) {
        return status_new(STATUS_BAD_REQUEST, "invalid reference format");
    }
    for (size_t i = 0; i < hex.n; i++) {
        if (!is_hex(hex.p[i])) {
            return status_new(STATUS_BAD_REQUEST, "invalid reference format");
        }
    }
    if (!str_is(algorithm, "sha256") && !str_is(algorithm, "sha384") && !str_is(algorithm, "sha512")) {
        return status_new(STATUS_BAD_REQUEST, "unsupported digest algorithm");
    }
    if (hex.n != (str_is(algorithm, "sha256") ? 64 : str_is(algorithm, "sha384") ? 96 : 128)) {
        return status_new(STATUS_BAD_REQUEST, "invalid checksum digest length");
    }
    return NULL;
}

/* The first part is a registry when it has a period or a port, is "localhost", or has capitals. */
static void split_domain(struct arena *arena, struct str remote, struct image_reference *name)
{
    struct str first, rest;
    bool is_registry = false;

    if (str_cut(remote, '/', &first, &rest)) {
        is_registry = str_index(first, '.') != SIZE_MAX || str_index(first, ':') != SIZE_MAX ||
                      str_is(first, "localhost");
        for (size_t i = 0; i < first.n && !is_registry; i++) {
            is_registry = first.p[i] >= 'A' && first.p[i] <= 'Z';
        }
    }
    name->domain = is_registry ? first : STR("docker.io");
    name->path = is_registry ? rest : remote;
    if (str_is(name->domain, "index.docker.io")) {
        name->domain = STR("docker.io");
    }
    if (str_is(name->domain, "docker.io") && str_index(name->path, '/') == SIZE_MAX) {
        name->path = arena_printf(arena, "library/%.*s", STR_ARG(name->path));
    }
}

static struct status *check_path(struct str path)
{
    for (size_t i = 0; i < path.n; i++) {
        if (path.p[i] >= 'A' && path.p[i] <= 'Z') {
            return status_new(STATUS_BAD_REQUEST, "invalid reference format: repository name (%.*s) must be lowercase",
                              STR_ARG(path));
        }
    }
    for (struct str rest = path, part; str_next(&rest, '/', &part);) {
        if (!is_path_component(part)) {
            return status_new(STATUS_BAD_REQUEST, "invalid reference format");
        }
    }
    return NULL;
}

struct status *image_reference_parse(struct arena *arena, struct str image, struct image_reference *ret)
{
    struct image_reference name = {0};
    struct str remote = image;
    bool has_digest = str_cut(image, '@', &remote, &name.digest);
    size_t colon = str_last_index(remote, ':');
    size_t slash = str_last_index(remote, '/');
    bool has_tag = colon != SIZE_MAX && (slash == SIZE_MAX || colon > slash);

    if (image.n == 64) {
        size_t i = 0;

        while (i < image.n && is_hex(image.p[i])) {
            i++;
        }
        if (i == image.n) {
            return status_new(STATUS_BAD_REQUEST,
                              "invalid repository name (%.*s), cannot specify 64-byte hexadecimal strings",
                              STR_ARG(image));
        }
    }
    if (has_tag) {
        name.tag = str_from(remote, colon + 1);
        remote = str_sub(remote, 0, colon);
    }
    if (remote.n == 0 || (has_tag && !is_tag(name.tag))) {
        return status_new(STATUS_BAD_REQUEST, "invalid reference format");
    }
    split_domain(arena, remote, &name);
    TRY(check_path(name.path));
    if (!is_domain(name.domain) || name.path.n == 0) {
        return status_new(STATUS_BAD_REQUEST, "invalid reference format");
    }
    if (name.path.n > 255) {
        return status_new(STATUS_BAD_REQUEST, "repository name must not be more than 255 characters");
    }
    if (has_digest) {
        TRY(check_digest(name.digest));
    }
    *ret = name;
    return NULL;
}

struct status *image_reference_with_tag(struct arena *arena, struct str image, struct str *ret)
{
    struct image_reference name;
    struct status *error = image_reference_parse(arena, image, &name);

    if (error != NULL) {
        return status_while(error, "couldn't parse image name \"%.*s\"", STR_ARG(image));
    }
    *ret = name.tag.n == 0 && name.digest.n == 0 ? arena_printf(arena, "%.*s:latest", STR_ARG(image)) : image;
    return NULL;
}

struct str image_reference_text(struct arena *arena, const struct image_reference *reference)
{
    if (reference->digest.n > 0) {
        return arena_printf(arena, "%.*s/%.*s@%.*s", STR_ARG(reference->domain), STR_ARG(reference->path),
                            STR_ARG(reference->digest));
    }
    return arena_printf(arena, "%.*s/%.*s:%.*s", STR_ARG(reference->domain), STR_ARG(reference->path),
                        STR_ARG(reference->tag.n > 0 ? reference->tag : STR("latest")));
}
