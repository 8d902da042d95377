#include "net/crypto.h"

#include "base/base64.h"
#include "base/mem.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

enum { P256_NUMBER_BYTES = 32, RSA_NUMBER_BYTES_MAX = 1024 };

struct crypto_key {
    EVP_PKEY *native;
};

struct crypto_hash {
    EVP_MD_CTX *context;
};

static void digest(const EVP_MD *kind, struct str data, unsigned char *out)
{
    if (EVP_Digest(data.n ? data.p : "", data.n, out, NULL, kind, NULL) != 1) {
        mem_die("a digest failed");
    }
}

void crypto_sha1(struct str data, unsigned char out[SHA1_BYTES])
{
    digest(EVP_sha1(), data, out);
}

void crypto_sha256(struct str data, unsigned char out[SHA256_BYTES])
{
    digest(EVP_sha256(), data, out);
}

void crypto_sha512(struct str data, unsigned char out[SHA512_BYTES])
{
    digest(EVP_sha512(), data, out);
}

void crypto_hmac_sha256(struct str key, struct str data, unsigned char out[SHA256_BYTES])
{
    if (HMAC(EVP_sha256(), key.n ? key.p : "", (int)key.n, (const unsigned char *)(data.n ? data.p : ""), data.n, out,
             NULL) == NULL) {
        mem_die("a digest failed");
    }
}

struct str crypto_sha256_hex(struct arena *arena, struct str data)
{
    unsigned char out[SHA256_BYTES];

    crypto_sha256(data, out);
    return hex_encode(arena, (struct str){(const char *)out, sizeof(out)});
}

static struct crypto_hash *hash_new(const EVP_MD *kind)
{
    struct crypto_hash *hash = MEM_NEW(struct crypto_hash);

    hash->context = EVP_MD_CTX_new();
    if (hash->context == NULL || EVP_DigestInit_ex(hash->context, kind, NULL) != 1) {
        mem_die("a digest failed");
    }
    return hash;
}

struct crypto_hash *crypto_sha256_new(void)
{
    return hash_new(EVP_sha256());
}

struct crypto_hash *crypto_sha512_new(void)
{
    return hash_new(EVP_sha512());
}

void crypto_hash_add(struct crypto_hash *hash, const void *bytes, size_t size)
{
    EVP_DigestUpdate(hash->context, bytes, size);
}

struct str crypto_hash_hex(struct crypto_hash *hash, struct arena *arena)
{
    unsigned char out[EVP_MAX_MD_SIZE];
    unsigned int size = 0;

    EVP_DigestFinal_ex(hash->context, out, &size);
    return hex_encode(arena, (struct str){(const char *)out, size});
}

void crypto_hash_free(struct crypto_hash *hash)
{
    if (hash != NULL) {
        EVP_MD_CTX_free(hash->context);
        free(hash);
    }
}

bool crypto_equal(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || CRYPTO_memcmp(a.p, b.p, a.n) == 0);
}

/* Keys */

void *crypto_key_native(const struct crypto_key *key)
{
    return key->native;
}

struct crypto_key *crypto_key_of_native(void *native)
{
    struct crypto_key *key = MEM_NEW(struct crypto_key);

    key->native = native;
    return key;
}

struct status *crypto_key_generate(enum crypto_key_kind kind, struct crypto_key **ret)
{
    EVP_PKEY *native = kind == CRYPTO_RSA_2048 ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256");

    if (native == NULL) {
        ERR_clear_error();
        return status_new(STATUS_INTERNAL_ERROR, "generating a key failed");
    }
    *ret = crypto_key_of_native(native);
    return NULL;
}

static BIO *pem_bio(struct str pem)
{
    BIO *bio = BIO_new_mem_buf(pem.p ? pem.p : "", (int)MIN(pem.n, (size_t)INT32_MAX));

    if (bio == NULL) {
        mem_die("out of memory");
    }
    return bio;
}

/* Answers OpenSSL's wish for a password with none, so that it does not ask at the terminal. */
static int no_password(char *password, int size, int writing, void *arg)
{
    (void)password, (void)size, (void)writing, (void)arg;
    return -1;
}

/* The kinds of keys c8s signs and verifies with: RSA, and ECDSA on P-256. */
static bool is_known(EVP_PKEY *native)
{
    char curve[32] = "";

    if (EVP_PKEY_is_a(native, "RSA")) {
        return true;
    }
    return EVP_PKEY_is_a(native, "EC") && EVP_PKEY_get_group_name(native, curve, sizeof(curve), NULL) == 1 &&
           strcmp(curve, "prime256v1") == 0;
}

