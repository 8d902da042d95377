/* $(NAME) references, as in a container's env, command, args and subPathExpr: $(NAME) is replaced when NAME is known
 * and kept when not; $$ is a dollar sign, so $$(NAME) becomes $(NAME). Pure. */
#ifndef KUBELET_EXPANSION_H
#define KUBELET_EXPANSION_H

#include "base/arena.h"

/* The value of a variable; false when there is none. */
typedef bool expansion_lookup(void *arg, struct str name, struct str *ret_value);

/* *ret_missing (may be NULL) becomes the first name that was not found; it is left alone when all were. */
struct str expand(struct arena *arena, struct str text, expansion_lookup *lookup, void *arg, struct str *ret_missing);

#endif
