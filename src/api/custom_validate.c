/* Validation of values by OpenAPI schemas, as stock's library does it: its order, its words. */
#include "api/custom_schema.h"

#include "api/custom_format.h"
#include "base/map.h"
#include "schema/regex.h"

#include <math.h>
#include <string.h>

/* One value in its place. */
struct checked {
    custom_schema_ref schema;
    const struct value *value, *old;
    struct str path;
    struct status *causes;
    struct arena *arena;
};

static void validate(const struct checked *at);

static void invalid(const struct checked *at, struct str value, struct str message)
{
    status_add_cause(at->causes, STR("FieldValueInvalid"), at->path, "Invalid value: %.*s: %.*s in body %.*s",
                     STR_ARG(value), STR_ARG(at->path), STR_ARG(message));
}

/* What isn't about one field: combinations of schemas. */
static void invalid_whole(const struct checked *at, struct str message)
{
    status_add_cause(at->causes, STR("FieldValueInvalid"), STR("<nil>"), "Invalid value: \"\": %.*s", STR_ARG(message));
}

static bool is_integral(const struct value *value)
{
    return value_is(value, VALUE_INT) ||
           (value_is(value, VALUE_DOUBLE) && floor(value->number) == value->number && fabs(value->number) < 9.1e18);
}

static const char *type_of(const struct value *value)
{
    switch (value->type) {
    case VALUE_NULL:
        return "null";
    case VALUE_BOOL:
        return "boolean";
    case VALUE_INT:
        return "integer";
    case VALUE_DOUBLE:
        return is_integral(value) ? "integer" : "number";
    case VALUE_STRING:
        return "string";
    case VALUE_ARRAY:
        return "array";
    case VALUE_OBJECT:
        return "object";
    }
    return "";
}

static void wrong_type(const struct checked *at, struct str wanted, const char *actual)
{
    status_add_cause(at->causes, STR("FieldValueTypeInvalid"), at->path,
                     "Invalid value: \"%s\": %.*s in body must be of type %.*s: \"%s\"", actual, STR_ARG(at->path),
                     STR_ARG(wanted), actual);
}

/* False when the value is of another type. */
static bool check_type(const struct checked *at)
{
    const char *actual = type_of(at->value);
    struct str type = at->schema->type;

    if (value_is(at->value, VALUE_NULL)) {
        if (!at->schema->nullable && (type.n != 0 || at->schema->x_kubernetes_int_or_string)) {
            wrong_type(at, type.n != 0 ? type : STR("integer,string"), actual);
        }
        return false;
    }
    if (at->schema->x_kubernetes_int_or_string) {
        if (strcmp(actual, "string") != 0 && strcmp(actual, "integer") != 0) {
            wrong_type(at, STR("integer,string"), actual);
            return false;
        }
        return true;
    }
    if (type.n == 0 || str_is(type, actual) || (str_is(type, "number") && strcmp(actual, "integer") == 0)) {
        return true;
    }
    wrong_type(at, type, actual);
    if (str_is(type, "integer") && strcmp(actual, "number") == 0) {
        invalid_whole(at, arena_printf(at->arena, "Checked value must be of type integer (default format) in %.*s",
                                       STR_ARG(at->path)));
    }
    return false;
}

/* The findings of another schema about the same value. The caller frees them. */
static struct status *trial(const struct checked *at, custom_schema_ref schema)
{
    struct checked other = *at;

    other.schema = schema;
    other.causes = status_new(STATUS_INVALID, "%s", "");
    validate(&other);
    return other.causes;
}

static void take_causes(const struct checked *at, const struct status *from)
{
    for (size_t i = 0; i < from->cause_count; i++) {
        const struct status_cause *cause = &from->causes[i];

        status_add_cause(at->causes, cause->reason, cause->field, "%.*s", STR_ARG(cause->message));
    }
}

/* How many of the schemas accept the value; *ret_first is what the first of the others found. */
static size_t count_valid(const struct checked *at, custom_schema_ref schemas, size_t count, struct status **ret_first)
{
    size_t valid = 0;

    for (size_t i = 0; i < count; i++) {
        struct status *found = trial(at, &schemas[i]);

        valid += found->cause_count == 0;
        if (found->cause_count != 0 && *ret_first == NULL) {
            *ret_first = found;
        } else {
            status_free(found);
        }
    }
    return valid;
}

