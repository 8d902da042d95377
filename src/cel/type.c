#include "cel/cel_parts.h"

#include <string.h>

#define BASIC(kind_, name_) [kind_] = {.kind = kind_, .name = STR_INIT(name_)}
static const struct cel_type basic[] = {
    BASIC(CEL_ERROR, "!error!"), BASIC(CEL_NULL, "null_type"), BASIC(CEL_BOOL, "bool"), BASIC(CEL_INT, "int"),
    BASIC(CEL_UINT, "uint"), BASIC(CEL_DOUBLE, "double"), BASIC(CEL_STRING, "string"), BASIC(CEL_BYTES, "bytes"),
    BASIC(CEL_DURATION, "google.protobuf.Duration"), BASIC(CEL_TIMESTAMP, "google.protobuf.Timestamp"),
    [CEL_LIST] = {.kind = CEL_LIST, .name = STR_INIT("list"), .params = {&basic[CEL_DYN]}, .param_count = 1},
    [CEL_MAP] = {.kind = CEL_MAP, .name = STR_INIT("map"), .params = {&basic[CEL_DYN], &basic[CEL_DYN]}, .param_count = 2},
    BASIC(CEL_TYPE, "type"), [CEL_OPTIONAL] = {.kind = CEL_OPTIONAL, .name = STR_INIT("optional_type"), .params = {&basic[CEL_DYN]}, .param_count = 1},
    BASIC(CEL_DYN, "dyn"), BASIC(CEL_OBJECT, "object"),
};

static const struct cel_type named[] = {
    {.kind = CEL_OPAQUE, .name = STR_INIT("kubernetes.authorization.Authorizer")},
    {.kind = CEL_OPAQUE, .name = STR_INIT("kubernetes.authorization.PathCheck")},
    {.kind = CEL_OPAQUE, .name = STR_INIT("kubernetes.authorization.GroupCheck")},
    {.kind = CEL_OPAQUE, .name = STR_INIT("kubernetes.authorization.ResourceCheck")},
    {.kind = CEL_OPAQUE, .name = STR_INIT("kubernetes.authorization.Decision")},
    {.kind = CEL_OPAQUE, .name = STR_INIT("kubernetes.Quantity")},
    {.kind = CEL_OPAQUE, .name = STR_INIT("kubernetes.Semver")},
    {.kind = CEL_OPAQUE, .name = STR_INIT("kubernetes.URL")},
    {.kind = CEL_OPAQUE, .name = STR_INIT("kubernetes.NamedFormat")},
    {.kind = CEL_OPAQUE, .name = STR_INIT("net.IP")},
    {.kind = CEL_OPAQUE, .name = STR_INIT("net.CIDR")},
    {.kind = CEL_OBJECT, .name = STR_INIT("JSONPatch")},
    {.kind = CEL_OBJECT, .name = STR_INIT("Object")},
};

const struct cel_type *cel_type_basic(enum cel_kind kind)
{
    return &basic[kind];
}

const struct cel_type *cel_type_named(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(named); i++) {
        if (str_is(named[i].name, name)) {
            return &named[i];
        }
    }
    return NULL;
}

const struct cel_type *cel_type_make(struct arena *arena, enum cel_kind kind, struct str name, const struct cel_type *a,
                                     const struct cel_type *b)
{
    struct cel_type *type = ARENA_NEW(arena, struct cel_type);

    type->kind = kind;
    type->name = name.n > 0 ? name : basic[kind].name;
    type->params[0] = a;
    type->params[1] = b;
    type->param_count = b != NULL ? 2 : a != NULL ? 1 : 0;
    return type;
}

const struct cel_type *cel_type_list(struct cel_env *env, const struct cel_type *element)
{
    return cel_type_make(env->arena, CEL_LIST, (struct str){0}, element, NULL);
}

const struct cel_type *cel_type_map(struct cel_env *env, const struct cel_type *key, const struct cel_type *value)
{
    return cel_type_make(env->arena, CEL_MAP, (struct str){0}, key, value);
}

struct cel_type *cel_type_object(struct cel_env *env, struct str name)
{
    struct cel_type *type = ARENA_NEW(env->arena, struct cel_type);

    type->kind = CEL_OBJECT;
    type->name = arena_str(env->arena, name);
    return type;
}

void cel_type_field(struct cel_env *env, struct cel_type *object, struct str name, const struct cel_type *type)
{
    struct str own = arena_str(env->arena, name);
    struct cel_type_member *member = LIST_ADD(env->arena, object);

    *member = (struct cel_type_member){own, type};
}

const struct cel_type *cel_type_member(const struct cel_type *object, struct str name)
{
    for (size_t i = 0; object != NULL && i < object->len; i++) {
        if (str_eq(object->items[i].name, name)) {
            return object->items[i].type;
        }
    }
    return NULL;
}

const struct cel_type *cel_resolve(const struct cel_type *type)
{
    while (type->kind == CEL_PARAM && type->bound != NULL) {
        type = type->bound;
    }
    return type;
}

struct str cel_type_text(struct arena *arena, const struct cel_type *type)
{
    type = cel_resolve(type);
    if (type->kind == CEL_DURATION || type->kind == CEL_TIMESTAMP) {
        return type->kind == CEL_DURATION ? STR("duration") : STR("timestamp");
    }
    if (type->kind == CEL_NULL) {
        return STR("null");
    }
    if (type->kind == CEL_PARAM) {
        return STR("dyn");
    }
    if (type->param_count == 0) {
        return type->name;
    }
    struct str first = cel_type_text(arena, type->params[0]);
    if (type->param_count == 1) {
        return arena_printf(arena, "%.*s(%.*s)", STR_ARG(type->name), STR_ARG(first));
    }
    struct str second = cel_type_text(arena, type->params[1]);
    return arena_printf(arena, "%.*s(%.*s, %.*s)", STR_ARG(type->name), STR_ARG(first), STR_ARG(second));
}

bool cel_type_is(const struct cel_type *type, enum cel_kind kind)
{
    return cel_resolve(type)->kind == kind;
}

static bool is_reserved(struct str name)
{
    static const char *const words[] = {"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function",
                                        "if", "import", "let", "loop", "package", "namespace", "return", "var", "void", "while"};

    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (str_is(name, words[i])) {
            return true;
        }
    }
    return false;
}

struct str cel_escape_name(struct arena *arena, struct str name)
{
    OWNED(buf_done) struct buf out = {0};

    if (is_reserved(name)) {
        return arena_printf(arena, "__%.*s__", STR_ARG(name));
    }
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];

        if (c == '_' && i + 1 < name.n && name.p[i + 1] == '_') {
            buf_add_str(&out, STR("__underscores__"));
            i++;
        } else if (c == '.' || c == '-' || c == '/') {
            buf_add_str(&out, c == '.' ? STR("__dot__") : c == '-' ? STR("__dash__") : STR("__slash__"));
        } else {
            buf_add_char(&out, c);
        }
    }
    return arena_str(arena, buf_str(&out));
}
