#include "schema/copy.h"

#include "schema/int_or_string.h"
#include "schema/quantity.h"
#include "schema/timestamp.h"

#include <string.h>

/* How deep a copy goes: with text it stands alone, else text stays borrowed. */
struct copier {
    struct arena *arena;
    bool with_text;
};

static void copy_members(const struct copier *copier, const struct type *type, void *object);

static void copy_text(const struct copier *copier, struct str *text)
{
    if (copier->with_text && text->p != NULL) {
        *text = text->n != 0 ? arena_str(copier->arena, *text) : STR("");
    }
}

/* A list in the arena is grown by LIST_ADD, which takes its room for the next power of two: so for copies too. */
static size_t room_for(size_t len)
{
    size_t room = 1;

    while (room < len) {
        room *= 2;
    }
    return len == 0 ? 0 : room;
}

static void copy_strings(const struct copier *copier, struct str_list *list)
{
    if (list->items == NULL) {
        return;
    }
    struct str *items = ARENA_ARRAY(copier->arena, struct str, room_for(list->len));

    memcpy(items, list->items, list->len * sizeof(*items));
    list->items = items;
    for (size_t i = 0; i < list->len; i++) {
        copy_text(copier, &items[i]);
    }
}

/* One T at its place, which holds the bits of the original. */
static void copy_item(const struct copier *copier, const struct field *field, void *place)
{
    switch ((enum type_kind)field->kind) {
    case TYPE_STRING:
    case TYPE_BYTES:
    case TYPE_QUANTITY:
    case TYPE_RAW:
        copy_text(copier, place);
        return;
    case TYPE_INT_OR_STRING:
        copy_text(copier, &((struct int_or_string *)place)->text);
        return;
    case TYPE_STRINGS:
        copy_strings(copier, place);
        return;
    case TYPE_STRUCT:
        copy_members(copier, field->type, place);
        return;
    default:
        return;
    }
}

static void copy_many(const struct copier *copier, const struct field *field, struct any_list *list, bool is_map)
{
    size_t size = is_map ? field_entry_size(field) : field_item_size(field);

    if (list->items == NULL) {
        return;
    }
    char *items = arena_array(copier->arena, is_map ? list->len : room_for(list->len), size);

    memcpy(items, list->items, list->len * size);
    list->items = items;
    for (size_t i = 0; i < list->len; i++) {
        char *item = items + i * size;

        if (is_map) {
            copy_text(copier, (struct str *)item);
            item += sizeof(struct str);
        }
        copy_item(copier, field, item);
    }
}

static void copy_members(const struct copier *copier, const struct type *type, void *object)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];
        char *place = (char *)object + field->offset;

        switch ((enum field_shape)field->shape) {
        case SHAPE_PLAIN:
            copy_item(copier, field, place);
            break;
        case SHAPE_POINTER: {
            void **pointer = (void **)place;

            if (*pointer != NULL) {
                size_t size = field_item_size(field);
                void *item = arena_alloc(copier->arena, size);

                memcpy(item, *pointer, size);
                *pointer = item;
                copy_item(copier, field, item);
            }
            break;
        }
        case SHAPE_LIST:
        case SHAPE_MAP:
            copy_many(copier, field, (struct any_list *)place, field->shape == SHAPE_MAP);
            break;
        }
    }
}

static void *copy(struct arena *arena, const struct type *type, const void *object, bool with_text)
{
    const struct copier copier = {arena, with_text};
    void *made = arena_alloc(arena, type->size);

    memcpy(made, object, type->size);
    copy_members(&copier, type, made);
    return made;
}

void *schema_copy(struct arena *arena, const struct type *type, const void *object)
{
    return copy(arena, type, object, true);
}

void *schema_copy_shallow(struct arena *arena, const struct type *type, const void *object)
{
    return copy(arena, type, object, false);
}

void schema_own(struct arena *arena, const struct type *type, void *object)
{
    const struct copier copier = {arena, true};

    copy_members(&copier, type, object);
}