static void check_combined(const struct checked *at)
{
    custom_schema_ref schema = at->schema;
    struct str path = at->path;

    if (schema->any_of.len != 0) {
        OWNED(status_freep) struct status *first = NULL;

        if (count_valid(at, schema->any_of.items, schema->any_of.len, &first) == 0) {
            invalid_whole(at, arena_printf(at->arena, "\"%.*s\" must validate at least one schema (anyOf)", STR_ARG(path)));
            take_causes(at, first);
        }
    }
    if (schema->one_of.len != 0) {
        OWNED(status_freep) struct status *first = NULL;
        size_t valid = count_valid(at, schema->one_of.items, schema->one_of.len, &first);

        if (valid != 1) {
            struct str found = valid == 0 ? STR("Found none valid")
                                          : arena_printf(at->arena, "Found %zu valid alternatives", valid);

            invalid_whole(at, arena_printf(at->arena, "\"%.*s\" must validate one and only one schema (oneOf). %.*s",
                                           STR_ARG(path), STR_ARG(found)));
        }
        if (valid == 0) {
            take_causes(at, first);
        }
    }
    if (schema->all_of.len != 0) {
        OWNED(status_freep) struct status *first = NULL;
        size_t valid = count_valid(at, schema->all_of.items, schema->all_of.len, &first);

        if (first != NULL) {
            take_causes(at, first);
            invalid_whole(at, arena_printf(at->arena, "\"%.*s\" must validate all the schemas (allOf)%s", STR_ARG(path),
                                           valid == 0 ? ". None validated" : ""));
        }
    }
    if (schema->not != NULL) {
        struct status *found = trial(at, schema->not);

        if (found->cause_count == 0) {
            invalid_whole(at, arena_printf(at->arena, "\"%.*s\" must not validate the schema (not)", STR_ARG(path)));
        }
        status_free(found);
    }
}

static int64_t count_characters(struct str text)
{
    int64_t count = 0;

    for (size_t i = 0; i < text.n; i++) {
        count += ((unsigned char)text.p[i] & 0xc0) != 0x80;
    }
    return count;
}

static void check_pattern(const struct checked *at)
{
    struct regex *regex;
    struct str pattern = at->schema->pattern;
    struct status *status = regex_new(pattern, &regex);

    if (status != NULL) {
        invalid_whole(at, arena_printf(at->arena, "%.*s in body should match '%.*s', but pattern is invalid: %.*s",
                                       STR_ARG(at->path), STR_ARG(pattern), STR_ARG(status->message)));
        status_free(status);
        return;
    }
    if (!regex_matches(regex, at->value->string)) {
        invalid(at, value_json(at->arena, at->value),
                arena_printf(at->arena, "should match '%.*s'", STR_ARG(pattern)));
    }
    regex_free(regex);
}

static void check_string(const struct checked *at)
{
    custom_schema_ref schema = at->schema;
    int64_t length;

    if (!value_is(at->value, VALUE_STRING)) {
        return;
    }
    length = count_characters(at->value->string);
    if (schema->max_length != NULL && length > *schema->max_length) {
        status_add_cause(at->causes, STR("FieldValueTooLong"), at->path, "Too long: may not be more than %lld bytes",
                         (long long)*schema->max_length);
    }
    if (schema->min_length != NULL && length < *schema->min_length) {
        invalid(at, value_json(at->arena, at->value),
                arena_printf(at->arena, "should be at least %lld chars long", (long long)*schema->min_length));
    }
    if (schema->pattern.n != 0) {
        check_pattern(at);
    }
    if (schema->format.n != 0 && !custom_format_matches(schema->format, at->value->string)) {
        struct str text = value_json(at->arena, at->value);

        status_add_cause(at->causes, STR("FieldValueTypeInvalid"), at->path,
                         "Invalid value: %.*s: %.*s in body must be of type %.*s: %.*s", STR_ARG(text), STR_ARG(at->path),
                         STR_ARG(schema->format), STR_ARG(text));
    }
}

static struct str number_text(struct arena *arena, double number)
{
    struct value value = {.type = VALUE_DOUBLE, .number = number};

    if (floor(number) == number && fabs(number) < 1e15) {
        return arena_printf(arena, "%lld", (long long)number);
    }
    return value_json(arena, &value);
}

static void check_number(const struct checked *at)
{
    custom_schema_ref schema = at->schema;

    if (!value_is(at->value, VALUE_INT) && !value_is(at->value, VALUE_DOUBLE)) {
        return;
    }
    double number = value_is(at->value, VALUE_INT) ? (double)at->value->integer : at->value->number;
    struct str text = value_json(at->arena, at->value);

    if (schema->multiple_of != NULL) {
        double times = number / *schema->multiple_of;

        if (*schema->multiple_of <= 0 || floor(times) != times) {
            invalid(at, text,
                    arena_printf(at->arena, "should be a multiple of %.*s",
                                 STR_ARG(number_text(at->arena, *schema->multiple_of))));
        }
    }
    if (schema->maximum != NULL &&
        (number > *schema->maximum || (schema->exclusive_maximum && number >= *schema->maximum))) {
        invalid(at, text,
                arena_printf(at->arena, "should be less than %s%.*s", schema->exclusive_maximum ? "" : "or equal to ",
                             STR_ARG(number_text(at->arena, *schema->maximum))));
    }
    if (schema->minimum != NULL &&
        (number < *schema->minimum || (schema->exclusive_minimum && number <= *schema->minimum))) {
        invalid(at, text,
                arena_printf(at->arena, "should be greater than %s%.*s", schema->exclusive_minimum ? "" : "or equal to ",
                             STR_ARG(number_text(at->arena, *schema->minimum))));
    }
}