struct status *crypto_key_parse(struct str pem, struct crypto_key **ret)
{
    BIO *bio = pem_bio(pem);
    EVP_PKEY *native = PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);

    BIO_free(bio);
    ERR_clear_error();
    if (native == NULL) {
        return status_new(STATUS_BAD_REQUEST, "data does not contain a valid RSA or ECDSA private key");
    }
    *ret = crypto_key_of_native(native);
    return NULL;
}

/* The key of one PEM block; NULL when it has none. */
static EVP_PKEY *block_key(const char *name, const unsigned char *der, long size)
{
    EVP_PKEY *native = NULL;

    if (strcmp(name, PEM_STRING_PUBLIC) == 0) {
        native = d2i_PUBKEY(NULL, &der, size);
    } else if (strcmp(name, PEM_STRING_RSA_PUBLIC) == 0) {
        native = d2i_PublicKey(EVP_PKEY_RSA, NULL, &der, size);
    } else if (strcmp(name, PEM_STRING_X509) == 0) {
        X509 *certificate = d2i_X509(NULL, &der, size);

        native = certificate != NULL ? X509_get_pubkey(certificate) : NULL;
        X509_free(certificate);
    } else if (strcmp(name, PEM_STRING_RSA) == 0 || strcmp(name, PEM_STRING_ECPRIVATEKEY) == 0 ||
               strcmp(name, PEM_STRING_PKCS8INF) == 0) {
        native = d2i_AutoPrivateKey(NULL, &der, size);
    }
    ERR_clear_error();
    if (native != NULL && !is_known(native)) {
        EVP_PKEY_free(native);
        return NULL;
    }
    return native;
}

size_t crypto_key_parse_public_all(struct str pem, struct crypto_key **keys, size_t max)
{
    BIO *bio = pem_bio(pem);
    char *name, *header;
    unsigned char *der;
    long size;
    size_t count = 0;

    while (count < max && PEM_read_bio(bio, &name, &header, &der, &size) == 1) {
        EVP_PKEY *native = block_key(name, der, size);

        if (native != NULL) {
            keys[count++] = crypto_key_of_native(native);
        }
        OPENSSL_free(name);
        OPENSSL_free(header);
        OPENSSL_free(der);
    }
    BIO_free(bio);
    ERR_clear_error();
    return count;
}

struct status *crypto_key_parse_public(struct str pem, struct crypto_key **ret)
{
    if (crypto_key_parse_public_all(pem, ret, 1) == 0) {
        return status_new(STATUS_BAD_REQUEST, "data does not contain any valid RSA or ECDSA public keys");
    }
    return NULL;
}

void crypto_key_free(struct crypto_key *key)
{
    if (key != NULL) {
        EVP_PKEY_free(key->native);
        free(key);
    }
}

/* What a memory BIO holds, copied; frees it. */
static struct str bio_text(struct arena *arena, BIO *bio)
{
    char *p;
    long n = BIO_get_mem_data(bio, &p);
    struct str text = arena_str(arena, (struct str){p, n > 0 ? (size_t)n : 0});

    BIO_free(bio);
    return text;
}

struct str crypto_key_pem(struct arena *arena, const struct crypto_key *key)
{
    BIO *bio = BIO_new(BIO_s_mem());

    if (PEM_write_bio_PrivateKey_traditional(bio, key->native, NULL, NULL, 0, NULL, NULL) != 1) {
        mem_die("a key cannot be written");
    }
    return bio_text(arena, bio);
}

struct str crypto_key_public_pem(struct arena *arena, const struct crypto_key *key)
{
    BIO *bio = BIO_new(BIO_s_mem());

    if (PEM_write_bio_PUBKEY(bio, key->native) != 1) {
        mem_die("a key cannot be written");
    }
    return bio_text(arena, bio);
}

struct str crypto_key_public_der(struct arena *arena, const struct crypto_key *key)
{
    unsigned char *der = NULL;
    int size = i2d_PUBKEY(key->native, &der);
    struct str copy = arena_str(arena, (struct str){(const char *)der, size > 0 ? (size_t)size : 0});

    OPENSSL_free(der);
    return copy;
}

bool crypto_key_is_rsa(const struct crypto_key *key)
{
    return EVP_PKEY_is_a(key->native, "RSA") == 1;
}

bool crypto_key_is_private(const struct crypto_key *key)
{
    BIGNUM *secret = NULL;
    bool is_private = EVP_PKEY_get_bn_param(key->native,
                                            crypto_key_is_rsa(key) ? OSSL_PKEY_PARAM_RSA_D : OSSL_PKEY_PARAM_PRIV_KEY,
                                            &secret) == 1;

    BN_clear_free(secret);
    ERR_clear_error();
    return is_private;
}

