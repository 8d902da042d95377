/* The type checker: names, overloads and types of a syntax tree; all mistakes are reported, in stock's words. */
#include "base/limits.h"
#include "cel/unify.h"
#include "schema/regex.h"

struct scope {
    struct str name;
    const struct cel_type *type;
    int slot;
    const struct scope *outer;
};

struct checker {
    struct cel_env *env;
    struct arena *arena;
    struct cel_program *program;
    struct cel_issues *issues;
    struct cel_bindings bindings;
    const struct scope *scope;
    int slots; /* in use */
    int depth;
};

#define DYN cel_type_basic(CEL_DYN)
#define FAILED cel_type_basic(CEL_ERROR)

static void check(struct checker *in, struct cel_node *node);

static struct str text(struct checker *in, const struct cel_type *type)
{
    return cel_type_text(in->arena, type);
}

static const struct cel_type *type_value(struct checker *in, struct str name)
{
    static const enum cel_kind kinds[] = {CEL_BOOL, CEL_INT, CEL_UINT, CEL_DOUBLE, CEL_STRING, CEL_BYTES, CEL_LIST, CEL_MAP, CEL_NULL,
                                          CEL_TYPE, CEL_DURATION, CEL_TIMESTAMP, CEL_OPTIONAL};

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (str_eq(cel_type_basic(kinds[i])->name, name)) {
            return cel_type_basic(kinds[i]);
        }
    }
    char *own = arena_cstr(in->arena, name);
    const struct cel_type *named = cel_type_named(own);
    return named != NULL && named->kind == CEL_OPAQUE ? named : NULL;
}

/* True when the name is known; the node becomes an ident or a type constant then. */
static bool resolve_name(struct checker *in, struct cel_node *node, struct str name)
{
    for (const struct scope *scope = in->scope; scope != NULL && !node->is_global; scope = scope->outer) {
        if (str_eq(scope->name, name)) {
            node->kind = NODE_IDENT;
            node->slot = scope->slot;
            node->type = scope->type;
            return true;
        }
    }
    const struct cel_type *type = map_find(&in->env->variables, name);
    if (type != NULL) {
        node->kind = NODE_IDENT;
        node->name = name;
        node->type = type;
        node->count = 0;
        return true;
    }
    type = type_value(in, name);
    if (type != NULL) {
        node->kind = NODE_CONST;
        node->constant = cel_val_type(type);
        node->type = cel_type_make(in->arena, CEL_TYPE, (struct str){0}, type, NULL);
        node->count = 0;
        return true;
    }
    return false;
}

static void check_ident(struct checker *in, struct cel_node *node)
{
    if (!resolve_name(in, node, node->name)) {
        cel_issue(in->arena, in->issues, node->at, "undeclared reference to '%.*s' (in container '')", STR_ARG(node->name));
        node->type = FAILED;
    }
}

static struct str qualified(struct checker *in, const struct cel_node *node)
{
    if (node->kind == NODE_IDENT) {
        return node->name;
    }
    if (node->kind != NODE_SELECT || node->is_test) {
        return (struct str){0};
    }
    struct str left = qualified(in, node->args[0]);
    return left.n == 0 ? left : arena_printf(in->arena, "%.*s.%.*s", STR_ARG(left), STR_ARG(node->name));
}

static const struct cel_type *field_type(struct checker *in, const struct cel_type *operand, struct str name, uint32_t at)
{
    const struct cel_type *type = cel_resolve(operand), *field;

    switch (type->kind) {
    case CEL_MAP:
        return type->params[1];
    case CEL_OBJECT:
        if (str_has_prefix(type->name, STR("Object")) && type->len == 0) {
            return DYN;
        }
        field = cel_type_member(type, name);
        if (field == NULL) {
            cel_issue(in->arena, in->issues, at, "undefined field '%.*s'", STR_ARG(name));
        }
        return field != NULL ? field : FAILED;
    case CEL_DYN:
    case CEL_PARAM:
        return DYN;
    case CEL_ERROR:
        return FAILED;
    default:
        cel_issue(in->arena, in->issues, at, "type '%.*s' does not support field selection", STR_ARG(text(in, type)));
        return FAILED;
    }
}

