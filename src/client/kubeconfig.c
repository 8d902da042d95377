#include "client/kubeconfig.h"

#include "base/base64.h"
#include "base/file.h"
#include "net/http_client.h"
#include "net/socket.h"
#include "net/tls.h"
#include "schema/value.h"
#include "schema/yaml.h"

#include <stdlib.h>

#define CREDENTIAL_BYTES_MAX ((size_t)1 << 20)
#define DEFAULT_SERVER STR("http://localhost:8080")
#define IN_CLUSTER "/var/run/secrets/kubernetes.io/serviceaccount/"

/* What the entry of that name in a list holds under `key` ("clusters", "kubernetes", "cluster"); NULL: none. */
static const struct value *named(const struct value *config, const char *list, struct str name, struct str key)
{
    VALUE_EACH_ITEM(item, value_find(config, str_of(list)))
    {
        if (str_eq(value_str(value_find(*item, STR("name"))), name)) {
            return value_find(*item, key);
        }
    }
    return NULL;
}

static struct str text_of(const struct value *object, const char *key)
{
    return value_str(value_find(object, str_of(key)));
}

/* `owner` is the cluster or user that names the file, in stock's words. */
static struct status *read_credential(struct arena *arena, const char *what, struct str owner, struct str path,
                                      struct str *ret)
{
    struct status *status = file_read(arena, arena_cstr(arena, path), CREDENTIAL_BYTES_MAX, ret);

    if (status == NULL) {
        return NULL;
    }
    if (status_free_if(&status, STATUS_NOT_FOUND)) {
        return status_new(STATUS_NOT_FOUND, "unable to read %s %.*s for %.*s due to open %.*s: no such file or directory",
                          what, STR_ARG(path), STR_ARG(owner), STR_ARG(path));
    }
    return status_while(status, "unable to read %s %.*s for %.*s", what, STR_ARG(path), STR_ARG(owner));
}

/* PEM that stands in the file as data, or in another file; data wins. */
static struct status *read_pem(struct arena *arena, const struct value *object, const char *data_key,
                               const char *path_key, const char *what, struct str owner, struct str override_path,
                               struct str *ret)
{
    struct str data = text_of(object, data_key), path = text_of(object, path_key);

    if (override_path.n > 0) {
        return read_credential(arena, what, owner, override_path, ret);
    }
    if (data.n > 0) {
        return base64_decode(arena, data, ret)
                   ? NULL
                   : status_new(STATUS_BAD_REQUEST, "illegal base64 data at input byte %zu", base64_error_at(data));
    }
    return path.n > 0 ? read_credential(arena, what, owner, path, ret) : NULL;
}

static struct str first_of(struct str a, struct str b)
{
    return a.n > 0 ? a : b;
}

static struct status *read_token(struct arena *arena, struct str owner, struct str path, struct str *ret)
{
    TRY(read_credential(arena, "tokenFile", owner, path, ret));
    *ret = str_trim(*ret);
    return NULL;
}

static struct status *resolve_user(struct arena *arena, const struct value *user,
                                   const struct kubeconfig_overrides *overrides, struct kubeconfig *ret)
{
    TRY(read_pem(arena, user, "client-certificate-data", "client-certificate", "client-cert", ret->user,
                 overrides->certificate_path, &ret->certificate_pem));
    TRY(read_pem(arena, user, "client-key-data", "client-key", "client-key", ret->user, overrides->key_path,
                 &ret->key_pem));
    ret->token = first_of(overrides->token, text_of(user, "token"));
    ret->token_path = overrides->token.n > 0 ? STR("") : text_of(user, "tokenFile");
    if (ret->token_path.n > 0) {
        TRY(read_token(arena, ret->user, ret->token_path, &ret->token));
    }
    ret->username = first_of(overrides->username, text_of(user, "username"));
    ret->password = first_of(overrides->password, text_of(user, "password"));
    ret->impersonate = first_of(overrides->impersonate, text_of(user, "as"));
    return NULL;
}

static bool is_true(const struct value *value)
{
    return value_is(value, VALUE_BOOL) && value->boolean;
}

static struct status *resolve_cluster(struct arena *arena, const struct value *cluster,
                                      const struct kubeconfig_overrides *overrides, struct kubeconfig *ret)
{
    ret->server = first_of(overrides->server, text_of(cluster, "server"));
    ret->tls_server_name = first_of(overrides->tls_server_name, text_of(cluster, "tls-server-name"));
    ret->insecure = overrides->insecure || is_true(value_find(cluster, STR("insecure-skip-tls-verify")));
    if (overrides->insecure && overrides->ca_path.n == 0) {
        return NULL; /* the flag takes the place of the file's CA */
    }
    TRY(read_pem(arena, cluster, "certificate-authority-data", "certificate-authority", "certificate-authority",
                 ret->cluster, overrides->ca_path, &ret->ca_pem));
    if (ret->insecure && ret->ca_pem.n > 0) {
        return status_new(STATUS_BAD_REQUEST,
                          "specifying a root certificates file with the insecure flag is not allowed");
    }
    return NULL;
}

