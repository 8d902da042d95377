#include "kubelet/docker_config.h"

#include "schema/image_reference.h"
#include "schema/value.h"

#include <stdlib.h>

static int sextet(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+' || c == '-' ? 62
           : c == '/' || c == '_' ? 63
                                  : -1;
}

static struct status *decode_base64(struct arena *arena, struct str text, struct str *ret)
{
    char *out = arena_alloc(arena, text.n / 4 * 3 + 4);
    size_t size = 0;
    unsigned bits = 0;
    int have = 0;

    while (text.n > 0 && text.p[text.n - 1] == '=') {
        text.n--;
    }
    for (size_t i = 0; i < text.n; i++) {
        int value = sextet(text.p[i]);

        if (value < 0) {
            return status_new(STATUS_BAD_REQUEST, "unable to decode auth field: illegal base64 data at input byte %zu",
                              i);
        }
        bits = bits << 6 | (unsigned)value;
        have += 6;
        if (have >= 8) {
            have -= 8;
            out[size++] = (char)(bits >> have);
        }
    }
    *ret = (struct str){out, size};
    return NULL;
}

static struct status *add_entry(struct docker_config *config, struct arena *arena, struct str registry,
                                const struct value *entry)
{
    struct docker_credential credential = {
        .registry = arena_str(arena, registry),
        .username = arena_str(arena, value_str_at(entry, "username")),
        .password = arena_str(arena, value_str_at(entry, "password")),
        .identity_token = arena_str(arena, value_str_at(entry, "identitytoken")),
    };
    struct str auth = str_trim(value_str_at(entry, "auth"));

    if (auth.n > 0) {
        struct str text;

        TRY(decode_base64(arena, auth, &text));
        if (!str_cut(text, ':', &credential.username, &credential.password)) {
            return status_new(STATUS_BAD_REQUEST, "unable to parse auth field, must be formatted as "
                                                  "base64(username:password)");
        }
    }
    if (credential.username.n > 0 || credential.identity_token.n > 0) {
        *LIST_ADD(arena, config) = credential;
    }
    return NULL;
}

struct status *docker_config_add(struct docker_config *config, struct arena *arena, struct str json, bool is_old)
{
    struct value *root;

    TRY(value_read_json(arena, json, &root, NULL));
    struct value *entries = is_old ? root : value_find(root, STR("auths"));

    if (!value_is(root, VALUE_OBJECT) || (entries != NULL && !value_is(entries, VALUE_OBJECT))) {
        return status_new(STATUS_BAD_REQUEST, "not a docker config: a JSON object is wanted, found %s",
                          value_type_name(root));
    }
    VALUE_EACH_MEMBER (member, entries) {
        TRY(add_entry(config, arena, member->key, member->value));
    }
    return NULL;
}

/* Host (with port) and path of a registry as written, without scheme and without the API version at the end. */
static void split(struct str registry, struct str *ret_host, struct str *ret_path)
{
    size_t scheme = str_find(registry, STR("://"));

    if (scheme != SIZE_MAX) {
        registry = str_from(registry, scheme + 3);
    }
    str_cut(registry, '/', ret_host, ret_path);
    while (str_has_suffix(*ret_path, STR("/"))) {
        ret_path->n--;
    }
    if (str_is(*ret_path, "v1") || str_is(*ret_path, "v2")) {
        *ret_path = STR("");
    }
    if (str_is(*ret_host, "index.docker.io") || str_is(*ret_host, "registry-1.docker.io")) {
        *ret_host = STR("docker.io");
    }
}

/* One label of a host name against a pattern with * and ?. */
static bool label_matches(struct str pattern, struct str label)
{
    if (pattern.n == 0) {
        return label.n == 0;
    }
    if (pattern.p[0] == '*') {
        for (size_t i = 0; i <= label.n; i++) {
            if (label_matches(str_from(pattern, 1), str_from(label, i))) {
                return true;
            }
        }
        return false;
    }
    return label.n > 0 && (pattern.p[0] == '?' || pattern.p[0] == label.p[0]) &&
           label_matches(str_from(pattern, 1), str_from(label, 1));
}

/* A pattern's labels match one by one; the port must be the same. */
static bool host_matches(struct str pattern, struct str host)
{
    struct str pattern_name, pattern_port, name, port, pattern_label, label;

    str_cut(pattern, ':', &pattern_name, &pattern_port);
    str_cut(host, ':', &name, &port);
    if (!str_eq(pattern_port, port)) {
        return false;
    }
    for (;;) {
        bool has_pattern = str_next(&pattern_name, '.', &pattern_label);
        bool has_label = str_next(&name, '.', &label);

        if (has_pattern != has_label) {
            return false;
        }
        if (!has_label) {
            return true;
        }
        if (pattern_label.n > 64 || !label_matches(pattern_label, label)) {
            return false;
        }
    }
}

static int compare_specific(const void *a, const void *b)
{
    const struct docker_credential *left = a, *right = b;

    /* Stock goes through the registries in reverse order of their names, so longer paths come first. */
    return str_cmp(right->registry, left->registry);
}

void docker_config_find(const struct docker_config *config, struct arena *arena, struct str image,
                        struct docker_config *ret)
{
    struct image_reference name;
    struct docker_config found = {0};
    struct status *error = image_reference_parse(arena, image, &name);

    if (error != NULL) {
        status_free(error);
        *ret = found;
        return;
    }
    LIST_EACH (credential, config) {
        struct str host, path;

        split(credential->registry, &host, &path);
        if (host_matches(host, name.domain) && str_has_prefix(name.path, path)) {
            *LIST_ADD(arena, &found) = *credential;
        }
    }
    if (found.len > 1) {
        qsort(found.items, found.len, sizeof(*found.items), compare_specific);
    }
    *ret = found;
}
