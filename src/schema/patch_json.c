#include "schema/patch.h"

#include "base/limits.h"

/* What doesn't apply, and why. */
#define REFUSED(format, path) status_new(STATUS_INVALID, format, STR_ARG(path))

/* One part of a JSON pointer, "~1" and "~0" undone. */
static struct str pointer_part(struct arena *arena, struct str part)
{
    if (str_index(part, '~') == SIZE_MAX) {
        return part;
    }
    char *text = arena_alloc(arena, part.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < part.n; i++) {
        char c = part.p[i];

        if (c == '~' && i + 1 < part.n && (part.p[i + 1] == '0' || part.p[i + 1] == '1')) {
            c = part.p[++i] == '0' ? '~' : '/';
        }
        text[n++] = c;
    }
    return (struct str){text, n};
}

/* Where a pointer leads: the container that holds the place, and the last part. */
struct place {
    struct value *container; /* NULL: the whole document */
    struct str key;
};

static bool array_index(const struct value *array, struct str key, size_t *ret)
{
    int64_t index;

    if (!str_to_i64(key, &index)) {
        return false;
    }
    if (index < 0) {
        index += array->array.len; /* stock's library counts negative ones from the end */
    }
    *ret = (size_t)index;
    return index >= 0 && index < (int64_t)array->array.len;
}

static struct value *child(const struct value *container, struct str key)
{
    size_t index;

    if (value_is(container, VALUE_ARRAY)) {
        return array_index(container, key, &index) ? container->array.items[index] : NULL;
    }
    return value_find(container, key);
}

static struct status *find_place(struct arena *arena, struct value *document, struct str path, struct place *ret)
{
    struct place place = {0};
    struct str rest = path, part;

    if (path.n == 0) {
        *ret = place;
        return NULL;
    }
    if (path.p[0] != '/') {
        return REFUSED("doc is missing path: \"%.*s\": missing value", path);
    }
    rest = str_from(path, 1);
    place.container = document;
    for (bool more = true; more;) {
        more = str_cut(rest, '/', &part, &rest);
        place.key = pointer_part(arena, part);
        if (more) {
            place.container = child(place.container, place.key);
        }
        if (!value_is(place.container, VALUE_OBJECT) && !value_is(place.container, VALUE_ARRAY)) {
            return REFUSED("doc is missing path: \"%.*s\": missing value", path);
        }
    }
    *ret = place;
    return NULL;
}

static struct status *add(struct arena *arena, struct value **document, struct str path, struct value *value)
{
    struct place place;
    size_t index;

    TRY(find_place(arena, *document, path, &place));
    if (place.container == NULL) {
        *document = value;
    } else if (value_is(place.container, VALUE_OBJECT)) {
        value_set(arena, place.container, place.key, value);
    } else if (str_is(place.key, "-")) {
        value_add(arena, place.container, value);
    } else {
        int64_t at;
        int64_t len = place.container->array.len;

        if (!str_to_i64(place.key, &at) || at > len || at < -len - 1) {
            return REFUSED("Unable to access invalid index: %.*s: invalid index referenced", place.key);
        }
        index = (size_t)(at < 0 ? at + len + 1 : at);
        value_insert(arena, place.container, index, value);
    }
    return NULL;
}

static struct status *get(struct arena *arena, struct value *document, struct str path, struct value **ret)
{
    struct place place;

    TRY(find_place(arena, document, path, &place));
    *ret = place.container == NULL ? document : child(place.container, place.key);
    return NULL;
}

static struct status *drop(struct arena *arena, struct value *document, struct str path)
{
    struct place place;
    size_t index;

    TRY(find_place(arena, document, path, &place));
    if (value_is(place.container, VALUE_ARRAY) && array_index(place.container, place.key, &index)) {
        value_remove(place.container, index);
        return NULL;
    }
    if (!value_is(place.container, VALUE_OBJECT) || !value_delete(place.container, place.key)) {
        return REFUSED("Unable to remove nonexistent key: %.*s: missing value", place.key);
    }
    return NULL;
}

static struct status *replace(struct arena *arena, struct value **document, struct str path, struct value *value)
{
    struct place place;
    size_t index = 0;

    TRY(find_place(arena, *document, path, &place));
    if (place.container == NULL) {
        *document = value;
        return NULL;
    }
    /* as in stock, what an object doesn't have is replaced all the same */
    if (child(place.container, place.key) == NULL && !value_is(place.container, VALUE_OBJECT)) {
        return REFUSED("replace operation does not apply: doc is missing key: %.*s: missing value", path);
    }
    if (value_is(place.container, VALUE_ARRAY)) {
        array_index(place.container, place.key, &index); /* child() has found it */
        place.container->array.items[index] = value;
    } else {
        value_set(arena, place.container, place.key, value);
    }
    return NULL;
}

static struct status *test(struct arena *arena, struct value *document, struct str path, const struct value *wanted)
{
    struct value *found;

    TRY(get(arena, document, path, &found));
    bool both_null = (found == NULL || value_is(found, VALUE_NULL)) && (wanted == NULL || value_is(wanted, VALUE_NULL));

    if (!both_null && !value_equal(found, wanted)) {
        return REFUSED("testing value %.*s failed: test failed", path);
    }
    return NULL;
}

static struct status *apply(struct arena *arena, struct value **document, const struct value *operation)
{
    struct str op = value_str_at(operation, "op"), path = value_str_at(operation, "path");
    struct str from = value_str_at(operation, "from");
    struct value *value = value_find(operation, STR("value")), *moved;

    value = value == NULL ? value_null(arena) : value_copy(arena, value);
    if (str_is(op, "add")) {
        return add(arena, document, path, value);
    }
    if (str_is(op, "remove")) {
        return drop(arena, *document, path);
    }
    if (str_is(op, "replace")) {
        return replace(arena, document, path, value);
    }
    if (str_is(op, "test")) {
        return test(arena, *document, path, value);
    }
    if (!str_is(op, "move") && !str_is(op, "copy")) {
        return REFUSED("Unexpected kind: %.*s", op);
    }
    TRY(get(arena, *document, from, &moved));
    if (moved == NULL) {
        return REFUSED("doc is missing from path: %.*s: missing value", from);
    }
    moved = value_copy(arena, moved);
    if (str_is(op, "move")) {
        TRY(drop(arena, *document, from));
    }
    return add(arena, document, path, moved);
}

struct status *patch_json(struct arena *arena, const struct value *document, const struct value *operations,
                          struct value **ret)
{
    struct value *result = value_copy(arena, document);

    if (!value_is(operations, VALUE_ARRAY)) {
        return status_new(STATUS_BAD_REQUEST, "Invalid JSON Patch");
    }
    if (value_count(operations) > LIMIT_JSON_PATCH_OPERATIONS) {
        return status_new(STATUS_REQUEST_ENTITY_TOO_LARGE,
                          "The allowed maximum operations in a JSON patch is %d, got %zu", LIMIT_JSON_PATCH_OPERATIONS,
                          value_count(operations));
    }
    VALUE_EACH_ITEM(operation, operations) {
        TRY(apply(arena, &result, *operation));
    }
    *ret = result;
    return NULL;
}
