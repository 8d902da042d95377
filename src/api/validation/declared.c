#include "api/validation/declared.h"

#include "base/arena.h"
#include "base/buf.h"
#include "schema/copy.h"
#include "schema/json.h"

#include <stdlib.h>

static bool name_is_caseless_subdomain(struct str name, struct name_errors *errors)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        bool edge = i == 0 || i + 1 == name.n || name.p[i - 1] == '.' || name.p[i + 1] == '.';

        if (!word && ((c != '-' && c != '.') || edge)) {
            errors->items[errors->len++] =
                STR("an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end "
                    "with "
                    "an alphanumeric character (e.g. 'Example.com', regex used for validation is "
                    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
            return false;
        }
    }
    return true;
}

static bool name_is_fully_qualified(struct str name, struct name_errors *errors)
{
    size_t slash = str_index(name, '/');

    if (slash == SIZE_MAX) {
        errors->items[errors->len++] = STR("a fully qualified name must be a domain and a name separated by a slash");
        return false;
    }
    return name_is_dns1123_subdomain(str_sub(name, 0, slash), errors) &&
           name_is_c_identifier(str_from(name, slash + 1), errors);
}

static const struct {
    const char *format;
    name_check *check;
} formats[] = {
    {"k8s-short-name", name_is_dns1123_label},
    {"k8s-long-name", name_is_dns1123_subdomain},
    {"k8s-long-name-caseless", name_is_caseless_subdomain},
    {"k8s-label-key", name_is_qualified},
    {"k8s-prefixed-label-key", name_is_prefixed_label_key},
    {"k8s-resource-fully-qualified-name", name_is_fully_qualified},
};

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void check_enum(struct status *to, const struct path *at, const struct field_rules *rules, struct str value)
{
    const char **sorted = arena_array(to->arena, rules->enum_count + (size_t)1, sizeof(*sorted));
    struct str *values = arena_array(to->arena, rules->enum_count, sizeof(*values));

    for (size_t i = 0; i < rules->enum_count; i++) {
        values[i] = rules->enum_values[i];
    }
    qsort(values, rules->enum_count, sizeof(*values), by_text);
    for (size_t i = 0; i < rules->enum_count; i++) {
        sorted[i] = arena_cstr(to->arena, values[i]);
    }
    check_one_of(to, at, value, sorted);
}

static void check_text(struct status *to, const struct path *at, const struct field_rules *rules, struct str value)
{
    if (rules->enum_is_closed && rules->enum_count != 0) {
        check_enum(to, at, rules, value);
    }
    if (rules->max_length != 0 && value.n > rules->max_length) {
        check_too_long(to, at, rules->max_length);
    }
    if (rules->max_bytes != 0 && value.n > rules->max_bytes) {
        check_too_long(to, at, rules->max_bytes);
    }
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        if (str_is(rules->format, formats[i].format)) {
            check_name(to, at, value, formats[i].check);
        }
    }
}

static void check_number(struct status *to, const struct path *at, const struct field_rules *rules, int64_t value)
{
    if (value < rules->min) {
        check_invalid_int(to, at, value, "must be greater than or equal to %lld", (long long)rules->min);
    }
    if (value > rules->max) {
        check_invalid_int(to, at, value, "must be less than or equal to %lld", (long long)rules->max);
    }
}

static void check_item(struct status *to, const struct path *at, const struct field *field, const void *item)
{
    if (field->kind == TYPE_STRUCT) {
        check_declared(to, at, field->type, item);
    } else if (field->rules == NULL) {
        return;
    } else if (field->kind == TYPE_STRING) {
        const struct str *text = item;

        if (text->n != 0) {
            check_text(to, at, field->rules, *text);
        }
    } else if (field->kind == TYPE_INT32) {
        check_number(to, at, field->rules, *(const int32_t *)item);
    } else if (field->kind == TYPE_INT64) {
        check_number(to, at, field->rules, *(const int64_t *)item);
    }
}

/* What tells an item of a keyed list from the others: a string itself, or the JSON of its keys. */
static struct str item_key(struct arena *arena, const struct field *field, const void *item)
{
    OWNED(buf_done) struct buf key = {0};

    if (field->kind == TYPE_STRING) {
        return *(const struct str *)item;
    }
    for (size_t i = 0; i < field->rules->key_count; i++) {
        const struct type_member *member = type_member(field->type, field->rules->keys[i]);

        if (member != NULL) {
            json_encode_field(member->field, (const char *)item + member->offset, &key);
        }
        buf_add_char(&key, ',');
    }
    return arena_str(arena, buf_str(&key));
}