/* Of an operand that may be optional: the field is optional then too. */
static const struct cel_type *field_of(struct checker *in, const struct cel_type *operand, struct str name, uint32_t at, bool optional)
{
    operand = cel_substitute(in->arena, operand);
    bool is_optional = operand->kind == CEL_OPTIONAL;
    const struct cel_type *field = field_type(in, is_optional ? operand->params[0] : operand, name, at);

    return is_optional || optional ? cel_type_make(in->arena, CEL_OPTIONAL, (struct str){0}, field, NULL) : field;
}

static void check_select(struct checker *in, struct cel_node *node)
{
    if (!node->is_test) {
        struct str name = qualified(in, node);

        if (name.n > 0 && (map_find(&in->env->variables, name) != NULL || type_value(in, name) != NULL) && resolve_name(in, node, name)) {
            return;
        }
    }
    check(in, node->args[0]);
    node->type = field_of(in, node->args[0]->type, node->name, node->at, false);
    if (node->is_test) {
        node->type = node->type->kind == CEL_ERROR ? FAILED : cel_type_basic(CEL_BOOL);
    }
}

static void no_overload(struct checker *in, struct cel_node *node)
{
    OWNED(buf_done) struct buf out = {0};

    for (size_t i = 0; i < node->count; i++) {
        struct str arg = text(in, cel_substitute(in->arena, node->args[i]->type));

        buf_printf(&out, "%s%.*s", node->is_member && i == 0 ? "" : i == 0 ? "(" : node->is_member && i == 1 ? ".(" : ", ", STR_ARG(arg));
    }
    buf_printf(&out, "%s)", node->count == 0 ? "(" : node->is_member && node->count == 1 ? ".(" : "");
    cel_issue(in->arena, in->issues, node->at, "found no matching overload for '%.*s' applied to '%.*s'", STR_ARG(node->name),
              STR_ARG(buf_str(&out)));
    node->type = FAILED;
}

static bool overload_fits(struct checker *in, struct cel_node *node, const struct cel_overload *overload, const struct cel_type **ret)
{
    struct cel_type *fresh[26] = {0};
    size_t mark = in->bindings.trail.len;

    if (overload->is_member != node->is_member || (size_t)overload->count != node->count) {
        return false;
    }
    for (size_t i = 0; i < node->count; i++) {
        const struct cel_type *want = cel_instantiate(&in->bindings, overload->args[i], fresh);

        if (!cel_assignable(&in->bindings, want, node->args[i]->type)) {
            cel_undo(&in->bindings, mark);
            return false;
        }
    }
    *ret = cel_substitute(in->arena, cel_instantiate(&in->bindings, overload->result, fresh));
    return true;
}

static void invalid_literal(struct checker *in, const struct cel_node *node)
{
    cel_issue(in->arena, in->issues, node->args[node->count - 1]->at, "invalid %.*s argument", STR_ARG(node->name));
}

/* A literal pattern is compiled here, once for all runs. */
static void check_pattern(struct checker *in, struct cel_node *node)
{
    struct regex *regex;
    struct status *status = regex_new(node->args[1]->constant.string, &regex);

    if (status != NULL) {
        status_free(status);
        invalid_literal(in, node);
        return;
    }
    *LIST_ADD(in->arena, &in->program->regexes) = regex;
    node->regex = regex;
}

/* Literals that a regular expression, a duration or a time can't be made of. */
static void check_literal(struct checker *in, struct cel_node *node)
{
    bool matches = str_is(node->name, "matches");
    const struct cel_node *literal = node->count > 0 ? node->args[node->count - 1] : NULL;
    struct cel_run run = {.arena = in->arena};

    if ((!matches && !str_is(node->name, "duration") && !str_is(node->name, "timestamp")) || literal == NULL ||
        literal->kind != NODE_CONST || literal->constant.kind != CEL_STRING || node->count != (matches ? 2 : 1)) {
        return;
    }
    if (matches) {
        check_pattern(in, node);
        return;
    }
    for (size_t i = 0; i < node->function->len; i++) {
        const struct cel_overload *overload = &node->function->items[i];

        if (overload->args[0]->kind == CEL_STRING && overload->call(&run, &literal->constant, 1).kind == CEL_ERROR) {
            invalid_literal(in, node);
        }
    }
}

static void resolve_call(struct checker *in, struct cel_node *node)
{
    const struct cel_type *found = NULL, *type;

    for (size_t i = 0; i < node->count; i++) {
        if (node->args[i]->type->kind == CEL_ERROR) {
            node->type = FAILED;
            return;
        }
    }
    for (size_t i = 0; i < node->function->len; i++) {
        if (overload_fits(in, node, &node->function->items[i], &type)) {
            found = found == NULL || (found->kind == type->kind && found->param_count == 0) ? type : DYN;
        }
    }
    if (found == NULL) {
        no_overload(in, node);
        return;
    }
    node->type = found;
    check_literal(in, node);
}

