#include "net/jwt.h"

#include "base/base64.h"

struct str jwt_key_id(struct arena *arena, const struct crypto_key *key)
{
    unsigned char digest[SHA256_BYTES];

    crypto_sha256(crypto_key_public_der(arena, key), digest);
    return base64_url_encode(arena, (struct str){(const char *)digest, sizeof(digest)});
}

static const char *algorithm(const struct crypto_key *key)
{
    return crypto_key_is_rsa(key) ? "RS256" : "ES256";
}

struct status *jwt_sign(const struct crypto_key *key, struct str claims, struct arena *arena, struct str *ret_token)
{
    struct str id = jwt_key_id(arena, key), signature;
    struct str header = arena_printf(arena, "{\"alg\":\"%s\",\"kid\":\"%.*s\"}", algorithm(key), STR_ARG(id));
    struct str header_text = base64_url_encode(arena, header), claims_text = base64_url_encode(arena, claims);
    struct str signed_text = arena_printf(arena, "%.*s.%.*s", STR_ARG(header_text), STR_ARG(claims_text));

    TRY(crypto_sign(key, signed_text, arena, &signature));
    signature = base64_url_encode(arena, signature);
    *ret_token = arena_printf(arena, "%.*s.%.*s", STR_ARG(signed_text), STR_ARG(signature));
    return NULL;
}

bool jwt_split(struct str token, struct arena *arena, struct str *ret_header, struct str *ret_claims,
               struct str *ret_signature)
{
    struct str header, claims, rest;

    return str_cut(token, '.', &header, &rest) && str_cut(rest, '.', &claims, &rest) &&
           base64_url_decode(arena, header, ret_header) && base64_url_decode(arena, claims, ret_claims) &&
           base64_url_decode(arena, rest, ret_signature) && ret_header->n > 0 && ret_claims->n > 0;
}

/* What the header says of its algorithm is not asked: each key is good for one only, so a header cannot choose a weaker
 * one, and a signature made with another does not verify. */
struct status *jwt_verify(struct str token, struct crypto_key *const *keys, size_t key_count, struct arena *arena,
                          struct str *ret_claims)
{
    struct str header, claims, signature;

    if (!jwt_split(token, arena, &header, &claims, &signature)) {
        return status_new(STATUS_UNAUTHORIZED, "invalid bearer token");
    }
    struct str signed_text = str_sub(token, 0, str_last_index(token, '.'));

    for (size_t i = 0; i < key_count; i++) {
        if (crypto_verify(keys[i], signed_text, signature)) {
            *ret_claims = claims;
            return NULL;
        }
    }
    return status_new(STATUS_UNAUTHORIZED, "invalid bearer token");
}

struct str jwt_key_set(struct arena *arena, struct crypto_key *const *keys, size_t key_count)
{
    OWNED(buf_done) struct buf out = {0};

    buf_add_str(&out, STR("{\"keys\":["));
    for (size_t i = 0; i < key_count; i++) {
        struct str id = jwt_key_id(arena, keys[i]), first, second;
        bool is_rsa = crypto_key_is_rsa(keys[i]);

        crypto_key_numbers(arena, keys[i], &first, &second);
        first = base64_url_encode(arena, first);
        second = base64_url_encode(arena, second);
        buf_printf(&out, "%s{\"use\":\"sig\",\"kty\":\"%s\",\"kid\":\"%.*s\",%s\"alg\":\"%s\",\"%s\":\"%.*s\",\"%s\":\"%.*s\"}",
                   i > 0 ? "," : "", is_rsa ? "RSA" : "EC", STR_ARG(id), is_rsa ? "" : "\"crv\":\"P-256\",",
                   algorithm(keys[i]), is_rsa ? "n" : "x", STR_ARG(first), is_rsa ? "e" : "y", STR_ARG(second));
    }
    buf_add_str(&out, STR("]}"));
    return arena_str(arena, buf_str(&out));
}
