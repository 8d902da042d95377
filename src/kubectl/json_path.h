/* JSONPath templates as kubectl understands them: text with {.path}, {range .path}...{end}, {"quoted text"}; paths of
 * fields, ['field'], [*], [2], [0:2], ['a','b'], [?(@.x=="y")] and "..". Pure.
 *
 * Errors are local ones in client-go's words. */
#ifndef KUBECTL_JSON_PATH_H
#define KUBECTL_JSON_PATH_H

#include "base/buf.h"
#include "schema/value.h"

struct json_path_results {
    const struct value **items;
    size_t len;
};

/* Whether the template can be read. */
MUST_USE struct status *json_path_check(struct arena *arena, struct str template);
/* Appends what the template says of the value. */
MUST_USE struct status *json_path_print(struct arena *arena, struct str template, const struct value *value,
                                        bool allow_missing, struct buf *out);
/* Appends each path's results as an indented JSON array. */
MUST_USE struct status *json_path_print_json(struct arena *arena, struct str template, const struct value *value,
                                             struct buf *out);
/* What a single path leads to; nothing found is an empty list. */
MUST_USE struct status *json_path_find(struct arena *arena, struct str template, const struct value *value,
                                       struct json_path_results *ret);
/* "x.y" and ".x.y" as "{.x.y}", as custom columns and --sort-by take them. */
MUST_USE struct status *json_path_relaxed(struct arena *arena, struct str text, struct str *ret);
/* A result as text: strings and numbers plainly, the rest as JSON. */
void json_path_text(struct buf *out, const struct value *value);

#endif