/* Inside a pod: the service account's token, and the address that every container is told. */
static struct status *in_cluster(struct arena *arena, struct kubeconfig *ret, bool *ret_found)
{
    struct str host = str_of(getenv("KUBERNETES_SERVICE_HOST")), port = str_of(getenv("KUBERNETES_SERVICE_PORT"));
    struct str namespace;

    *ret_found = false;
    if (host.n == 0 || port.n == 0 || !file_exists(IN_CLUSTER "token")) {
        return NULL;
    }
    bool is_ip6 = str_index(host, ':') != SIZE_MAX;

    ret->server = arena_printf(arena, "https://%s%.*s%s:%.*s", is_ip6 ? "[" : "", STR_ARG(host), is_ip6 ? "]" : "",
                               STR_ARG(port));
    ret->token_path = STR(IN_CLUSTER "token");
    TRY(read_token(arena, ret->user, ret->token_path, &ret->token));
    TRY(read_credential(arena, "certificate-authority", STR("in-cluster"), STR(IN_CLUSTER "ca.crt"), &ret->ca_pem));
    struct status *status = file_read(arena, IN_CLUSTER "namespace", 1024, &namespace);

    if (status == NULL) {
        ret->namespace = str_trim(namespace);
    }
    status_free(status);
    *ret_found = true;
    return NULL;
}

/* Names that the command line gives must be in the file; others may be missing when the command line gives all else. */
static struct status *check_names(const struct value *config, const struct kubeconfig_overrides *overrides,
                                  const struct kubeconfig *found)
{
    if (found->context.n > 0 && named(config, "contexts", found->context, STR("context")) == NULL) {
        if (overrides->context.n > 0) {
            return status_new(STATUS_BAD_REQUEST, "context \"%.*s\" does not exist", STR_ARG(found->context));
        }
        return status_new(STATUS_BAD_REQUEST, "context was not found for specified context: %.*s",
                          STR_ARG(found->context));
    }
    if (found->cluster.n > 0 && named(config, "clusters", found->cluster, STR("cluster")) == NULL) {
        return status_new(STATUS_BAD_REQUEST, "cluster \"%.*s\" does not exist", STR_ARG(found->cluster));
    }
    if (found->user.n > 0 && named(config, "users", found->user, STR("user")) == NULL) {
        return status_new(STATUS_BAD_REQUEST, "auth info \"%.*s\" does not exist", STR_ARG(found->user));
    }
    return NULL;
}

struct status *kubeconfig_load(const struct kubeconfig_overrides *overrides, struct arena *arena,
                               struct kubeconfig *ret_config)
{
    struct kubeconfig ret = {0};
    struct value *config;

    TRY(kubeconfig_merge(overrides->path, arena, &config));
    ret.context = first_of(overrides->context, text_of(config, "current-context"));
    const struct value *context = named(config, "contexts", ret.context, STR("context"));

    ret.cluster = first_of(overrides->cluster, text_of(context, "cluster"));
    ret.user = first_of(overrides->user, text_of(context, "user"));
    TRY(check_names(config, overrides, &ret));
    const struct value *cluster = named(config, "clusters", ret.cluster, STR("cluster"));
    const struct value *user = named(config, "users", ret.user, STR("user"));
    bool found = false;

    if (cluster == NULL && overrides->server.n == 0 && overrides->path.n == 0) {
        TRY(in_cluster(arena, &ret, &found));
    }
    if (!found) {
        TRY(resolve_cluster(arena, cluster, overrides, &ret));
        TRY(resolve_user(arena, user, overrides, &ret));
        ret.namespace = text_of(context, "namespace");
    }
    ret.namespace = first_of(overrides->namespace, ret.namespace);
    ret.is_default = ret.server.n == 0;
    if (ret.is_default) {
        ret.server = DEFAULT_SERVER;
    }
    *ret_config = ret;
    return NULL;
}

struct server_url {
    bool is_tls;
    struct str address; /* HOST:PORT */
    struct str prefix;  /* "/k8s", without a slash at the end */
};

static struct status *server_url_parse(struct arena *arena, struct str url, struct server_url *ret)
{
    struct server_url out = {.is_tls = str_has_prefix(url, STR("https://"))};
    struct str rest = url, host;
    int port;

    if (out.is_tls) {
        rest = str_from(url, 8);
    } else if (str_has_prefix(url, STR("http://"))) {
        rest = str_from(url, 7);
    } else if (str_contains(url, STR("://"))) {
        return status_new(STATUS_BAD_REQUEST, "unsupported protocol scheme in the server's URL \"%.*s\"", STR_ARG(url));
    }
    size_t slash = str_index(rest, '/');

