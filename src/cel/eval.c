/* Evaluation of a checked tree. Frames are kept small: a node is one function deep, whatever it is. */
#include "cel/cel_parts.h"
#include "schema/regex.h"

#include <string.h>

static struct cel_val eval(struct cel_run *run, const struct cel_node *node);

static bool charge(struct cel_run *run, uint64_t cost)
{
    run->cost = cost > UINT64_MAX - run->cost ? UINT64_MAX : run->cost + cost;
    run->over |= run->cost > run->budget;
    return !run->over;
}

static struct cel_val over_budget(void)
{
    return (struct cel_val){.kind = CEL_ERROR, .string = STR("operation cancelled: actual cost limit exceeded")};
}

struct cel_val cel_no_overload(struct cel_run *run, struct str function, const struct cel_val *args, size_t count)
{
    OWNED(buf_done) struct buf out = {0};

    buf_printf(&out, "no such overload: %.*s(", STR_ARG(function));
    for (size_t i = 0; i < count; i++) {
        buf_printf(&out, "%s%.*s", i > 0 ? ", " : "", STR_ARG(cel_type_of(args[i])->name));
    }
    return cel_error(run->arena, "%.*s)", STR_ARG(buf_str(&out)));
}

static struct cel_val eval_ident(struct cel_run *run, const struct cel_node *node)
{
    charge(run, 1);
    if (node->slot >= 0) {
        return run->slots[node->slot];
    }
    for (size_t i = 0; i < run->count; i++) {
        if (str_eq(run->bindings[i].name, node->name)) {
            return run->bindings[i].value;
        }
    }
    return cel_error(run->arena, "no such attribute(s): %.*s", STR_ARG(node->name));
}

/* The element or member; `optional` gives optional values instead of errors. */
static struct cel_val get(struct cel_run *run, struct cel_val operand, struct cel_val key, bool optional)
{
    struct cel_val found;
    bool is_optional = operand.kind == CEL_OPTIONAL;

    if (is_optional) {
        if (operand.data == NULL) {
            return operand;
        }
        operand = *(const struct cel_val *)operand.data;
    }
    optional |= is_optional;
    if (operand.kind == CEL_LIST) {
        bool whole = key.kind == CEL_INT || key.kind == CEL_UINT || (key.kind == CEL_DOUBLE && key.number == (double)(int64_t)key.number);
        int64_t i = key.kind == CEL_DOUBLE ? (int64_t)key.number : key.integer;

        if (!whole) {
            return cel_error(run->arena, "unsupported index type '%.*s' in list", STR_ARG(cel_type_of(key)->name));
        }
        if (i < 0 || (uint64_t)i >= cel_size(operand)) {
            return optional ? cel_val_optional(run->arena, NULL) : cel_error(run->arena, "index out of bounds: %lld", (long long)i);
        }
        found = cel_item(operand, (size_t)i);
    } else if (operand.kind == CEL_MAP) {
        if (!cel_find(run, operand, key, &found)) {
            return optional ? cel_val_optional(run->arena, NULL) : cel_error(run->arena, "no such key: %.*s", STR_ARG(cel_text(run->arena, key)));
        }
    } else {
        return cel_error(run->arena, "no such overload");
    }
    return optional && found.kind != CEL_ERROR ? cel_val_optional(run->arena, &found) : found;
}

static struct cel_val eval_select(struct cel_run *run, const struct cel_node *node)
{
    struct cel_val operand = eval(run, node->args[0]), found;

    if (operand.kind == CEL_ERROR) {
        return operand;
    }
    if (!node->is_test) {
        charge(run, node->args[0]->kind == NODE_CALL || node->args[0]->kind == NODE_FOLD ? 2 : 1);
        return get(run, operand, cel_val_string(node->name), false);
    }
    if (operand.kind == CEL_OPTIONAL) {
        if (operand.data == NULL) {
            return cel_val_bool(false);
        }
        operand = *(const struct cel_val *)operand.data;
    }
    if (operand.kind != CEL_MAP) {
        return cel_error(run->arena, "no such overload");
    }
    return cel_val_bool(cel_find(run, operand, cel_val_string(node->name), &found));
}