bool crypto_key_equal(const struct crypto_key *a, const struct crypto_key *b)
{
    return EVP_PKEY_eq(a->native, b->native) == 1;
}

static struct str number(struct arena *arena, const struct crypto_key *key, const char *name, int size)
{
    unsigned char bytes[RSA_NUMBER_BYTES_MAX];
    BIGNUM *value = NULL;
    int written = -1;

    if (EVP_PKEY_get_bn_param(key->native, name, &value) == 1 && BN_num_bytes(value) <= (int)sizeof(bytes)) {
        written = size > 0 ? BN_bn2binpad(value, bytes, size) : BN_bn2bin(value, bytes);
    }
    BN_free(value);
    return arena_str(arena, (struct str){(const char *)bytes, written > 0 ? (size_t)written : 0});
}

void crypto_key_numbers(struct arena *arena, const struct crypto_key *key, struct str *ret_first, struct str *ret_second)
{
    if (crypto_key_is_rsa(key)) {
        *ret_first = number(arena, key, OSSL_PKEY_PARAM_RSA_N, 0);
        *ret_second = number(arena, key, OSSL_PKEY_PARAM_RSA_E, 0);
    } else {
        *ret_first = number(arena, key, OSSL_PKEY_PARAM_EC_PUB_X, P256_NUMBER_BYTES);
        *ret_second = number(arena, key, OSSL_PKEY_PARAM_EC_PUB_Y, P256_NUMBER_BYTES);
    }
}

/* Signatures */

/* From DER to r || s. */
static bool ecdsa_flat(const unsigned char *der, size_t size, unsigned char flat[2 * P256_NUMBER_BYTES])
{
    ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &der, (long)size);
    bool good = pair != NULL && BN_bn2binpad(ECDSA_SIG_get0_r(pair), flat, P256_NUMBER_BYTES) > 0 &&
                BN_bn2binpad(ECDSA_SIG_get0_s(pair), flat + P256_NUMBER_BYTES, P256_NUMBER_BYTES) > 0;

    ECDSA_SIG_free(pair);
    return good;
}

struct status *crypto_sign(const struct crypto_key *key, struct str data, struct arena *arena, struct str *ret_signature)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    unsigned char signature[RSA_NUMBER_BYTES_MAX], flat[2 * P256_NUMBER_BYTES];
    size_t size = sizeof(signature);
    bool good = EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key->native) == 1 &&
                EVP_DigestSign(context, signature, &size, (const unsigned char *)data.p, data.n) == 1;

    EVP_MD_CTX_free(context);
    if (good && !crypto_key_is_rsa(key)) {
        good = ecdsa_flat(signature, size, flat);
        memcpy(signature, flat, sizeof(flat));
        size = sizeof(flat);
    }
    ERR_clear_error();
    if (!good) {
        return status_new(STATUS_INTERNAL_ERROR, "signing failed");
    }
    *ret_signature = arena_str(arena, (struct str){(const char *)signature, size});
    return NULL;
}

/* From r || s to DER, allocated by OpenSSL; 0 when it cannot be. */
static int ecdsa_der(struct str flat, unsigned char **ret)
{
    if (flat.n != 2 * (size_t)P256_NUMBER_BYTES) {
        return 0;
    }
    ECDSA_SIG *pair = ECDSA_SIG_new();
    const unsigned char *bytes = (const unsigned char *)flat.p;

    ECDSA_SIG_set0(pair, BN_bin2bn(bytes, P256_NUMBER_BYTES, NULL),
                   BN_bin2bn(bytes + P256_NUMBER_BYTES, P256_NUMBER_BYTES, NULL));
    int size = i2d_ECDSA_SIG(pair, ret);

    ECDSA_SIG_free(pair);
    return size;
}

bool crypto_verify(const struct crypto_key *key, struct str data, struct str signature)
{
    unsigned char *der = NULL;
    const unsigned char *bytes = (const unsigned char *)signature.p;
    size_t size = signature.n;

    if (!is_known(key->native)) {
        return false;
    }
    if (!crypto_key_is_rsa(key)) {
        int der_size = ecdsa_der(signature, &der);

        if (der_size <= 0) {
            return false;
        }
        bytes = der;
        size = (size_t)der_size;
    }
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key->native) == 1 &&
                EVP_DigestVerify(context, bytes, size, (const unsigned char *)data.p, data.n) == 1;

    EVP_MD_CTX_free(context);
    OPENSSL_free(der);
    ERR_clear_error();
    return good;
}
