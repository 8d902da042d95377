/* How the validations say what is wrong: a path to the field, and one function for each of stock's kinds of error. For
 * src/api/validation* only.
 *
 * Paths are made on the stack and written out only when something is wrong:
 *     check_required(to, AT(ITEM(AT(spec, "containers"), i), "image"), "");
 */
#ifndef API_VALIDATION_CHECK_H
#define API_VALIDATION_CHECK_H

#include "base/attr.h"
#include "base/map.h"
#include "base/status.h"
#include "schema/names.h"
#include "schema/scalars.h"
#include "schema/type.h"

struct path {
    const struct path *up;
    enum { PATH_FIELD, PATH_ITEM, PATH_KEY } kind;
    const char *field;
    size_t item;
    struct str key;
};

/* The path of a member, of a list's element, of a map's entry. `up` NULL: the object itself. */
#define AT(up_, field_) (&(const struct path){.up = (up_), .kind = PATH_FIELD, .field = (field_)})
#define ITEM(up_, item_) (&(const struct path){.up = (up_), .kind = PATH_ITEM, .item = (item_)})
#define KEY(up_, key_) (&(const struct path){.up = (up_), .kind = PATH_KEY, .key = (key_)})
/* The index of a LIST_EACH. */
#define INDEX_OF(item_, list_) ((size_t)((item_) - (list_)->items))

struct str path_text(struct arena *arena, const struct path *path);

/* Findings go to the causes of `to`, up to as many as anyone will read. The detail may be "". */
void check_required(struct status *to, const struct path *at, const char *detail, ...) PRINTF_LIKE(3, 4);
void check_forbidden(struct status *to, const struct path *at, const char *detail, ...) PRINTF_LIKE(3, 4);
void check_invalid_str(struct status *to, const struct path *at, struct str value, const char *detail, ...)
    PRINTF_LIKE(4, 5);
void check_invalid_int(struct status *to, const struct path *at, int64_t value, const char *detail, ...)
    PRINTF_LIKE(4, 5);
void check_invalid_bool(struct status *to, const struct path *at, bool value, const char *detail, ...)
    PRINTF_LIKE(4, 5);
void check_invalid_int_or_string(struct status *to, const struct path *at, const struct int_or_string *value,
                                 const char *detail, ...) PRINTF_LIKE(4, 5);
/* The value is a struct, shown as Go's JSON of stock's internal type; NULL is null. */
void check_invalid_struct(struct status *to, const struct path *at, const struct type *type, const void *value,
                          const char *detail, ...) PRINTF_LIKE(5, 6);
/* The value is JSON text already. */
void check_invalid_json(struct status *to, const struct path *at, struct str json, const char *detail, ...)
    PRINTF_LIKE(4, 5);
void check_duplicate(struct status *to, const struct path *at, struct str value);
void check_duplicate_json(struct status *to, const struct path *at, struct str json);
void check_not_found(struct status *to, const struct path *at, struct str value, const char *detail, ...)
    PRINTF_LIKE(4, 5);
void check_too_long(struct status *to, const struct path *at, size_t max_bytes);
void check_too_many(struct status *to, const struct path *at, size_t count, size_t max);
/* The supported values are shown in the order given; a list ends with NULL. */
void check_unsupported(struct status *to, const struct path *at, struct str value, const char *const *supported);
/* False and NotSupported when the value is none of them. */
bool check_one_of(struct status *to, const struct path *at, struct str value, const char *const *supported);
bool is_one_of(struct str value, const char *const *supported);

/* Texts seen so far, for lists of any length. The zero value is empty: OWNED(seen_done) struct seen names = {0}; */
struct seen {
    struct map map;
};
void seen_done(struct seen *seen);
bool seen_has(const struct seen *seen, struct str text);
/* True when it was there; otherwise it is now. */
bool seen_before(struct seen *seen, struct str text);
bool seen_pair_before(struct seen *seen, struct str first, struct str second);

/* The list holds the text. For short lists. */
bool has_string(const struct str_list *list, struct str text);
/* With small letters, in the arena. */
struct str lower_case(struct arena *arena, struct str text);

/* Tries a name check of schema/names.h; each of its messages is an Invalid with the value. True when it is valid. */
typedef bool name_check(struct str value, struct name_errors *errors);
bool check_name(struct status *to, const struct path *at, struct str value, name_check *check);
/* "must be greater than or equal to 0". */
void check_non_negative(struct status *to, const struct path *at, int64_t value);
/* Required when empty. True when it is there. */
bool check_present(struct status *to, const struct path *at, struct str value);
/* "field is immutable", when the two differ. */
void check_immutable_str(struct status *to, const struct path *at, struct str value, struct str old);
void check_immutable_struct(struct status *to, const struct path *at, const struct type *type, const void *value,
                            const void *old);

/* A struct or list as stock's internal types print: Go names, every field. The type is that of the struct. */
struct str dump_struct(struct arena *arena, const struct type *type, const void *value);
/* The field of a struct, whole: lists, maps, pointers. */
struct str dump_field(struct arena *arena, const struct type *type, const char *field, const void *value);
/* The value as a pretty text with one field a line, and the lines that differ as `diff -u` shows them. */
struct str dump_diff(struct arena *arena, const struct type *type, const void *old, const void *value);
struct str dump_strings(struct arena *arena, const struct str_list *strings);
struct str dump_string(struct arena *arena, struct str text);
struct str dump_labels(struct arena *arena, const struct str_map *map);

#endif
