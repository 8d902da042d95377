#include "test.h"

#include "base/base64.h"
#include "base/env.h"
#include "net/certificate.h"
#include "net/jwt.h"

#include <string.h>

#define DAY (24 * 3600 * ENV_SECOND)
#define NOW (INT64_C(1767225600) * ENV_SECOND)

TEST("net/crypto/digests of known texts")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    unsigned char digest[SHA512_BYTES];

    CHECK_STR(crypto_sha256_hex(arena, STR("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    crypto_sha1(STR("abc"), digest);
    CHECK_STR(hex_encode(arena, (struct str){(char *)digest, SHA1_BYTES}), "a9993e364706816aba3e25717850c26c9cd0d89d");
    crypto_hmac_sha256(STR("Jefe"), STR("what do ya want for nothing?"), digest);
    CHECK_STR(hex_encode(arena, (struct str){(char *)digest, SHA256_BYTES}),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    struct crypto_hash *hash = crypto_sha256_new();

    crypto_hash_add(hash, "a", 1);
    crypto_hash_add(hash, "bc", 2);
    CHECK_STR(crypto_hash_hex(hash, arena), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    crypto_hash_free(hash);
    CHECK(crypto_equal(STR("ab"), STR("ab")) && !crypto_equal(STR("ab"), STR("ac")) && !crypto_equal(STR("a"), STR("")));
}

static void signs(enum crypto_key_kind kind)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct crypto_key *key, *again, *public, *other;
    struct str signature, claims;

    CHECK_OK(crypto_key_generate(kind, &key));
    CHECK_OK(crypto_key_generate(kind, &other));
    CHECK_OK(crypto_key_parse(crypto_key_pem(arena, key), &again));
    CHECK_OK(crypto_key_parse_public(crypto_key_public_pem(arena, key), &public));
    CHECK(crypto_key_equal(key, public) && crypto_key_equal(key, again) && !crypto_key_equal(key, other));
    CHECK(crypto_key_is_private(again) && !crypto_key_is_private(public));
    CHECK_OK(crypto_sign(again, STR("text"), arena, &signature));
    CHECK(crypto_verify(public, STR("text"), signature));
    CHECK(!crypto_verify(public, STR("texts"), signature));
    CHECK(!crypto_verify(other, STR("text"), signature));
    CHECK(!crypto_verify(public, STR("text"), str_from(signature, 1)));

    struct str token;

    CHECK_OK(jwt_sign(key, STR("{\"sub\":\"x\"}"), arena, &token));
    CHECK_OK(jwt_verify(token, (struct crypto_key *[]){other, public}, 2, arena, &claims));
    CHECK_STR(claims, "{\"sub\":\"x\"}");
    CHECK_ERROR(jwt_verify(token, &other, 1, arena, &claims), "invalid bearer token");
    CHECK_ERROR(jwt_verify(str_sub(token, 0, token.n - 4), &key, 1, arena, &claims), "invalid bearer token");
    CHECK_ERROR(jwt_verify(STR("eyJhbGciOiJub25lIn0.e30."), &key, 1, arena, &claims), "invalid bearer token");
    CHECK_ERROR(jwt_verify(STR("a.b"), &key, 1, arena, &claims), "invalid bearer token");
    struct str set = jwt_key_set(arena, &public, 1);

    CHECK(str_contains(set, jwt_key_id(arena, key)));
    CHECK(str_contains(set, kind == CRYPTO_RSA_2048 ? STR("\"e\":\"AQAB\"") : STR("\"crv\":\"P-256\"")));
    crypto_key_free(key);
    crypto_key_free(again);
    crypto_key_free(public);
    crypto_key_free(other);
}

TEST("net/jwt/signs and verifies with RSA")
{
    signs(CRYPTO_RSA_2048);
}

TEST("net/jwt/signs and verifies with P-256")
{
    signs(CRYPTO_ECDSA_P256);
}

TEST("net/crypto/refuses keys that are none")
{
    struct crypto_key *key;

    CHECK_ERROR(crypto_key_parse(STR("nonsense"), &key), "does not contain a valid RSA or ECDSA private key");
    CHECK_ERROR(crypto_key_parse(STR(""), &key), "does not contain");
    CHECK_ERROR(crypto_key_parse_public(STR("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"), &key),
                "does not contain any valid RSA or ECDSA public keys");
}

struct authority {
    struct crypto_key *key;
    struct str pem;
};

static struct authority authority_new(struct arena *arena)
{
    struct authority ca;
    struct certificate_options options = {
        .subject = {.common_name = STR("kubernetes")}, .not_before = NOW - DAY, .not_after = NOW + 10 * DAY};

    CHECK_OK(crypto_key_generate(CRYPTO_ECDSA_P256, &ca.key));
    CHECK_OK(certificate_make_ca(ca.key, &options, arena, &ca.pem));
    return ca;
}

TEST("net/certificate/made, read and verified")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct authority ca = authority_new(arena), other = authority_new(arena);
    struct crypto_key *key, *public;
    struct certificate leaf, ca_read;
    struct str groups[] = {STR("system:masters"), STR("a, b")}, names[] = {STR("kubernetes"), STR("*.default.svc")};
    struct str ips[] = {STR("10.0.0.1"), STR("fd00::1")}, pem;
    struct certificate_options options = {
        .subject = {.common_name = STR("admin"), .organizations = {groups, 2}, .dns_names = {names, 2}, .ips = {ips, 2}},
        .usages = CERTIFICATE_CLIENT,
        .not_before = NOW,
        .not_after = NOW + DAY};

    CHECK_OK(crypto_key_generate(CRYPTO_ECDSA_P256, &key));
    CHECK_OK(certificate_make(key, &options, ca.pem, ca.key, arena, &pem));
    CHECK_ERROR(certificate_make(key, &options, ca.pem, key, arena, &pem), "key does not belong");
    CHECK_OK(certificate_parse(pem, arena, &leaf));
    CHECK_STR(leaf.subject.common_name, "admin");
    CHECK_INT(leaf.subject.organizations.len, 2);
    CHECK_STR(leaf.subject.organizations.items[1], "a, b");
    CHECK_STR(leaf.subject.dns_names.items[1], "*.default.svc");
    CHECK_STR(leaf.subject.ips.items[1], "fd00::1");
    CHECK_STR(leaf.issuer_common_name, "kubernetes");
    CHECK(leaf.not_before == NOW && leaf.not_after == NOW + DAY);
    CHECK(!leaf.is_ca && leaf.usages == CERTIFICATE_CLIENT && leaf.fingerprint.n == 64 && leaf.serial.n > 20);
    CHECK_OK(certificate_parse(ca.pem, arena, &ca_read));
    CHECK(ca_read.is_ca);
    CHECK_OK(crypto_key_parse_public(pem, &public));
    CHECK(crypto_key_equal(public, key));

    CHECK_OK(certificate_verify(pem, NULL, ca.pem, CERTIFICATE_CLIENT, NOW + 1));
    CHECK_OK(certificate_verify(leaf.der, NULL, ca.pem, CERTIFICATE_CLIENT, NOW + 1));
    CHECK_ERROR(certificate_verify(pem, NULL, ca.pem, CERTIFICATE_SERVER, NOW + 1), "incompatible key usage");
    CHECK_ERROR(certificate_verify(pem, NULL, ca.pem, CERTIFICATE_CLIENT, NOW + 2 * DAY), "has expired");
    CHECK_ERROR(certificate_verify(pem, NULL, other.pem, CERTIFICATE_CLIENT, NOW), "unknown authority");
    CHECK_ERROR(certificate_verify(STR("junk"), NULL, other.pem, CERTIFICATE_CLIENT, NOW), "malformed certificate");
    CHECK(certificate_matches_host(pem, STR("x.default.svc")) && certificate_matches_host(pem, STR("10.0.0.1")));
    CHECK(!certificate_matches_host(pem, STR("admin")) && !certificate_matches_host(pem, STR("10.0.0.2")));

    struct str_list ders;
    struct str both = arena_printf(arena, "%.*s%.*s", STR_ARG(pem), STR_ARG(ca.pem));

    CHECK_OK(certificate_split(both, arena, &ders));
    CHECK_INT(ders.len, 2);
    CHECK(str_eq(ders.items[0], leaf.der));
    CHECK_STR(certificate_pem(arena, leaf.der), arena_cstr(arena, pem));
    CHECK_ERROR(certificate_split(STR(""), arena, &ders), "does not contain any valid certificates");
    crypto_key_free(key);
    crypto_key_free(public);
    crypto_key_free(ca.key);
    crypto_key_free(other.key);
}

TEST("net/certificate/a request is made, read and its signature checked")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct crypto_key *key, *of_request;
    struct str groups[] = {STR("system:nodes")}, names[] = {STR("node-1")}, pem;
    struct certificate_subject subject = {
        .common_name = STR("system:node:node-1"), .organizations = {groups, 1}, .dns_names = {names, 1}};
    struct certificate_subject got;

    CHECK_OK(crypto_key_generate(CRYPTO_ECDSA_P256, &key));
    CHECK_OK(certificate_request_make(key, &subject, arena, &pem));
    CHECK_OK(certificate_request_parse(pem, arena, &got, &of_request));
    CHECK_STR(got.common_name, "system:node:node-1");
    CHECK_STR(got.organizations.items[0], "system:nodes");
    CHECK_STR(got.dns_names.items[0], "node-1");
    CHECK(crypto_key_equal(key, of_request));
    char *broken = arena_cstr(arena, pem);
    char *at = strstr(broken, "-----END") - 12; /* in the signature */

    *at = *at == 'A' ? 'B' : 'A';
    CHECK_ERROR(certificate_request_parse(str_of(broken), arena, &got, NULL), "signature is not valid");
    CHECK_ERROR(certificate_request_parse(STR("x"), arena, &got, NULL), "CERTIFICATE REQUEST");
    crypto_key_free(key);
    crypto_key_free(of_request);
}
