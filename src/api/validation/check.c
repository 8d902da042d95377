#include "api/validation/check.h"

#include "base/arena.h"
#include "base/buf.h"
#include "schema/copy.h"
#include "schema/json.h"
#include "schema/value.h"

#include <stdio.h>

static void add_path(struct buf *out, const struct path *path)
{
    if (path->up != NULL) {
        add_path(out, path->up);
    }
    switch (path->kind) {
    case PATH_FIELD:
        buf_printf(out, "%s%s", path->up == NULL ? "" : ".", path->field);
        return;
    case PATH_ITEM:
        buf_printf(out, "[%zu]", path->item);
        return;
    case PATH_KEY:
        buf_printf(out, "[%.*s]", STR_ARG(path->key));
        return;
    }
}

struct str path_text(struct arena *arena, const struct path *path)
{
    OWNED(buf_done) struct buf out = {0};

    if (path != NULL) {
        add_path(&out, path);
    }
    return arena_str(arena, buf_str(&out));
}

/* What a client can make grow is bounded: nobody reads thousands of causes. */
enum { CAUSES_MAX = 1000, CAUSES_MAX_BYTES = 8 << 20 };

static bool is_full(const struct status *to)
{
    return to->cause_count >= CAUSES_MAX || (to->cause_count > 0 && arena_size(to->arena) > CAUSES_MAX_BYTES);
}

/* As Go's %q. */
static struct str quoted(struct arena *arena, struct str text)
{
    static const char escapes[] = {['\a'] = 'a', ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n',
                                   ['\r'] = 'r', ['\t'] = 't', ['\v'] = 'v', ['"'] = '"', ['\\'] = '\\'};
    OWNED(buf_done) struct buf out = {0};

    buf_add_char(&out, '"');
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c < sizeof(escapes) && escapes[c] != 0) {
            buf_add_char(&out, '\\');
            buf_add_char(&out, escapes[c]);
        } else if (c < 0x20 || c == 0x7f) {
            buf_printf(&out, "\\x%02x", c);
        } else {
            buf_add_char(&out, (char)c);
        }
    }
    buf_add_char(&out, '"');
    return arena_str(arena, buf_str(&out));
}

/* "Invalid value: VALUE: DETAIL"; what is empty is left out. */
static void add(struct status *to, const char *reason, const struct path *at, const char *what, struct str value,
                const char *detail, va_list args)
{
    struct str why = arena_vprintf(to->arena, detail, args);

    status_add_cause(to, str_of(reason), path_text(to->arena, at), "%s%s%.*s%s%.*s", what, value.n != 0 ? ": " : "",
                     STR_ARG(value), why.n != 0 ? ": " : "", STR_ARG(why));
}

#define ADD_(reason, what, value)                                  \
    do {                                                           \
        if (!is_full(to)) {                                        \
            va_list args_;                                         \
            va_start(args_, detail);                               \
            add(to, (reason), at, (what), (value), detail, args_); \
            va_end(args_);                                         \
        }                                                          \
    } while (0)

void check_required(struct status *to, const struct path *at, const char *detail, ...)
{
    ADD_("FieldValueRequired", "Required value", (struct str){0});
}

void check_forbidden(struct status *to, const struct path *at, const char *detail, ...)
{
    ADD_("FieldValueForbidden", "Forbidden", (struct str){0});
}

void check_invalid_str(struct status *to, const struct path *at, struct str value, const char *detail, ...)
{
    ADD_("FieldValueInvalid", "Invalid value", quoted(to->arena, value));
}

void check_invalid_int(struct status *to, const struct path *at, int64_t value, const char *detail, ...)
{
    ADD_("FieldValueInvalid", "Invalid value", arena_printf(to->arena, "%lld", (long long)value));
}

void check_invalid_bool(struct status *to, const struct path *at, bool value, const char *detail, ...)
{
    ADD_("FieldValueInvalid", "Invalid value", value ? STR("true") : STR("false"));
}

void check_invalid_int_or_string(struct status *to, const struct path *at, const struct int_or_string *value,
                                 const char *detail, ...)
{
    ADD_("FieldValueInvalid", "Invalid value",
         value->is_string ? quoted(to->arena, value->text) : arena_printf(to->arena, "%d", value->number));
}

void check_invalid_struct(struct status *to, const struct path *at, const struct type *type, const void *value,
                          const char *detail, ...)
{
    ADD_("FieldValueInvalid", "Invalid value", dump_struct(to->arena, type, value));
}

void check_invalid_json(struct status *to, const struct path *at, struct str json, const char *detail, ...)
{
    ADD_("FieldValueInvalid", "Invalid value", json);
}

void check_not_found(struct status *to, const struct path *at, struct str value, const char *detail, ...)
{
    ADD_("FieldValueNotFound", "Not found", quoted(to->arena, value));
}

void check_duplicate(struct status *to, const struct path *at, struct str value)
{
    if (!is_full(to)) {
        check_duplicate_json(to, at, quoted(to->arena, value));
    }
}

void check_duplicate_json(struct status *to, const struct path *at, struct str json)
{
    if (is_full(to)) {
        return;
    }
    status_add_cause(to, STR("FieldValueDuplicate"), path_text(to->arena, at), "Duplicate value: %.*s", STR_ARG(json));
}

