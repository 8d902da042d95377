/* The most an expression can cost, from the sizes its types and literals allow. Follows cost.c: what runs can't cost more. */
#include "cel/cel_parts.h"

#include <math.h>

#define UNBOUNDED UINT64_MAX

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UNBOUNDED - b ? UNBOUNDED : a + b;
}

static uint64_t multiply(uint64_t a, uint64_t b)
{
    uint64_t out;

    return __builtin_mul_overflow(a, b, &out) ? UNBOUNDED : out;
}

static uint64_t share(uint64_t size, double factor)
{
    double cost = ceil((double)size * factor);

    return size == UNBOUNDED || cost >= 1.8e19 ? UNBOUNDED : (uint64_t)cost;
}

/* The most elements, characters or bytes the node's value can have. */
static uint64_t size_of(const struct cel_node *node)
{
    const struct cel_type *type = cel_resolve(node->type);

    if (type->kind != CEL_STRING && type->kind != CEL_BYTES && type->kind != CEL_LIST && type->kind != CEL_MAP && type->kind != CEL_DYN) {
        return 1;
    }
    if (type->max_size > 0) {
        return type->max_size;
    }
    switch (node->kind) {
    case NODE_CONST:
        return cel_size(node->constant);
    case NODE_LIST:
        return node->count;
    case NODE_MAP:
        return node->count / 2;
    case NODE_FOLD: /* lists and maps grow by one a round */
        return size_of(node->args[FOLD_RANGE]);
    case NODE_CALL: {
        uint64_t sum = 0;

        if (str_is(node->name, "_?_:_")) {
            return MAX(size_of(node->args[1]), size_of(node->args[2]));
        }
        if (str_is(node->name, "replace")) {
            return multiply(size_of(node->args[0]), MAX(size_of(node->args[2]), 1));
        }
        for (size_t i = 0; i < node->count; i++) {
            sum = add(sum, size_of(node->args[i]));
        }
        return node->count > 0 ? sum : UNBOUNDED;
    }
    default:
        return UNBOUNDED;
    }
}

static bool is_any(struct str name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_is(name, names[i])) {
            return true;
        }
    }
    return false;
}
#define ANY(name, ...) is_any((name), (const char *const[]){__VA_ARGS__}, COUNT_OF(((const char *const[]){__VA_ARGS__})))

static uint64_t own_cost(const struct cel_node *node)
{
    struct str name = node->name;
    uint64_t a = node->count > 0 ? size_of(node->args[0]) : 0, b = node->count > 1 ? size_of(node->args[1]) : 0;

    if (ANY(name, "startsWith", "endsWith", "bytes", "url", "isURL", "ip", "isIP", "ip.isCanonical", "cidr", "isCIDR", "quantity",
            "isQuantity", "semver", "isSemver")) {
        return share(a, 0.1);
    }
    if (str_is(name, "@in")) {
        return cel_type_is(node->args[1]->type, CEL_MAP) ? 1 : b;
    }
    if (ANY(name, "_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_")) {
        return MAX(share(MIN(a, b), 0.1), 1);
    }
    if (str_is(name, "_+_") && (cel_type_is(node->type, CEL_STRING) || cel_type_is(node->type, CEL_BYTES))) {
        return share(add(a, b), 0.1);
    }
    if (ANY(name, "matches", "find", "findAll")) {
        return multiply(share(add(a, 1), 0.1), share(b, 0.25));
    }
    if (str_is(name, "contains")) {
        return multiply(share(a, 0.1), share(b, 0.1));
    }
    if (ANY(name, "isSorted", "sum", "max", "min", "indexOf", "lastIndexOf") && cel_type_is(node->args[0]->type, CEL_LIST)) {
        return add(a, 1);
    }
    if (ANY(name, "lowerAscii", "upperAscii", "substring", "trim", "replace", "split", "join", "reverse")) {
        return add(share(a, 0.1), share(size_of(node), 0.1));
    }
    if (ANY(name, "sets.contains", "sets.intersects", "sets.equivalent")) {
        return add(multiply(multiply(a, b), str_is(name, "sets.equivalent") ? 2 : 1), 1);
    }
    if (str_is(name, "validate")) {
        return share(b, 0.1);
    }
    return str_is(name, "check") ? 350000 : 1;
}

static uint64_t cost(const struct cel_node *node)
{
    uint64_t sum = 0;

    if (node->kind == NODE_FOLD) {
        uint64_t round = add(cost(node->args[FOLD_COND]), cost(node->args[FOLD_STEP]));

        sum = add(cost(node->args[FOLD_RANGE]), cost(node->args[FOLD_INIT]));
        sum = add(sum, multiply(size_of(node->args[FOLD_RANGE]), round));
        return add(sum, cost(node->args[FOLD_RESULT]));
    }
    if (node->kind == NODE_CALL && str_is(node->name, "_?_:_")) {
        return add(cost(node->args[0]), MAX(cost(node->args[1]), cost(node->args[2])));
    }
    for (size_t i = 0; i < node->count; i++) {
        sum = add(sum, cost(node->args[i]));
    }
    switch (node->kind) {
    case NODE_IDENT:
        return 1;
    case NODE_SELECT:
        return add(sum, node->is_test ? 0 : 1);
    case NODE_LIST:
        return add(sum, 10);
    case NODE_MAP:
        return add(sum, 30);
    case NODE_STRUCT:
        return add(sum, 40);
    case NODE_CALL:
        return ANY(node->name, "_&&_", "_||_") ? sum : add(sum, own_cost(node));
    default:
        return sum;
    }
}

uint64_t cel_program_estimate(const struct cel_program *program)
{
    return cost(program->root);
}

uint64_t cel_type_cardinality(const struct cel_type *type)
{
    return ((uint64_t)3 << 20) / (MAX(type->min_bytes, 1) + 1);
}
