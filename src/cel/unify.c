#include "cel/unify.h"

static bool occurs(const struct cel_type *param, const struct cel_type *type)
{
    type = cel_resolve(type);
    if (type == param) {
        return true;
    }
    for (int i = 0; i < type->param_count; i++) {
        if (occurs(param, type->params[i])) {
            return true;
        }
    }
    return false;
}

static void bind(struct cel_bindings *bindings, const struct cel_type *param, const struct cel_type *type)
{
    struct cel_type *mutable_param = (struct cel_type *)(uintptr_t)param; /* made by cel_instantiate */

    mutable_param->bound = type;
    *LIST_ADD(bindings->arena, &bindings->trail) = mutable_param;
}

void cel_undo(struct cel_bindings *bindings, size_t mark)
{
    while (bindings->trail.len > mark) {
        bindings->trail.items[--bindings->trail.len]->bound = NULL;
    }
}

static bool is_dyn(const struct cel_type *type)
{
    return type->kind == CEL_DYN || type->kind == CEL_ERROR;
}

const struct cel_type *cel_most_general(const struct cel_type *a, const struct cel_type *b)
{
    a = cel_resolve(a);
    b = cel_resolve(b);
    if (is_dyn(a) || is_dyn(b)) {
        return is_dyn(a) ? a : b;
    }
    return a->kind == CEL_NULL ? b : a;
}

static bool nullable(const struct cel_type *type)
{
    return type->kind == CEL_OBJECT || type->kind == CEL_OPAQUE || type->kind == CEL_OPTIONAL || type->kind == CEL_TIMESTAMP ||
           type->kind == CEL_DURATION;
}

static bool fits(struct cel_bindings *bindings, const struct cel_type *target, const struct cel_type *source)
{
    target = cel_resolve(target);
    source = cel_resolve(source);
    if (target == source) {
        return true;
    }
    if (target->kind == CEL_PARAM) {
        if (occurs(target, source)) {
            return false;
        }
        bind(bindings, target, source);
        return true;
    }
    if (source->kind == CEL_PARAM) {
        if (occurs(source, target)) {
            return false;
        }
        bind(bindings, source, target);
        return true;
    }
    if (is_dyn(target) || is_dyn(source)) {
        return true;
    }
    if (source->kind == CEL_NULL || target->kind == CEL_NULL) {
        return source->kind == target->kind || (source->kind == CEL_NULL && nullable(target));
    }
    if (target->kind != source->kind) {
        return false;
    }
    if (target->kind == CEL_TYPE) {
        return true;
    }
    if ((target->kind == CEL_OBJECT || target->kind == CEL_OPAQUE) && !str_eq(target->name, source->name)) {
        return false;
    }
    for (int i = 0; i < target->param_count && i < source->param_count; i++) {
        if (!fits(bindings, target->params[i], source->params[i])) {
            return false;
        }
    }
    return true;
}

bool cel_assignable(struct cel_bindings *bindings, const struct cel_type *target, const struct cel_type *source)
{
    size_t mark = bindings->trail.len;

    if (fits(bindings, target, source)) {
        return true;
    }
    cel_undo(bindings, mark);
    return false;
}

const struct cel_type *cel_instantiate(struct cel_bindings *bindings, const struct cel_type *type, struct cel_type **fresh)
{
    if (type->kind == CEL_PARAM) {
        unsigned i = (unsigned char)(type->name.p[0] - 'A') % 26;

        if (fresh[i] == NULL) {
            fresh[i] = ARENA_NEW(bindings->arena, struct cel_type);
            fresh[i]->kind = CEL_PARAM;
            fresh[i]->name = type->name;
        }
        return fresh[i];
    }
    if (type->param_count == 0) {
        return type;
    }
    return cel_type_make(bindings->arena, type->kind, type->name, cel_instantiate(bindings, type->params[0], fresh),
                         type->param_count > 1 ? cel_instantiate(bindings, type->params[1], fresh) : NULL);
}

const struct cel_type *cel_substitute(struct arena *arena, const struct cel_type *type)
{
    type = cel_resolve(type);
    if (type->kind == CEL_PARAM) {
        return cel_type_basic(CEL_DYN);
    }
    const struct cel_type *a = type->param_count > 0 ? cel_substitute(arena, type->params[0]) : NULL;
    const struct cel_type *b = type->param_count > 1 ? cel_substitute(arena, type->params[1]) : NULL;
    return a == type->params[0] && b == type->params[1] ? type : cel_type_make(arena, type->kind, type->name, a, b);
}
