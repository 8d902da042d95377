/* Content digests as OCI writes them: "sha256:" or "sha512:" and lower-case hex. Any thread. */
#ifndef RUNTIME_IMAGES_DIGEST_H
#define RUNTIME_IMAGES_DIGEST_H

#include "base/arena.h"

enum { DIGEST_TEXT_MAX = 7 + 128 + 1 };

/* A known algorithm and as many lower-case hex digits as it gives. */
bool digest_is_valid(struct str text);
/* Of a valid digest: what comes before and after the colon. */
struct str digest_algorithm(struct str digest);
struct str digest_hex(struct str digest);

/* Hashes as bytes come. */
struct digester;
/* The algorithm must be a known one: that of a valid digest. */
struct digester *digester_new(struct str algorithm);
void digester_add(struct digester *digester, const void *bytes, size_t size);
/* The digest of all bytes so far as text in the arena; more may follow. */
struct str digester_text(const struct digester *digester, struct arena *arena);
void digester_free(struct digester *digester);
void digester_freep(struct digester **digester);

/* The sha256 digest of some bytes. */
struct str digest_of(struct arena *arena, struct str bytes);

#endif