static bool strings_equal(const struct str_list *a, const struct str_list *b)
{
    if (a->len != b->len) {
        return false;
    }
    for (size_t i = 0; i < a->len; i++) {
        if (!str_eq(a->items[i], b->items[i])) {
            return false;
        }
    }
    return true;
}

static bool item_equal(const struct field *field, const void *a, const void *b)
{
    switch ((enum type_kind)field->kind) {
    case TYPE_STRING:
    case TYPE_BYTES:
    case TYPE_RAW:
        return str_eq(*(const struct str *)a, *(const struct str *)b);
    case TYPE_QUANTITY: {
        const struct quantity *left = a, *right = b;

        return str_eq(left->text, right->text) || quantity_cmp(*left, *right) == 0;
    }
    case TYPE_TIME:
    case TYPE_MICRO_TIME:
        return timestamp_cmp(*(const struct timestamp *)a, *(const struct timestamp *)b) == 0;
    case TYPE_INT_OR_STRING:
        return int_or_string_equal(a, b);
    case TYPE_STRINGS:
        return strings_equal(a, b);
    case TYPE_STRUCT:
        return schema_equal(field->type, a, b);
    case TYPE_DOUBLE:
        return *(const double *)a == *(const double *)b;
    default:
        return memcmp(a, b, field_item_size(field)) == 0;
    }
}

static bool many_equal(const struct field *field, const struct any_list *a, const struct any_list *b, bool is_map)
{
    size_t size = is_map ? field_entry_size(field) : field_item_size(field);

    if (a->len != b->len) {
        return false;
    }
    for (size_t i = 0; i < a->len; i++) {
        const char *left = (const char *)a->items + i * size, *right = (const char *)b->items + i * size;

        if (is_map) {
            if (!str_eq(*(const struct str *)left, *(const struct str *)right)) {
                return false;
            }
            left += sizeof(struct str);
            right += sizeof(struct str);
        }
        if (!item_equal(field, left, right)) {
            return false;
        }
    }
    return true;
}

bool schema_field_equal(const struct field *field, const void *a, const void *b)
{
    switch ((enum field_shape)field->shape) {
    case SHAPE_PLAIN:
        return item_equal(field, a, b);
    case SHAPE_POINTER: {
        const void *left = *(void *const *)a, *right = *(void *const *)b;

        return left == right || (left != NULL && right != NULL && item_equal(field, left, right));
    }
    case SHAPE_LIST:
    case SHAPE_MAP:
        return many_equal(field, a, b, field->shape == SHAPE_MAP);
    }
    return false;
}

bool schema_equal(const struct type *type, const void *a, const void *b)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];

        if (!schema_field_equal(field, (const char *)a + field->offset, (const char *)b + field->offset)) {
            return false;
        }
    }
    return true;
}

static bool item_is_zero(const struct field *field, const void *place)
{
    switch ((enum type_kind)field->kind) {
    case TYPE_STRING:
    case TYPE_BYTES:
    case TYPE_QUANTITY:
    case TYPE_RAW:
        return ((const struct str *)place)->n == 0;
    case TYPE_TIME:
    case TYPE_MICRO_TIME:
        return !((const struct timestamp *)place)->is_set;
    case TYPE_INT_OR_STRING: {
        const struct int_or_string *value = place;

        return !value->is_string && value->number == 0;
    }
    case TYPE_STRINGS:
        return ((const struct str_list *)place)->items == NULL;
    case TYPE_STRUCT:
        return schema_is_zero(field->type, place);
    case TYPE_DOUBLE:
        return *(const double *)place == 0;
    case TYPE_BOOL:
        return !*(const bool *)place;
    case TYPE_INT32:
    case TYPE_UINT32:
        return *(const uint32_t *)place == 0;
    default:
        return *(const uint64_t *)place == 0;
    }
}

bool schema_field_is_zero(const struct field *field, const void *place)
{
    if (field->shape == SHAPE_PLAIN) {
        return item_is_zero(field, place);
    }
    return *(void *const *)place == NULL; /* a pointer, or the items of a list or map */
}

bool schema_is_zero(const struct type *type, const void *object)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (!schema_field_is_zero(&type->fields[i], (const char *)object + type->fields[i].offset)) {
            return false;
        }
    }
    return true;
}
