/* Whether types fit each other, with type parameters found on the way. For the checker only. */
#ifndef CEL_UNIFY_H
#define CEL_UNIFY_H

#include "cel/cel_parts.h"

struct cel_bindings {
    struct arena *arena;
    struct {
        struct cel_type **items;
        size_t len;
    } trail; /* parameters bound, to be undone */
};

/* True when a value of `source` may stand where `target` is wanted; parameters are bound, or left as they were. */
bool cel_assignable(struct cel_bindings *bindings, const struct cel_type *target, const struct cel_type *source);
/* A copy with parameters of a declaration replaced by fresh ones; `fresh` has 26 places, NULL at first. */
const struct cel_type *cel_instantiate(struct cel_bindings *bindings, const struct cel_type *type, struct cel_type **fresh);
/* Parameters that are bound replaced; those that are not become dyn. */
const struct cel_type *cel_substitute(struct arena *arena, const struct cel_type *type);
const struct cel_type *cel_most_general(const struct cel_type *a, const struct cel_type *b);
void cel_undo(struct cel_bindings *bindings, size_t mark);

#endif
