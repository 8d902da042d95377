/* Reads JSON text from memory, one value or token at a time; what every JSON reader of c8s stands on.
 *
 * The grammar is RFC 8259 as Go's encoding/json takes it, with its error texts ("invalid character 'x' looking for
 * beginning of value"). The text need not be NUL-terminated. Strings without escapes and with valid UTF-8 are
 * borrowed from the text; others are decoded into the arena. The first error sticks: all calls after it return false
 * (or JSON_INVALID), so a reader may check once, at the end. Nesting deeper than LIMIT_DECODE_DEPTH is refused.
 * One thread at a time.
 *
 *   struct json_lexer in;
 *   json_begin(&in, text, arena);
 *   if (json_object_start(&in)) {
 *       for (struct str key; json_object_next(&in, &key);) { ... read or json_skip() the value ... }
 *   }
 *   TRY(json_finish(&in)); */
#ifndef SCHEMA_JSON_LEXER_H
#define SCHEMA_JSON_LEXER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum json_kind { JSON_INVALID, JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_lexer {
    const char *at, *end, *start;
    struct arena *arena; /* for decoded strings; may be NULL when only skipping */
    struct str error;    /* empty: none so far; borrowed from the arena or constant */
    size_t error_offset;
    unsigned depth;
    bool first; /* just past an opening bracket */
    char error_text[96];
};

void json_begin(struct json_lexer *in, struct str text, struct arena *arena);

/* The kind of the value that comes next, by its first byte; skips white space, takes nothing. */
enum json_kind json_peek(struct json_lexer *in);

/* Take the opening bracket. */
bool json_object_start(struct json_lexer *in);
bool json_array_start(struct json_lexer *in);
/* Moves to the next member and takes its key and colon; false at the closing brace, which it takes, and on error. */
bool json_object_next(struct json_lexer *in, struct str *ret_key);
/* Moves to the next element; false at the closing bracket, which it takes, and on error. */
bool json_array_next(struct json_lexer *in);

/* Take one value of that kind; the caller has peeked. */
bool json_string(struct json_lexer *in, struct str *ret);
bool json_bool(struct json_lexer *in, bool *ret);
bool json_null(struct json_lexer *in);
/* The literal's text, borrowed; valid JSON number grammar. */
bool json_number(struct json_lexer *in, struct str *ret);
/* Takes a value of any kind, wholly checked; its text without surrounding space is in *ret_text (NULL: not wanted). */
bool json_skip(struct json_lexer *in, struct str *ret_text);

/* Takes a number with an integral value that fits; else leaves *ret alone and returns false without an error set. */
bool json_to_i64(struct str number, int64_t *ret);
/* As strtod does, whatever the locale. */
double json_to_double(struct str number);

/* Fails with this text at the current place, unless it has failed before. */
void json_fail(struct json_lexer *in, const char *text);
bool json_failed(const struct json_lexer *in);
/* NULL when all of the text was read and held one value; else a BAD_REQUEST status with the error's text. */
MUST_USE struct status *json_finish(struct json_lexer *in);

/* Go's word for a kind: "string", "number", "object", "array", "bool", "null". */
const char *json_kind_name(enum json_kind kind);

/* Appends a JSON string with its quotes. As Go's encoder does, <, >, &, U+2028 and U+2029 are escaped, and invalid
 * UTF-8 becomes U+FFFD. */
void json_add_string(struct buf *out, struct str s);
/* Without the HTML escapes (kubectl's pretty printers). */
void json_add_string_plain(struct buf *out, struct str s);
/* As Go writes a float64. */
void json_add_double(struct buf *out, double value);

/* Length of the valid UTF-8 sequence at s[at], 0 when there is none; the code point is in *ret (may be NULL). */
unsigned utf8_decode(struct str s, size_t at, uint32_t *ret);
/* Writes up to 4 bytes; returns how many. */
unsigned utf8_encode(uint32_t rune, char *out);

#endif
