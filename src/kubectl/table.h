/* Printing a Table that the server made: what `get` shows. */
#ifndef KUBECTL_TABLE_H
#define KUBECTL_TABLE_H

#include "kubectl/kubectl.h"

struct table_options {
    bool wide, no_headers;
    bool with_namespace;  /* a first column NAMESPACE */
    bool with_kind;       /* names as kind/name */
    bool with_labels;     /* a last column LABELS */
    struct flag_strings label_columns;
};

/* The widths of columns that were printed, for lines that come later. */
struct table_widths {
    size_t *items;
    size_t len;
};

/* Appends the rows of a Table, and its headers unless `options` or `is_more` say not to. With `widths` the columns are at
 * least as wide as before, and what they are now is kept there. */
void table_print(struct arena *arena, const struct kind *kind, const struct value *table,
                 const struct table_options *options, bool is_more, struct table_widths *widths, struct buf *out);

#endif
