/* Macros: calls that stand for comprehensions and tests. The expansions are those of the language's definition, so that
 * costs and types come out the same. */
#include "cel/cel_parts.h"

#define ACCUMULATOR "@result"

struct maker {
    struct arena *arena;
    struct cel_issues *issues;
    uint32_t at;
};

static struct cel_node *constant(const struct maker *make, struct cel_val value)
{
    struct cel_node *node = cel_node_new(make->arena, NODE_CONST, make->at, 0);

    node->constant = value;
    return node;
}

static struct cel_node *ident(const struct maker *make, struct str name)
{
    struct cel_node *node = cel_node_new(make->arena, NODE_IDENT, make->at, 0);

    node->name = name;
    return node;
}

static struct cel_node *call(const struct maker *make, const char *function, size_t count, struct cel_node *a, struct cel_node *b,
                             struct cel_node *c)
{
    struct cel_node *node = cel_node_new(make->arena, NODE_CALL, make->at, count), *args[3] = {a, b, c};

    node->name = str_of(function);
    for (size_t i = 0; i < count; i++) {
        node->args[i] = args[i];
    }
    return node;
}

static struct cel_node *member(const struct maker *make, const char *function, struct cel_node *target)
{
    struct cel_node *node = call(make, function, 1, target, NULL, NULL);

    node->is_member = true;
    return node;
}

static struct cel_node *list_of(const struct maker *make, struct cel_node *item)
{
    struct cel_node *node = cel_node_new(make->arena, NODE_LIST, make->at, item != NULL ? 1 : 0);

    node->optional = ARENA_ARRAY(make->arena, bool, 1);
    if (item != NULL) {
        node->args[0] = item;
    }
    return node;
}

static struct cel_node *result(const struct maker *make)
{
    return ident(make, STR(ACCUMULATOR));
}

static bool simple_name(const struct maker *make, const struct cel_node *node, struct str *ret)
{
    if (node->kind != NODE_IDENT || node->is_global) {
        cel_issue(make->arena, make->issues, node->at, "argument must be a simple name");
        return false;
    }
    if (str_is(node->name, ACCUMULATOR) || str_is(node->name, "__result__")) {
        cel_issue(make->arena, make->issues, node->at, "iteration variable overwrites accumulator variable");
        return false;
    }
    *ret = node->name;
    return true;
}

static struct cel_node *fold(const struct maker *make, struct cel_node *range, struct str name, struct str name2, struct cel_node *init,
                             struct cel_node *cond, struct cel_node *step, struct cel_node *end)
{
    struct cel_node *node = cel_node_new(make->arena, NODE_FOLD, make->at, FOLD_ARGS);

    node->name = name;
    node->name2 = name2;
    node->accumulator = STR(ACCUMULATOR);
    node->args[FOLD_RANGE] = range;
    node->args[FOLD_INIT] = init;
    node->args[FOLD_COND] = cond;
    node->args[FOLD_STEP] = step;
    node->args[FOLD_RESULT] = end;
    return node;
}

/* all, exists and exists_one, of one or two variables. */
static struct cel_node *quantifier(const struct maker *make, struct cel_node *node, struct str name, struct str name2)
{
    struct cel_node *range = node->args[0], *predicate = node->args[node->count - 1];

    if (str_is(node->name, "all")) {
        return fold(make, range, name, name2, constant(make, cel_val_bool(true)),
                    call(make, "@not_strictly_false", 1, result(make), NULL, NULL), call(make, "_&&_", 2, result(make), predicate, NULL),
                    result(make));
    }
    if (str_is(node->name, "exists")) {
        return fold(make, range, name, name2, constant(make, cel_val_bool(false)),
                    call(make, "@not_strictly_false", 1, call(make, "!_", 1, result(make), NULL, NULL), NULL, NULL),
                    call(make, "_||_", 2, result(make), predicate, NULL), result(make));
    }
    struct cel_node *one = constant(make, cel_val_int(1));
    return fold(make, range, name, name2, constant(make, cel_val_int(0)), constant(make, cel_val_bool(true)),
                call(make, "_?_:_", 3, predicate, call(make, "_+_", 2, result(make), one, NULL), result(make)),
                call(make, "_==_", 2, result(make), constant(make, cel_val_int(1)), NULL));
}

static struct cel_node *guarded(const struct maker *make, struct cel_node *filter, struct cel_node *step)
{
    return filter == NULL ? step : call(make, "_?_:_", 3, filter, step, result(make));
}

