#include "schema/field_typed.h"

#include "base/attr.h"
#include "schema/field_rule.h"
#include "schema/go_value.h"

enum { PROBLEMS_MAX = 100 };

/* Findings so far. */
struct typed_check {
    struct arena *arena;
    struct buf text;
    size_t count;
};

static void problem(struct typed_check *check, struct str path, const char *format, ...) PRINTF_LIKE(3, 4);
static void problem(struct typed_check *check, struct str path, const char *format, ...)
{
    va_list args;

    if (check->count++ >= PROBLEMS_MAX) {
        return;
    }
    va_start(args, format);
    struct str what = arena_vprintf(check->arena, format, args);

    va_end(args);
    buf_printf(&check->text, "\n  %.*s: %.*s", STR_ARG(path), STR_ARG(what));
}

/* What structured merge's wrapper of a value looks like when Go prints it. */
static void unexpected(struct typed_check *check, struct str path, const char *wanted, const struct value *value)
{
    struct str text = go_value_text(check->arena, value);

    problem(check, path, "expected %s, got &{%.*s}", wanted, STR_ARG(text));
}

static void check_struct(struct typed_check *check, const struct type *type, const struct value *value, struct str path);

static void check_item(struct typed_check *check, const struct field *field, const struct value *value, struct str path)
{
    if (value_is(value, VALUE_NULL)) {
        return;
    }
    switch (field->kind) {
    case TYPE_BOOL:
        if (!value_is(value, VALUE_BOOL)) {
            unexpected(check, path, "boolean", value);
        }
        break;
    case TYPE_INT32:
    case TYPE_INT64:
    case TYPE_UINT32:
    case TYPE_UINT64:
    case TYPE_DOUBLE:
        if (!value_is(value, VALUE_INT) && !value_is(value, VALUE_DOUBLE)) {
            problem(check, path, "expected numeric (int or float), got %s", go_value_type(value));
        }
        break;
    case TYPE_STRING:
    case TYPE_BYTES:
    case TYPE_TIME:
    case TYPE_MICRO_TIME:
    case TYPE_DURATION:
        if (!value_is(value, VALUE_STRING)) {
            struct str text = go_value_syntax(check->arena, value);

            problem(check, path, "expected string, got &value.valueUnstructured{Value:%.*s}", STR_ARG(text));
        }
        break;
    case TYPE_STRUCT:
        check_struct(check, field->type, value, path);
        break;
    default: /* of several shapes */
        break;
    }
}

/* [name="a"], ["x"], [0]: as the path element of structured merge prints; empty when the element cannot have one. */
static struct str element_text(struct typed_check *check, const struct field *field, const struct value *item, size_t i,
                               struct str path)
{
    const struct field_rules *rules = field->rules;
    OWNED(buf_done) struct buf out = {0};

    if (rules == NULL || (rules->list_type != LIST_MAP && rules->list_type != LIST_SET)) {
        return arena_printf(check->arena, "[%zu]", i);
    }
    if (rules->list_type == LIST_SET) {
        struct str text = value_json(check->arena, item);

        return arena_printf(check->arena, "[=%.*s]", STR_ARG(text));
    }
    if (!value_is(item, VALUE_OBJECT)) {
        problem(check, path, "element %zu: associative list with keys may not have %s", i,
                value_is(item, VALUE_NULL) ? "a null element" : "non-map elements");
        return (struct str){0};
    }
    for (size_t k = 0; k < rules->key_count; k++) {
        const struct value *value = value_find(item, rules->keys[k]);
        const struct field *key = type_field(field->type, rules->keys[k]);
        struct str text = value != NULL && !value_is(value, VALUE_NULL) ? value_json(check->arena, value)
                          : key != NULL && key->rules != NULL          ? key->rules->default_value
                                                                       : (struct str){0};

        if (text.n == 0) {
            problem(check, path,
                    "element %zu: associative list with keys has an element that omits key field \"%.*s\" (and doesn't "
                    "have default value)",
                    i, STR_ARG(rules->keys[k]));
            return (struct str){0};
        }
        buf_printf(&out, "%s%.*s=%.*s", k == 0 ? "[" : ",", STR_ARG(rules->keys[k]), STR_ARG(text));
    }
    buf_add_char(&out, ']');
    return arena_str(check->arena, buf_str(&out));
}

static void check_list(struct typed_check *check, const struct field *field, const struct value *list, struct str path)
{
    bool is_keyed = field->rules != NULL &&
                    (field->rules->list_type == LIST_MAP || field->rules->list_type == LIST_SET);
    OWNED(map_done) struct map seen = {0};
    size_t i = 0;

    VALUE_EACH_ITEM(item, list)
    {
        struct str element = element_text(check, field, *item, i++, path);

        if (element.n == 0) {
            return;
        }
        if (is_keyed && map_find(&seen, element) != NULL) {
            problem(check, path, "duplicate entries for key %.*s", STR_ARG(element));
        }
        map_set(&seen, element, *item);
        check_item(check, field, *item,
                   arena_printf(check->arena, "%.*s%.*s", STR_ARG(path), STR_ARG(element)));
    }
}

static void check_field(struct typed_check *check, const struct field *field, const struct value *value, struct str path)
{
    if (field->kind == TYPE_RAW && field->type != NULL) {
        field = &field->type->fields[0];
    }
    if (value_is(value, VALUE_NULL)) {
        return;
    }
    if (field->shape == SHAPE_LIST || field->kind == TYPE_STRINGS) {
        if (value_is(value, VALUE_ARRAY)) {
            check_list(check, field, value, path);
        } else {
            unexpected(check, path, "list", value);
        }
    } else if (field->shape == SHAPE_MAP) {
        if (!value_is(value, VALUE_OBJECT)) {
            unexpected(check, path, "map", value);
        }
        VALUE_EACH_MEMBER(member, value)
        {
            check_item(check, field, member->value,
                       arena_printf(check->arena, "%.*s.%.*s", STR_ARG(path), STR_ARG(member->key)));
        }
    } else {
        check_item(check, field, value, path);
    }
}

static void check_struct(struct typed_check *check, const struct type *type, const struct value *value, struct str path)
{
    if (type == NULL || (type->flags & TYPE_UNION) != 0) {
        return;
    }
    if (!value_is(value, VALUE_OBJECT) && type->rest != NULL) {
        return; /* what may be anything */
    }
    if (!value_is(value, VALUE_OBJECT)) {
        unexpected(check, path, "map", value);
        return;
    }
    VALUE_EACH_MEMBER(member, value)
    {
        const struct field *named = type_field(type, member->key), *field = named != NULL ? named : type->rest;
        struct str here = arena_printf(check->arena, "%.*s.%.*s", STR_ARG(path), STR_ARG(member->key));

        if (field == NULL) {
            problem(check, here, "field not declared in schema");
        } else {
            check_field(check, field, member->value, here);
        }
    }
}

struct status *field_typed_check(struct arena *arena, const struct type *type, const struct value *value)
{
    struct typed_check check = {.arena = arena};
    struct status *status = NULL;

    check_struct(&check, type, value, STR(""));
    if (check.count != 0) {
        struct str text = buf_str(&check.text);

        status = check.count == 1 ? status_new(STATUS_INVALID, "%.*s", STR_ARG(str_from(text, 3)))
                                  : status_new(STATUS_INVALID, "errors:%.*s", STR_ARG(text));
    }
    buf_done(&check.text);
    return status;
}
