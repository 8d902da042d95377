#include "kubelet/serving_files.h"

#include "base/env.h"
#include "base/file.h"
#include "net/certificate.h"

enum { PEM_BYTES_MAX = 1 << 20 };

#define YEAR (365 * 24 * 3600 * ENV_SECOND)

static struct status *read_pem(struct arena *arena, struct str path, struct str *ret)
{
    return file_read(arena, arena_cstr(arena, path), PEM_BYTES_MAX, ret);
}

static struct status *make_own(struct str node_name, struct str node_ip, const char *certificate_path,
                               const char *key_path, struct arena *arena)
{
    struct crypto_key *key;
    struct certificate_options options = {
        .subject = {.common_name = arena_printf(arena, "%.*s@%lld", STR_ARG(node_name),
                                                (long long)(env_wall() / ENV_SECOND)),
                    .dns_names = {.items = &node_name, .len = 1}},
        .usages = CERTIFICATE_SERVER,
        .not_before = env_wall() - 3600 * ENV_SECOND,
        .not_after = env_wall() + YEAR,
    };
    struct str pem;

    if (node_ip.n > 0) {
        options.subject.ips = (struct str_list){&node_ip, 1};
    }
    TRY(crypto_key_generate(CRYPTO_ECDSA_P256, &key));
    struct status *error = certificate_make_ca(key, &options, arena, &pem);

    if (error == NULL) {
        error = file_write(key_path, crypto_key_pem(arena, key), 0600);
    }
    if (error == NULL) {
        error = file_write(certificate_path, pem, 0644);
    }
    crypto_key_free(key);
    return error;
}

struct status *serving_files_read(const struct kubelet_settings *settings, struct str node_name, struct str node_ip,
                                  struct arena *arena, struct kubelet_server_options *options)
{
    struct str certificate = settings->tls_cert_file, key = settings->tls_private_key_file;

    if (certificate.n == 0 || key.n == 0) {
        certificate = arena_printf(arena, "%.*s/kubelet.crt", STR_ARG(settings->cert_dir));
        key = arena_printf(arena, "%.*s/kubelet.key", STR_ARG(settings->cert_dir));
        if (!file_exists(certificate.p) || !file_exists(key.p)) {
            TRY(file_make_directories(arena_cstr(arena, settings->cert_dir), 0755));
            TRY(make_own(node_name, node_ip, certificate.p, key.p, arena));
        }
    }
    TRY(read_pem(arena, certificate, &options->certificate_pem));
    TRY(read_pem(arena, key, &options->key_pem));
    if (settings->client_ca_file.n > 0) {
        TRY(read_pem(arena, settings->client_ca_file, &options->client_ca_pem));
    }
    return NULL;
}