static void check_optional_select(struct checker *in, struct cel_node *node)
{
    check(in, node->args[0]);
    check(in, node->args[1]);
    node->type = field_of(in, node->args[0]->type, node->args[1]->constant.string, node->at, true);
}

static void check_call(struct checker *in, struct cel_node *node)
{
    if (str_is(node->name, "_?._")) {
        check_optional_select(in, node);
        return;
    }
    if (node->is_member) {
        struct str target = qualified(in, node->args[0]);
        struct str name = target.n > 0 ? arena_printf(in->arena, "%.*s.%.*s", STR_ARG(target), STR_ARG(node->name)) : target;
        const struct cel_function *global = name.n > 0 ? cel_function_find(name) : NULL;

        if (global != NULL) {
            node->name = name;
            node->is_member = false;
            node->args++;
            node->count--;
        }
    }
    node->function = cel_function_find(node->name);
    for (size_t i = 0; i < node->count; i++) {
        check(in, node->args[i]);
    }
    if (node->function == NULL) {
        cel_issue(in->arena, in->issues, node->at, "undeclared reference to '%.*s' (in container '')", STR_ARG(node->name));
        node->type = FAILED;
        return;
    }
    resolve_call(in, node);
}

/* What the elements of a literal have in common. */
static const struct cel_type *join(struct checker *in, const struct cel_type *before, const struct cel_node *item, bool optional)
{
    const struct cel_type *type = cel_resolve(item->type);

    if (optional) {
        if (type->kind == CEL_OPTIONAL) {
            type = type->params[0];
        } else if (type->kind != CEL_DYN && type->kind != CEL_ERROR) {
            cel_issue(in->arena, in->issues, item->at, "expected type 'optional_type(%.*s)' but found '%.*s'", STR_ARG(text(in, type)),
                      STR_ARG(text(in, type)));
        }
    }
    if (before == NULL) {
        return type;
    }
    if (cel_assignable(&in->bindings, before, type)) {
        return cel_most_general(before, type);
    }
    cel_issue(in->arena, in->issues, item->at, "expected type '%.*s' but found '%.*s'", STR_ARG(text(in, before)), STR_ARG(text(in, type)));
    return before;
}

static const struct cel_type *fresh_param(struct checker *in)
{
    return cel_type_make(in->arena, CEL_PARAM, STR("T"), NULL, NULL);
}

static void check_list(struct checker *in, struct cel_node *node)
{
    const struct cel_type *element = NULL;

    for (size_t i = 0; i < node->count; i++) {
        check(in, node->args[i]);
        element = join(in, element, node->args[i], node->optional[i]);
    }
    node->type = cel_type_make(in->arena, CEL_LIST, (struct str){0}, element != NULL ? element : fresh_param(in), NULL);
}

static void check_map(struct checker *in, struct cel_node *node)
{
    const struct cel_type *key = NULL, *value = NULL;

    for (size_t i = 0; i + 1 < node->count; i += 2) {
        check(in, node->args[i]);
        check(in, node->args[i + 1]);
        key = join(in, key, node->args[i], false);
        value = join(in, value, node->args[i + 1], node->optional[i / 2]);
    }
    node->type = cel_type_make(in->arena, CEL_MAP, (struct str){0}, key != NULL ? key : fresh_param(in), value != NULL ? value : fresh_param(in));
}

static void check_struct(struct checker *in, struct cel_node *node)
{
    bool object = str_is(node->name, "Object") || str_has_prefix(node->name, STR("Object.")), patch = str_is(node->name, "JSONPatch");

    if (!in->env->mutation || (!object && !patch)) {
        cel_issue(in->arena, in->issues, node->at, "undeclared reference to '%.*s' (in container '')", STR_ARG(node->name));
        node->type = FAILED;
        return;
    }
    for (size_t i = 0; i < node->count; i++) {
        struct str name = node->names[i];
        bool known = object || str_is(name, "op") || str_is(name, "path") || str_is(name, "from") || str_is(name, "value");

        check(in, node->args[i]);
        if (!known) {
            cel_issue(in->arena, in->issues, node->at, "undefined field '%.*s'", STR_ARG(name));
        } else if (patch && !str_is(name, "value") && !cel_assignable(&in->bindings, cel_type_basic(CEL_STRING), node->args[i]->type)) {
            cel_issue(in->arena, in->issues, node->args[i]->at, "expected type of field '%.*s' is 'string' but provided type is '%.*s'",
                      STR_ARG(name), STR_ARG(text(in, node->args[i]->type)));
        }
    }
    node->type = patch ? cel_type_named("JSONPatch")
                       : cel_type_make(in->arena, CEL_OBJECT, node->name, NULL, NULL);
}