    if (slash != SIZE_MAX) {
        out.prefix = str_from(rest, slash);
        rest = str_sub(rest, 0, slash);
        while (str_has_suffix(out.prefix, STR("/"))) {
            out.prefix = str_sub(out.prefix, 0, out.prefix.n - 1);
        }
    }
    if (rest.n == 0) {
        return status_new(STATUS_BAD_REQUEST, "the server's URL \"%.*s\" has no host", STR_ARG(url));
    }
    out.address = socket_split(rest, &host, &port)
                      ? rest
                      : arena_printf(arena, "%.*s:%d", STR_ARG(rest), out.is_tls ? 443 : 80);
    *ret = out;
    return NULL;
}

static struct str authorization_of(struct arena *arena, const struct kubeconfig *config)
{
    if (config->token.n > 0) {
        return arena_printf(arena, "Bearer %.*s", STR_ARG(config->token));
    }
    if (config->username.n > 0) {
        struct str pair = arena_printf(arena, "%.*s:%.*s", STR_ARG(config->username), STR_ARG(config->password));

        return arena_printf(arena, "Basic %.*s", STR_ARG(base64_encode(arena, pair)));
    }
    return STR("");
}

struct status *kubeconfig_connect(const struct kubeconfig *config, struct str user_agent, struct client **ret_client)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct tls_context *tls = NULL;
    struct server_url url = {0};

    TRY(server_url_parse(arena, config->server, &url));
    if (url.is_tls) {
        TRY(tls_client_new(&(struct tls_client_options){.ca = config->ca_pem,
                                                        .is_insecure = config->insecure,
                                                        .certificate = config->certificate_pem,
                                                        .key = config->key_pem,
                                                        .offers_http2 = true},
                           &tls));
    }
    struct http_client *http = http_client_new(&(struct http_client_options){
        .address = url.address, .tls = tls, .server_name = config->tls_server_name});

    tls_context_unref(tls);
    *ret_client = client_new(http, &(struct client_options){
                                       .user_agent = user_agent,
                                       .authorization = authorization_of(arena, config),
                                       .token_path = config->token_path,
                                       .impersonate = config->impersonate,
                                       .path_prefix = url.prefix,
                                       .traceparent = config->traceparent,
                                   });
    return NULL;
}

struct status *kubeconfig_client(struct str path, struct str server, struct str user_agent, struct client **ret_client)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct kubeconfig config;

    TRY(kubeconfig_load(&(struct kubeconfig_overrides){.path = path, .server = server}, arena, &config));
    return kubeconfig_connect(&config, user_agent, ret_client);
}

static void set_text(struct arena *arena, struct value *object, const char *key, struct str text)
{
    if (text.n > 0) {
        value_set(arena, object, str_of(key), value_string(arena, text));
    }
}

/* Adds { name: NAME, KEY: entry } to a new list of the config. */
static void add_named(struct arena *arena, struct value *config, const char *list, const char *key, struct str name,
                      struct value *entry)
{
    struct value *items = value_array(arena), *item = value_object(arena);

    value_set(arena, item, str_of(key), entry);
    value_set(arena, item, STR("name"), value_string(arena, name));
    value_add(arena, items, item);
    value_set(arena, config, str_of(list), items);
}

struct str kubeconfig_format(struct arena *arena, const struct kubeconfig *config)
{
    struct value *whole = value_object(arena), *cluster = value_object(arena), *user = value_object(arena);
    struct value *context = value_object(arena);
    OWNED(buf_done) struct buf out = {0};

    set_text(arena, whole, "apiVersion", STR("v1"));
    set_text(arena, whole, "kind", STR("Config"));
    set_text(arena, cluster, "server", config->server);
    set_text(arena, cluster, "tls-server-name", config->tls_server_name);
    set_text(arena, cluster, "certificate-authority-data", base64_encode(arena, config->ca_pem));
    if (config->insecure) {
        value_set(arena, cluster, STR("insecure-skip-tls-verify"), value_bool(arena, true));
    }
    set_text(arena, user, "client-certificate-data", base64_encode(arena, config->certificate_pem));
    set_text(arena, user, "client-key-data", base64_encode(arena, config->key_pem));
    set_text(arena, user, "token", config->token_path.n > 0 ? STR("") : config->token);
    set_text(arena, user, "tokenFile", config->token_path);
    set_text(arena, user, "username", config->username);
    set_text(arena, user, "password", config->password);
    set_text(arena, user, "as", config->impersonate);
    set_text(arena, context, "cluster", config->cluster);
    set_text(arena, context, "user", config->user);
    set_text(arena, context, "namespace", config->namespace);
    add_named(arena, whole, "clusters", "cluster", config->cluster, cluster);
    add_named(arena, whole, "users", "user", config->user, user);
    add_named(arena, whole, "contexts", "context", config->context, context);
    set_text(arena, whole, "current-context", config->context);
    yaml_write(&out, whole);
    return arena_str(arena, buf_str(&out));
}
