/* A borrowed run of bytes: never NUL-terminated by contract, never freed.
 *
 * Valid until the lender changes or goes away; to keep one, copy it into an arena (arena_str) or a buf.
 * The zero value is the empty string. No function here allocates. Any thread. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
    const char *p;
    size_t n;
};

/* Several; the items belong to whoever made the list, usually an arena. */
struct str_list {
    struct str *items;
    size_t len;
};

#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})
#define STR_INIT(literal) {"" literal, sizeof(literal) - 1}
/* For printf: printf("%.*s", STR_ARG(name)). */
#define STR_ARG(s) (int)(s).n, (s).n ? (s).p : ""

/* The bytes of a NUL-terminated string, without the NUL; NULL gives the empty string. */
struct str str_of(const char *text);

bool str_eq(struct str a, struct str b);
bool str_is(struct str a, const char *text);
/* <0, 0, >0, by unsigned bytes, shorter first. */
int str_cmp(struct str a, struct str b);
bool str_has_prefix(struct str s, struct str prefix);
bool str_has_suffix(struct str s, struct str suffix);
bool str_eq_nocase(struct str a, struct str b);

/* From `from` up to (not including) `to`; both are clamped to the length. */
struct str str_sub(struct str s, size_t from, size_t to);
/* Everything from `from` on; empty past the end. */
struct str str_from(struct str s, size_t from);
/* First place of `c`, `needle`; SIZE_MAX when absent. */
size_t str_index(struct str s, char c);
size_t str_last_index(struct str s, char c);
size_t str_find(struct str s, struct str needle);
bool str_contains(struct str s, struct str needle);
/* Without ASCII white space at both ends. */
struct str str_trim(struct str s);

/* Cuts at the first `separator`: *ret_head gets what is before, *ret_tail what is after. When there is none,
 * head is all of s, tail is empty, and false is returned. */
bool str_cut(struct str s, char separator, struct str *ret_head, struct str *ret_tail);
/* Takes the next piece up to `separator` off *rest; false when *rest is used up (rest->p is NULL then).
 *   for (struct str rest = list, item; str_next(&rest, ',', &item);) */
bool str_next(struct str *rest, char separator, struct str *ret_item);

/* The whole of s as a decimal number: no spaces, no plus sign, no overflow. */
bool str_to_i64(struct str s, int64_t *ret);
bool str_to_u64(struct str s, uint64_t *ret);

/* FNV-1a, 64 bits. Not for keys an attacker picks: maps use map.h, which is seeded. */
uint64_t str_hash(struct str s);

#endif