static struct cel_val eval_logical(struct cel_run *run, const struct cel_node *node, bool is_or)
{
    struct cel_val left = eval(run, node->args[0]);

    if ((left.kind == CEL_BOOL && left.boolean == is_or) || run->over) {
        return left;
    }
    struct cel_val right = eval(run, node->args[1]);
    if (right.kind == CEL_BOOL && right.boolean == is_or) {
        return right;
    }
    if (left.kind == CEL_BOOL && right.kind == CEL_BOOL) {
        return right;
    }
    if (left.kind == CEL_ERROR || right.kind == CEL_ERROR) {
        return left.kind == CEL_ERROR ? left : right;
    }
    struct cel_val args[2] = {left, right};
    return cel_no_overload(run, node->name, args, 2);
}

static struct cel_val eval_ternary(struct cel_run *run, const struct cel_node *node)
{
    struct cel_val condition = eval(run, node->args[0]);

    if (condition.kind == CEL_ERROR) {
        return condition;
    }
    return condition.kind == CEL_BOOL ? eval(run, node->args[condition.boolean ? 1 : 2]) : cel_error(run->arena, "no such overload");
}

static bool arg_fits(const struct cel_type *want, struct cel_val value)
{
    if (want->kind == CEL_DYN || want->kind == CEL_PARAM) {
        return true;
    }
    if (want->kind == CEL_OPAQUE) {
        return value.kind == CEL_OPAQUE && value.type == want;
    }
    return (enum cel_kind)value.kind == want->kind;
}

static struct cel_val dispatch(struct cel_run *run, const struct cel_node *node, const struct cel_val *args)
{
    if (node->regex != NULL && args[0].kind == CEL_STRING) {
        return cel_val_bool(regex_matches(node->regex, args[0].string));
    }
    for (size_t i = 0; i < node->function->len; i++) {
        const struct cel_overload *overload = &node->function->items[i];
        bool fits = (size_t)overload->count == node->count && overload->is_member == node->is_member && overload->call != NULL;

        for (size_t k = 0; fits && k < node->count; k++) {
            fits = arg_fits(overload->args[k], args[k]);
        }
        if (fits) {
            return overload->call(run, args, node->count);
        }
    }
    return cel_no_overload(run, node->name, args, node->count);
}

/* orValue and or of an optional look at their argument only when there is need. */
static bool is_lazy_or(const struct cel_node *node)
{
    return node->is_member && node->count == 2 && (str_is(node->name, "orValue") || str_is(node->name, "or"));
}

static struct cel_val eval_function(struct cel_run *run, const struct cel_node *node)
{
    struct cel_val args[4];

    for (size_t i = 0; i < node->count; i++) {
        args[i] = eval(run, node->args[i]);
        if (args[i].kind == CEL_ERROR) {
            return args[i];
        }
        if (i == 0 && args[0].kind == CEL_OPTIONAL && args[0].data != NULL && is_lazy_or(node)) {
            return str_is(node->name, "or") ? args[0] : *(const struct cel_val *)args[0].data;
        }
    }
    struct cel_val result = dispatch(run, node, args);
    charge(run, cel_call_cost(node, args, result));
    return result;
}

static struct cel_val eval_not_false(struct cel_run *run, const struct cel_node *node)
{
    struct cel_val value = eval(run, node->args[0]);

    charge(run, 1);
    return value.kind == CEL_BOOL ? value : cel_val_bool(true);
}

static struct cel_val eval_index(struct cel_run *run, const struct cel_node *node, bool optional)
{
    struct cel_val operand = eval(run, node->args[0]);

    if (operand.kind == CEL_ERROR) {
        return operand;
    }
    struct cel_val key = eval(run, node->args[1]);
    charge(run, 1);
    return key.kind == CEL_ERROR ? key : get(run, operand, key, optional);
}

