#include "kubelet/status_patch.h"

#include "schema/copy.h"
#include "schema/json.h"
#include "schema/json_lexer.h"

static void begin_member(struct buf *out, const char *prefix, struct str name, bool *first)
{
    if (!*first) {
        buf_add_char(out, ',');
    }
    *first = false;
    buf_printf(out, "\"%s%.*s\":", prefix, STR_ARG(name));
}

/* The key by which items of a list are told apart; NULL when the list is replaced as a whole. */
static const struct type_member *merge_key(const struct field *field)
{
    if (field->shape != SHAPE_LIST || field->kind != TYPE_STRUCT || field->rules == NULL ||
        !str_contains(field->rules->patch_strategy, STR("merge")) || field->rules->patch_merge_key.n == 0) {
        return NULL;
    }
    const struct type_member *key = type_member(field->type, field->rules->patch_merge_key);

    return key != NULL && key->field->kind == TYPE_STRING && key->field->shape == SHAPE_PLAIN ? key : NULL;
}

static const void *item_at(const struct field *field, const struct any_list *list, size_t i)
{
    return (const char *)list->items + i * field->type->size;
}

static struct str key_of(const struct type_member *key, const void *item)
{
    return *(const struct str *)(const void *)((const char *)item + key->offset);
}

static const void *find_item(const struct field *field, const struct type_member *key, const struct any_list *list,
                             struct str wanted)
{
    for (size_t i = 0; i < list->len; i++) {
        if (str_eq(key_of(key, item_at(field, list, i)), wanted)) {
            return item_at(field, list, i);
        }
    }
    return NULL;
}

static void write_key(const struct type_member *key, struct str value, struct buf *out)
{
    buf_printf(out, "\"%.*s\":", STR_ARG(key->field->name));
    json_add_string(out, value);
}

static bool diff_members(const struct type *type, const void *old, const void *new, bool first, struct buf *out);

/* The items that are new or changed, then the deletions. */
static void diff_items(const struct field *field, const struct type_member *key, const struct any_list *old,
                       const struct any_list *new, struct buf *out)
{
    bool first = true;

    buf_add_char(out, '[');
    for (size_t i = 0; i < new->len; i++) {
        const void *item = item_at(field, new, i);
        const void *before = find_item(field, key, old, key_of(key, item));

        if (before != NULL && schema_equal(field->type, before, item)) {
            continue;
        }
        buf_add_str(out, first ? STR("") : STR(","));
        first = false;
        if (before == NULL) {
            json_encode(field->type, item, out);
        } else {
            buf_add_char(out, '{');
            write_key(key, key_of(key, item), out);
            diff_members(field->type, before, item, false, out);
            buf_add_char(out, '}');
        }
    }
    for (size_t i = 0; i < old->len; i++) {
        struct str gone = key_of(key, item_at(field, old, i));

        if (find_item(field, key, new, gone) == NULL) {
            buf_add_str(out, first ? STR("") : STR(","));
            first = false;
            buf_add_str(out, STR("{\"$patch\":\"delete\","));
            write_key(key, gone, out);
            buf_add_char(out, '}');
        }
    }
    buf_add_char(out, ']');
}

static void write_order(const struct field *field, const struct type_member *key, const struct any_list *list,
                        struct buf *out)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < list->len; i++) {
        buf_add_str(out, i > 0 ? STR(",{") : STR("{"));
        write_key(key, key_of(key, item_at(field, list, i)), out);
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
}

/* A struct on both sides, which is patched member by member; NULL otherwise. */
static const void *struct_at(const struct field *field, const void *place)
{
    if (field->kind != TYPE_STRUCT || (field->type->flags & TYPE_UNION) != 0 ||
        (field->rules != NULL && str_contains(field->rules->patch_strategy, STR("replace")))) {
        return NULL;
    }
    return field->shape == SHAPE_PLAIN ? place : field->shape == SHAPE_POINTER ? *(void *const *)place : NULL;
}

static bool is_left_out(const struct field *field, const void *place)
{
    bool is_plain_struct = field->kind == TYPE_STRUCT && field->shape == SHAPE_PLAIN;

    return field->presence != PRESENCE_ALWAYS && schema_field_is_zero(field, place) &&
           !(is_plain_struct && field->presence == PRESENCE_OMITEMPTY);
}

static void diff_field(const struct field *field, const void *old, const void *new, struct buf *out, bool *first)
{
    const struct type_member *key = merge_key(field);
    const void *old_struct = struct_at(field, old), *new_struct = struct_at(field, new);

    if (is_left_out(field, new)) {
        begin_member(out, "", field->name, first);
        buf_add_str(out, STR("null"));
    } else if (key != NULL) {
        begin_member(out, "$setElementOrder/", field->name, first);
        write_order(field, key, new, out);
        begin_member(out, "", field->name, first);
        diff_items(field, key, old, new, out);
    } else if (old_struct != NULL && new_struct != NULL) {
        begin_member(out, "", field->name, first);
        buf_add_char(out, '{');
        diff_members(field->type, old_struct, new_struct, true, out);
        buf_add_char(out, '}');
    } else {
        begin_member(out, "", field->name, first);
        json_encode_field(field, new, out);
    }
}

/* Appends the members that differ, each with a comma before it but the first. True when there is any. */
static bool diff_members(const struct type *type, const void *old, const void *new, bool first, struct buf *out)
{
    bool any = false;

    for (size_t i = 0; i < type->member_count; i++) {
        const struct type_member *member = &type->members[i];
        const void *before = (const char *)old + member->offset, *after = (const char *)new + member->offset;

        if (!schema_field_equal(member->field, before, after)) {
            diff_field(member->field, before, after, out, &first);
            any = true;
        }
    }
    return any;
}

bool status_patch(const struct type *type, const void *old, const void *new, struct buf *out)
{
    buf_add_char(out, '{');
    bool any = diff_members(type, old, new, true, out);

    buf_add_char(out, '}');
    return any;
}