static void too_many(const struct checked *at, size_t count, int64_t max)
{
    status_add_cause(at->causes, STR("FieldValueTooMany"), at->path, "Too many: %zu: must have at most %lld item%s", count,
                     (long long)max, max == 1 ? "" : "s");
}

static const struct value *list_key(const struct checked *at, const struct value *item)
{
    struct value *key = value_object(at->arena);

    LIST_EACH(name, &at->schema->x_kubernetes_list_map_keys) {
        struct value *part = value_find(item, *name);

        if (part != NULL) {
            value_set(at->arena, key, *name, part);
        }
    }
    return key;
}

static bool is_list_type(custom_schema_ref schema, const char *type)
{
    return schema->x_kubernetes_list_type != NULL && str_is(*schema->x_kubernetes_list_type, type);
}

/* The old element that is the same one by its keys; NULL when that can't be told. */
static const struct value *old_item(const struct checked *at, const struct value *item)
{
    if (!is_list_type(at->schema, "map") || !value_is(at->old, VALUE_ARRAY)) {
        return NULL;
    }
    const struct value *key = list_key(at, item);

    VALUE_EACH_ITEM(old, at->old)
    {
        if (value_equal(list_key(at, *old), key)) {
            return *old;
        }
    }
    return NULL;
}

static bool has_duplicates(const struct checked *at)
{
    struct map seen = {0};
    bool found = false;

    VALUE_EACH_ITEM(item, at->value)
    {
        found |= map_set(&seen, value_json(at->arena, *item), *item) != NULL;
    }
    map_done(&seen);
    return found;
}

static void check_array(const struct checked *at)
{
    custom_schema_ref schema = at->schema, items = custom_schema_items(schema);
    size_t count = value_count(at->value), i = 0;

    if (!value_is(at->value, VALUE_ARRAY)) {
        return;
    }
    VALUE_EACH_ITEM(item, at->value)
    {
        struct checked below = {.schema = items,
                                .value = *item,
                                .old = old_item(at, *item),
                                .path = arena_printf(at->arena, "%.*s[%zu]", STR_ARG(at->path), i++),
                                .causes = at->causes,
                                .arena = at->arena};

        if (items != NULL) {
            validate(&below);
        }
    }
    if (schema->min_items != NULL && (int64_t)count < *schema->min_items) {
        invalid(at, arena_printf(at->arena, "%zu", count),
                arena_printf(at->arena, "should have at least %lld items", (long long)*schema->min_items));
    }
    if (schema->max_items != NULL && (int64_t)count > *schema->max_items) {
        too_many(at, count, *schema->max_items);
    }
    if (schema->unique_items && has_duplicates(at)) {
        invalid(at, STR("\"\""), STR("shouldn't contain duplicates"));
    }
}

static void check_enum(const struct checked *at)
{
    OWNED(buf_done) struct buf supported = {0};

    if (at->schema->enum_.len == 0) {
        return;
    }
    LIST_EACH(text, &at->schema->enum_) {
        struct value *wanted = NULL;

        status_free(value_read_json(at->arena, text->json, &wanted, NULL)); /* it has been read before */
        if (wanted != NULL && value_equal(wanted, at->value)) {
            return;
        }
        struct value quoted = {.type = VALUE_STRING, .string = text->json};
        struct str shown = value_is(wanted, VALUE_STRING) ? text->json : value_json(at->arena, &quoted);

        buf_printf(&supported, "%s%.*s", supported.n == 0 ? "" : ", ", STR_ARG(shown));
    }
    status_add_cause(at->causes, STR("FieldValueNotSupported"), at->path,
                     "Unsupported value: %.*s: supported values: %.*s", STR_ARG(value_json(at->arena, at->value)),
                     STR_ARG(buf_str(&supported)));
}

static struct str member_path(const struct checked *at, struct str name)
{
    return at->path.n == 0 ? name : arena_printf(at->arena, "%.*s.%.*s", STR_ARG(at->path), STR_ARG(name));
}

