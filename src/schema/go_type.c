#include "schema/go_type.h"

struct str go_type_of_struct(struct arena *arena, const struct type *type)
{
    struct str package = type->package != NULL ? type->package->version : STR("v1");

    return arena_printf(arena, "%.*s.%.*s", STR_ARG(package), STR_ARG(type->name));
}

struct str go_type_of_item(struct arena *arena, const struct field *field)
{
    static const struct str names[TYPE_KIND_COUNT] = {
        [TYPE_BOOL] = STR_INIT("bool"),
        [TYPE_INT32] = STR_INIT("int32"),
        [TYPE_INT64] = STR_INIT("int64"),
        [TYPE_UINT32] = STR_INIT("uint32"),
        [TYPE_UINT64] = STR_INIT("uint64"),
        [TYPE_DOUBLE] = STR_INIT("float64"),
        [TYPE_STRING] = STR_INIT("string"),
        [TYPE_BYTES] = STR_INIT("[]uint8"),
        [TYPE_QUANTITY] = STR_INIT("resource.Quantity"),
        [TYPE_TIME] = STR_INIT("v1.Time"),
        [TYPE_MICRO_TIME] = STR_INIT("v1.MicroTime"),
        [TYPE_DURATION] = STR_INIT("v1.Duration"),
        [TYPE_INT_OR_STRING] = STR_INIT("intstr.IntOrString"),
        [TYPE_RAW] = STR_INIT("runtime.RawExtension"),
        [TYPE_STRINGS] = STR_INIT("[]string"),
    };

    if (field->kind == TYPE_STRUCT) {
        return go_type_of_struct(arena, field->type);
    }
    if (field->rules != NULL && field->rules->type_name.n != 0) {
        return field->rules->type_name;
    }
    return names[field->kind];
}

struct str go_type_of_field(struct arena *arena, const struct field *field)
{
    struct str item = go_type_of_item(arena, field);

    switch ((enum field_shape)field->shape) {
    case SHAPE_LIST:
        return arena_printf(arena, "[]%.*s", STR_ARG(item));
    case SHAPE_MAP:
        return field->kind == TYPE_QUANTITY ? STR("v1.ResourceList")
                                            : arena_printf(arena, "map[string]%.*s", STR_ARG(item));
    default:
        return item;
    }
}