static struct cel_val eval_call(struct cel_run *run, const struct cel_node *node)
{
    static const char *const names[] = {"_&&_", "_||_", "_?_:_", "@not_strictly_false", "_[_]", "_[?_]", "_?._"};
    size_t i = 0;

    while (i < COUNT_OF(names) && !str_is(node->name, names[i])) {
        i++;
    }
    switch (i) {
    case 0:
    case 1:
        return eval_logical(run, node, i == 1);
    case 2:
        return eval_ternary(run, node);
    case 3:
        return eval_not_false(run, node);
    case 4:
    case 5:
    case 6:
        return eval_index(run, node, i != 4);
    default:
        return eval_function(run, node);
    }
}

/* What an entry marked optional holds; false when it is to be left out. */
static bool take_optional(struct cel_val *value)
{
    if (value->kind == CEL_OPTIONAL) {
        if (value->data == NULL) {
            return false;
        }
        *value = *(const struct cel_val *)value->data;
    }
    return true;
}

static struct cel_val eval_list(struct cel_run *run, const struct cel_node *node)
{
    struct cel_items *items = cel_items_new(run->arena, node->count);

    for (size_t i = 0; i < node->count; i++) {
        struct cel_val value = eval(run, node->args[i]);

        if (value.kind == CEL_ERROR) {
            return value;
        }
        if (!node->optional[i] || take_optional(&value)) {
            cel_items_add(run->arena, items, value);
        }
    }
    charge(run, 10);
    return cel_val_items(items);
}

static struct cel_val eval_map(struct cel_run *run, const struct cel_node *node)
{
    struct cel_entries *entries = ARENA_NEW(run->arena, struct cel_entries);

    for (size_t i = 0; i + 1 < node->count; i += 2) {
        struct cel_val key = eval(run, node->args[i]);
        struct cel_val value = key.kind == CEL_ERROR ? key : eval(run, node->args[i + 1]);

        if (value.kind == CEL_ERROR) {
            return value;
        }
        if (key.kind != CEL_BOOL && key.kind != CEL_INT && key.kind != CEL_UINT && key.kind != CEL_STRING) {
            return cel_error(run->arena, "unsupported key type: %.*s", STR_ARG(cel_type_of(key)->name));
        }
        if ((!node->optional[i / 2] || take_optional(&value)) && !cel_entries_add(run->arena, entries, key, value)) {
            return cel_error(run->arena, "Failed with repeated key [%.*s]", STR_ARG(cel_text(run->arena, key)));
        }
    }
    charge(run, 30);
    return cel_val_entries(entries);
}

static struct cel_val eval_struct(struct cel_run *run, const struct cel_node *node)
{
    struct cel_entries *entries = ARENA_NEW(run->arena, struct cel_entries);

    for (size_t i = 0; i < node->count; i++) {
        struct cel_val value = eval(run, node->args[i]);

        if (value.kind == CEL_ERROR) {
            return value;
        }
        if (!node->optional[i] || take_optional(&value)) {
            cel_entries_add(run->arena, entries, cel_val_string(node->names[i]), value);
        }
    }
    charge(run, 40);
    return cel_val_entries(entries);
}

/* `accumulator + [x]` of a fold that makes a list: grows in place. True when the step is that. */
static bool grow(struct cel_run *run, const struct cel_node *fold, const struct cel_node *step)
{
    struct cel_val *accumulator = &run->slots[fold->slot];

    if (step->kind != NODE_CALL || !str_is(step->name, "_+_") || step->args[0]->kind != NODE_IDENT || step->args[0]->slot != fold->slot ||
        step->args[1]->kind != NODE_LIST || step->args[1]->count != 1 || step->args[1]->optional[0] || accumulator->kind != CEL_LIST ||
        accumulator->form != FORM_ITEMS || fold->args[FOLD_INIT]->kind != NODE_LIST) {
        return false;
    }
    struct cel_val item = eval(run, step->args[1]->args[0]);
    charge(run, 12); /* the ident, the list, the addition */
    if (item.kind == CEL_ERROR) {
        *accumulator = item;
    } else {
        cel_items_add(run->arena, (struct cel_items *)(uintptr_t)accumulator->data, item);
    }
    return true;
}