/* map, filter and the transformations: a list or map that grows. */
static struct cel_node *growing(const struct maker *make, struct cel_node *node, struct str name, struct str name2, struct cel_node *filter,
                                struct cel_node *value)
{
    bool is_map = str_is(node->name, "transformMap"), is_entry = str_is(node->name, "transformMapEntry");
    struct cel_node *init = list_of(make, NULL), *step;

    if (is_map || is_entry) {
        init = cel_node_new(make->arena, NODE_MAP, make->at, 0);
        step = call(make, "cel.@mapInsert", is_map ? 3 : 2, result(make), is_map ? ident(make, name) : value, value);
    } else {
        step = call(make, "_+_", 2, result(make), list_of(make, value), NULL);
    }
    return fold(make, node->args[0], name, name2, init, constant(make, cel_val_bool(true)), guarded(make, filter, step), result(make));
}

static struct cel_node *optional_map(const struct maker *make, struct cel_node *node, struct str name, bool flat)
{
    struct cel_node *bound = fold(make, list_of(make, NULL), STR("#unused"), (struct str){0}, member(make, "value", node->args[0]),
                                  constant(make, cel_val_bool(false)), ident(make, name), node->args[2]);

    bound->accumulator = name;
    return call(make, "_?_:_", 3, member(make, "hasValue", node->args[0]),
                flat ? bound : call(make, "optional.of", 1, bound, NULL, NULL), call(make, "optional.none", 0, NULL, NULL, NULL));
}

static struct cel_node *has(const struct maker *make, struct cel_node *node)
{
    struct cel_node *argument = node->args[0];

    if (argument->kind != NODE_SELECT || argument->is_test) {
        cel_issue(make->arena, make->issues, argument->at, "invalid argument to has() macro");
        return NULL;
    }
    struct cel_node *test = cel_node_new(make->arena, NODE_SELECT, make->at, 1);
    test->name = argument->name;
    test->args[0] = argument->args[0];
    test->is_test = true;
    return test;
}

static const struct {
    const char *name;
    size_t variables, least, most; /* arguments besides the target */
} macros[] = {
    {"all", 1, 2, 2},           {"exists", 1, 2, 2},        {"exists_one", 1, 2, 2},      {"existsOne", 1, 2, 2},
    {"map", 1, 2, 3},           {"filter", 1, 2, 2},        {"all", 2, 3, 3},             {"exists", 2, 3, 3},
    {"existsOne", 2, 3, 3},     {"exists_one", 2, 3, 3},    {"transformList", 2, 3, 4},   {"transformMap", 2, 3, 4},
    {"transformMapEntry", 2, 3, 4}, {"optMap", 1, 2, 2},    {"optFlatMap", 1, 2, 2},
};

struct cel_node *cel_expand(struct arena *arena, struct cel_node *node, struct cel_issues *issues)
{
    struct maker make = {arena, issues, node->at};
    struct str names[2] = {{0}};

    if (!node->is_member) {
        return str_is(node->name, "has") && node->count == 1 ? has(&make, node) : node;
    }
    for (size_t i = 0; i < COUNT_OF(macros); i++) {
        if (!str_is(node->name, macros[i].name) || node->count - 1 < macros[i].least || node->count - 1 > macros[i].most) {
            continue;
        }
        for (size_t k = 0; k < macros[i].variables; k++) {
            if (!simple_name(&make, node->args[1 + k], &names[k])) {
                return NULL;
            }
        }
        if (macros[i].variables == 2 && str_eq(names[0], names[1])) {
            cel_issue(arena, issues, node->args[2]->at, "duplicate variable name: %.*s", STR_ARG(names[0]));
            return NULL;
        }
        struct cel_node *last = node->args[node->count - 1];
        struct cel_node *filter = node->count - 1 > macros[i].least ? node->args[node->count - 2] : NULL;
        if (str_has_prefix(node->name, STR("opt"))) {
            return optional_map(&make, node, names[0], str_is(node->name, "optFlatMap"));
        }
        if (str_is(node->name, "filter")) {
            return growing(&make, node, names[0], names[1], last, ident(&make, names[0]));
        }
        if (str_is(node->name, "map") || str_has_prefix(node->name, STR("transform"))) {
            return growing(&make, node, names[0], names[1], filter, last);
        }
        return quantifier(&make, node, names[0], names[1]);
    }
    return node;
}
