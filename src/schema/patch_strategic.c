#include "schema/patch_strategic.h"

#include "schema/patch.h"

struct merge_rule merge_rule_root(const struct type *type)
{
    return (struct merge_rule){.type = type};
}

struct merge_rule merge_rule_of(const struct merge_rule *parent, struct str name)
{
    struct merge_rule rule = {0};

    if (parent->type == NULL) {
        return rule;
    }
    if (parent->is_map) {
        return (struct merge_rule){.type = parent->type};
    }
    const struct field *field = type_field(parent->type, name);

    if (field == NULL) {
        return rule;
    }
    rule.type = field->kind == TYPE_STRUCT ? field->type : NULL;
    rule.is_map = field->shape == SHAPE_MAP;
    if (field->rules != NULL) {
        struct str rest = field->rules->patch_strategy, part;

        while (rest.n != 0 && str_next(&rest, ',', &part)) {
            rule.merges |= str_is(part, "merge");
            rule.replaces |= str_is(part, "replace");
            rule.retains_keys |= str_is(part, "retainKeys");
        }
        rule.key = field->rules->patch_merge_key;
    }
    return rule;
}

size_t merge_find(const struct value *list, struct str key, const struct value *element)
{
    const struct value *wanted = key.n != 0 ? value_find(element, key) : element;

    for (size_t i = 0; wanted != NULL && i < value_count(list); i++) {
        const struct value *item = list->array.items[i];

        if (value_equal(key.n != 0 ? value_find(item, key) : item, wanted)) {
            return i;
        }
    }
    return SIZE_MAX;
}

static struct status *merge_object(struct arena *arena, const struct merge_rule *rule, struct value *original,
                                   struct value *patch, struct value **ret);

static bool is_directive(struct str key)
{
    return str_eq(key, PATCH_DIRECTIVE) || str_eq(key, RETAIN_KEYS_DIRECTIVE) ||
           str_has_prefix(key, DELETE_PRIMITIVES_PREFIX) || str_has_prefix(key, ELEMENT_ORDER_PREFIX);
}

/* A part of the patch that lands where nothing was: without directives and nulls. */
static struct value *plain(struct arena *arena, const struct value *patch)
{
    if (value_is(patch, VALUE_OBJECT)) {
        struct value *result = value_object(arena);

        VALUE_EACH_MEMBER(member, patch) {
            if (!is_directive(member->key) && !value_is(member->value, VALUE_NULL)) {
                value_set(arena, result, member->key, plain(arena, member->value));
            }
        }
        return result;
    }
    if (value_is(patch, VALUE_ARRAY)) {
        struct value *result = value_array(arena);

        VALUE_EACH_ITEM(item, patch) {
            if (!str_is(value_str(value_find(*item, PATCH_DIRECTIVE)), "delete")) {
                value_add(arena, result, plain(arena, *item));
            }
        }
        return result;
    }
    return value_copy(arena, patch);
}

static struct status *no_merge_key(struct arena *arena, const struct value *element, struct str key)
{
    return status_new(STATUS_INVALID, "map: %.*s does not contain declared merge key: %.*s",
                      STR_ARG(value_json(arena, element)), STR_ARG(key));
}

/* The elements of `list` that `wanted` names (or doesn't), in the order of `order`. */
static struct value *select_ordered(struct arena *arena, const struct value *list, const struct value *wanted,
                                    bool is_wanted, const struct value *order, struct str key)
{
    struct value *result = value_array(arena);

    for (size_t i = 0; i < value_count(order); i++) {
        size_t at = merge_find(list, key, order->array.items[i]);

        if (at != SIZE_MAX && (merge_find(wanted, key, list->array.items[at]) != SIZE_MAX) == is_wanted &&
            merge_find(result, key, list->array.items[at]) == SIZE_MAX) {
            value_add(arena, result, list->array.items[at]);
        }
    }
    VALUE_EACH_ITEM(item, list) {
        if ((merge_find(wanted, key, *item) != SIZE_MAX) == is_wanted && merge_find(order, key, *item) == SIZE_MAX) {
            value_add(arena, result, *item);
        }
    }
    return result;
}