void check_too_long(struct status *to, const struct path *at, size_t max_bytes)
{
    if (is_full(to)) {
        return;
    }
    status_add_cause(to, STR("FieldValueTooLong"), path_text(to->arena, at),
                     "Too long: may not be more than %zu bytes", max_bytes);
}

void check_too_many(struct status *to, const struct path *at, size_t count, size_t max)
{
    if (is_full(to)) {
        return;
    }
    status_add_cause(to, STR("FieldValueTooMany"), path_text(to->arena, at),
                     "Too many: %zu: must have at most %zu item%s", count, max, max == 1 ? "" : "s");
}

void check_unsupported(struct status *to, const struct path *at, struct str value, const char *const *supported)
{
    if (is_full(to)) {
        return;
    }
    OWNED(buf_done) struct buf list = {0};

    for (size_t i = 0; supported[i] != NULL; i++) {
        buf_printf(&list, "%s\"%s\"", i == 0 ? ": supported values: " : ", ", supported[i]);
    }
    status_add_cause(to, STR("FieldValueNotSupported"), path_text(to->arena, at), "Unsupported value: %.*s%.*s",
                     STR_ARG(quoted(to->arena, value)), STR_ARG(buf_str(&list)));
}

bool is_one_of(struct str value, const char *const *supported)
{
    for (size_t i = 0; supported[i] != NULL; i++) {
        if (str_is(value, supported[i])) {
            return true;
        }
    }
    return false;
}

bool check_one_of(struct status *to, const struct path *at, struct str value, const char *const *supported)
{
    if (is_one_of(value, supported)) {
        return true;
    }
    check_unsupported(to, at, value, supported);
    return false;
}

void seen_done(struct seen *seen)
{
    map_done(&seen->map);
}

bool seen_has(const struct seen *seen, struct str text)
{
    return map_find(&seen->map, text) != NULL;
}

bool seen_before(struct seen *seen, struct str text)
{
    static char is_there;

    return seen_has(seen, text) || map_set(&seen->map, text, &is_there) != NULL;
}

bool seen_pair_before(struct seen *seen, struct str first, struct str second)
{
    OWNED(buf_done) struct buf pair = {0};

    buf_add_str(&pair, first);
    buf_add_char(&pair, '\0');
    buf_add_str(&pair, second);
    return seen_before(seen, buf_str(&pair));
}

bool has_string(const struct str_list *list, struct str text)
{
    LIST_EACH(item, list) {
        if (str_eq(*item, text)) {
            return true;
        }
    }
    return false;
}

struct str lower_case(struct arena *arena, struct str text)
{
    char *copy = arena_cstr(arena, text);

    for (size_t i = 0; i < text.n; i++) {
        copy[i] = copy[i] >= 'A' && copy[i] <= 'Z' ? (char)(copy[i] - 'A' + 'a') : copy[i];
    }
    return (struct str){copy, text.n};
}

bool check_name(struct status *to, const struct path *at, struct str value, name_check *check)
{
    struct name_errors errors = {0};

    if (check(value, &errors)) {
        return true;
    }
    for (size_t i = 0; i < errors.len; i++) {
        check_invalid_str(to, at, value, "%.*s", STR_ARG(errors.items[i]));
    }
    return false;
}

void check_non_negative(struct status *to, const struct path *at, int64_t value)
{
    if (value < 0) {
        check_invalid_int(to, at, value, "must be greater than or equal to 0");
    }
}

bool check_present(struct status *to, const struct path *at, struct str value)
{
    if (value.n == 0) {
        check_required(to, at, "%s", "");
    }
    return value.n != 0;
}

void check_immutable_str(struct status *to, const struct path *at, struct str value, struct str old)
{
    if (!str_eq(value, old)) {
        check_invalid_str(to, at, value, "field is immutable");
    }
}

void check_immutable_struct(struct status *to, const struct path *at, const struct type *type, const void *value,
                            const void *old)
{
    if (value == NULL || old == NULL ? value != old : !schema_equal(type, value, old)) {
        check_invalid_struct(to, at, type, value, "field is immutable");
    }
}

struct str dump_string(struct arena *arena, struct str text)
{
    return value_json(arena, value_string(arena, text));
}

struct str dump_strings(struct arena *arena, const struct str_list *strings)
{
    OWNED(buf_done) struct buf out = {0};

    if (strings->items == NULL) {
        return STR("null");
    }
    buf_add_char(&out, '[');
    for (size_t i = 0; i < strings->len; i++) {
        buf_printf(&out, "%s%.*s", i == 0 ? "" : ",", STR_ARG(dump_string(arena, strings->items[i])));
    }
    buf_add_char(&out, ']');
    return arena_str(arena, buf_str(&out));
}

struct str dump_labels(struct arena *arena, const struct str_map *map)
{
    OWNED(buf_done) struct buf out = {0};

    if (map->items == NULL) {
        return STR("null");
    }
    buf_add_char(&out, '{');
    for (size_t i = 0; i < map->len; i++) {
        buf_printf(&out, "%s%.*s:%.*s", i == 0 ? "" : ",", STR_ARG(dump_string(arena, map->items[i].key)),
                   STR_ARG(dump_string(arena, map->items[i].value)));
    }
    buf_add_char(&out, '}');
    return arena_str(arena, buf_str(&out));
}
