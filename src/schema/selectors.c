#include "schema/selectors.h"

#include "schema/map_of.h"

struct status *label_selector_of(struct arena *arena, const struct meta_v1_label_selector *from,
                                 struct label_selector *ret)
{
    *ret = (struct label_selector){.nothing = from == NULL};
    if (from == NULL) {
        return NULL;
    }
    LIST_EACH(label, &from->match_labels) {
        TRY(label_selector_add(arena, ret, label->key, SELECTOR_EQUALS, &label->value, 1));
    }
    LIST_EACH(expression, &from->match_expressions) {
        enum selector_operator op;

        TRY(selector_operator_of(expression->operator, false, &op));
        TRY(label_selector_add(arena, ret, expression->key, op, expression->values.items, expression->values.len));
    }
    return NULL;
}

struct label_selector label_selector_of_map(struct arena *arena, const struct str_map *map)
{
    struct label_selector selector = {0};

    LIST_EACH(label, map) {
        /* labels of stored objects have been validated: those that are not right select nothing more */
        status_free(label_selector_add(arena, &selector, label->key, SELECTOR_EQUALS, &label->value, 1));
    }
    return selector;
}

bool label_selector_matches_map(const struct label_selector *selector, const struct str_map *labels)
{
    return label_selector_matches(selector, str_map_lookup, labels);
}