static void check_object(const struct checked *at)
{
    custom_schema_ref schema = at->schema, additional = custom_schema_additional(schema);
    size_t count = value_count(at->value);

    if (!value_is(at->value, VALUE_OBJECT)) {
        return;
    }
    if (schema->min_properties != NULL && (int64_t)count < *schema->min_properties) {
        invalid(at, arena_printf(at->arena, "%zu", count),
                arena_printf(at->arena, "should have at least %lld properties", (long long)*schema->min_properties));
    }
    if (schema->max_properties != NULL && (int64_t)count > *schema->max_properties) {
        too_many(at, count, *schema->max_properties);
    }
    struct str *keys = value_sorted_keys(at->arena, at->value);

    for (size_t i = 0; i < count; i++) {
        custom_schema_ref property = custom_schema_property(schema, keys[i]);
        struct checked below = {.schema = property != NULL ? property : additional,
                                .value = value_find(at->value, keys[i]),
                                .old = value_find(at->old, keys[i]),
                                .path = member_path(at, keys[i]),
                                .causes = at->causes,
                                .arena = at->arena};

        if (below.schema != NULL) {
            validate(&below);
        }
    }
    LIST_EACH(name, &schema->required) {
        if (value_find(at->value, *name) == NULL) {
            status_add_cause(at->causes, STR("FieldValueRequired"), member_path(at, *name), "Required value");
        }
    }
}

static void validate(const struct checked *at)
{
    if (at->old != NULL && value_equal(at->old, at->value)) {
        return; /* what was there may stay, whatever the schema says by now */
    }
    if (value_is(at->value, VALUE_NULL)) {
        check_type(at);
        if (!at->schema->nullable) {
            check_enum(at);
        }
        return;
    }
    check_type(at);
    check_combined(at);
    check_string(at);
    check_number(at);
    check_array(at);
    check_enum(at);
    check_object(at);
}

void custom_schema_validate(custom_schema_ref schema, const struct value *value, const struct value *old,
                            struct str path, struct status *causes)
{
    struct arena *arena = arena_new();
    struct checked at = {schema, value, old, path, causes, arena};

    validate(&at);
    arena_free(arena);
}

static void check_unique(const struct checked *at)
{
    bool is_map = is_list_type(at->schema, "map");
    struct map seen = {0};
    size_t i = 0;

    VALUE_EACH_ITEM(item, at->value)
    {
        struct str key = value_json(at->arena, is_map ? list_key(at, *item) : *item);

        if (map_set(&seen, key, *item) != NULL) {
            status_add_cause(at->causes, STR("FieldValueDuplicate"),
                             arena_printf(at->arena, "%.*s[%zu]", STR_ARG(at->path), i), "Duplicate value: %.*s",
                             STR_ARG(key));
        }
        i++;
    }
    map_done(&seen);
}

static void check_embedded(const struct checked *at)
{
    static const char *const names[] = {"apiVersion", "kind"};

    for (size_t i = 0; i < COUNT_OF(names) && at->path.n != 0; i++) {
        if (value_str(value_find(at->value, str_of(names[i]))).n == 0) {
            status_add_cause(at->causes, STR("FieldValueRequired"), member_path(at, str_of(names[i])),
                             "Required value: must not be empty");
        }
    }
}

static void check_lists(const struct checked *at)
{
    custom_schema_ref items = custom_schema_items(at->schema);
    size_t i = 0;

    if (at->old != NULL && value_equal(at->old, at->value)) {
        return;
    }
    if (value_is(at->value, VALUE_ARRAY) && (is_list_type(at->schema, "set") || is_list_type(at->schema, "map"))) {
        check_unique(at);
    }
    if (at->schema->x_kubernetes_embedded_resource && value_is(at->value, VALUE_OBJECT)) {
        check_embedded(at);
    }
    VALUE_EACH_ITEM(item, at->value)
    {
        struct checked below = {items, *item, old_item(at, *item),
                                arena_printf(at->arena, "%.*s[%zu]", STR_ARG(at->path), i++), at->causes, at->arena};

        if (items != NULL) {
            check_lists(&below);
        }
    }
    VALUE_EACH_MEMBER(member, at->value)
    {
        custom_schema_ref property = custom_schema_property(at->schema, member->key);
        struct checked below = {property != NULL ? property : custom_schema_additional(at->schema), member->value,
                                value_find(at->old, member->key), member_path(at, member->key), at->causes, at->arena};

        if (below.schema != NULL) {
            check_lists(&below);
        }
    }
}

void custom_schema_validate_lists(custom_schema_ref schema, const struct value *value, const struct value *old,
                                  struct str path, struct status *causes)
{
    struct arena *arena = arena_new();
    struct checked at = {schema, value, old, path, causes, arena};

    check_lists(&at);
    arena_free(arena);
}
