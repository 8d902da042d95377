#include "schema/type.h"

/* The same hash is in tools/schemac.py. */
static inline uint32_t name_hash(struct str name)
{
    if (name.n == 0) {
        return 0;
    }
    const unsigned char *p = (const unsigned char *)name.p;
    uint32_t mixed = p[0] | (uint32_t)p[name.n / 2] << 8 | (uint32_t)p[name.n - 1] << 16 | (uint32_t)name.n << 24;

    return mixed * UINT32_C(0x9e3779b1) >> 15;
}

const struct type_member *type_member(const struct type *type, struct str name)
{
    if (type->member_count == 0) {
        return NULL;
    }
    for (uint32_t at = name_hash(name) & type->slot_mask;; at = (at + 1) & type->slot_mask) {
        if (type->slots[at] == 0) {
            return NULL;
        }
        const struct type_member *member = &type->members[type->slots[at] - 1];

        if (str_eq(member->field->name, name)) {
            return member;
        }
    }
}

const struct field *type_field(const struct type *type, struct str name)
{
    const struct type_member *member = type_member(type, name);

    return member != NULL ? member->field : NULL;
}

static size_t count_members(const struct type *type)
{
    size_t count = 0;

    for (size_t i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];

        count += field->name.n != 0 ? 1 : field->kind == TYPE_STRUCT ? field->type->member_count : 0;
    }
    return count;
}

static void fill_members(struct arena *arena, struct type *type)
{
    struct type_member *members = ARENA_ARRAY(arena, struct type_member, count_members(type));
    size_t count = 0;

    for (size_t i = 0; i < type->field_count && (type->flags & TYPE_UNION) == 0; i++) {
        const struct field *field = &type->fields[i];

        if (field->name.n != 0) {
            members[count++] = (struct type_member){field, field->offset};
            continue;
        }
        for (size_t j = 0; field->kind == TYPE_STRUCT && j < field->type->member_count; j++) {
            const struct type_member *inner = &field->type->members[j];

            members[count++] = (struct type_member){inner->field, field->offset + inner->offset};
        }
    }
    type->members = members;
    type->member_count = (uint16_t)count;
}

static void fill_slots(struct arena *arena, struct type *type)
{
    size_t size = 2;

    while (size < 2 * (size_t)type->member_count) {
        size *= 2;
    }
    uint16_t *slots = ARENA_ARRAY(arena, uint16_t, size);

    for (size_t i = 0; i < type->member_count; i++) {
        size_t at = name_hash(type->members[i].field->name) & (size - 1);

        while (slots[at] != 0) {
            at = (at + 1) & (size - 1);
        }
        slots[at] = (uint16_t)(i + 1);
    }
    type->slots = slots;
    type->slot_mask = (uint16_t)(size - 1);
}

void type_seal(struct arena *arena, struct type *type)
{
    uint16_t *numbered = ARENA_ARRAY(arena, uint16_t, type->field_count);
    size_t count = 0;

    fill_members(arena, type);
    fill_slots(arena, type);
    for (size_t i = 0; i < type->field_count; i++) {
        if (type->fields[i].number == 0) {
            continue;
        }
        size_t at = count++;

        for (; at > 0 && type->fields[numbered[at - 1]].number > type->fields[i].number; at--) {
            numbered[at] = numbered[at - 1];
        }
        numbered[at] = (uint16_t)i;
    }
    type->by_number = numbered;
    type->numbered_count = (uint16_t)count;
}

size_t field_item_size(const struct field *field)
{
    static const uint8_t sizes[TYPE_KIND_COUNT] = {
        [TYPE_BOOL] = sizeof(bool),
        [TYPE_INT32] = sizeof(int32_t),
        [TYPE_INT64] = sizeof(int64_t),
        [TYPE_UINT32] = sizeof(uint32_t),
        [TYPE_UINT64] = sizeof(uint64_t),
        [TYPE_DOUBLE] = sizeof(double),
        [TYPE_STRING] = sizeof(struct str),
        [TYPE_BYTES] = sizeof(struct str),
        [TYPE_QUANTITY] = sizeof(struct quantity),
        [TYPE_TIME] = sizeof(struct timestamp),
        [TYPE_MICRO_TIME] = sizeof(struct timestamp),
        [TYPE_DURATION] = sizeof(int64_t),
        [TYPE_INT_OR_STRING] = sizeof(struct int_or_string),
        [TYPE_RAW] = sizeof(struct raw_json),
        [TYPE_STRINGS] = sizeof(struct str_list),
    };

    return field->kind == TYPE_STRUCT ? field->type->size : sizes[field->kind];
}

size_t field_entry_size(const struct field *field)
{
    size_t size = sizeof(struct str) + field_item_size(field);

    return (size + 7) / 8 * 8;
}

size_t field_size(const struct field *field)
{
    switch ((enum field_shape)field->shape) {
    case SHAPE_POINTER:
        return sizeof(void *);
    case SHAPE_LIST:
    case SHAPE_MAP:
        return sizeof(struct any_list);
    case SHAPE_PLAIN:
        break;
    }
    return field_item_size(field);
}

const struct subresource *kind_subresource(const struct kind *kind, struct str name)
{
    for (size_t i = 0; i < kind->subresource_count; i++) {
        if (str_eq(kind->subresources[i].name, name)) {
            return &kind->subresources[i];
        }
    }
    return NULL;
}

static const struct str verb_names[] = {STR_INIT("get"),    STR_INIT("list"),  STR_INIT("watch"),  STR_INIT("create"),
                                        STR_INIT("update"), STR_INIT("patch"), STR_INIT("delete"), STR_INIT("deletecollection")};

unsigned verb_of(struct str name)
{
    for (size_t i = 0; i < COUNT_OF(verb_names); i++) {
        if (str_eq(verb_names[i], name)) {
            return 1u << i;
        }
    }
    return 0;
}

struct str verb_name(enum verb verb)
{
    return verb_names[__builtin_ctz(verb)];
}