static void push(struct checker *in, struct scope *scope, struct str name, const struct cel_type *type)
{
    *scope = (struct scope){name, type, in->slots++, in->scope};
    in->scope = scope;
    in->program->slots = MAX(in->program->slots, in->slots);
}

/* The types of a fold's variables; false after an issue. */
static bool range_types(struct checker *in, const struct cel_node *node, const struct cel_type **one, const struct cel_type **two)
{
    const struct cel_type *range = cel_substitute(in->arena, node->args[FOLD_RANGE]->type);

    *one = *two = DYN;
    switch (range->kind) {
    case CEL_LIST:
        *one = node->name2.n > 0 ? cel_type_basic(CEL_INT) : range->params[0];
        *two = range->params[0];
        return true;
    case CEL_MAP:
        *one = range->params[0];
        *two = range->params[1];
        return true;
    case CEL_DYN:
        return true;
    case CEL_ERROR:
        *one = *two = FAILED;
        return true;
    default:
        cel_issue(in->arena, in->issues, node->args[FOLD_RANGE]->at,
                  "expression of type '%.*s' cannot be range of a comprehension (must be list, map, or dynamic)", STR_ARG(text(in, range)));
        *one = *two = FAILED;
        return false;
    }
}

/* Slots: the accumulator, then the variables. */
static void check_fold(struct checker *in, struct cel_node *node)
{
    const struct scope *outer = in->scope;
    int slots = in->slots;
    struct scope accumulator, first, second;
    const struct cel_type *one, *two;

    check(in, node->args[FOLD_RANGE]);
    check(in, node->args[FOLD_INIT]);
    range_types(in, node, &one, &two);
    push(in, &accumulator, node->accumulator, node->args[FOLD_INIT]->type);
    node->slot = accumulator.slot;
    push(in, &first, node->name, one);
    push(in, &second, node->name2, two);
    check(in, node->args[FOLD_COND]);
    check(in, node->args[FOLD_STEP]);
    if (!cel_assignable(&in->bindings, accumulator.type, node->args[FOLD_STEP]->type)) {
        cel_issue(in->arena, in->issues, node->args[FOLD_STEP]->at, "expected type '%.*s' but found '%.*s'",
                  STR_ARG(text(in, accumulator.type)), STR_ARG(text(in, node->args[FOLD_STEP]->type)));
    }
    in->scope = &accumulator;
    check(in, node->args[FOLD_RESULT]);
    in->scope = outer;
    in->slots = slots;
    node->type = cel_substitute(in->arena, node->args[FOLD_RESULT]->type);
}

static void check(struct checker *in, struct cel_node *node)
{
    static void (*const checks[])(struct checker *, struct cel_node *) = {
        [NODE_IDENT] = check_ident, [NODE_SELECT] = check_select, [NODE_CALL] = check_call, [NODE_LIST] = check_list,
        [NODE_MAP] = check_map,     [NODE_STRUCT] = check_struct, [NODE_FOLD] = check_fold,
    };

    if (in->depth >= LIMIT_CEL_DEPTH) {
        if (in->issues->len == 0) {
            cel_issue(in->arena, in->issues, 0, "expression recursion limit exceeded: %d", LIMIT_CEL_DEPTH);
        }
        node->type = FAILED;
        return;
    }
    in->depth++;
    if (node->kind == NODE_CONST) {
        node->type = cel_type_basic((enum cel_kind)node->constant.kind);
    } else {
        checks[node->kind](in, node);
    }
    in->depth--;
}

void cel_check(struct cel_env *env, struct arena *arena, struct cel_program *program, struct cel_issues *issues)
{
    struct checker in = {.env = env, .arena = arena, .program = program, .issues = issues, .bindings = {.arena = arena}};

    check(&in, program->root);
    program->root->type = cel_substitute(arena, program->root->type);
}
