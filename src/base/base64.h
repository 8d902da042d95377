/* Base64 (RFC 4648) and hexadecimal text. Any thread. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/arena.h"
#include "base/buf.h"

/* The standard alphabet, with padding: bytes in JSON, Secret data, basic auth, WebSocket keys. */
struct str base64_encode(struct arena *arena, struct str bytes);
/* The URL alphabet without padding: JWT, WebSocket bearer tokens. */
struct str base64_url_encode(struct arena *arena, struct str bytes);
void base64_add(struct buf *buf, struct str bytes);
/* Strict as Go's: whole quantums with padding; only "\r" and "\n" are skipped. False when it is not base64. */
bool base64_decode(struct arena *arena, struct str text, struct str *ret);
/* Where Go's decoder gives up on text that base64_decode() refuses. */
size_t base64_error_at(struct str text);
/* No padding. False when it is not base64url. */
bool base64_url_decode(struct arena *arena, struct str text, struct str *ret);

/* What a hexadecimal digit of either case stands for; -1 for anything else. */
int hex_digit(char c);
/* Lower case. */
struct str hex_encode(struct arena *arena, struct str bytes);
bool hex_decode(struct arena *arena, struct str text, struct str *ret);

#endif
