/* JSON Web Tokens with RS256 and ES256, as service accounts use them. The claims are the caller's JSON. */
#ifndef NET_JWT_H
#define NET_JWT_H

#include "net/crypto.h"

/* The id stock gives a key: base64url of the SHA-256 of its public DER. */
struct str jwt_key_id(struct arena *arena, const struct crypto_key *key);
/* A compact token over `claims`, a JSON object. */
MUST_USE struct status *jwt_sign(const struct crypto_key *key, struct str claims, struct arena *arena,
                                 struct str *ret_token);
/* The three parts of a token, decoded. Says nothing about its signature: for choosing who is to verify it. False when it
 * is not a JWT. */
bool jwt_split(struct str token, struct arena *arena, struct str *ret_header, struct str *ret_claims,
               struct str *ret_signature);
/* The claims of a token signed by one of the keys; the header's algorithm must be that of the key. UNAUTHORIZED else. */
MUST_USE struct status *jwt_verify(struct str token, struct crypto_key *const *keys, size_t key_count,
                                   struct arena *arena, struct str *ret_claims);
/* {"keys":[...]} of the public keys, as /openid/v1/jwks serves it. */
struct str jwt_key_set(struct arena *arena, struct crypto_key *const *keys, size_t key_count);

#endif