/* The client orders what its patch names, the server keeps its order of the rest, and both are woven together. */
static struct value *order_elements(struct arena *arena, const struct value *merged, const struct value *client_order,
                                    const struct value *server_order, struct str key)
{
    struct value *client = select_ordered(arena, merged, client_order, true, client_order, key);
    struct value *server = select_ordered(arena, merged, client_order, false, server_order, key);
    struct value *result = value_array(arena);
    size_t i = 0, j = 0;

    while (i < value_count(server) || j < value_count(client)) {
        bool takes_server = j >= value_count(client);

        if (i < value_count(server) && j < value_count(client)) {
            size_t left = merge_find(server_order, key, server->array.items[i]);
            size_t right = merge_find(server_order, key, client->array.items[j]);

            takes_server = left != SIZE_MAX && right != SIZE_MAX && left < right;
        }
        value_add(arena, result, takes_server ? server->array.items[i++] : client->array.items[j++]);
    }
    return result;
}

static struct value *merge_scalars(struct arena *arena, const struct value *original, const struct value *patch)
{
    struct value *merged = value_array(arena);
    const struct value *const both[] = {original, patch};

    for (size_t i = 0; i < COUNT_OF(both); i++) {
        VALUE_EACH_ITEM(item, both[i]) {
            if (merge_find(merged, (struct str){0}, *item) == SIZE_MAX) {
                value_add(arena, merged, *item);
            }
        }
    }
    return merged;
}

/* Elements with a $patch directive of their own: deletions are made in `original`, and what else is left of the patch is
 * returned. *ret_replaces: the list takes the place of the old one. */
static struct status *special_elements(struct arena *arena, struct value *original, const struct value *patch,
                                       struct str key, struct value **ret_rest, bool *ret_replaces)
{
    struct value *rest = value_array(arena);

    *ret_replaces = false;
    VALUE_EACH_ITEM(item, patch) {
        const struct value *directive = value_find(*item, PATCH_DIRECTIVE);

        if (directive == NULL) {
            value_add(arena, rest, *item);
            continue;
        }
        if (str_is(value_str(directive), "replace")) {
            *ret_replaces = true;
        } else if (str_is(value_str(directive), "delete")) {
            if (value_find(*item, key) == NULL) {
                return no_merge_key(arena, *item, key);
            }
            for (size_t at; (at = merge_find(original, key, *item)) != SIZE_MAX;) {
                value_remove(original, at);
            }
        } else if (str_is(value_str(directive), "merge")) {
            return status_new(STATUS_INVALID, "merging lists cannot yet be specified in the patch");
        } else {
            return status_new(STATUS_INVALID, "unknown patch type found: %.*s", STR_ARG(value_str(directive)));
        }
    }
    *ret_rest = rest;
    return NULL;
}

static struct status *merge_elements(struct arena *arena, const struct merge_rule *rule, struct value *original,
                                     const struct value *patch, struct value **ret)
{
    struct merge_rule element_rule = {.type = rule->type};
    struct value *rest = NULL;
    bool replaces;

    TRY(special_elements(arena, original, patch, rule->key, &rest, &replaces));
    if (replaces) {
        *ret = rest;
        return NULL;
    }
    struct value *merged = value_copy(arena, original);

    VALUE_EACH_ITEM(item, rest) {
        if (!value_is(*item, VALUE_OBJECT) || value_find(*item, rule->key) == NULL) {
            return no_merge_key(arena, *item, rule->key);
        }
        size_t at = merge_find(merged, rule->key, *item);

        if (at == SIZE_MAX) {
            value_add(arena, merged, plain(arena, *item));
        } else {
            TRY(merge_object(arena, &element_rule, merged->array.items[at], *item, &merged->array.items[at]));
        }
    }
    *ret = order_elements(arena, merged, rest, original, rule->key);
    return NULL;
}

static struct status *merge_list(struct arena *arena, const struct merge_rule *rule, struct value *original,
                                 struct value *patch, struct value **ret)
{
    bool is_scalars = !value_is(value_count(original) != 0 ? original->array.items[0] : value_item(patch, 0), VALUE_OBJECT);

