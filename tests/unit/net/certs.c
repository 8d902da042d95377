#include "certs.h"

#include "test.h"

#include "base/env.h"
#include "net/certificate.h"

#include <time.h>

void certs_make(struct arena *arena, struct certs *ret)
{
    struct crypto_key *ca_key, *key;
    struct str names[] = {STR("localhost")}, ips[] = {STR("127.0.0.1")}, groups[] = {STR("system:masters")};
    int64_t now = (int64_t)time(NULL) * ENV_SECOND;
    struct certificate_options ca = {
        .subject = {.common_name = STR("test-ca")}, .not_before = now - ENV_SECOND, .not_after = now + 3600 * ENV_SECOND};
    struct certificate_options server = ca, client = ca;

    server.subject = (struct certificate_subject){.common_name = STR("server"), .dns_names = {names, 1}, .ips = {ips, 1}};
    server.usages = CERTIFICATE_SERVER;
    client.subject = (struct certificate_subject){.common_name = STR("admin"), .organizations = {groups, 1}};
    client.usages = CERTIFICATE_CLIENT;
    CHECK_OK(crypto_key_generate(CRYPTO_ECDSA_P256, &ca_key));
    CHECK_OK(certificate_make_ca(ca_key, &ca, arena, &ret->ca));
    CHECK_OK(crypto_key_generate(CRYPTO_ECDSA_P256, &key));
    CHECK_OK(certificate_make(key, &server, ret->ca, ca_key, arena, &ret->server));
    ret->server_key = crypto_key_pem(arena, key);
    crypto_key_free(key);
    CHECK_OK(crypto_key_generate(CRYPTO_ECDSA_P256, &key));
    CHECK_OK(certificate_make(key, &client, ret->ca, ca_key, arena, &ret->client));
    ret->client_key = crypto_key_pem(arena, key);
    crypto_key_free(key);
    crypto_key_free(ca_key);
}
