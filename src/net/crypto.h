/* Digests, random bytes, keys and signatures. Any thread; a digest of much data belongs on a worker. */
#ifndef NET_CRYPTO_H
#define NET_CRYPTO_H

#include "base/arena.h"
#include "base/status.h"

enum { SHA1_BYTES = 20, SHA256_BYTES = 32, SHA512_BYTES = 64 };

void crypto_sha1(struct str data, unsigned char digest[SHA1_BYTES]);
void crypto_sha256(struct str data, unsigned char digest[SHA256_BYTES]);
void crypto_sha512(struct str data, unsigned char digest[SHA512_BYTES]);
void crypto_hmac_sha256(struct str key, struct str data, unsigned char digest[SHA256_BYTES]);
/* In lower-case hexadecimal. */
struct str crypto_sha256_hex(struct arena *arena, struct str data);

/* A digest of data that comes in pieces. */
struct crypto_hash;

struct crypto_hash *crypto_sha256_new(void);
struct crypto_hash *crypto_sha512_new(void);
void crypto_hash_add(struct crypto_hash *hash, const void *bytes, size_t size);
/* The digest in hexadecimal; the hash is used up (not freed). */
struct str crypto_hash_hex(struct crypto_hash *hash, struct arena *arena);
/* NULL is fine. */
void crypto_hash_free(struct crypto_hash *hash);

/* Takes the same time wherever they differ. */
bool crypto_equal(struct str a, struct str b);

enum crypto_key_kind { CRYPTO_RSA_2048, CRYPTO_ECDSA_P256 };

/* A private key, or a public one alone. Immutable. */
struct crypto_key;

/* From the kernel's random numbers, not the env's. RSA takes a worker's time (some 50 ms). */
MUST_USE struct status *crypto_key_generate(enum crypto_key_kind kind, struct crypto_key **ret);
/* A PEM private key (PKCS #1, PKCS #8 or SEC 1), without a password. BAD_REQUEST for anything else. */
MUST_USE struct status *crypto_key_parse(struct str pem, struct crypto_key **ret);
/* A PEM public key, or the one in a PEM certificate or private key, as stock takes for --service-account-key-file. */
MUST_USE struct status *crypto_key_parse_public(struct str pem, struct crypto_key **ret);
/* All public keys of a PEM file, at most `max`; their number. */
size_t crypto_key_parse_public_all(struct str pem, struct crypto_key **keys, size_t max);
void crypto_key_free(struct crypto_key *key);
/* "RSA PRIVATE KEY" or "EC PRIVATE KEY", as kubeadm writes. */
struct str crypto_key_pem(struct arena *arena, const struct crypto_key *key);
/* "PUBLIC KEY" */
struct str crypto_key_public_pem(struct arena *arena, const struct crypto_key *key);
/* SubjectPublicKeyInfo, DER. */
struct str crypto_key_public_der(struct arena *arena, const struct crypto_key *key);
bool crypto_key_is_rsa(const struct crypto_key *key);
bool crypto_key_is_private(const struct crypto_key *key);
bool crypto_key_equal(const struct crypto_key *a, const struct crypto_key *b);
/* Big-endian numbers of a public key: n and e of RSA, x and y (32 bytes each) of P-256. */
void crypto_key_numbers(struct arena *arena, const struct crypto_key *key, struct str *ret_first, struct str *ret_second);

/* With SHA-256: PKCS #1 v1.5 for RSA, the 64 bytes r || s for P-256 (as RS256 and ES256 of JWT want them). */
MUST_USE struct status *crypto_sign(const struct crypto_key *key, struct str data, struct arena *arena,
                                    struct str *ret_signature);
bool crypto_verify(const struct crypto_key *key, struct str data, struct str signature);

/* For the other adapters of the same library (net/certificate.c): an EVP_PKEY, still the key's, and back (taken). */
void *crypto_key_native(const struct crypto_key *key);
struct crypto_key *crypto_key_of_native(void *native);

#endif