    if (!rule->merges) {
        *ret = plain(arena, patch);
        return NULL;
    }
    if (is_scalars) {
        *ret = order_elements(arena, merge_scalars(arena, original, patch), patch, original, (struct str){0});
        return NULL;
    }
    if (rule->key.n == 0) {
        return status_new(STATUS_INVALID, "cannot merge lists without merge key");
    }
    return merge_elements(arena, rule, original, patch, ret);
}

static struct status *retain_keys(struct arena *arena, struct value *original, struct value *patch)
{
    struct value *keys = value_find(patch, RETAIN_KEYS_DIRECTIVE);

    if (keys == NULL) {
        return NULL;
    }
    value_delete(patch, RETAIN_KEYS_DIRECTIVE);
    if (!value_is(keys, VALUE_ARRAY)) {
        return status_new(STATUS_BAD_REQUEST, "invalid patch format of retainKeys");
    }
    VALUE_EACH_MEMBER(member, patch) {
        struct value key = {.type = VALUE_STRING, .string = member->key};

        if (!value_is(member->value, VALUE_NULL) && !is_directive(member->key) &&
            merge_find(keys, (struct str){0}, &key) == SIZE_MAX) {
            return status_new(STATUS_BAD_REQUEST, "invalid patch format of retainKeys");
        }
    }
    struct str *own = value_sorted_keys(arena, original);

    for (size_t i = 0, count = value_count(original); i < count; i++) {
        struct value key = {.type = VALUE_STRING, .string = own[i]};

        if (merge_find(keys, (struct str){0}, &key) == SIZE_MAX) {
            value_delete(original, own[i]);
        }
    }
    return NULL;
}

/* As Go prints a value with %v: "map[a:1 b:[x y]]". */
static void add_go(struct arena *arena, const struct value *value, struct buf *out)
{
    if (value_is(value, VALUE_STRING)) {
        buf_add_str(out, value->string);
    } else if (value_is(value, VALUE_ARRAY)) {
        for (size_t i = 0; i < value_count(value); i++) {
            buf_add_char(out, i == 0 ? '[' : ' ');
            add_go(arena, value->array.items[i], out);
        }
        buf_add_str(out, value_count(value) == 0 ? STR("[]") : STR("]"));
    } else if (value_is(value, VALUE_OBJECT)) {
        struct str *keys = value_sorted_keys(arena, value);

        buf_add_str(out, STR("map["));
        for (size_t i = 0; i < value_count(value); i++) {
            buf_printf(out, "%s%.*s:", i == 0 ? "" : " ", STR_ARG(keys[i]));
            add_go(arena, value_find(value, keys[i]), out);
        }
        buf_add_char(out, ']');
    } else if (value == NULL || value_is(value, VALUE_NULL)) {
        buf_add_str(out, STR("<nil>"));
    } else {
        value_write_json(out, value, VALUE_JSON_PLAIN);
    }
}

static struct str value_go(struct arena *arena, const struct value *value)
{
    OWNED(buf_done) struct buf out = {0};

    add_go(arena, value, &out);
    return arena_str(arena, buf_str(&out));
}

/* The patch's own elements must stand in the order that it asks for. */
static struct status *check_order(struct arena *arena, const struct value *patch, const struct value *order,
                                  struct str key)
{
    size_t after = 0;

    VALUE_EACH_ITEM(item, patch) {
        if (value_find(*item, PATCH_DIRECTIVE) != NULL) {
            continue;
        }
        size_t at = merge_find(order, key, *item);

        if (at == SIZE_MAX || at < after) {
            return status_new(STATUS_UNKNOWN,
                              "The order in patch list:\n%.*s\n doesn't match $setElementOrder list:\n%.*s\n",
                              STR_ARG(value_go(arena, patch)), STR_ARG(value_go(arena, order)));
        }
        after = at;
    }
    return NULL;
}

/* A list that the patch gives an order. */
static struct status *merge_ordered(struct arena *arena, const struct merge_rule *rule, struct value *original,
                                    struct value *patch, struct str name, const struct value *order)
{
    struct merge_rule list_rule = merge_rule_of(rule, name);
    struct value *old = value_find(original, name), *changes = value_find(patch, name), *merged = old;
    struct value *server_order = old == NULL ? value_array(arena) : value_copy(arena, old);