static void check_list(struct status *to, const struct path *at, const struct field *field, const struct any_list *list)
{
    const struct field_rules *rules = field->rules;
    size_t size = field_item_size(field);
    bool is_keyed = rules != NULL && ((rules->list_type == LIST_SET && field->kind == TYPE_STRING) ||
                                      (rules->list_type == LIST_MAP && field->kind == TYPE_STRUCT));
    OWNED(seen_done) struct seen seen = {0};

    if (rules != NULL && rules->max_items != 0 && list->len > rules->max_items) {
        check_too_many(to, at, list->len, rules->max_items);
        return;
    }
    for (size_t i = 0; i < list->len; i++) {
        const char *item = (const char *)list->items + i * size;

        check_item(to, ITEM(at, i), field, item);
        if (is_keyed && seen_before(&seen, item_key(to->arena, field, item))) {
            check_duplicate_json(to, ITEM(at, i),
                                 field->kind == TYPE_STRUCT ? dump_struct(to->arena, field->type, item)
                                                            : dump_string(to->arena, *(const struct str *)item));
        }
    }
}

static void check_field(struct status *to, const struct path *at, const struct field *field, const void *place)
{
    const struct any_list *list = place;
    bool is_number = field->kind == TYPE_INT32 || field->kind == TYPE_INT64 || field->kind == TYPE_BOOL;

    if (schema_field_is_zero(field, place) && (field->shape != SHAPE_PLAIN || field->kind != TYPE_STRUCT)) {
        bool can_be_missing = field->shape == SHAPE_PLAIN && is_number;

        if ((field->flags & FIELD_REQUIRED) && !can_be_missing) {
            check_required(to, at, "%s", "");
        }
        return;
    }
    switch ((enum field_shape)field->shape) {
    case SHAPE_PLAIN:
        check_item(to, at, field, place);
        return;
    case SHAPE_POINTER:
        check_item(to, at, field, *(const void *const *)place);
        return;
    case SHAPE_LIST:
        check_list(to, at, field, list);
        return;
    case SHAPE_MAP:
        for (size_t i = 0; i < list->len; i++) {
            const char *entry = (const char *)list->items + i * field_entry_size(field);

            check_item(to, KEY(at, *(const struct str *)entry), field, entry + sizeof(struct str));
        }
        return;
    }
}

static bool is_member(const struct field *field, struct str name)
{
    return field->rules != NULL && str_eq(field->rules->one_of, name) && field->shape != SHAPE_PLAIN;
}

/* One of the fields that name the same union must be set. `first` is its first field. */
static void check_union(struct status *to, const struct path *at, const struct type *type, size_t first,
                        const void *object)
{
    struct str name = type->fields[first].rules->one_of;
    OWNED(buf_done) struct buf names = {0};
    size_t members = 0, set = 0;

    for (size_t i = first; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];

        if (is_member(field, name)) {
            buf_printf(&names, "%s\"%.*s\"", members++ == 0 ? "" : " or ", STR_ARG(field->name));
            set += !schema_field_is_zero(field, (const char *)object + field->offset);
        }
    }
    if (set == 1 || (set == 0 && type->fields[first].rules->one_of_may_be_none)) {
        return;
    }
    if (members == 1) {
        check_required(to, AT(at, arena_cstr(to->arena, type->fields[first].name)), "%s", "");
    } else {
        /* stock says the same when none is set */
        check_required(to, at, "exactly one of %.*s is required, but multiple fields are set",
                       STR_ARG(buf_str(&names)));
    }
}

static void check_unions(struct status *to, const struct path *at, const struct type *type, const void *object)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const struct field_rules *rules = type->fields[i].rules;
        bool is_first = rules != NULL && rules->one_of.n != 0 && is_member(&type->fields[i], rules->one_of);

        for (size_t k = 0; is_first && k < i; k++) {
            is_first = !is_member(&type->fields[k], rules->one_of);
        }
        if (is_first) {
            check_union(to, at, type, i, object);
        }
    }
}

static bool is_skipped(const struct path *at, const struct field *field)
{
    return field->name.n != 0 && at == NULL && (str_is(field->name, "metadata") || str_is(field->name, "status"));
}

void check_declared(struct status *to, const struct path *at, const struct type *type, const void *object)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];
        const void *place = (const char *)object + field->offset;

        if (is_skipped(at, field)) {
            continue;
        }
        if (field->name.n == 0) {
            check_declared(to, at, field->type, place);
        } else {
            check_field(to, AT(at, arena_cstr(to->arena, field->name)), field, place);
        }
    }
    check_unions(to, at, type, object);
}

void check_declared_update(struct status *to, const struct path *at, const struct type *type, const void *object,
                           const void *old)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];
        const void *now = (const char *)object + field->offset, *before = (const char *)old + field->offset;

        if (is_skipped(at, field) || field->name.n == 0) {
            continue;
        }
        const struct path *here = AT(at, arena_cstr(to->arena, field->name));

        if (field->flags & FIELD_IMMUTABLE) {
            if (!schema_field_equal(field, now, before)) {
                check_invalid_json(to, here, STR("null"), "field is immutable");
            }
        } else if (field->kind == TYPE_STRUCT && field->shape == SHAPE_PLAIN) {
            check_declared_update(to, here, field->type, now, before);
        }
    }
}