/* One round of a fold; false when it is over. */
static bool fold_step(struct cel_run *run, const struct cel_node *node)
{
    struct cel_val go = eval(run, node->args[FOLD_COND]);

    if (run->over || (go.kind == CEL_BOOL && !go.boolean)) {
        return false;
    }
    const struct cel_node *step = node->args[FOLD_STEP];
    if (step->kind == NODE_CALL && str_is(step->name, "_?_:_") && step->count == 3) {
        struct cel_val filter = eval(run, step->args[0]);

        if (filter.kind != CEL_BOOL) {
            run->slots[node->slot] = filter.kind == CEL_ERROR ? filter : cel_error(run->arena, "no such overload");
            return false;
        }
        step = step->args[filter.boolean ? 1 : 2];
    }
    if (!grow(run, node, step)) {
        run->slots[node->slot] = eval(run, step);
    }
    /* an error of && and || may still be absorbed */
    bool absorbs = str_is(step->name, "_&&_") || str_is(step->name, "_||_");
    return !run->over && (run->slots[node->slot].kind != CEL_ERROR || absorbs);
}

static struct cel_val eval_fold(struct cel_run *run, const struct cel_node *node)
{
    struct cel_val range = eval(run, node->args[FOLD_RANGE]);
    struct cel_items *keys = NULL;

    if (range.kind == CEL_ERROR) {
        return range;
    }
    if (range.kind != CEL_LIST && range.kind != CEL_MAP) {
        return cel_error(run->arena, "got '%.*s', expected iterable type", STR_ARG(cel_type_of(range)->name));
    }
    if (range.kind == CEL_MAP) {
        keys = cel_keys(run->arena, range);
    }
    run->slots[node->slot] = eval(run, node->args[FOLD_INIT]);
    size_t count = keys != NULL ? keys->len : cel_size(range);
    for (size_t i = 0; i < count; i++) {
        struct cel_val *one = &run->slots[node->slot + 1], *two = &run->slots[node->slot + 2];

        if (keys != NULL) {
            *one = keys->items[i];
            if (node->name2.n > 0 && !cel_find(run, range, *one, two)) {
                *two = cel_val_null();
            }
        } else if (node->name2.n > 0) {
            *one = cel_val_int((int64_t)i);
            *two = cel_item(range, i);
        } else {
            *one = cel_item(range, i);
        }
        if (!fold_step(run, node)) {
            break;
        }
    }
    return run->slots[node->slot].kind == CEL_ERROR ? run->slots[node->slot] : eval(run, node->args[FOLD_RESULT]);
}

static struct cel_val eval(struct cel_run *run, const struct cel_node *node)
{
    static struct cel_val (*const evals[])(struct cel_run *, const struct cel_node *) = {
        [NODE_IDENT] = eval_ident, [NODE_SELECT] = eval_select, [NODE_CALL] = eval_call, [NODE_LIST] = eval_list,
        [NODE_MAP] = eval_map,     [NODE_STRUCT] = eval_struct, [NODE_FOLD] = eval_fold,
    };

    if (run->over) {
        return over_budget();
    }
    return node->kind == NODE_CONST ? node->constant : evals[node->kind](run, node);
}

struct cel_result cel_eval(const struct cel_program *program, struct arena *arena, const struct cel_binding *bindings, size_t count,
                           uint64_t budget)
{
    struct cel_run run = {.arena = arena, .bindings = bindings, .count = count, .budget = budget};

    run.slots = ARENA_ARRAY(arena, struct cel_val, (size_t)program->slots + 1);
    struct cel_val value = eval(&run, program->root);
    return (struct cel_result){.value = run.over ? over_budget() : value, .cost = run.cost, .over_budget = run.over};
}