    if (!value_is(order, VALUE_ARRAY)) {
        return status_new(STATUS_BAD_REQUEST, "invalid patch format of setElementOrder list");
    }
    if (changes != NULL && !value_is(changes, VALUE_ARRAY)) {
        return NULL; /* a null: merged as any other member */
    }
    if (changes != NULL) {
        TRY(check_order(arena, changes, order, list_rule.key));
        if (value_is(old, VALUE_ARRAY)) {
            TRY(merge_list(arena, &list_rule, old, changes, &merged));
        } else {
            merged = plain(arena, changes);
        }
    }
    if (!value_is(merged, VALUE_ARRAY)) {
        return NULL;
    }
    value_set(arena, original, name, order_elements(arena, merged, order, server_order, list_rule.key));
    value_delete(patch, name);
    return NULL;
}

static struct status *merge_orders(struct arena *arena, const struct merge_rule *rule, struct value *original,
                                   struct value *patch)
{
    struct str *keys = value_sorted_keys(arena, patch);

    for (size_t i = 0, count = value_count(patch); i < count; i++) {
        if (str_has_prefix(keys[i], ELEMENT_ORDER_PREFIX)) {
            const struct value *order = value_find(patch, keys[i]);

            value_delete(patch, keys[i]);
            TRY(merge_ordered(arena, rule, original, patch, str_from(keys[i], ELEMENT_ORDER_PREFIX.n), order));
        }
    }
    return NULL;
}

static void delete_scalars(struct value *list, const struct value *unwanted)
{
    VALUE_EACH_ITEM(item, unwanted) {
        for (size_t at; (at = merge_find(list, (struct str){0}, *item)) != SIZE_MAX;) {
            value_remove(list, at);
        }
    }
}

static struct status *merge_member(struct arena *arena, const struct merge_rule *rule, struct value *original,
                                   struct str key, struct value *patch)
{
    struct value *old = value_find(original, key), *merged;

    if (str_has_prefix(key, DELETE_PRIMITIVES_PREFIX)) {
        old = value_find(original, str_from(key, DELETE_PRIMITIVES_PREFIX.n));
        if (value_is(old, VALUE_ARRAY)) {
            delete_scalars(old, patch);
        }
        return NULL;
    }
    if (value_is(patch, VALUE_NULL)) {
        value_delete(original, key);
        return NULL;
    }
    struct merge_rule member_rule = merge_rule_of(rule, key);

    if (old == NULL && value_find(patch, PATCH_DIRECTIVE) != NULL) {
        return NULL; /* as in stock, there is nothing to do it to */
    }
    if (old == NULL || old->type != patch->type) {
        merged = plain(arena, patch);
    } else if (value_is(patch, VALUE_OBJECT) && !member_rule.replaces) {
        TRY(merge_object(arena, &member_rule, old, patch, &merged));
    } else if (value_is(patch, VALUE_ARRAY)) {
        TRY(merge_list(arena, &member_rule, old, patch, &merged));
    } else {
        merged = plain(arena, patch);
    }
    value_set(arena, original, key, merged);
    return NULL;
}

/* Both may be changed: they are copies. */
static struct status *merge_object(struct arena *arena, const struct merge_rule *rule, struct value *original,
                                   struct value *patch, struct value **ret)
{
    const struct value *directive = value_find(patch, PATCH_DIRECTIVE);

    if (directive != NULL) {
        if (str_is(value_str(directive), "replace")) {
            value_delete(patch, PATCH_DIRECTIVE);
            *ret = patch;
            return NULL;
        }
        if (str_is(value_str(directive), "delete")) {
            *ret = value_object(arena);
            return NULL;
        }
        return status_new(STATUS_INVALID, "unknown patch type found: %.*s", STR_ARG(value_json(arena, directive)));
    }
    TRY(retain_keys(arena, original, patch));
    TRY(merge_orders(arena, rule, original, patch));
    VALUE_EACH_MEMBER(member, patch) {
        TRY(merge_member(arena, rule, original, member->key, member->value));
    }
    *ret = original;
    return NULL;
}

struct status *patch_strategic(struct arena *arena, const struct type *type, const struct value *document,
                               const struct value *patch, struct value **ret)
{
    struct merge_rule rule = merge_rule_root(type);

    return merge_object(arena, &rule, value_copy(arena, document), value_copy(arena, patch), ret);
}
