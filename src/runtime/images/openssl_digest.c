#include "runtime/images/digest.h"

#include "base/mem.h"

#include <openssl/evp.h>
#include <stdlib.h>

struct digester {
    EVP_MD_CTX *hash;
    const char *algorithm;
};

static size_t hex_length(struct str algorithm)
{
    return str_is(algorithm, "sha256") ? 64 : str_is(algorithm, "sha512") ? 128 : 0;
}

bool digest_is_valid(struct str text)
{
    struct str algorithm, hex;

    if (!str_cut(text, ':', &algorithm, &hex) || hex.n == 0 || hex.n != hex_length(algorithm)) {
        return false;
    }
    for (size_t i = 0; i < hex.n; i++) {
        if (!((hex.p[i] >= '0' && hex.p[i] <= '9') || (hex.p[i] >= 'a' && hex.p[i] <= 'f'))) {
            return false;
        }
    }
    return true;
}

struct str digest_algorithm(struct str digest)
{
    return str_sub(digest, 0, str_index(digest, ':'));
}

struct str digest_hex(struct str digest)
{
    return str_from(digest, str_index(digest, ':') + 1);
}

struct digester *digester_new(struct str algorithm)
{
    struct digester *digester = MEM_NEW(struct digester);
    bool is_512 = str_is(algorithm, "sha512");

    digester->algorithm = is_512 ? "sha512" : "sha256";
    digester->hash = EVP_MD_CTX_new();
    if (digester->hash == NULL || EVP_DigestInit_ex(digester->hash, is_512 ? EVP_sha512() : EVP_sha256(), NULL) != 1) {
        mem_die("OpenSSL has no SHA-2");
    }
    return digester;
}

void digester_add(struct digester *digester, const void *bytes, size_t size)
{
    if (EVP_DigestUpdate(digester->hash, bytes, size) != 1) {
        mem_die("hashing failed");
    }
}

struct str digester_text(const struct digester *digester, struct arena *arena)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    char hex[2 * EVP_MAX_MD_SIZE];
    EVP_MD_CTX *copy = EVP_MD_CTX_new();

    if (copy == NULL || EVP_MD_CTX_copy_ex(copy, digester->hash) != 1 || EVP_DigestFinal_ex(copy, hash, &size) != 1) {
        mem_die("hashing failed");
    }
    EVP_MD_CTX_free(copy);
    for (unsigned i = 0; i < size; i++) {
        hex[2 * i] = digits[hash[i] >> 4];
        hex[2 * i + 1] = digits[hash[i] & 15];
    }
    return arena_printf(arena, "%s:%.*s", digester->algorithm, (int)(2 * size), hex);
}

void digester_free(struct digester *digester)
{
    if (digester != NULL) {
        EVP_MD_CTX_free(digester->hash);
        free(digester);
    }
}

void digester_freep(struct digester **digester)
{
    digester_free(*digester);
}

struct str digest_of(struct arena *arena, struct str bytes)
{
    OWNED(digester_freep) struct digester *digester = digester_new(STR("sha256"));

    digester_add(digester, bytes.p, bytes.n);
    return digester_text(digester, arena);
}
