/* What calls cost, as stock counts it at run time. */
#include "cel/cel_parts.h"

#include <math.h>

/* A character of text costs a tenth; a regular expression counts a quarter of its length for each of those. */
#define TEXT_FACTOR 0.1
#define REGEX_FACTOR 0.25

static uint64_t text_cost(double size)
{
    return (uint64_t)ceil(size * TEXT_FACTOR);
}

static bool is_one_of(struct str name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_is(name, names[i])) {
            return true;
        }
    }
    return false;
}
#define ONE_OF(name, ...) is_one_of((name), (const char *const[]){__VA_ARGS__}, COUNT_OF(((const char *const[]){__VA_ARGS__})))

/* Text is walked, and once more for the copy that comes out. */
uint64_t cel_call_cost(const struct cel_node *call, const struct cel_val *args, struct cel_val result)
{
    struct str name = call->name;
    size_t a = call->count > 0 ? cel_size(args[0]) : 0, b = call->count > 1 ? cel_size(args[1]) : 0;

    if (ONE_OF(name, "startsWith", "endsWith", "bytes") ||
        (str_is(name, "string") && args[0].kind == CEL_BYTES)) {
        return text_cost((double)a);
    }
    if (str_is(name, "@in")) {
        return args[1].kind == CEL_LIST ? b : 1;
    }
    if (ONE_OF(name, "_==_", "_!=_") ||
        (ONE_OF(name, "_<_", "_<=_", "_>_", "_>=_") && (args[0].kind == CEL_STRING || args[0].kind == CEL_BYTES))) {
        return text_cost((double)MIN(a, b));
    }
    if (str_is(name, "_+_") && (args[0].kind == CEL_STRING || args[0].kind == CEL_BYTES)) {
        return text_cost((double)(a + b));
    }
    if (ONE_OF(name, "matches", "find", "findAll")) {
        return text_cost(1.0 + (double)a) * (uint64_t)ceil((double)b * REGEX_FACTOR);
    }
    if (str_is(name, "contains") && args[0].kind == CEL_STRING) {
        return text_cost((double)a) * text_cost((double)b);
    }
    if (ONE_OF(name, "isSorted", "sum", "max", "min", "indexOf", "lastIndexOf") && call->count > 0 && args[0].kind == CEL_LIST) {
        return a + (call->count > 1 ? 1 : 0);
    }
    if (ONE_OF(name, "lowerAscii", "upperAscii", "substring", "trim", "replace", "split", "join", "reverse")) {
        return text_cost((double)a) + (result.kind == CEL_STRING ? text_cost((double)cel_size(result)) : 0);
    }
    if (ONE_OF(name, "sets.contains", "sets.intersects", "sets.equivalent")) {
        return (uint64_t)a * b * (str_is(name, "sets.equivalent") ? 2 : 1) + 1;
    }
    if (ONE_OF(name, "check")) {
        return 350000;
    }
    if (ONE_OF(name, "url", "isURL", "ip", "isIP", "ip.isCanonical", "cidr", "isCIDR", "quantity", "isQuantity", "validate", "semver", "isSemver")) {
        return text_cost((double)MAX(a, b));
    }
    return 1;
}
