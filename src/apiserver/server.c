#include "apiserver/server.h"

#include "apiserver/authz/webhook.h"
#include "apiserver/custom/serving.h"
#include "apiserver/event_ttl.h"
#include "apiserver/health.h"
#include "apiserver/registry/storage.h"
#include "base/env.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/tls.h"
#include "store/disk.h"

#include <stdlib.h>

enum { FILE_BYTES_MAX = 4 << 20, KEYS_MAX = 64 };

const struct resource *apiserver_resource(const struct apiserver *server, const char *group, const char *version,
                                          const char *plural)
{
    const struct resource *resource =
        resources_find(&server->resources, str_of(group), str_of(version), str_of(plural));

    if (resource == NULL) {
        mem_die("apiserver: a built-in resource is missing");
    }
    return resource;
}

static struct status *read_option(struct apiserver *server, struct str path, const char *flag, struct str *ret)
{
    *ret = (struct str){0};
    if (path.n == 0) {
        return NULL;
    }
    struct status *status = file_read(server->arena, arena_cstr(server->arena, path), FILE_BYTES_MAX, ret);

    return status == NULL ? NULL : status_while(status, "--%s", flag);
}

static struct status *open_authentication(struct apiserver *server)
{
    const struct apiserver_options *options = server->options;

    if (options->token_auth_file.n != 0) {
        TRY(authn_file_load(options->token_auth_file, STR("token"), &server->tokens));
    }
    if (options->basic_auth_file.n != 0) {
        TRY(authn_file_load(options->basic_auth_file, STR("password"), &server->passwords));
    }
    LIST_EACH(issuer, &options->service_account_issuer) {
        str_list_add(server->arena, &server->issuers, *issuer);
    }
    LIST_EACH(audience, &options->api_audiences) {
        str_list_add(server->arena, &server->audiences, *audience);
    }
    if (server->audiences.len == 0) {
        server->audiences = server->issuers;
    }
    return NULL;
}

/* Tokens are verified by all keys given, or by the one that signs when none is. */
static struct status *open_keys(struct apiserver *server)
{
    const struct apiserver_options *options = server->options;
    struct crypto_key *keys[KEYS_MAX];
    struct str pem;
    size_t count = 0;

    LIST_EACH(path, &options->service_account_key_file) {
        TRY(read_option(server, *path, "service-account-key-file", &pem));
        count += crypto_key_parse_public_all(pem, keys + count, KEYS_MAX - count);
    }
    if (options->service_account_signing_key_file.n != 0) {
        TRY(read_option(server, options->service_account_signing_key_file, "service-account-signing-key-file", &pem));
        TRY(crypto_key_parse(pem, &server->sign_key));
        if (count == 0) {
            count += crypto_key_parse_public_all(pem, keys, KEYS_MAX);
        }
    }
    server->verify_keys = ARENA_ARRAY(server->arena, struct crypto_key *, count);
    for (size_t i = 0; i < count; i++) {
        server->verify_keys[i] = keys[i];
    }
    server->verify_key_count = count;
    return NULL;
}

static struct status *open_kubelets(struct apiserver *server)
{
    const struct apiserver_options *options = server->options;
    struct tls_client_options tls = {0};

    TRY(read_option(server, options->kubelet_certificate_authority, "kubelet-certificate-authority", &tls.ca));
    TRY(read_option(server, options->kubelet_client_certificate, "kubelet-client-certificate", &tls.certificate));
    TRY(read_option(server, options->kubelet_client_key, "kubelet-client-key", &tls.key));
    tls.is_insecure = tls.ca.n == 0;
    return tls_client_new(&tls, &server->kubelet_tls);
}

/* One cache for a place in the store, shared by the versions that are served from it. */
static void open_caches(struct apiserver *server)
{
    struct map by_prefix = {0};

    for (size_t i = 0; i < server->resources.len; i++) {
        struct resource *resource = &server->resources.items[i];

        if (!resource_is_stored(resource)) {
            continue;
        }
        resource->cache = map_find(&by_prefix, resource->prefix);
        if (resource->cache == NULL) {
            resource->cache = watch_cache_new(
                server->store, &(struct watch_cache_options){.prefix = resource->prefix,
                                                             .decode = storage_cache_decode,
                                                             .arg = (void *)(uintptr_t)resource->stored});
            map_set(&by_prefix, resource->prefix, resource->cache);
        }
    }
    map_done(&by_prefix);
}

static struct status *open_all(struct apiserver *server)
{
    struct str policy;

    TRY(open_authentication(server));
    TRY(open_keys(server));
    TRY(open_kubelets(server));
    TRY(read_option(server, server->options->authorization_policy_file, "authorization-policy-file", &policy));
    if (policy.p != NULL) {
        TRY(abac_parse(policy, server->options->authorization_policy_file, &server->abac));
    }
    if (server->options->authorization_webhook_config_file.n != 0) {
        TRY(webhook_open(server->options, &server->webhook));
    }
    open_caches(server);
    health_open(server);
    for (size_t i = 0; apiserver_extensions[i] != NULL; i++) {
        if (apiserver_extensions[i]->open != NULL) {
            TRY(apiserver_extensions[i]->open(server));
        }
    }
    return NULL;
}

struct status *apiserver_new(const struct apiserver_options *options, struct store *store, struct apiserver **ret)
{
    struct apiserver *server = MEM_NEW(struct apiserver);

    server->options = options;
    server->store = store;
    server->arena = arena_new();
    server->certificates = authn_certificates_new();
    server->advertised = options->advertise_address;
    task_lock_init(&server->service_lock);
    task_group_init(&server->background);
    resources_init(&server->resources);
    struct status *status = open_all(server);

    if (status != NULL) {
        status_free(apiserver_free(server));
        return status;
    }
    *ret = server;
    return NULL;
}

struct status *apiserver_bootstrap(struct apiserver *server)
{
    for (size_t i = 0; apiserver_extensions[i] != NULL; i++) {
        const struct apiserver_extension *extension = apiserver_extensions[i];

        if (extension->bootstrap != NULL) {
            struct status *status = extension->bootstrap(server);

            if (status != NULL) {
                return status_while(status, "%s", extension->name);
            }
        }
    }
    if (server->options->event_ttl > 0) {
        task_group_spawn(&server->background, "event-ttl", event_ttl_run, server);
    }
    server->is_ready = true;
    return NULL;
}

/* Calls fn for each cache once. */
static void each_cache(struct apiserver *server, void (*fn)(struct watch_cache *cache))
{
    for (size_t i = 0; i < server->resources.len; i++) {
        struct watch_cache *cache = server->resources.items[i].cache;
        bool is_first = cache != NULL;

        for (size_t k = 0; k < i && is_first; k++) {
            is_first = server->resources.items[k].cache != cache;
        }
        if (is_first) {
            fn(cache);
        }
    }
}

void apiserver_stop(struct apiserver *server)
{
    server->is_stopping = true;
    each_cache(server, watch_cache_stop);
    if (server->serving != NULL) {
        serving_stop(server->serving);
    }
}

static void free_paths(struct apiserver *server)
{
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&server->paths, &at)) != NULL;) {
        free(entry->value);
    }
    map_done(&server->paths);
}

/* All but the store, which is what differs between an end and a crash. */
static struct store *release(struct apiserver *server)
{
    struct store *store = server->store;

    if (!task_group_empty(&server->background)) {
        task_group_cancel(&server->background);
    }
    each_cache(server, watch_cache_free);
    serving_free(server->serving);
    resources_done(&server->resources);
    free_paths(server);
    authn_file_free(server->tokens);
    authn_certificates_free(server->certificates);
    authn_file_free(server->passwords);
    abac_free(server->abac);
    webhook_free(server->webhook);
    crypto_key_free(server->sign_key);
    for (size_t i = 0; i < server->verify_key_count; i++) {
        crypto_key_free(server->verify_keys[i]);
    }
    tls_context_unref(server->kubelet_tls);
    arena_free(server->arena);
    free(server);
    return store;
}

struct status *apiserver_free(struct apiserver *server)
{
    return store_close(release(server));
}

void apiserver_abandon(struct apiserver *server)
{
    store_abandon(release(server));
}
